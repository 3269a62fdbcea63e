"""Two models over time: a confidence sequence for the mean difference of their Brier scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checked_rows import Data, GivenRows, Models, as_models
from calibstat.data.checks import check_level, is_whole, short
from calibstat.monitoring.confidence_sequence import running_mean, running_sum
from calibstat.monitoring.period import MOST_UNITS, UNIT, check_sums
from calibstat.monitoring.period_labels import Label
from calibstat.monitoring.period_log import PeriodLog
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PairSums:
    """Sums over the rows of a period, or of a part of it: of Brier scores, and of squares of their differences.

    Attributes
    ----------
    rows : int
        Rows.
    brier_a, brier_b, squares : int
        Sums of both Brier scores and of the squared differences, in units of 1e-9, the last rounded up.
    """

    rows: int
    brier_a: int
    brier_b: int
    squares: int

    def __post_init__(self) -> None:
        check_sums(self.rows)
        if not (self.rows >= 1 and all(0 <= each <= self.rows * MOST_UNITS for each in astuple(self)[1:])):
            raise ValueError(f"expected at least 1 row, and sums from 0 to 1 a row; found {short(astuple(self))}")

    def __add__(self, other: PairSums) -> PairSums:
        if not isinstance(other, PairSums):
            return NotImplemented
        return PairSums(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, eq=False)
class BrierStatus(Result):
    """State of a `BrierMonitor` after its latest period, since its last `restart`.

    Attributes
    ----------
    difference, low, high : float or None
        Mean Brier score of the first model minus the second's over all rows, and the ends of the confidence
        sequence for the mean of its expectation in each row given the past. None before the first period.
    decided_period : int, str or None
        The first period after which the confidence sequence left out 0.
    better : str or None
        The model that the sequence now says has been better on average, if it leaves out 0.
    names : tuple of str
        The two models.
    confidence_level : float
        The probability that the sequence is right in all periods at once is at least this.
    rows : int
        Rows so far.
    periods : tuple of int or str
        The periods so far.
    differences, lows, highs : ndarray, shape (T,)
        The difference and the ends of the sequence after each period.
    """

    difference: float | None
    low: float | None
    high: float | None
    decided_period: Label | None
    better: str | None
    names: tuple[str, str]
    confidence_level: float
    rows: int
    periods: tuple[Label, ...]
    differences: np.ndarray
    lows: np.ndarray
    highs: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each period: the difference and its confidence sequence."""
        import pandas as pd

        columns = {"period": list(self.periods), "difference": self.differences, "low": self.lows, "high": self.highs}
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        if self.difference is None:
            return "No period so far."
        a, b = self.names
        sequence = f"{100 * self.confidence_level:g} % confidence sequence {self.low:+.3g} to {self.high:+.3g}"
        difference = f"{self.difference:+.3g} over {self.rows:,} rows, {sequence}"
        first = f"Brier score of {a} minus Brier score of {b}: {difference}."
        if self.better is None:
            sentence = "Neither model is shown to be better."
        else:
            sentence = f"Over all rows so far {self.better} is shown to be better on average."
        if self.decided_period is not None:
            sentence += f" The sequence first left out 0 in period {self.decided_period}."
        right = f"It is right in all periods at once with probability of at least {100 * self.confidence_level:g} %."
        return f"{sentence}\n{first}\n{right}"


class BrierMonitor(PeriodLog[PairSums]):
    """Comparison of two models over time: a confidence sequence for the mean difference of their Brier scores.

    Parameters
    ----------
    confidence_level : float
        The probability that the sequence is right after all periods at once is at least this.
    names : sequence of two str
        The models.

    Attributes
    ----------
    periods : tuple of int or str
        The periods fed so far.

    Raises
    ------
    ValueError
        If the level is not between 0 and 1, or there are not two different names.

    Notes
    -----
    The Brier score of a row is (prediction - outcome)^2. Covered is the mean, over the rows so far, of the expected
    difference in each row given its predictions and the past, which may drift [1]_. Rows of a period may depend on
    earlier periods, not on each other. The sequence is a theorem [2]_, at any number of looks. ``save(path)`` writes
    the state, ``BrierMonitor.load(path)`` goes on from it, and ``restart()`` begins a new run. A smaller Brier score is
    not a smaller calibration error, because it rewards sharpness too: `compare` asks which model is better calibrated,
    once, on rows that are all there.

    References
    ----------
    .. [1] Choe, Ramdas (2023), Comparing sequential forecasters, Operations Research. arXiv:2110.00115
    .. [2] Fan, Grama, Liu (2015), Exponential inequalities for martingales with applications, doi:10.1214/EJP.v20-3496

    Examples
    --------
    >>> import calibstat as cs
    >>> monitor = cs.BrierMonitor()
    >>> for week in range(1, 31):
    ...     y, p = cs.generators.calibrated().sample(200, rng=week)
    ...     monitor.update(y, p, p**3, period=week)
    >>> monitor.status().better
    'A'
    """

    kind = "Brier monitor"

    def __init__(self, confidence_level: float = 0.95, names: Sequence[str] = ("A", "B")) -> None:
        check_level("confidence_level", confidence_level)
        several = isinstance(names, Sequence | np.ndarray) and not isinstance(names, str)
        if not several or len(names) != 2 or len({str(name) for name in names}) < 2:
            raise ValueError(f"expected the names of two different models, found {short(names)}")
        super().__init__()
        self.confidence_level = float(confidence_level)
        self.names = (str(names[0]), str(names[1]))

    def summarize(
        self,
        y_true: ArrayLike | Models,
        prob_a: ArrayLike | None = None,
        prob_b: ArrayLike | None = None,
        *,
        labels: ArrayLike | None = None,
    ) -> PairSums:
        """Return the summary of a period, or of a part (shard) of one; summaries of parts add up with ``+``.

        Parameters
        ----------
        y_true : array_like, shape (n,), or Models
            Outcomes: 0 and 1, or two values named by `labels`. Or the `Models` of both names, and nothing else.
        prob_a, prob_b : array_like, shape (n,) or (n, 2)
            Predicted probabilities of outcome 1 by both models.
        labels : sequence of two, optional
            The values in `y_true` that mean outcome 0 and outcome 1.

        Raises
        ------
        ValueError
            If the data are no outcomes and probabilities of equal length, there is no row, or models have other names.
        """
        if isinstance(y_true, Data | Models):
            models = as_models(self.summarize, y_true, None, prob_a=prob_a, prob_b=prob_b, labels=labels)
            if {*models} != {*self.names}:
                raise ValueError(f"expected the models {' and '.join(self.names)}, found {models!r}")
            both = [models[name].rows for name in self.names]
        else:
            both = [GivenRows(y_true, prob, None, labels) for prob in (prob_a, prob_b)]
        a, b = ((p - y) ** 2 for y, p in (rows.binary for rows in both))
        squares = math.ceil(math.fsum((a - b) ** 2) / UNIT)
        return PairSums(a.size, round(math.fsum(a) / UNIT), round(math.fsum(b) / UNIT), squares)

    def update(
        self,
        y_true: ArrayLike | Models | PairSums,
        prob_a: ArrayLike | None = None,
        prob_b: ArrayLike | None = None,
        period: object = None,
        *,
        labels: ArrayLike | None = None,
    ) -> None:
        """Feed a period, when all of its outcomes are known.

        Parameters
        ----------
        y_true, prob_a, prob_b, labels
            As for `summarize`; or `y_true` is a summary, and nothing else is given but the period.
        period : str, int or date, optional
            Its name, which must be new; by default its number.

        Raises
        ------
        ValueError
            As for `summarize`, or if the period is known already. The monitor is then as before.
        """
        if isinstance(y_true, PairSums):
            if any(given is not None for given in (prob_a, prob_b, labels)):
                raise ValueError("expected a summary alone, found further data beside it")
            self._feed(period, y_true)
        else:
            self._feed(period, self.summarize(y_true, prob_a, prob_b, labels=labels))

    def status(self) -> BrierStatus:
        """Return what there is to say after the latest period, about the time since the last `restart`."""
        periods, sums = self._since_restart()
        n, squares = running_sum([s.rows for s in sums], 1), running_sum([s.squares for s in sums], UNIT)
        total = running_sum([s.brier_a - s.brier_b for s in sums], UNIT)
        difference, low, high = running_mean(total, squares, n, self.confidence_level)
        out = (low > 0) | (high < 0)
        a, b = self.names
        return BrierStatus(
            difference=float(difference[-1]) if periods else None,
            low=float(low[-1]) if periods else None,
            high=float(high[-1]) if periods else None,
            decided_period=periods[int(np.argmax(out))] if out.any() else None,
            better=None if not periods or not out[-1] else a if high[-1] < 0 else b,
            names=self.names,
            confidence_level=self.confidence_level,
            rows=sum(s.rows for s in sums),
            periods=periods,
            differences=difference,
            lows=low,
            highs=high,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each period since the last `restart`."""
        return self.status().to_frame()

    def _begin(self) -> None:
        """Nothing is kept beside the sums."""

    def _add(self, label: Label, summary: PairSums) -> None:
        """Nothing can be wrong with sums."""

    def _settings(self) -> dict[str, Any]:
        return {"confidence_level": self.confidence_level, "names": list(self.names)}

    @classmethod
    def _of_settings(cls, settings: dict[str, Any]) -> Self:
        if set(settings) != {"confidence_level", "names"}:
            raise ValueError(f"expected confidence_level and names, found {short(list(settings))}")
        return cls(**settings)

    @staticmethod
    def _to_json(summary: PairSums) -> list[int]:
        return list(astuple(summary))

    @staticmethod
    def _from_json(entry: object) -> PairSums:
        if not isinstance(entry, list) or len(entry) != 4 or not all(is_whole(x, 0) for x in entry) or not entry[0]:
            raise ValueError(f"expected rows and three sums as whole numbers, found {short(entry)}")
        return PairSums(*entry)

    def __repr__(self) -> str:
        return f"BrierMonitor({len(self._periods)} period{'s' * (len(self._periods) != 1)}, {' and '.join(self.names)})"
