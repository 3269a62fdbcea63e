"""The profile of property tests, and fixtures of several test files."""

import gc
import os
import re
from itertools import compress

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one worker a core: BLAS threads beside them only wait on each other
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # processes that tests start load what the first of them compiled

import durations
import hypothesis
import numpy as np
import other_seeds
import pytest
from command_line import (  # noqa: F401  pytest finds fixtures here
    animals_fixture,
    csv_fixture,
    predictions_fixture,
    quick_draws_fixture,
    rows_fixture,
    zoo_fixture,
)

import calibstat as cs

LINES = durations.read()
if other_seeds.SEED:
    other_seeds.use_other_seeds()
pytest.register_assert_rewrite("measure_claims")  # its checks fail inside tests, with what they compared

hypothesis.settings.register_profile("calibstat", deadline=None, max_examples=25, derandomize=True)
hypothesis.settings.register_profile("slow", hypothesis.settings.get_profile("calibstat"), max_examples=200)

gc.disable()  # what is collected stays: to look for garbage meanwhile takes a third of the time


def pytest_collection_finish():
    """Look for garbage among what tests make, and not among the tests."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # in place of 700, 10, 10: trees of source files and figures are many objects
    gc.enable()


def is_slow(config):
    """Whether the slow tests were asked for."""
    return config.getoption("markexpr") == "slow"


def pytest_configure(config):
    hypothesis.settings.load_profile("slow" if is_slow(config) else "calibstat")


def pytest_itemcollected(item):
    """Run property tests among the slow ones too, with more examples."""
    if is_slow(item.config) and hypothesis.is_hypothesis_test(getattr(item, "obj", None)):
        item.add_marker("slow")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark thorough tests; leave out what needs more than the package, and under another seed all but statistics."""
    config.stash[durations.COLLECTED] = [item.nodeid for item in items]
    measured = [item for item in items if not any(map(item.get_closest_marker, durations.APART))]
    thorough = durations.thorough([item.nodeid for item in measured], LINES)
    for item in measured:
        if item.nodeid in thorough:
            item.add_marker("thorough")
    not_asked = {"site", "spark"} - set(re.findall(r"\w+", config.getoption("markexpr")))

    def stays(item):
        if other_seeds.SEED and not (hasattr(item, "function") and other_seeds.is_statistical(item.function)):
            return False
        return not any(map(item.get_closest_marker, not_asked))

    kept = list(map(stays, items))
    config.hook.pytest_deselected(items=[item for item, here in zip(items, kept, strict=True) if not here])
    items[:] = compress(items, kept)


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


def pytest_ignore_collect(collection_path, config):
    """Do not read files and folders of which the plain run leaves out every test."""
    if config.getoption("markexpr") == durations.PLAIN and durations.is_left_out(collection_path, LINES):
        return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for examples in docstrings of the package, and not of tests, which have none."""
    return [found for found in (yield) if type(found) is pytest.Module]
