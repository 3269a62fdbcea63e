"""The p-value of features: by all permutations, by how often it rejects, and what each part of the argument is for."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import combine_pvalues
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import calibstat as cs
from calibstat.inference.decomposing.outcomes_within_predictions import fisher, p_of_features
from calibstat.resampling import Draws
from calibstat.study import most_rejections

DRAWS = Draws(np.uint64(1), 999)


def exact(y, p, evidence):
    """The share of all permutations of the outcomes within equal predictions with at least the evidence observed."""
    sums = [[evidence[list(chosen)].sum() for chosen in combinations(at, int(y[at].sum()))]
            for at in (np.flatnonzero(p == v) for v in np.unique(p))]  # fmt: skip
    found = np.array([sum(each) for each in product(*sums)])
    return np.mean(found >= evidence[y == 1].sum() - 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_one_fold_beside_all_permutations(seed):
    random = np.random.default_rng(seed)
    p, y = random.choice([0.2, 0.5, 0.7], 13), random.integers(0, 2, 13)
    evidence = random.normal(size=13) + y * (seed % 3 - 1)
    truth = exact(y, p, evidence)
    found = p_of_features(y, p, np.zeros(13, np.int64), evidence, DRAWS)
    assert found == pytest.approx(truth, abs=4.5 * np.sqrt(truth * (1 - truth) / 999) + 0.001)


def test_folds_by_hand():
    """Two of four rows with one prediction have outcome 1, as the evidence says: one of 6 pairs is as large. The other
    fold has one row of each prediction, so nothing can be exchanged: p = 1. In all -log(p) is about log 6, of two."""
    y, p = np.array([1, 1, 0, 0, 1, 0]), np.array([0.3, 0.3, 0.3, 0.3, 0.3, 0.6])
    fold, evidence = np.array([0, 0, 0, 0, 1, 1]), np.array([2.0, 1.0, 0.0, -1.0, 5.0, 5.0])
    found = p_of_features(y, p, fold, evidence, DRAWS)
    assert found == pytest.approx((1 + np.log(6)) / 6, abs=0.06)
    assert p_of_features(y, p, np.where(fold == 0, 0, 1), np.where(fold == 0, evidence, np.nan), DRAWS) < found
    assert p_of_features(y, p, fold, np.full(6, np.nan), DRAWS) == 1.0


def test_evidence_that_is_equal_where_predictions_are_says_nothing():
    random = np.random.default_rng(3)
    p, y = random.choice([0.1, 0.4, 1 / 3], 300), random.integers(0, 2, 300)
    assert p_of_features(y, p, np.zeros(300, np.int64), np.zeros(300), DRAWS) == 1.0
    assert p_of_features(y, p, random.integers(0, 3, 300), np.log(p) * 1e3, DRAWS) == 1.0


def test_the_evidence_has_a_direction():
    random = np.random.default_rng(4)
    x = random.normal(size=400)
    y = (random.random(400) < 1 / (1 + np.exp(-x))).astype(int)
    one = np.zeros(400, np.int64)
    assert p_of_features(y, np.full(400, 0.5), one, x, DRAWS) == pytest.approx(0.001)
    assert p_of_features(y, np.full(400, 0.5), one, -x, DRAWS) == pytest.approx(1.0)


@pytest.mark.parametrize("pvalues", [[0.3], [0.01, 0.9], [0.2, 0.04, 1.0, 0.5]])
def test_products_of_p_values_beside_scipy(pvalues):
    assert fisher(pvalues) == pytest.approx(combine_pvalues(pvalues).pvalue, rel=1e-12)


SEEN = []  # the rows of each fit


class Seen:
    """Remembers what it was fitted to, and predicts a column of the features."""

    classes_ = np.array([0, 1])

    def get_params(self, deep=True):
        return {}

    def set_params(self):
        return self

    def fit(self, X, y):
        SEEN.append(X[:, 0].astype(int).tolist())
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 1], X[:, 1]])


def test_each_fold_is_tested_by_a_fit_to_the_folds_before():
    SEEN.clear()
    fold = np.arange(20) % 4
    X = np.column_stack([np.arange(20), np.linspace(0.1, 0.9, 20)])
    y = np.arange(20) // 4 % 2
    cs.grouping_loss(Seen(), X, y, np.full(20, 0.5), cv=fold, rng=1)
    assert SEEN[4:] == [np.flatnonzero(fold < k).tolist() for k in (1, 2, 3)]
    SEEN.clear()
    cs.grouping_loss(Seen(), X, np.where(fold > 1, y, 1), np.full(20, 0.5), cv=fold, rng=1)
    assert SEEN[4:] == [np.flatnonzero(fold < 3).tolist()]  # the two first have events alone


def test_no_p_value_where_predictions_do_not_repeat():
    random = np.random.default_rng(1)
    X, y, p = random.normal(size=(60, 2)), np.arange(60) % 2, np.linspace(0.1, 0.9, 60)
    found = cs.grouping_loss(GaussianNB(), X, y, p, rng=1)
    assert found.pvalue is None
    assert "No p-value: no two rows share a prediction." in str(found)
    assert cs.grouping_loss(GaussianNB(), X, y, np.round(p, 1), rng=1).pvalue is not None


def test_the_p_value_is_the_same_for_any_number_of_threads_and_clips_as_the_score_does():
    random = np.random.default_rng(5)
    X = random.normal(size=(300, 2))
    y, p = (random.random(300) < 0.3 + 0.4 * (X[:, 0] > 0)).astype(int), random.choice([0.3, 0.7], 300)
    tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=1)
    one, two = (cs.grouping_loss(tree, X, y, p, score="log_loss", clip=0.01, rng=2, n_jobs=k) for k in (1, 2))
    assert one.pvalue == two.pvalue <= 0.01
    assert "Among rows with equal predictions, outcomes depend on the features (p = " in str(one)


def wrong_by_a_tenth(random, n):
    """Seven predictions, all a tenth too high, and features that say nothing."""
    p = random.integers(1, 8, n) / 8
    return random.normal(size=(n, 2)), (random.random(n) < p - 0.1).astype(int), p


def rejections(repeats, seed, ask):
    random = np.random.default_rng(seed)
    return sum(ask(*wrong_by_a_tenth(random, 200), int(random.integers(2**31))) <= 0.05 for _ in range(repeats))


def test_wrong_predictions_alone_are_not_found():
    def asked(X, y, p, seed):
        return cs.grouping_loss(GaussianNB(), X, y, p, cv=3, rng=seed).pvalue

    assert rejections(150, 1, asked) <= most_rejections(0.05, 150, 1e-4)


def test_exchanging_all_rows_would_find_wrong_predictions():
    """The planted fault: the estimator knows the prediction, so its evidence goes with the outcomes."""

    def asked(X, y, p, seed):
        return p_of_features(y, np.zeros(y.size), np.zeros(y.size, np.int64), p, DRAWS)

    assert rejections(40, 2, asked) == 40


def test_evidence_of_the_rows_it_was_learnt_from_would_find_noise():
    """The planted fault: a tree that was fitted to the rows of the test."""

    def asked(X, y, p, seed):
        known = DecisionTreeClassifier(max_leaf_nodes=30, random_state=1).fit(X, y).predict_proba(X)[:, 1]
        return p_of_features(y, p, np.zeros(y.size, np.int64), known, DRAWS)

    assert rejections(40, 3, asked) > most_rejections(0.05, 40, 1e-4)
