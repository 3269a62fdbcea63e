"""What may be given as predicted vectors, what is refused and how, and what is known of the rows."""

import numpy as np
import pandas as pd
import pytest
from class_examples import LABEL, PROB, vectors
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs
from calibstat.data.predictions import as_predictions
from calibstat.data.validation import n_columns

from_rows = cs.Predictions.from_rows


def same(found, label, prob):
    assert found.label.dtype == np.int64
    assert np.array_equal(found.label, label)
    assert found.prob.dtype in (np.float64, np.float32)
    assert found.prob.flags.c_contiguous
    assert found.prob.flags.writeable
    assert np.array_equal(found.prob, prob)


# --- what may be given -----------------------------------------------------------------------------------------------


def wide(array):
    """The same numbers with others between them in memory."""
    return np.repeat(np.repeat(array, 2, axis=0), 2, axis=1)[::2, ::2]


def locked(array):
    array = array.copy()
    array.flags.writeable = False
    return array


FORMS = {
    "array": lambda a: a,
    "list": lambda a: a.tolist(),
    "columns": np.asfortranarray,
    "strided": wide,
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": locked,
    "frame": pd.DataFrame,
    "objects": lambda a: a.astype(object),
    "big-endian": lambda a: a.astype(">f8"),
    "long double": lambda a: a.astype(np.longdouble),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_probabilities(form):
    same(from_rows(LABEL, FORMS[form](PROB)), LABEL, PROB)


@pytest.mark.parametrize(
    "y",
    [
        LABEL.tolist(),
        LABEL[:, None],
        LABEL.astype(np.uint8),
        LABEL.astype(float),
        LABEL.astype(object),
        pd.Series(LABEL, index=[7, 5, 3, 1]),
        np.repeat(LABEL, 3)[::3],
        locked(LABEL),
    ],
)
def test_forms_of_classes(y):
    same(from_rows(y, PROB), LABEL, PROB)


def test_a_frame_by_the_dataframe_protocol():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({name: PROB[:, k] for k, name in enumerate("abc")})
    same(from_rows(LABEL, table), LABEL, PROB)
    assert n_columns(table) == 3


@pytest.mark.parametrize("dtype", [int, bool, np.uint8])
def test_certain_predictions_of_whole_numbers(dtype):
    same(from_rows([0, 2], np.eye(3, dtype=dtype)[[1, 2]]), [0, 2], np.eye(3)[[1, 2]])


def test_a_vector_is_the_probability_of_class_1():
    for p in ([0.25, 1.0, 0.0], [[0.25], [1.0], [0.0]]):
        same(from_rows([1, 0, 0], p), [1, 0, 0], [[0.75, 0.25], [0, 1], [1, 0]])
    same(from_rows([1], np.array([True])), [1], [[0, 1]])
    same(from_rows(np.array([np.True_, 0], object), [1, 0.25]), [1, 0], [[0, 1], [0.75, 0.25]])


def test_float32_is_kept():
    found = from_rows(LABEL, PROB.astype(np.float32))
    assert found.prob.dtype == np.float32
    assert found.largest.dtype == np.float64
    assert np.array_equal(found.largest, PROB.astype(np.float32).max(axis=1))
    assert from_rows([1], np.array([0.3], np.float32)).prob.dtype == np.float32


def test_half_precision_has_its_own_slack():
    prob = np.random.default_rng(0).dirichlet(np.ones(4), 200).astype(np.float16)
    found = from_rows(np.zeros(200), prob)
    assert found.prob.dtype == np.float64
    assert np.array_equal(found.prob.astype(np.float16), prob)
    assert cs.lenses.groups([[0, 1], [2, 3]])(found).n == 200  # what is made of them may be off by as much
    assert cs.lenses.top_k(2)(found).n == 200
    vector = np.array([1e-4, 0.3333], np.float16)  # 1 - v is not rounded to half precision
    assert from_rows([0, 1], vector).prob[:, 0].tolist() == [1 - 1e-4, 1 - 0.3333]


@pytest.mark.parametrize("classes", [3, 300, 3000])
def test_half_precision_rows_that_are_no_probabilities_are_refused(classes):
    row = np.full((2, classes), 1 / classes)
    for total in (0, 0.98, 1.02, 2):
        with pytest.raises(ValueError, match="sums to 1, found a sum of"):
            from_rows([0, 1], (row * total).astype(np.float16))
    logit = np.random.default_rng(classes).normal(0, 2, (50, classes))
    with pytest.raises(ValueError, match="sums to 1, found a sum of"):  # sigmoids of many labels
        from_rows(np.zeros(50), (1 / (1 + np.exp(-logit))).astype(np.float16))


@pytest.mark.parametrize("classes", [3, 300, 3000])
def test_softmax_of_half_precision_is_accepted(classes):
    logit = np.random.default_rng(classes).normal(0, 2, (50, classes))
    rounded = cs.from_logits(logit).astype(np.float16)
    own = np.exp(logit.astype(np.float16) - logit.max(axis=1, keepdims=True).astype(np.float16))
    for prob in (rounded, own / own.sum(axis=1, keepdims=True, dtype=np.float32).astype(np.float16)):
        assert from_rows(np.zeros(50), prob).n == 50


@pytest.mark.parametrize("total", [0.99, 1 + 5e-5])
def test_many_classes_in_single_precision_have_no_larger_slack(total):
    prob = np.full((2, 100_000), total / 100_000, np.float32)
    with pytest.raises(ValueError, match="sums to 1, found a sum of"):
        from_rows([0, 1], prob)
    good = np.random.default_rng(1).dirichlet(np.full(100_000, 0.1), 2).astype(np.float32)
    assert from_rows([0, 1], good).prob.dtype == np.float32


def test_negative_zero():
    for dtype in (np.float64, np.float32):
        found = from_rows([0, 1], np.array([[-0.0, 1.0, -0.0], [0.5, -0.0, 0.5]], dtype))
        assert found.top.tolist() == [1, 0]
        assert found.largest.tolist() == [1.0, 0.5]


def test_names():
    found = from_rows(["hen", "cat"], PROB[:2], labels=["cat", "dog", "hen"])
    assert (found.names, found.label.tolist()) == (("cat", "dog", "hen"), [2, 0])
    assert from_rows(np.array(["b"]), [[0.5, 0.5]], labels=np.array(["a", "b"])).label.tolist() == [1]
    assert from_rows([True], [[0.5, 0.5]], labels=[False, True]).label.tolist() == [1]
    assert from_rows([30.0], [[0.5, 0.5]], labels=[10, 30]).label.tolist() == [1]
    assert from_rows([0, 2], PROB[:2]).names == (0, 1, 2)


def test_names_in_an_array_become_plain():
    found = from_rows([5, 3], [[0.5, 0.5], [1, 0]], labels=np.array([3, 5]))
    assert [type(name) for name in found.names] == [int, int]


def test_absent_classes():
    found = from_rows([1], PROB[:1])
    assert (found.n, found.n_classes) == (1, 3)
    assert repr(found) == "Predictions(1 row, 3 classes, 2 of them never observed)"
    assert repr(from_rows(LABEL, PROB)) == "Predictions(4 rows, 3 classes)"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_input_is_not_modified(dtype):
    label, prob = LABEL.copy(), np.where(PROB == 0, -0.0, PROB).astype(dtype)
    before = prob.tobytes(), label.tobytes()
    found = from_rows(label, prob)
    cs.estimate(found, lens="class_wise")
    cs.calibration_test(found, measure="canonical_ce", n_resamples=3, rng=1)
    cs.calibration_test(found, lens="class_wise", measure="ks", n_resamples=3, rng=1)
    cs.estimate(label, prob, lens=cs.lenses.top_k(1), measure="brier")
    assert (prob.tobytes(), label.tobytes()) == before


# --- the sums of rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 8, 19, 1000])
@pytest.mark.parametrize("sign", [-1, 1])
def test_sums_of_float64(classes, sign):
    """Rows may be off by 1e-6."""
    prob = np.zeros((3, classes))
    prob[:, 0] = 0.5
    prob[:, -1] = 0.5
    prob[1, -1] += sign * 0.999e-6
    assert from_rows([0, 0, 0], prob).n == 3
    prob[1, -1] = 0.5 + sign * 1.001e-6
    with pytest.raises(ValueError, match=r"sums to 1, found a sum of (1\.000001|0\.999998999)\d* at row 1"):
        from_rows([0, 0, 0], prob)


@pytest.mark.parametrize("classes", [2, 3, 17, 1000])
@pytest.mark.parametrize("sign", [-1, 1])
def test_sums_of_float32(classes, sign):
    """The slack is 4 K 2**-23, from 1e-6 to 1e-5; entries are multiples of 2**-24, so sums are exact."""
    slack = min(1e-5, max(1e-6, 4 * classes * 2.0**-23))
    prob = np.zeros((2, classes), np.float32)
    prob[:, :2] = 0.25  # the last entry has to be below 1/2 to be changed by 2**-24 more
    prob[:, -1] += 0.5 - 0.25 * (classes == 2)
    prob[:, 0] += 1 - prob.sum(axis=1)
    inside = np.floor(slack / 2.0**-23 - 0.5) * 2.0**-23
    for off, good in ((inside, True), (inside + 2 * 2.0**-23, False)):
        bad = prob.copy()
        bad[1, 0] += sign * off
        if good:
            assert from_rows([0, 0], bad).n == 2
        else:
            with pytest.raises(ValueError, match=r"sums to 1, .* at row 1"):
                from_rows([0, 0], bad)


def test_vectors_of_many_classes_in_float32():
    generator = np.random.default_rng(1)
    logit = generator.normal(0, 3, (500, 1000)).astype(np.float32)
    prob = np.exp(logit - logit.max(axis=1, keepdims=True))
    prob /= prob.sum(axis=1, keepdims=True)
    assert from_rows(np.zeros(500), prob).prob.dtype == np.float32


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf, -np.inf, -1e-7, 1.0000002])
@pytest.mark.parametrize("column", range(11))
def test_bad_probabilities(value, column, dtype):
    """In every place of a row, as eight running sums and a rest add it up, also where the sum stays 1."""
    prob = np.full((5, 11), 1 / 11, dtype)
    prob[3, column] = value
    if np.isfinite(value):
        prob[3, (column + 1) % 11] += 1 / 11 - value
    prob[4, 0] = -1  # a later row is bad too
    with pytest.raises(ValueError, match=r"a probability from 0 to 1, found .* in y_prob at row 3, column \d+"):
        from_rows(np.zeros(5), prob)


def test_the_first_bad_entry_is_named():
    with pytest.raises(ValueError, match=r"found 1\.5 in y_prob at row 1, column 2"):
        from_rows([0, 0], [[0.5, 0.5, 0], [0.5, 0.5, 1.5]])
    with pytest.raises(ValueError, match="found nan in y_prob at row 0, column 1"):
        from_rows([0], [[0.5, np.nan, 0.5]])
    with pytest.raises(ValueError, match=r"found 1\.2 in y_prob at row 1$"):  # and not the 1 - 1.2 made of it
        from_rows([0, 0], [0.5, 1.2])
    with pytest.raises(ValueError, match=r"found 2(\.0)? in y_prob at row 1$"):
        from_rows([0, 0], np.array([0, 2], np.uint8))


@pytest.mark.parametrize(
    ("y", "shown", "row"),
    [
        ([0, 3, 9], "3", 1),
        ([0, 1, -1], "-1", 2),
        ([0.5, 1, 2], "0.5", 0),
        ([0, np.nan, 1], "nan", 1),
        ([0, 1e300, 1], r"1e\+300", 1),
        ([0, -np.inf, 1], "-inf", 1),
        (np.array([0, 2**63 + 1, 1], np.uint64), "9223372036854775809", 1),
    ],
)
def test_bad_classes(y, shown, row):
    with pytest.raises(ValueError, match=rf"expected a class from 0 to 2, found {shown} in y_true at row {row}"):
        from_rows(y, PROB[:3])


@pytest.mark.parametrize("y", [["a", "b"], np.array(["a", "b"]), np.array(["a", 1], object)])
def test_names_need_labels(y):
    with pytest.raises(ValueError, match="expected classes 0 to 1, found 'a' at row 0 in y_true; name them"):
        from_rows(y, [[0.5, 0.5], [1, 0]])


def test_wrong_labels():
    two = [[0.5, 0.5], [1, 0]]
    with pytest.raises(ValueError, match="expected one of the 2 labels, found 'c' in y_true at row 1"):
        from_rows(["a", "c"], two, labels=["a", "b"])
    for labels in (["a"], ["a", "b", "c"], ["a", "a"], [1, 1.0]):
        with pytest.raises(ValueError, match="expected 2 different labels, one for each column, found"):
            from_rows(["a", "a"], two, labels=labels)


@pytest.mark.parametrize(
    ("y", "prob", "message"),
    [
        ([], np.empty((0, 3)), "expected at least one row, found an empty y_true"),
        ([0], np.empty((0, 3)), r"found shape \(0, 3\)"),
        ([0], [], "y_prob of shape"),
        ([0, 1], np.empty((2, 0)), r"found shape \(2, 0\)"),
        ([0], np.full((1, 2, 2), 0.5), r"found shape \(1, 2, 2\)"),
        (0, 0.5, "expected y_true, an array with an entry for each row, found int 0"),
        (np.eye(3), np.eye(3), r"expected y_true of shape \(n,\).*found shape \(3, 3\)"),
        ([0, 1], PROB, "found 2 outcomes and 4 rows"),
        ([0], [["x", "y"]], "expected numbers in y_prob"),
        ([0], np.array([[0.5 + 0j, 0.5]]), "expected numbers in y_prob"),
        ([None], [[0.5, 0.5]], "found None at row 0 in y_true"),
        ([0], [[0.5, None]], "y_prob"),
    ],
)
def test_bad_shapes(y, prob, message):
    with pytest.raises(ValueError, match=message):
        from_rows(y, prob)


def test_swapped_arguments():
    for verb in (from_rows, cs.estimate, lambda *a: cs.estimate(*a, measure="brier", lens="canonical")):
        with pytest.raises(ValueError, match="they look swapped: found probabilities in y_true and classes in y_prob"):
            verb(PROB, LABEL)
    with pytest.raises(ValueError, match="they look swapped"):
        from_rows([0.2, 0.7], [0, 1])
    with pytest.raises(ValueError, match=r"expected a class from 0 to 1, found 0\.2 in y_true at row 0"):
        from_rows([0.2, 0.7], [0.3, 1])


def test_predictions_stand_alone():
    found = from_rows(LABEL, PROB)
    assert as_predictions(found) is found
    for extra in ({"y_prob": PROB}, {"labels": [0, 1, 2]}):
        with pytest.raises(ValueError, match="expected Predictions alone"):
            cs.estimate(found, **extra)
    with pytest.raises(ValueError, match="found one ndarray"):
        as_predictions(PROB)


# --- what is known of the rows ---------------------------------------------------------------------------------------


@given(vectors(), st.sampled_from([np.float64, np.float32]))
def test_top_is_the_first_of_the_largest(data, dtype):
    label, prob = data
    prob = prob.astype(dtype)
    found = from_rows(label, prob)
    assert np.array_equal(found.top, prob.argmax(axis=1))
    assert np.array_equal(found.largest, prob.max(axis=1))
    same(found, label, prob)


@pytest.mark.parametrize("classes", [2, 7, 8, 63, 64, 65, 128, 300])
def test_top_in_every_place(classes):
    """One row for each class, and ties of each class with the last: the search goes by 64 classes."""
    alone = np.full((classes, classes), 0.25 / max(classes - 1, 1))
    np.fill_diagonal(alone, 0.75)
    assert from_rows(np.zeros(classes), alone).top.tolist() == list(range(classes))
    tied = np.zeros((classes, classes))
    tied[:, -1] = 0.5
    tied[np.arange(classes), np.arange(classes)] += 0.5
    assert from_rows(np.zeros(classes), tied).top.tolist() == list(range(classes))
    assert from_rows([0], np.full((1, classes), 1 / classes)).top.tolist() == [0]


def test_a_bare_number_is_no_row():
    with pytest.raises(ValueError, match=r"expected y_prob, an array with an entry for each row, found float 0\.5"):
        from_rows([1], 0.5)
