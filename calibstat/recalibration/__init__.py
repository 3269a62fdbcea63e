"""Post-hoc calibration maps, fitted on rows whose outcomes are known.

``calibstat.recalibration.<Name>(...).fit(p, y).predict_proba(p)``, the predictions first: the order of scikit-learn.
To add a recalibrator: one file with a subclass of `Recalibrator`, its test file, and its name in `RECALIBRATORS`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from calibstat.recalibration.histogram_binning import HistogramBinning
from calibstat.recalibration.isotonic_regression import IsotonicRegression
from calibstat.recalibration.matrix_scaling import MatrixScaling
from calibstat.recalibration.mean_replacement import MeanReplacement
from calibstat.recalibration.neural_scaling import NeuralScaling
from calibstat.recalibration.platt_scaling import PlattScaling
from calibstat.recalibration.recalibrator import Recalibrator
from calibstat.recalibration.temperature_scaling import TemperatureScaling
from calibstat.recalibration.vector_scaling import VectorScaling

RECALIBRATORS: Mapping[str, type[Recalibrator]] = MappingProxyType(
    {
        entry.__name__: entry
        for entry in (
            TemperatureScaling,
            PlattScaling,
            VectorScaling,
            MatrixScaling,
            IsotonicRegression,
            HistogramBinning,
            NeuralScaling,
            MeanReplacement,
        )
    }
)

__all__ = [
    "RECALIBRATORS",
    "HistogramBinning",
    "IsotonicRegression",
    "MatrixScaling",
    "MeanReplacement",
    "NeuralScaling",
    "PlattScaling",
    "Recalibrator",
    "TemperatureScaling",
    "VectorScaling",
]
