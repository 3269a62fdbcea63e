"""Do measures put models in the same order, and in the right order?

Models of one family differ by one fault of growing size, and are judged on the same rows, as recalibrations of one
model are. The rank correlations of two measures, and of each measure with the order of its population values, are
averaged over the data sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from calibstat import generators
from calibstat.papers.parts.grid import Grid, every_measure
from calibstat.study import Study, plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def families(every: int = 1) -> dict[str, generators.models]:
    """Return models on the same rows by family, or every third of them and the like."""
    faults = {
        "over-confident": ("temperature", 1.0, 2.0),
        "under-confident": ("temperature", 1.0, 0.5),
        "shifted": ("shift", 0.0, 0.5),
        "S-shaped": ("s_shape", 0.0, 0.9),
    }
    return {
        family: generators.models(
            generators.calibrated(),
            {f"{fault} {size:g}": {fault: size} for size in np.linspace(first, last, 11).round(6).tolist()[::every]},
        )
        for family, (fault, first, last) in faults.items()
    }


def grids(quick: bool) -> list[Grid]:
    """Return one grid of all families."""
    return [
        {
            "question": "ranking",
            "generators": families(3 if quick else 1),
            "n": [300, 3000] if quick else [300, 1000, 10_000],
            "measures": every_measure(),
            "methods": ["spearman", "kendall"],
            "replicates": 20 if quick else 1000,
        }
    ]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw each family."""
    return {str(family): plot(part) for family, part in table.groupby("generator", sort=False)}


study = Study(
    question="Do measures put models in the same order, and in the right order?",
    seed=20267,
    runtime_hours=0.09,
    grids=grids,
    figures=figures,
)
