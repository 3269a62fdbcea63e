"""Measures of calibration, one file for each family."""

# isort: off
from calibstat.measures.registry import MEASURES, BoundMeasure, Measure, measure
from calibstat.measures import binned, cumulative, distances, interval_ce, corp, kernel_ce  # noqa: F401  (registers them)
from calibstat.measures import average_ce, smooth_ce, post_processing_gap, losses, smooth_ece  # noqa: F401
from calibstat.measures import gce, skce, regression_ce, canonical_ce  # noqa: F401
# isort: on

__all__ = ["MEASURES", "BoundMeasure", "Measure", "measure"]
