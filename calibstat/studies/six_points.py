"""Do the measures see errors that only whole vectors have? Table 1 and figure 2 of Vaicenavicius et al. (2019).

Example 1 of arXiv:1902.06977 has six equally likely predictions for three classes. The most likely class happens as
often as it is said to, and so does every single class, but each prediction is off by 0.1 in total variation. The
promise is that of the study of coverage: honest intervals at 95% cover in at least 94% of samples. The second picture
shows one sample through three lenses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calibstat import generators
from calibstat.inference.reliability import reliability
from calibstat.plots import plot as plot_result
from calibstat.studies.coverage import LEVEL, broken
from calibstat.studies.grid import Grid, Measures
from calibstat.studies.study import Study
from calibstat.study import plot
from calibstat.study.pictures.estimates import panels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20280
ROWS = 100_000
DEVIATION = 0.1  # of each point, in total variation
MEASURES: Measures = {
    "top label": ("ece", {"lens": "top_label"}),
    "class-wise, mean": ("ece", {"lens": "class_wise", "reduce": "mean"}),
    "class-wise, max": ("ece", {"lens": "class_wise", "reduce": "max"}),
    "canonical, 3 bins": ("canonical_ce", {"strategy": "uniform", "n_bins": 3}),  # 0.1 and 0.3 share one
    "canonical, 7 bins": ("canonical_ce", {"strategy": "uniform", "n_bins": 7}),
    "canonical, tree": ("canonical_ce", {"strategy": "tree"}),
}


class PartedPoints(generators.six_points):
    """The six points, whose error is also known over a tree that parts them all."""

    def truth(self, measure: str = "ece", **options: Any) -> Any:
        """Return the measure of the population; over a tree, that of each point by itself."""
        tree = measure == "canonical_ce" and options.get("strategy") == "tree"
        return DEVIATION if tree else super().truth(measure, **options)


def grids(quick: bool) -> list[Grid]:
    """Return one grid of numbers of rows."""
    return [
        {
            "question": "coverage",
            "generators": {"six points": PartedPoints()},
            "n": [1000, 10_000] if quick else [1000, 10_000, ROWS],
            "measures": MEASURES,
            "n_resamples": 99 if quick else 199,
            "level": LEVEL,
            "replicates": 10 if quick else 400,
        }
    ]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the table, and one sample as each lens sees it."""
    return {"": draw_intervals(table), "diagrams": draw_diagrams()}


def draw_intervals(table: pd.DataFrame) -> Figure:
    """Draw."""
    return plot(table)


def draw_diagrams() -> Figure:
    """Draw."""
    figure, grid = panels(1, 1, 4, 4)
    return figure


STUDY = Study(
    name="six_points",
    asks="Do the measures see errors that only whole vectors have?",
    seed=SEED,
    hours=0.1,
    grids=grids,
    figures=figures,
    broken=broken,
)
