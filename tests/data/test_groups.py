"""Groups of rows: levels and their intersections, masks, duplicates, and what is wrong with them."""

import dataclasses
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibstat.data import groups
from calibstat.data.groups import Groups, as_groups, given_groups

FRAME = pd.DataFrame({"sex": ["man", "woman"] * 4, "age": [20, 20, 30, 30, 40, 40, 50, 50], "one": 1})
PLAIN = {"depth": 1, "min_rows": 1, "n_quantiles": 2}


def made(groups, n=8, depth=2, min_rows=1, n_quantiles=2):
    return as_groups(Groups(groups, depth=depth, min_rows=min_rows, n_quantiles=n_quantiles), n)


def rows_of(found):
    return {name: np.flatnonzero(mask).tolist() for name, mask in zip(found.names, found.masks(), strict=True)}


def test_levels_and_intersections():
    found = made(FRAME)
    assert rows_of(found) == {
        "all rows": list(range(8)),
        "sex = man": [0, 2, 4, 6], "sex = woman": [1, 3, 5, 7],
        "age <= 30": [0, 1, 2, 3], "age > 30": [4, 5, 6, 7],
        "sex = man and age <= 30": [0, 2], "sex = man and age > 30": [4, 6],
        "sex = woman and age <= 30": [1, 3], "sex = woman and age > 30": [5, 7],
    }  # fmt: skip
    assert found.left_out == "5 with the same rows as another group"  # one = 1, and it with each of four levels


def test_depth():
    frame = pd.DataFrame({name: np.arange(8) >> k & 1 for k, name in enumerate("abc")})
    for depth, size in ((1, 7), (2, 19), (3, 27), (9, 27)):  # 3^3 choices of one of two levels or neither
        assert len(made(frame, depth=depth).names) == size
    assert rows_of(made(frame, depth=3))["a = 1 and b = 1 and c = 0"] == [3]


def test_few_rows_make_no_group():
    frame = pd.DataFrame({"a": [0, 0, 0, 0, 0, 1, 1, 2], "b": [0, 0, 0, 1, 1, 1, 1, 1]})
    found = made(frame, min_rows=2, n_quantiles=3)
    # of levels a = 2; of intersections none with it, a = 1 and b = 0 is empty
    assert list(found.names[1:]) == ["a = 0", "a = 1", "b = 0", "b = 1", "a = 0 and b = 1"]
    assert found.left_out == "1 level of fewer than 2 rows; 2 with the same rows as another group"
    found = made(frame, min_rows=3, n_quantiles=3)
    assert found.left_out.startswith("2 levels and 1 intersection of fewer than 3 rows")


def test_a_column_of_names_makes_no_groups():
    """Of 20,000 different names none has two rows: no time is spent on them, and their number is said."""
    frame = pd.DataFrame({"name": [f"person {k}" for k in range(20_000)], "sex": ["man", "woman"] * 10_000})
    found = made(frame, n=20_000, min_rows=2)
    assert found.names == ("all rows", "sex = man", "sex = woman")
    assert found.left_out == "20,000 levels of fewer than 2 rows"


def test_constant_columns_leave_all_rows():
    assert made(FRAME[["one"]]).names == ("all rows",)


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        ({"a": [True] * 4 + [False] * 4, 3: np.arange(8) > 5}, ("all rows", "a", "3")),
        (np.arange(8) > 5, ("all rows", "group 0")),
        (np.stack([np.arange(8) > 5, np.arange(8) < 9, np.arange(8) < 2], axis=1), ("all rows", "group 0", "group 2")),
        ({"all rows": np.full(8, True)}, ("all rows",)),
        (pd.Series(np.arange(8) > 5), ("all rows", "group 0")),
    ],
)
def test_masks(groups, names):
    assert made(groups, min_rows=5).names == names  # masks may be of any size


class Column:
    """A column of another library: no more than an array and the name of its type."""

    def __init__(self, values, dtype):
        self.values, self.dtype = np.asarray(values), dtype

    def __array__(self, dtype=None, copy=None):
        return self.values


class Frame:
    """A data frame of another library, as far as groups need one."""

    columns = ("sex", "age")

    def __len__(self):
        return 8

    def __getitem__(self, name):
        return Column(FRAME[name].to_numpy(), "Categorical(ordering='physical')" if name == "sex" else "Int64")


def test_frames_of_other_libraries():
    assert rows_of(made(Frame())) == rows_of(made(FRAME[["sex", "age"]]))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"age": np.arange(8)}, "expected a boolean mask of group 'age', found int64 of shape .8,.; put features into"),
        ({"a": np.ones((8, 1), bool)}, "expected a boolean mask of group 'a', found bool of shape .8, 1."),
        ({"a": [True]}, "expected 8 rows in the mask of group 'a', found 1"),
        ({"a": np.zeros(8, bool)}, "expected a row or more in group 'a', found none"),
        ({1: np.ones(8, bool), "1": np.ones(8, bool)}, "expected different names of groups"),
        ({"all rows": np.arange(8) > 2}, "expected another name than 'all rows'"),
        ({}, "expected one group or more, found none"),
        (np.zeros((8, 0), bool), "expected one group or more, found none"),
        (FRAME["sex"], "expected groups, boolean masks of shape .n,. or .n, G., found .* put features into a data"),
        (np.ones(7, bool), "expected 8 rows in the mask of group 'group 0', found 7"),
        (FRAME[:3], "expected one row of groups for each outcome, found 3 rows and 8 outcomes"),
        (FRAME[[]], "expected a data frame with a column of features, found none"),
        (pd.concat([FRAME, FRAME], axis=1), "expected columns of different names, found 'sex' more than once"),
    ],
)
def test_errors(groups, message):
    with pytest.raises(ValueError, match=message):
        made(groups)


@pytest.mark.parametrize(("name", "value"), [("depth", 0), ("min_rows", 0), ("n_quantiles", 1), ("depth", 1.5)])
def test_wrong_options(name, value):
    with pytest.raises(ValueError, match=f"expected {name} to be a whole number"):
        made(FRAME, **{name: value})


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=20), st.integers(1, 5))
def test_every_intersection_that_is_large_enough(table, min_rows):
    """As found by going through all conditions on at most two columns."""
    frame = pd.DataFrame(table, columns=list("abc"))
    found = rows_of(made(frame, n=len(table), min_rows=min_rows, n_quantiles=3))
    assert len({tuple(rows) for rows in found.values()}) == len(found)
    wanted = {tuple(range(len(table)))}
    for i in range(3):
        for j in range(3):
            for u in range(3):
                for v in range(3):
                    rows = tuple(k for k, row in enumerate(table) if row[i] == u and row[j] == v)
                    wanted |= {rows} if len(rows) >= min_rows else set()
    assert {tuple(rows) for rows in found.values()} == wanted


def test_membership():
    """Equal for rows in the same groups, and different for others."""
    found = made(FRAME)
    number = found.membership(np.zeros(8, np.int64))
    assert number[0] == number[2] != number[4]
    assert len(set(number.tolist())) == 4
    assert [mask.tolist() for mask in found.masks(slice(None, None, -1))][1] == [False, True] * 4


GIVEN = {
    "a": np.arange(12) < 5,
    "b": np.arange(12) % 2 == 0,
    "like b": np.arange(12) % 2 == 1,  # as many rows of each kind
    "c": np.arange(12) % 3 == 0,
}
KIND = np.arange(12) // 2


def test_membership_does_not_hang_on_the_order_of_groups():
    names = sorted(GIVEN)
    numbers = {
        tuple(as_groups(Groups({name: GIVEN[name] for name in order}), 12).membership(KIND).tolist())
        for order in permutations(names)
    }
    assert len(numbers) == 1


def test_membership_goes_with_the_rows():
    """Rows in another order have the same numbers, also where groups hold rows of the same kinds."""
    order = np.random.default_rng(1).permutation(12)
    moved = as_groups(Groups({name: mask[order] for name, mask in GIVEN.items()}), 12)
    first = as_groups(Groups(GIVEN), 12).membership(KIND)
    assert moved.membership(KIND[order]).tolist() == first[order].tolist()
    assert len(set(first.tolist())) == len({tuple(mask[i] for mask in GIVEN.values()) for i in range(12)})


def test_membership_of_sets_of_rows():
    """Each set once, with its rows counted: the same numbers as of the rows."""
    masks = [np.array([True, False, True]), np.array([False, False, True])]
    sets = as_groups(Groups({"a": masks[0], "b": masks[1]}), 3)
    of, kind, number = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 0, 2]), np.array([2, 1, 3, 1, 4])
    rows = as_groups(Groups({"a": masks[0][np.repeat(of, number)], "b": masks[1][np.repeat(of, number)]}), number.sum())
    wanted = rows.membership(np.repeat(kind, number))
    assert sets.membership(kind, number, of)[np.repeat(of, number)].tolist() == wanted.tolist()


def test_more_groups_than_can_be_tested_are_refused_before_they_are_made():
    """60 columns of 4 levels make 240 levels and 1770 * 16 intersections of two."""
    many = pd.DataFrame(np.random.default_rng(1).random((200, 60)))
    with pytest.raises(
        ValueError, match=r"at most 10,000 groups, found up to 28,560 of 60 columns; fewer .*, depth=1 or"
    ):
        made(many, n=200, n_quantiles=4)
    assert len(made(many, n=200, depth=1, n_quantiles=4).names) == 241
    assert len(made(many, n=200, depth=2, min_rows=30, n_quantiles=4).names) == 241  # no intersection is as large
    # the sum over d up to 20 of 2**d times the ways to choose d of 40 columns
    deep = pd.DataFrame({name: np.arange(40) % 2 for name in range(40)})
    with pytest.raises(ValueError, match=r"found up to 260,669,265,451,935,776 of 40 columns"):
        made(deep, n=40, depth=20)


def test_more_levels_or_masks_than_can_be_tested_are_refused(monkeypatch):
    monkeypatch.setattr(groups, "MOST_GROUPS", 100)
    names = pd.DataFrame({"name": [f"person {i}" for i in range(101)]})
    with pytest.raises(
        ValueError, match=r"at most 100 groups, found up to 101 of 1 columns; fewer columns or a smaller"
    ):
        made(names, n=101, depth=1)
    assert len(made(names[1:], n=100, depth=1).names) == 101
    with pytest.raises(ValueError, match=r"at most 100 groups, found 101 masks; give fewer of them"):
        made(np.ones((2, 101), bool), n=2)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"depth": 0}, "expected depth to be a whole number of at least 1, found 0"),
        ({"min_rows": 2.5}, "expected min_rows to be a whole number of at least 1, found 2.5"),
        ({"n_quantiles": 1}, "expected n_quantiles to be a whole number of at least 2, found 1"),
    ],
)
def test_numbers_of_groups_are_checked_where_they_are_said(said, found):
    with pytest.raises(ValueError, match=found):
        Groups(GIVEN, **said)


@pytest.mark.parametrize(
    ("given", "found"), [(None, "found none"), (Groups(GIVEN), r"found Groups\(dict of length 4, depth=2")]
)
def test_groups_are_made_of_features_or_masks(given, found):
    with pytest.raises(ValueError, match=f"expected groups, features of the rows or groups of them, {found}"):
        Groups(given)


def test_groups_stay_as_they_are_said():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Groups(GIVEN).depth = 3


def test_groups_that_are_given_bare_have_the_usual_numbers():
    assert repr(given_groups({"a": [True, False]})) == "Groups(dict of length 1, depth=2, min_rows=30, n_quantiles=4)"
    said = Groups(GIVEN, depth=3)
    assert given_groups(said) is said
