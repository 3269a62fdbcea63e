"""Frozen results, one class for each question. Nothing here computes anything random."""

from calibstat.results.asymptotic import AsymptoticTestResult
from calibstat.results.base import Result, plain, read_only
from calibstat.results.class_wise import ClassWiseReliability
from calibstat.results.detail import MeasureDetail
from calibstat.results.general import GceFamily
from calibstat.results.intervals import ConfidenceInterval
from calibstat.results.reliability import Reliability
from calibstat.results.simplex import SimplexReliability
from calibstat.results.testing import CalibrationTestResult, ClassWiseTestResult

__all__ = ["AsymptoticTestResult", "CalibrationTestResult", "ClassWiseReliability", "ClassWiseTestResult"]
__all__ += ["ConfidenceInterval", "GceFamily", "MeasureDetail", "Reliability", "Result", "SimplexReliability"]
__all__ += ["plain", "read_only"]
