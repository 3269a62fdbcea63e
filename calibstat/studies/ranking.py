"""Do measures put models in the same order, and in the right one?

Models of one family differ by one fault of growing size. Every measure ranks them from data sets of their own; the
rank correlations of two measures, and of each measure with the order of its own population values, are averaged over
the replicates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import generators
from calibstat.studies.grid import Grid, Measures, every_measure
from calibstat.studies.study import Study
from calibstat.study import plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

IN = " | "  # between measure and family, because rows of question "ranking" do not name the family


def families() -> dict[str, dict[str, Any]]:
    """Return models by family."""
    uniform = generators.calibrated()
    return {
        "over-confident": {f"temperature {t:.1f}": generators.temperature(t) for t in _steps(1, 2)},
        "under-confident": {f"temperature {t:.2f}": generators.temperature(t) for t in _steps(1, 0.5)},
        "shifted": {f"shift {d:.2f}": generators.shift(d) for d in _steps(0, 0.5)},
        "S-shaped": {f"S-shape {a:.2f}": uniform.distorted_by(s_shape=a) for a in _steps(0, 0.9)},
    }


def _steps(first: float, last: float) -> list[float]:
    return [round(float(step), 6) for step in np.linspace(first, last, 11)]


def in_family(measures: Measures, family: str) -> Measures:
    """Label the measures with the family that they rank."""
    return {f"{label}{IN}{family}": measure for label, measure in measures.items()}


def by_family(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables of the families, with the labels as they were."""
    parts = table["measure"].str.split(IN, regex=False, expand=True)
    plain = table.assign(measure=parts[0], against=table["against"].str.split(IN, regex=False).str[0])
    return {str(family): plain[parts[1] == family] for family in parts[1].unique()}


def grids(quick: bool) -> list[Grid]:
    """Return one grid for each family."""
    return [
        {
            "question": "ranking",
            "generators": dict(list(models.items())[::3]) if quick else models,
            "n": [300, 3000] if quick else [300, 1000, 10_000],
            "measures": in_family(every_measure(), family),
            "methods": ["spearman", "kendall"],
            "replicates": 20 if quick else 1000,
        }
        for family, models in families().items()
    ]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw each family."""
    return {family: plot(part) for family, part in by_family(table).items()}


STUDY = Study(
    name="ranking",
    asks="Do measures put models in the same order, and in the right one?",
    seed=20267,
    hours=0.08,
    grids=grids,
    figures=figures,
)
