"""The test of predictions out of folds: beside plain loops and exact p-values, its level, and what breaks it."""

import numpy as np
import pytest
from more_than import more_than
from scipy.stats import binom, binomtest

import calibstat as cs
from calibstat.inference.designs.folds.fold_test import FoldPValues, merged
from calibstat.study import most_rejections

Y, P = cs.generators.shift(0.4).sample(200, rng=1)
FOLD = np.arange(200) % 4


def of_folds(y, p, fold, **options):
    return cs.calibration_test(y, p, folds=fold, **{"rng": 1, "measure": "ks", **options})


def test_folds_of_constant_predictions_have_binomial_p_values():
    """Of predictions 1/2 the largest sum is that of all rows: a two-sided sign test in each fold, and of all rows."""
    y = np.array([1] * 32 + [0] * 8 + [1] * 22 + [0] * 18)
    found = of_folds(y, np.full(80, 0.5), np.repeat([0, 1], 40), n_resamples=9999)
    exact = sorted(binomtest(k, 40).pvalue for k in (32, 22))
    assert sorted(found.rows.pvalue_of_folds[0]) == pytest.approx(exact, abs=0.02)
    beyond = round(10_000 * min(found.rows.pvalue_of_folds[0])) - 1  # of 9999 draws, which are 1.8 on average
    assert binomtest(beyond, 9999, exact[0]).pvalue > 1e-5
    assert found.rows.pvalue_by_theorem == 2 * found.rows.pvalue_of_folds.min()
    rows = cs.calibration_test(y, np.full(80, 0.5), measure="ks", rng=1, n_resamples=9999)
    assert found.rows.pvalue_of_rows[0] == rows.pvalue
    assert found.pvalue == 2 * min(found.rows.pvalue_by_theorem, found.rows.pvalue_of_rows[0])


def test_it_is_a_plain_loop_over_folds():
    """P-values of each fold by labels drawn with numpy, and the largest running sum of residuals."""
    random = np.random.default_rng(2)

    def ks(y, p):
        return np.abs(np.cumsum((y - p)[np.argsort(p)])).max() / p.size

    plain = []
    for k in range(4):
        y, p = Y[k == FOLD], P[k == FOLD]
        null = np.array([ks(random.random(p.size) < p, p) for _ in range(4000)])
        plain.append((1 + np.count_nonzero(null >= ks(y, p) - 1e-12)) / 4001)
    found = of_folds(Y, P, FOLD, n_resamples=3999)
    assert sorted(found.rows.pvalue_of_folds[0]) == pytest.approx(sorted(plain), abs=0.04)  # 4 se of both
    assert found.statistic == pytest.approx(ks(Y, P))


def test_clusters_are_tested_as_without_folds():
    """The p-value of all rows is that of the test with clusters; those of folds differ from it by their draws alone."""
    unit = np.arange(200) // 4 * 4 + FOLD // 2 * 2  # two rows each
    fold = unit % 4 // 2
    found = of_folds(Y, P, fold, cluster=unit)
    assert found.rows.pvalue_of_rows[0] == cs.calibration_test(Y, P, measure="ks", cluster=unit, rng=1).pvalue
    alone = [cs.calibration_test(Y[k == fold], P[k == fold], measure="ks", cluster=unit[k == fold], rng=2).pvalue
             for k in set(fold)]  # fmt: skip
    assert sorted(found.rows.pvalue_of_folds[0]) == pytest.approx(sorted(alone), abs=0.08)  # 4 se of both
    assert found.resample == "sign_flip"
    assert "100 clusters of 2 rows each" in str(found)
    assert "rows of different clusters are independent" in str(found.null_hypothesis)


def test_repeats_are_merged_by_twice_their_mean():
    fold = np.column_stack([FOLD, FOLD[::-1], np.arange(200) // 50])
    found = of_folds(Y, np.column_stack([P] * 3), fold)
    assert found.rows.pvalue_of_folds.shape == (3, 4)
    by_theorem = np.minimum(4 * found.rows.pvalue_of_folds.min(axis=1), 1)
    assert found.rows.pvalue_by_theorem == pytest.approx(min(1, 2 * by_theorem.mean()))
    studied = np.minimum(2 * np.minimum(by_theorem, found.rows.pvalue_of_rows), 1)
    assert found.pvalue == pytest.approx(min(1, 2 * studied.mean()))
    assert found.rows.pvalue_of_folds[0].tolist() == of_folds(Y, P, FOLD).rows.pvalue_of_folds[0].tolist()
    assert merged([0.3]) == 0.3
    assert merged([0.7, 0.9]) == 1


def test_order_of_rows_does_not_matter():
    order = np.random.default_rng(1).permutation(200)
    assert of_folds(Y[order], P[order], FOLD[order]).to_dict() == of_folds(Y, P, FOLD).to_dict()


def smallest(data_sets, factor, folds=2, n=60):
    """Whether `factor` times the smallest p-value of folds of a calibrated model is at most .05 in each data set."""
    for i in range(data_sets):
        y, p = cs.generators.calibrated().sample(n, rng=i)
        yield factor * of_folds(y, p, np.arange(n) % folds, rng=i, n_resamples=199).rows.pvalue_of_folds.min() <= 0.05


def test_the_theorem_keeps_the_level_exactly():
    """Of a model that ignores the outcomes the folds are independent: 1 - (1 - .025)**2 = .0494 of data sets."""
    n = 600
    found = sum(smallest(n, 2))
    assert found <= most_rejections(0.05, n, 5e-4)
    assert found >= binom.ppf(5e-4, n, 1 - 0.975**2)
    limit = most_rejections(0.05, 150, 5e-4)
    assert more_than(limit, smallest(150, 1, folds=6, n=120))  # the twin: .265 without the factor


def test_stratified_folds_are_noted():
    rank = np.empty(200, int)
    rank[np.argsort(Y, kind="stable")] = np.arange(200)
    assert "All folds hold the same number of outcomes 1" in of_folds(Y, P, rank % 4).note
    assert "All folds" not in of_folds(Y, P, FOLD).note


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"measure": "omnibus"}, "no test with folds is known for omnibus; there is one for ece, mean, ks"),
        ({"measure": "mcb"}, "no test with folds"),
        ({"measure": "brier"}, "no test with folds"),
        ({"measure": "kernel_ce_squared"}, "no test with folds"),
        ({"measure": "ece", "norm": "l2"}, "no test with folds"),
        ({"measure": "ece", "strategy": "quantile"}, "because its cells depend on the data"),
        ({"resample": "both"}, "rows without folds= beside resample=, because no study .* found resample='both'"),
        ({"stop_after": 20}, "rows without folds= beside stop_after=, because no study covers both; found"),
        ({"null": np.sqrt}, "rows without folds= beside null=, because each fold has a model of its own; found null="),
        ({"lens": "class_wise_mean"}, "folds= of one event, without lens= .* found lens="),
        ({"method": "sign_flip"}, "expected no method=, as rows in clusters have one test, by signs of whole clusters"),
        ({"method": "mirror"}, "expected no method= for a test of rows with folds=, which has one way; found 'mirror'"),
    ],
)
def test_what_no_study_has_is_refused(asked, found):
    with pytest.raises(ValueError, match=found):
        of_folds(Y, P, FOLD, **asked)


def test_each_model_of_several_is_tested():
    found = of_folds(Y, {"A": P, "B": np.sqrt(P)}, FOLD)
    assert found["A"].to_dict() == of_folds(Y, P, FOLD).to_dict()


def test_the_error_of_p_is_of_the_smaller_one():
    null = np.arange(999.0)
    of_rows = FoldPValues(990.0, null, np.array([0.5, 0.6]))
    assert of_rows.studied == pytest.approx(2 * 0.010)
    assert of_rows.error == pytest.approx(2 * np.sqrt(0.01 * 0.99 / 999))
    by_fold = FoldPValues(500.0, null, np.array([0.005, 0.6]))
    assert by_fold.studied == pytest.approx(4 * 0.005)
    assert by_fold.error == pytest.approx(4 * np.sqrt(0.005 * 0.995 / 999))
