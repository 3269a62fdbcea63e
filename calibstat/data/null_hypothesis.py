"""The null hypothesis of calibration, or of a calibration map: what is given, and what then holds for the outcomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from calibstat.data.checks import described, short
from calibstat.data.in_words import InWords
from calibstat.data.validation import check_all

INDEPENDENTLY = " independently"
SLACK = 1e-6  # by which the sum of a row may be off from 1
GIVES = "what it gives"


@dataclass(frozen=True)
class Null(InWords):
    """A null hypothesis; as text one sentence.

    Attributes
    ----------
    given : str
        What is given, such as "the predictions"; empty if a user's sentence does not say it.
    outcome : tuple of str
        What then holds for the outcomes; between the parts the sentence says that rows are independent.
    weights : bool
        Whether the weights of the rows are given too.
    rows : {"independent", "sampled", "in clusters"}
        Rows are independent; they are, and the predictions are a sample too; or rows of different clusters are.
    exact : bool
        Whether a p-value of at most a has a probability of at most a.
    why_approximate : str
        Why it may have another; empty if it has not, and of a null hypothesis that no test has taken.
    """

    given: str
    outcome: tuple[str, ...]
    weights: bool = False
    rows: Literal["independent", "sampled", "in clusters"] = "independent"
    exact: bool = False
    why_approximate: str = ""

    @classmethod
    def read(cls, sentence: str) -> Null:
        """Return the null hypothesis that the author of a lens wrote as one sentence, "given ..., ..."."""
        text = sentence.removesuffix(".")
        given, comma, outcome = text.removeprefix("given ").partition(", ")
        if not (text.startswith("given ") and comma):
            given, outcome = "", text
        return cls(given, tuple(outcome.split(INDEPENDENTLY)))

    def approximately(self, why: str) -> Null:
        """Return the null hypothesis of a test that is not exact, for this reason."""
        return replace(self, why_approximate=why)

    def __str__(self) -> str:
        text = ("" if self.rows == "in clusters" else INDEPENDENTLY).join(self.outcome)
        given = " and ".join(part for part in ("the weights" * self.weights, self.given) if part)
        text = f"given {given}, {text}" if given else text
        if self.rows == "sampled":
            text = f"predictions are an independent sample and, {text}"
        if self.rows == "in clusters":
            text += ", and rows of different clusters are independent"
        how = f" (approximate: {self.why_approximate})" if self.why_approximate else ""
        return f"{text}{' (exact)' if self.exact else how}."


EVENT_NULL = Null("the predictions", ("every outcome is 1", " with its predicted probability"))


@dataclass(frozen=True)
class CalibrationMap:
    """A function from predictions, as they are given, to probabilities, and its name in words.

    It gets the predictions of one event, shape (m,), or the vectors of K classes, shape (n, K), and returns as many.
    """

    function: Callable[[np.ndarray], Any]
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
        """Return the null hypothesis that outcomes come from the map, in place of that of calibration."""
        outcome = ("every outcome comes", f" from the probabilities that {self.name} gives for its prediction")
        return Null("the predictions", outcome, weights=null.weights)
