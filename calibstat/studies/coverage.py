"""Does every interval cover what it says? How often, where the truth is known?

What is checked here, cell by cell: method="honest" at 95% covers in at least 94% of samples, at and away from
calibration. It is not proven, and elsewhere it can fail: see the page on intervals. The bootstrap intervals promise
nothing; their rates are here to be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibstat import generators
from calibstat.measures.registry import find_measure
from calibstat.studies.grid import FIVE, Grid, every_measure, more_often
from calibstat.studies.study import Study

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95
PROMISE = 0.94


def grids(quick: bool) -> list[Grid]:
    """Return the grid of three methods, and one of few rows for BCa, which evaluates a measure once for each row.

    Predictions stay away from 0 and 1, where a single row can decide a mean of logarithms: no interval for the log loss
    can then be valid.
    """
    uniform = generators.calibrated()
    few = {
        "calibrated": uniform,
        "temperature 1.5": generators.temperature(1.5),
        "five scores": generators.calibrated(FIVE),
    }
    more = {
        "calibrated": uniform,
        **{f"temperature {beta}": generators.temperature(beta) for beta in (1.05, 1.2, 1.5, 2.0, 0.7)},
        **{f"shift {delta}": generators.shift(delta) for delta in (0.1, 0.3)},
        "five scores": generators.calibrated(FIVE),
        "five scores, temp. 1.5": generators.temperature(1.5, FIVE),
        "S-shape 0.9": uniform.distorted_by(s_shape=0.9),
        "subgroup of 20%, shift 1.5": uniform.distorted_by(shift=1.5, subgroup=0.2),
        "prevalence 30%, was 50%": uniform.with_prevalence(0.3),
        "two normal classes": generators.gaussian_mixture(0, -2),
    }
    honest = {
        label: (name, o) for label, (name, o) in every_measure().items() if find_measure(name, o).honest is not None
    }
    shared: Grid = {
        "question": "coverage",
        "generators": few if quick else more,
        "measures": honest,
        "n_resamples": 99 if quick else 299,
        "level": LEVEL,
    }
    bootstrap = {"n": [200] if quick else [200, 1000], "methods": ["honest", "percentile", "basic"]}
    bca = {"n": [200], "methods": ["bca"]}
    return [
        {**shared, **bootstrap, "replicates": 20 if quick else 1000},
        {**shared, **bca, "replicates": 20 if quick else 400},
    ]


def broken(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of honest intervals that miss the truth more often than the promise allows."""
    promised = table[table["method"] == "honest"]
    return more_often(promised, promised["replicates"] - promised["covered"], 1 - PROMISE)


STUDY = Study(
    name="coverage",
    asks="Does every interval cover what it says?",
    seed=20262,
    hours=0.6,
    grids=grids,
    broken=broken,
)
