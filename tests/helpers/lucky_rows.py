"""Rows of a calibrated model whose outcomes are as even as they can be, so that errors are next to nothing."""

import numpy as np


def lucky_rows(n=600, seed=4):
    """Outcomes, and ascending predictions."""
    p = np.sort(np.random.default_rng(seed).random(n))
    return np.diff(np.floor(np.cumsum(p) + 0.5), prepend=0).astype(int), p
