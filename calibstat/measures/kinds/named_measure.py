"""A measure as results name it, without its functions."""

from __future__ import annotations

from dataclasses import dataclass

from calibstat.in_words import InWords


@dataclass(frozen=True)
class NamedMeasure(InWords):
    """The measure of a result.

    Attributes
    ----------
    name : str
        Its name, such as "ece".
    options : str
        The options that are not the defaults, as they are written in a call, such as "n_bins=5"; empty if none are.
    title : str
        The name in prose, such as "Expected calibration error".
    has_interval : bool
        Whether a confidence interval of it is known.
    """

    name: str
    options: str = ""
    title: str = ""
    has_interval: bool = False

    def __str__(self) -> str:
        return f"{self.name}({self.options})" if self.options else self.name

    @property
    def as_argument(self) -> str:
        """The arguments of a call that name it, such as "measure='ece', n_bins=5"."""
        return ", ".join(filter(None, (f"measure={self.name!r}", self.options)))

    @property
    def in_prose(self) -> str:
        """The name in prose, with the options."""
        title = self.title or self.name
        return f"{title} ({self.options})" if self.options else title
