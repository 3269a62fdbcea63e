"""The numbers of clinical validation, each beside an independent computation."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from scipy.stats import beta
from sklearn.metrics import brier_score_loss, roc_auc_score
from statsmodels.nonparametric.smoothers_lowess import lowess

import calibstat as cs
from calibstat.recalibration import MeanReplacement

Y, P = cs.generators.temperature(2.0).sample(600, rng=1)


@pytest.fixture(scope="module")
def validation():
    return cs.validate(Y, P)


def test_intercepts_and_slope_are_those_of_logistic_regressions(validation):
    line = sm.GLM(Y, sm.add_constant(logit(P)), family=sm.families.Binomial()).fit()
    large = sm.GLM(Y, np.ones(600), family=sm.families.Binomial(), offset=logit(P)).fit()
    assert (validation.intercept, validation.slope) == pytest.approx(tuple(line.params), abs=1e-6)
    assert validation.in_the_large == pytest.approx(large.params[0], abs=1e-6)
    # intervals by the likelihood: at their ends it is 3.8415 / 2 below its maximum
    for name, offset, column in (("slope", 0 * P, np.ones(600)), ("in_the_large", logit(P), None)):
        for end in validation.intervals[name]:
            if column is None:
                eta = offset + end
                drop = large.llf - (Y @ eta - np.log1p(np.exp(eta)).sum())
            else:
                fixed = sm.GLM(Y, column, family=sm.families.Binomial(), offset=end * logit(P)).fit()
                drop = line.llf - fixed.llf
            assert 2 * drop == pytest.approx(3.8415, abs=1e-3)


def test_the_mean_outcome_has_the_interval_of_clopper_and_pearson(validation):
    k = Y.sum()
    expected = beta.ppf([0.025, 0.975], [k, k + 1], [601 - k, 600 - k])
    assert validation.intervals["observed"] == pytest.approx(tuple(expected))
    assert validation.intervals["ratio"] == pytest.approx(tuple(expected / P.mean()))
    assert pytest.approx(Y.mean() / P.mean()) == validation.ratio


def test_scores_are_those_of_scikit_learn(validation):
    assert pytest.approx(brier_score_loss(Y, P)) == validation.brier
    assert (
        pytest.approx(1 - brier_score_loss(Y, P) / brier_score_loss(Y, np.full(600, Y.mean())))
        == validation.scaled_brier
    )
    assert pytest.approx(roc_auc_score(Y, P)) == validation.auc
    tied = P.round(1).clip(0.1, 0.9)
    assert cs.validate(Y, tied).auc == pytest.approx(roc_auc_score(Y, tied))


def test_errors_of_the_smoothed_curve_are_those_of_lowess(validation):
    curve = lowess(Y, P, frac=2 / 3, it=0, delta=0.01 * np.ptp(P), return_sorted=False)
    error = np.abs(curve - P)
    expected = error.mean(), np.median(error), np.quantile(error, 0.9), error.max()
    assert (validation.ici, validation.e50, validation.e90, validation.emax) == pytest.approx(expected, abs=1e-9)


def test_counts_stand_for_repeated_rows():
    sample = cs.Sample.from_counts([0.2, 0.5, 0.7], [50, 30, 20], [15, 14, 13])
    p = np.repeat(sample.value, sample.count.astype(int))
    y = np.concatenate([np.arange(int(n)) < k for n, k in zip(sample.count, sample.positives, strict=True)])
    assert cs.validate(sample).to_dict() == cs.validate(y.astype(int), p).to_dict()


def test_predictions_of_0_and_1_need_a_clip_for_the_slope_alone():
    y, p = np.r_[Y, 0], np.r_[P, 0.0]
    with pytest.raises(ValueError, match="clip="):
        cs.validate(y, p)
    found = cs.validate(y, p, clip=1e-3)
    assert found.brier == pytest.approx(brier_score_loss(y, p))
    assert found.predicted == pytest.approx(p.mean())


def test_the_printed_table_and_the_frame_hold_every_number(validation):
    frame = validation.to_frame()
    assert frame.loc["slope", ["estimate", "low", "high", "calibrated"]].tolist() == pytest.approx(
        [validation.slope, *validation.intervals["slope"], 1]
    )
    printed = str(validation)
    for name, title in frame["number"].items():
        assert title in printed
        assert f"{getattr(validation, name):.4f}" in printed


def test_through_a_lens():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(300, rng=1)
    top = prob.argmax(axis=1)
    found = cs.validate(label, prob)
    assert str(found.lens).startswith("lens top_label")
    assert found.slope == pytest.approx(cs.validate((label == top).astype(int), prob.max(axis=1)).slope)


def test_a_model_that_always_says_the_same():
    y = np.repeat([1, 0], [30, 70])
    found = cs.validate(y, np.full(100, 0.2))
    assert found.auc == 0.5
    assert np.isnan([found.intercept, found.slope]).all()
    assert found.in_the_large == pytest.approx(logit(0.3) - logit(0.2))
    low, high = found.intervals["in_the_large"]
    for end in (low, high):  # twice the log likelihood is 3.8415 below its maximum
        q = expit(logit(0.2) + end)
        drop = 30 * np.log(0.3 / q) + 70 * np.log(0.7 / (1 - q))
        assert 2 * drop == pytest.approx(3.8415, abs=1e-3)
    assert (found.ici, found.emax) == pytest.approx((0.1, 0.1))
    assert set(found.intervals) == {"observed", "ratio", "in_the_large", "brier"}
    assert "slope                          nan  needs predictions that differ" in str(found)
    assert found.to_frame().loc["slope", ["estimate", "low", "high"]].isna().all()


def test_mean_replacement_tells_hits_from_misses_no_better_than_chance():
    label, prob = cs.generators.dirichlet((0.3,) * 5, temperature=2).sample(1000, rng=1)
    replaced = MeanReplacement().fit(prob, label).predict_proba(prob)
    hits = prob.argmax(axis=1) == label
    assert cs.validate(label, replaced).auc == 0.5
    assert cs.validate(label, prob).auc == pytest.approx(roc_auc_score(hits, prob.max(axis=1)))


def test_predictions_that_are_all_0():
    with pytest.raises(ValueError, match="expected a prediction above 0 for validation, found 0 alone"):
        cs.validate([0, 1], [0, 0], clip=0.01)
