"""Groups that a learner finds: exact p-values by enumeration, the split, and faulty twins of both."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import calibstat as cs
from calibstat.inference.auditing import learned_groups

ROWS = 400
WRONG = "x > 0.5"


def rows(n=ROWS, seed=1, error=1.5):
    """Rows whose log-odds are wrong by this where x > 1/2, with a text and missing values beside it."""
    random = np.random.default_rng(seed)
    features = pd.DataFrame(
        {"x": random.random(n).round(3), "z": random.random(n), "site": random.choice(list("AB"), n)}
    )
    features.loc[random.random(n) < 0.1, "z"] = np.nan
    p = random.random(n) * 0.8 + 0.1
    log_odds = np.log(p / (1 - p)) + error * (features["x"] > 0.5)
    return (random.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int), p, features


def agrees(p, exact, draws):
    """Whether a p-value is (1 + k) / (1 + B) with k in exact limits of a binomial number; one test in 1e5 fails."""
    k = round(p * (1 + draws) - 1)
    return stats.binom.ppf(1e-5 / 2, draws, exact) <= k <= stats.binom.isf(1e-5 / 2, draws, exact)


def test_p_value_of_refits_by_enumeration(monkeypatch):
    """Seven rows have 128 outcomes: the exact p-value adds up the chances of those whose own tree deviates as much."""
    monkeypatch.setattr(learned_groups, "FITTED_DRAWS", 1999)
    p = np.array([0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.9])
    x = np.array([3.0, 1.0, 2.0, 5.0, 4.0, 7.0, 6.0])
    y = np.array([0, 1, 1, 0, 0, 1, 1])
    variance = p * (1 - p)

    def leaves(outcome):
        tree = DecisionTreeRegressor(max_leaf_nodes=3, min_samples_leaf=2, random_state=0)
        matrix = np.column_stack([x, p])
        return tree.fit(matrix, (outcome - p) / variance, sample_weight=variance).apply(matrix)

    def statistic(outcome, leaf):
        parts = [leaf == k for k in np.unique(leaf)]
        return sum((outcome - p)[part].sum() ** 2 / variance[part].sum() for part in parts)

    outcomes = np.array([*product([0, 1], repeat=7)])
    chance = np.prod(np.where(outcomes, p, 1 - p), axis=1)
    null = np.array([statistic(each, leaves(each)) for each in outcomes])
    exact = chance[null >= statistic(y, leaves(y)) - 1e-9].sum()
    groups = cs.Groups(pd.DataFrame({"x": x}), learner="tree", leaves=3, min_rows=2, split=np.arange(7) < 4)
    found = cs.audit(y, p, groups, n_resamples=1999, rng=1).learned
    assert found.n_fits == 1999
    assert agrees(found.pvalue, exact, 1999)
    kept = np.array([statistic(each, leaves(y)) for each in outcomes])  # the fault: draws keep the tree of the data
    assert not agrees(found.pvalue, chance[kept >= statistic(y, leaves(y)) - 1e-9].sum(), 1999)


@pytest.mark.parametrize(
    "learner", ["tree", DecisionTreeRegressor(max_leaf_nodes=4, random_state=0), LinearRegression()]
)
def test_the_other_half_is_audited_as_by_masks(learner):
    y, p, features = rows()
    features = features if learner == "tree" else features[["x"]]
    seen = np.random.default_rng(2).random(ROWS) < 0.5
    found = cs.audit(y, p, cs.Groups(features, learner=learner, split=seen, min_rows=20), rng=3)
    assert found.n == ROWS - seen.sum()
    assert (found.learned.n, found.learned.n_seen) == (ROWS, seen.sum())
    assert found.learned.pvalue == 0.005
    if learner != "tree":
        return
    table = features[~seen].assign(prediction=p[~seen], site_A=features["site"][~seen] == "A")
    masks = {name: of_rule(name, table) for name in found.names[1:]}
    plain = cs.audit(y[~seen], p[~seen], masks, rng=3)
    for name in ("rows", "predicted", "observed", "low", "high", "root", "pvalue", "pvalue_adjusted"):
        assert np.array_equal(getattr(found, name), getattr(plain, name)), name


def of_rule(rule, table):
    """Return the rows of a rule of numbers."""
    found = np.ones(len(table), bool)
    for part in rule.split(" and "):
        part, or_missing = part.removesuffix(" (or missing)"), part.endswith(" (or missing)")
        if part.startswith("site"):
            found &= (table["site_A"] == (part in ("site = A", "site other than B"))).to_numpy()
            continue
        here = table.eval(part.replace(" missing", "!=z").replace("not", "")).to_numpy() if part else found
        name = next(name for name in ("x", "z", "prediction") if name in part.split(" "))
        found &= here | (table[name].isna().to_numpy() & or_missing)
    return found


def test_finds_the_group_and_says_so():
    y, p, features = rows(2000)
    found = cs.audit(y, p, cs.Groups(features, learner="tree", leaves=2), rng=1)
    assert len(found.names) == 3
    worst = found.names[found.found[0]]
    assert worst.startswith("x > 0.")
    text = str(found)
    assert text.startswith("Given these features, predictions are wrong (p = 0.005, 2,000 rows).\n")
    assert (
        "A tree of at most 2 leaves looked for groups on 1,000 rows. The other 1,000, which it did not see, say" in text
    )
    assert "fitted to 199 draws of their outcomes too)." in text
    assert found.sentences[0] == found.learned.answer


def test_says_when_nothing_is_found():
    y, p, features = rows(error=0)
    found = cs.audit(y, p, cs.Groups(features, learner="tree"), rng=1)
    assert "It is not shown that predictions are wrong given these features" in str(found)
    assert "Another learner may show it." in str(found)
    few = cs.audit(y, p, cs.Groups(features, learner="tree"), rng=1, n_resamples=9)
    assert "No error can be shown given these features: with 9 draws p is never 5 % or less." in str(few)


def test_of_one_side():
    """The leaves have one; all rows have no p-value, because a refitted tree is no rising function of the labels."""
    y, p, features = rows(2000)
    found = cs.audit(y, p, cs.Groups(features, learner="tree"), side="under", rng=1)
    assert found.learned.pvalue is None
    assert found.found.size
    assert "is not tested: this test has no side." in str(found)


def test_the_order_of_rows_and_threads_change_nothing():
    y, p, features = rows()
    p = p.round(1)
    plain = cs.audit(y, p, cs.Groups(features, learner="tree"), rng=5)
    order = np.random.default_rng(3).permutation(ROWS)
    moved = cs.audit(y[order], p[order], cs.Groups(features.iloc[order], learner="tree"), rng=5, n_jobs=2)
    assert plain.to_dict() == moved.to_dict()
    assert plain.to_dict() != cs.audit(y, p, cs.Groups(features, learner="tree"), rng=6).to_dict()


SETS, TIED = 150, 200


def found_by(split):
    """How many of 150 calibrated data sets are found wrong at 5 %, all with seed 1: two features of two levels, p = .5.

    `split` returns the rows that the learner sees; None for the split of the package.
    """
    count = 0
    for seed in range(SETS):
        random = np.random.default_rng([7, seed])
        features = pd.DataFrame(random.integers(0, 2, (TIED, 2)), columns=["a", "b"])
        y, p = np.sort(random.integers(0, 2, TIED)), np.full(TIED, 0.5)
        order = np.lexsort((y, features["b"], features["a"]))
        kind = {} if split is None else {"split": split(order)}
        found = cs.audit(y, p, cs.Groups(features, learner="tree", leaves=4, **kind), rng=1, n_resamples=39)
        count += found.pvalue_adjusted.min() <= 0.05
    return count


def every_second(order):
    seen = np.zeros(TIED, bool)
    seen[order[::2]] = True
    return seen


def most_ones(order):
    """A fault that one seed could have: of rows that are alike, the learner sees the first, of outcome 0."""
    seen = np.zeros(TIED, bool)
    seen[order[np.arange(TIED) % 50 < 25]] = True
    return seen


@pytest.mark.thorough
def test_level_of_rows_that_are_alike():
    """Rows come sorted by outcome, and all data sets have one seed."""
    most = stats.binom.isf(1e-4, SETS, 0.05)
    assert found_by(None) <= most
    assert found_by(most_ones) > most


def test_level_of_all_rows_and_of_the_other_half():
    """Two rates, each within the exact limit of 5 %; on the rows that the tree saw, it finds what is not there."""
    answers = []
    for seed in range(40):
        y, p, features = rows(200, seed=[9, seed], error=0)
        groups = cs.Groups(features, learner="tree", min_rows=10)
        found = cs.audit(y, p, groups, rng=seed, n_resamples=39)
        weight = p * (1 - p)
        tree = learned_groups.Tree(learned_groups.columns_of(features, p), 8, 10, 1)
        rules = tree.named((y - p) / weight, weight, np.arange(200), np.arange(200))
        seen = cs.audit(y, p, rules, rng=seed, n_resamples=39)
        answers.append((found.learned.pvalue, found.pvalue_adjusted.min(), seen.pvalue_adjusted.min()))
    by_refits, by_split, by_fault = (np.array(answers) <= 0.05).sum(axis=0)
    most = stats.binom.isf(1e-4, 40, 0.05)
    assert max(by_refits, by_split) <= most < by_fault


class Neighbours(RegressorMixin, BaseEstimator):
    """A learner that looks at the order of rows: it predicts x if neighbours have like targets, else 0."""

    def fit(self, X, y, sample_weight=None):
        self.like_ = np.mean(y[1:] * y[:-1]) > 0.5 * np.mean(y * y)
        return self

    def predict(self, X):
        return np.asarray(X, float)[:, 0] * self.like_


def of_neighbours(sets):
    """The p-values of calibrated data sets with many rows that are alike."""
    found = []
    for seed in range(sets):
        random = np.random.default_rng([3, seed])
        x, y = random.integers(0, 2, 100), random.integers(0, 2, 100)
        groups = cs.Groups({"x": x}, learner=Neighbours(), min_rows=5, leaves=2)
        found.append(cs.audit(y, np.full(100, 0.5), groups, rng=seed, n_resamples=19).learned.pvalue)
    return np.array(found)


@pytest.mark.thorough
def test_a_learner_may_look_at_the_order_of_rows(monkeypatch):
    """Rows that are alike stand in the order of their outcomes, and so do drawn ones; else p is too small."""
    most = stats.binom.isf(1e-4, 300, 0.05)
    assert (of_neighbours(300) <= 0.05).sum() <= most
    ask = learned_groups._p_of_refits

    def of_drawn_order(learner, y, p, weight, alike, draws):
        return ask(learner, y, p, weight, np.arange(y.size), draws)

    monkeypatch.setattr(learned_groups, "_p_of_refits", of_drawn_order)
    assert (of_neighbours(300) <= 0.05).sum() > most


def test_large_whole_numbers():
    """Neighbours above 2^53 are the same as floats, and their rule has to be exact all the same."""
    number, seen = np.arange(ROWS), np.random.default_rng(1).random(ROWS) < 0.5
    y = (number >= 200).astype(int)
    groups = cs.Groups({"id": 2**60 + number}, learner="tree", leaves=2, split=seen)
    found = cs.audit(y, np.full(ROWS, 0.5), groups, rng=1)
    low = next(name for name in found.names if name.startswith("id <= "))
    cut = int(low.removeprefix("id <= ")) - 2**60
    assert 190 < cut < 210
    assert found.rows[found.names.index(low)] == (~seen & (number <= cut)).sum()


def test_a_cut_at_zero_has_no_sign():
    number = np.arange(ROWS) - 200.0
    found = cs.audit((number > 0).astype(int), np.full(ROWS, 0.5), cs.Groups({"z": number}, learner="tree"), rng=1)
    assert not any("-0" in name.split() for name in found.names)


def test_impossible_rows():
    """Rows are named as they were given, though a part of them is audited; all rows show them too."""
    y, p, features = rows(error=0)
    seen = np.arange(ROWS) % 2 == 0
    p[[11, 12]], y[[11, 12]] = 0, 1
    found = cs.audit(y, p, cs.Groups(features, learner="tree", split=seen), rng=1)
    assert found.impossible.first == 11
    assert found.impossible.number[0] == 1  # row 12 was seen by the tree
    assert (found.learned.pvalue, found.learned.impossible) == (0.005, 2)
    assert found.learned.pvalue_uncertain > 0.05
    y[[11, 12]] = 0
    assert cs.audit(y, p, cs.Groups(features, learner="tree", split=seen), rng=1).learned.pvalue > 0.05


def test_certain_predictions_say_nothing():
    y, _, features = rows(error=0)
    found = cs.audit(y, y.astype(float), cs.Groups(features, learner="tree"), rng=1)
    assert found.learned.pvalue == 1
    assert found.names == ("all rows",)


def test_other_features():
    """An array has columns x0, x1 ...; a mapping of columns is a frame."""
    y, p, features = rows(1000)
    array = features[["x", "z"]].to_numpy()
    found = cs.audit(y, p, cs.Groups(array, learner="tree", leaves=2), rng=1)
    assert any("x0 > " in name for name in found.names)
    same = cs.audit(y, p, cs.Groups({"x0": array[:, 0], "x1": array[:, 1]}, learner="tree", leaves=2), rng=1)
    assert same.to_dict() == found.to_dict()
    one = cs.audit(y, p, cs.Groups(array[:, 0], learner="tree", leaves=2), rng=1)
    assert any("x0 > " in name for name in one.names)


def test_classes():
    random = np.random.default_rng(1)
    prob = random.dirichlet(np.ones(3), 600)
    label = (prob.cumsum(axis=1) < random.random((600, 1))).sum(axis=1)
    found = cs.audit(label, prob, cs.Groups(random.random((600, 2)), learner="tree"), rng=1)
    assert str(found.lens) == "lens top_label"
    assert found.learned.n == 600


class NotANumber(LinearRegression):
    """A learner that predicts nothing."""

    def predict(self, X):
        return np.full(len(X), np.nan)


Y, P, X = rows()


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"learner": "forest"}, "expected learner 'tree' or a regressor, found 'forest'"),
        (
            {"learner": "tree", "depth": 3},
            "expected no depth beside a learner, which finds its own groups; found depth=3",
        ),
        ({"learner": "tree", "n_quantiles": 5}, "expected no n_quantiles beside a learner"),
        ({"leaves": 4}, "expected no leaves without a learner; found leaves=4"),
        ({"split": 0.3}, "expected no split without a learner; found split=0.3"),
        ({"split": np.ones(ROWS, bool)}, "expected no split without a learner"),
        ({"learner": "tree", "split": 1.0}, "between 0 and 1, or a boolean mask of them; found 1.0"),
        ({"learner": "tree", "split": "half"}, "found 'half'"),
        ({"learner": "tree", "leaves": 1}, "expected leaves to be a whole number of at least 2, found 1"),
        ({"learner": "tree", "split": np.ones(3, bool)}, "expected a boolean mask of 400 rows in split, found bool of"),
        ({"learner": "tree", "split": np.arange(ROWS)}, "found int64 of shape"),
        ({"learner": "tree", "split": np.ones(ROWS, bool)}, "found 400 of 400 rows that it sees"),
        ({"learner": "tree", "split": 0.1}, "min_rows=30 or more for each of two groups .* found 40 of 400 rows"),
        ({"learner": KNeighborsRegressor()}, "expected a learner whose fit takes sample_weight, found KNeighbors"),
        ({"learner": make_pipeline(LinearRegression())}, "expected a learner whose fit takes sample_weight"),
        ({"learner": LinearRegression}, "expected an estimator, found the class LinearRegression"),
        ({"learner": 3}, "expected an estimator as in scikit-learn|expected an estimator with predict"),
        ({"learner": NotANumber()}, "expected finite predictions of the learner, found nan of NotANumber"),
    ],
)
def test_bad_input(groups, message):
    with pytest.raises(ValueError, match=message):
        cs.audit(Y, P, cs.Groups(X[["x"]], **groups), rng=1)


def test_clusters_are_refused():
    with pytest.raises(ValueError, match="expected no cluster= beside a learner"):
        cs.audit(Y, P, cs.Groups(X[["x"]], learner="tree"), cluster=np.arange(ROWS) // 2, rng=1)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (X.iloc[1:], "expected one row of features for each outcome, found 399 rows and 400 outcomes"),
        (X[[]], "expected a data frame with a column of features, found none"),
        (X.assign(prediction=1), "expected another name than 'prediction' beside a learner"),
        (X[["x", "x"]], "expected columns of different names, found 'x' more than once"),
        (X.set_axis([1, "1", 2], axis=1), "expected columns of different names, found '1' more than once"),
        (csr_array(np.ones((ROWS, 2))), "found a sparse matrix; give X.toarray"),
        (np.zeros((2, 2, 2)), "expected features of shape .n, k. for a learner, found shape .2, 2, 2."),
    ],
)
def test_bad_features(features, message):
    with pytest.raises(ValueError, match=message):
        cs.audit(Y, P, cs.Groups(features, learner="tree"), rng=1)


def test_seeds_of_a_learner_that_draws():
    y, p, features = rows()
    learner = GradientBoostingRegressor(n_estimators=3, subsample=0.5)
    groups = cs.Groups(features[["x"]], learner=learner)
    first = cs.audit(y, p, groups, rng=1, n_resamples=19)
    assert first.to_dict() == cs.audit(y, p, groups, rng=1, n_resamples=19).to_dict()
    assert learner.random_state is None
