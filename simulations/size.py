"""Does the labels-only test keep its level? How often does it reject what is calibrated?

The promise: with resample="labels", P(p <= 0.05) <= 0.05 for every measure, n and pattern of ties. The test by default
is also asked with 5 and 10 rows, of rare outcomes, constant predictions, and predictions of 0 and 1 among ties.
resample="both" promises nothing; its rates are here to be seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from calibstat import generators
from calibstat.study import Study, plot

from .parts.grid import BINNED, DEFAULT, FIVE, Grid, every_test
from .parts.promises import more_often

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LEVEL = 0.05
SEVERAL = BINNED | {name: (name, {}) for name in ("ks", "kuiper", "kernel_ce")}
FOREST = [k / 25 for k in range(26)]


def grids(quick: bool) -> list[Grid]:
    """Return the grid of the promise, a smaller one with many rows, one where rows are drawn as well, and hard ones."""
    from scipy.stats import beta

    uniform = {"uniform": generators.calibrated()}
    few = uniform | {
        "five scores": generators.calibrated(FIVE),
        "near 0 and 1": generators.calibrated(beta(0.1, 0.1)),
    }
    more = few | {
        "two normal classes": generators.gaussian_mixture(0, -2),
        "one score": generators.gaussian_mixture(0, 0),
        "half uniform, half five": generators.groups(
            {"uniform": (0.5, generators.calibrated()), "five": (0.5, generators.calibrated(FIVE))}
        ),
    }
    hard = {
        "prevalence .001": generators.calibrated(beta(1, 999)),
        "constant .001": generators.calibrated([0.001]),
        "constant .3": generators.calibrated([0.3]),
        "two scores": generators.calibrated([0.1, 0.2]),
        "forest of 25, with 0 and 1": generators.calibrated(FOREST),
    }
    effort = {"replicates": 20, "n_resamples": 39} if quick else {"replicates": 2000, "n_resamples": 99}
    size: Grid = {"question": "size", "level": LEVEL, **effort}
    labels = {**size, "measures": every_test(), "methods": ["labels"]}
    both = {**size, "generators": uniform, "measures": SEVERAL, "methods": ["both"]}
    default = {**labels, "measures": {DEFAULT: (DEFAULT, {})}}
    if quick:
        return [
            {**labels, "generators": few, "n": [20]},
            {**both, "n": [20, 100]},
            {**default, "generators": hard, "n": [5]},
        ]
    rest = {name: model for name, model in more.items() if name not in few}
    return [
        {**labels, "generators": more, "n": [20, 100]},
        {**labels, "generators": few, "n": [1000]},
        {**both, "n": [20, 100, 1000]},
        {**default, "generators": more, "n": [5, 10]},
        {**default, "generators": rest, "n": [1000]},
        {**default, "generators": hard, "n": [5, 10, 20, 100, 1000]},
    ]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw each way of resampling, and the test by default, with a place for each model, by itself."""
    default, others = table[table["measure"] == DEFAULT], table[table["measure"] != DEFAULT]
    shown = {str(method): plot(part) for method, part in others.groupby("method")}
    return {**shown, DEFAULT: plot(default.assign(measure=default["generator"], generator=f"test by {DEFAULT}"))}


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the labels-only test that reject more often than their level allows."""
    promised = table[table["method"] == "labels"]
    return more_often(promised, promised["rejections"], LEVEL)


study = Study(
    question="Does the labels-only test keep its level?",
    seed=20261,
    runtime_hours=0.4,
    grids=grids,
    figures=figures,
    violations=violations,
)
