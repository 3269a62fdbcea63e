"""What a comparison prints, and its data frame."""

import numpy as np

import calibstat as cs

Y, P = cs.generators.calibrated().sample(300, rng=1)
MODELS = {"a": P, "b": P**2, "c": P**1.5}


def test_each_pair_has_a_line_with_its_interval_and_its_adjusted_p_value():
    found = cs.compare(Y, MODELS, measure="brier", n_resamples=19, rng=1)
    lines = str(found).splitlines()
    assert len(lines) == 5
    for line, (a, b), low, high in zip(lines[1:4], found.pairs, found.low, found.high, strict=True):
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
