"""The sections of a report on rows that came about in one way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sections:
    """The sections of a report, and what it does not take.

    Attributes
    ----------
    errors : tuple of str
        The calibration errors that it measures; the first is the primary one.
    with_judge : tuple of str
        The measures whose intervals are of all rows; all else is of the rows with an outcome.
    has_diagram, has_detectable_effect : bool
        Whether there is a reliability diagram, and what could have been found.
    compares_errors : bool
        Whether models are compared by an error, and not by a score alone.
    compares_costly : bool
        Whether they are also compared by a measure that is too costly on so many rows to be in the table.
    audits_as_given : bool
        Whether groups are audited as rows of this design, and not as independent rows.
    by_rows : str
        What is said of sections that take rows as independent although they are not; nothing if they are.
    refuses : mapping
        By a word about rows, the arguments of `report` that it does not take, each with the reason. `lens` is one that
        shows several events.
    """

    errors: tuple[str, ...] = ("ece", "ece_debiased", "kernel_ce", "smooth_ece")
    with_judge: tuple[str, ...] = ()
    has_diagram: bool = True
    has_detectable_effect: bool = True
    compares_errors: bool = True
    compares_costly: bool = True
    audits_as_given: bool = False
    by_rows: str = ""
    refuses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
