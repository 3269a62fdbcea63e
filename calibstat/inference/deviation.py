"""What drove a test that rejects calibration: of which kind the deviation is, where it is, and its direction."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibstat.data.sample import Sample
from calibstat.measures.binary_kinds import Statistic
from calibstat.measures.cell_sums import cell_sums
from calibstat.measures.deviations import Look
from calibstat.resampling import CellSums, Draws, Labels, Stage, draw
from calibstat.resampling.quantiles import quantiles
from calibstat.result import Result

CLAIMED_FROM = 1000  # rows; with fewer a direction is described, and not claimed
LEVEL = 0.05  # of a claim, and at which a test has to reject for one
EITHER = 2.2365  # one of two independent standard normal numbers is further from 0 once in 20 times
TINY = 1e-6  # probabilities below it are written with a power of ten
SEEN = 1.0  # a root further from 0 is described
WORDS = {
    "too many events": "{of} is observed more often than predicted",
    "too few events": "{of} is observed less often than predicted",
    "over-confident": "predictions are over-confident",
    "under-confident": "predictions are under-confident",
}
KINDS = {"smooth": "a smooth pattern", "scattered": "many places", "local": "a single range"}
SIGNS = (("too few events", "too many events"), ("over-confident", "under-confident"))


@dataclass(frozen=True)
class Deviation(Result):
    """What drove a test that rejects calibration.

    Attributes
    ----------
    of : str
        What was predicted: "outcome 1", "the most likely class", or of several classes the one it is about.
    kind : {"smooth", "scattered", "local"}
        The largest part of the statistic: a pattern over the range of the predictions, many places that are off, or
        a single range that is. This describes the rows, and claims nothing.
    bias, slope : float
        Roots of the first two components, about standard normal if calibrated: above 0 if there are more events than
        predicted, and if predictions are under-confident.
    claims : tuple of str, or None
        Directions that are claimed: of "too many events", "too few events", "over-confident" and "under-confident".
        Their component is beyond the 95 % point of the larger one of the two in the resamples, and more than 2.24
        standard errors, estimated from the residuals, from 0. Approximate. None: not asked for, as with fewer than
        1000 rows.
    low, high : float
        The smallest and the largest prediction where labels are most surprising.
    rows, predicted, observed : float
        Rows there, their mean prediction and their share of events.
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

    def __str__(self) -> str:
        return (
            f"{KINDS[self.kind]} in the predicted probabilities of {self.of}. "
            f"Most striking: {self.where}.\n{self.direction}"
        )

    @property
    def short(self) -> str:
        """The same in one line that begins with what was predicted, for a list of several classes."""
        seen = self._say(_directions(self.bias, self.slope, SEEN))
        return f"{self.of}: {KINDS[self.kind]}; most striking: {self.where}{f'; {seen}' if seen else ''}."

    @property
    def where(self) -> str:
        """Where labels are most surprising, what was expected there and what was observed, in words."""
        low, high = _ends(self.low, self.high)
        between = f"of {low}" if low == high else f"from {low} to {high}"
        rows = f"{self.rows:,.0f} row{'s' * (self.rows != 1)}"
        expected, observed = _rounded(self.rows * self.predicted), _rounded(self.rows * self.observed)
        return f"predictions {between}, with {self.of} expected in {expected} of {rows} and observed in {observed}"

    @property
    def direction(self) -> str:
        """The direction in words, claimed or described."""
        if self.claims:
            return f"Direction (approximate): {self._say(self.claims)}."
        if self.claims is not None:
            return "Direction: none can be claimed."
        seen = self._say(_directions(self.bias, self.slope, SEEN))
        return f"In these rows {seen}; that describes them, and is no claim." if seen else "No direction stands out."

    def _say(self, directions: tuple[str, ...]) -> str:
        return " and ".join(WORDS[name] for name in directions).format(of=self.of)


def _rounded(number: float) -> str:
    """Write a number of rows, or of rows to expect: three digits, without a power of ten unless it is tiny."""
    if 0 < number < TINY:
        return f"{number:.2g}"
    return f"{number:,.0f}" if number >= 100 else np.format_float_positional(number, 3, fractional=False, trim="-")


def _ends(low: float, high: float) -> tuple[str, str]:
    """Write the ends of a range with two digits of its width; a single prediction with three of its way to 0 or 1."""
    if high < TINY:
        return f"{low:.2g}", f"{high:.2g}"
    if 1 - low < TINY:
        return f"1 - {1 - low:.2g}", f"1 - {1 - high:.2g}"
    if low == high:
        decimals = 2 - math.floor(math.log10(min(low, 1 - low)))
    else:
        decimals = max(2, 1 - math.floor(math.log10(high - low)))
    first, last = (np.format_float_positional(round(end, decimals), trim="-") for end in (low, high))
    return first, last


def _directions(bias: float, slope: float, beyond: float) -> tuple[str, ...]:
    """Name the directions of those of the first two components that are further from 0 than a limit."""
    return tuple(names[int(r > 0)] for names, r in zip(SIGNS, (bias, slope), strict=True) if abs(r) > beyond)


def describe(measure: Statistic, sample: Sample, of: str, draws: Draws | None = None) -> Deviation | None:
    """Describe what drives the measure on a sample, and claim directions if draws are given and rows are enough.

    None if the measure does not say, or if no prediction is strictly between 0 and 1.
    """
    seen = measure.look(sample)
    if seen is None or seen[1].components is None:
        return None
    cell, look = seen
    residual = cell_sums(cell, *sample.arrays)[1]
    found = look.detail(residual)
    bias, slope = (float(root) for root in found["roots"][:2])
    claims = None
    if draws is not None and sample.n >= CLAIMED_FROM:
        sure = _beyond_errors(sample, cell, look) & (np.abs([bias, slope]) > _limit(sample, cell, look, draws))
        claims = _directions(bias if sure[0] else 0.0, slope if sure[1] else 0.0, 0.0)
    where = {name: found[f"local_{name}"] for name in ("low", "high", "rows", "predicted", "observed")}
    return Deviation(of=of, kind=found["kind"], bias=bias, slope=slope, claims=claims, **where)


def _limit(sample: Sample, cell: np.ndarray, look: Look, draws: Draws) -> float:
    """Return the 95 % point of the larger root of the first two components in the resamples of the test."""

    def larger(count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        return np.abs(look.roots(np.atleast_2d(residual))[:, :2]).max(axis=1)

    drawn = draw(CellSums(sample, cell), Labels(), larger, draws, Stage.LABELS)
    return float(quantiles(drawn.ravel(), [1 - LEVEL])[0])


def _beyond_errors(sample: Sample, cell: np.ndarray, look: Look) -> np.ndarray:
    """Return whether the first two components are more than so many standard errors of their own residuals from 0.

    Once one is not 0, the resamples no longer have the distribution of the other.
    """
    assert look.components is not None
    basis = np.zeros((2, look.value.size))
    basis[:, look.inner] = look.components.basis[:, :2].T
    value, count, positives = sample.arrays
    of_value = basis[:, cell]
    component = of_value @ (positives - count * value)
    return np.asarray(np.abs(component) > EITHER * np.sqrt(of_value**2 @ sample.squares))
