"""Means of losses from few labelled rows and a judge's answers for all: the loss at the guess, rectified."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from calibstat.bounds.mean_interval import MeanInterval
from calibstat.data.clipping import advice
from calibstat.inference.designs.judged.judged_in_order import JudgedRows, noise_left
from calibstat.inner_product import inner
from calibstat.measures.kinds.mean_loss import MeanLoss
from calibstat.resampling import Draws


@dataclass(frozen=True, eq=False)
class RectifiedLosses:
    """The losses of rows, or their differences between two models, of which sums over all rows / m are unbiased.

    Statement and argument: docs/evidence/proofs/few-labels.md.

    Attributes
    ----------
    title : str
        What is averaged.
    rows : JudgedRows
        The rows.
    loss : ndarray, shape (n,)
        The loss of each labelled row, 0 of others.
    by_guess : ndarray, shape (n,)
        The loss that is expected at the guess.
    possible : ndarray, shape (n, 2)
        The losses of each row if its outcome is 0, and if it is 1.
    bounds : (float, float)
        The bounds of the loss.
    """

    title: str
    rows: JudgedRows
    loss: np.ndarray
    by_guess: np.ndarray
    possible: np.ndarray
    bounds: tuple[float, float]

    @classmethod
    def of(cls, measure: MeanLoss, rows: JudgedRows) -> Self:
        """Return the losses of a model."""
        if rows.unit is not None or rows.chance is not None:
            name = "cluster" if rows.chance is None else "inclusion"
            raise ValueError(
                f"expected {measure} with judge= without {name}=, because no study covers both, found both"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            possible = measure.possible(rows.prediction)
        if not (finite := np.isfinite(possible).all(axis=1)).all():
            found = rows.prediction[~finite][0]
            raise ValueError(
                f"expected predictions with a finite {measure} of both outcomes with judge=, found {found:g} in "
                f"y_prob; {advice(rows.prediction)}"
            )
        zero, one = possible.T
        guess, outcome = rows.guess.outcome, rows.outcome
        return cls(
            str(measure),
            rows,
            np.where(rows.labelled, np.where(outcome == 1, one, zero), 0.0),
            zero + guess * (one - zero),
            possible,
            measure.bounds,
        )

    def minus(self, other: RectifiedLosses) -> RectifiedLosses:
        """Return the differences of the losses of two models in the same rows."""
        return RectifiedLosses(
            self.title,
            self.rows,
            self.loss - other.loss,
            self.by_guess - other.by_guess,
            self.possible - other.possible,
            (self.bounds[0] - other.bounds[1], self.bounds[1] - other.bounds[0]),
        )

    @cached_property
    def contribution(self) -> np.ndarray:
        """The part of each row in the sum: its share of the losses at guesses, and what these miss of its own."""
        rows = self.rows
        return rows.rho * self.by_guess + rows.labelled * (self.loss - self.by_guess)

    @property
    def estimate(self) -> float:
        """The mean."""
        return float(self.contribution.sum()) / self.rows.labels

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.n

    @property
    def noise_left(self) -> float:
        """The share of the variance of the losses of labelled rows that the guesses leave."""
        loss, by_guess = (each[self.rows.labelled] for each in (self.loss, self.by_guess))
        return noise_left(loss - loss.mean(), loss - by_guess - (loss - by_guess).mean())

    @cached_property
    def interval(self) -> MeanInterval:
        """The interval of the mean, of labelled and other rows as two samples.

        An unobserved row may add as much as any of these rows. If it is larger, the bound is the share of labelled rows
        times the most that any row may add, because a kind of row that does not occur here is rarer by this share.
        """
        rows, x, estimate = self.rows, self.contribution, self.estimate
        labels = rows.labels
        variance = third = 0.0
        for part, factor in ((rows.labelled, labels / (labels - 1)), (~rows.labelled, 1.0)):
            deviation = x[part] - x[part].mean()
            square = deviation**2
            variance += factor * float(square.sum())
            third += inner(square, deviation)
        of_rows = self.possible - (1 - rows.rho) * self.by_guess[:, None]
        least, most = float(of_rows.min()), float(of_rows.max())
        is_bounded = bool(np.isfinite(self.bounds).all())
        if is_bounded:
            span = self.bounds[1] - self.bounds[0]
            least = min(least, estimate + rows.rho * (self.bounds[0] - (1 - rows.rho) * span - estimate))
            most = max(most, estimate + rows.rho * (self.bounds[1] - estimate))
        return MeanInterval(
            estimate=estimate,
            variance=variance,
            third=third,
            n=labels,
            least=least,
            most=most,
            title=self.title,
            is_bounded=is_bounded,
        )

    def ends(self, alpha: float, draws: Draws) -> tuple[float, float, float | None]:
        """Return the ends, which need no draws and no median of a calibrated model."""
        interval = self.interval
        return interval.low(alpha / 2), interval.high(alpha / 2), None
