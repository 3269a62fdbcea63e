"""Small samples of K classes, given and drawn, and measures that are asked class by class."""

import numpy as np
from hypothesis import strategies as st

PROB = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.0, 1.0, 0.0], [0.25, 0.5, 0.25]])
LABEL = np.array([2, 0, 1, 1])


@st.composite
def vectors(draw, max_rows=12, max_classes=9):
    """Labels and predicted vectors of quarters, eighths and anything else, with ties, 0, 1 and one row."""
    n, classes = draw(st.integers(1, max_rows)), draw(st.integers(2, max_classes))
    part = st.sampled_from([0, 0, 1, 1, 2, 4]) | st.floats(0, 1)
    prob = np.array([[draw(part) for _ in range(classes)] for _ in range(n)], np.float64)
    empty = prob.sum(axis=1) < 1e-3
    prob[empty] = np.eye(classes)[draw(st.integers(0, classes - 1))]
    prob /= prob.sum(axis=1, keepdims=True)
    label = np.array([draw(st.integers(0, classes - 1)) for _ in range(n)])
    return label, prob


def example(n, classes=3, seed=0, temperature=1.0, dtype=np.float64):
    """Classes drawn from vectors that are then made sharper: calibrated at temperature 1."""
    generator = np.random.default_rng(seed)
    prob = generator.dirichlet(np.full(classes, 0.8), n)
    label = (prob.cumsum(axis=1) < generator.random((n, 1))).sum(axis=1).clip(max=classes - 1)
    prob = prob**temperature
    return label, (prob / prob.sum(axis=1, keepdims=True)).astype(dtype)


OF_EVENTS = [
    ("ece", {}),
    ("ece", {"strategy": "quantile", "n_bins": 4}),
    ("ece", {"norm": "max"}),
    ("ece", {"n_bins": "cube_root", "norm": "l2"}),
    ("ece", {"n_bins": 5000}),
    ("ece_width", {}),
    ("ece_debiased", {"n_bins": 3}),
    ("ks", {}),
    ("kernel_ce", {}),
    ("smooth_ce", {}),
    ("brier", {}),
]
