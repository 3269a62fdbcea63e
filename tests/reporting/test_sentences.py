"""What intervals and comparisons say, in words."""

from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs
from calibstat.reporting.sentences import ends, say_both, say_comparison, say_interval


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
        (0.05, 0.0, "found some; the interval is for one measure, and by this measure the error may be 0"),
        (0.051, 0.01, "by this one measure the error is above 0; the test"),
        (0.05, 0.01, ""),
        (0.051, 0.0, ""),
    ],
)
def test_a_test_and_an_interval_that_seem_to_differ(pvalue, low, words):
    said = say_both(pvalue, low)
    assert words in said
    assert bool(said) == bool(words)


Y = [0, 1] * 20
COMPARED = cs.compare(Y, {"a": [0.2] * 40, "b": [0.3] * 40, "c": [0.4] * 40}, measure="brier", n_resamples=99, rng=1)


@pytest.mark.parametrize(
    ("pvalues", "words"),
    [
        ((0.2, 0.3, 1.0), "No difference in brier is shown for any of 3 pairs of models: adjusted p = 0.200 or more."),
        (
            (0.02, 0.01, 0.04),
            "brier is smaller for b than for a, and for c than for a and b: adjusted p = 0.040 or less.",
        ),
        ((0.02, 0.2, 0.3), "than for a: adjusted p = 0.020. No difference is shown between a and c, b and c."),
        (
            (float("nan"), 0.2, 0.01),
            "c than for b: adjusted p = 0.010. No difference is shown between a and b, a and c.",
        ),
    ],
)
def test_three_models(pvalues, words):
    """Outcome rate 1/2: the largest prediction has the smallest score, and b - a < 0."""
    assert words in say_comparison(replace(COMPARED, pvalue_adjusted=np.array(pvalues)))


def test_two_models():
    pair = replace(COMPARED, pairs=(("a", "b"),), difference=np.array([0.1]), pvalue_adjusted=np.array([0.3]))
    assert say_comparison(pair) == "No difference in brier is shown between a and b: p = 0.300."
    assert (
        say_comparison(replace(pair, pvalue_adjusted=np.array([0.03])))
        == "brier is smaller for b than for a: p = 0.030."
    )


def test_ends():
    assert ends(0.1, 0.25) == "0.1000 to 0.2500"
    assert ends(float("nan"), float("nan")) == "–"
