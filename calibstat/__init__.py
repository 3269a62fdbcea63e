"""Statistics for calibrated probabilities: measures, exact tests, honest intervals, reliability diagrams."""

from calibstat.inference.estimation import detail, estimate
from calibstat.inference.testing import calibration_test
from calibstat.measures import MEASURES, Measure, measure
from calibstat.sample import Sample

__all__ = ["MEASURES", "Measure", "Sample", "calibration_test", "detail", "estimate", "measure"]
__version__ = "0.1.0"
