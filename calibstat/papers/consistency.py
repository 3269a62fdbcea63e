"""At which rate does each measure converge?

The error of a smooth functional vanishes like n^(-1/2). Where a model is calibrated, a measure that squares the error
converges faster, and one that fits a curve (`mcb`) at the rate of its curve.

Each measure is held against its own value in the population. As an estimate of the error without bins, `ece` with a
fixed number of bins is inconsistent, with a negative bias, if errors cancel in a bin: theorem 2 of Vaicenavicius et al.
(2019). So are 5 and 15 bins here. 50 bins have an edge where the error changes its sign, and nothing cancels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from calibstat import generators
from calibstat.papers.parts.grid import Grid, Measures, binned, every_measure, models
from calibstat.study import Study, plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SAMPLE_SIZES = [200, 1000, 5000, 25_000]
UNDER = {"under-confident, temperature 0.5": generators.temperature(0.5)}
ECE_BY_BINS = {f"{bins} bins": ("ece", {"n_bins": bins}) for bins in (5, 15, 50)}
WITHOUT_BINS = ("ece", {"n_bins": None})


def with_truth(measures: Measures) -> Measures:
    """Return the measures whose population value is known, so that estimates have an error."""

    def known(name: str, options: dict[str, object]) -> bool:
        try:
            generators.calibrated([0.5]).truth(name, **options)
        except NotImplementedError:
            return False
        return True

    return {label: (name, options) for label, (name, options) in measures.items() if known(name, options)}


def grids(quick: bool) -> list[Grid]:
    """Return a grid of all measures, `ece` also with few and with many bins, and one of the error without bins."""
    chosen = models()
    if quick:
        chosen = {label: chosen[label] for label in ("calibrated", "temperature 1.5")}
    shared: Grid = {
        "question": "consistency",
        "n": [100, 400, 1600] if quick else SAMPLE_SIZES,
        "methods": ["rmse", "sd", "bias"],
        "replicates": 30 if quick else 1000,
    }
    every = with_truth(every_measure() | binned({"ece": ("ece", {})}, [5, 50]))
    return [
        {**shared, "generators": chosen, "measures": every},
        {**shared, "generators": UNDER, "measures": ECE_BY_BINS, "target": WITHOUT_BINS},
    ]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the orders of all measures, and the errors over n of those that are held against the error without bins."""
    held = table["target"].notna()
    return {"": plot(table[~held]), "target": plot(table[held])}


study = Study(
    question="At which rate does each measure converge?",
    seed=20265,
    runtime_hours=0.03,
    grids=grids,
    figures=figures,
)
