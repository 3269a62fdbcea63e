"""Decompositions of proper scores into miscalibration, discrimination and uncertainty."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from calibstat import resampling
from calibstat.bounds.isotonic_interval import recalibrated
from calibstat.data.checked_rows import Data
from calibstat.data.checks import (
    UnknownOption,
    check_jobs,
    check_level,
    check_whole,
    is_among,
    unknown_name,
)
from calibstat.data.clipping import advice
from calibstat.data.clusters import clusters_in_words
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.data.sample import need_counts
from calibstat.data.views import BinaryView, MulticlassView, View
from calibstat.digits import settled
from calibstat.inference.decomposing.decompose_vectors import METHODS_OF_VECTORS, decompose_vectors, options_of_cells
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.designs.question_of_rows import question
from calibstat.inference.problems.binary_problem import sample_in_clusters
from calibstat.measures.bins import Strategy, bin_cells
from calibstat.measures.bregman import Bregman, find_score, total_loss
from calibstat.measures.measure_options import RowsAndOptionsOfFits
from calibstat.measures.regression_ce import regression
from calibstat.output.wording import level_text
from calibstat.resampling import Clusters, Draws, Pairs, Stream
from calibstat.resampling.rng import Rng
from calibstat.result import NotedResult

if TYPE_CHECKING:
    import pandas as pd


NOT_MOVED = ("clip", None)  # the default, not printed


@dataclass(frozen=True, eq=False)
class Decomposition(NotedResult):
    """Result of `decompose`: a proper score and the parts that it is the sum of.

    Attributes
    ----------
    score : float
        The mean loss of the rows.
    parts : dict of float
        The parts by name. Also readable as ``result["mcb"]``.
    signs : dict of int
        1 for a part that is added, -1 for one that is subtracted: the score is the sum of signs times parts.
    low, high : dict of float, or None
        Percentiles of the score and of each part in a pairs bootstrap, by name.
    confidence_level : float or None
        The share of the bootstrap samples between the two.
    loss : str
        The name of the score.
    method : {"corp", "sharpness", "murphy"}
        How it was decomposed.
    options : dict
        The options of the method.
    lens : NamedLens
        The outcome whose probability was predicted.
    n : int or float
        Rows, or total weight.
    n_resamples : int
        Bootstrap samples behind the percentiles (0 if none were drawn).
    why_infinite : str
        The row that makes the score infinite; empty if it is finite.
    drawn : str
        What each bootstrap sample draws: "rows", or clusters, with their number and sizes.
    """

    score: float
    parts: dict[str, float]
    signs: dict[str, int]
    low: dict[str, float] | None
    high: dict[str, float] | None
    confidence_level: float | None
    loss: str
    method: str
    options: dict[str, float | int | str | None]
    lens: NamedLens
    n: int | float
    n_resamples: int
    why_infinite: str = ""
    drawn: str = "rows"

    @property
    def headline(self) -> tuple[str, ...]:
        """The score and its parts."""
        return "score", *(f"parts.{name}" for name in self.parts)

    def __getitem__(self, name: str) -> float:
        return self.parts[name]

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for the score and one for each part."""
        import pandas as pd

        columns = {
            "part": ["score", *self.parts],
            "sign": [1, *self.signs.values()],
            "value": [self.score, *self.parts.values()],
        }
        for end in ("low", "high"):
            ends = getattr(self, end)
            if ends is not None:
                columns[end] = list(ends.values())
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        terms = [
            f"{'+' if self.signs[name] > 0 else '-'} {PARTS_IN_WORDS.get(name, name)} {settled(part):.4g}"
            for name, part in self.parts.items()
        ]
        options = "".join(f", {name}={value!r}" for name, value in self.options.items() if (name, value) != NOT_MOVED)
        text = (
            f"{self.loss} score {settled(self.score):.4g} = {' '.join(terms).removeprefix('+ ')} "
            f"({self.method}{options}), {self.lens}, n = {settled(self.n):.10g}."
        )
        text += f" Infinite: {self.why_infinite}." if self.why_infinite else ""
        if self.low is None or self.high is None or self.confidence_level is None:
            return text
        ends = ", ".join(f"{name} [{settled(self.low[name]):.4g}, {settled(self.high[name]):.4g}]" for name in self.low)
        of = "" if self.drawn == "rows" else f" of {self.drawn}"
        return (
            f"{text}\nThe middle {level_text(self.confidence_level)} of {self.n_resamples} bootstrap samples{of}: "
            f"{ends}.\n"
            "The range of a part that cannot be negative lies too high near 0, and is not a confidence interval there."
        )


Parts = tuple[float, dict[str, float]]


def possible(frequency: np.ndarray, events: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return frequencies that are above 0 where there were events, and below 1 where there were others.

    A weight beside much larger ones is rounded away, and the logarithmic loss of its outcome would be infinite.
    """
    above = np.where(events & (frequency == 0), np.nextafter(0, 1), frequency)
    return np.where(others & (above == 1), np.nextafter(1, 0), above)


def base_rate(count: np.ndarray, positives: np.ndarray) -> float:
    """Return the frequency of events in all rows."""
    events, others = np.any(positives > 0, keepdims=True), np.any(count > positives, keepdims=True)
    return float(possible(positives.sum() / count.sum(), events, others)[0])


def corp(
    score: Bregman, value: np.ndarray, count: np.ndarray, positives: np.ndarray, *, clip: float | None = None
) -> Parts:
    """Return score = mcb - dsc + unc, from the isotonic recalibration of the predictions."""
    n = count.sum()
    fitted = np.clip(recalibrated(value, count, positives), 0, 1)
    given, best, constant = (
        float(total_loss(score, predicted, count, positives).sum() / n)
        for predicted in (
            score.moved(value, clip),
            possible(fitted, positives > 0, count > positives),
            np.full(value.size, base_rate(count, positives)),
        )
    )
    # the isotonic recalibration is best under every proper score, so that only rounding can make these negative
    return given, {"mcb": max(given - best, 0.0), "dsc": max(constant - best, 0.0), "unc": constant}


def by_regression(
    score: Bregman,
    value: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    *,
    kernel: str = "gaussian",
    bandwidth: float = 0.05,
    clip: float | None = None,
) -> Parts:
    """Return score = calibration_error + sharpness_gap + smoothing, from the kernel regression of the outcomes."""
    n = count.sum()
    smoothed = regression(value, count, positives, kernel, bandwidth)
    smoothed = possible(smoothed, positives > 0, count > positives)
    v = score.inside(value, clip)
    given = float(total_loss(score, v, count, positives).sum() / n)
    error = float(count @ score.loss(smoothed, v) / n)
    gap = float(total_loss(score, smoothed, count, positives).sum() / n)
    return given, {"calibration_error": error, "sharpness_gap": gap, "smoothing": given - error - gap}


def murphy(
    score: Bregman,
    value: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    *,
    n_bins: int | str | None = 15,
    strategy: Strategy = "uniform",
    clip: float | None = None,
) -> Parts:
    """Return score = reliability - resolution + uncertainty + within_bins, from bins."""
    n, cell = count.sum(), bin_cells(value, count, n_bins=n_bins, strategy=strategy)
    value = score.moved(value, clip)
    rows, hits, predicted = (np.bincount(cell, part) for part in (count, positives, count * value))
    full = rows > 0
    share = rows[full] / n
    mean = np.zeros(rows.size)
    mean[full] = np.clip(predicted[full] / rows[full], 0, 1)
    frequency, rate = hits[full] / rows[full], base_rate(count, positives)
    constant = np.full(value.size, rate)
    moved = value != mean[cell]  # the others keep their loss, even an infinite one
    columns = count[moved], positives[moved]
    within = total_loss(score, value[moved], *columns) - total_loss(score, mean[cell[moved]], *columns)
    return float(total_loss(score, value, count, positives).sum() / n), {
        "reliability": float(share @ score.loss(frequency, mean[full])),
        "resolution": float(share @ score.loss(frequency, np.full(frequency.size, rate))),
        "uncertainty": float(total_loss(score, constant, count, positives).sum() / n),
        "within_bins": float(within.sum() / n),
    }


METHODS: dict[str, Callable[..., Parts]] = {"corp": corp, "sharpness": by_regression, "murphy": murphy}
NEEDS_FINITE = ("sharpness",)  # methods that have a value only if every prediction has a finite loss
PARTS_IN_WORDS = {"mcb": "miscalibration (mcb)", "dsc": "discrimination (dsc)", "unc": "uncertainty (unc)"}
SUBTRACTED = ("dsc", "resolution")


@question("sample_weight", "cluster")
def decompose(
    rows: Data,
    /,
    *,
    score: str | Bregman = "brier",
    method: str = "corp",
    lens: AnyLens = None,
    confidence_level: float = 0.95,
    n_resamples: int = 0,
    rng: Rng = None,
    n_jobs: int = 1,
    **options: Unpack[RowsAndOptionsOfFits],
) -> Decomposition:
    """Decompose a proper score into miscalibration and parts that recalibration cannot remove.

    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2).sample(2000, rng=1)  # over-confident
    >>> print(cs.decompose(y, p))
    brier score 0.1824 = miscalibration (mcb) 0.01539 - discrimination (dsc) 0.08279 + uncertainty (unc) 0.2498
    (corp), event: outcome 1, n = 2000.

    Parameters
    ----------
    y_true, y_prob
        As for `estimate`; rows may have weights or clusters.
    score : {"brier", "log_loss", "spherical"} or Bregman
        The proper score, a loss: squared difference, negative log-likelihood, or 1 - p / sqrt(p² + (1 - p)²) with p the
        probability of the observed outcome; or a user-defined one.
    method : {"corp", "sharpness", "murphy"}
        The estimate of the frequency of outcome 1 given the prediction: isotonic regression, kernel regression, or the
        mean in bins. Of several classes jointly "sharpness" and "murphy", over the cells of `canonical_ce`.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more. With method "sharpness" or
        "murphy" also one of several classes jointly, such as "canonical".
    confidence_level : float
        Share of the bootstrap samples within the range of each part, between 0 and 1.
    n_resamples : int
        Number of bootstrap samples; 0 for no ranges, as it has to be for several classes jointly.
    rng, n_jobs
        As for `calibration_test`.
    **options
        For "sharpness" `kernel`, "gaussian" or "epanechnikov", and `bandwidth`, from 0.0001 to 1; for "murphy" `n_bins`
        and `strategy`; for several classes jointly `strategy`, "tree" or "uniform", `n_bins`, `threshold` and
        `min_size`. For scores that can be infinite `clip`: predictions are moved into [clip, 1 - clip] before their
        loss is taken; by default none is moved. And words about rows, as of `estimate`.

    Returns
    -------
    Decomposition
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), an argument is unknown or out of range, the
        lens has no binary outcome where one is needed, or a loss is infinite where the method or a range needs a finite
        one.

    Notes
    -----
    The parts add up to the score, up to rounding, on every sample; the page "Calibration and sharpness" has their
    formulas. The ranges are percentiles of a bootstrap of rows, or of whole clusters. They are confidence intervals for
    the score and for unc. Parts that cannot be negative are overestimated, and every bootstrap sample overestimates
    them once more: near 0 their range lies above the true value. Test whether such a part is more than noise by
    `calibration_test` with measure "mcb" or "regression_ce". Cost: one sort, and one pass for each bootstrap sample.

    References
    ----------
    Dimitriadis, Gneiting, Jordan 2021, doi:10.1073/pnas.2016191118; Chidambaram, Ge 2024, arXiv:2406.04068; Murphy
    1973, doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2; Stephenson, Coelho, Jolliffe 2008,
    doi:10.1175/2007WAF2006116.1; Bröcker 2009, doi:10.1002/qj.456.
    """
    phi = find_score(score)
    if not is_among(method, METHODS):
        raise unknown_name("a method", method, METHODS)
    check_level("confidence_level", confidence_level)
    check_jobs(n_jobs)
    check_whole("n_resamples", n_resamples, 0)
    observed = rows.view()
    if isinstance(observed, MulticlassView) and method in METHODS_OF_VECTORS:
        return _jointly(phi, method, observed, options, n_resamples)
    split = Split(phi, method, _settings(method, METHODS[method], options))
    view, unit = observed.one_event(f"method {method!r}"), design_of(rows).unit
    total, parts = split.of_rows(view)
    found = _decomposition(total, parts, split, view, view.sample.n_rows)
    found = replace(found, drawn="rows" if unit is None else clusters_in_words(unit, view.weight))
    if not n_resamples:
        return found
    drawn = split.resamples(view, unit, total, Draws.of(rng, n_resamples, n_jobs))
    tail = (1 - confidence_level) / 2
    ends = np.quantile(drawn, [tail, 1 - tail], axis=0).tolist()
    low, high = (dict(zip(("score", *parts), end, strict=True)) for end in ends)
    return replace(found, low=low, high=high, confidence_level=confidence_level, n_resamples=n_resamples)


@dataclass(frozen=True)
class Split:
    """A way to split a score of one event: the score, the method, and its options."""

    score: Bregman
    method: str
    settings: dict[str, Any]

    def __call__(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> Parts:
        """Return the score of counted rows and its parts."""
        if not count.all():  # a resample leaves out some predictions
            value, count, positives = (part[count > 0] for part in (value, count, positives))
        return METHODS[self.method](self.score, value, count, positives, **self.settings)

    def of_rows(self, view: BinaryView) -> Parts:
        """Return the score of the rows and its parts."""
        if self.method in NEEDS_FINITE:
            self.score.inside(view.sample.value, self.settings["clip"], view.row_predictions)
        return self(*view.sample.arrays)

    def resamples(self, view: BinaryView, unit: np.ndarray | None, total: float, draws: Draws) -> np.ndarray:
        """Return the score and its parts in each bootstrap sample, a row each; `total` is the score of the rows."""
        sample, rows = view.sample, view.row_predictions
        need_counts(sample, "a bootstrap of the parts")
        if not np.isfinite(total):
            given = sample.value if rows is None else rows
            raise ValueError(f"expected a finite {self.score.name} score; {view.impossible()}; {advice(given)}")

        def numbers(*arrays: np.ndarray) -> list[float]:
            score, parts = self(*arrays)
            return [score, *parts.values()]

        if unit is None:
            return resampling.draw(sample, Pairs(), numbers, draws, Stream.ROWS)
        in_order, unit = sample_in_clusters(view, unit)
        return resampling.draw(in_order, Clusters(unit), numbers, draws, Stream.ROWS)


def _jointly(
    score: Bregman, method: str, view: MulticlassView, options: Mapping[str, Any], n_resamples: int
) -> Decomposition:
    """Return the parts of the score of several classes jointly, which has no ranges."""
    if n_resamples:
        raise ValueError(f"expected n_resamples 0 for several classes jointly, found {n_resamples!r}")
    split = Split(score, method, _settings(method, options_of_cells, options))
    total, parts = decompose_vectors(score, method, view, split.settings)
    return _decomposition(total, parts, split, view, view.predictions.n)


def _decomposition(total: float, parts: dict[str, float], split: Split, view: View, n: int | float) -> Decomposition:
    """Return the parts without their ranges."""
    return Decomposition(
        score=total,
        parts=parts,
        signs={name: -1 if name in SUBTRACTED else 1 for name in parts},
        low=None,
        high=None,
        confidence_level=None,
        loss=split.score.name,
        method=split.method,
        options=split.settings,
        lens=view.lens,
        n=n,
        n_resamples=0,
        why_infinite=view.impossible() if np.isinf(total) else "",
        **view.annotations(),
    )


def _settings(method: str, takes: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a method takes with their defaults; a ValueError names the ones there are."""
    parameters = inspect.signature(takes).parameters.values()
    known = {entry.name: entry.default for entry in parameters if entry.kind is entry.KEYWORD_ONLY}
    for name in options:
        if name not in known:
            raise UnknownOption(f"method {method!r}", name, known)
    return {**known, **options}
