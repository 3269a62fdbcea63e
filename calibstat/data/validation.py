"""Checks of outcomes and predicted probabilities, binary and multiclass."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibstat.compiled import first_calls, jit
from calibstat.data.checks import described, is_real, quoted, refuse_lazy, short
from calibstat.data.labels import OutcomeNames, advice_of_outcomes, check_row_names, with_labels
from calibstat.data.numbered_labels import beside_text, is_missing, refuse_masked
from calibstat.data.rows_error import Entry, Given, Part, RowsError
from calibstat.digits import settled

ROUNDING = 1e-6  # predictions so little below 0 or above 1 look like rounding
FLOAT_DIGITS = 15  # of a decimal number that a float64 keeps
LOGITS = 20  # logits are seldom larger: a probability beside 1 by 2e-9
MANY_NAMES = 20  # of classes, which are not listed in messages
NAMES_WANTED = "name the positive one with pos_label=, or both with labels="
AS_SHARES = '[float(each.strip("% ")) / 100 for each in {}]'  # of texts such as "90%"
HALF_DIGITS = 8  # after the decimal point, of any number of half precision

# --- arrays -----------------------------------------------------------------------------------------------------------


def as_array(data: object, name: str) -> np.ndarray:
    """Convert to an ndarray of one dimension or more; raise on missing values."""
    if type(data) is np.ndarray and data.ndim > 0 and data.dtype.kind != "O":
        return data  # at once: the checks below take as long as the measure of a few rows
    array = data if type(data) is np.ndarray and data.ndim > 0 else to_numpy(data, name)
    refuse_masked(name, data, str(Given.PROXY) if name == "y_true" else "")
    if array.dtype == object and name != "y_true":
        return floats(array, name)
    return array


def floats(array: np.ndarray, name: str) -> np.ndarray:
    """Convert an array of objects to floats, or raise the error that names the first entry that is not a number.

    Dates, complex numbers and texts of numbers, which NumPy would convert, are refused as in arrays of their own types.
    """
    if not all(map(_is_number, {type(entry): entry for entry in array.ravel().tolist()}.values())):
        raise not_a_number(array, name)
    try:
        with np.errstate(over="ignore"):  # of a long double, which becomes infinite and is named as such
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):  # the last of a whole number of hundreds of digits
        raise not_a_number(array, name) from None


def _is_number(entry: object) -> bool:
    """Whether an entry of an array of objects is a number, perhaps a missing one."""
    return is_real(entry) or (is_missing(entry) and not isinstance(entry, np.generic | complex))


def to_numpy(data: Any, name: str) -> np.ndarray:
    """Convert lists, frames, tensors and whatever else holds rows to an ndarray, with the entries as they are."""
    if hasattr(data, "predict_proba"):
        raise ValueError(
            f"expected {name}, an array, found a fitted {type(data).__name__}; give its probabilities as "
            "calibstat.predict(model, X)"
        )
    refuse_lazy(name, data)
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
    return beside_text(data, array)


def as_vector(data: object, name: str) -> np.ndarray:
    """Convert to a non-empty, contiguous, writable float64 vector; nothing writes to it."""
    array = as_array(data, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        advice = advice_of_shape(array) if name == "y_prob" else ""
        raise ValueError(f"expected {name} of shape (n,) or (n, 1), found shape {array.shape}{advice}")
    if array.size == 0:
        raise ValueError(f"expected at least one row, found an empty {name}")
    if array.dtype.kind not in "buif":
        raise not_a_number(array, name)
    return ready(array, np.float64)


def ready(array: np.ndarray, dtype: type) -> np.ndarray:
    """Return the array contiguous and writable: kernels would be compiled a second time for a read-only one."""
    if array.dtype == np.float16:
        array = decimals_of_half(array)
    with np.errstate(over="ignore"):  # of a long double, which becomes infinite and is named as such
        array = np.ascontiguousarray(array, dtype)
    return array if array.flags.writeable else array.copy()


def decimals_of_half(array: np.ndarray) -> np.ndarray:
    """Return for each number of half precision the shortest decimal that is rounded to it, as it is printed.

    The number itself, .2999 for .3, would be in another bin than what it stands for. Single precision is kept as it is,
    and edges of bins are rounded for it (`calibstat.data.single_precision`).
    """
    exact = array.astype(np.float64)
    found = exact.copy()
    for digits in range(HALF_DIGITS, 0, -1):
        up = np.floor(exact * 10.0**digits + 0.5) / 10.0**digits
        for decimal in (up, np.round(exact, digits)):  # of two that are as near only one may be rounded to the number
            shorter = decimal.astype(np.float16) == array
            found[shorter] = decimal[shorter]
    return found


def not_a_number(array: np.ndarray, name: str) -> ValueError:
    """Return the error that names the first entry that is not a number."""
    columns = array.size // len(array)
    for k, entry in enumerate(array.ravel().tolist()):
        try:
            if array.dtype.kind != "O" or _is_number(entry):
                float(entry)
                continue
        except (TypeError, ValueError, OverflowError):
            pass
        percent = isinstance(entry, str) and entry.strip().endswith("%")
        advice = f"; write {AS_SHARES.format(name)}" if percent and array.ndim == 1 else ""
        return ValueError(f"expected numbers in {name}, found {short(entry)} at row {k // columns}{advice}")
    first = short(str(array.flat[0]))  # texts of numbers, or dates in nanoseconds
    return ValueError(f"expected numbers in {name}, found {first} of dtype {array.dtype} at row 0")


# --- outcomes 0 and 1, and the probability of 1 -----------------------------------------------------------------------


def as_rows(y_true: object, y_prob: object, labels: OutcomeNames = None) -> tuple[np.ndarray, np.ndarray]:
    """Convert to outcomes (float64 or int64) and predictions of equal length, whose values are not yet checked."""
    if labels is None and type(y_true) is np.ndarray is type(y_prob) and _are_ready(y_true, y_prob):
        return y_true, y_prob
    try:
        return _as_rows(y_true, y_prob, labels)
    except ValueError:
        if look_swapped(y_true, y_prob):
            raise swapped() from None
        raise


def _are_ready(y: np.ndarray, p: np.ndarray) -> bool:
    """Whether nothing is to be done to these arrays, as in most calls, of which many are of few rows."""
    are_rows = y.ndim == 1 == p.ndim and y.size == p.size > 0
    are_numbers = p.dtype == np.float64 and (y.dtype == np.float64 or y.dtype == np.int64)
    return are_rows and are_numbers and p.flags.carray and y.flags.carray


def _as_rows(y_true: object, y_prob: object, labels: OutcomeNames) -> tuple[np.ndarray, np.ndarray]:
    are_arrays = type(y_true) is np.ndarray is type(y_prob)  # which name neither rows nor columns
    if not are_arrays:
        check_row_names(y_true, y_prob)
    y = outcomes_of_rows(y_true)
    if not are_arrays or labels is not None or y.dtype.kind not in "buif":
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


def good_in_arrays(y: np.ndarray, p: np.ndarray) -> bool:
    """Whether all outcomes are 0 or 1 and all predictions probabilities."""
    return bool(((p >= 0.0) & (p <= 1.0) & ((y == 0) | (y == 1))).all())


@first_calls(2e-9, good_in_arrays)
@jit
def _are_good(y: np.ndarray, p: np.ndarray) -> bool:
    """Whether all outcomes are 0 or 1 and all predictions probabilities, in one pass."""
    good = True
    for i in range(p.size):
        good &= (p[i] >= 0.0) & (p[i] <= 1.0) & ((y[i] == 0) | (y[i] == 1))
    return good


def row_error(y: np.ndarray, p: np.ndarray) -> ValueError:
    """Return the error that names the first bad row: a slow pass, after a fast check has failed."""
    if look_swapped(y, p):
        return swapped()
    outcome = (y == 0) | (y == 1)
    if not outcome.all():
        return first_error(outcome, "0 or 1", y, Given.OUTCOMES, advice_of_outcomes(y))
    good = (p >= 0) & (p <= 1)
    return first_error(good, "a probability from 0 to 1", p, Given.PREDICTIONS, advice_of_scale(p))


# --- outcomes and predictions in the other order: asked once rows are refused, as it takes some passes over them ------


def look_swapped(y_true: object, y_prob: object) -> bool:
    """Whether what was given as outcomes are probabilities, of one model or several, and as predictions classes.

    Where both are 0 or 1 alone no one can tell.
    """
    if isinstance(y_true, Mapping):
        return bool(y_true) and all(look_swapped(each, y_prob) for each in y_true.values())
    try:
        y, p = to_numpy(y_true, "y_true"), to_numpy(y_prob, "y_prob")
    except ValueError:
        return False
    return _could_be_classes(p) and _are_probabilities(y)


def _could_be_classes(array: np.ndarray) -> bool:
    """Whether these are names or whole numbers, one a row."""
    if array.ndim != 1 and array.shape[1:] != (1,):
        return False
    if array.dtype.kind in "buif":
        return bool(np.all(array == np.floor(array)))
    return all(isinstance(each, int | np.integer | np.bool_) or not is_real(each) for each in array.ravel().tolist())


def _are_probabilities(array: np.ndarray) -> bool:
    """Whether these are numbers from 0 to 1 that are more than the names of two classes."""
    if array.dtype.kind not in "buif" or not bool(np.all((array >= 0) & (array <= 1))):
        return False
    return array.shape[1:] > (1,) or bool(np.any(array != np.floor(array)))


def swapped() -> RowsError:
    """Return the error about outcomes and predictions in the other order."""
    y_true, y_prob = Given.OUTCOMES, Given.PREDICTIONS
    order = "expected (", y_true, ", ", y_prob, "), the outcomes first, but they look swapped: found probabilities in "
    return RowsError(*order, y_true, " and classes in ", y_prob)


def outcomes_of_rows(y_true: object) -> np.ndarray:
    """Convert outcomes to a vector, whatever they are."""
    y = as_array(y_true, "y_true")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        advice = _advice_of_outcomes_in_columns(y)
        raise ValueError(f"expected y_true of shape (n,) or (n, 1), found shape {y.shape}{advice}")
    if y.size == 0:
        raise ValueError("expected at least one row, found an empty y_true")
    return y


def _advice_of_outcomes_in_columns(y: np.ndarray) -> str:
    """Say how outcomes of another shape are given: of one-hot rows, several questions a row, one row, or pixels."""
    if y.ndim > 2:
        return "; give each pixel or token as a row: y_true.reshape(-1), and of y_prob the classes as the last axis"
    if y.ndim != 2 or y.size == 0:
        return ""
    if len(y) == 1:
        return "; give y_true[0]"
    if y.dtype.kind in "buif" and np.all((y == 0) | (y == 1)):
        if np.all(y.sum(axis=1) == 1):
            return "; these are one-hot rows: give y_true.argmax(axis=1), the number of the class"
        return "; give the outcomes of one question at a time, y_true[:, k] and y_prob[:, k]"
    return ""


def advice_of_shape(p: np.ndarray) -> str:
    """Say how predictions of pixels or tokens are given: a row for each, with the axis of the classes last."""
    if p.ndim < 3:
        return ""
    if p.dtype.kind in "buif":
        for axis in range(1, p.ndim):
            if p.shape[axis] > 1 and np.mean(np.abs(p.sum(axis=axis, dtype=np.float64) - 1) < 0.01) > 1 / 2:
                last = "y_prob" if axis == p.ndim - 1 else f"numpy.moveaxis(y_prob, {axis}, -1)"
                return (
                    f"; give each pixel or token as a row: {last}.reshape(-1, {p.shape[axis]}), and y_true.reshape(-1)"
                )
    return "; give each pixel or token as a row: y_prob.reshape(-1) and y_true.reshape(-1)"


def _as_outcomes(y: np.ndarray, labels: Sequence[Any] | None) -> np.ndarray:
    """Convert outcomes to numbers; with `labels`, to 0 and 1."""
    if labels is None:
        if y.dtype.kind in "OUST":
            _need_numbers(y, "outcomes 0 and 1", NAMES_WANTED)
            y = floats(y, "y_true")
        return ready(y, np.int64) if y.dtype == np.int64 else as_vector(y, "y_true")
    if len(labels) != 2 or labels[0] == labels[1]:
        raise ValueError(f"expected two different labels, [negative, positive], found {quoted(labels)}")
    positive = y == labels[1]
    check_all(positive | (y == labels[0]), f"one of the labels {quoted(labels)}", y, "y_true")
    return positive.astype(np.float64)


def _need_numbers(y: np.ndarray, expected: str, advice: Part) -> None:
    """Raise if an outcome is not a number."""
    for row, entry in enumerate(y.tolist()):
        if not is_real(entry):
            raise RowsError(f"expected {expected}, found {short(entry)} at row {row} in y_true; ", advice)


def _second_column(p: np.ndarray) -> np.ndarray:
    """Return the probability of outcome 1 from two columns that must sum to 1."""
    if p.dtype.kind not in "buif":
        raise not_a_number(p, "y_prob")
    total = p.sum(axis=1, dtype=np.float64)
    check_all(
        np.all((p >= 0) & (p <= 1), axis=1), "probabilities from 0 to 1", p, Given.PREDICTIONS, advice_of_scale(p)
    )
    several = "; several models are given as a mapping from name to predictions", *advice_of_sums(p)
    check_all(np.abs(total - 1) <= slack_of_sums(p.dtype, 2), "columns that sum to 1", total, "sums of y_prob", several)
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
        margins = ("; if they are logits or raw margins, give ", Given.FROM_LOGITS) if finite.max() <= LOGITS else ()
        return ("; if these are per cent, divide by 100", *margins)
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
        found = f"found shape {array.shape}{advice_of_shape(array)}"
        raise ValueError(f"expected y_prob of shape (n, K) with n of at least 1, {found}")
    dtype = array.dtype
    array = ready(array, np.float32 if dtype == np.float32 else np.float64)
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1):
        array = _two_columns(array.reshape(-1))
    return array, slack_of_sums(dtype, array.shape[1])


def slack_of_sums(dtype: np.dtype[Any], classes: int) -> float:
    """Return how far from 1 the sums of rows of a type may be: not much further than rounding moves them.

    Half precision has 11 binary digits and steps of 2**-24 near 0, so that a row that sums to 1 is moved by 2**-11 and
    K 2**-25 at most; twice that, because the shortest decimals may be as far from the numbers again. Rounding to single
    precision moves a sum by less than 1e-6, but a softmax divides by a sum that was rounded many times.
    """
    if dtype == np.float16:
        return float(2.0**-10 + classes * 2.0**-24)
    return min(1e-5, max(1e-6, classes * 2.0**-21)) if dtype == np.float32 else 1e-6


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
        expected = f"classes 0 to {len(names) - 1}"
        _need_numbers(y, expected, "name them with labels=, or by the columns of a frame")
        y = floats(y, "y_true")
    if y.dtype.kind not in "buif":
        raise not_a_number(y, "y_true")
    with np.errstate(invalid="ignore"):
        number_of = y.astype(np.int64)
    label, k = np.where(number_of == y, number_of, -1), len(names)
    return _in_range(np.where(label < k, label, -1), y, f"a class from 0 to {k - 1}", _advice_of_numbers(y, k))


def _advice_of_numbers(y: np.ndarray, k: int) -> Sequence[Part]:
    """Say how classes are named that are whole numbers, but not those from 0 to k - 1."""
    numbers = np.unique(y)
    if not (numbers == np.floor(numbers)).all():
        return ()
    if numbers[0] == 1 and numbers[-1] == k:
        return (f"; if classes are numbered from 1, name them with labels=range(1, {k + 1})",)
    if not (numbers[0] < 0 and numbers.size == k and np.abs(numbers).max() < 2**53):  # such as -1, 0 and 1
        return ()
    named = numbers.astype(np.int64).tolist() if k <= MANY_NAMES else "numpy.unique(y_true)"
    return (f"; if these are the classes in the order of the columns, name them with labels={named}",)


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
    for digits in range(fewest_digits, FLOAT_DIGITS + 1):
        unit = 10.0**-digits
        whole = (np.abs(prob - np.round(prob, digits)) <= rounding * prob).all(axis=1)
        good |= whole & (off <= (1 + ROUNDING) * prob.shape[1] * unit / 2)
        if np.any(~good & (off > prob.shape[1] * unit)):
            return False
    return bool(good.all() and np.all((prob >= 0) & (prob <= 1)))
