"""Names of outcomes, given as labels, as the positive one of two, or by the columns of a frame; and names of rows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import described, quoted, refuse_lazy, short
from calibstat.data.numbered_labels import missing
from calibstat.data.rows_error import Given, Part


@dataclass(frozen=True)
class Positive:
    """The one of two outcomes that counts as outcome 1."""

    label: Any


OutcomeNames: TypeAlias = ArrayLike | Positive | None


def labels_or_positive(labels: OutcomeNames, pos_label: object) -> Any:
    """Return the names of outcomes of a function that takes `labels` or `pos_label`: the labels, or the `Positive`."""
    if pos_label is None:
        return labels
    if labels is not None:
        raise ValueError(f"expected labels or pos_label, found both: {short(labels)} and {short(pos_label)}")
    return Positive(pos_label)


def any_outcomes(n: int, labels: OutcomeNames) -> np.ndarray:
    """Return outcomes of n rows that these names allow, for questions in which outcomes decide nothing."""
    if labels is None:
        return np.zeros(n, np.int64)
    outcomes = np.empty(n, object)
    outcomes.fill(labels.label if isinstance(labels, Positive) else (_as_list(labels) or [0])[0])
    return outcomes


def with_labels(y: np.ndarray, y_prob: Any, labels: OutcomeNames) -> tuple[Any, list[Any] | None]:
    """Return the predictions with their columns in the order of the labels, and the labels; None for numbers from 0.

    The names of the columns of a frame are the labels if the outcomes are among them, as they are or as text. Outcomes
    that are text, and names that are numbers, have to be; else the outcomes are the numbers of the columns.
    """
    names = column_names(y_prob)
    if y.dtype.kind not in ("bui" if names or labels is not None else "buif"):  # numbers alone are checked anyway
        need_outcomes(y)
    if isinstance(labels, Positive):
        labels = _two_labels(y, names, labels.label)
        if names is not None and sorted(map(str, names)) == sorted(map(str, labels)):
            column = {str(name): name for name in names}
            y_prob = y_prob[[column[str(label)] for label in labels]]
        return y_prob, labels
    if labels is not None:
        labels = _as_list(labels)
        if names is not None and labels != names and sorted(map(str, names)) == sorted(map(str, labels)):
            raise ValueError(
                f"expected labels in the order of the columns, {quoted(names)}; found {quoted(labels)}; the columns "
                "name their classes, and need no labels"
            )
        return y_prob, labels
    if names is None:
        return y_prob, None
    outcomes = distinct(y)
    if set(outcomes) <= set(names):
        return y_prob, names
    spelled = {str(outcome): outcome for outcome in outcomes}
    if spelled.keys() <= set(map(str, names)):
        return y_prob, [spelled.get(str(name), name) for name in names]
    numbers = all(isinstance(outcome, int | float) for outcome in outcomes)
    if numbers and all(isinstance(name, str) for name in names):
        return y_prob, None
    first = next(outcome for outcome in outcomes if str(outcome) not in map(str, names))
    row = [str(outcome) for outcome in y.ravel().tolist()].index(str(first))
    raise ValueError(
        f"expected names of columns of y_prob ({quoted(names)}) as outcomes, found {short(first)} in y_true at row "
        f"{row}; labels= names the columns otherwise"
    )


def need_outcomes(y: np.ndarray) -> None:
    """Raise if an outcome is missing, which would be taken as another name of an outcome."""
    gone = missing(y)
    if gone.any():
        row = int(gone.argmax())
        found = short(y[row : row + 1].tolist()[0])
        raise ValueError(f"expected no missing outcomes, found {found} at row {row} in y_true{Given.PROXY}")


def column_names(y_prob: object) -> list[Any] | None:
    """Return the names of the columns of a frame, or None where they say no more than numbers from 0."""
    refuse_lazy("y_prob", y_prob)
    if not (hasattr(y_prob, "columns") and hasattr(y_prob, "dtypes")) or len(y_prob.columns) < 2:
        return None
    names = _as_list(y_prob.columns)
    return names if names != list(range(len(names))) and len(set(names)) == len(names) else None


def distinct(y: np.ndarray) -> list[Any]:
    """Return the distinct outcomes, as Python's own values: numbers ascending, others as they come."""
    try:
        return np.unique(y).tolist() if y.dtype.kind in "buif" else list(dict.fromkeys(y.ravel().tolist()))
    except TypeError:
        raise ValueError(
            f"expected outcomes, numbers or text, found {short(y.ravel()[0])} in y_true at row 0"
        ) from None


def advice_of_outcomes(y: np.ndarray) -> Sequence[Part]:
    """Return the advice of an error message about outcomes that are not 0 and 1: how to name the positive one.

    Of numbers from 0 to 1 that are neither, it is how to give shares of events; of missing ones, a judge's answers.
    """
    outcomes = distinct(y)
    if any(value != value for value in outcomes):
        return (Given.PROXY,)
    if all(isinstance(value, float) and 0 <= value <= 1 for value in outcomes):
        return (Given.SHARES,)
    if len(outcomes) != 2:
        return ()
    outcomes = [int(value) if isinstance(value, float) and value.is_integer() else value for value in outcomes]
    two = f"of the two, {short(outcomes[0])} and {short(outcomes[1])}"
    return (f"; {two}, name the positive one, as in pos_label={outcomes[1]!r}",)


def _two_labels(y: np.ndarray, names: list[Any] | None, positive: Any) -> list[Any]:
    """Return the other outcome and the positive one."""
    if np.ndim(positive) > 0:
        raise ValueError(f"expected pos_label, one of the outcomes, found {described(positive)}")
    outcomes = distinct(y)
    others = [outcome for outcome in outcomes if outcome != positive]
    if len(others) > 1:
        missing = len(outcomes) == 2
        what = f"pos_label to be one of {quoted(outcomes)}" if missing else "two outcomes for pos_label"
        raise ValueError(
            f"expected {what}, found {short(positive) if missing else f'{len(outcomes)}: {quoted(outcomes)}'}"
        )
    if not others:  # all outcomes are positive, so that only a column can name the other
        named = [name for name in names or () if str(name) != str(positive)]
        others = named if len(named) == 1 else [f"not {positive}"]
    return [*others, next((outcome for outcome in outcomes if outcome == positive), positive)]


def _as_list(labels: Any) -> list[Any]:
    """Return labels as a list of Python's own values, which JSON knows."""
    try:
        names = list(getattr(labels, "tolist", lambda: labels)())
        hash(tuple(names))
    except TypeError:
        raise ValueError(f"expected labels, a sequence of names, found {short(labels)}") from None
    return names


# --- rows: the index of series and frames of pandas -------------------------------------------------------------------


def check_row_names(first: object, second: object, names: tuple[str, str] = ("y_true", "y_prob")) -> None:
    """Raise if two series or frames of pandas have the same index in another order, or other labels.

    Rows belong together as they stand. The index that pandas gives by default, 0 to n - 1, names nothing: a model
    returns an array, and a series made of it has the default index. But if the outcomes have the default index and the
    predictions the same numbers in another order, the predictions were sorted. Arguments without an index, or of
    another length, are not checked here.
    """
    indices = [_index(first)]
    if indices[0] is None:
        return
    indices.append(_index(second))
    if indices[1] is None or len(indices[0]) != len(indices[1]) or indices[0].equals(indices[1]):
        return
    same = set(indices[0]) == set(indices[1])
    if _is_default(indices[1]) or (not same and _is_default(indices[0])):
        return
    labels = [index.tolist() for index in indices]
    row = next(i for i, (one, other) in enumerate(zip(*labels, strict=True)) if one is not other and one != other)
    found = "the same labels in another order" if same else "other labels"
    remedy = f"reorder them, as in {names[1]}.loc[{names[0]}.index], or " if same else ""
    raise ValueError(
        f"expected {names[1]} with the index of {names[0]}, found {found}: {short(labels[1][row])} where "
        f"{names[0]} has {short(labels[0][row])}, at row {row}; {remedy}give arrays, as in {names[1]}.to_numpy(), if "
        "rows belong together as they stand"
    )


def _index(data: object) -> Any:
    """Return the index of a series or a frame of pandas, else None."""
    pandas = sys.modules.get("pandas")  # who has not imported it has no series, nor while another thread imports it
    kinds = getattr(pandas, "Series", None), getattr(pandas, "DataFrame", None)
    return data.index if None not in kinds and isinstance(data, kinds) else None  # type: ignore[arg-type]


def _is_default(index: Any) -> bool:
    """Whether an index numbers the rows from 0."""
    return bool(index.equals(sys.modules["pandas"].RangeIndex(len(index))))
