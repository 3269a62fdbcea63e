"""The profile of property tests, and fixtures of several test files."""

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

import calibstat as cs

pytest.register_assert_rewrite("measure_claims")  # its checks fail inside tests, with what they compared

hypothesis.settings.register_profile("calibstat", deadline=None, max_examples=60, derandomize=True)
hypothesis.settings.load_profile("calibstat")


@pytest.fixture
def closed_figures():
    """Close all figures after a test of plots."""
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def registry():
    """Forget the measures that a test registers."""
    from calibstat.measures.kinds.registry import _REGISTRY

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
