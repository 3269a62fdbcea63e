"""A lens as results name it, without its functions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from calibstat.in_words import InWords


@dataclass(frozen=True)
class NamedLens(InWords):
    """The lens of a result.

    Attributes
    ----------
    title : str
        What is printed, such as "lens top_label"; without a lens "event: outcome 1".
    subject : str
        In words the outcome that it shows, such as "the most likely class".
    reduce : str
        Of a lens that shows each class by itself: "mean" or "max" if classes are made one number; else empty.
    n_classes : int
        How many classes are made one number; else 0.
    """

    title: str
    subject: str
    reduce: str = ""
    n_classes: int = 0

    def __str__(self) -> str:
        return f"{self.title}, {self.reduce} over {self.n_classes} classes" if self.reduce else self.title

    def of_all(self, reduce: str, n_classes: int) -> NamedLens:
        """Return the lens of so many classes that are made one number."""
        return replace(self, reduce=reduce, n_classes=n_classes)

    @property
    def with_comma(self) -> str:
        """The words after a comma, or nothing where outcome 1 goes without saying."""
        return f", {self}" if self._needs_saying else ""

    @property
    def in_brackets(self) -> str:
        """The words in brackets after a space, or nothing where outcome 1 goes without saying."""
        return f" ({self})" if self._needs_saying else ""

    @property
    def _needs_saying(self) -> bool:
        return self not in (EVENT, UNSAID)


EVENT = NamedLens("event: outcome 1", "outcome 1")
UNSAID = NamedLens("", "")  # beside an estimate whose interval is not known
