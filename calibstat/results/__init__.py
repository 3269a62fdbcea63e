"""Frozen results, one class for each question. Nothing here computes anything random."""

from calibstat.results.base import Result, plain, read_only
from calibstat.results.detail import MeasureDetail
from calibstat.results.intervals import ConfidenceInterval
from calibstat.results.reliability import Reliability
from calibstat.results.testing import CalibrationTestResult

__all__ = ["CalibrationTestResult", "ConfidenceInterval", "MeasureDetail", "Reliability", "Result", "plain", "read_only"]
