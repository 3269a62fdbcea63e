"""Recalibration: maps fitted on held-out rows that make predicted probabilities agree better with what happens.

``calibstat.recalibration.<Name>(...).fit(p, y).predict_proba(p)``, the predictions first: the order of scikit-learn.
"""

from collections.abc import Mapping
from types import MappingProxyType

from calibstat.recalibration.histogram import HistogramBinning
from calibstat.recalibration.isotonic import IsotonicRegression
from calibstat.recalibration.mean import MeanReplacement
from calibstat.recalibration.neural import NeuralScaling
from calibstat.recalibration.recalibrator import Recalibrator
from calibstat.recalibration.scaling import MatrixScaling, PlattScaling, VectorScaling
from calibstat.recalibration.temperature import TemperatureScaling

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
