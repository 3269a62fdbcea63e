"""Commands in tests with few draws, where nothing but speed depends on them."""

import pytest
from quick_report import quick


@pytest.fixture
def quick_draws():
    with quick():
        yield
