"""Reliability diagrams as numbers: observed frequencies and mean predictions in bins, with a band for the noise."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from calibstat.bounds.absolute_norms import TooFewRowsInCells
from calibstat.bounds.curves.curve_shapes import Shape
from calibstat.bounds.isotonic_interval import recalibrated
from calibstat.bounds.residual_tables import LabelledRows, RowTable
from calibstat.data.calibration_map import CalibrationMap
from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import check_level, check_switch, is_among, short
from calibstat.data.clusters import clusters_in_words
from calibstat.data.lenses import AnyLens
from calibstat.data.null_hypothesis import EVENT_NULL
from calibstat.data.sample import Sample, need_counts
from calibstat.data.views import BinaryView, ClassWiseView, MulticlassView
from calibstat.inference.bands.bands import BANDS
from calibstat.inference.bands.cell_limits import limits_of_distances
from calibstat.inference.bands.reliability_bands import Band, Bins
from calibstat.inference.bands.reliability_diagrams import ClassWiseReliability, Reliability, SimplexReliability
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.design_of import independent
from calibstat.inference.designs.independent import Independent
from calibstat.inference.designs.question_of_rows import question
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.inference.problems.class_problems import ClassWiseProblem
from calibstat.measures.binned import ECE
from calibstat.measures.bins import Strategy, bin_cells, bin_numbers, is_unbinned, number_of_bins
from calibstat.measures.canonical_ce import CanonicalCE
from calibstat.measures.curve_errors import L1
from calibstat.measures.simplex_cells import grid_boxes, tree_boxes
from calibstat.resampling import Draws, GivenPredictions, Labels, canonical_order
from calibstat.resampling.rng import Rng
from calibstat.result import read_only

USUAL_BINS = 15
BINS_OF_CLASSES = 5  # in each direction of a grid, which has so many cells
CROWDED = 0.9  # of the rows, in the lowest of the usual bins


if TYPE_CHECKING:

    class OfLens(Reliability, ClassWiseReliability, SimplexReliability):  # type: ignore[misc]
        """For type checkers: the diagram of an event, of each class or of all classes jointly, as the lens says."""

else:
    OfLens = Reliability | ClassWiseReliability | SimplexReliability


@question("sample_weight", "cluster")
def reliability(
    rows: Data,
    /,
    *,
    lens: AnyLens = None,
    n_bins: int | str | None = "auto",
    strategy: Strategy = "uniform",
    band: str | None = "consistency",
    null: object = None,
    confidence_level: float = 0.95,
    interval: bool = True,
    shape: str | Shape | None = None,
    n_resamples: int = 1000,
    rng: Rng = None,
    n_jobs: int = 1,
    **about: Unpack[AboutRows],
) -> OfLens:
    """Compare observed frequency and mean prediction in each bin, with a band for the noise.

    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2).sample(1000, rng=1)
    >>> result = cs.reliability(y, p, n_bins=5, rng=1)
    >>> result.inside
    array([False, False,  True, False, False])

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`; rows may have weights or clusters.
    lens : str or Lens, optional
        One event, each class ("class_wise"), or several classes jointly ("canonical"; `lenses.groups`, `lenses.top_k`).
    n_bins : int, "cube_root", "100 rows", "auto" or None
        Number of bins; the smallest whose cube is at least n; n / 100; None makes one bin of each distinct prediction.
        "auto" is 15, of equal numbers of rows if the lowest of equal width would hold more than 9 of 10 rows; for
        several classes jointly 5 in each direction.
    strategy : {"uniform", "quantile", "tree"} or sequence of float
        Bins of equal width, of equal numbers of rows, of a tree grown on the predictions, or between ascending cuts.
    band : str or None
        "consistency": where all frequencies at once would lie if the model were calibrated. "confidence": limits for
        the outcome probabilities of all bins at once. "monotone": a band of the whole curve, if it does not decrease.
        Bars that hold one by one: "pointwise_consistency", "binomial", "pointwise_confidence".
    null : None, fitted recalibrator or callable
        A calibration map, as for `calibration_test`, by which the bands "consistency" and "binomial" are drawn.
    confidence_level : float
        Between 0 and 1: of the whole band, of each pointwise bar, and of the interval.
    interval : bool
        Whether to give the `confidence_interval` of the expected calibration error over these bins.
    shape : {"nondecreasing"}, Variation or Slope, optional
        What is said of the calibration curve: then the interval of the error itself, `l1`, stands beside.
    n_resamples : int
        Resamples behind the band of the CORP curve, or behind pointwise consistency bars.
    rng, n_jobs
        As for `calibration_test`.

    Returns
    -------
    Reliability, ClassWiseReliability or SimplexReliability
        For one event, each class, or several classes jointly. `Answers`, a mapping by name, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), or these rows have no such band.

    Notes
    -----
    Bands take outcomes to be independent given the predictions, or clusters to be; the page "Reliability diagrams" says
    what each promises. Cost: one sort; for "consistency" up to `n_resamples` isotonic regressions, .1 s for 1e3 rows
    and 3 s for 1e6; for the interval 2 s for 1e6 rows.

    References
    ----------
    Clopper, Pearson 1934, doi:10.1093/biomet/26.4.404; Bröcker, Smith 2007, doi:10.1175/WAF993.1; Dimitriadis,
    Gneiting, Jordan 2021, doi:10.1073/pnas.2016191118; Dimitriadis et al. 2023, doi:10.1093/biomet/asac068.
    """
    check_switch("interval", interval)
    check_level("confidence_level", confidence_level)
    asked = Diagrams(
        independent(rows),
        n_bins,
        strategy,
        band,
        float(confidence_level),
        interval,
        shape,
        Draws.of(rng, n_resamples, n_jobs),
    )
    return cast("OfLens", asked.explained(null).made())


@dataclass(frozen=True)
class Diagrams:
    """The diagrams of rows, as they are asked for.

    `chance` are the probabilities of outcomes by a calibration map of this name, None if the predictions are tested.
    """

    design: Independent
    n_bins: int | str | None
    strategy: Strategy
    band: str | None
    level: float
    has_interval: bool
    shape: str | Shape | None
    draws: Draws
    chance: np.ndarray | None = None
    calibration_map: str = ""

    def explained(self, null: object) -> Diagrams:
        """Return the same diagrams with outcomes drawn by a calibration map; None stays."""
        if self.band is not None and not is_among(self.band, BANDS):
            raise ValueError(f"expected band {', '.join(map(repr, BANDS))} or None, found {short(self.band)}")
        if self.shape is not None:
            self.design.need_equal_rows("shape=")
        if null is None:
            return self
        why = "nothing is drawn" if self.band is None else BANDS[self.band].why_no_map
        if why:
            raise ValueError(f"expected no null= with band={self.band!r}, found one: {why}")
        self.design.need_equal_rows("null=")
        known = CalibrationMap.of(null)
        return replace(self, chance=self.design.data.chances(known), calibration_map=known.name)

    def made(self) -> Reliability | ClassWiseReliability | SimplexReliability:
        """Return the diagram of what the lens shows."""
        view = self.design.data.view()
        if self.band is not None and BANDS[self.band].of_clusters is None:
            why = BANDS[self.band].why_no_clusters
            self.design.need_no_clusters(f"expected no cluster= for band={self.band!r}, found one: {why}")
        diagram: Reliability | ClassWiseReliability | SimplexReliability = view.choose(
            self._binary, self._canonical, self._class_wise
        )
        return replace(diagram, **view.annotations())

    @property
    def _is_usual(self) -> bool:
        return isinstance(self.n_bins, str) and self.n_bins == "auto"

    @property
    def _bins(self) -> int | str | None:
        return USUAL_BINS if self._is_usual else self.n_bins

    def _drawn(self, data: BinaryView, cut: Strategy, chance: np.ndarray | None) -> Reliability:
        ece = ECE(n_bins=self._bins, strategy=cut)
        error = self._interval(data, ece) if self.has_interval else None
        outcomes = Labels() if chance is None else BinaryProblem(ece, data).with_chances(chance)[1]
        diagram = self._of_event(data, cut, outcomes, error)
        if self.shape is None:
            return diagram
        view = replace(data, null=EVENT_NULL, predictions=None, confidences=())
        return replace(diagram, without_bins=self._honest(BinaryProblem(L1(shape=self.shape), view)))

    def _binary(self, view: BinaryView) -> Reliability:
        equal = isinstance(self.strategy, str) and self.strategy == "uniform"
        rare = self._is_usual and equal and is_rare(view.sample)
        return self._drawn(view, "quantile" if rare else self.strategy, self.chance)

    def _need_no_shape(self, lens: object) -> None:
        if self.shape is not None:
            raise ValueError(f"expected a lens that shows one event with shape=, found {lens}")

    def _class_wise(self, view: ClassWiseView) -> ClassWiseReliability:
        self._need_no_shape(view.lens)
        names, cut = view.predictions.names, self.strategy
        each = [None] * len(names) if self.chance is None else [np.column_stack((1 - c, c)) for c in self.chance.T]
        diagrams = tuple(self._drawn(event, cut, c) for event, c in zip(view.events(), each, strict=True))
        error = ClassWiseProblem(ECE(n_bins=self._bins, strategy=cut), view, None).estimate()
        return ClassWiseReliability(diagrams, names, read_only(error), view.lens, view.predictions.n)

    def _canonical(self, view: MulticlassView) -> SimplexReliability:
        self._need_no_shape(view.lens)
        if not is_among(self.band, ("consistency", "confidence", None)):  # the default has no meaning here
            raise ValueError(f"expected band 'confidence' or None for {view.lens}, found {self.band!r}")
        if self.chance is not None:
            raise ValueError(f"expected a lens that shows one event, or each class, with null=, found {view.lens}")
        self.design.need_no_clusters(f"expected no cluster= for a diagram without a band, of {view.lens}; found one")
        view.need_no_weights("reliability", "cells of the simplex are drawn as counts of rows")
        limits = self.level if self.band == "confidence" else None
        return _of_vectors(view, BINS_OF_CLASSES if self._is_usual else self.n_bins, str(self.strategy), limits)

    def _interval(self, view: BinaryView, error: ECE) -> ConfidenceInterval | None:
        """Return the honest interval of the error over the bins of a diagram, None where none is known."""
        sample = view.sample
        if not sample.keeps_rows:
            return None
        rows = replace(view, null=EVENT_NULL, predictions=None, confidences=())
        if self.design.unit is None:  # the sample holds all that an interval of independent rows is of
            rows = replace(rows, rows=None, weight=None, weight_is_whole=False, summary=sample)
        with suppress(TooFewRowsInCells):
            return self._honest(BinaryProblem(error, rows))
        return None

    def _honest(self, problem: BinaryProblem) -> ConfidenceInterval:
        draws = replace(self.draws, n=problem.measure.draws(None))
        return self.design.interval_of(problem, "honest", self.level, draws)

    def _of_event(
        self, view: BinaryView, strategy: Strategy, outcomes: GivenPredictions, interval: ConfidenceInterval | None
    ) -> Reliability:
        """Compare observed frequency and mean prediction bin by bin."""
        sample, unit, band, n_bins = view.sample, self.design.unit, self.band, self._bins
        value, count, positives = sample.arrays
        cell = bin_cells(value, count, n_bins=n_bins, strategy=strategy)
        bins = Bins.of(sample, cell, None if unit is None else _table(view, unit), outcomes)
        drawn = Band()
        if band is not None:
            need_counts(sample, f"band={band!r}")
            drawn = BANDS[band].make(bins, self.level, self.draws)
        curve = (None, None, None) if drawn.steps is None else (drawn.steps.value, drawn.steps.low, drawn.steps.high)
        kind = _kind(n_bins, strategy)
        parts = {
            **dict(zip(("left", "right"), _edges(value, bins, n_bins, kind, float(count.sum())), strict=True)),
            **dict(zip(("corp_value", "corp_frequency", "corp_count"), _corp(value, count, positives), strict=True)),
            **dict(zip(("curve_value", "curve_low", "curve_high"), curve, strict=True)),
            "mean_prediction": bins.mean,
            "frequency": bins.frequency,
            "count": bins.count,
            "low": drawn.low,
            "high": drawn.high,
            "expected": bins.expected if self.calibration_map else None,
        }
        held: dict[str, Any] = {name: None if part is None else read_only(part) for name, part in parts.items()}
        return Reliability(
            **held,
            band=band,
            band_level=None if band is None else self.level,
            strategy=kind,
            lens=view.lens,
            n=sample.n_rows,
            n_resamples=drawn.n_resamples,
            interval=interval,
            clusters="" if unit is None else clusters_in_words(unit, view.weight),
            effective_n=None if sample.weighted is None else float(sample.n),
            calibration_map=self.calibration_map,
        )


def is_rare(sample: Sample) -> bool:
    """Whether one of 15 equal bins, the lowest, would hold nearly all rows."""
    low = sample.value <= 1 / USUAL_BINS
    return bool(sample.count[low].sum() > CROWDED * sample.count.sum())


def _of_vectors(
    view: MulticlassView, n_bins: int | str | None, strategy: str, level: float | None
) -> SimplexReliability:
    """Compare mean outcome and mean prediction in each cell of the simplex, with limits if a level is given."""
    predictions = view.predictions
    table = CanonicalCE(n_bins=n_bins, strategy=strategy).detail(predictions.prob, predictions.label)
    of_cells = table["mean_prediction"], table["frequency"], table["count"]
    low, high = (None, None) if level is None else map(read_only, limits_of_distances(*of_cells, level))
    lower, upper = _boxes(table, n_bins, predictions.n)
    grid = "level sets" if is_unbinned(n_bins) else f"grid of {n_bins} bins"
    return SimplexReliability(
        mean_prediction=read_only(table["mean_prediction"]),
        frequency=read_only(table["frequency"]),
        count=read_only(table["count"]),
        names=predictions.names,
        strategy=grid if strategy == "uniform" else "tree grown on the predictions",
        lens=view.lens,
        n=predictions.n,
        low=low,
        high=high,
        band_level=level,
        lower=lower,
        upper=upper,
    )


def _boxes(table: dict[str, Any], n_bins: int | str | None, n: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the ends of the coordinates in each cell of a tree or a grid; level sets have none."""
    cells, classes = table["frequency"].shape
    if "tree" in table:
        low, high = tree_boxes(table["tree"], cells, classes)
    elif is_unbinned(n_bins):
        return None, None
    else:
        low, high = grid_boxes(table["mean_prediction"], number_of_bins(n_bins, n))
    return read_only(low), read_only(high)


def _table(view: BinaryView, unit: np.ndarray) -> RowTable:
    """Return the residuals of rows in clusters at their distinct predictions."""
    columns = view.float_rows()
    order, unit_in_order = canonical_order(columns, unit, view.weight)
    return RowTable.of_rows(LabelledRows(*columns, view.weight).take(order), view.sample, None, unit_in_order)


def _kind(n_bins: int | str | None, strategy: Strategy) -> str:
    """Name the way in which bins were cut."""
    if not isinstance(strategy, str):
        return "given"
    return "one-prediction" if is_unbinned(n_bins) else strategy


def _edges(
    value: np.ndarray, bins: Bins, n_bins: int | str | None, kind: str, n: float
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of equal widths; for other bins the smallest and the largest prediction in each."""
    if kind == "uniform":
        wide = number_of_bins(n_bins, n)
        number = bin_numbers(value[bins.first], wide)
        return number / wide, (number + 1) / wide
    return value[bins.first], value[bins.last]


def _corp(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Corners of the isotonic regression: the first and last prediction of every flat piece, its value and its rows."""
    fitted = recalibrated(value, count, positives)
    step = np.diff(fitted) != 0
    corner = np.append(True, step) | np.append(step, True)
    piece = np.append(0, np.cumsum(step))
    return value[corner], np.clip(fitted[corner], 0, 1), np.bincount(piece, weights=count)[piece[corner]]
