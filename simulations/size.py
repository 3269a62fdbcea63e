"""Does the labels-only test keep its level? How often does it reject what is calibrated?

The promise: with resample="labels", P(p <= 0.05) <= 0.05 for every measure, n and pattern of ties. The test by default
is also asked with 5 and 10 rows, of rare outcomes, constant predictions, and predictions of 0 and 1 among ties.
resample="both" promises nothing; its rates are here to be seen. Results ask whether predictions were fitted to these
outcomes if residuals are smaller than chance: of calibrated predictions in at most 1% of data sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import Sample, calibration_test, generators
from calibstat.generators.generator import Generator
from calibstat.inference import smaller_than_chance
from calibstat.papers.parts.grid import BINNED, DEFAULT, FIVE, Grid, every_test
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study, plot
from calibstat.study.engine import Cells, compute
from calibstat.study.question import rate_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20261
LEVEL = 0.05
TOO_SMALL = "residuals smaller than chance"
SEVERAL = BINNED | {name: (name, {}) for name in ("ks", "kuiper", "kernel_ce")}
FOREST = [k / 25 for k in range(26)]


@dataclass(frozen=True)
class Asks:
    """Asks whether a result says that residuals are smaller than chance: 1 or 0 for each measure."""

    measures: tuple[str, ...]
    n_resamples: int

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the answers."""
        assert isinstance(data, Sample)
        found = (calibration_test(data, measure=name, n_resamples=self.n_resamples, rng=rng) for name in self.measures)
        return [float(smaller_than_chance.NOTE in test.note) for test in found]


def few_models() -> dict[str, Generator]:
    """Return models of which every measure is asked."""
    from scipy.stats import beta

    return {
        "uniform": generators.calibrated(),
        "five scores": generators.calibrated(FIVE),
        "near 0 and 1": generators.calibrated(beta(0.1, 0.1)),
    }


def hard_models() -> dict[str, Generator]:
    """Return models of rare outcomes, of few scores, and of predictions of 0 and 1."""
    from scipy.stats import beta

    return {
        "prevalence .001": generators.calibrated(beta(1, 999)),
        "constant .001": generators.calibrated([0.001]),
        "constant .3": generators.calibrated([0.3]),
        "two scores": generators.calibrated([0.1, 0.2]),
        "forest of 25, with 0 and 1": generators.calibrated(FOREST),
    }


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Count the data sets whose result says that residuals are smaller than chance."""
    import pandas as pd

    models = few_models() if quick else few_models() | hard_models()
    measures, replicates, n_resamples = ((DEFAULT,), 20, 999) if quick else ((DEFAULT, "ks", "ece"), 2000, 999)
    groups = [(label, n) for label in models for n in ((20,) if quick else (20, 100, 1000))]
    cells = Cells(groups, models, replicates, SEED, Asks(measures, n_resamples), list(measures))
    said = compute(cells, None, n_jobs, TOO_SMALL).reshape(replicates, len(groups), len(measures)) == 1
    rows = [
        {
            "question": TOO_SMALL,
            "generator": label,
            "n": n,
            "measure": measure,
            "method": "labels",
            "level": smaller_than_chance.NOTE_LEVEL,
            "replicates": replicates,
            **rate_of("rejections", said[:, g, m]),
        }
        for g, (label, n) in enumerate(groups)
        for m, measure in enumerate(measures)
    ]
    return pd.DataFrame(rows)


def grids(quick: bool) -> list[Grid]:
    """Return the grid of the promise, a smaller one with many rows, one where rows are drawn as well, and hard ones."""
    uniform = {"uniform": generators.calibrated()}
    few = few_models()
    more = few | {
        "two normal classes": generators.gaussian_mixture(0, -2),
        "one score": generators.gaussian_mixture(0, 0),
        "half uniform, half five": generators.groups(
            {"uniform": (0.5, generators.calibrated()), "five": (0.5, generators.calibrated(FIVE))}
        ),
    }
    hard = hard_models()
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
    table = table[table["question"] == "size"]
    default, others = table[table["measure"] == DEFAULT], table[table["measure"] != DEFAULT]
    shown = {str(method): plot(part) for method, part in others.groupby("method")}
    return {**shown, DEFAULT: plot(default.assign(measure=default["generator"], generator=f"test by {DEFAULT}"))}


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the labels-only test that reject, or speak of small residuals, more often than promised."""
    import pandas as pd

    promised = table[table["method"] == "labels"]
    parts = [promised.iloc[:0]]
    for level, rows in promised.groupby("level"):
        parts.append(more_often(rows, rows["rejections"], float(level), len(promised)))  # type: ignore[arg-type]
    return pd.concat(parts)


study = Study(
    question="Does the labels-only test keep its level?",
    seed=SEED,
    runtime_hours=0.5,
    grids=grids,
    table=table,
    figures=figures,
    violations=violations,
)
