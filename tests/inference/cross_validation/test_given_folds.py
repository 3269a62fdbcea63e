"""Folds: dealt at random without outcomes and features, given as numbers, or made by a splitter."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from calibstat.inference.cross_validation.given_folds import folds_asked
from calibstat.resampling import key_of, repeated_folds

N = 60
X = np.arange(N, dtype=float)[:, None]
Y = np.arange(N) % 2
UNIT = np.arange(N) // 4
KEY = key_of(1)


def asked(cv, repeats=None, y=Y, unit=None, groups=None):
    return folds_asked(cv, repeats, KEY, X, y, unit, groups)


def test_a_number_of_folds_is_dealt_three_times_by_the_seed_alone():
    fold = asked(5)
    assert fold.tolist() == repeated_folds(KEY, Y, 5, 3).tolist()
    assert all(np.bincount(column).tolist() == [12] * 5 for column in fold.T)
    assert len({tuple(column) for column in fold.T}) == 3
    assert asked(5, y=1 - Y).tolist() == fold.tolist()
    assert asked(4, 1).shape == (N, 1)


def test_all_rows_of_a_group_are_dealt_together():
    fold = asked(5, unit=UNIT)
    assert all(len(set(column[u == UNIT])) == 1 for column in fold.T for u in range(15))


def test_no_outcome_is_dealt_to_one_fold_alone():
    rare = np.arange(N) < 2
    for key in range(40):
        fold = folds_asked(5, 3, key_of(key), X, rare, None, None)
        assert (fold[0] != fold[1]).all()
        assert (np.ptp(folds_asked(5, 3, key_of(key), X, UNIT // 2 == 3, UNIT, None)[24:32], axis=0) > 0).all()


@pytest.mark.parametrize(
    ("y", "unit", "found"),
    [
        (np.where(np.arange(N) == 7, "yes", "no"), None, "at least 2 rows with each .* found 1 row with class 'yes'"),
        (
            np.r_[2, np.arange(N - 1) % 2],
            None,
            "found 1 row with class 2; give more rows with it, leave it out or join it",
        ),
        (UNIT == 3, UNIT, "at least 2 groups with each .* found 1 group with class True; give more groups with it$"),
    ],
)
def test_an_outcome_that_cannot_be_in_two_folds_is_refused_whatever_the_seed(y, unit, found):
    for key in range(5):
        with pytest.raises(ValueError, match=found):
            folds_asked(5, 3, key_of(key), X, y, unit, None)


def test_folds_may_be_numbers_or_names_of_one_repeat_or_more():
    names = np.array(["a", "b", "c"])[np.arange(N) % 3]
    assert asked(names)[:, 0].tolist() == (np.arange(N) % 3).tolist()
    two = np.column_stack((np.arange(N) % 3, np.arange(N) % 4))
    assert asked(two).tolist() == two.tolist()


def test_splitters_may_repeat_their_folds():
    once = asked(KFold(3, shuffle=True, random_state=0))
    assert once.shape == (N, 1)
    for k, (_, test) in enumerate(KFold(3, shuffle=True, random_state=0).split(X)):
        assert (once[test, 0] == k).all()
    assert asked(RepeatedKFold(n_splits=3, n_repeats=4, random_state=0)).shape == (N, 4)
    assert asked(StratifiedKFold(3)).max() == 2
    assert asked(LeaveOneGroupOut(), groups=UNIT).max() == 14
    assert asked(GroupKFold(5), unit=UNIT, groups=UNIT).max() == 4


@pytest.mark.parametrize(
    ("cv", "repeats", "said"),
    [
        (1, None, "expected cv to be a whole number of at least 2, found 1"),
        (True, None, "expected cv to be a whole number of at least 2, found True"),
        (31, None, "expected at least 2 rows in each fold, found 60 rows for cv=31"),
        (5, 0, "expected repeats to be a whole number of at least 1, found 0"),
        (KFold(3), 2, "expected repeats= with a number of folds as cv alone"),
        ("stratified", None, "expected cv, a number of folds, a splitter .* found str 'stratified'"),
        (np.arange(N + 1), None, r"the fold of each of 60 rows, shape \(60,\) or \(60, R\), found ndarray of shape"),
        (TimeSeriesSplit(3), None, "found .* of .* by TimeSeriesSplit.* are judged by cs.Monitor"),
        (ShuffleSplit(3, random_state=0), None, "expected folds that hold out every row once, found row .* twice"),
        (ShuffleSplit(1, random_state=0), None, "expected folds that hold out every row once, found row .* never held"),
    ],
)
def test_other_folds_are_refused(cv, repeats, said):
    with pytest.raises(ValueError, match=said):
        asked(cv, repeats)


class Doubling:
    """A splitter that holds out one row twice in one fold."""

    def split(self, X, y, groups):
        yield np.arange(2, N), np.array([0, 1, 1])


def test_a_row_that_is_twice_in_one_fold_is_found():
    with pytest.raises(ValueError, match="found row 1 held out twice"):
        asked(Doubling())


def test_groups_are_not_torn():
    with pytest.raises(ValueError, match="found row 1 in fold 1 and an earlier row of its group in fold 0"):
        asked(np.arange(N) % 3, unit=UNIT)
    with pytest.raises(ValueError, match=r"found row \d+ in fold \d and .* in fold \d of repeat 1"):
        asked(np.column_stack((UNIT % 3, np.arange(N) % 3)), unit=UNIT)
    with pytest.raises(ValueError, match="expected at least 2 groups in each fold, found 9 groups for cv=5"):
        asked(5, unit=np.arange(N) % 9)
