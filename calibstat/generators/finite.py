"""Binary generators on finitely many points, where every population value is a sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import is_among, short
from calibstat.data.validation import as_rows, check_rows, to_numpy
from calibstat.generators.binary import ScoreGenerator
from calibstat.generators.distributions import Points
from calibstat.generators.generator_table import register

__all__ = ["domain", "hidden", "interval_gap", "quadratic_gap", "two_point"]


Columns = tuple[Sequence[float], Sequence[float], Sequence[float]]


class _Table(ScoreGenerator):
    """A generator on finitely many numbered points, with arrays of weights, true probabilities and predictions."""

    def _columns(self) -> Columns:
        raise NotImplementedError

    @cached_property
    def _table(self) -> np.ndarray:
        return np.array(self._columns(), np.float64)

    @cached_property
    def _score_distribution(self) -> Points:
        return Points(np.arange(self._table.shape[1]), self._table[0])

    def _chance(self, t: np.ndarray) -> np.ndarray:
        return self._table[1][t]

    def _report(self, t: np.ndarray) -> np.ndarray:
        return self._table[2][t]


@register
@dataclass(frozen=True, repr=False)
class hidden(_Table):
    """Large errors that cancel in a bin: 450 of 1000 rows predict .52 with outcome 0, 550 predict .58 with outcome 1.

    In the population the two predictions have probability .45 and .55 and outcome 0 and 1. With 10 equal bins the
    errors cancel and `ece` is .003, although no prediction is closer than .42 to its outcome (Nixon et al. 2019,
    figure 4, arXiv:1904.01685).

    Examples
    --------
    >>> from calibstat import generators
    >>> round(generators.hidden().truth("ece", n_bins=10), 12)
    0.003
    >>> generators.hidden().curve([0.52, 0.58])
    array([0., 1.])
    """

    def _columns(self) -> Columns:
        return (450, 550), (0, 1), (0.52, 0.58)


@register
@dataclass(frozen=True, repr=False)
class domain(_Table):
    """A finite domain of covariates, on which the true distance from calibration is known: see `Generator.distance`.

        Two populations with the same distribution of predictions and outcomes, at different distances
        from calibration (Błasiok et al. 2023, lemma 4.5, arXiv:2211.16886):

        >>> from calibstat import generators
        >>> rare, common, prediction = 0.1 / 1.2, 0.5 - 0.1 / 1.2, (0.4, 0.4, 0.6, 0.6)
        >>> near = generators.domain((common, rare, rare, common), (0.4, 1, 0, 0.6), prediction)
        >>> far = generators.domain((common, rare, rare, common), (0.5, 0.5, 0.5, 0.5), prediction)
        >>> round(near.distance(), 6), round(far.distance(), 6), round(near.truth("ece") - far.truth("ece"), 12)
        (0.016667, 0.1, 0.0)

    The points are numbered from 0. Several points may have the same prediction.

    Parameters
    ----------
    probability : sequence of floats
        The probability of each point, positive, with sum 1.
    chance : sequence of floats
        The probability of outcome 1 at each point, in [0, 1].
    prediction : sequence of floats
        The prediction at each point, in [0, 1].

    Raises
    ------
    ValueError
        If the three are not of one length of at least 1, or out of range.
    """

    probability: Sequence[float]
    chance: Sequence[float]
    prediction: Sequence[float]

    def __post_init__(self) -> None:
        for name, column in zip(("probability", "chance", "prediction"), self._columns(), strict=True):
            object.__setattr__(self, name, tuple(float(v) for v in np.ravel(column)))
        sizes = [len(column) for column in self._columns()]
        if not sizes[0] or len(set(sizes)) > 1:
            raise ValueError(f"expected three sequences of one length of at least 1, found lengths {sizes}")
        if not (min(self.probability) > 0 and abs(sum(self.probability) - 1) < 1e-9):
            raise ValueError(f"expected positive probabilities that sum to 1, found {list(self.probability)}")
        for name, column in (("chance", self.chance), ("prediction", self.prediction)):
            if not all(0 <= v <= 1 for v in column):
                raise ValueError(f"expected {name} from 0 to 1, found {list(column)}")

    def _columns(self) -> Columns:
        return self.probability, self.chance, self.prediction

    @classmethod
    def from_rows(cls, y: ArrayLike, p: ArrayLike, x: ArrayLike | None = None) -> domain:
        """Return the domain of rows: a point for each combination of covariates and prediction that occurs.

            Rows with the law of `quadratic_gap` (1/4). The covariate tells which could be moved to 1/2 at less cost:

            >>> from calibstat import generators
            >>> y, p = [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1], [0.25] * 6 + [0.75] * 6
            >>> round(generators.domain.from_rows(y, p).distance(), 12)
            0.25
            >>> x = ["a"] * 4 + ["b"] * 4 + ["a"] * 4
            >>> round(generators.domain.from_rows(y, p, x).distance(), 6)
            0.083333

        Its `distance` is the distance from calibration of the rows (Błasiok et al. 2023, definition 4.1): over all
        functions of the covariates and the prediction. With no covariates it is the upper distance. It is exact for
        the rows and not for the population behind them: where points have few rows, a calibrated model has a distance
        too.

        Parameters
        ----------
        y : array_like, shape (n,)
            Outcomes, 0 or 1.
        p : array_like, shape (n,)
            Predictions in [0, 1].
        x : array_like of shape (n,) or (n, k), or data frame, optional
            Discrete covariates, taken as they are; a missing value is a value like others.

        Returns
        -------
        domain
            Its points ascend in the prediction. `distance` takes at most 12, and says so if there are more.

        Raises
        ------
        ValueError
            If a row is invalid, or there are not as many covariates as outcomes.
        """
        from pandas import factorize

        outcome, prediction = as_rows(y, p)
        check_rows(outcome, prediction)
        columns = [] if x is None else _columns_of(x, outcome.size)
        codes = [factorize(column, use_na_sentinel=False)[0] for column in columns]
        _, row, point = np.unique(np.column_stack([prediction, *codes]), axis=0, return_index=True, return_inverse=True)
        count = np.bincount(point.ravel())
        chance = np.bincount(point.ravel(), outcome) / count
        return cls((count / outcome.size).tolist(), chance.tolist(), prediction[row].tolist())


def _columns_of(x: Any, n: int) -> list[np.ndarray]:
    """Return the columns of covariates of n rows."""
    named = hasattr(x, "columns") and hasattr(x, "__getitem__")
    whole = [np.asarray(x[name]) for name in x.columns] if named else [to_numpy(x, "x")]
    columns = [column for part in whole for column in (part.T if part.ndim == 2 else [part])]
    for column in columns:
        if column.shape != (n,):
            raise ValueError(f"expected x of shape ({n},) or ({n}, k), found shape {np.shape(whole[0])}")
    return columns


@register
@dataclass(frozen=True, repr=False)
class quadratic_gap(_Table):
    """Two domains with the same distribution of predictions and outcomes, one much nearer to calibration.

        >>> from calibstat import generators
        >>> near, far = generators.quadratic_gap(0.1), generators.quadratic_gap(0.1, variant=2)
        >>> round(near.distance(), 6), round(far.distance(), 6), round(near.truth("ece") - far.truth("ece"), 12)
        (0.016667, 0.1, 0.0)

    The points 00, 01, 10, 11 have probabilities 1/2 - q, q, q, 1/2 - q with q = alpha / (1 + 2 alpha); the prediction
    is 1/2 - alpha at the first two and 1/2 + alpha at the others. In variant 1 the true probabilities are 1/2 -
    alpha, 1, 0 and 1/2 + alpha, so that predicting 1/2 at 01 and 10 would be calibrated: the true distance is 2 alpha²
    / (1 + 2 alpha). In variant 2 they are 1/2 everywhere and the distance is alpha. No measure of predictions and
    outcomes can distinguish them (Błasiok et al. 2023, lemma 4.5, arXiv:2211.16886).

    Parameters
    ----------
    alpha : float
        Above 0, at most 1/2.
    variant : {1, 2}
        Which of the two domains.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """

    alpha: float
    variant: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 0.5:
            raise ValueError(f"expected alpha above 0 and at most 1/2, found {self.alpha!r}")
        if not is_among(self.variant, (1, 2)):
            raise ValueError(f"expected variant 1 or 2, found {short(self.variant)}")

    def _columns(self) -> Columns:
        low, high, rare = 0.5 - self.alpha, 0.5 + self.alpha, self.alpha / (1 + 2 * self.alpha)
        chance = (low, 1, 0, high) if self.variant == 1 else (0.5,) * 4
        return (0.5 - rare, rare, rare, 0.5 - rare), chance, (low, low, high, high)


@register
@dataclass(frozen=True, repr=False)
class interval_gap(_Table):
    """Variant 1 of `quadratic_gap` with the predictions at 01 and 10 moved a little, so that all four differ.

        >>> from calibstat import generators
        >>> family = generators.interval_gap(0.1, shift=0.02)
        >>> round(family.distance(), 6), round(family.truth("upper_distance"), 6)
        (0.02, 0.02)

    Post-processing can then treat 01 and 10 apart from 00 and 11: with q = alpha / (1 + 2 alpha) the true and the upper
    distance are 2 q (alpha + shift) for a small shift, where the upper distance was alpha without any. Intervals can do
    so only if 01 and 10 moved inwards (shift < 0), and then at a cost of 4 q (alpha + shift); else the interval
    calibration error stays near alpha. So both jump at shift 0: the interval error by lemma 6.9 of Błasiok et al. 2023,
    arXiv:2211.16886; the upper distance by the numbers above, which are not in the paper.

    Parameters
    ----------
    alpha : float
        Between 0 and 1/2.
    shift : float
        How far the predictions at 01 and 10 are beyond 1/2 - alpha and 1/2 + alpha, above -alpha, at most 1/2 - alpha.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """

    alpha: float
    shift: float

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 0.5:
            raise ValueError(f"expected alpha between 0 and 1/2, found {self.alpha!r}")
        if not -self.alpha < self.shift <= 0.5 - self.alpha:
            raise ValueError(f"expected shift above -alpha and at most 1/2 - alpha, found {self.shift!r}")

    def _columns(self) -> Columns:
        weight, chance, (low, _, _, high) = quadratic_gap(self.alpha)._columns()
        return weight, chance, (low, low - self.shift, high + self.shift, high)


@register
@dataclass(frozen=True, repr=False)
class two_point(_Table):
    """Two equally likely points with outcome 1 and 0, for which 1/2 + epsilon and 1/2 - epsilon are predicted.

        >>> from calibstat import generators
        >>> [generators.two_point(epsilon).truth("ece", n_bins=2) for epsilon in (0, 0.01)]
        [0.0, 0.49]
        >>> round(generators.two_point(0.01).distance(), 12)
        0.01

    At epsilon 0 this is calibrated; beside it the unbinned calibration error is 1/2 - epsilon, although predictions
    need to move by abs(epsilon) only (Błasiok et al. 2023, section 1, arXiv:2211.16886). Below 0 the predictions are
    reversed.

    Parameters
    ----------
    epsilon : float
        From -1/2 to 1/2.

    Raises
    ------
    ValueError
        If `epsilon` is outside its range.
    """

    epsilon: float

    def __post_init__(self) -> None:
        if not -0.5 <= self.epsilon <= 0.5:
            raise ValueError(f"expected epsilon from -1/2 to 1/2, found {self.epsilon!r}")

    def _columns(self) -> Columns:
        return (0.5, 0.5), (1, 0), (0.5 + self.epsilon, 0.5 - self.epsilon)
