"""The law of predicted vectors and classes: weighted points, what a lens sees of them, and measures of what it sees."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat.data.clipping import check_clip
from calibstat.data.lenses import Lens, canonical
from calibstat.data.sample import Sample
from calibstat.generators.generator import LOGARITHMIC, PLUG_IN, need_fixed_bins, plug_in, value_on
from calibstat.measures.binned import is_unbinned
from calibstat.measures.losses import normalized
from calibstat.measures.registry import BoundMeasure, find_measure
from calibstat.measures.skce import columns, kernel_arguments, pair_sums, rows_of_block

# Seminorms that hardly change when residuals of neighbouring predictions are exchanged. Points of a continuous law have
# chances of their own, of which only the mean over all points of one score is right.
WEAK = frozenset({"ks", "kuiper", "smooth_ce", "random_interval_ce"})
SCORES = frozenset({"brier", "log_loss"})
MOST_PAIRED = 2**12  # points of a continuous law of which all pairs are taken: the first of a Sobol net are one too
MANY_ROWS = 2**53


@dataclass(frozen=True)
class Vectors:
    """Weighted points that stand for a law: what is predicted at each and the law of the class given that.

    `log_prob` is the logarithm of `prob`, also where a probability rounds to 0 or 1, or None where nobody asked for it.
    `finite`: whether the points are all the predictions that there are.
    """

    weight: np.ndarray
    prob: np.ndarray
    log_prob: np.ndarray | None
    law: np.ndarray
    finite: bool

    def seen(self, lens: Lens, logarithms: bool) -> Vectors:
        """Return what a lens sees; of an event, its not happening is class 0 and its happening class 1.

        Logarithms take far longer than all else.
        """
        if lens is canonical:
            return self
        score = np.asarray(lens.scores(self.prob))
        prob = np.column_stack((1 - score, score)) if score.ndim == 1 else score
        # the lens itself says which classes it takes for which
        label = np.empty(self.weight.size, np.int64)
        outcome = np.empty(self.prob.shape, np.int64)
        for k in range(self.prob.shape[1]):
            label[:] = k
            outcome[:, k] = lens.outcomes(self.prob, label)
        among = [outcome == j for j in range(prob.shape[1])]
        law = np.stack([np.where(seen, self.law, 0.0).sum(axis=1) for seen in among], axis=1)
        log_prob = None
        if logarithms:
            assert self.log_prob is not None
            parts = [np.logaddexp.reduce(np.where(seen, self.log_prob, -np.inf), axis=1) for seen in among]
            log_prob = np.stack(parts, axis=1)
        return Vectors(self.weight, prob, log_prob, law, self.finite)

    def mean(self, of_points: np.ndarray) -> float:
        """Average over the law."""
        return float(self.weight @ of_points / self.weight.sum())

    def brier(self) -> float:
        """Return E of the squared distance of the vector from the class, a unit vector."""
        noise = 1 - (self.law**2).sum(axis=1)  # of the class about its law
        return self.mean(((self.law - self.prob) ** 2).sum(axis=1) + noise)

    def log_loss(self, clip: float | None) -> float:
        """Return E of minus the logarithm of the probability that the class was given, moved by `clip`."""
        log_prob = self.log_prob
        assert log_prob is not None
        if clip is not None:
            log_prob = np.clip(log_prob, math.log(clip), math.log1p(-clip))
        with np.errstate(invalid="ignore"):  # no chance of an infinite loss is no loss
            return self.mean(-np.where(self.law > 0, self.law * log_prob, 0).sum(axis=1))

    def event(self) -> Sample:
        """Return predictions of class 1 of two and its chances; sums of probabilities may round above 1."""
        score, chance = np.minimum(self.prob[:, 1], 1.0), np.minimum(self.law[:, 1], 1.0)
        return Sample.from_counts(score, self.weight, self.weight * chance)


def truth(vectors: Vectors, lens: Lens, measure: str, options: Mapping[str, Any]) -> float:
    """Return a measure of the law of what a lens sees."""
    entry = find_measure(measure, {}).measure
    seen = vectors.seen(lens, logarithms=measure in LOGARITHMIC)
    if np.asarray(lens.scores(vectors.prob[:1])).ndim == 1:
        if entry.of == "vectors":
            raise ValueError(f"expected a lens that sees classes for measure {measure!r}, found {lens}, of one event")
        return _of_event(entry.bind(options), seen)
    if entry.of == "events" and entry.vectors is None and measure not in SCORES:
        raise ValueError(f"expected a lens that sees one event for measure {measure!r}, found {lens}, of classes")
    return _of_classes(measure, (entry.vectors or entry).bind(options), seen)


def _of_event(bound: BoundMeasure, seen: Vectors) -> float:
    name = bound.measure.name
    if name == "log_loss":
        return seen.log_loss(check_clip(bound.options["clip"]))
    if name == "normalized_log_loss":
        loss = seen.log_loss(check_clip(bound.options["clip"]))
        return normalized(loss, min(seen.mean(seen.law[:, 1]), 1.0))
    if name == "brier":
        return seen.brier() / 2  # the event and its opposite have the same error
    plain, power = plug_in(name, bound.options)
    unbinned = is_unbinned(plain.options.get("n_bins", 1)) and isinstance(plain.options.get("strategy", ""), str)
    if not seen.finite and (unbinned or plain.measure.name not in PLUG_IN | WEAK):
        known = "over a continuous law of vectors it needs the mean chance of every score"
        raise NotImplementedError(f"the population value of measure {name!r} is not known: {known}")
    return value_on(plain, seen.event(), finite=seen.finite) ** power


def _of_classes(name: str, bound: BoundMeasure, seen: Vectors) -> float:
    if name == "log_loss":
        return seen.log_loss(check_clip(bound.options["clip"]))
    if name == "brier":
        return seen.brier()
    if name == "skce":
        return _skce(seen, **bound.options)
    need_fixed_bins(bound)
    # cells that were grown on rows may stay while these are resampled; a law has no rows to grow any on
    grown = bound.cells_move or bound.options.get("strategy") == "tree"
    grown |= not seen.finite and is_unbinned(bound.options.get("n_bins", 1))
    if bound.measure.cells is None or grown:
        known = "it is not a sum over cells that are the same for every sample"
        raise NotImplementedError(f"the population value of measure {name!r} is not known: {known}")
    cell, share = bound.cells(seen.prob), seen.weight / seen.weight.sum()
    cells = int(cell.max()) + 1
    residual, value = np.zeros((2, cells, seen.prob.shape[1]))
    np.add.at(residual, cell, share[:, None] * (seen.law - seen.prob))
    np.add.at(value, cell, share[:, None] * seen.prob)
    return float(bound.reduce(np.bincount(cell, seen.weight, cells), residual, value))


def _skce(
    seen: Vectors, *, kernel: str, distance: str, bandwidth: float, statistic: str, block_size: int | str
) -> float:
    """Return E k(p, p') <q - p, q' - p'> of two independent rows, which every statistic estimates."""
    arguments = kernel_arguments(kernel, distance, bandwidth)
    rows_of_block(MANY_ROWS, statistic, block_size)  # finds bad options
    size = seen.weight.size if seen.finite else min(seen.weight.size, MOST_PAIRED)
    share = seen.weight[:size] / seen.weight[:size].sum()
    residual = columns(share[:, None] * (seen.law - seen.prob)[:size])
    pairs = pair_sums(columns(seen.prob[:size]), residual, size, *arguments)[0]
    return float(2 * pairs + (residual**2).sum())  # two independent rows may be at one point
