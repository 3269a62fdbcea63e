"""Do measures put models in the same order, and in the right order?

Models of one family differ by one fault of growing size. Every measure ranks them from separate data sets; the
rank correlations of two measures, and of each measure with the order of its population values, are averaged over
the replicates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import generators
from calibstat.papers.parts.families import by_family, in_family
from calibstat.papers.parts.grid import Grid, every_measure
from calibstat.study import Study, plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def families() -> dict[str, dict[str, Any]]:
    """Return models by family."""
    uniform = generators.calibrated()
    return {
        "over-confident": {f"temperature {t:.1f}": generators.temperature(t) for t in _steps(1, 2)},
        "under-confident": {f"temperature {t:.2f}": generators.temperature(t) for t in _steps(1, 0.5)},
        "shifted": {f"shift {d:.2f}": generators.shift(d) for d in _steps(0, 0.5)},
        "S-shaped": {f"S-shape {a:.2f}": generators.distorted(uniform, s_shape=a) for a in _steps(0, 0.9)},
    }


def _steps(first: float, last: float) -> list[float]:
    return [round(float(step), 6) for step in np.linspace(first, last, 11)]


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


study = Study(
    question="Do measures put models in the same order, and in the right order?",
    seed=20267,
    runtime_hours=0.08,
    grids=grids,
    figures=figures,
)
