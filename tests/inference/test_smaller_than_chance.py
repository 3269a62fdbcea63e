"""Residuals smaller than chance: the note is seldom for a calibrated model, and there for a fit to the same rows."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_predict

import calibstat as cs
from calibstat.inference import smaller_than_chance
from calibstat.inference.smaller_than_chance import NOTE, is_small

ASKS = "smaller than chance: were these predictions cross-validated, recalibrated or fitted on these outcomes?"
MODELS = {
    "uniform": cs.generators.calibrated(),
    "five scores": cs.generators.calibrated([0.1, 0.3, 0.5, 0.7, 0.9]),
    "rare": cs.generators.calibrated(beta(1, 49)),
    "constant": cs.generators.calibrated([0.3]),
    "0, 1/25, ..., 1": cs.generators.calibrated([k / 25 for k in range(26)]),
}


def scores(n, rng):
    """Logits that are twice too large and moved, with outcomes."""
    random = np.random.default_rng(rng)
    score = random.normal(0, 1.3, n)
    return (random.random(n) < expit(score)).astype(int), (2 * score + 0.5)[:, None]


def platt(n, rng):
    y, score = scores(n, rng)
    return y, LogisticRegression(C=1e6).fit(score, y).predict_proba(score)[:, 1]


def platt_in_folds(n, rng):
    y, score = scores(n, rng)
    folds = KFold(5, shuffle=True, random_state=rng)
    return y, cross_val_predict(LogisticRegression(C=1e6), score, y, cv=folds, method="predict_proba")[:, 1]


def isotonic(n, rng):
    y, score = scores(n, rng)
    return y, IsotonicRegression(out_of_bounds="clip").fit(score[:, 0], y).predict(score[:, 0]).clip(0, 1)


def is_noted(y, p, **options):
    found = cs.calibration_test(y, p, **options)
    assert (ASKS in found.note) == (ASKS in str(found))
    return ASKS in found.note


@pytest.mark.parametrize("fit", [platt, isotonic])
@pytest.mark.parametrize("n", [200, 1000])
def test_a_map_fitted_to_the_same_rows_is_noticed(fit, n):
    assert all(is_noted(*fit(n, i), rng=i) for i in range(5))


def test_cross_validated_predictions_are_noticed_mostly():
    """A cheaper bound of what the docs say of 1000 rows: 3 of 6; with a rate of .01, so many have probability 2e-5."""
    assert sum(is_noted(*platt_in_folds(1000, i), rng=i) for i in range(6)) >= 3


def rate(model, n, sets):
    found = 0
    for seed in np.random.SeedSequence([n, 5]).spawn(sets):
        data, draws = seed.spawn(2)
        found += is_noted(*model.sample(n, data), n_resamples=199, rng=draws)
    return found


@pytest.mark.parametrize("n", [1, 2, 10])
@pytest.mark.parametrize("name", MODELS)
def test_a_calibrated_model_is_noted_seldom(name, n):
    """In at most 1 % of samples, with ties and with residuals of exactly 0; the next test is the twin."""
    assert rate(MODELS[name], n, 40) <= cs.study.most_rejections(0.01, 40, 1e-4)


def test_ties_that_are_not_counted_are_found(monkeypatch):
    """A mean residual of exactly 0 is common among ten rows of one probability: uncounted, it would be noted often."""

    def uncounted(statistic, null, level=0.01):
        return (1 + np.count_nonzero(null < statistic - 1e-6)) <= level * (1 + null.size)

    monkeypatch.setattr(smaller_than_chance, "is_small", uncounted)
    assert rate(MODELS["constant"], 10, 80) > cs.study.most_rejections(0.01, 80, 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 100, 1000])
@pytest.mark.parametrize("name", MODELS)
def test_a_calibrated_model_is_noted_in_one_percent(name, n):
    sets = 1000
    found = 0
    for seed in np.random.SeedSequence([n, 6]).spawn(sets):
        data, draws = seed.spawn(2)
        found += is_noted(*MODELS[name].sample(n, data), rng=draws)
    assert found <= cs.study.most_rejections(0.01, sets, 1e-4)


def test_as_small_counts_ties():
    null = np.arange(1.0, 1000.0)
    assert is_small(0.5, null, 0.001)
    assert not is_small(1.0, null, 0.001)
    assert is_small(9.0, null)
    assert not is_small(10.0, null)
    assert not is_small(0.0, np.zeros(999))
    assert not is_small(np.inf, np.append(null, np.inf))
    assert not is_small(0.5, np.arange(1.0, 10.0))  # too few draws to say


def test_where_it_is_not_said():
    y, p = platt(200, 1)
    assert is_noted(y, p, rng=1)
    assert not is_noted(y, p, rng=1, sample_weight=np.linspace(1, 2, 200))
    assert not is_noted(y, p, rng=1, cluster=np.repeat(np.arange(100), 2), n_resamples=199)
    assert not is_noted(y, p, rng=1, stop_after=5)
    assert not is_noted(y, p, rng=1, measure="brier")  # two-sided: it is not small where residuals are
    assert not is_noted(y, p, rng=1, n_resamples=99)  # too few draws
    y, p = platt(100, 1)
    assert is_noted(y, p, rng=1, measure="kernel_ce", n_resamples=199)
    assert not is_noted(y, p, rng=1, measure="kernel_ce", n_resamples=199, resample="both")


def test_the_p_value_does_not_depend_on_it():
    y, p = platt(200, 1)
    found = cs.calibration_test(y, p, rng=1)
    assert found.pvalue == cs.calibration_test(cs.Sample.from_rows(y, p), rng=1).pvalue
    assert found.deviation is None
    assert found.note == NOTE


def test_other_statistics_that_are_small_are_noticed():
    """Every bin right as far as labels can be: as small an error as any draw has."""
    sample = cs.Sample.from_counts([0.1, 0.3, 0.5, 0.7, 0.9], [2000] * 5, [200, 600, 1000, 1400, 1800])
    assert is_noted(sample, None, measure="ece", rng=1)
    assert is_noted(sample, None, rng=1)
    label = np.repeat([0, 1, 2] * 2, [1200, 900, 900, 600, 1800, 600])
    prob = np.repeat([[0.4, 0.3, 0.3], [0.2, 0.6, 0.2]], 3000, axis=0)
    assert is_noted(label, prob, lens="canonical", rng=1)


def test_a_report_says_it():
    y, p = platt(200, 1)
    assert any(ASKS in note for note in cs.report(y, p).notes)
