"""Strategies for predictions of several classes."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def vectors(draw, max_size=25):
    """Predictions in eighths and labels: ties, exact 0 and 1, absent classes, one row."""
    n, n_classes = draw(st.integers(1, max_size)), draw(st.integers(2, 4))
    cuts = st.lists(st.integers(0, 8), min_size=n_classes - 1, max_size=n_classes - 1)
    prob = [np.diff(sorted(draw(cuts)), prepend=0, append=8) / 8 for _ in range(n)]
    label = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    return np.array(prob), np.array(label)
