"""Measures and models that several studies ask about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calibstat import MEASURES, generators
from calibstat.measures.kinds.registry import everyday_measures

Grid = Mapping[str, Any]  # arguments of `calibstat.study.run`
Measures = dict[str, tuple[str, dict[str, Any]]]

DEFAULT = "omnibus"
FIVE = [0.1, 0.3, 0.5, 0.7, 0.9]
BINNED: Measures = {
    "ece": ("ece", {}),
    "ece, quantile": ("ece", {"strategy": "quantile"}),
    "ece, l2": ("ece", {"norm": "l2"}),
}


def every_measure() -> Measures:
    """Return every measure that a study can afford, and variants that count as separate measures."""
    variants: Measures = {"ece, max": ("ece", {"norm": "max"})}
    return BINNED | variants | {name: (name, {}) for name in everyday_measures()}


def every_test() -> Measures:
    """Return the test by each of these measures, and that by default."""
    return every_measure() | {DEFAULT: (DEFAULT, {})}


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
        "S-shape 0.9": generators.distorted(uniform, s_shape=0.9),
        "subgroup of 20%, shift 1.5": generators.distorted(uniform, shift=1.5, subgroup=0.2),
        "five scores, temp. 1.5": generators.temperature(1.5, FIVE),
    }


def binned(measures: Measures, bins: Sequence[int]) -> Measures:
    """Return those of the measures that have bins, once for each number of bins."""
    return {
        f"{label}, {b} bins": (name, {**options, "n_bins": b})
        for label, (name, options) in measures.items()
        if "n_bins" in MEASURES[name].defaults()
        for b in bins
    }
