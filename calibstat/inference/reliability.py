"""Reliability diagrams as numbers: observed frequencies and mean predictions in bins, with bars."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from calibstat import resampling
from calibstat.data.checks import check_level
from calibstat.data.lenses import ClassWise, Lens
from calibstat.data.observations import ClassWiseData, MulticlassData, observe
from calibstat.data.sample import Sample, need_counts
from calibstat.inference.problem import ClassWiseProblem
from calibstat.inference.reliability_diagrams import ClassWiseReliability, Reliability, SimplexReliability
from calibstat.measures.binned import ECE
from calibstat.measures.bins import Strategy, bin_cells, bin_numbers, is_unbinned, number_of_bins
from calibstat.measures.canonical_ce import CanonicalCE
from calibstat.measures.cell_sums import cell_sums
from calibstat.measures.corp import recalibrated
from calibstat.resampling import CellSums, Consistency, Draws, Stage
from calibstat.result import read_only

LEVEL: dict[str | None, float | None] = {"consistency": 0.90, "confidence": 0.95, None: None}


class Options(TypedDict, total=False):
    """The options of `reliability` except the lens, on which the type of the result depends."""

    n_bins: int | str | None
    strategy: Strategy
    band: str | None
    level: float | None
    n_resamples: int
    rng: Any
    n_jobs: int
    sample_weight: Any
    labels: Any


@overload
def reliability(
    y_true: Any, y_prob: Any = None, *, lens: Literal["top_label"] | None = None, **options: Unpack[Options]
) -> Reliability: ...
@overload
def reliability(
    y_true: Any, y_prob: Any = None, *, lens: Literal["class_wise"] | ClassWise, **options: Unpack[Options]
) -> ClassWiseReliability: ...
@overload
def reliability(
    y_true: Any, y_prob: Any = None, *, lens: Literal["canonical"], **options: Unpack[Options]
) -> SimplexReliability: ...
@overload
def reliability(
    y_true: Any, y_prob: Any = None, *, lens: Lens, **options: Unpack[Options]
) -> Reliability | SimplexReliability: ...
@overload
def reliability(
    y_true: Any, y_prob: Any = None, *, lens: Any, **options: Unpack[Options]
) -> Reliability | ClassWiseReliability | SimplexReliability: ...
def reliability(
    y_true: Any,
    y_prob: Any = None,
    *,
    lens: Any = None,
    n_bins: int | str | None = "auto",
    strategy: Strategy = "uniform",
    band: str | None = "consistency",
    level: float | None = None,
    n_resamples: int = 1000,
    rng: Any = None,
    n_jobs: int = 1,
    sample_weight: Any = None,
    labels: Any = None,
) -> Reliability | ClassWiseReliability | SimplexReliability:
    """Compare observed frequency and mean prediction in each bin, with bars for the noise.

    Parameters
    ----------
    y_true, y_prob, labels
        As for `estimate`.
    lens : str or Lens, optional
        The reduction of a K-class problem: a binary outcome ("top_label", the default of more than two classes, or a
        lens made by `lenses.one_class`), each class against the rest ("class_wise"), or several classes ("canonical",
        or a lens made by `lenses.groups` or `lenses.top_k`).
    n_bins : int, "cube_root", "auto" or None
        Number of bins, at least 1; "cube_root" is the smallest B with B**3 >= n; None makes one bin of each
        distinct prediction. Empty bins are left out. "auto" is 15; for several classes 5 in each direction, which are
        25 triangles for three classes.
    strategy : {"uniform", "quantile"} or sequence of float
        Bins of equal width, of as near equal numbers of rows as ties allow, or between ascending cuts. For
        several classes "uniform", a grid on the simplex, or "tree", cells grown on the predictions.
    band : {"consistency", "confidence"} or None
        "consistency": where the frequency of each bin would lie if the model were calibrated. "confidence": Wilson's
        interval for the true frequency of each bin. None: no bars.
    level : float, optional
        Probability of each bar, taken alone, in (0, 1). By default .90 for consistency bars, which are then
        the 5th and the 95th percentile, and .95 for confidence bars.
    n_resamples : int
        Number of resamples behind consistency bars, at least 20 and 2 / (1 - level).
    rng, n_jobs
        As for `calibration_test`.
    sample_weight
        As for `estimate`; other than whole numbers need ``band=None``.

    Returns
    -------
    Reliability, ClassWiseReliability or SimplexReliability
        For a binary outcome, for each class, or for several classes together; the last has no bars.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), bars are requested for real-valued weights,
        or an argument is unknown or out of range.

    Notes
    -----
    Consistency bars draw rows with replacement and an outcome for each from its prediction, take frequency minus
    mean prediction in each bin, and put its percentiles around the observed mean prediction, kept within [0, 1].
    Resamples in which a bin is empty do not count for that bin. Quantile bins keep the observed edges. Every bar
    stands alone: 15 bars of 90 % all hold a calibrated model with probability of only about .9**15 = .21, more if
    bins hold few rows. So one bin outside its bar says little; use `calibration_test`.

    The CORP curve is the isotonic regression of outcomes on predictions; it needs no bins. Cost: one sort, and
    O(n * n_resamples) for consistency bars.

    References
    ----------
    Bröcker, Smith 2007, doi:10.1175/WAF993.1; Vaicenavicius et al. 2019, arXiv:1902.06977, section 4.4; Wilson 1927,
    doi:10.1080/01621459.1927.10502953; Dimitriadis, Gneiting, Jordan 2021, doi:10.1073/pnas.2016191118.

    Examples
    --------
    >>> import calibstat as cs
    >>> sample = cs.Sample.from_counts([0.2, 0.7], [50, 50], [20, 35])
    >>> found = cs.reliability(sample, rng=1)
    >>> found.frequency
    array([0.4, 0.7])
    >>> found.inside
    array([False,  True])
    """
    if band not in LEVEL:
        raise ValueError(f"expected band 'consistency', 'confidence' or None, found {band!r}")
    if level is not None:
        check_level("level", level)
    band_level = LEVEL[band] if level is None or band is None else float(level)
    draws = Draws.of(rng, n_resamples, n_jobs)
    seen = observe(y_true, y_prob, lens=lens, sample_weight=sample_weight, labels=labels)
    usual, several = n_bins == "auto", 5  # a grid has bins in each coordinate, so many cells
    n_bins = 15 if usual else n_bins

    def binary(sample: Sample, title: str) -> Reliability:
        return _binary(sample, title, n_bins, strategy, band, band_level, draws)

    def class_wise(data: ClassWiseData) -> ClassWiseReliability:
        names = data.predictions.names
        classes = zip(data.samples(), names, strict=True)
        diagrams = tuple(binary(sample, f"class {name}") for sample, name in classes)
        error = ClassWiseProblem(ECE(n_bins=n_bins, strategy=strategy), data, None).estimate()
        return ClassWiseReliability(diagrams, names, read_only(error), data.lens, data.predictions.n)

    return seen.choose(
        lambda data: binary(data.sample, data.lens),
        lambda data: _canonical(data, several if usual else n_bins, str(strategy)),
        class_wise,
    )


def _canonical(data: MulticlassData, n_bins: int | str | None, strategy: str) -> SimplexReliability:
    """Compare mean outcome and mean prediction in each cell of the simplex."""
    predictions = data.predictions
    table = CanonicalCE(n_bins=n_bins, strategy=strategy).detail(predictions.prob, predictions.label)
    grid = "level sets" if is_unbinned(n_bins) else f"grid of {n_bins} bins"
    return SimplexReliability(
        mean_prediction=read_only(table["mean_prediction"]),
        frequency=read_only(table["frequency"]),
        count=read_only(table["count"]),
        names=predictions.names,
        strategy=grid if strategy == "uniform" else "tree grown on the predictions",
        lens=data.lens,
        n=predictions.n,
    )


def _binary(
    sample: Sample,
    title: str,
    n_bins: int | str | None,
    strategy: Strategy,
    band: str | None,
    band_level: float | None,
    draws: Draws,
) -> Reliability:
    """Compare observed frequency and mean prediction bin by bin."""
    value, count, positives = sample.arrays
    cell = bin_cells(value, count, n_bins=n_bins, strategy=strategy)
    count_b, residual_b, value_b = cell_sums(cell, *sample.arrays)
    full = np.flatnonzero(count_b)
    n = count.sum()
    mean = np.clip(value_b[full] * n / count_b[full], 0, 1)
    frequency = np.clip((value_b + residual_b)[full] * n / count_b[full], 0, 1)

    low = high = None
    drawn = 0
    if band_level is not None:
        need_counts(sample, f"a {band} band")
        if band == "confidence":
            low, high = _wilson(np.rint(frequency * count_b[full]), count_b[full], band_level)
        else:
            low, high = _consistency(sample, cell, full, mean, band_level, draws)
            drawn = draws.n
    kind = _kind(n_bins, strategy)
    left, right = _edges(value, cell, full, n_bins, kind, float(n))
    corp_value, corp_frequency = _corp(value, count, positives)
    return Reliability(
        mean_prediction=read_only(mean),
        frequency=read_only(frequency),
        count=read_only(count_b[full]),
        left=read_only(left),
        right=read_only(right),
        low=None if low is None else read_only(low),
        high=None if high is None else read_only(high),
        band=band,
        band_level=band_level,
        corp_value=read_only(corp_value),
        corp_frequency=read_only(corp_frequency),
        strategy=kind,
        lens=title,
        n=sample.n,
        n_resamples=drawn,
    )


def _consistency(
    sample: Sample,
    cell: np.ndarray,
    full: np.ndarray,
    mean: np.ndarray,
    level: float,
    draws: Draws,
) -> tuple[np.ndarray, np.ndarray]:
    """Percentiles of frequency minus mean prediction in each bin if calibrated, put around the observed mean."""
    fewest = max(20, int(np.ceil(2 / (1 - level) - 1e-9)))
    if draws.n < fewest:
        raise ValueError(f"expected n_resamples of at least {fewest} for bars of {level:g}, found {draws.n}")

    def deviations(count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        count, residual = count[..., full], residual[..., full]
        found = np.full(count.shape, np.nan)
        np.divide(residual * sample.n, count, out=found, where=count > 0)
        return found

    deviation = resampling.draw(CellSums(sample, cell), Consistency(), deviations, draws, Stage.BARS)
    deviation.sort(axis=0)  # not-a-numbers, the empty bins, go last
    used = np.count_nonzero(np.isfinite(deviation), axis=0)

    def percentile(q: float) -> np.ndarray:
        rank = np.maximum(np.ceil(q * used - 1e-9).astype(int), 1)
        return deviation[rank - 1, np.arange(used.size)]

    tail = (1 - level) / 2
    return np.clip(mean + percentile(tail), 0, 1), np.clip(mean + percentile(1 - tail), 0, 1)


def _wilson(positives: np.ndarray, count: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(positives, count, alpha=1 - level, method="wilson")
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _kind(n_bins: int | str | None, strategy: Strategy) -> str:
    """Name the way in which bins were cut."""
    if not isinstance(strategy, str):
        return "given"
    return "one-prediction" if is_unbinned(n_bins) else strategy


def _edges(
    value: np.ndarray, cell: np.ndarray, full: np.ndarray, n_bins: int | str | None, kind: str, n: float
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of equal widths; for other bins the smallest and the largest prediction in each."""
    first = np.searchsorted(cell, full)
    if kind == "uniform":
        bins = number_of_bins(n_bins, n)
        number = bin_numbers(value[first], bins)
        return number / bins, (number + 1) / bins
    return value[first], value[np.append(first[1:], value.size) - 1]


def _corp(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the isotonic regression: the first and the last prediction of every flat piece."""
    fitted = recalibrated(value, count, positives)
    step = np.diff(fitted) != 0
    corner = np.append(True, step) | np.append(step, True)
    return value[corner], np.clip(fitted[corner], 0, 1)
