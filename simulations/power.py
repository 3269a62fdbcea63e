"""Which test finds which error? How often does each reject predictions that are not calibrated?

The errors are mild, so that few rates are 0 or 1. Nothing is promised: no test is best for every error.
"""

from __future__ import annotations

from calibstat import generators
from calibstat.study import Study

from .parts.grid import FIVE, Grid, every_measure


def grids(quick: bool) -> list[Grid]:
    """Return every test against every error."""
    from scipy.stats import beta

    uniform = generators.calibrated()
    errors = {
        "temperature 1.2": generators.temperature(1.2),
        "temperature 1.5": generators.temperature(1.5),
        "temperature 0.7": generators.temperature(0.7),
        "shift 0.3": generators.shift(0.3),
        "S-shape 0.9": generators.distorted(uniform, s_shape=0.9),
        "subgroup of 20%, shift 1.5": generators.distorted(uniform, shift=1.5, subgroup=0.2),
        "two groups, shifts ±0.7": generators.groups(
            {"too low": (0.5, generators.shift(-0.7)), "too high": (0.5, generators.shift(0.7))}
        ),
        "prevalence 45%, was 50%": generators.prevalence(uniform, 0.45),
        "five scores, temp. 1.5": generators.temperature(1.5, FIVE),
        "rare outcomes, temp. 1.2": generators.temperature(1.2, beta(1, 9)),
        "two normal classes, temp. 0.75": generators.gaussian_mixture(0, -1.5),
        "hidden in one bin": generators.hidden(),
    }
    effort = {"replicates": 10, "n_resamples": 39} if quick else {"replicates": 400, "n_resamples": 99}
    return [
        {
            "question": "power",
            "generators": errors,
            "n": [100] if quick else [100, 1000],
            "measures": every_measure(),
            "methods": ["labels"],
            "level": 0.05,
            **effort,
        }
    ]


study = Study(question="Which test finds which error?", seed=20263, runtime_hours=0.1, grids=grids)
