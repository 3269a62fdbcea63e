"""The answers of the functions about one or several models on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibstat.inference.bands.reliability_diagrams import ClassWiseReliability, Reliability
from calibstat.inference.calibration_test_results import CalibrationTestResult, ClassTests
from calibstat.inference.comparison_results import Comparison
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.power.detectable_effect import DetectableEffect
from calibstat.inference.size_of_error import LOW
from calibstat.reporting.cross_fitted import CrossFitted
from calibstat.reporting.next_step import say_next
from calibstat.reporting.report_measures import Measured
from calibstat.reporting.sentences import say_both, say_interval, say_reservations, titled
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ClassesReport(Result):
    """The classes of a model, each against the rest.

    Attributes
    ----------
    test : CalibrationTestResult
        The test of each class, and of all by their mean.
    diagrams : ClassWiseReliability
        The reliability diagram of each class, and its expected calibration error.
    """

    test: CalibrationTestResult
    diagrams: ClassWiseReliability

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each class."""
        return self.diagrams.to_frame().assign(pvalue=self.each.pvalue, pvalue_holm=self.each.pvalue_holm)

    @property
    def each(self) -> ClassTests:
        """The test of each class."""
        assert self.test.classes is not None
        return self.test.classes

    def __str__(self) -> str:
        return "\n".join([self.test.answer, *self.each.drivers])


@dataclass(frozen=True, eq=False)
class ModelReport(Result):
    """The part of a report about one model.

    Attributes
    ----------
    test : CalibrationTestResult
        The primary test: by the omnibus statistic; of rows in clusters by signs of clusters; of one side of them by the
        number of events.
    ece : ConfidenceInterval
        The primary interval, of the expected calibration error; through a lens that shows several classes, of the
        canonical calibration error; of predictions out of fold, of the kernel calibration error.
    measures : dict of Measured
        More measures by their names, as detail.
    diagram : Reliability or None
        The reliability diagram; None if the lens shows several classes, and of predictions out of fold.
    classes : ClassesReport or None
        The classes, if there are more than two.
    detectable : DetectableEffect or None
        What the test could have found on these rows; None with clusters, and of predictions out of fold.
    groups : Result or None
        The audit of the groups, if asked for.
    recalibrated : CrossFitted or None
        The model before and after recalibration on held-out folds, if asked for.
    """

    test: CalibrationTestResult
    ece: ConfidenceInterval
    measures: dict[str, Measured]
    diagram: Reliability | None
    classes: ClassesReport | None
    detectable: DetectableEffect | None
    groups: Any
    recalibrated: CrossFitted | None

    @property
    def answer(self) -> str:
        """The primary test and the size of the error, in words."""
        if self.test.size is None:
            return f"{self.test.answer}\n{say_interval(titled(self.ece), self.ece)}"
        return "\n".join([*self.ece.rows.cautions, self.test.answer, *say_reservations(self.ece)])

    @property
    def verdict(self) -> list[str]:
        """The answer in lines, and a remark if the test and the interval seem to contradict each other."""
        same = self.test.measure == self.ece.measure or self.test.size is not None or self.test.side is not None
        remark = "" if same else say_both(self.test.pvalue, self.ece)
        return [*self.answer.splitlines(), *([remark] if remark else [])]

    @property
    def next_step(self) -> str:
        """The advice that follows from the verdict, in one sentence."""
        deviate = self.groups is not None and self.groups.beyond_found > 0
        return say_next(self.test, self.ece, self.recalibrated, groups=deviate)

    def __str__(self) -> str:
        sentences = ["\n".join(self.verdict)]
        if self.detectable is not None and self.test.pvalue > LOW:
            sentences.append(str(self.detectable))
        sentences += [] if self.classes is None else [self.classes.test.answer]
        if self.groups is not None:
            sentences += [*self.groups.sentences, *self.groups.beyond_sentences]
        sentences += [] if self.recalibrated is None else [str(self.recalibrated)]
        return "\n".join(sentences)


@dataclass(frozen=True, eq=False)
class ReportFields(Result):
    """The fields of a `Report`, which says what each is."""

    title: str
    models: dict[str, ModelReport]
    comparisons: dict[str, Comparison]
    data: str
    n: int
    n_classes: int
    confidence_level: float
    seed: int
    version: str
    command: str
    notes: tuple[str, ...]
    date: str
    source: str

    @property
    def answer(self) -> str:
        """The size of the error of each model, after a sentence on which of several is better calibrated."""
        first = {name: model.test.answer.splitlines()[0] for name, model in self.models.items()}
        each = [f"{name}: {line}" for name, line in first.items()] if len(first) > 1 else [*first.values()]
        return "\n".join([*(one.answer for one in self.comparisons.values()), *each])

    @property
    def is_of_clusters(self) -> bool:
        """Whether the rows are in clusters."""
        return any(model.test.null_hypothesis.rows == "in clusters" for model in self.models.values())

    @classmethod
    def writes(cls, key: str) -> bool:
        """Whether `to_dict` has this key: null distributions are left out."""
        return not key.endswith("null_distribution")

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for the test of each model, and one for each of its measures."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for name, model in self.models.items():
            test = model.test
            of = {"model": name, "measure": str(test.measure), "title": "Test of calibration", "lens": str(test.lens)}
            rows.append(of | {"estimate": test.statistic, "pvalue": test.pvalue})
            rows += [{"model": name} | each.to_dict() for each in model.measures.values()]
        columns = ("model", "measure", "title", "lens", "estimate", "low", "high", "pvalue")
        frame = pd.DataFrame(rows, columns=list(columns))
        return frame.astype(dict.fromkeys(columns[4:], float))

    def __str__(self) -> str:
        sentences = [each.answer for each in self.comparisons.values()]
        for name, model in self.models.items():
            sentences.append(f"{name}. {model}" if len(self.models) > 1 else str(model))
        sentences += map(str, self.comparisons.values())
        return "\n".join([*sentences, self.data, *self.notes])
