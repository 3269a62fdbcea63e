"""Findings for each class: in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat.cli.findings import Finding
from calibstat.data import lenses
from calibstat.data.checked_rows import Data
from calibstat.digits import settled
from calibstat.in_order import smallest_first
from calibstat.inference.calibration_test_results import CalibrationTestResult, ClassTests
from calibstat.inference.calibration_tests import calibration_test
from calibstat.inference.estimate import estimate
from calibstat.measures import Measure
from calibstat.measures.kinds.registry import find_measure
from calibstat.reporting.sentences import whose_p

SIZE_MEASURE = "ece"  # how large the errors of classes are, if their test does not say
_MOST_CLASSES = 20  # classes in a printed table


@dataclass(frozen=True)
class ClassFindings:
    """The size of the error of each class, and its test by one measure, and the test of all together.

    Attributes
    ----------
    bound, error : Measure
        The measure of the test, its options fixed; and the measure of the size, the same unless it is for tests only.
    estimate : ndarray, shape (K,)
        The size of the error of each class.
    happened, expected : ndarray, shape (K,)
        Number of rows of each class, and the sum of its predicted probabilities.
    test : CalibrationTestResult
        The test of each class, and of the mean over all.
    """

    bound: Measure
    error: Measure
    estimate: np.ndarray
    happened: np.ndarray
    expected: np.ndarray
    test: CalibrationTestResult

    @property
    def title(self) -> str:
        """The name in prose of the measure of the size."""
        return self.error.info.title

    @property
    def overall(self) -> Finding:
        """The finding for the mean over all classes."""
        return Finding(self.bound, replace(self.test, classes=None))

    @property
    def of_classes(self) -> ClassTests:
        """The test of each class."""
        assert self.test.classes is not None
        return self.test.classes

    def shown(self) -> np.ndarray:
        """Return the classes that fit into a printed table: all, or those with the smallest p-values first."""
        k = len(self.of_classes.names)
        return np.arange(k) if k <= _MOST_CLASSES else smallest_first(self.of_classes.pvalue)[:_MOST_CLASSES]


def assess_classes(rows: Data, measure: str, **draws: Any) -> ClassFindings:
    """Test each class and the mean over all by a measure, and estimate how large the errors are."""
    data, rows = rows.predictions, rows.through(lenses.class_wise)
    happened, expected = np.bincount(data.label, minlength=data.n_classes), data.prob.sum(axis=0, dtype=np.float64)
    bound = find_measure(measure, {})
    test = calibration_test(rows, measure=measure, n_jobs=-1, **draws)
    assert test.classes is not None
    error, size = bound, np.asarray(test.classes.statistic, np.float64)
    if bound.info.for_tests_only:
        error = find_measure(SIZE_MEASURE, {})
        size = np.asarray(estimate(rows, measure=error))
    return ClassFindings(bound, error, size, happened, expected, test)


def say_classes(findings: ClassFindings) -> list[str]:
    """Say what the table of classes leaves out, what its last column is, and what drove the tests."""
    of_classes, shown = findings.of_classes, findings.shown()
    k = len(of_classes.names)
    note = f"p (Holm) is p made larger because {k:,} classes were tested."
    if k > shown.size:
        least = of_classes.pvalue[shown[-1]]
        more = f"{k - shown.size:,} more have p of at least {settled(least):.3g} (--format json has all)"
        note = f"The {shown.size} classes with the smallest p; {more}. {note}"
    if findings.error is not findings.bound:
        note = whose_p(findings.bound.name, findings.title[:1].lower() + findings.title[1:]) + note
    drivers = ["\n".join(of_classes.drivers)] if of_classes.drivers else []
    return [note, *drivers]
