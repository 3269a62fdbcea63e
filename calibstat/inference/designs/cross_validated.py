"""Rows that were predicted out of the folds of cross-validation."""

from __future__ import annotations

from types import MappingProxyType

from calibstat.data.clusters import clusters_in_words
from calibstat.data.folds_of_rows import folds_in_words
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.design import NO_STUDY, Design, HowToTest
from calibstat.inference.designs.folds.fold_interval import FOLD_METHODS, cross_validated_interval
from calibstat.inference.designs.folds.fold_test import cross_validated_test
from calibstat.inference.designs.sections import Sections
from calibstat.measures.kinds.base import Measure
from calibstat.resampling import Draws


class CrossValidated(Design):
    """Each fold was predicted by a model that was fitted on the others; rows may be in clusters too."""

    word = "folds"
    refuses = MappingProxyType(
        {"null": "each fold has a model of its own", "resample": NO_STUDY, "stop_after": NO_STUDY}
    )
    test_measure = interval_measure = "kernel_ce"
    interval_methods = FOLD_METHODS
    sections = Sections(
        errors=("kernel_ce", "ks", "ece"),
        has_diagram=False,
        has_detectable_effect=False,
        compares_errors=False,
        refuses={
            "folds": {
                "by": "an audit takes predictions of one model",
                "recalibrate": "a map takes predictions of one model",
                "shape": NO_STUDY,
            }
        },
    )

    def introduced(self, rows: str) -> str:
        """Return a sentence about rows, and which folds and clusters they are in."""
        assert self.data.fold is not None
        clusters = "" if self.unit is None else f" Rows are in {clusters_in_words(self.unit)}."
        return f"{rows}{clusters} They were predicted out of {folds_in_words(self.data.fold, len(self.data.repeats))}."

    def test(self, measure: Measure, method: str, how: HowToTest, draws: Draws) -> CalibrationTestResult:
        return cross_validated_test(self.data, measure, draws)

    def interval(self, measure: Measure, method: str, confidence_level: float, draws: Draws) -> ConfidenceInterval:
        return cross_validated_interval(self.data, measure, method, confidence_level, draws)
