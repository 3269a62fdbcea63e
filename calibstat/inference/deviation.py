"""The deviation that drove a test that rejects calibration: its kind, its place and its direction."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from calibstat.data.cell_sums import cell_sums
from calibstat.data.sample import Sample
from calibstat.digits import settled
from calibstat.measures.components.deviations import Diagnostics
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.resampling import Draws, Labels, Stream, draw, in_cells
from calibstat.resampling.quantiles import quantiles
from calibstat.result import Result

CLAIMED_FROM = 1000  # rows; with fewer a direction describes these rows only
CLAIM_LEVEL = 0.05  # of a claim, and at which a test has to reject for one
EITHER = 2.2365  # one of two independent standard normal numbers is further from 0 once in 20 times
NO_DIGITS = 1e-6  # nearer to 0 or 1 no digits of a probability are written
SEEN = 1.0  # a root further from 0 is described
BIAS = ("too few events", "too many events")
CONFIDENCE = ("over-confident", "under-confident")
SLOPE = ("too far apart", "too close together")  # of log-odds; a slope below 0, or a true factor below 1, comes first
CLAIM_WORDS = {
    "too many events": "{of} is observed more often than predicted",
    "too few events": "{of} is observed less often than predicted",
}
SLOPE_WORDS = {"too far apart": "too extreme", "too close together": "not extreme enough"}
AS_IF_FITTED = ("under-confident", "too close together")  # as predictions look on the rows that they were fitted to
PATTERNS = {
    "smooth": "The error changes gradually from low to high predictions.",
    "scattered": "The error is scattered over many predictions.",
    "local": "The error is in one range of predictions.",
}


class Confidence(NamedTuple):
    """Mean confidence beside accuracy.

    Attributes
    ----------
    mean, accuracy : float
        The mean predicted probability of the most likely class, and the share of rows in which it is observed.
    low, high : float
        Ends of an approximate 97.5 % interval of their difference, the mean less the accuracy.
    """

    mean: float
    accuracy: float
    low: float
    high: float

    @classmethod
    def of(cls, sample: Sample) -> Confidence:
        """Return both, for rows with or without weights."""
        value, count, positives = sample.arrays
        n = float(count.sum())
        gap = -float(sample.residual.sum())
        error = EITHER * float(np.sqrt(max(sample.squares.sum(), count @ (value * (1 - value))))) / n
        return cls(float(count @ value) / n, float(positives.sum()) / n, gap - error, gap + error)

    @property
    def side(self) -> float:
        """1 if the interval is below 0, as of under-confident predictions, -1 if above 0, and else 0."""
        return float(self.high < 0) - float(self.low > 0)

    def __str__(self) -> str:
        gap = settled(abs(self.mean - self.accuracy))
        decimals = 3 if gap >= 0.001 else min(1 - math.floor(math.log10(gap)), 15) if gap > 0 else 3
        return f"mean confidence {settled(self.mean):.{decimals}f}, accuracy {settled(self.accuracy):.{decimals}f}"


@dataclass(frozen=True, eq=False)
class Deviation(Result):
    """The deviation that drove a test that rejects calibration.

    Attributes
    ----------
    of : str
        What was predicted: "outcome 1", "the most likely class", or of several classes the one it is about.
    kind : {"smooth", "scattered", "local"}
        The largest part of the statistic: a gradual pattern over the range of the predictions, many places that are
        off, or a single range that is. This describes these rows only.
    bias, slope : float
        Roots of the first two components, about standard normal if calibrated: above 0 if there are more events than
        predicted, and if predictions are too close together.
    claims : tuple of str, or None
        Directions that are claimed: of "too many events" and "too few events", or of confidences "under-confident" and
        "over-confident", and of "too far apart" and "too close together". Their component is beyond the 95 % point of
        the larger one of the two in the resamples, and more than 2.24 standard errors, estimated from the residuals,
        from 0; confidences are under- or over-confident only if the interval of `confidence` says so too. Approximate.
        None: not asked for, as with fewer than 1000 rows.
    low, high : float
        The smallest and the largest prediction where labels are most surprising.
    rows, predicted, observed : float
        Rows there, their mean prediction and their share of events.
    confidence : Confidence or None
        Mean confidence beside accuracy, if the event is that the most likely class is observed. Of other events
        predictions are not called over- or under-confident: a high probability of an event is not a confidence.
    """

    of: str
    kind: str
    bias: float
    slope: float
    claims: tuple[str, ...] | None
    low: float
    high: float
    rows: float
    predicted: float
    observed: float
    confidence: Confidence | None = None

    def __str__(self) -> str:
        direction = f"\n{self.direction}" if self.direction else ""
        return f"{PATTERNS[self.kind]} Most striking: {self.where}.{direction}"

    @property
    def short(self) -> str:
        """The same in one line that begins with what was predicted, for a list of several classes."""
        seen = self._say(self._seen)
        return f"{self.of}: most striking: {self.where}{f'; {seen}' if seen else ''}."

    @property
    def where(self) -> str:
        """The place of the most surprising labels, with the expected and the observed rate, in words."""
        rows = f"{settled(self.rows):,.0f} row{'s' * (self.rows != 1)}"
        expected, observed = mean_count(self.rows * self.predicted), count(self.rows * self.observed)
        between = _range(self.low, self.high)
        return f"predictions {between}, with {self.of} expected in {expected} of {rows} and observed in {observed}"

    @property
    def direction(self) -> str:
        """The direction in words, claimed or described; nothing if none stands out."""
        if self.claims is not None:
            claimed = self._say(self.claims)
            return f"{claimed[:1].upper()}{claimed[1:]} (an approximate test)." if claimed else ""
        seen = self._say(self._seen)
        return f"In this sample {seen} (a description, not a test)." if seen else ""

    @property
    def _seen(self) -> tuple[str, ...]:
        """The directions that describe the rows: components beyond one standard error, of confidences the interval."""
        bias = np.sign(self.bias) if abs(self.bias) > SEEN else 0.0
        first = bias if self.confidence is None else self.confidence.side
        return self._named(first, self.slope if abs(self.slope) > SEEN else 0.0)

    def _named(self, bias: float, slope: float) -> tuple[str, ...]:
        """Name the directions of these two numbers, of one that is 0 none."""
        pairs = (BIAS if self.confidence is None else CONFIDENCE, bias), (SLOPE, slope)
        return tuple(names[int(direction > 0)] for names, direction in pairs if direction)

    def _say(self, directions: tuple[str, ...]) -> str:
        claims = [CLAIM_WORDS[name].format(of=self.of) for name in directions if name in CLAIM_WORDS]
        predictions = [
            f"{name} ({self.confidence})" if name in CONFIDENCE else SLOPE_WORDS[name]
            for name in directions
            if name not in CLAIM_WORDS
        ]
        claims += [f"predictions are {' and '.join(predictions)}"] if predictions else []
        fitted = any(name in AS_IF_FITTED for name in directions)
        return f"{' and '.join(claims)}, or the model was fitted on these rows" if fitted else " and ".join(claims)


def mean_count(number: float) -> str:
    """Write a number of rows to expect, with one decimal below 100."""
    return "fewer than 0.1" if 0 < number < 0.05 else f"{settled(number):,.{int(number < 100)}f}"


def count(number: float) -> str:
    """Write a number of rows that was observed, with one decimal if weights have made it a fraction."""
    return f"{settled(number):,.1f}".removesuffix(".0")


def _range(low: float, high: float) -> str:
    """Write a range in per cent, with two digits of its width; a single prediction with three of its way to 0 or 1."""
    low, high = settled(low), settled(high)
    if high < NO_DIGITS:
        return "below 0.0001 %"
    if 1 - low < NO_DIGITS:
        return "above 99.9999 %"
    if low == high:
        decimals = 2 - math.floor(math.log10(min(low, 1 - low)))
    else:
        decimals = max(2, 1 - math.floor(math.log10(settled(high - low))))
    ends = (settled(100 * round(end, decimals)) for end in (low, high))
    first, last = (np.format_float_positional(end, trim="-") for end in ends)
    return f"of {first} %" if first == last else f"from {first} % to {last} %"


def describe(
    measure: Statistic, sample: Sample, of: str, draws: Draws | None = None, *, is_confidence: bool = False
) -> Deviation | None:
    """Describe what drives the measure on a sample, and claim directions if draws are given and rows are enough.

    None if the measure does not say, or if no prediction is strictly between 0 and 1.
    """
    seen = measure.diagnose(sample)
    if seen is None or seen[1].components is None:
        return None
    cell, diagnostics = seen
    residual = cell_sums(cell, *sample.arrays)[1]
    detail = diagnostics.detail(residual)
    roots = detail["roots"][:2]
    bias, slope = (float(root) for root in roots)
    where = {name: detail[f"local_{name}"] for name in ("low", "high", "rows", "predicted", "observed")}
    confidence = Confidence.of(sample) if is_confidence else None
    deviation = Deviation(
        of=of, kind=detail["kind"], bias=bias, slope=slope, claims=None, **where, confidence=confidence
    )
    if draws is None or sample.n < CLAIMED_FROM:
        return deviation
    sure = _beyond_errors(sample, cell, diagnostics) & (np.abs(roots) > _limit(sample, cell, diagnostics, draws))
    side = np.sign(roots) * sure
    if confidence is not None and side[0] != confidence.side:
        side[0] = 0.0
    return replace(deviation, claims=deviation._named(*side))


def _limit(sample: Sample, cell: np.ndarray, diagnostics: Diagnostics, draws: Draws) -> float:
    """Return the 95 % point of the larger root of the first two components in the resamples of the test."""

    def larger(count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        return np.abs(diagnostics.roots(np.atleast_2d(residual), first=2)).max(axis=1)

    drawn = draw(in_cells(sample, cell), Labels(), larger, draws, Stream.LABELS)
    return float(quantiles(drawn.ravel(), [1 - CLAIM_LEVEL])[0])


def _beyond_errors(sample: Sample, cell: np.ndarray, diagnostics: Diagnostics) -> np.ndarray:
    """Return whether the first two components are more than so many standard errors of their own residuals from 0.

    Once one is not 0, the resamples no longer have the distribution of the other.
    """
    assert diagnostics.components is not None
    basis = np.zeros((2, diagnostics.value.size))
    basis[:, diagnostics.inner] = diagnostics.components.basis[:, :2].T
    value, count, positives = sample.arrays
    of_value = basis[:, cell]
    component = of_value @ (positives - count * value)
    return np.asarray(np.abs(component) > EITHER * np.sqrt(of_value**2 @ sample.squares))
