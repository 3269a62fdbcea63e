"""Reliability diagrams as numbers: observed frequencies and mean predictions in bins, with a band for the noise."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, Never, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from calibstat.answers_by_model import Answers, ask_each
from calibstat.bounds.absolute_norms import TooFewRowsInCells
from calibstat.bounds.curves.curve_shapes import Shape
from calibstat.bounds.isotonic_interval import recalibrated
from calibstat.bounds.residual_tables import LabelledRows, RowTable
from calibstat.data.calibration_map import CalibrationMap
from calibstat.data.checked_rows import Data, Models, OneModel, Outcomes, as_data
from calibstat.data.checks import check_level, check_switch, is_among, short
from calibstat.data.clusters import clusters_in_words
from calibstat.data.lenses import AnyLens, EachClass, Lens
from calibstat.data.models import Predicted
from calibstat.data.null_hypothesis import EVENT_NULL
from calibstat.data.observations import BinaryData, ClassWiseData, MulticlassData
from calibstat.data.sample import Sample, need_counts
from calibstat.inference.bands.bands import BANDS
from calibstat.inference.bands.cell_limits import limits_of_distances
from calibstat.inference.bands.reliability_bands import Band, Bins
from calibstat.inference.bands.reliability_diagrams import ClassWiseReliability, Reliability, SimplexReliability
from calibstat.inference.confidence_interval_results import ConfidenceInterval
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
CROWDED = 0.9  # of the rows, in the lowest of the usual bins


class ReliabilityArguments(TypedDict, total=False):
    """The arguments of `reliability` on which the kind of its result does not depend."""

    n_bins: int | str | None
    strategy: Strategy
    band: str | None
    null: object
    level: float
    interval: bool
    shape: str | Shape | None
    n_resamples: int
    rng: Rng
    n_jobs: int
    sample_weight: ArrayLike | None
    cluster: ArrayLike | None
    labels: ArrayLike | None
    pos_label: object


@overload
def reliability(
    y_true: OneModel,
    y_prob: ArrayLike | None = None,
    *,
    lens: Literal["top_label"] | None = None,
    **arguments: Unpack[ReliabilityArguments],
) -> Reliability: ...
@overload
def reliability(
    y_true: OneModel, y_prob: ArrayLike | None = None, *, lens: EachClass, **arguments: Unpack[ReliabilityArguments]
) -> ClassWiseReliability: ...
@overload
def reliability(
    y_true: OneModel,
    y_prob: ArrayLike | None = None,
    *,
    lens: Literal["canonical"],
    **arguments: Unpack[ReliabilityArguments],
) -> SimplexReliability: ...
@overload
def reliability(
    y_true: OneModel, y_prob: ArrayLike | None = None, *, lens: Lens, **arguments: Unpack[ReliabilityArguments]
) -> Reliability | SimplexReliability: ...
@overload
def reliability(
    y_true: Models,
    y_prob: None = None,
    *,
    lens: Literal["top_label"] | None = None,
    **arguments: Unpack[ReliabilityArguments],
) -> Answers[Reliability]: ...
@overload
def reliability(
    y_true: Models, y_prob: None = None, *, lens: EachClass, **arguments: Unpack[ReliabilityArguments]
) -> Answers[ClassWiseReliability]: ...
@overload
def reliability(
    y_true: Models, y_prob: None = None, *, lens: Literal["canonical"], **arguments: Unpack[ReliabilityArguments]
) -> Answers[SimplexReliability]: ...
@overload
def reliability(
    y_true: Models, y_prob: None = None, *, lens: Lens, **arguments: Unpack[ReliabilityArguments]
) -> Answers[Reliability | SimplexReliability]: ...
@overload
def reliability(
    y_true: ArrayLike,
    y_prob: Mapping[str, Any],
    *,
    lens: Literal["top_label"] | None = None,
    **arguments: Unpack[ReliabilityArguments],
) -> Answers[Reliability]: ...
@overload
def reliability(
    y_true: ArrayLike, y_prob: Mapping[str, Any], *, lens: EachClass, **arguments: Unpack[ReliabilityArguments]
) -> Answers[ClassWiseReliability]: ...
@overload
def reliability(
    y_true: ArrayLike,
    y_prob: Mapping[str, Any],
    *,
    lens: Literal["canonical"],
    **arguments: Unpack[ReliabilityArguments],
) -> Answers[SimplexReliability]: ...
@overload
def reliability(
    y_true: ArrayLike, y_prob: Mapping[str, Any], *, lens: Lens, **arguments: Unpack[ReliabilityArguments]
) -> Answers[Reliability | SimplexReliability]: ...
def reliability(
    y_true: Outcomes,
    y_prob: Predicted = None,
    *,
    lens: AnyLens = None,
    n_bins: int | str | None = "auto",
    strategy: Strategy = "uniform",
    band: str | None = "consistency",
    null: object = None,
    level: float = 0.95,
    interval: bool = True,
    shape: str | Shape | None = None,
    n_resamples: int = 1000,
    rng: Rng = None,
    n_jobs: int = 1,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    pos_label: object = None,
    **unknown: Never,
) -> (
    Reliability
    | ClassWiseReliability
    | SimplexReliability
    | Answers[Reliability | ClassWiseReliability | SimplexReliability]
):
    """Compare observed frequency and mean prediction in each bin, with a band for the noise.

    Parameters
    ----------
    y_true, y_prob, labels, pos_label
        As for `estimate`.
    lens : str or Lens, optional
        The reduction of a K-class problem: a binary outcome ("top_label", the default of more than two classes, or a
        lens made by `lenses.one_class`), each class against the rest ("class_wise"), or several classes ("canonical",
        or a lens made by `lenses.groups` or `lenses.top_k`).
    n_bins : int, "cube_root", "100 rows", "auto" or None
        Number of bins, at least 1; "cube_root" is the smallest B with B**3 >= n, "100 rows" is n / 100, rounded down
        (or any other number of rows); None makes one bin of each distinct prediction. Empty bins are left out. "auto"
        is 15 bins of equal width, or if the lowest of them would hold more than 9 of 10 rows, as of rare events, 15 of
        nearly equal numbers of rows (of one event); for several classes 5 in each direction, which are 25 triangles for
        three classes.
    strategy : {"uniform", "quantile", "tree"} or sequence of float
        Bins of equal width, of as near equal numbers of rows as ties allow, of a tree grown on the predictions, whose
        cells of at least 100 rows are split at their mean whatever `n_bins`, or between ascending cuts. For several
        classes "uniform", a grid on the simplex, or "tree".
    band : str or None
        "consistency": where the frequencies of all bins at once, and all of the CORP curve, would lie if the model
        were calibrated. "confidence": limits for the average outcome probabilities of the rows of all bins at once.
        "monotone": a confidence band of the whole curve of outcome probabilities, if it does not decrease.
        Bars of which each holds by itself only: "pointwise_consistency", percentiles of consistency resampling,
        "binomial", quantiles of a binomial share of the mean prediction, and "pointwise_confidence", Wilson's interval.
        None: no band. Several classes together have "confidence" alone, limits for the distances of all cells at once.
    null : None, fitted recalibrator or callable
        A calibration map, as for `calibration_test`, by which the bands "consistency" and "binomial" are drawn: where
        frequencies would lie if outcomes came from it. Of one event or of each class, with independent rows of equal
        weight.
    level : float
        Probability of the whole band, of pointwise bars of each bar, in (0, 1). For several classes of the band
        of each class. Also the confidence level of the interval.
    interval : bool
        Whether to give the `confidence_interval` of the expected calibration error over these bins, by the "honest"
        method with its usual number of resamples. Pictures state it.
    shape : {"nondecreasing"}, Variation or Slope, optional
        What is said of the calibration curve: then the honest interval of the error itself, `l1`, stands beside the
        error over the bins. Of one event, without `cluster` and `sample_weight`.
    n_resamples : int
        Number of resamples behind the band of the CORP curve, at least 1 / (1 - level) - 1, or behind pointwise
        consistency bars, at least 20 and 2 / (1 - level). The other bands are computed without.
    rng, n_jobs
        As for `calibration_test`.
    sample_weight
        As for `calibration_test`. Bins, bars and the interval then count rows by their weights; not for "monotone".
    cluster : array_like, shape (n,), optional
        The cluster of each row (a patient, a day), within which outcomes may depend on each other. For the bands
        "consistency", "confidence" and "pointwise_confidence", the interval, and no band; not with a lens that shows
        several classes jointly.

    Returns
    -------
    Reliability, ClassWiseReliability or SimplexReliability
        For a binary outcome, for each class, or for several classes together.
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), a band is requested for a `Sample` with
        real-valued counts, or an argument is unknown or out of range.

    Notes
    -----
    Without `cluster` all bands but None take outcomes to be independent given the predictions. Then, for any number of
    rows:

    * "consistency": if calibrated, the numbers of positives of the bins are independent with known (Poisson-binomial)
      distributions. Their tails are cut as far as a calibrated model still stays inside in all bins with probability at
      least `level`: exact, and nothing is drawn. The band of the CORP curve is drawn: outcomes drawn from the
      predictions are exchangeable with outcomes of a calibrated model, which therefore leaves the band with probability
      at most 1 - level for any number of draws. On many rows fewer are made than `n_resamples`, at least 99.
    * "confidence": Clopper and Pearson's limits, Šidák's correction; the rows of a bin may differ (Hoeffding 1956).
      The curve within a bin is not covered, only its average over the rows.
    * "monotone": Clopper and Pearson's limits for many intervals of predictions, Bonferroni's correction. Where the
      lower line is above the upper one (`crosses`), the curve does decrease; it may do so without a sign, and then the
      band may miss it. A diagonal inside the band is not evidence of calibration: use `calibration_test`.
    * "binomial": the rows of a bin may differ, which makes its share less variable: too wide rather than too narrow.
    * "pointwise_consistency": draws rows with replacement and an outcome for each from its prediction, takes frequency
      minus mean prediction in each bin, and puts its percentiles around the observed mean prediction, kept within
      [0, 1]. Resamples in which a bin is empty do not count for that bin; quantile bins keep the observed edges.

    With `cluster` no band is exact, because calibration does not say how outcomes of a cluster depend on each other:

    * "consistency": the widest of the band above, of one by random signs of whole clusters and, in bins where an
      outcome is observed or expected in fewer than ten clusters, of one by labels that the rows of a cluster share as
      far as their predictions allow. The same holds for the CORP curve.
    * "confidence", "pointwise_confidence": score intervals, to which the rows of a cluster in a bin are one unit, with
      Bonferroni's correction or none.

    Of 15 pointwise bars of 95 % all hold with probability of only about .95**15 = .46.

    The CORP curve is the isotonic regression of outcomes on predictions; it needs no bins. Cost: one sort; for
    "consistency" up to `n_resamples` isotonic regressions, .1 s for 1e3 rows and 3 s for 1e6; for
    "pointwise_consistency" O(n * n_resamples); for the interval, 2 s for 1e6 rows.

    References
    ----------
    Clopper, Pearson 1934, doi:10.1093/biomet/26.4.404; Hoeffding 1956, doi:10.1214/aoms/1177728178; Dimitriadis,
    Dümbgen, Henzi, Puke, Ziegel 2023, doi:10.1093/biomet/asac068 (bands of a non-decreasing curve); Bröcker, Smith
    2007, doi:10.1175/WAF993.1; Vaicenavicius et al. 2019, arXiv:1902.06977, section 4.4; Wilson 1927,
    doi:10.1080/01621459.1927.10502953; Dimitriadis, Gneiting, Jordan 2021, doi:10.1073/pnas.2016191118.

    Examples
    --------
    >>> import calibstat as cs
    >>> sample = cs.Sample.from_counts([0.2, 0.7], [50, 50], [20, 35])
    >>> result = cs.reliability(sample, rng=1)
    >>> result.frequency
    array([0.4, 0.7])
    >>> result.inside
    array([False,  True])
    >>> result.corp_inside
    False
    """
    data = as_data(
        reliability,
        y_true,
        y_prob,
        unknown,
        lens=lens,
        sample_weight=sample_weight,
        cluster=cluster,
        labels=labels,
        pos_label=pos_label,
    )
    if isinstance(data, Models):
        return ask_each(reliability, data, locals())
    if band is not None and not is_among(band, BANDS):
        raise ValueError(f"expected band {', '.join(map(repr, BANDS))} or None, found {short(band)}")
    check_level("level", level)
    check_switch("interval", interval)
    if data.unit is not None and band is not None and BANDS[band].of_clusters is None:
        raise ValueError(f"expected no cluster= for band={band!r}, found one: {BANDS[band].why_no_clusters}")
    draws = Draws.of(rng, n_resamples, n_jobs)
    if shape is not None:
        need_independent_rows(data, "shape")
    chance, calibration_map = (None, "") if null is None else _explained(data, null, band)
    seen, unit = data.seen(), data.unit
    usual = isinstance(n_bins, str) and n_bins == "auto"
    several = 5  # a grid has bins in each coordinate, so many cells
    n_bins = USUAL_BINS if usual else n_bins

    def drawn(data: BinaryData, cut: Strategy, chance: np.ndarray | None) -> Reliability:
        ece = ECE(n_bins=n_bins, strategy=cut)
        error = _interval(data, unit, ece, float(level), draws) if interval else None
        outcomes = Labels() if chance is None else BinaryProblem(ece, data).with_chances(chance)[1]
        diagram = _binary(data, unit, n_bins, cut, band, float(level), draws, error, outcomes, calibration_map)
        return diagram if shape is None else replace(diagram, without_bins=_of_curves(data, shape, level, draws))

    def binary(data: BinaryData) -> Reliability:
        equal = isinstance(strategy, str) and strategy == "uniform"
        return drawn(data, "quantile" if usual and equal and is_rare(data.sample) else strategy, chance)

    def need_no_shape(lens: object) -> None:
        if shape is not None:
            raise ValueError(f"expected a lens that shows one event with shape=, found {lens}")

    def class_wise(data: ClassWiseData) -> ClassWiseReliability:
        need_no_shape(data.lens)
        names = data.predictions.names
        of_class = [None] * len(names) if chance is None else [np.column_stack((1 - c, c)) for c in chance.T]
        diagrams = tuple(drawn(event, strategy, c) for event, c in zip(data.events(), of_class, strict=True))
        error = ClassWiseProblem(ECE(n_bins=n_bins, strategy=strategy), data, None).estimate()
        return ClassWiseReliability(diagrams, names, read_only(error), data.lens, data.predictions.n)

    def canonical(data: MulticlassData) -> SimplexReliability:
        need_no_shape(data.lens)
        if not is_among(band, ("consistency", "confidence", None)):  # the default has no meaning here
            raise ValueError(f"expected band 'confidence' or None for {data.lens}, found {band!r}")
        if null is not None:
            raise ValueError(f"expected a lens that shows one event, or each class, with null=, found {data.lens}")
        if unit is not None:
            raise ValueError(f"expected no cluster= for a diagram without a band, of {data.lens}; found one")
        data.need_no_weights("reliability", "cells of the simplex are drawn as counts of rows")
        limits = float(level) if band == "confidence" else None
        return _canonical(data, several if usual else n_bins, str(strategy), limits)

    diagram: Reliability | ClassWiseReliability | SimplexReliability = seen.choose(
        binary,
        canonical,
        class_wise,
    )
    return replace(diagram, **seen.annotations())


def is_rare(sample: Sample) -> bool:
    """Whether one of 15 equal bins, the lowest, would hold nearly all rows."""
    low = sample.value <= 1 / USUAL_BINS
    return bool(sample.count[low].sum() > CROWDED * sample.count.sum())


def _canonical(
    data: MulticlassData, n_bins: int | str | None, strategy: str, level: float | None
) -> SimplexReliability:
    """Compare mean outcome and mean prediction in each cell of the simplex, with limits if a level is given."""
    predictions = data.predictions
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
        lens=data.lens,
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


def _binary(
    data: BinaryData,
    unit: np.ndarray | None,
    n_bins: int | str | None,
    strategy: Strategy,
    band: str | None,
    level: float,
    draws: Draws,
    interval: ConfidenceInterval | None,
    outcomes: GivenPredictions,
    calibration_map: str,
) -> Reliability:
    """Compare observed frequency and mean prediction bin by bin."""
    sample = data.sample
    value, count, positives = sample.arrays
    cell = bin_cells(value, count, n_bins=n_bins, strategy=strategy)
    bins = Bins.of(sample, cell, None if unit is None else _table(data, unit), outcomes)
    drawn = Band()
    if band is not None:
        need_counts(sample, f"band={band!r}")
        drawn = BANDS[band].make(bins, level, draws)
    curve = (None, None, None) if drawn.steps is None else (drawn.steps.value, drawn.steps.low, drawn.steps.high)
    kind = _kind(n_bins, strategy)
    left, right = _edges(value, bins, n_bins, kind, float(count.sum()))
    corp_value, corp_frequency, corp_count = _corp(value, count, positives)
    low, high, curve_value, curve_low, curve_high = (
        None if part is None else read_only(part) for part in (drawn.low, drawn.high, *curve)
    )
    return Reliability(
        mean_prediction=read_only(bins.mean),
        frequency=read_only(bins.frequency),
        count=read_only(bins.count),
        left=read_only(left),
        right=read_only(right),
        low=low,
        high=high,
        curve_value=curve_value,
        curve_low=curve_low,
        curve_high=curve_high,
        band=band,
        band_level=None if band is None else level,
        corp_value=read_only(corp_value),
        corp_frequency=read_only(corp_frequency),
        corp_count=read_only(corp_count),
        strategy=kind,
        lens=data.lens,
        n=sample.n_rows,
        n_resamples=drawn.n_resamples,
        interval=interval,
        clusters="" if unit is None else clusters_in_words(unit, data.weight),
        effective_n=None if sample.weighted is None else float(sample.n),
        calibration_map=calibration_map,
        expected=read_only(bins.expected) if calibration_map else None,
    )


def _explained(data: Data, null: object, band: str | None) -> tuple[np.ndarray, str]:
    """Return the chances of outcomes by a calibration map, and its name; raise where no band is drawn by it."""
    why = "nothing is drawn" if band is None else BANDS[band].why_no_map
    if why:
        raise ValueError(f"expected no null= with band={band!r}, found one: {why}")
    need_independent_rows(data, "null")
    known = CalibrationMap.of(null)
    return data.chances(known), known.name


def _table(data: BinaryData, unit: np.ndarray) -> RowTable:
    """Return the residuals of rows in clusters at their distinct predictions."""
    columns = data.float_rows()
    order, unit_in_order = canonical_order(columns, unit, data.weight)
    return RowTable.of_rows(LabelledRows(*columns, data.weight).take(order), data.sample, None, unit_in_order)


def _interval(
    data: BinaryData, unit: np.ndarray | None, error: ECE, level: float, draws: Draws
) -> ConfidenceInterval | None:
    """Return the honest interval of the error over the bins of a diagram, None where none is known."""
    sample = data.sample
    if not sample.keeps_rows:
        return None
    rows = replace(data, null=EVENT_NULL, predictions=None, confidences=())
    if unit is None:  # the sample holds all that an interval of independent rows is of
        rows = replace(rows, rows=None, weight=None, weight_is_whole=False, summary=sample)
    with suppress(TooFewRowsInCells):
        return _honest(BinaryProblem(error, rows), unit, level, replace(draws, n=error.draws(None)))
    return None


def _of_curves(data: BinaryData, shape: str | Shape, level: float, draws: Draws) -> ConfidenceInterval:
    """Return the honest interval of the error without bins."""
    error, seen = L1(shape=shape), replace(data, null=EVENT_NULL, predictions=None, confidences=())
    return _honest(BinaryProblem(error, seen), None, level, replace(draws, n=error.draws(None)))


def need_independent_rows(data: Data, name: str) -> None:
    """Raise if rows are in clusters or have weights, for an argument that takes neither."""
    found = "clusters" if data.unit is not None else "weights" if data.rows.sample_weight is not None else ""
    if found:
        raise ValueError(f"expected independent rows of equal weight with {name}=, found {found}")


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
