"""The null hypothesis of calibration: what is given, and what then holds for the outcomes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from calibstat.data.words.side import AT_THE_BORDER, Side
from calibstat.in_words import InWords

INDEPENDENTLY = " independently"


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

    def of_side(self, side: Side) -> Null:
        """Return the null hypothesis of a test of one side: no prediction is too high, or none is too low."""
        *parts, last = self.outcome
        before, of, probability = last.rpartition(" with ")
        least = AT_THE_BORDER[side]
        sided = f"{before}{of}{least} {probability}" if of else f"{last}, {least} so often"
        return replace(self, outcome=(*parts, sided))

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
