"""Rows of which few have an outcome, and all have a judge's answer."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.clustered import Clustered
from calibstat.inference.designs.design import NO_STUDY, Design, HowToTest
from calibstat.inference.designs.independent import Independent
from calibstat.inference.designs.judged.guided_test import DIRECTION, NOISE, guided_test
from calibstat.inference.designs.judged.judged_in_order import judged_rows
from calibstat.inference.designs.judged.rectified_interval import METHOD, judged_problem, rectified_interval
from calibstat.measures.kinds.base import Measure
from calibstat.resampling import Draws


class Judged(Design):
    """The labelled rows are a random subset of all, or were drawn with known chances; rows may be in clusters too."""

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
    interval_methods = (METHOD,)

    @property
    def unit(self) -> np.ndarray | None:
        return None if self.data.judged is None else self.data.judged.unit

    def test(self, asked: Measure, method: str, how: HowToTest, draws: Draws) -> CalibrationTestResult:
        return guided_test(judged_rows(self.data), asked, method, draws)

    def interval(self, asked: Measure, method: str, confidence_level: float, draws: Draws) -> ConfidenceInterval:
        rows = judged_rows(self.data)
        labelled = (Independent if rows.unit is None else Clustered)(rows.data)
        labels_only = labelled.interval_of(judged_problem(rows, asked), "honest", confidence_level, draws)
        return rectified_interval(rows, asked, labels_only, confidence_level, draws)
