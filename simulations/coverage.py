"""Does every interval cover what it says? How often, where the truth is known?

What is checked here, cell by cell: method="honest" at 95% covers in at least 94% of samples, at and away from
calibration. It is not proven, and elsewhere it can fail: see the page on intervals. The bootstrap intervals promise
nothing; their rates are here to be seen.
"""

from __future__ import annotations

from calibstat import generators
from calibstat.measures.registry import find_measure
from calibstat.study import Study

from .parts.grid import FIVE, Grid, every_measure
from .parts.promises import CONFIDENCE, missed_too_often


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
        "S-shape 0.9": generators.distorted(uniform, s_shape=0.9),
        "subgroup of 20%, shift 1.5": generators.distorted(uniform, shift=1.5, subgroup=0.2),
        "prevalence 30%, was 50%": generators.prevalence(uniform, 0.3),
        "two normal classes": generators.gaussian_mixture(0, -2),
    }
    honest = {label: (name, o) for label, (name, o) in every_measure().items() if find_measure(name, o).has_form}
    shared: Grid = {
        "question": "coverage",
        "generators": few if quick else more,
        "measures": honest,
        "n_resamples": 99 if quick else 299,
        "level": CONFIDENCE,
    }
    bootstrap = {"n": [200] if quick else [200, 1000], "methods": ["honest", "percentile", "basic"]}
    bca = {"n": [200], "methods": ["bca"]}
    return [
        {**shared, **bootstrap, "replicates": 20 if quick else 1000},
        {**shared, **bca, "replicates": 20 if quick else 400},
    ]


study = Study(
    question="Does every interval cover what it says?",
    seed=20262,
    runtime_hours=0.6,
    grids=grids,
    violations=missed_too_often,
)
