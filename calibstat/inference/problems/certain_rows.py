"""Rows that are predicted with certainty, 0 or 1, and those of them whose outcome was predicted to be impossible."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from calibstat.data.views import BinaryView, ClassWiseView, MulticlassView, View, forbidden
from calibstat.data.words.side import Side


@dataclass(frozen=True)
class CertainRows:
    """The rows of a view that are predicted with certainty.

    Attributes
    ----------
    certain : ndarray of bool, shape (n,) or (m,)
        Which rows have a prediction of exactly 0 or 1, of any class; of a summary which distinct predictions.
    total, others : int
        How many rows these are, and how many others there are; rows of weight 0 are not counted.
    number : int
        Rows of them whose observed outcome had probability 0.
    first : int or None
        The first of these; None of a summary, in which rows cannot be told apart, and where there is none.
    """

    certain: np.ndarray
    total: int
    others: int
    number: int
    first: int | None

    @classmethod
    def of(cls, view: View, side: Side | None = None) -> CertainRows:
        """Return the rows of what a lens shows; of one side impossible are the outcomes that this side forbids."""
        found: CertainRows = view.choose(partial(_of_event, side=side), _of_classes, _of_classes)
        return found

    @classmethod
    def _of_rows(cls, certain: np.ndarray, impossible: np.ndarray, weight: np.ndarray | None) -> CertainRows:
        there = np.ones(certain.size, bool) if weight is None else weight > 0
        bad = impossible & there
        total, others = int((certain & there).sum()), int((~certain & there).sum())
        return cls(certain, total, others, int(bad.sum()), int(np.argmax(bad)) if bad.any() else None)


def _of_event(view: BinaryView, side: Side | None) -> CertainRows:
    if view.rows is not None:
        y, p = view.rows
        return CertainRows._of_rows((p == 0) | (p == 1), forbidden(p, y, 1 - y, side) > 0, view.weight)
    value, count, positives = view.sample.arrays
    certain = (value == 0) | (value == 1)
    number = forbidden(value, positives, count - positives, side).sum()
    return CertainRows(certain, int(count[certain].sum()), int(count[~certain].sum()), int(number), None)


def _of_classes(view: MulticlassView | ClassWiseView) -> CertainRows:
    prob, label = view.predictions.prob, view.predictions.label
    certain = ((prob == 0) | (prob == 1)).any(axis=1)
    wrong = (view.predictions.largest == 1) & (view.predictions.top != label)  # a row may sum to 1 but for rounding
    return CertainRows._of_rows(certain, (prob[np.arange(label.size), label] == 0) | wrong, view.weight)
