"""Rows that were predicted out of the folds of cross-validation."""

from __future__ import annotations

from types import MappingProxyType

from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.design import NO_STUDY, Design, HowToTest
from calibstat.inference.designs.folds.fold_interval import METHODS, cross_validated_interval
from calibstat.inference.designs.folds.fold_test import cross_validated_test
from calibstat.measures.kinds.base import Measure
from calibstat.resampling import Draws


class CrossValidated(Design):
    """Each fold was predicted by a model that was fitted on the others; rows may be in clusters too."""

    word = "folds"
    refuses = MappingProxyType(
        {"null": "each fold has a model of its own", "resample": NO_STUDY, "stop_after": NO_STUDY}
    )
    test_measure = interval_measure = "kernel_ce"
    interval_methods = METHODS

    def test(self, asked: Measure, method: str, how: HowToTest, draws: Draws) -> CalibrationTestResult:
        return cross_validated_test(self.data, asked, draws)

    def interval(self, asked: Measure, method: str, confidence_level: float, draws: Draws) -> ConfidenceInterval:
        return cross_validated_interval(self.data, asked, method, confidence_level, draws)
