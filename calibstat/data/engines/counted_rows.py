"""Rows of several models, counted: which outcomes and predictions occur together, and in how many rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import described, quoted
from calibstat.data.sample import Sample
from calibstat.data.validation import as_rows, as_vector, check_all, check_rows


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Kinds of rows: rows of a kind have the same outcome, and the same prediction of each model.

    Attributes
    ----------
    label, count : ndarray, shape (k,)
        The outcome of each kind, and how many rows are of it.
    value : dict from name to ndarray, shape (k,)
        The predictions of each model.
    samples : dict from name to Sample
        The summary of the rows of each model, in cells that may be finer than the kinds.
    n_cells : int
        The number of cells of equal width in which predictions of rows of a kind count as the same, and are given by
        their mean; 0 if they are the same.
    moved : float
        The largest distance between a prediction and the mean that stands for it in `value`.
    spread : dict from name to float
        The most by which the mean of the squares of the predictions exceeds the same mean of `value`.
    """

    label: np.ndarray
    count: np.ndarray
    value: dict[str, np.ndarray]
    samples: dict[str, Sample]
    n_cells: int = 0
    moved: float = 0.0
    spread: Mapping[str, float] = field(default_factory=dict)

    def some(self, *names: str) -> CountedRows:
        """Return the same of these models alone."""
        of = {name: self.value[name] for name in names}
        return replace(self, value=of, samples={name: self.samples[name] for name in names})


def counted_rows(y_true: ArrayLike, y_prob: Mapping[str, ArrayLike], count: ArrayLike) -> CountedRows:
    """Return the kinds that a user gives; a ValueError says what is wrong with them, and where."""
    if not isinstance(y_prob, Mapping) or len({str(name) for name in y_prob}) < max(len(y_prob), 1):
        found = quoted(y_prob) if isinstance(y_prob, Mapping) else described(y_prob)
        raise ValueError(f"expected y_prob, a mapping from different names of models to predictions; found {found}")
    number = as_vector(count, "count")
    check_all((number >= 0) & (number == np.floor(number)) & (number < 2**53), "a whole count", number, "count")
    label, value = np.empty(0), dict[str, np.ndarray]()
    for name, prob in y_prob.items():
        label, value[str(name)] = as_rows(y_true, prob)
        check_rows(label, value[str(name)])
    if number.size != label.size:
        raise ValueError(f"expected one count for each outcome, found {number.size} counts and {label.size} outcomes")
    if not number.any():
        raise ValueError("expected at least one row, found none")
    kept = number > 0
    y, n = label[kept].astype(np.float64), number[kept]
    kinds = {name: each[kept].astype(np.float64) + 0.0 for name, each in value.items()}
    return CountedRows(y, n, kinds, {name: Sample.from_counts(each, n, n * y) for name, each in kinds.items()})
