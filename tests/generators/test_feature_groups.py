"""Generators with features: errors of groups in closed form, the truth of each row, and wrong arguments."""

import math

import numpy as np
import pytest
from generator_examples import FIVE
from scipy import stats

from calibstat.generators import calibrated, distorted, domain, features, groups, prevalence, shift

SHARES = {"sex": {"f": 0.6, "m": 0.4}, "site": 3, "old": {True: 0.5, False: 0.5}}
HALF = calibrated([0.5])


def shifted(delta):
    """The prediction 1/2 with its log-odds shifted."""
    return 1 / (1 + math.exp(-delta))


# All predict 1/2 truly; women's are shifted by 1, those at site 2 then by -3. Both at once: by -2. By hand:
#   women elsewhere .6 * 2/3 = .4 by 1; women at site 2 .2 by -2; men there .4/3 by -3; other men right
TWO_ERRORS = features(HALF, SHARES, [({"sex": "f"}, {"shift": 1}), ({"site": 2}, {"shift": -3})])
BY_ONE, BY_TWO, BY_THREE = 0.5 - shifted(1), 0.5 - shifted(-2), 0.5 - shifted(-3)


@pytest.mark.parametrize(
    ("condition", "error"),
    [
        ({}, 0.4 * BY_ONE + 0.2 * BY_TWO + 0.4 / 3 * BY_THREE),
        ({"sex": "f"}, (2 * BY_ONE + BY_TWO) / 3),
        ({"sex": "m"}, BY_THREE / 3),
        ({"site": 2}, 0.6 * BY_TWO + 0.4 * BY_THREE),
        ({"site": 0}, 0.6 * BY_ONE),
        ({"sex": "f", "site": 2}, BY_TWO),
        ({"sex": "m", "site": 1}, 0),
        ({"old": True}, 0.4 * BY_ONE + 0.2 * BY_TWO + 0.4 / 3 * BY_THREE),  # of a feature that no error is about
        ({"old": True, "site": 0, "sex": "f"}, BY_ONE),
    ],
)
def test_errors_of_groups_by_hand(condition, error):
    assert TWO_ERRORS.error(condition) == pytest.approx(error, abs=1e-12)


def test_errors_of_continuous_scores_by_hand():
    # temperature 2 over uniform scores is right on average; with shift d it predicts v/(v + (1-v) e^-d), whose mean is
    # 1/(1-c) + c ln(c)/(1-c)² with c = e^-d
    c = math.exp(-0.4)
    family = features(calibrated(), SHARES, [({"sex": "f"}, {"shift": 0.4}), ({"sex": "m"}, {"temperature": 2})])
    assert family.error({"sex": "f"}) == pytest.approx(0.5 - 1 / (1 - c) - c * math.log(c) / (1 - c) ** 2, abs=1e-9)
    assert family.error({"sex": "m", "site": 1}) == pytest.approx(0, abs=1e-12)


def test_the_generator_has_its_own_error():
    family = features(shift(1, [0.5]), SHARES, [({"old": False}, {"shift": 1})])
    assert family.error({"old": True}) == pytest.approx(0.5 - shifted(1), abs=1e-12)
    assert family.error({"old": False}) == pytest.approx(0.5 - shifted(2), abs=1e-12)


def test_the_population_is_a_mixture():
    # two of the patterns: women, and all others
    family = features(calibrated(FIVE), SHARES, [({"sex": "f"}, {"temperature": 2})])
    mixture = groups({"f": (0.6, distorted(calibrated(FIVE), temperature=2)), "m": (0.4, calibrated(FIVE))})
    for measure in ("ece", "ks", "brier", "log_loss"):
        assert family.truth(measure) == pytest.approx(mixture.truth(measure), abs=1e-12)
    assert family.curve([0.1, 0.5]) == pytest.approx(mixture.curve([0.1, 0.5]), abs=1e-12)
    assert not family.is_calibrated
    assert features(calibrated(), SHARES).is_calibrated


def test_rows_and_their_truth():
    rows, y, p, chance = TWO_ERRORS.sample_rows(20_000, 5)
    assert list(rows) == list(SHARES)
    assert all(np.array_equal(a, b) for a, b in zip((y, p), TWO_ERRORS.sample(20_000, 5), strict=True))
    assert np.all(chance == 0.5)
    woman, two = rows["sex"] == "f", rows["site"] == 2
    assert p == pytest.approx(np.array([shifted(d) for d in woman * 1.0 - two * 3.0]), abs=1e-12)
    for name, level, share in [("sex", "f", 0.6), ("site", 0, 1 / 3), ("site", 2, 1 / 3), ("old", True, 0.5)]:
        assert stats.binomtest(int((rows[name] == level).sum()), 20_000, share).pvalue > 1e-6
    number = int((woman & two & rows["old"].astype(bool)).sum())
    assert stats.binomtest(number, 20_000, 0.1).pvalue > 1e-6  # independent
    assert stats.binomtest(int((woman & two).sum()), 20_000, 0.24).pvalue < 1e-6  # a wrong share is seen


@pytest.mark.parametrize("family", [calibrated(FIVE), shift(1), prevalence(calibrated(), 0.1),
                                    domain([0.5, 0.5], [0.1, 0.8], [0.3, 0.3])])  # fmt: skip
def test_the_truth_of_a_row_is_that_of_its_score(family):
    _, y, p, chance = features(family, SHARES, [({"sex": "f"}, {"shift": -1})]).sample_rows(20_000, 3)
    assert np.all((chance >= 0) & (chance <= 1))
    weights = np.array([np.ones_like(p), chance, p])
    spread = np.sqrt((weights**2 * chance * (1 - chance)).sum(axis=1))
    assert np.all(np.abs(weights @ (y - chance)) < spread * stats.norm.isf(1e-7))
    assert np.any(np.abs(weights @ (y - p)) > spread * stats.norm.isf(1e-7))  # predictions are not the truth


def test_all_levels_may_be_wrong_and_many_features_cost_nothing():
    levels = {f"feature {k}": 10 for k in range(40)}
    family = features(HALF, levels, [({f"feature {k}": 0}, {"shift": 1}) for k in range(8)])  # 1e40 cells, 256 patterns
    # log-odds are shifted by how many of eight are 0, a binomial number
    error = sum(stats.binom.pmf(k, 8, 0.1) * (0.5 - shifted(k)) for k in range(9))
    assert family.error({}) == pytest.approx(error, abs=1e-12)
    assert family.error({"feature 39": 3}) == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: features("uniform", SHARES), "expected a generator, found 'uniform'"),
        (lambda: features(groups({"a": (0.5, HALF), "b": (0.5, HALF)}), SHARES), "a mixture of groups, found groups"),
        (lambda: features(HALF, {}), "at least one feature, found none"),
        (lambda: features(HALF, {"sex": 0}), "a number of at least 1 of levels of 'sex', found 0"),
        (lambda: features(HALF, {"sex": True}), "found True"),
        (lambda: features(HALF, {"sex": {}}), "positive probabilities of levels of 'sex' that sum to 1, found {}"),
        (lambda: features(HALF, {"sex": {"f": 0.5}}), "sum to 1, found {'f': 0.5}"),
        (lambda: features(HALF, SHARES, [({"age": 3}, {"shift": 1})]), "features 'sex', 'site', 'old', found 'age'"),
        (
            lambda: features(HALF, SHARES, [({"site": 3}, {"shift": 1})]),
            r"a level of 'site' among \[0, 1, 2\], found 3",
        ),
        (lambda: features(HALF, SHARES, [({"site": 1}, {"subgroup": 1})]), "a distortion by s_shape, shift, temper"),
        (lambda: features(HALF, SHARES, [({"site": 1}, {"temperature": 0})]), "temperature positive"),
        (lambda: TWO_ERRORS.error({"sex": "x"}), r"a level of 'sex' among \['f', 'm'\], found 'x'"),
        (lambda: TWO_ERRORS.sample_rows(0), "whole number of at least 1"),
    ],
)
def test_wrong_arguments_raise(make, message):
    with pytest.raises(ValueError, match=message):
        make()
