"""Frozen results, one class for each question. Nothing here computes anything random."""

from calibstat.results.asymptotic import AsymptoticTestResult
from calibstat.results.base import Result, plain, read_only
from calibstat.results.belt import CalibrationBelt
from calibstat.results.class_wise import ClassWiseReliability
from calibstat.results.classical import CoxResult, HosmerLemeshowResult, TCalResult
from calibstat.results.comparison import Comparison
from calibstat.results.decomposition import Decomposition
from calibstat.results.detail import MeasureDetail
from calibstat.results.general import GceFamily
from calibstat.results.generalization import GeneralizationGap
from calibstat.results.intervals import ConfidenceInterval
from calibstat.results.reliability import Reliability
from calibstat.results.sharpness import CalibrationSharpness
from calibstat.results.simplex import SimplexReliability
from calibstat.results.summary import Summary
from calibstat.results.testing import CalibrationTestResult, ClassWiseTestResult

__all__ = ["AsymptoticTestResult", "CalibrationBelt", "CalibrationSharpness", "CalibrationTestResult"]
__all__ += ["ClassWiseReliability", "ClassWiseTestResult", "Comparison", "ConfidenceInterval", "CoxResult"]
__all__ += ["Decomposition", "GceFamily", "GeneralizationGap", "HosmerLemeshowResult", "MeasureDetail"]
__all__ += ["Reliability", "Result", "SimplexReliability", "Summary", "TCalResult", "plain", "read_only"]
