"""A study of few rows and two plots."""

from pathlib import Path

import matplotlib.pyplot as plt

import calibstat as cs
from calibstat.study import Study

GRID = {"question": "power", "generators": {"hidden": cs.generators.hidden()}, "n": 20, "measures": ["ks"]}
TINY = Study(
    question="Is it small?",
    seed=1,
    grids=lambda quick: [{**GRID, "replicates": 5 if quick else 10}, {**GRID, "n": 30, "replicates": 3}],
    figures=lambda table: {"": plt.figure(), "more": plt.figure()},
    file=Path("tiny.py"),
)
