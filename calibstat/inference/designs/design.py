"""The base of designs: how rows came about, what may be asked of them, and how."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from calibstat.data.checked_rows import Data, Models
from calibstat.data.checks import check_level, is_among, short, unknown_name
from calibstat.data.retired_words import RETIRED_METHODS
from calibstat.data.words.side import Side, check_side
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.sections import Sections
from calibstat.inference.rows_of_results import Rows
from calibstat.inference.size_of_error import SizeOfError
from calibstat.measures.kinds.base import Measure
from calibstat.resampling import Draws

NO_STUDY = "no study covers both"


@dataclass(frozen=True)
class HowToTest:
    """The arguments of a test beside its measure; every design has a test with these defaults."""

    null: object = None
    resample: str = "labels"
    stop_after: int | None = None
    side: Side | None = None


def refuse(word: str, asked: Mapping[str, object], reasons: Mapping[str, str]) -> None:
    """Raise for the first argument that rows with this word do not take, with the reason."""
    for name, given in asked.items():
        if name in reasons:
            found = f"={short(given)}" if isinstance(given, str | int) else "="
            raise ValueError(
                f"expected rows without {word}= beside {name}=, because {reasons[name]}; found {name}{found}"
            )


@dataclass(frozen=True, eq=False)
class Design(ABC):
    """Rows that came about in one way.

    Attributes
    ----------
    word : str
        The word of `Data` that says so, for messages.
    refuses : mapping
        The arguments of tests that it does not take, each with the reason.
    test_measure, interval_measure, one_sided_measure : str
        The measures by default, of tests, of intervals, and of tests of one side; no such test if it is empty.
    test_methods, interval_methods : tuple of str
        The methods; the first is the default.
    sections : Sections
        What a report has, and what it does not take.
    """

    data: Data
    word: ClassVar[str] = ""
    refuses: ClassVar[Mapping[str, str]] = MappingProxyType({})
    test_measure: ClassVar[str] = "omnibus"
    interval_measure: ClassVar[str] = "ece"
    one_sided_measure: ClassVar[str] = ""
    test_methods: ClassVar[tuple[str, ...]] = ()
    interval_methods: ClassVar[tuple[str, ...]] = ("honest",)
    sections: ClassVar[Sections] = Sections()

    @property
    def unit(self) -> np.ndarray | None:
        """The number of the cluster of each row, None if rows are independent."""
        return self.data.cluster

    @property
    def unit_names(self) -> np.ndarray | None:
        """The label of each cluster in the order of the numbers, None if none were given."""
        return self.data.cluster_names

    @property
    def unseen(self) -> str:
        """The assumption about clusters that are absent, a word of `UNSEEN`."""
        return self.data.unseen

    @abstractmethod
    def test(self, measure: Measure, method: str, how: HowToTest, draws: Draws) -> CalibrationTestResult:
        """Return the test of calibration by a measure."""

    def beside_impossible_rows(
        self, result: CalibrationTestResult, measure: Measure, method: str, how: HowToTest, draws: Draws
    ) -> CalibrationTestResult:
        """Return a test of these rows with what is to be said of rows that were predicted to be impossible.

        Nothing, unless the test is given the predictions, so that rows can be chosen by them.
        """
        return result

    @abstractmethod
    def interval(self, measure: Measure, method: str, confidence_level: float, draws: Draws) -> ConfidenceInterval:
        """Return the interval of a measure."""

    def size_of_error(self, margin: float | None, draws: Draws) -> SizeOfError | None:
        """Return how large the error is, for the verdict of a test; None where no interval of it is known."""
        return None

    def described(self, n: int, weight: np.ndarray | None = None) -> Rows:
        """Return what results say of so many rows."""
        return Rows(n)

    def how_to_test(self, how: HowToTest) -> HowToTest:
        """Return how a test is asked for; raise if these rows do not take it."""
        if how.side is not None:
            check_side(how.side)
        usual = vars(HowToTest())
        asked = {name: given for name, given in vars(how).items() if not is_among(given, (usual[name],))}
        refuse(self.word, asked, self.refuses)
        refuse(self.word, asked, {} if self.one_sided_measure else {"side": NO_STUDY})
        return how

    def usual_measure(self, side: Side | None) -> str:
        """Return the measure of a test by default."""
        return self.test_measure if side is None else self.one_sided_measure

    def need_report(self, asked: Mapping[str, object]) -> None:
        """Raise for the first of these arguments of `report` that these rows do not take."""
        for word in self.data.words:
            refuse(word, asked, self.sections.refuses.get(word, {}))

    def with_outcomes(self, models: Models) -> Models:
        """Return the rows that have an outcome, as most rows do; of a report's models, which have the same rows."""
        return models

    @property
    def n(self) -> int:
        """Number of rows, with an outcome or without."""
        return self.data.n

    def introduced(self, rows: str) -> str:
        """Return a sentence about rows with what else is to be said of how they came about."""
        return rows

    def notes_of_report(self, intervals: Iterable[ConfidenceInterval]) -> list[str]:
        """Return what a report notes beside what its tests note, given the primary intervals."""
        return []

    def test_method(self, method: str | None) -> str:
        """Return the method of a test, the first by default."""
        return self._method(method, self.test_methods)

    def interval_method(self, method: str | None, confidence_level: float) -> str:
        """Return the method of an interval, the first by default; raise if it or the level is not known.

        The first is what "honest" means for these rows.
        """
        check_level("confidence_level", confidence_level)
        return self._method(None if is_among(method, ("honest",)) else method, self.interval_methods)

    def _method(self, method: str | None, known: tuple[str, ...]) -> str:
        if method is None:
            return known[0] if known else ""
        if is_among(method, known):
            return method
        beside = f" of rows with {self.word}=" if self.word else ""
        if isinstance(method, str) and method in RETIRED_METHODS:
            raise ValueError(f"expected {RETIRED_METHODS[method]}; found method={method!r}")
        if not known:
            raise ValueError(f"expected no method= for a test{beside}, which has one way; found {short(method)}")
        raise unknown_name(f"a method{beside}", method, known)
