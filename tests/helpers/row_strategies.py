"""Rows that property tests draw: ties, exact 0 and 1, weights, constant predictions, one row."""

import numpy as np
from hypothesis import strategies as st

PREDICTION = st.one_of(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.floats(0, 1))


@st.composite
def rows(draw, max_size=30):
    """Outcomes and predictions."""
    n = draw(st.integers(1, max_size))
    p = draw(st.one_of(st.lists(PREDICTION, min_size=n, max_size=n), PREDICTION.map(lambda v: [v] * n)))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return np.array(y), np.array(p)


@st.composite
def weighted_rows(draw):
    """Outcomes, predictions and whole-number weights, not all 0."""
    y, p = draw(rows())
    weight = draw(st.lists(st.integers(0, 5), min_size=y.size, max_size=y.size))
    weight[0] += not any(weight)
    return y, p, np.array(weight)
