"""Proper scores: the known ones, user-defined ones, and their losses by the textbook."""

import numpy as np
from hypothesis import strategies as st

from calibstat.measures.bregman import BRIER, LOG_LOSS, SPHERICAL, Bregman

SQUARE = Bregman("own square", lambda x: x**2, lambda x: 2 * x)
NEAREST = 2.0**-24
STEEP = Bregman(  # an own entropy, with a slope that is infinite at 0 and 1
    "own entropy",
    lambda x: (
        np.where(x > 0, x * np.log(np.maximum(x, 1e-300)), 0)
        + np.where(x < 1, (1 - x) * np.log(np.maximum(1 - x, 1e-300)), 0)
    ),
    lambda x: np.log(x) - np.log(1 - x),
)
CUBE = Bregman("own cube", lambda x: x**3, lambda x: 3 * x**2)
ALL = [BRIER, LOG_LOSS, SPHERICAL, CUBE]
PROBABILITY = st.floats(0, 1)


def losses(score, v):
    """The loss of a prediction if the outcome is 0 and if it is 1, from the textbook."""
    with np.errstate(divide="ignore"):
        return {
            "brier": (v**2, (1 - v) ** 2),
            "log_loss": (-np.log1p(-v), -np.log(v)),
            "spherical": (1 - (1 - v) / np.hypot(v, 1 - v), 1 - v / np.hypot(v, 1 - v)),
            "own cube": (2 * v**3, 1 - v**3 - 3 * v**2 * (1 - v)),
        }[score.name]
