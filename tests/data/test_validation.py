"""Rows as they may be given, and what is refused with a message that names it."""

import numpy as np
import pandas as pd
import pytest
from compared_samples import arrays, same

import calibstat as cs
from calibstat.data.validation import as_rows, look_swapped

Y, P = [1, 0, 1, 1], [0.8, 0.3, 0.8, 0.3]


class OnlyDataframe:
    """What a data frame library offers that is not pandas."""

    def __init__(self, frame):
        self.frame = frame

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self.frame.__dataframe__(nan_as_null, allow_copy)


class OnlyArray:
    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.data, dtype)


READ_ONLY = np.array(P)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize("y", [
    np.array(Y, np.int8), np.array(Y, np.uint64), np.array(Y, bool), np.array(Y, np.float32), np.array(Y)[:, None],
    np.array(Y, object), [True, False, 1, 1.0], pd.Series(Y, index=[3, 2, 1, 0]), pd.Series(Y, dtype="Int64"),
    pd.DataFrame({"y": Y}), OnlyDataframe(pd.DataFrame({"y": Y})), OnlyArray(Y), np.ma.masked_array(Y),
    np.repeat(Y, 2)[::2], np.array(Y, ">i8"),
])  # fmt: skip
@pytest.mark.parametrize("p", [
    P, np.array(P)[:, None], np.column_stack((1 - np.array(P), P)), np.array(P, object), np.array(P, ">f8"),
    pd.Series(P), pd.DataFrame({0: 1 - np.array(P), 1: P}), OnlyDataframe(pd.DataFrame({"p": P})), OnlyArray(P),
    READ_ONLY, np.asfortranarray(np.column_stack((1 - np.array(P), P))),
])  # fmt: skip
def test_accepted_forms(y, p):
    assert same(cs.Sample.from_rows(y, p), cs.Sample.from_rows(Y, P))
    outcomes, predictions = as_rows(y, p)
    for array in (outcomes, predictions):
        assert array.dtype in (np.float64, np.int64)
        assert array.dtype.isnative
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_half_precision_columns_may_sum_to_one_roughly():
    p = np.array([[0.7, 0.3]], np.float16)
    assert p.sum(dtype=float) != 1
    assert cs.Sample.from_rows([1], p).value[0] == 0.3  # the decimal that was rounded


@pytest.mark.parametrize("y", [
    ["a", "b", "a"], np.array(["a", "b", "a"], object), np.array([["a"], ["b"], ["a"]]), pd.Series(["a", "b", "a"]),
    pd.Series(["a", "b", "a"]).astype("category"),
])  # fmt: skip
def test_labels(y):
    p = [0.25, 0.5, 0.25]
    assert arrays(cs.Sample.from_rows(y, p, labels=["a", "b"])) == [[0.25, 0.5], [2, 1], [0, 1]]
    assert arrays(cs.Sample.from_rows(y, p, labels=["b", "a"])) == [[0.25, 0.5], [2, 1], [2, 0]]
    assert cs.estimate(y, p, labels=["a", "b"]) == cs.estimate([0, 1, 0], p)
    with pytest.raises(
        ValueError, match="expected outcomes 0 and 1, found 'a' at row 0 in y_true; name the positive one"
    ):
        cs.Sample.from_rows(y, p)


def test_an_absent_label_is_allowed():
    assert cs.Sample.from_rows(["a", "a"], [0.25, 0.5], labels=["a", "b"]).positives.tolist() == [0, 0]
    assert cs.Sample.from_rows([2, 1], [0.25, 0.5], labels=[1, 2]).positives.tolist() == [1, 0]


@pytest.mark.parametrize(("y", "p", "options", "match"), [
    ([1, 0, 1], [0.5, np.nan, 2], {}, "expected a probability from 0 to 1, found nan in y_prob at row 1"),
    ([1, 0, 1], [0.5, 0.5, np.inf], {}, "found inf in y_prob at row 2"),
    ([1, 0, 1], [0.5, -0.1, 2], {}, "found -0.1 in y_prob at row 1"),
    ([1, 0], [0.5, 1.0000001], {}, "found 1.0000001 in y_prob at row 1"),
    ([1, 2, 3], [0.5, 0.5, 0.5], {}, "expected 0 or 1, found 2 in y_true at row 1"),
    ([1, 0.5], [0.5, 0.5], {}, "found 0.5 in y_true at row 1"),
    ([1, np.nan], [0.5, 0.5], {}, "found nan in y_true at row 1"),
    ([1, None], [0.5, 0.5], {}, "found None at row 1 in y_true"),
    (pd.Series([1, None], dtype="Int64"), [0.5, 0.5], {}, "found nan in y_true at row 1"),
    ([1, 0], [0.5, None], {}, "found nan in y_prob at row 1"),
    ([1, 0], ["0.5", "x"], {}, "expected numbers in y_prob, found 'x' at row 1"),
    ([1, 0], np.array([0.5, 0.5j]), {}, r"expected numbers in y_prob, found \(0.5\+0j\) at row 0"),
    ([1, 0], [["0.5", "0.5"], ["0.5", "x"]], {}, "expected numbers in y_prob, found 'x' at row 1"),
    ([1, 0], ["0.5", "0.2"], {}, "expected numbers in y_prob, found '0.5' of dtype <U3 at row 0"),
    ([1, 0], np.array([3, 4], "M8[ns]"), {}, r"in y_prob, found '1970-01-01T00:00:00.000000003' of dtype .* at row 0"),
    ([0.2, 0.7], [0, 1], {}, r"expected \(y_true, y_prob\), .* they look swapped"),
    ([1, 0, 1], [0.5, 0.5], {}, "found 3 outcomes and 2 predictions"),
    ([1], [], {}, "expected at least one row, found an empty y_prob"),
    ([], [0.5], {}, "expected at least one row, found an empty y_true"),
    ([1, 0], [[0.5, 0.5], [0.5, 0.6]], {}, "found 1.1 in sums of y_prob at row 1; several models"),
    ([1, 0], [[0.5, 0.5], [1.5, -0.5]], {}, r"expected probabilities .*, found \[1.5, -0.5\] in y_prob at row 1"),
    ([1, 0], [[0.5, 0.5], [np.nan, 0.5]], {}, "found .*nan.* in y_prob at row 1"),
    ([1, 0], [[["0.5"]]], {}, r"expected y_prob of shape \(n,\) or \(n, 1\), found shape \(1, 1, 1\)"),
    ([[1, 0]], [0.5, 0.5], {}, r"expected y_true of shape \(n,\) or \(n, 1\), found shape \(1, 2\)"),
    (1, 0.5, {}, "expected y_true, an array with an entry for each row, found int"),
    (["a", "c"], [0.5, 0.5], {"labels": ["a", "b"]}, "found 'c' in y_true at row 1"),
    (["a", "b"], [0.5, 0.5], {"labels": ["a", "a"]}, "expected two different labels"),
    (["a", "b"], [0.5, 0.5], {"labels": ["a"]}, "expected two different labels"),
    ([1, 0], [0.5, 0.5], {"sample_weight": [1]}, "found 1 weights for 2 rows"),
    ([1, 0], [0.5, 0.5], {"sample_weight": [1, -1]}, "found -1.0 in sample_weight at row 1"),
    ([1, 0], [0.5, 0.5], {"sample_weight": [1, np.nan]}, "found nan in sample_weight at row 1"),
    ([1, 0], [0.5, 0.5], {"sample_weight": [0, 0]}, "expected at least one row of positive weight"),
    ([1, 0], [0.5, 2], {"sample_weight": [1, 1]}, "found 2.0 in y_prob at row 1"),
    (np.ma.masked_array([1, 0], [False, True]), [0.5, 0.5], {}, "found a masked entry in y_true at row 1"),
    ([1, 0], np.ma.masked_array([[0.5], [0.5]], [[False], [True]]), {}, "found a masked entry in y_prob at row 1"),
])  # fmt: skip
def test_refused_rows(y, p, options, match):
    with pytest.raises(ValueError, match=match):
        cs.Sample.from_rows(y, p, **options)


def test_estimate_refuses_the_same_rows():
    with pytest.raises(ValueError, match="found nan in y_prob at row 1"):
        cs.estimate([1, 0], [0.5, np.nan])
    with pytest.raises(ValueError, match="they look swapped"):
        cs.estimate([0.2, 0.7], [0, 1])
    with pytest.raises(ValueError, match="found one list of length 2"):
        cs.estimate([0.2, 0.7])


def test_swapped_arguments_that_are_both_outcomes_cannot_be_told():
    assert cs.Sample.from_rows([0, 1], [1, 1]).n == 2


VECTORS = [[0.5, 0.2, 0.3], [0.1, 0.1, 0.8]]
MODELS = {"a": [0.2, 0.7], "b": [0.3, 1.0]}


@pytest.mark.parametrize(
    ("y_true", "y_prob", "are"),
    [
        ([0.2, 1], [0, 1], True),
        ([0.2, 1], [[0], [1]], True),
        ([0.2, 1], [True, False], True),
        ([0.2, 1], ["no", "yes"], True),
        ([0.2, 1], [0, None], True),  # a missing outcome is another error
        (VECTORS, [0, 2], True),
        (pd.DataFrame(VECTORS), ["hen", "cat"], True),
        ([[0.0, 1.0], [1.0, 0.0]], [1, 0], True),
        (MODELS, [0, 1], True),
        (pd.DataFrame(MODELS), [0, 1], True),
        ([0, 1], [0.2, 1], False),
        ([0, 1], [1, 0], False),
        ([0.2, 1], [0.5, 1], False),  # shares of events
        ([0.2, 1], [0.5, None], False),
        ([0.2, 1.5], [0, 1], False),
        ([0.2, np.nan], [0, 1], False),
        (["no", "yes"], [0, 1], False),
        ([0.2, 1], VECTORS, False),
        (MODELS | {"c": [0, 1]}, [0, 1], False),
        ({}, [0, 1], False),
        (0.5, 1, False),
        ([0.2, 1], None, False),
    ],
)
def test_arguments_look_swapped(y_true, y_prob, are):
    assert look_swapped(y_true, y_prob) == are


@pytest.mark.parametrize("ask", [cs.estimate, cs.compare, cs.report, cs.classical.cox])
def test_predictions_of_models_in_place_of_outcomes_are_swapped_too(ask):
    with pytest.raises(ValueError, match="they look swapped: found probabilities in y_true and classes in y_prob"):
        ask(MODELS, [0, 1])


class Tensor:
    """What a tensor of PyTorch does that matters here: NumPy refuses gradients, other devices and bfloat16."""

    def __init__(self, values, *, grad=False, device="cpu", dtype="float32"):
        self.values, self.grad, self.device, self.dtype = np.asarray(values), grad, device, dtype
        self.shape = self.values.shape

    def _but(self, **changed):
        return Tensor(self.values, **{"grad": self.grad, "device": self.device, "dtype": self.dtype, **changed})

    def detach(self):
        return self._but(grad=False)

    def cpu(self):
        return self._but(device="cpu")

    def float(self):
        return self._but(dtype="float32")

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        if self.grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.device != "cpu" or self.dtype == "bfloat16":
            raise TypeError(f"can't convert {self.device} {self.dtype} to numpy")
        return self.values.astype(self.dtype if dtype is None else dtype)


@pytest.mark.parametrize(
    "kind", [{}, {"grad": True}, {"device": "cuda:0"}, {"grad": True, "device": "cuda:0"}, {"dtype": "bfloat16"}]
)
def test_tensors(kind):
    y, p = np.array([0, 1, 0, 1]), np.array([0.125, 0.5, 0.75, 0.875])
    prob = np.column_stack((1 - p, p))
    assert cs.estimate(Tensor(y, dtype="int64"), Tensor(p, **kind)) == cs.estimate(y, p)
    assert cs.estimate(y, Tensor(prob, **kind)) == cs.estimate(y, p)
    assert cs.estimate(y, {"a": Tensor(p, **kind)})["a"] == cs.estimate(y, p)
    assert cs.from_logits(Tensor(np.zeros(3), **kind)).tolist() == [0.5] * 3
    assert cs.Predictions.from_rows(Tensor(y, dtype="int64"), Tensor(prob, **kind)).prob.dtype == np.float32


@pytest.mark.parametrize("kind", ["Float64", "float64[pyarrow]"])
def test_nullable_types(kind):
    y, p = [0, 1, 0, 1], [0.125, 0.5, 0.75, 0.875]
    assert cs.estimate(pd.Series(y, dtype="boolean"), pd.Series(p, dtype=kind)) == cs.estimate(y, p)
    assert cs.estimate(pd.Series(y, dtype="int64[pyarrow]"), pd.Series(p, dtype=kind)) == cs.estimate(y, p)
    models = pd.DataFrame({"a": p, "b": np.square(p)}).astype(kind)
    assert list(cs.estimate(y, models)) == ["a", "b"]
    with pytest.raises(ValueError, match=r"expected .*, found (<NA>|nan) .*at row 1"):
        cs.estimate(y, pd.Series([0.1, None, 0.2, 0.3], dtype=kind))


@pytest.mark.parametrize(
    ("y", "labels", "message"),
    [
        (["a", "b", {}], ["a", "b", "c"], "expected one of the 3 labels, found {} in y_true at row 2"),
        (
            ["a", ("b", []), "c"],
            ["a", "b", "c"],
            r"expected one of the 3 labels, found \('b', \[\]\) in y_true at row 1",
        ),
        (["a", "d", "c"], ["a", "b", "c"], "expected one of the 3 labels, found 'd' in y_true at row 1"),
        (np.array([0, 1, 2j]), None, "expected numbers in y_true, found 0j at row 0"),
        (np.array([0, 1, 2], "m8[ns]"), None, "expected numbers in y_true, found '0 nanoseconds' of dtype .* at row 0"),
    ],
)
def test_the_first_class_that_is_none_is_named(y, labels, message):
    """The first row was named where another one was a mapping."""
    if labels is not None:
        y = pd.Series(y, dtype=object)
    with pytest.raises(ValueError, match=message):
        cs.estimate(y, [[0.5, 0.25, 0.25]] * 3, lens="top_label", labels=labels)


HUGE = 10**400  # a whole number that no double holds


@pytest.mark.parametrize(
    "ask",
    [
        lambda: cs.estimate([0, HUGE], [0.5, 0.5]),
        lambda: cs.estimate([0, 1], [0.5, HUGE]),
        lambda: cs.estimate([0, HUGE], [[0.5, 0.25, 0.25]] * 2, lens="top_label"),
        lambda: cs.estimate([0, 1], [0.5, 0.5], sample_weight=[1, HUGE]),
        lambda: cs.from_logits([0, HUGE]),
        lambda: cs.Sample.from_counts([0.5, 0.6], [1, HUGE], [0, 1]),
    ],
)
def test_whole_numbers_of_hundreds_of_digits(ask):
    with pytest.raises(ValueError, match=r"^expected numbers in .*, found 1000.* at row 1$"):
        ask()


@pytest.mark.parametrize("outcome", [np.float64, np.int64, np.int32, bool, np.float32, ">f8"])
@pytest.mark.parametrize("change", ["none", "read-only", "strided", "two-dimensional", "unaligned"])
def test_arrays_that_need_nothing_are_taken_as_they_are(outcome, change):
    """And others become such arrays, with the same numbers; only plain ones are handed on without a look."""
    wide = np.zeros(5 * 8 + 1, np.uint8)
    p = wide[1:].view(np.float64) if change == "unaligned" else np.empty(5)
    p[:] = [0.1, 0.2, 0.3, 0.4, 0.5]
    y = np.array([0, 1, 1, 0, 1]).astype(outcome)
    if change == "strided":
        p, y = np.repeat(p, 2)[::2], np.repeat(y, 2)[::2]
    if change == "two-dimensional":
        p, y = p[:, None], y[:, None]
    if change == "read-only":
        p.flags.writeable = y.flags.writeable = False
    found = as_rows(y, p)
    for got, expected in zip(found, ([0, 1, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5]), strict=True):
        assert got.tolist() == expected
        assert got.flags.c_contiguous
        assert got.flags.writeable
        assert got.dtype in (np.float64, np.int64)
    taken = change == "none" and np.dtype(outcome) in (np.dtype(np.float64), np.dtype(np.int64))
    assert (found[0] is y and found[1] is p) >= taken


@pytest.mark.parametrize(("y", "p"), [([0, 1], [0.5]), ([], []), ([2, 1], [0.5, 0.5]), ([0, 1], [0.5, np.nan])])
def test_plain_arrays_that_are_wrong_are_refused_as_lists_are(y, p):
    messages = []
    for kind in (list, lambda rows: np.array(rows, float)):
        with pytest.raises(ValueError, match="expected") as error:
            cs.estimate(kind(y), kind(p))
        messages.append(str(error.value).replace(".0", ""))
    assert messages[0] == messages[1]
