"""Hostile calls of every public function: an answer or an error that says what was expected, and nothing else."""

import hostile_calls
import numpy as np
import pytest
from hostile_calls import FUNCTIONS, OTHERS, SLOW, calls, other_calls, problems
from hypothesis import given, settings
from public_functions import public_functions

CASES = 600  # of a function, fewer of slow ones
ASKED_ELSEWHERE = {  # functions that this file does not call, and the test of wrong arguments to them
    "cross_validate": "tests/inference/cross_validation/test_cross_validate.py",
    "grouping_loss": "tests/inference/decomposing/test_grouping_loss.py",
    "measure": "tests/measures/kinds/test_registry.py",
    "plot": "tests/plots/test_plot.py",
    "predict": "tests/data/test_models.py",
}


def hold(name, strategy, cases):
    """Draw calls, and stop at the first that has a problem; hypothesis prints the call."""

    @settings(max_examples=cases)
    @given(strategy)
    def holds(call):
        assert problems(call) == []

    holds()


def test_every_function_is_called():
    functions = {*public_functions()}
    assert functions == {*FUNCTIONS, *OTHERS} & functions | {*ASKED_ELSEWHERE}


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_rows(name):
    hold(name, calls(name), int(CASES * SLOW.get(name, 1)))


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_another_function(name):
    hold(name, other_calls(name), int(CASES * SLOW.get(name, 1)))


@pytest.mark.parametrize("name", ["estimate", "calibration_test", "net_benefit"])
def test_a_few_calls_in_the_fast_suite(name):
    hold(name, calls(name), 25)


FAULTS = {
    "an error of another kind": lambda y, p: {}[0],
    "an error that does not say what was expected": lambda y, p: float("text"),
    "a warning": lambda y, p: np.log(np.float64(0.0)),
    "a changed argument": lambda y, p: y.__setitem__(0, 7.0),
    "a missing number without a reason": lambda y, p: "AUC   nan",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault, monkeypatch):
    monkeypatch.setitem(hostile_calls.OTHERS, "estimate", (FAULTS[fault], [], {}))
    assert len(problems(("estimate", (np.array([0.0, 1.0]), np.array([0.2, 0.4])), {}))) == 1


def test_a_missing_number_with_a_reason_is_none():
    assert hostile_calls.NO_REASON.search("slope    nan")
    assert not hostile_calls.NO_REASON.search("slope    nan  needs predictions that differ")
