"""What a validation prints, writes and holds."""

from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs
from calibstat.classical.validation_result import OF_COUNTED_ROWS, TITLES

Y, P = cs.generators.temperature(2.0).sample(600, rng=1)


def test_every_number_is_printed_with_its_p_value():
    found = cs.validate(Y, P)
    lines = dict(zip(TITLES, str(found).splitlines()[2:], strict=False))
    for name, title in TITLES.items():
        assert lines[name].startswith(f"{title} ")
        assert f"{getattr(found, name):.4f}" in lines[name]
        assert ("p = " in lines[name]) == (name in found.pvalues)
        assert (" to " in lines[name]) == (name in found.intervals)
    assert lines["unreliability"].endswith(f"p = {found.pvalues['unreliability']:.2g}")
    assert "5 knots" in str(found).splitlines()[-1]


def test_the_frame_has_p_values():
    found = cs.validate(Y, P)
    pvalue = found.to_frame()["pvalue"]
    assert pvalue.dropna().to_dict() == found.pvalues
    assert set(found.pvalues) == {"unreliability", "spiegelhalter_z"}


@pytest.mark.parametrize("given", [{"cluster": np.arange(600) // 6}, {"sample_weight": np.linspace(0.5, 2, 600)}])
def test_what_needs_independent_rows_that_count_once_says_so(given):
    found = cs.validate(Y, P, **given)
    lines = dict(zip(TITLES, str(found).splitlines()[2:], strict=False))
    for name in OF_COUNTED_ROWS:
        assert np.isnan(getattr(found, name))
        assert lines[name].endswith("nan  needs rows that are independent and count once")
    assert found.pvalues == {}
    assert "auc" not in found.intervals
    assert found.flexible.low is None
    assert np.isfinite([found.r2, found.eci]).all()


def test_predictions_of_which_there_is_no_z_say_so():
    y = np.repeat([0, 1, 0, 1], [20, 30, 10, 40])
    found = cs.validate(y, np.full(100, 0.5))
    assert np.isnan(found.spiegelhalter_z)
    assert set(found.pvalues) == {"unreliability"}
    assert "nan  needs a prediction other than 0, 1/2 and 1" in str(found)


def test_the_histogram_counts_the_rows():
    found = cs.validate(Y, P)
    edges = np.linspace(0, 1, 51)
    for outcome in (0, 1):
        assert np.array_equal(found.histogram[outcome], np.histogram(P[outcome == Y], edges)[0])
    equal = cs.validate(Y, P, sample_weight=np.full(600, 2.5))
    assert equal.histogram == pytest.approx(found.histogram)
    weight = np.linspace(0.5, 2, 600)
    unequal = cs.validate(Y, P, sample_weight=weight)
    assert unequal.histogram.sum() == pytest.approx(unequal.effective_n)
    by_bin = np.histogram(P[Y == 1], edges, weights=weight[Y == 1])[0]
    assert unequal.histogram[1] / unequal.effective_n == pytest.approx(by_bin / weight.sum())


@pytest.mark.parametrize(
    ("ratio", "slope", "said"),
    [
        ((1.1, 1.4), (0.4, 0.8), "Outcomes are more frequent than predicted (O/E 1.1 to 1.4), and predictions are too "
         "extreme (slope 0.4 to 0.8)."),
        ((0.5, 0.9), (0.9, 1.2), "Outcomes are less frequent than predicted (O/E 0.5 to 0.9); the spread of "
         "predictions is not shown to be wrong (slope 0.9 to 1.2)."),
        ((0.9, 1.1), (1.2, 1.5), "Predictions are not extreme enough (slope 1.2 to 1.5); their mean is not shown to be "
         "wrong (O/E 0.9 to 1.1)."),
        ((0.9, 1.1), (0.9, 1.2), "Neither mean nor spread of the predictions is shown to be wrong (O/E 0.9 to 1.1, "
         "slope 0.9 to 1.2)."),
    ],
)  # fmt: skip
def test_the_answer_comes_first(ratio, slope, said):
    found = replace(cs.validate(Y, P), intervals={"ratio": ratio, "slope": slope})
    assert found.answer == str(found).splitlines()[0] == said
    assert "slope unknown" in replace(found, intervals={"ratio": ratio}).answer
