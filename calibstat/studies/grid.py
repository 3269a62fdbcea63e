"""What the grids of studies are made of: measures, models, and the limit of a promise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calibstat import generators
from calibstat.measures.registry import everyday_measures
from calibstat.study import most_rejections

if TYPE_CHECKING:
    import pandas as pd

Grid = Mapping[str, Any]  # arguments of `calibstat.study.run`
Measures = dict[str, tuple[str, dict[str, Any]]]

FALSE_ALARM = 1e-3  # of a whole study, if all its promises are kept
FIVE = [0.1, 0.3, 0.5, 0.7, 0.9]
BINNED: Measures = {
    "ece": ("ece", {}),
    "ece, quantile": ("ece", {"strategy": "quantile"}),
    "ece, l2": ("ece", {"norm": "l2"}),
}


def every_measure() -> Measures:
    """Return every measure that a study can afford, and variants that are measures of their own."""
    variants: Measures = {"ece, max": ("ece", {"norm": "max"})}
    return BINNED | variants | {name: (name, {}) for name in everyday_measures()}


def models() -> dict[str, Any]:
    """Return calibrated models and models with one fault each, with and without ties."""
    from scipy.stats import beta

    uniform = generators.calibrated()
    return {
        "calibrated": uniform,
        "near 0 and 1": generators.calibrated(beta(0.1, 0.1)),
        "five scores": generators.calibrated(FIVE),
        "temperature 1.5": generators.temperature(1.5),
        "shift 0.3": generators.shift(0.3),
        "S-shape 0.9": uniform.distorted_by(s_shape=0.9),
        "subgroup of 20%, shift 1.5": uniform.distorted_by(shift=1.5, subgroup=0.2),
        "five scores, temp. 1.5": generators.temperature(1.5, FIVE),
    }


def more_often(table: pd.DataFrame, happened: pd.Series, promise: float) -> pd.DataFrame:
    """Return the rows in which something happened in more data sets than a promised probability allows."""
    limit = [most_rejections(promise, int(r), FALSE_ALARM / len(table)) for r in table["replicates"]]
    return table[happened > limit]
