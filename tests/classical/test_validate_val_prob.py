"""`validate` beside rms::val.prob and pROC::ci.auc, and what moves none of its numbers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from val_prob_rows import FOLDER, NAMES, stored

import calibstat as cs
from calibstat.classical.validation_result import TITLES

LINES = {  # of val.prob, of pROC and of the spline, and which attribute each is
    "R2": "r2",
    "D": "discrimination",
    "U": "unreliability",
    "Q": "quality",
    "Brier": "brier",
    "Intercept": "intercept",
    "Slope": "slope",
    "Emax": "emax",
    "E90": "e90",
    "Eavg": "ici",
    "S:z": "spiegelhalter_z",
    "AUC": "auc",
    "ECI": "eci",
}
FLOATS = [name for name in TITLES if name not in ("in_the_large", "intercept", "slope")]


def of_r(name):
    return pd.read_csv(FOLDER / "numbers.csv", comment="#").query("rows == @name").set_index("quantity").value


@pytest.mark.parametrize("name", NAMES)
def test_its_numbers_are_those_of_r(name):
    found, expected = cs.validate(*stored(name)), of_r(name)
    for line, attribute in LINES.items():
        assert getattr(found, attribute) == pytest.approx(expected[line], rel=1e-5), line
    assert found.intervals["auc"] == pytest.approx((expected["AUC.low"], expected["AUC.high"]), rel=1e-9)
    assert found.pvalues["unreliability"] == pytest.approx(expected["U:p"], abs=1e-9)
    assert found.pvalues["spiegelhalter_z"] == pytest.approx(expected["S:p"], rel=1e-6)
    assert found.n * found.discrimination + 1 == pytest.approx(expected["D:Chi-sq"])
    assert found.n * found.unreliability + 2 == pytest.approx(expected["U:Chi-sq"])
    # val.prob counts pairs of predictions that are close as ties
    assert found.auc == pytest.approx(expected["C (ROC)"], abs=1e-4)
    assert 2 * found.auc - 1 == pytest.approx(expected["Dxy"], abs=2e-4)


def test_a_wrong_span_or_a_wrong_knot_would_be_seen():
    """The planted fault: the numbers of one data set differ where one row does."""
    y, p = stored("rare")
    y = y.copy()
    y[p.argmax()] = 1 - y[p.argmax()]
    found, expected = cs.validate(y, p), of_r("rare")
    assert all(getattr(found, name) != pytest.approx(expected[line], rel=1e-5) for line, name in LINES.items())


def test_the_stored_numbers_say_their_versions():
    for file in ("numbers.csv", "curves.csv"):
        first = (FOLDER / file).read_text().partition("\n")[0]
        assert all(f"{package} " in first for package in ("R version", "rms", "Hmisc", "pROC"))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_neither_the_order_of_rows_nor_the_name_of_the_event_moves_a_number(seed):
    """With outcomes and probabilities turned round, all numbers stay, apart from means and the sign of intercepts."""
    random = np.random.default_rng(seed)
    p = random.choice(random.beta(1, 1, 60), 120).clip(0.01, 0.99)
    y = (random.random(120) < p).astype(int)
    order = random.permutation(120)
    found, shuffled, turned = (cs.validate(*rows) for rows in ((y, p), (y[order], p[order]), (1 - y, 1 - p)))
    for name in TITLES:
        assert getattr(shuffled, name) == pytest.approx(getattr(found, name), rel=1e-6, abs=1e-9), name
    for name in ("slope", "brier", "scaled_brier", "auc", "r2", "discrimination", "unreliability", "spiegelhalter_z"):
        assert getattr(turned, name) == pytest.approx(getattr(found, name), rel=1e-5, abs=1e-8), name
    assert turned.intercept == pytest.approx(-found.intercept, rel=1e-5, abs=1e-6)
    assert turned.intervals["auc"] == pytest.approx(found.intervals["auc"])
    assert turned.eci == pytest.approx(found.eci, rel=1e-5, abs=1e-8)  # knots lie the same way from either end


def test_predictions_of_0_and_1_move_only_where_logits_are_taken():
    y, p = stored("small")
    y, p = np.r_[y, 0, 1, 0], np.r_[p, 0.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="above 0 and below 1 for validation"):
        cs.validate(y, p)
    found, moved = cs.validate(y, p, clip=0.01), cs.validate(y, p.clip(0.01, 0.99))
    for name in ("r2", "discrimination", "unreliability", "quality", "slope", "eci"):
        assert getattr(found, name) == pytest.approx(getattr(moved, name))
    for name in ("ici", "emax", "brier", "spiegelhalter_z", "predicted"):
        assert getattr(found, name) != pytest.approx(getattr(moved, name), rel=1e-6)
