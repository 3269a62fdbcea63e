"""The options of all measures, as editors and type checkers know them, are those that measures have."""

import calibstat as cs
from calibstat.measures.measure_options import MeasureOptions


def not_held(measures, known):
    """Options that only one of both sides has."""
    return {name for measure in measures for name in measure.defaults()} ^ set(known)


def test_options_are_those_of_all_measures():
    own = [entry for entry in cs.MEASURES.values() if entry.__module__.startswith("calibstat.")]
    assert len(own) >= 25
    assert not_held(own, MeasureOptions.__annotations__) == set()


def test_an_option_of_one_side_is_found():
    assert not_held([cs.MEASURES["brier"]], ["spread"]) == {"spread"}
    assert not_held([cs.MEASURES["log_loss"]], []) == {"clip"}
