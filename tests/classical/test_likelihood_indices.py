"""R², D and U beside statsmodels and rms::val.prob, and their means where predictions are calibrated."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from scipy.stats import chi2
from val_prob_rows import FOLDER, NAMES, stored

import calibstat as cs
from calibstat.classical.likelihood_indices import LikelihoodIndices


def cox_line(y, p):
    return sm.GLM(y, sm.add_constant(logit(p)), family=sm.families.Binomial()).fit()


def indices(y, p):
    return LikelihoodIndices.of(cs.Sample.from_rows(y, p), *cox_line(y, p).params)


@pytest.mark.parametrize("name", NAMES)
def test_they_are_those_of_val_prob(name):
    of_r = pd.read_csv(FOLDER / "numbers.csv", comment="#").query("rows == @name").set_index("quantity").value
    y, p = stored(name)
    found = indices(y, p)
    assert (found.r2, found.discrimination, found.unreliability) == pytest.approx((of_r.R2, of_r.D, of_r.U), abs=1e-9)
    assert found.pvalue == pytest.approx(of_r["U:p"], abs=1e-9)


def test_they_compare_likelihoods():
    y, p = cs.generators.temperature(2.0).sample(300, rng=1)
    line, mean = cox_line(y, p), sm.GLM(y, np.ones(300), family=sm.families.Binomial()).fit()
    fixed = float(np.log(np.where(y == 1, p, 1 - p)).sum())
    found = indices(y, p)
    assert found.discrimination == pytest.approx((2 * (fixed - mean.llf) - 1) / 300)
    assert found.unreliability == pytest.approx((2 * (line.llf - fixed) - 2) / 300)
    assert found.pvalue == pytest.approx(chi2.sf(2 * (line.llf - fixed), 2))
    assert found.r2 == pytest.approx((1 - np.exp(2 * (mean.llf - fixed) / 300)) / (1 - np.exp(2 * mean.llf / 300)))


def test_of_the_mean_outcome_and_of_near_certain_predictions():
    y = np.repeat([1, 0], [30, 70])
    constant = LikelihoodIndices.of(cs.Sample.from_rows(y, np.full(100, 0.2)), np.nan, np.nan)
    missed = 2 * (30 * np.log(0.3 / 0.2) + 70 * np.log(0.7 / 0.8))
    assert (constant.r2, constant.discrimination) == (0.0, -0.01)
    assert constant.unreliability == pytest.approx((missed - 1) / 100)
    assert constant.pvalue == pytest.approx(chi2.sf(missed, 1))
    certain = LikelihoodIndices.of(cs.Sample.from_rows(y, np.where(y == 1, 1 - 1e-9, 1e-9)), 0.0, 1.0)
    assert certain.r2 == pytest.approx(1, abs=1e-6)


def test_weights_do_not_change_r2_by_their_scale():
    y, p = cs.generators.temperature(2.0).sample(100, rng=1)
    w = np.random.default_rng(1).gamma(2, 1, 100)
    once, tenfold = (LikelihoodIndices.of(cs.Sample.from_rows(y, p, size * w), 0.0, 1.0) for size in (1.0, 10.0))
    assert once.r2 == pytest.approx(tenfold.r2)


def test_unreliability_is_0_on_average_if_calibrated():
    """Its mean over 400 data sets is within 3.5 standard errors of 0; without the 2 of noise it is not."""
    random = np.random.default_rng(1)
    found = []
    for _ in range(400):
        p = expit(random.normal(size=300))
        found.append(indices((random.random(300) < p).astype(int), p).unreliability)
    error = np.std(found) / 20
    assert abs(np.mean(found)) < 3.5 * error < np.mean(found) + 2 / 300
