"""The advice at the top of a report: one sentence about what to do next."""

from __future__ import annotations

import math

from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.size_of_error import LOW
from calibstat.output.wording import number
from calibstat.reporting.cross_fitted import CrossFitted

SPLIT = "on other rows, and check the result on new ones"


def say_next(
    test: CalibrationTestResult, error: ConfidenceInterval, recalibrated: CrossFitted | None, groups: bool
) -> str:
    """Advise what to do, given the test, the primary interval, recalibration, and whether groups deviate by themselves.

    Such groups come first, because their errors may cancel in all rows. A model that is not shown to be wrong, or whose
    error is small, is used and watched, or tested with more rows; another one is recalibrated, or fitted again if that
    is not shown to help.
    """
    if test.side is not None:
        return test.next_step
    if groups:
        return f"Fit the model again with the features of the groups, or recalibrate groups by themselves, {SPLIT}."
    pvalue, size = test.pvalue, test.size
    if size is not None and (size.is_small or pvalue > LOW or recalibrated is None):
        return test.next_step
    if pvalue > LOW:
        large = f"an error of {number(error.high)}" if math.isfinite(error.high) else "an error of any size"
        return f"If {large} would matter to you, collect more rows; else use the predictions and monitor them."
    if recalibrated is None:
        return f"Recalibrate the predictions {SPLIT}."
    least = float(recalibrated.brier.low[0])  # of the Brier score before minus after
    if least > 0:
        return (
            f"Recalibrate by {recalibrated.recalibrator}, which is shown to lower the Brier score (by {number(least)} "
            "at least), and make the report of the new predictions with new rows."
        )
    return f"Fit the model again {SPLIT}: {recalibrated.recalibrator} is not shown to lower its Brier score."
