"""Measures of calibration, each one registered function, by the kind of thing they look at."""

# isort: off
from calibstat.measures.registry import MEASURES, BoundMeasure, Measure, measure
from calibstat.measures import binned, cumulative, isotonic, kernel, scores, smooth  # noqa: F401  (registers them)
# isort: on

__all__ = ["MEASURES", "BoundMeasure", "Measure", "measure"]
