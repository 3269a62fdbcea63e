"""Post-hoc calibration maps, fitted on rows whose outcomes are known.

``calibstat.recalibration.<Name>(...).fit(p, y).predict_proba(p)``, the predictions first: the order of scikit-learn.
To add a recalibrator: one file of this folder with a subclass of `Recalibrator`, and its test file.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from calibstat.recalibration.recalibrator import Recalibrator

# from the simplest to the most flexible, with those that are not chosen from at the end
# isort: off
from calibstat.recalibration.unchanged import Unchanged
from calibstat.recalibration.intercept_update import InterceptUpdate
from calibstat.recalibration.temperature_scaling import TemperatureScaling
from calibstat.recalibration.platt_scaling import PlattScaling
from calibstat.recalibration.beta_calibration import BetaCalibration
from calibstat.recalibration.quadratic_scaling import QuadraticScaling
from calibstat.recalibration.vector_scaling import VectorScaling
from calibstat.recalibration.matrix_scaling import MatrixScaling
from calibstat.recalibration.histogram_binning import HistogramBinning
from calibstat.recalibration.isotonic_regression import IsotonicRegression
from calibstat.recalibration.centred_isotonic import CentredIsotonic
from calibstat.recalibration.venn_abers import VennAbers
from calibstat.recalibration.neural_scaling import NeuralScaling
from calibstat.recalibration.mean_replacement import MeanReplacement
from calibstat.recalibration.prior_shift import PriorShift
# isort: on

for _file in sorted(Path(__file__).parent.glob("[!_]*.py")):  # and after them all others of the folder
    import_module(f"{__name__}.{_file.stem}")
RECALIBRATORS: Mapping[str, type[Recalibrator]] = MappingProxyType(
    {entry.__name__: entry for entry in Recalibrator.__subclasses__() if entry.__module__.startswith(__name__)}
)
globals().update(RECALIBRATORS)
from calibstat.recalibration.choose_map import MapChoice, choose  # noqa: E402

__all__ = [
    "RECALIBRATORS",
    "BetaCalibration",
    "CentredIsotonic",
    "HistogramBinning",
    "InterceptUpdate",
    "IsotonicRegression",
    "MapChoice",
    "MatrixScaling",
    "MeanReplacement",
    "NeuralScaling",
    "PlattScaling",
    "PriorShift",
    "QuadraticScaling",
    "Recalibrator",
    "TemperatureScaling",
    "Unchanged",
    "VectorScaling",
    "VennAbers",
    "choose",
]
