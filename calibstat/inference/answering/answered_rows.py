"""Rows from the most confident on, with how many of them are wrong; equal confidences stand together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from calibstat.data.single_precision import edges_for
from calibstat.data.views import BinaryView
from calibstat.in_order import ranks

HALF = 0.5


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """Numbers of rows at each confidence, the largest first.

    Attributes
    ----------
    confidence : ndarray, shape (m,)
        The different confidences, descending; of those that are equal up to rounding the smallest.
    rows, wrong : ndarray, shape (m,)
        Rows at each, and how many of them are wrong.
    """

    confidence: np.ndarray
    rows: np.ndarray
    wrong: np.ndarray

    @classmethod
    def of(cls, view: BinaryView, decide_at: float | None) -> Self:
        """Return the rows of a view; `decide_at` is from which probability on outcome 1 is predicted."""
        sample, at = view.counted("risk and coverage"), decided_at(view, decide_at)
        right, wrong = sample.positives, sample.count - sample.positives
        if at is None:
            return cls.of_cells(sample.value, sample.count, wrong)
        predicted = sample.value >= edges_for(sample.value, at)
        confidence = np.where(predicted, sample.value, edges_for(sample.value, 1 - sample.value))
        return cls.of_cells(confidence, sample.count, np.where(predicted, wrong, right))

    @classmethod
    def of_cells(cls, confidence: np.ndarray, rows: np.ndarray, wrong: np.ndarray) -> Self:
        """Return the rows of cells, in any order, whose confidences may repeat: 0.7, and 0.3 of the other outcome."""
        rank = ranks(-confidence)
        smallest = np.full(int(rank.max()) + 1, np.inf)
        np.minimum.at(smallest, rank, confidence)
        return cls(smallest, np.bincount(rank, rows), np.bincount(rank, wrong))

    @cached_property
    def answered(self) -> np.ndarray:
        """The number of rows with at least each confidence."""
        return np.cumsum(self.rows)

    @cached_property
    def errors(self) -> np.ndarray:
        """The number of wrong rows among these."""
        return np.cumsum(self.wrong)

    @property
    def n(self) -> float:
        """The number of rows."""
        return float(self.answered[-1])

    @cached_property
    def share(self) -> np.ndarray:
        """The share of wrong ones among the rows with at least each confidence."""
        return self.errors / self.answered

    @cached_property
    def if_calibrated(self) -> np.ndarray:
        """The same share on average if each row is wrong with probability 1 minus its confidence."""
        return np.cumsum(self.rows * (1 - self.confidence)) / self.answered

    @cached_property
    def if_ordered(self) -> np.ndarray:
        """The same share if the wrong rows were the least confident ones."""
        return np.maximum(self.answered - (self.n - self.errors[-1]), 0) / self.answered

    def area(self, share: np.ndarray) -> float:
        """Return the mean over all rows of such a share at the confidence of the row."""
        return float(self.rows @ share) / self.n


def decided_at(view: BinaryView, given: float | None) -> float | None:
    """Return from which probability on outcome 1 is predicted; None if the most likely class is."""
    if 1 not in view.confidences:
        return HALF if given is None else float(given)
    if given is not None:
        raise ValueError(
            f"expected decide_at= of one event, found {given!r} with {view.lens}: of several classes the most likely "
            "one is what is predicted; leave it out"
        )
    return None
