"""A report that several test files read."""

import pytest
from quick_report import quick_report

import calibstat as cs


@pytest.fixture(scope="session")
def one():
    """The report of one model, of 150 rows."""
    return quick_report(*cs.generators.temperature(2).sample(150, rng=1))
