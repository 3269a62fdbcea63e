"""Statistics for calibrated probabilities: measures, exact tests, honest intervals, reliability diagrams."""

from calibstat import generators, lenses, recalibration, study
from calibstat.display import ReliabilityDisplay
from calibstat.generators import GENERATORS
from calibstat.inference.belt import calibration_belt
from calibstat.inference.classical import cox, hosmer_lemeshow, kolmogorov_smirnov, kuiper, spiegelhalter
from calibstat.inference.comparison import compare
from calibstat.inference.decomposition import decompose
from calibstat.inference.estimation import (
    detail,
    estimate,
    expected_calibration_error,
    kernel_calibration_error,
    maximum_calibration_error,
    smooth_calibration_error,
)
from calibstat.inference.general import (
    adaptive_calibration_error,
    class_conditional_calibration_error,
    gce_family,
    root_mean_square_calibration_error,
    static_calibration_error,
    thresholded_adaptive_calibration_error,
)
from calibstat.inference.generalization import generalization_gap
from calibstat.inference.intervals import confidence_interval
from calibstat.inference.kernel_test import kernel_calibration_test
from calibstat.inference.reliability import reliability
from calibstat.inference.sharpness import sharpness
from calibstat.inference.summary import summarize
from calibstat.inference.t_cal import t_cal
from calibstat.inference.testing import calibration_test
from calibstat.lenses import LENSES, Lens
from calibstat.measures import MEASURES, Measure, measure
from calibstat.plots import plot
from calibstat.predictions import Predictions
from calibstat.sample import Sample
from calibstat.scores import Bregman

__all__ = [
    "GENERATORS",
    "LENSES",
    "MEASURES",
    "Bregman",
    "Lens",
    "Measure",
    "Predictions",
    "ReliabilityDisplay",
    "Sample",
    "adaptive_calibration_error",
    "calibration_belt",
    "calibration_test",
    "class_conditional_calibration_error",
    "compare",
    "confidence_interval",
    "cox",
    "decompose",
    "detail",
    "estimate",
    "expected_calibration_error",
    "gce_family",
    "generalization_gap",
    "generators",
    "hosmer_lemeshow",
    "kernel_calibration_error",
    "kernel_calibration_test",
    "kolmogorov_smirnov",
    "kuiper",
    "lenses",
    "maximum_calibration_error",
    "measure",
    "plot",
    "recalibration",
    "reliability",
    "root_mean_square_calibration_error",
    "sharpness",
    "smooth_calibration_error",
    "spiegelhalter",
    "static_calibration_error",
    "study",
    "summarize",
    "t_cal",
    "thresholded_adaptive_calibration_error",
]
__version__ = "0.1.0"
