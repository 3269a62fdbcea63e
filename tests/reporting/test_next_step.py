"""The advice of a report: what it says follows from the verdict, and stands on the page."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from calibstat.inference.size_of_error import SizeOfError
from calibstat.reporting.next_step import say_next
from calibstat.reporting.pages import as_markdown


def recalibrated(least):
    """Recalibration whose gain in the Brier score is at least this."""
    return SimpleNamespace(recalibrator="PlattScaling()", brier=SimpleNamespace(low=np.array([least])))


@pytest.mark.parametrize(
    ("pvalue", "high", "maps", "groups", "begins"),
    [
        (0.3, 0.041, None, False, "If an error of 0.0410 would matter to you, collect more rows; else use"),
        (0.3, np.inf, recalibrated(0.1), False, "If an error of any size would matter to you, collect more rows"),
        (0.3, 0.041, None, True, "Fit the model again with the features of the groups"),  # errors may cancel
        (0.01, 0.041, None, False, "Recalibrate the predictions on other rows, and check the result on new ones"),
        (0.01, 0.041, recalibrated(0.0123), False, "Recalibrate by PlattScaling(), which is shown to lower the Brier"),
        (
            0.01,
            0.041,
            recalibrated(-0.001),
            False,
            "Fit the model again on other rows, and check the result on new ones",
        ),
        (0.01, 0.041, recalibrated(0.0123), True, "Fit the model again with the features of the groups"),
    ],
)
def test_the_advice(pvalue, high, maps, groups, begins):
    test = SimpleNamespace(pvalue=pvalue, size=None, side=None)
    said = say_next(test, SimpleNamespace(high=high), maps, groups)
    assert said.startswith(begins)
    assert said.endswith(".")
    assert said.count(". ") == 0  # one sentence


def test_an_error_that_is_small_is_not_recalibrated_again():
    small = SizeOfError(0.008, 0.004, 0.012, 0.95, 0.5)
    test = SimpleNamespace(pvalue=0.001, size=small, next_step="Use them.", side=None)
    error = SimpleNamespace(high=0.012)
    assert say_next(test, error, None, False) == say_next(test, error, recalibrated(0.1), False) == "Use them."
    assert say_next(test, error, None, True).startswith("Fit the model again with the features of the groups")
    advice = {"next_step": "Recalibrate or use more rows.", "side": None}
    large = SimpleNamespace(pvalue=0.001, size=replace(small, high=0.05), **advice)
    assert say_next(large, error, None, False) == large.next_step  # what was done already is not known
    assert say_next(large, error, recalibrated(0.1), False).startswith("Recalibrate by PlattScaling()")


def test_the_page_says_when_of_which_file_and_what_to_do(one):
    found = replace(one, date="2026-02-03", source="scores.csv")
    lines = as_markdown(found).splitlines()
    about = next(line for line in lines if "Made on" in line)
    assert about.startswith("scores.csv: ")
    assert "Made on 2026-02-03 by calibstat" in about
    model = found.models["model"]
    assert model.next_step in lines
    assert model.next_step == say_next(model.test, model.ece, None, False)
    assert "scores.csv" not in as_markdown(one)
