"""Calibration maps: the null hypothesis that outcomes come from a function of the predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from calibstat.data.checks import described, short
from calibstat.data.null_hypothesis import Null
from calibstat.data.validation import check_all

SLACK = 1e-6  # by which the sum of a row may be off from 1
GIVES = "what it gives"


@dataclass(frozen=True)
class CalibrationMap:
    """A function from predictions, as they are given, to probabilities, and its name in words.

    It gets the predictions of one event, shape (m,), or the vectors of K classes, shape (n, K), and returns as many.
    """

    function: Callable[[np.ndarray], object]
    name: str

    @classmethod
    def of(cls, given: object) -> Self:
        """Return a fitted recalibrator or a function as a map; raise if it is neither."""
        predict = getattr(given, "predict_proba", None)
        if callable(predict) and not isinstance(given, type):
            return cls(predict, type(given).__name__)
        if not callable(given) or isinstance(given, type):
            raise ValueError(
                "expected null to be a fitted recalibrator, or a function from predictions to probabilities, found "
                f"{short(given)}"
            )
        name = getattr(given, "__name__", "<lambda>")
        return cls(given, "the given function" if name == "<lambda>" else f"the function {name}")

    def of_event(self, p: np.ndarray) -> np.ndarray:
        """Return the checked probabilities of the event, shape (m,)."""
        return self._checked(p)

    def of_vectors(self, prob: np.ndarray) -> np.ndarray:
        """Return the checked probabilities of the classes, shape (n, K); of two classes through the second one."""
        if prob.shape[1] == 2:
            event = self.of_event(prob[:, 1].astype(np.float64))
            return np.column_stack((1 - event, event))
        out = self._checked(prob.astype(np.float64, copy=False))
        total: np.ndarray = out.sum(axis=1)
        check_all(np.abs(total - 1) <= SLACK, f"{self.name} to give rows that sum to 1", total, GIVES)
        return out

    def _checked(self, p: np.ndarray) -> np.ndarray:
        out = np.asarray(self.function(p.copy()))
        if out.shape != p.shape or out.dtype.kind not in "buif":
            raise ValueError(
                f"expected {self.name} to give numbers in the shape {p.shape} of the predictions, found "
                f"{described(out)} of type {out.dtype}"
            )
        out = out.astype(np.float64) + 0.0
        known = ((out >= 0) & (out <= 1)).reshape(len(out), -1)  # false of not-a-numbers
        check_all(np.asarray(known.all(axis=1)), f"{self.name} to give probabilities in [0, 1]", out, GIVES)
        return out

    def of_rows(self, null: Null) -> Null:
        """Return the null hypothesis that outcomes come from the map, in place of calibration."""
        outcome = ("every outcome comes", f" from the probabilities that {self.name} gives for its prediction")
        return Null("the predictions", outcome, weights=null.weights)
