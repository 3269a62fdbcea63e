"""Statistics for calibrated probabilities: measures, exact tests, honest intervals, reliability diagrams."""

from calibstat import generators, recalibration, study
from calibstat.classical.asymptotic_tests import cox, hosmer_lemeshow, kolmogorov_smirnov, kuiper, spiegelhalter
from calibstat.classical.calibration_belt import calibration_belt
from calibstat.classical.skce_test import kernel_calibration_test
from calibstat.classical.t_cal import t_cal
from calibstat.data import lenses
from calibstat.data.lenses import LENSES, Lens
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.generators import GENERATORS
from calibstat.inference.calibration_test import calibration_test
from calibstat.inference.compare import compare
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.decompose import decompose
from calibstat.inference.estimate import (
    detail,
    estimate,
    expected_calibration_error,
    kernel_calibration_error,
    maximum_calibration_error,
    smooth_calibration_error,
)
from calibstat.inference.gce_family import (
    adaptive_calibration_error,
    class_conditional_calibration_error,
    gce_family,
    root_mean_square_calibration_error,
    static_calibration_error,
    thresholded_adaptive_calibration_error,
)
from calibstat.inference.generalization_gap import generalization_gap
from calibstat.inference.reliability import reliability
from calibstat.inference.sharpness import sharpness
from calibstat.inference.summarize import summarize
from calibstat.measures import MEASURES, Measure, measure
from calibstat.measures.bregman import Bregman
from calibstat.plots import plot
from calibstat.plots.sklearn_display import ReliabilityDisplay

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
