"""Labels of rows: how they are numbered, what is missing, and what is refused, in every place that takes them."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import calibstat as cs
from calibstat.data.numbered_labels import coded, first_labels, is_missing, missing

N = 60
P = np.linspace(0.05, 0.95, N)
Y = np.arange(N) % 2
LABEL = np.arange(N) // 2


@pytest.mark.parametrize("entry", [None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN"), Decimal("sNaN")])
def test_what_is_missing(entry):
    assert is_missing(entry)
    assert missing(np.array([1, entry, "a"], object)).tolist() == [False, True, False]


@pytest.mark.parametrize("entry", [0, "", "nan", False, np.zeros(2), [1], np.inf])
def test_what_is_not_missing(entry):
    assert not is_missing(entry)


def test_labels_are_numbered_in_the_order_of_their_rows():
    code, names = coded("site", ["b", "a", "b"], 3)
    assert (code.tolist(), names) == ([0, 1, 0], ["b", "a"])


def asks():
    return {
        "clusters": lambda each: cs.confidence_interval(Y, P, cluster=each, n_resamples=1, rng=1),
        "folds": lambda each: cs.confidence_interval(Y, P, folds=each, n_resamples=1, rng=1),
        "segments": lambda each: cs.Monitor().update(Y, P, segment=each),
        "segments of scores": lambda each: cs.BrierMonitor().update(Y, P, P**2, segment=each),
        "groups": lambda each: cs.cross_validate(LogisticRegression(), P[:, None], Y, groups=each, rng=1),
    }


@pytest.mark.parametrize("given", [["b", "a", "b", "c", "a"], np.array([7.5, 2, 7.5, 9, 2]), pl.Series(list("zyzxy"))])
def test_each_number_has_its_label(given):
    number, names = coded("cluster", given, 5)
    assert first_labels("cluster", given, number).tolist() == names


@pytest.mark.parametrize("name", asks())
def test_masked_labels_are_refused(name):
    masked = np.ma.masked_array(LABEL, np.arange(N) == 7)
    with pytest.raises(ValueError, match=r"expected no missing values, found a masked entry in .* at row 7"):
        asks()[name](masked)


@pytest.mark.parametrize("name", asks())
def test_a_missing_label_beside_texts_is_no_text(name):
    texts = [f"s{k}" for k in LABEL]
    texts[7] = np.nan
    with pytest.raises(ValueError, match=r"expected no missing \w+, found one at row 7"):
        asks()[name](texts)


UNFIT = {
    "ragged": ([[1, 2], [3]] * (N // 2), "with entries of different shapes"),
    "sets": ([{1}, {2}] * (N // 2), "expected .*, text, numbers or dates, found set of length 1 at row 0"),
    "dicts": ([{1: 2}, {}] * (N // 2), "expected .*, text, numbers or dates, found dict of length 1 at row 0"),
    "slices": ([slice(1), slice(2)] * (N // 2), "expected .*, text, numbers or dates, found slice at row 0"),
    "lists": (pl.Series([[1, 2], [3]] * (N // 2)), "expected .*, text, numbers or dates, found "),
    "signalling": ([Decimal(1), Decimal("sNaN")] * (N // 2), "expected no missing .*, found one at row 1"),
}


@pytest.mark.parametrize("name", asks())
@pytest.mark.parametrize("kind", UNFIT)
def test_labels_that_are_none_are_named_in_a_sentence(name, kind):
    labels, message = UNFIT[kind]
    with pytest.raises(ValueError, match=message):
        asks()[name](labels)


def test_masked_or_ragged_masks_of_groups_are_refused():
    mask = np.arange(N) % 3 == 0
    masked = np.ma.masked_array(mask, np.arange(N) == 4)
    both = np.ma.masked_array(np.column_stack([mask, ~mask]), np.column_stack([masked.mask] * 2))
    for groups in ({"a": masked}, both):
        with pytest.raises(ValueError, match=r"found a masked entry in group.* at row 4"):
            cs.audit(Y, P, groups, rng=1)
    with pytest.raises(ValueError, match="found a masked entry in groups at row 4"):
        cs.report(Y, P, by=np.ma.masked_array(LABEL, masked.mask), rng=1)
    for groups in ({"a": [[True], [True, False]]}, [[True], [True, False]]):
        with pytest.raises(ValueError, match=r"expected a boolean mask of group.* with entries of different shapes"):
            cs.audit(Y, P, groups, rng=1)
