"""Samples that property tests draw from: ties, exact 0 and 1, weights, constant predictions, one row; and fixtures."""

import hypothesis
import numpy as np
import pytest
from command_line import (  # noqa: F401  pytest finds fixtures here
    animals_fixture,
    csv_fixture,
    predictions_fixture,
    rows_fixture,
    zoo_fixture,
)
from hypothesis import strategies as st

import calibstat as cs

hypothesis.settings.register_profile("calibstat", deadline=None, max_examples=60, derandomize=True)
hypothesis.settings.load_profile("calibstat")

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


@pytest.fixture
def closed_figures():
    """Close all figures after a test of plots."""
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def registry():
    """Forget the measures that a test registers."""
    from calibstat.measures.registry import _REGISTRY

    before = dict(_REGISTRY)
    yield
    _REGISTRY.clear()
    _REGISTRY.update(before)


@pytest.fixture
def unbinned(registry):
    """The unbinned calibration error, a user-defined seminorm."""

    @cs.measure("unbinned", bounds=(0, 1))
    def unbinned(value, residual):
        """Return the total mass of the residual measure."""
        return np.abs(residual).sum()

    return "unbinned"
