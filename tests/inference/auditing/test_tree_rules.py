"""Leaves of a tree as rules: their words are exact, and they part the rows that the tree saw as the tree does."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from calibstat.inference.auditing.tree_rules import Tree, columns_of

N = 400


def frame(seed, n=N):
    random = np.random.default_rng(seed)
    features = pd.DataFrame({
        "age": random.integers(18, 90, n),
        "income": np.where(random.random(n) < 0.2, np.nan, random.lognormal(10, 1, n)),
        "site": np.where(random.random(n) < 0.1, None, random.choice(["A", "B", "C"], n)),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 200, n), "D"),
        "new": random.random(n) < 0.5,
    })  # fmt: skip
    return features, random.random(n), random


def in_words(rule, features, p):
    """Which rows a rule is about, read from its words alone."""
    found, table = np.ones(len(p), bool), features.assign(prediction=p)
    for part in rule.split(" and "):
        or_missing, part = part.endswith(" (or missing)"), part.removesuffix(" (or missing)")
        words = part.split(" ")
        name = next(word for word in words if word in table)
        column = table[name]
        rest = part.replace(name, "_", 1)
        as_value = pd.Timestamp if name == "day" else float
        if rest == "_ missing":
            here = column.isna()
        elif rest == "_ not missing":
            here = column.notna()
        elif rest.startswith("_ other than "):
            here = column.astype(object).map(str) != rest.removeprefix("_ other than ")
        elif rest.startswith("_ = "):
            here = column.astype(object).map(str) == rest.removeprefix("_ = ")
        else:
            low, _, rest = rest.rpartition(" < ") if " < " in rest else ("", "", rest)
            here = pd.Series(True, index=column.index) if or_missing else column.notna()
            inside = pd.Series(True, index=column.index)
            inside &= column > as_value(low) if low else True
            inside &= column > as_value(rest.removeprefix("_ > ")) if rest.startswith("_ > ") else True
            inside &= column <= as_value(rest.removeprefix("_ <= ")) if rest.startswith("_ <= ") else True
            here = (here & inside) | (column.isna() if or_missing else False)
        found &= here.to_numpy()
    return found


@given(st.integers(0, 10_000), st.integers(2, 12))
def test_words_are_exact(seed, leaves):
    features, p, random = frame(seed)
    target, weight = random.normal(size=N), random.random(N) + 0.1
    train = np.flatnonzero(random.random(N) < 0.5)
    tree = Tree(columns_of(features, p), leaves, 10, 1)
    rules = tree.named(target, weight, train, np.arange(N))
    assert len(rules) <= leaves
    assert (sum(rules.values()) == 1).all()
    for rule, mask in rules.items():
        assert np.array_equal(in_words(rule, features, p), mask), rule
        assert mask[train].sum() >= 10


def test_parts_the_rows_that_it_saw_as_a_tree_of_numbers_does():
    """The tree of scikit-learn for the numbers themselves, in which no two round to one of single precision."""
    random = np.random.default_rng(3)
    features = pd.DataFrame({"a": random.integers(0, 1000, N), "b": random.normal(size=N).round(4)})
    p, target, weight = random.random(N).round(4), random.normal(size=N), random.random(N) + 0.1
    train = np.flatnonzero(random.random(N) < 0.5)
    rules = Tree(columns_of(features, p), 6, 20, 5).named(target, weight, train, train)
    plain = DecisionTreeRegressor(max_leaf_nodes=6, min_samples_leaf=20, random_state=5)
    matrix = np.column_stack([features, p])[train]
    leaf = plain.fit(matrix, target[train], sample_weight=weight[train]).apply(matrix)
    assert {tuple(np.flatnonzero(mask)) for mask in rules.values()} == {
        tuple(np.flatnonzero(leaf == k)) for k in np.unique(leaf)
    }


def test_a_cut_is_a_short_number_between_the_values_that_the_tree_saw():
    a = np.array([1.25, 1.5, 2.875, 3.0, 10.0])
    (column, _) = columns_of(pd.DataFrame({"a": a}), np.full(5, 0.5))
    cut = column.cut(1.5, np.arange(5))  # between the codes of 1.5 and 2.875
    assert column.words([(cut, True)]) == "a <= 2"
    assert column.words([(cut, False)]) == "a > 2"
    seen = column.cut(2.0, np.array([0, 4]))  # 1.25 and 10: a cut at 2 parts the other rows too
    assert (seen.at, seen.place) == ("2", 1)
    assert column.words([(cut, False), (column.cut(3.5, np.arange(5)), True)]) == "2 < a <= 3"


def test_words_of_missing_values_levels_and_days():
    days = np.array([datetime.date(2020, 1, 1), datetime.date(2020, 1, 3), datetime.date(2020, 1, 4)])
    features = pd.DataFrame({"a": [1.0, np.nan, 3.0], "t": ["x", None, "y"], "d": days})
    a, x, y, t, d, _ = columns_of(features, np.full(3, 0.5))
    rows = np.arange(3)
    missing = a.cut(-0.5, rows)
    assert [a.words([(missing, side)]) for side in (True, False)] == ["a missing", "a not missing"]
    assert a.words([(a.cut(0.5, rows), True)]) == "a <= 1 (or missing)"
    assert a.words([(missing, False), (a.cut(0.5, rows), True)]) == "a <= 1"
    assert [each.words([(each.cut(0.5, rows), False)]) for each in (x, y, t)] == ["t = x", "t = y", "t missing"]
    assert t.words([(t.cut(0.5, rows), True)]) == "t not missing"
    assert x.words([(x.cut(0.5, rows), True)]) == "t other than x (or missing)"
    assert d.words([(d.cut(0.5, rows), True)]) == "d <= 2020-01-01"


@pytest.mark.parametrize("n", [1, 40])
def test_one_part(n):
    """Nothing to split by: the tree has no rule."""
    tree = Tree(columns_of(pd.DataFrame({"a": np.zeros(n)}), np.full(n, 0.5)), 8, 1, 1)
    rows = np.arange(n)
    assert tree.named(np.arange(n, dtype=float), np.ones(n), rows, rows) == {}
    assert np.unique(tree.parts(np.arange(n, dtype=float), np.ones(n))).size == 1
