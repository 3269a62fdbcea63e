"""Statistics for calibrated probabilities: measures, exact tests, honest intervals, reliability diagrams."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibstat import generators, measures
from calibstat.answers_by_model import Answers
from calibstat.classical.calibration_belt import calibration_belt
from calibstat.classical.cox import cox
from calibstat.classical.cumulative_tests import kolmogorov_smirnov, kuiper
from calibstat.classical.hosmer_lemeshow import hosmer_lemeshow
from calibstat.classical.skce_tests import kernel_calibration_test
from calibstat.classical.spiegelhalter import spiegelhalter
from calibstat.classical.t_cal import t_cal
from calibstat.classical.validate import validate
from calibstat.data import lenses
from calibstat.data.checked_rows import Data, Models
from calibstat.data.estimators import predict
from calibstat.data.lenses import LENSES, Lens
from calibstat.data.logits import from_logits
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.generators import GENERATORS
from calibstat.inference.audit import audit
from calibstat.inference.bands.reliability import reliability
from calibstat.inference.calibration_tests import calibration_test
from calibstat.inference.comparing.compare import compare
from calibstat.inference.comparing.compare_samples import compare_samples
from calibstat.inference.comparing.generalization_gap import generalization_gap
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.decompose import decompose
from calibstat.inference.equivalence import equivalence_test
from calibstat.inference.estimate import detail, estimate, expected_calibration_error
from calibstat.inference.gce_family import gce_family
from calibstat.inference.net_benefit_curve import net_benefit
from calibstat.inference.power.detectable_effect import detectable_effect
from calibstat.inference.sharpness import sharpness
from calibstat.inference.summarize import summarize
from calibstat.measures import MEASURES, Measure, measure
from calibstat.measures.bregman import Bregman
from calibstat.monitoring.brier_monitor import BrierMonitor
from calibstat.monitoring.monitor import Monitor
from calibstat.planning.power import power
from calibstat.planning.sample_size import sample_size
from calibstat.result import Result, drawn_by

if TYPE_CHECKING:
    from calibstat import recalibration, study
    from calibstat.plots.plot import plot
    from calibstat.plots.sklearn_display import ReliabilityDisplay
    from calibstat.reporting.report import report

__all__ = [
    "GENERATORS",
    "LENSES",
    "MEASURES",
    "Answers",
    "Bregman",
    "BrierMonitor",
    "Data",
    "Lens",
    "Measure",
    "Models",
    "Monitor",
    "Predictions",
    "ReliabilityDisplay",
    "Sample",
    "audit",
    "calibration_belt",
    "calibration_test",
    "compare",
    "compare_samples",
    "confidence_interval",
    "cox",
    "decompose",
    "detail",
    "detectable_effect",
    "equivalence_test",
    "estimate",
    "expected_calibration_error",
    "from_logits",
    "gce_family",
    "generalization_gap",
    "generators",
    "hosmer_lemeshow",
    "kernel_calibration_test",
    "kolmogorov_smirnov",
    "kuiper",
    "lenses",
    "measure",
    "measures",
    "net_benefit",
    "plot",
    "power",
    "predict",
    "recalibration",
    "reliability",
    "report",
    "sample_size",
    "sharpness",
    "spiegelhalter",
    "study",
    "summarize",
    "t_cal",
    "validate",
]
LATE = {
    "ReliabilityDisplay": "calibstat.plots.sklearn_display",
    "plot": "calibstat.plots.plot",
    "report": "calibstat.reporting.report",
}
__version__ = "0.1.0"  # the one place: pyproject.toml reads it here


def __getattr__(name: str) -> Any:
    """Load pictures, studies and calibration maps when they are first asked for, which keeps the import short."""
    if name in ("recalibration", "study"):
        return import_module(f"calibstat.{name}")
    if name in LATE:
        return getattr(import_module(LATE[name]), name)
    raise AttributeError(f"module 'calibstat' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name what is public, and no module that was only loaded."""
    return [*__all__]


def _picture(result: Result) -> str:
    """Draw a result for a notebook; pictures are loaded when the first is drawn."""
    return str(import_module("calibstat.plots.inline_svg").picture_of_result(result))


drawn_by(_picture)
