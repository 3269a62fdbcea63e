"""Rows of which few have an outcome, and all have a judge's answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from calibstat.data.checked_rows import Models, models_of
from calibstat.data.judged_rows import JudgedColumns
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.design import NO_STUDY, Design, HowToTest
from calibstat.inference.designs.independent import Independent
from calibstat.inference.designs.judged.guided_test import DIRECTION, NOISE, guided_test
from calibstat.inference.designs.judged.judged_in_order import cannot_be_seen, judged_models, judged_rows
from calibstat.inference.designs.judged.rectified_interval import BY_JUDGE, judged_problem, rectified_interval
from calibstat.inference.designs.sections import Sections
from calibstat.measures.kinds.base import Measure
from calibstat.resampling import Draws


@dataclass(frozen=True, eq=False)
class Judged(Design):
    """The labelled rows are a random subset of all, or were drawn with known chances; rows may be in clusters too.

    Attributes
    ----------
    alone : Independent
        The design of the labelled rows alone.
    """

    alone: Independent

    word = "judge"
    refuses = MappingProxyType(
        {
            "null": "the judge is about deviations from the predictions",
            "resample": NO_STUDY,
            "stop_after": NO_STUDY,
        }
    )
    test_measure = "ks"
    test_methods = (DIRECTION, NOISE)
    interval_methods = (BY_JUDGE,)
    sections = Sections(
        with_judge=("ece", "kernel_ce", "brier"),
        refuses={"judge": dict.fromkeys(("by", "recalibrate", "shape"), NO_STUDY)},
    )

    @property
    def columns(self) -> JudgedColumns:
        """All rows, labelled or not."""
        assert self.data.judged is not None
        return self.data.judged

    @property
    def unit(self) -> np.ndarray | None:
        """The number of the cluster of each row, labelled or not."""
        return self.columns.unit

    @property
    def n(self) -> int:
        """Number of rows, labelled or not."""
        return self.columns.n

    def with_outcomes(self, models: Models) -> Models:
        """Return the labelled rows alone, in one order for all models."""
        for name, given in {"cluster": self.columns.unit, "inclusion": self.columns.chance}.items():
            if given is not None:
                raise ValueError(
                    f"expected a judge without {name}= for a report, because no study covers both for its Brier score; "
                    f"found {name}="
                )
        return models_of({name: each.data for name, each in judged_models(models).items()})

    def introduced(self, rows: str) -> str:
        """Return a sentence about labelled rows, and what is of all rows."""
        *most, last = self.sections.with_judge
        alone = self.alone.introduced(rows)
        return (
            f"{self.n:,} rows with a judge's answers, {self.data.n:,} of them labelled. Intervals of {', '.join(most)} "
            f"and {last} take the judge; all else is of the labelled rows alone: {alone}"
        )

    def notes_of_report(self, intervals: Iterable[ConfidenceInterval]) -> list[str]:
        """Return whether labelled rows are like the others, and what no number shows."""
        return [*(line for each in intervals for line in each.note.splitlines()), cannot_be_seen()]

    def test(self, measure: Measure, method: str, how: HowToTest, draws: Draws) -> CalibrationTestResult:
        return guided_test(judged_rows(self.data), measure, method, draws)

    def interval(self, measure: Measure, method: str, confidence_level: float, draws: Draws) -> ConfidenceInterval:
        rows = judged_rows(self.data)
        problem = judged_problem(rows, measure)
        labels_only = replace(self.alone, data=rows.data).interval_of(problem, "honest", confidence_level, draws)
        return rectified_interval(rows, measure, labels_only, confidence_level, draws)
