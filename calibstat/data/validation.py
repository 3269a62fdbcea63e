"""Checks of outcomes and predicted probabilities, binary and multiclass."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.data.checks import described, quoted, short
from calibstat.data.labels import OutcomeNames, advice_of_outcomes, check_row_names, with_labels
from calibstat.data.rows_error import Entry, Given, Part, RowsError
from calibstat.digits import settled

ROUNDING = 1e-6  # predictions so little below 0 or above 1 look like rounding
MOST_DIGITS = 15  # of a decimal number that a float64 keeps

# --- arrays -----------------------------------------------------------------------------------------------------------


def as_array(data: object, name: str) -> np.ndarray:
    """Convert to an ndarray of one dimension or more; raise on missing values."""
    if type(data) is np.ndarray and data.ndim > 0 and data.dtype.kind != "O":
        return data  # at once: the checks below take as long as the measure of a few rows
    array = data if type(data) is np.ndarray and data.ndim > 0 else to_numpy(data, name)
    if np.ma.isMaskedArray(data) and np.ma.is_masked(data):
        row = np.nonzero(np.ma.getmaskarray(data))[0][0]
        advice = Given.PROXY if name == "y_true" else ""
        raise ValueError(f"expected no missing values, found a masked entry in {name} at row {row}{advice}")
    if array.dtype == object and name != "y_true":
        return floats(array, name)
    return array


def floats(array: np.ndarray, name: str) -> np.ndarray:
    """Convert an array of objects to floats, or raise the error that names the first entry that is not a number."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):  # the last of a whole number of hundreds of digits
        raise not_a_number(array, name) from None


def to_numpy(data: Any, name: str) -> np.ndarray:
    """Convert lists, frames, tensors and whatever else holds rows to an ndarray, with the entries as they are."""
    if hasattr(data, "predict_proba"):
        raise ValueError(
            f"expected {name}, an array, found a fitted {type(data).__name__}; give its probabilities as "
            "calibstat.predict(model, X)"
        )
    if hasattr(data, "detach"):  # a tensor of PyTorch, perhaps with gradients or on another device
        data = data.detach().cpu()
    if not hasattr(data, "__array__") and hasattr(data, "__dataframe__"):
        from pandas.api.interchange import from_dataframe

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # pandas 3 deprecates the protocol, others still use it
            data = from_dataframe(data)
    try:
        try:
            array = np.asarray(data)
        except TypeError:  # a tensor of a type that NumPy does not have, such as bfloat16
            array = np.asarray(data.float())
    except (AttributeError, TypeError, ValueError, RuntimeError):  # such as rows of different lengths
        raise ValueError(f"expected {name}, an array of shape (n,) or (n, K), found {described(data)}") from None
    if array.ndim == 0:
        raise ValueError(f"expected {name}, an array with an entry for each row, found {described(data)}")
    return array


def as_vector(data: object, name: str) -> np.ndarray:
    """Convert to a non-empty, contiguous, writable float64 vector; nothing writes to it."""
    array = as_array(data, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"expected {name} of shape (n,) or (n, 1), found shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"expected at least one row, found an empty {name}")
    if array.dtype.kind not in "buif":
        raise not_a_number(array, name)
    return ready(array, np.float64)


def ready(array: np.ndarray, dtype: type) -> np.ndarray:
    """Return the array contiguous and writable: kernels would be compiled a second time for a read-only one."""
    array = np.ascontiguousarray(array, dtype)
    return array if array.flags.writeable else array.copy()


def not_a_number(array: np.ndarray, name: str) -> ValueError:
    """Return the error that names the first entry that is not a number."""
    columns = array.size // len(array)
    for k, entry in enumerate(array.ravel().tolist()):
        try:
            float(entry)
        except (TypeError, ValueError, OverflowError):
            return ValueError(f"expected numbers in {name}, found {short(entry)} at row {k // columns}")
    first = short(str(array.flat[0]))  # texts of numbers, or dates in nanoseconds
    return ValueError(f"expected numbers in {name}, found {first} of dtype {array.dtype} at row 0")


# --- outcomes 0 and 1, and the probability of 1 -----------------------------------------------------------------------


def as_rows(y_true: object, y_prob: object, labels: OutcomeNames = None) -> tuple[np.ndarray, np.ndarray]:
    """Convert to outcomes (float64 or int64) and predictions of equal length, whose values are not yet checked."""
    check_row_names(y_true, y_prob)
    y = outcomes_of_rows(y_true)
    y_prob, labels = with_labels(y, y_prob, labels)
    p = as_array(y_prob, "y_prob")
    if p.ndim == 2 and p.shape[1] > 2:
        raise ValueError(
            f"expected binary predictions, found {p.shape[1]} columns; give several classes as "
            "Predictions.from_rows(y_true, y_prob), or look at one of them with lens='top_label' or "
            "lens=lenses.one_class(k)"
        )
    if p.ndim == 2 and p.shape[1] == 2:
        p = _second_column(p)
    p = as_vector(p, "y_prob")
    y = _as_outcomes(y, labels)
    if y.size != p.size:
        raise ValueError(f"expected one prediction for each outcome, found {y.size} outcomes and {p.size} predictions")
    return y, p


def check_rows(y: np.ndarray, p: np.ndarray) -> None:
    """Raise if an outcome is not 0 or 1 or a prediction not a probability."""
    if not _are_good(y, p):
        raise row_error(y, p)


@jit
def _are_good(y: np.ndarray, p: np.ndarray) -> bool:
    """Whether all outcomes are 0 or 1 and all predictions probabilities, in one pass."""
    good = True
    for i in range(p.size):
        good &= (p[i] >= 0.0) & (p[i] <= 1.0) & ((y[i] == 0) | (y[i] == 1))
    return good


def row_error(y: np.ndarray, p: np.ndarray) -> ValueError:
    """Return the error that names the first bad row: a slow pass, after a fast check has failed."""
    outcome = (y == 0) | (y == 1)
    if not outcome.all() and np.all((p == 0) | (p == 1)) and np.all((y >= 0) & (y <= 1)):
        y_true, y_prob = Given.OUTCOMES, Given.PREDICTIONS
        swapped = "expected (", y_true, ", ", y_prob, "), but they look swapped: found every "
        return RowsError(*swapped, y_prob, " 0 or 1 and some ", y_true, " not")
    if not outcome.all():
        return first_error(outcome, "0 or 1", y, Given.OUTCOMES, advice_of_outcomes(y))
    good = (p >= 0) & (p <= 1)
    return first_error(good, "a probability from 0 to 1", p, Given.PREDICTIONS, advice_of_scale(p))


def outcomes_of_rows(y_true: object) -> np.ndarray:
    """Convert outcomes to a vector, whatever they are."""
    y = as_array(y_true, "y_true")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"expected y_true of shape (n,) or (n, 1), found shape {y.shape}")
    if y.size == 0:
        raise ValueError("expected at least one row, found an empty y_true")
    return y


def _as_outcomes(y: np.ndarray, labels: Sequence[Any] | None) -> np.ndarray:
    """Convert outcomes to numbers; with `labels`, to 0 and 1."""
    if labels is None:
        if y.dtype.kind in "OUST":
            for row, entry in enumerate(y.ravel().tolist()):
                if not isinstance(entry, int | float | np.number | np.bool_):
                    named = "; name the positive one with pos_label=, or both with labels="
                    advice = Given.PROXY if entry is None else named
                    raise ValueError(f"expected outcomes 0 and 1, found {short(entry)} at row {row} in y_true{advice}")
            y = floats(y, "y_true")
        return ready(y, np.int64) if y.dtype == np.int64 else as_vector(y, "y_true")
    if len(labels) != 2 or labels[0] == labels[1]:
        raise ValueError(f"expected two different labels, [negative, positive], found {quoted(labels)}")
    positive = y == labels[1]
    check_all(positive | (y == labels[0]), f"one of the labels {quoted(labels)}", y, "y_true")
    return positive.astype(np.float64)


def _second_column(p: np.ndarray) -> np.ndarray:
    """Return the probability of outcome 1 from two columns that must sum to 1."""
    if p.dtype.kind not in "buif":
        raise not_a_number(p, "y_prob")
    eps = np.finfo(p.dtype).eps if p.dtype.kind == "f" else 0.0
    total = p.sum(axis=1, dtype=np.float64)
    check_all(
        np.all((p >= 0) & (p <= 1), axis=1), "probabilities from 0 to 1", p, Given.PREDICTIONS, advice_of_scale(p)
    )
    several = "; several models are given as a mapping from name to predictions", *advice_of_sums(p)
    check_all(np.abs(total - 1) <= max(1e-6, 8 * eps), "columns that sum to 1", total, "sums of y_prob", several)
    return p[:, 1]


def check_all(
    good: np.ndarray, expected: str, entries: np.ndarray, name: Given | str, advice: Sequence[Part] = ()
) -> None:
    """Raise unless every row is good; name the first bad one."""
    if not good.all():
        raise first_error(good, expected, entries, name, advice)


def first_error(
    good: np.ndarray, expected: str, entries: np.ndarray, name: Given | str, advice: Sequence[Part]
) -> RowsError:
    """Return the error that names the first bad row."""
    row = int(np.argmin(good))
    entry = short(entries[row : row + 1].tolist()[0])
    return RowsError(f"expected {expected}, found {entry} in ", Entry(name, row), *advice)


def advice_of_scale(p: np.ndarray) -> Sequence[Part]:
    """Return the advice of an error message about predictions that look rounded, or like logits or per cent."""
    finite = p[np.isfinite(p)]
    if np.all((finite >= -ROUNDING) & (finite <= 1 + ROUNDING)) and finite.size == p.size:
        return "; if this is rounding, give numpy.clip(", Given.PREDICTIONS, ", 0, 1)"
    if np.any(finite < -0.01):
        return "; if these are logits, give ", Given.FROM_LOGITS
    if np.any(finite > 2) and np.all(finite <= 100):
        return ("; if these are per cent, divide by 100",)
    return ()


# --- classes, and a probability for each ------------------------------------------------------------------------------


def n_columns(y_prob: object) -> int:
    """Return how many columns of probabilities there are; 1 for a vector."""
    shape = getattr(y_prob, "shape", None)
    shape = np.shape(as_array(y_prob, "y_prob")) if shape is None else shape
    return shape[1] if len(shape) == 2 else 1


def as_matrix(y_prob: object) -> tuple[np.ndarray, float]:
    """Return a writable C-contiguous matrix of float64 or float32, and how far from 1 the sums of its rows may be."""
    array = as_array(y_prob, "y_prob")
    if array.dtype.kind not in "buif":
        raise not_a_number(array, "y_prob")
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"expected y_prob of shape (n, K) with n of at least 1, found shape {array.shape}")
    precision = float(np.finfo(array.dtype).eps) if array.dtype.kind == "f" else 0.0
    array = ready(array, np.float32 if array.dtype == np.float32 else np.float64)
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1):
        array = _two_columns(array.reshape(-1))
    return array, max(1e-6, 4 * array.shape[1] * precision)


def _two_columns(p: np.ndarray) -> np.ndarray:
    """Return the probabilities of class 0 and class 1 from the probabilities of class 1."""
    good = (p >= 0) & (p <= 1)
    if not good.all():
        row = int(np.argmin(good))
        entry = f"expected a probability from 0 to 1, found {p[row]} in ", Entry(Given.PREDICTIONS, row)
        raise RowsError(*entry, *advice_of_scale(p))
    return np.column_stack((1 - p, p))


def as_classes(y_true: object, names: tuple[Any, ...], *, given: bool) -> np.ndarray:
    """Return the number of each class from 0 to K - 1."""
    y = outcomes_of_rows(y_true)
    if given:
        number = {name: k for k, name in enumerate(names)}
        try:
            code = [number.get(entry, -1) for entry in y.tolist()]
        except TypeError:
            code = [_number_of(entry, number) for entry in y.tolist()]
        return _in_range(np.array(code, np.int64), y, f"one of the {len(names)} labels")
    if y.dtype.kind in "OUST":
        for row, entry in enumerate(y.tolist()):
            if not isinstance(entry, int | float | np.number | np.bool_):
                raise ValueError(
                    f"expected classes 0 to {len(names) - 1}, found {short(entry)} at row {row} in y_true; "
                    "name them with labels=, or by the columns of a frame"
                )
        y = floats(y, "y_true")
    if y.dtype.kind not in "buif":
        raise not_a_number(y, "y_true")
    with np.errstate(invalid="ignore"):
        number_of = y.astype(np.int64)
    label, k = np.where(number_of == y, number_of, -1), len(names)
    counted = label.min() == 1 and label.max() == k
    advice = (f"; if classes are numbered from 1, name them with labels=range(1, {k + 1})",) if counted else ()
    return _in_range(np.where(label < k, label, -1), y, f"a class from 0 to {k - 1}", advice)


def _number_of(entry: object, number: Mapping[Any, int]) -> int:
    """Return the number of a class, or -1 of what is none, such as a list, which no mapping can look up."""
    try:
        return number.get(entry, -1)
    except TypeError:
        return -1


def _in_range(label: np.ndarray, y: np.ndarray, expected: str, advice: Sequence[Part] = ()) -> np.ndarray:
    """Return the numbers of the classes; a ValueError names the first row that has none, which is -1."""
    check_all(label >= 0, expected, y, Given.OUTCOMES, advice)
    return np.ascontiguousarray(label)


def vector_error(prob: np.ndarray, row: int) -> RowsError:
    """Return the error that says what is wrong with a row of probabilities."""
    good = (prob[row] >= 0) & (prob[row] <= 1)
    if not good.all():
        entry = Entry(Given.PREDICTIONS, row, int(np.argmin(good)))
        message = f"expected a probability from 0 to 1, found {prob[row, entry.column]} in "
        return RowsError(message, entry, *advice_of_scale(prob))
    total = f" that sums to 1, found a sum of {settled(prob[row].sum(dtype=np.float64)):.9g} "
    return RowsError("expected ", Given.ROW_OF_PREDICTIONS, total, Entry(None, row), *advice_of_sums(prob))


def advice_of_sums(prob: np.ndarray) -> Sequence[Part]:
    """Return the advice of an error message about rows of probabilities that do not sum to 1, if that is rounding."""
    return ("; if they were rounded, give ", Given.DIVIDED) if sums_are_rounded(prob) else ()


def sums_are_rounded(prob: np.ndarray, fewest_digits: int = 1) -> bool:
    """Whether the sum of each row differs from 1 by no more than rounding to its last decimal digit makes."""
    rounding = 4 * np.finfo(prob.dtype).eps if prob.dtype.kind == "f" else 0.0
    prob = prob.astype(np.float64)
    off = np.abs(prob.sum(axis=1) - 1)
    good = off <= ROUNDING
    for digits in range(fewest_digits, MOST_DIGITS + 1):
        unit = 10.0**-digits
        whole = (np.abs(prob - np.round(prob, digits)) <= rounding * prob).all(axis=1)
        good |= whole & (off <= (1 + ROUNDING) * prob.shape[1] * unit / 2)
        if np.any(~good & (off > prob.shape[1] * unit)):
            return False
    return bool(good.all() and np.all((prob >= 0) & (prob <= 1)))
