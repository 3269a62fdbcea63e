"""Measures of calibration, each one registered function, by the kind of thing they look at."""

# isort: off
from calibstat.measures.registry import MEASURES, BoundMeasure, Measure, measure
from calibstat.measures import binned, cumulative, distance, interval, isotonic, kernel  # noqa: F401  (registers them)
from calibstat.measures import average, lipschitz, post_processing, scores, smooth  # noqa: F401
from calibstat.measures import general, matrix_kernel, regression, simplex  # noqa: F401
# isort: on

__all__ = ["MEASURES", "BoundMeasure", "Measure", "measure"]
