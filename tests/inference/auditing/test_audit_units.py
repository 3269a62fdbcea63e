"""An audit says why it takes no weights, and so does its page."""

from pathlib import Path

import numpy as np
import pytest

import calibstat as cs

Y, P = cs.generators.calibrated().sample(60, rng=1)
GROUPS = {"high": P > 0.5}
WHY = {"sample_weight": "its limits are for counts of rows, not for sums of weights"}
UNITS = {"sample_weight": np.arange(60) % 3 + 0.5}


@pytest.mark.parametrize("name", UNITS)
def test_units_are_refused_with_the_reason_and_a_way_out(name):
    found = (
        rf"without {name}= for audit, because {WHY[name]}; found one: ask cs.calibration_test\(y, p, {name}=...\) of"
    )
    given = {name: UNITS[name]}
    with pytest.raises(ValueError, match=found):
        cs.audit(Y, P, GROUPS, **given)
    for rows in (cs.Data(Y, P, **given), cs.Models(Y, {"a": P}, **given)):
        with pytest.raises(ValueError, match=found):
            cs.audit(rows, groups=GROUPS)


@pytest.mark.parametrize("name", UNITS)
def test_the_way_out_is_open(name):
    of = P > 0.1
    test = cs.calibration_test(Y[of], P[of], measure="ks", n_resamples=99, rng=1, **{name: UNITS[name][of]})
    assert test.pvalue > 0


def test_folds_are_refused_by_naming_functions_that_take_them():
    with pytest.raises(
        ValueError, match=r"without folds= for audit, which takes none; confidence_interval, .* do; found"
    ):
        cs.audit(Y, P, GROUPS, folds=np.arange(60) % 5)


@pytest.mark.parametrize("name", UNITS)
def test_the_page_says_so(name):
    page = (Path(__file__).parents[3] / "docs" / "more" / "groups-in-detail.md").read_text(encoding="utf-8")
    assert f"`{name}=`, because {WHY[name]}" in " ".join(page.split())
