"""Folds of rows: what is refused, what is warned of, and that names of folds do not matter."""

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.data.folds_of_rows import are_stratified, columns_of_folds, folds_in_words, numbered_folds

Y, P = cs.generators.temperature(2).sample(120, rng=1)
FOLD = np.arange(120) % 5
LABEL, PROB = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(120, rng=1)
UNIT = np.arange(120) // 4
TWICE = np.column_stack([P, P[::-1]]), np.column_stack([FOLD, FOLD[::-1]])
ONE_OUTCOME = np.where(Y == 1, "events", np.where(np.arange(120) % 2 == 0, "a", "b"))


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ({"folds": np.zeros(120)}, "expected at least 2 folds, found 1"),
        ({"folds": FOLD[1:]}, r"expected one fold a row, shape \(120,\), found shape \(119,\)"),
        ({"folds": np.where(FOLD == 3, np.nan, FOLD)}, "expected no missing folds, found one at row 3"),
        ({"folds": np.append(FOLD[1:], 9)}, "at least 2 rows in each fold, found 1 in fold 9"),
        ({"folds": np.arange(120)}, "at least 2 rows in each fold, found 1"),
        (
            {"folds": ONE_OUTCOME},
            "among the training rows of each fold, found outcome 0 alone outside of fold 'events'",
        ),
        ({"folds": TWICE[1].T}, r"found folds of shape \(2, 120\) and y_prob of shape \(120,\)"),
        ({"folds": TWICE[1]}, r"folds of shape \(120, 2\) and y_prob of shape \(120,\)"),
        ({"y_prob": TWICE[0], "folds": np.column_stack([FOLD, FOLD % 4])}, "the same number of folds in each repeat"),
        ({"y_prob": TWICE[0][:, :0], "folds": TWICE[1][:, :0]}, "at least one repeat, found folds without columns"),
        ({"folds": {"A": FOLD}}, "expected folds, one array for all models"),
        ({"folds": FOLD, "lens": "top_label"}, "found lens="),
        (
            {"folds": FOLD, "cluster": np.arange(120) // 2},
            r"all rows of a cluster in one fold, found row 1 in fold \d and an earlier row of its cluster in fold \d$",
        ),
        (
            {
                "y_prob": TWICE[0],
                "folds": np.column_stack([np.arange(120) // 24, FOLD]),
                "cluster": np.arange(120) // 2,
            },
            r"found row 1 .* of its cluster in fold \d of repeat 1",
        ),
        ({"folds": np.minimum(UNIT, UNIT % 4 + 1), "cluster": UNIT}, "2 clusters in each fold, found 1"),
        ({"folds": FOLD, "sample_weight": np.ones(120)}, "found sample_weight="),
        ({"y_true": LABEL, "y_prob": PROB, "folds": FOLD}, "found predictions of 3 classes"),
        ({"y_true": cs.Sample.from_rows(Y, P), "y_prob": None, "folds": FOLD}, "found a Sample"),
        ({"y_true": pd.Series(Y), "folds": pd.Series(FOLD)[::-1]}, "expected folds with the index of y_true"),
        ({"y_prob": FOLD, "folds": P}, "expected a probability"),
    ],
)
def test_what_is_refused(rows, found):
    with pytest.raises(ValueError, match=found):
        cs.Data(**{"y_true": Y, "y_prob": P, **rows})


def test_models_with_folds_take_whole_clusters():
    with pytest.raises(ValueError, match="all rows of a cluster in one fold"):
        cs.Models(Y, {"A": P, "B": 1 - P}, folds=FOLD, cluster=np.arange(120) // 2)
    models = cs.Models(Y, {"A": P, "B": 1 - P}, folds=np.arange(120) // 2 % 5, cluster=np.arange(120) // 2)
    assert all(np.array_equal(each.cluster, np.arange(120) // 2) for each in models.values())


def test_names_of_folds_do_not_matter():
    named = np.array(["e", "b", "a", "d", "c"])[FOLD]
    for ask in (cs.confidence_interval, cs.calibration_test):
        assert ask(Y, P, folds=FOLD, rng=1).to_dict() == ask(Y, P, folds=named, rng=1).to_dict()


def test_few_rows_a_fold_are_warned_of():
    with pytest.warns(UserWarning, match="15 rows a fold on average are few"):
        cs.Data(Y, P, folds=np.arange(120) % 8)


def test_repeats_are_columns():
    data = cs.Data(Y, TWICE[0], folds=TWICE[1])
    assert repr(data) == f"Data(120 rows, {Y.sum()} with outcome 1, 5 folds, 2 repeats)"
    one, two = data.repeats
    assert np.array_equal(one.fold, FOLD)
    assert np.array_equal(two.rows.y_prob, P[::-1])
    assert len(columns_of_folds(P, FOLD)) == 1
    alone = data.as_independent()
    assert alone.fold is None
    assert len(alone.repeats) == 1


def test_two_columns_of_one_repeat_are_two_classes():
    both = np.column_stack([1 - P, P])
    found = cs.confidence_interval(Y, both, folds=FOLD, rng=1)
    assert found.to_dict() == cs.confidence_interval(Y, P, folds=FOLD, rng=1).to_dict()


def test_names_of_outcomes_are_taken():
    named = np.where(Y == 1, "yes", "no")
    found = cs.calibration_test(named, TWICE[0], folds=TWICE[1], pos_label="yes", rng=1)
    assert found.to_dict() == cs.calibration_test(Y, TWICE[0], folds=TWICE[1], rng=1).to_dict()


def test_folds_are_numbered_and_described():
    fold = numbered_folds(np.repeat(["x", "y", "z"], [40, 20, 60]), Y)
    assert np.array_equal(np.bincount(fold), [40, 20, 60])
    assert folds_in_words(fold, 1) == "3 folds of 20 to 60 rows"
    assert folds_in_words(FOLD, 3) == "5 folds of 24 rows, 3 repeats"


def test_stratified_folds_hold_equal_numbers_of_events():
    outcome = np.repeat([0, 1], [30, 12])
    assert are_stratified(np.arange(42) % 5, outcome)  # 3, 3, 2, 2, 2
    assert not are_stratified(np.arange(42) // 9, outcome)
