"""What intervals and comparisons say, in words."""

from dataclasses import replace

import pytest

import calibstat as cs
from calibstat.reporting.sentences import ends, say_both, say_interval


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"low": 0.1, "high": 0.2}, "is between 0.1000 and 0.2000, with 95 % confidence (honest method)."),
        ({"low": 0.0, "high": 0.2}, "is at most 0.2000, and may be 0,"),
        ({"low": 0.1, "high": float("inf"), "why_infinite": "row 3"}, "at least 0.1000, and may be infinite, because"),
        ({"estimate": float("inf"), "why_infinite": "row 3"}, "infinite on these rows and in the population"),
        (
            {"few_events": "outcome 1 was observed in 2 of 60 rows"},
            "Outcome 1 was observed in 2 of 60 rows; so few leave",
        ),
    ],
)
def test_each_case(changed, words):
    found = cs.confidence_interval([0, 1] * 30, [0.3, 0.6] * 30, n_resamples=19, rng=1)
    assert words in say_interval("Error", replace(found, **changed))


@pytest.mark.parametrize(
    ("pvalue", "low", "words"),
    [
        (0.05, 0.0, "does not show: by this measure it may be 0, and is at most 0.2000."),
        (0.051, 0.01, "The test does not find what the expected calibration error shows: it looks for errors of any"),
        (0.05, 0.01, ""),
        (0.051, 0.0, ""),
    ],
)
def test_a_test_and_an_interval_that_seem_to_differ(pvalue, low, words):
    found = cs.confidence_interval([0, 1] * 30, [0.3, 0.6] * 30, n_resamples=19, rng=1)
    said = say_both(pvalue, replace(found, low=low, high=0.2))
    assert words in said
    assert bool(said) == bool(words)


def test_ends():
    assert ends(0.1, 0.25) == "0.1000 to 0.2500"
    assert ends(float("nan"), float("nan")) == "–"
