"""What a comparison prints, and its data frame."""

from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs

Y, P = cs.generators.calibrated().sample(300, rng=1)
MODELS = {"a": P, "b": P**2, "c": P**1.5}


def test_each_pair_has_a_line_with_its_interval_and_its_adjusted_p_value():
    found = cs.compare(Y, MODELS, measure="brier", n_resamples=19, rng=1)
    lines = str(found).splitlines()
    assert len(lines) == 6
    assert lines[0] == found.answer
    for line, (a, b), low, high in zip(lines[2:5], found.pairs, found.low, found.high, strict=True):
        assert line.startswith(f"{a} - {b} = ")
        assert f"[{low:.4g}, {high:.4g}]" in line
        assert "adjusted for 3 pairs" in line
    assert "confidence interval" not in str(
        cs.compare(Y, MODELS, measure="brier", method="swap", n_resamples=19, rng=1)
    )


def test_a_frame_has_a_row_for_each_pair():
    found = cs.compare(Y, MODELS, reference="b", n_resamples=19, rng=1)
    frame = found.to_frame()
    assert frame["first"].tolist() == ["b", "b"]
    assert np.array_equal(frame["difference"], found.difference)
    assert "at_least" in frame


OUTCOME = [0, 1] * 20
THREE = cs.compare(OUTCOME, {"a": [0.2] * 40, "b": [0.3] * 40, "c": [0.4] * 40}, measure="brier", rng=1)
NO_P = float("nan")


@pytest.mark.parametrize(
    ("pvalues", "words"),
    [
        ((0.2, 0.3, 1.0), "No difference is shown for any of 3 pairs of models by brier (smallest adjusted p 0.2)."),
        (
            (0.02, 0.01, 0.04),
            "Differences by brier are shown for 3 of 3 pairs; c is never worse (adjusted p up to 0.04).",
        ),
        ((0.02, 0.2, 0.3), "b has a smaller brier than a (adjusted p 0.02)."),
        ((NO_P, 0.2, 0.01), "c has a smaller brier than b (adjusted p 0.01)."),
        ((0.02, 0.04, 0.3), "a has a larger brier than b and c; else no difference is shown (adjusted p up to 0.04)."),
        ((0.3, 0.02, 0.04), "a and b have a larger brier than c; within groups no difference is shown (adjusted p"),
    ],
)
def test_one_sentence_says_which_models_differ(pvalues, words):
    """Outcome rate 1/2: the largest prediction has the smallest score, and b - a < 0."""
    said = replace(THREE, pvalue_adjusted=np.array(pvalues)).answer
    assert said.startswith(words)
    assert len(said.split()) <= 20


def test_of_two_models_one_is_better_calibrated():
    pair = replace(THREE, pairs=(("a", "b"),), difference=np.array([0.1]), pvalue_adjusted=np.array([0.3]))
    assert pair.answer == "No difference is shown between a and b by brier (p = 0.3)."
    assert replace(pair, pvalue_adjusted=np.array([0.03])).answer == "b has a smaller brier than a (p = 0.03)."
    y, p = cs.generators.temperature(2.0).sample(4000, rng=1)
    odds = np.sqrt(p / (1 - p))
    found = cs.compare(y, {"before": p, "after": odds / (1 + odds)})
    assert found.answer.startswith("after is better calibrated than before (p = ")
