"""Tests of equivalence: whether the outcomes are shown to be within a margin of the predictions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from calibstat.bounds.number_of_events import most_likely_tail, smallest_mean
from calibstat.data.checked_rows import Data
from calibstat.data.checks import UnknownOption, check_level, is_whole, short
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.data.sample import Sample
from calibstat.data.words.side import Side, check_side
from calibstat.digits import settled
from calibstat.in_order import first_largest
from calibstat.in_words import InWords
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.designs.design_of import independent
from calibstat.inference.designs.question_of_rows import question
from calibstat.inference.problems.pose import problem_of
from calibstat.measures.bins import Strategy, bin_cells
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.named_measure import NamedMeasure
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.measure_options import RowsAndOptions
from calibstat.output.wording import level_text
from calibstat.resampling import Draws
from calibstat.resampling.rng import Rng
from calibstat.result import NotedResult, read_only

if TYPE_CHECKING:
    import pandas as pd

FIFTHS = 5
ASIDE: dict[Side, str] = {"over": "below", "under": "above"}  # where outcomes lie if predictions are too high, or low
OF_SIDE = {None: slice(None), "over": slice(1), "under": slice(1, None)}
COLUMNS = ("left", "right", "count", "mean_prediction", "frequency", "low", "high")
NO_SMALLER_MARGIN = "A calibrated model would show {:g} on these rows: no smaller margin can be shown."
WORST_AND_MEAN = ' This is about the worst of them; the mean over all predictions is another question: measure="ece".'
P_FLOOR = 1e-6  # of a test by a measure: the search for its p-value ends here
_NO_BINS = (
    "expected independent rows of equal weight for {}, found {}: its proof bounds a number of events; "
    'measure="ece", or another measure, takes them'
)
_SEARCH_HALVINGS = 20  # halvings of the range of that search, on the scale of the normal quantile


@dataclass(frozen=True)
class ClaimedBins(InWords):
    """The bins of a claim.

    Attributes
    ----------
    number : int
        How many there are.
    strategy : str
        How they were cut: "quantile", "uniform", ... or "given".
    """

    number: int
    strategy: str

    def __str__(self) -> str:
        return f"{self.number} {self.strategy} bin{'s' * (self.number != 1)}"


@dataclass(frozen=True, eq=False)
class Equivalence(NotedResult):
    """Result of `equivalence_test`.

    Attributes
    ----------
    claimed : bool
        Whether the margin is shown: `limit` is at most `margin`, and so `pvalue` at most 1 - `confidence_level`.
    pvalue : float
        Probability, if the null hypothesis holds, of rows that contradict it as much: at most this.
    limit : float
        The smallest margin that these rows could show: an upper bound of the largest gap in any bin (or of the
        measure), which holds with probability of at least `confidence_level`.
    margin : float
        The margin asked for.
    confidence_level : float
        The least probability that no false claim is made.
    worst_bin : int or None
        Index of the bin from which `limit` is; None for a measure.
    left, right : ndarray, shape (n_bins_used,), or None
        Smallest and largest prediction in each bin, ascending; None for a measure, like all that follow.
    count, mean_prediction, frequency : ndarray, shape (n_bins_used,), or None
        Rows, mean prediction and observed frequency of outcome 1 in each bin.
    low, high : ndarray, shape (n_bins_used,), or None
        Limits of the mean outcome probability in each bin; each by itself holds with probability of at least
        `confidence_level`. Of one side one of them: `low` of predictions too high, `high` of those too low.
    rows_needed : int or None
        About how many rows with such predictions a calibrated model needs for a 50 % chance to show the margin.
    null_hypothesis : str
        The null hypothesis, in one sentence.
    measure : ClaimedBins or NamedMeasure
        The bins, or the measure with its options.
    lens : NamedLens
        The outcome whose probability was predicted.
    n : int
        Rows.
    side : str or None
        "over" if the claim is that no bin's predictions are too high, "under" if too low, by more than the margin; None
        if both are claimed.
    if_calibrated : float or None
        Of a test by a measure, its median on these rows if every prediction were the true probability, where `limit`
        is this median or `margin` is below it: no margin below it can be shown. Else None.
    """

    claimed: bool
    pvalue: float
    limit: float
    margin: float
    confidence_level: float
    worst_bin: int | None
    left: np.ndarray | None
    right: np.ndarray | None
    count: np.ndarray | None
    mean_prediction: np.ndarray | None
    frequency: np.ndarray | None
    low: np.ndarray | None
    high: np.ndarray | None
    rows_needed: int | None
    null_hypothesis: str
    measure: NamedMeasure | ClaimedBins
    lens: NamedLens
    n: int
    if_calibrated: float | None = None
    side: Side | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each bin; of a test by a measure, its scalar fields in one row."""
        import pandas as pd

        if self.count is None:
            return super().to_frame()
        columns = {name: getattr(self, name) for name in COLUMNS}
        return pd.DataFrame({name: each for name, each in columns.items() if each is not None})

    @property
    def answer(self) -> str:
        """Whether the margin is shown, and what these rows could show."""
        margin, limit = f"{self.margin:g}", _rounded_up(self.limit)
        floor = "" if self.if_calibrated is None else f" {NO_SMALLER_MARGIN.format(_rounded_up(self.if_calibrated))}"
        claim = f"{self.measure} is at most {margin}"
        if self.count is not None:
            within = f"within {margin} of" if self.side is None else f"at most {margin} {ASIDE[self.side]}"
            claim = f"in {_every(self.count, self.measure)} the outcomes average {within} the predictions"
        smallest = f"The smallest margin that these {self.n:,} rows show is {limit:g}."
        if self.claimed:
            return f"Shown: {claim} (p = {settled(self.pvalue):.3g}). {smallest}{floor}"
        sentence = f"Not shown: {claim}. {smallest}"
        if self.rows_needed is not None:
            needed = f"needs about {self.rows_needed:,} rows for a 50 % chance to show {margin}"
            sentence += f" Even a calibrated model {needed}."
        return f"{sentence}{floor}{WORST_AND_MEAN if self._has_mean else ''}"

    @property
    def _has_mean(self) -> bool:
        """Whether a test by a measure asks another question of the same rows: of several bins, and both sides."""
        return self.side is None and self.count is not None and self.count.size > 1

    @property
    def details(self) -> str:
        """The measure, the lens, the number of rows, the confidence level and the null hypothesis."""
        level = level_text(self.confidence_level)
        about = f"{self.measure}, {self.lens}, n = {self.n}, confidence level {level}"
        return f"{about}.\nNull hypothesis: {self.null_hypothesis}"

    def __str__(self) -> str:
        return f"{self.answer}\n{self.details}"


def _rounded_up(limit: float) -> float:
    """Round a bound to three digits, never downwards."""
    if limit <= 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(limit)) - 2)
    return math.ceil(limit / unit - 1e-9) * unit


def _every(count: np.ndarray, bins: NamedMeasure | ClaimedBins) -> str:
    """Name the bins of a claim: fifths only if they are."""
    if count.size == 1:
        return "the one bin of all predictions"
    even = count.size == FIFTHS and np.ptp(count) <= max(1.0, count.sum() / 100)
    return (
        "every fifth of the predictions"
        if even and bins == ClaimedBins(FIFTHS, "quantile")
        else f"every one of the {bins}"
    )


@question("sample_weight", "cluster")
def equivalence_test(
    rows: Data,
    /,
    *,
    margin: float = 0.05,
    measure: str | Measure | type[Measure] = "bins",
    side: Side | None = None,
    confidence_level: float = 0.95,
    lens: AnyLens = None,
    n_resamples: int | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    **options: Unpack[RowsAndOptions],
) -> Equivalence:
    """Test whether the outcomes are within a margin of the predictions: the null hypothesis is that they are not.

    >>> import calibstat as cs
    >>> y, p = cs.generators.calibrated().sample(10_000, rng=1)
    >>> result = cs.equivalence_test(y, p, margin=0.05)
    >>> result.claimed, round(result.limit, 3), round(result.pvalue, 3)
    (True, 0.035, 0.001)

    Parameters
    ----------
    y_true, y_prob
        As for `estimate`; of a test by a measure rows may have weights or clusters.
    margin : float
        The largest error that does not matter, between 0 and 1.
    measure : "bins", str or Measure
        "bins": the mean outcome probability is compared with the mean prediction in each bin. Or a measure of
        calibration error that has an honest interval, such as "ece" or ``calibstat.measures.KS()``.
    side : {"over", "under"}, optional
        "over" claims that in no bin the mean prediction is too high by more than the margin, "under" too low; fixed
        before the outcomes are seen. For bins. Default: both.
    confidence_level : float
        The least probability that no false claim is made, between 1/2 and 1.
    lens : str or Lens, optional
        A lens with a binary outcome: "top_label", the default of more than two classes, or `lenses.one_class`.
    n_resamples, rng, n_jobs
        As for `confidence_interval`, of a test by a measure; a test by bins draws nothing.
    **options
        For bins: `n_bins`, by default 5, and `strategy`, by default "quantile", as for `reliability`. For a measure:
        its options. And words about rows, as for `estimate`.

    Returns
    -------
    Equivalence
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), an argument is unknown or out of range, the
        measure is a mean loss or has no honest interval on such rows, or a test by bins is given clusters or weights.

    Notes
    -----
    Null hypothesis, by bins: in some bin the mean outcome probability of the rows is more than `margin` away from their
    mean prediction. The probability of a false claim is at most 1 - `confidence_level` for every number of rows and all
    outcome probabilities: the page on equivalence has the proof. Rows must be independent given the predictions, and
    the number of bins fixed beforehand. Errors within a bin that cancel are not seen. By a measure: the claim is made
    if the upper end of the honest interval with confidence level 2 `confidence_level` - 1 is at most `margin`; it is as
    reliable as that end. No claim does not mean that the margin is exceeded: few rows show little. Cost: of bins a
    sort, of a measure an interval and about twenty upper ends.

    References
    ----------
    Hoeffding 1956, doi:10.1214/aoms/1177728178; Berger 1982, doi:10.1080/00401706.1982.10487790.
    """
    check_level("margin", margin)
    check_level("confidence_level", confidence_level)
    if confidence_level <= 0.5:
        raise ValueError(f"expected confidence_level above 1/2, found {confidence_level!r}")
    confidence_level, side = float(confidence_level), check_side(side)
    draws = Draws.of(rng, 1 if n_resamples is None else n_resamples, n_jobs)
    if isinstance(measure, str) and measure == "bins":
        settings = _options_of_bins(dict(options))
        independent(rows).need_equal_rows("a test by bins", _NO_BINS)
        view = rows.view().one_event("equivalence_test")
        sample = view.counted("equivalence_test")
        return _by_bins(sample, view.lens, float(margin), side, confidence_level, **settings)
    if side is not None:
        raise ValueError(
            f"expected measure='bins' beside side={side!r}, found {short(measure)}: no interval of one side is known"
        )
    seed = rng if is_whole(rng, 0) else int(draws.key)  # the same for every level
    asked = {"n_resamples": n_resamples, "rng": seed, "n_jobs": n_jobs}
    return _by_measure(rows, find_measure(measure, options), float(margin), confidence_level, asked)


def _level(confidence_level: float) -> float:
    """Return the level of the test: 0.05 for 0.95, without the last bits of the difference."""
    return settled(1 - confidence_level)


def _by_measure(
    rows: Data, measure: Measure, margin: float, confidence_level: float, asked: dict[str, Any]
) -> Equivalence:
    """Test by the upper end of an interval, with these draws."""
    level = _level(confidence_level)
    view = rows.view().one_event("equivalence_test")
    view.counted("equivalence_test")
    if measure.honest == "mean":
        raise ValueError(f"expected a measure of calibration error, found {measure.name!r}, a mean loss")
    problem = problem_of(rows, measure)
    problem.view.one_event("equivalence_test")
    interval = confidence_interval(rows, measure=measure, confidence_level=1 - 2 * level, **asked)
    ends = independent(rows).honest_ends(problem, Draws.of(asked["rng"], interval.n_resamples, asked["n_jobs"]))
    claimed = interval.high <= margin

    def shown(alpha: float) -> bool:
        return bool(np.clip(ends.high(1 - (1 - 2 * alpha)), *measure.bounds) <= margin)

    pvalue = _inverted(shown, level, claimed)  # before it is asked what is known of the ends
    floor = ends.known if interval.if_calibrated is None else interval.if_calibrated
    return Equivalence(
        claimed=claimed,
        pvalue=pvalue,
        limit=interval.high,
        margin=margin,
        confidence_level=confidence_level,
        worst_bin=None,
        **dict.fromkeys(COLUMNS),
        rows_needed=None,
        null_hypothesis=f"this is more than {margin:g}: {interval.estimand}",
        measure=interval.measure,
        lens=view.lens,
        n=interval.n,
        if_calibrated=floor if floor == interval.high or (floor is not None and floor > margin) else None,
        note=view.weights_note(),
        effective_n=view.effective_n,
    )


def _options_of_bins(options: dict[str, Any]) -> dict[str, Any]:
    known = {"n_bins": FIFTHS, "strategy": "quantile"}
    for name in options:
        if name not in known:
            raise UnknownOption("equivalence_test by bins", name, known)
    return known | options


def _by_bins(
    sample: Sample,
    lens: NamedLens,
    margin: float,
    side: Side | None,
    confidence_level: float,
    n_bins: int | str | None,
    strategy: Strategy,
) -> Equivalence:
    """Test both directions in every bin, or one, each at the whole level."""
    level = _level(confidence_level)
    value, count, positives = sample.arrays
    cell = bin_cells(value, count, n_bins=n_bins, strategy=strategy)
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    last = np.append(first[1:], cell.size) - 1
    rows, ones = np.add.reduceat(count, first), np.add.reduceat(positives, first)
    mean = np.clip(np.add.reduceat(count * value, first) / rows, value[first], value[last])
    spread = np.add.reduceat(count * value * (1 - value), first) / rows
    seen, expected = np.stack((ones, rows - ones)), np.stack((mean, 1 - mean))  # outcomes 1, and outcomes 0
    asked = OF_SIDE[side]  # few outcomes 1 are predictions too high
    least = smallest_mean(seen, rows, level)
    gap = (expected - least)[asked].max(axis=0)
    kind = strategy if isinstance(strategy, str) else "given"
    return Equivalence(
        claimed=bool(gap.max() <= margin),
        pvalue=float(most_likely_tail(seen, rows, expected - margin)[asked].max()),
        limit=max(float(gap.max()), 0.0),
        margin=margin,
        confidence_level=confidence_level,
        worst_bin=int(first_largest(gap)),
        left=read_only(value[first]),
        right=read_only(value[last]),
        count=read_only(rows),
        mean_prediction=read_only(mean),
        frequency=read_only(ones / rows),
        low=None if side == "under" else read_only(least[0]),
        high=None if side == "over" else read_only(1 - least[1]),
        rows_needed=_rows_needed(rows / rows.sum(), expected[asked], spread, margin, level),
        null_hypothesis=f"in some bin the mean outcome probability is more than {margin:g} "
        f"{'away from' if side is None else ASIDE[side]} the mean prediction.",
        side=side,
        measure=ClaimedBins(rows.size, kind),
        lens=lens,
        n=int(sample.n),
    )


def _rows_needed(share: np.ndarray, means: np.ndarray, spread: np.ndarray, margin: float, level: float) -> int:
    """Return the number of rows, to two digits, with which a calibrated model is claimed in half of the data sets.

    Frequencies are taken as normal, with half a row for their steps; `means` are of each direction in each bin, and
    `spread` is the mean variance of an outcome in each bin.
    """
    from scipy.special import ndtr, ndtri

    z = -ndtri(level)

    def power(n: float) -> float:
        unit = np.sqrt(np.maximum(spread, 1e-300))
        chance = np.ones(share.size)
        for expected in means:
            edge = np.clip(expected - margin, 0, 1)
            room = np.sqrt(n * share) * (margin - 0.5 / (n * share)) - z * np.sqrt(edge * (1 - edge))
            chance -= np.where(expected > margin, ndtr(-room / unit), 0.0)
        return float(np.prod(np.maximum(chance, 0)))

    low, high = 0.0, 53.0  # log2 of the number
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (low, middle) if power(2**middle) >= 0.5 else (middle, high)
    return int(float(f"{settled(2**high):.2g}"))


def _inverted(shown: Callable[[float], bool], level: float, claimed: bool) -> float:
    """Return the smallest level at which the margin is shown, from `P_FLOOR` to 1/2 (or 1), never across `level`."""
    from scipy.special import ndtr, ndtri

    if claimed:
        low, high = P_FLOOR, level
        if level <= low or shown(low):
            return min(low, level)
    else:
        low, high = level, 0.499
        if level >= high or not shown(high):
            return 1.0
    below, above = float(ndtri(low)), float(ndtri(high))
    for _ in range(_SEARCH_HALVINGS):
        middle = (below + above) / 2
        below, above = (below, middle) if shown(float(ndtr(middle))) else (middle, above)
    return min(max(float(ndtr(above)), low), high)
