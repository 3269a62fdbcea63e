"""Fits of recalibrators to rows with weights."""

import warnings

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.recalibration import RECALIBRATORS, Recalibrator

BINARY = cs.generators.temperature(1.5).sample(200, rng=1)
TERNARY = cs.generators.dirichlet((1, 1, 1), temperature=1.5).sample(200, rng=1)


def quietly(recalibrator, p, y, **keywords):
    """Fit, whether it converges or not; any other warning is still an error."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*has not converged")
        return recalibrator.fit(p, y, **keywords)


WEIGHTED = {
    "PlattScaling": [{}],
    "IsotonicRegression": [{}],
    "HistogramBinning": [{"n_bins": 5, "strategy": "uniform"}, {"n_bins": 5, "strategy": "quantile"}],
    "MeanReplacement": [{}],
    "InterceptUpdate": [{}],
    "BetaCalibration": [{}],
    "QuadraticScaling": [{}],
    "CentredIsotonic": [{}],
    "TemperatureScaling": [{}, {"objective": "ece", "options": {"n_bins": 5}}],
    "VectorScaling": [{}],
    "MatrixScaling": [{}, {"regularisation": 0.1}],
}
WITH_OPTIONS = [(name, options) for name, each in WEIGHTED.items() for options in each]
TIMES = np.random.default_rng(1).integers(0, 4, 200)


@pytest.mark.parametrize(("y", "p"), [BINARY, TERNARY])
@pytest.mark.parametrize(("name", "options"), WITH_OPTIONS)
def test_a_row_of_weight_two_counts_as_two_rows(name, options, y, p):
    once = RECALIBRATORS[name](**options).fit(p, y, sample_weight=TIMES)
    again = RECALIBRATORS[name](**options).fit(np.repeat(p, TIMES, axis=0), np.repeat(y, TIMES))
    assert once.predict_proba(p) == pytest.approx(again.predict_proba(p), abs=1e-8)
    plain = quietly(RECALIBRATORS[name](**options), p, y)
    assert np.abs(plain.predict_proba(p) - again.predict_proba(p)).max() > 1e-3  # weights matter on these rows


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 0.3, 1e9, 2.0**40, 1e12, 1e16, 1e300])
@pytest.mark.parametrize(("name", "options"), WITH_OPTIONS)
def test_the_scale_of_weights_does_not_matter_nor_do_rows_of_weight_zero(name, options, scale):
    y, p = TERNARY
    one = RECALIBRATORS[name](**options).fit(p, y, sample_weight=TIMES)
    other = RECALIBRATORS[name](**options).fit(p[TIMES > 0], y[TIMES > 0], sample_weight=scale * TIMES[TIMES > 0])
    assert other.predict_proba(p) == pytest.approx(one.predict_proba(p), abs=1e-10)


@pytest.mark.parametrize("name", ["PlattScaling", "VectorScaling", "BetaCalibration", "InterceptUpdate"])
def test_weights_of_all_sizes_have_a_fit_whose_mean_is_the_share_of_events(name):
    """The score of the intercept is 0: weights from 1e-6 to 1e6, times 1e12 too; such fits said that they fail."""
    y, p = BINARY
    weight = 10 ** np.random.default_rng(2).uniform(-6, 6, 200)
    fits = [RECALIBRATORS[name]().fit(p, y, sample_weight=scale * weight) for scale in (1.0, 1e12, 1e-12)]
    for fitted in fits:
        assert fitted.converged_
        assert fitted.predict_proba(p) == pytest.approx(fits[0].predict_proba(p), abs=1e-12)
        assert np.average(fitted.predict_proba(p), weights=weight) == pytest.approx(np.average(y, weights=weight))


def test_a_number_of_bins_that_counts_rows_says_so():
    y, p = BINARY
    with pytest.raises(ValueError, match=r"expected weights that add up to at most 2\*\*53 for n_bins='cube_root'"):
        RECALIBRATORS["HistogramBinning"](n_bins="cube_root").fit(p, y, sample_weight=np.full(200, 1e300))


def test_equal_weights_change_nothing():
    y, p = TERNARY
    for name, options in WITH_OPTIONS:
        one = RECALIBRATORS[name](**options).fit(p, y, sample_weight=np.ones(200))
        assert one.predict_proba(p) == pytest.approx(
            RECALIBRATORS[name](**options).fit(p, y).predict_proba(p), abs=1e-12
        )


@pytest.mark.parametrize("name", ["PlattScaling", "VectorScaling", "MatrixScaling"])
def test_a_logistic_regression_of_scikit_learn_with_weights(name):
    linear = pytest.importorskip("sklearn.linear_model")
    y, p = BINARY
    logs = np.log(np.column_stack((p, 1 - p)))  # of which vector and matrix scaling of two classes are a regression
    features = logs @ [[1], [-1]] if name == "PlattScaling" else logs
    peer = linear.LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(features, y, sample_weight=TIMES)
    fitted = RECALIBRATORS[name]().fit(p, y, sample_weight=TIMES)
    assert fitted.predict_proba(p) == pytest.approx(peer.predict_proba(features)[:, 1], abs=1e-5)


def test_neural_scaling_refuses_weights_with_the_reason():
    pytest.importorskip("sklearn")
    with pytest.raises(ValueError, match="expected no sample_weight for NeuralScaling, found one: its training takes"):
        RECALIBRATORS["NeuralScaling"]().fit(BINARY[1], BINARY[0], sample_weight=TIMES)


def test_a_recalibrator_without_a_weighted_form_refuses_weights():
    class Own(Recalibrator):
        def _fit(self, prob, label):
            return None

    with pytest.raises(ValueError, match="expected no sample_weight for Own, found one: its fit counts every row"):
        Own().fit(BINARY[1], BINARY[0], sample_weight=TIMES)


def test_weights_have_the_index_of_the_outcomes():
    y, weight = pd.Series(BINARY[0], index=np.arange(200) + 5), pd.Series(TIMES, index=np.arange(200)[::-1] + 5)
    with pytest.raises(
        ValueError, match="expected sample_weight with the index of y, found the same labels in another"
    ):
        cs.recalibration.TemperatureScaling().fit(BINARY[1], y, sample_weight=weight)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], "expected one weight a row"),
        (np.full(200, -1.0), "a finite weight"),
        (np.zeros(200), "at least one row"),
    ],
)
def test_wrong_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        cs.recalibration.PlattScaling().fit(BINARY[1], BINARY[0], sample_weight=weight)


def test_a_bootstrap_of_bins_refuses_weights():
    fitted = cs.recalibration.HistogramBinning(n_resamples=5, random_state=1)
    with pytest.raises(ValueError, match="n_resamples draws rows that count the same"):
        fitted.fit(BINARY[1], BINARY[0], sample_weight=TIMES)
