"""Rows of which few have an outcome and all have a judge's answer, checked once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import short
from calibstat.data.numbered_labels import missing, numbered
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.data.validation import as_vector, check_all, to_numpy
from calibstat.digits import settled

FEWEST_LABELS = 50
FAR_OFF = 5.0  # standard deviations that the number of labels may lie from the sum of the chances


class Judge:
    """The answers of a judge for all rows, where few rows have an outcome; for an argument `judge`.

        >>> import calibstat as cs
        >>> y, p = cs.generators.temperature(2).sample(2000, rng=1)
        >>> few = [float(outcome) if i < 300 else None for i, outcome in enumerate(y)]
        >>> judge = cs.Judge(0.8 * y + 0.1, blind=True)
        >>> judge
        Judge(2,000 answers, blind=True)
        >>> cs.Data(few, p, judge=judge)
        Data(2,000 rows, 300 of them labelled, 154 with outcome 1, with a judge)

    Outcomes that are not known are nan, None or masked in `y_true`. A judge is a model or a person whose answers are
    cheap; intervals are right whatever it says.

    Parameters
    ----------
    answers : array_like, shape (n,)
        An answer for each row, from 0 to 1.
    inclusion : array_like, shape (n,), optional
        The chance of each row of being labelled, above 0 and at most 1. Default: labelled rows are a simple random
        subset.
    blind : bool, optional
        True says that the judge never saw an outcome of a labelled row; tests need it.
    """

    def __init__(self, answers: ArrayLike, *, inclusion: ArrayLike | None = None, blind: bool | None = None) -> None:
        self.answers, self.inclusion, self.blind = answers, inclusion, blind

    def __repr__(self) -> str:
        said = "" if self.blind is None else f", blind={short(self.blind)}"
        return f"Judge({np.size(self.answers):,} answers{', inclusion=...' * (self.inclusion is not None)}{said})"


@dataclass(frozen=True, eq=False)
class JudgedColumns:
    """The columns of rows, few of which have an outcome.

    Attributes
    ----------
    outcome : ndarray, shape (n,)
        The outcome of labelled rows, 0 of others.
    prediction, proxy : ndarray, shape (n,)
        The predictions, and the judge's answers.
    labelled : ndarray of bool, shape (n,)
        Which rows have an outcome.
    chance : ndarray, shape (n,), or None
        The chance of each row of being labelled; None if the labelled rows are a simple random subset.
    unit : ndarray of int64, shape (n,), or None
        The number of the cluster of each row; None if rows are independent.
    blind : object
        What is said of the judge: True if it never saw an outcome of a labelled row.
    """

    outcome: np.ndarray
    prediction: np.ndarray
    proxy: np.ndarray
    labelled: np.ndarray
    chance: np.ndarray | None
    unit: np.ndarray | None
    blind: object = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.labelled.size

    @classmethod
    def of(cls, y: np.ndarray, p: np.ndarray, labelled: np.ndarray, judge: Judge, cluster: object) -> JudgedColumns:
        """Return checked rows in the order in which they are given; outcomes of rows that are not labelled are any."""
        f = _numbers("the answers of judge=", judge.answers, y.size)
        check_all((f >= 0) & (f <= 1), "an answer of the judge from 0 to 1 for every row", f, "judge")
        chance = None if judge.inclusion is None else _chances(judge.inclusion, labelled)
        unit = None if cluster is None else numbered("cluster", cluster, y.size)
        if chance is not None and unit is not None:
            raise ValueError(
                "expected inclusion= of a judge without cluster=, because no study covers both, found both"
            )
        count = int(np.count_nonzero(labelled))
        if count < FEWEST_LABELS:
            raise ValueError(f"expected at least {FEWEST_LABELS} labelled rows with judge=, found {count}")
        if count == y.size:
            raise ValueError("expected rows without an outcome with judge=, found none; ask without judge=")
        return cls(np.where(labelled, y, 0.0), p, f, labelled, chance, unit, judge.blind)

    @property
    def labelled_columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Outcomes, predictions and clusters of the labelled rows."""
        return (
            self.outcome[self.labelled],
            self.prediction[self.labelled],
            None if self.unit is None else self.unit[self.labelled],
        )


def filled(y_true: object, judge: object) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes in which missing ones are replaced by one that was observed, and which were there."""
    if not isinstance(judge, Judge):
        raise ValueError(f"expected judge=cs.Judge(answers), with an answer for each row; found {short(judge)}")
    if isinstance(y_true, Sample | Predictions):
        raise ValueError(f"expected rows, y_true and y_prob, beside judge=, found a {type(y_true).__name__}")
    array = np.ma.getdata(y_true) if np.ma.isMaskedArray(y_true) else to_numpy(y_true, "y_true")
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1:
        raise ValueError(f"expected y_true of shape (n,) or (n, 1), found shape {array.shape}")
    gone = missing(array)
    if np.ma.isMaskedArray(y_true):
        gone |= np.ma.getmaskarray(y_true).reshape(array.shape)
    if gone.all():
        raise ValueError("expected labelled rows, found no outcome in y_true")
    if not gone.any():
        return array, ~gone
    entries = array.tolist()
    first = entries[int(np.argmin(gone))]
    return np.array([first if none else entry for entry, none in zip(entries, gone, strict=True)]), ~gone


def _numbers(name: str, given: object, n: int) -> np.ndarray:
    numbers = as_vector(given, name)
    if numbers.size != n:
        raise ValueError(f"expected an entry of {name} for each of {n} rows, found {numbers.size}")
    return numbers


def _chances(inclusion: object, labelled: np.ndarray) -> np.ndarray:
    chance = _numbers("inclusion", inclusion, labelled.size)
    check_all((chance > 0) & (chance <= 1), "a chance of being labelled above 0 and at most 1", chance, "inclusion")
    check_all(labelled | (chance < 1), "a label, or a chance below 1", chance, "inclusion")
    labels, total = np.count_nonzero(labelled), float(chance.sum())
    if abs(labels - total) > FAR_OFF * np.sqrt((chance * (1 - chance)).sum()) + 0.5:
        raise ValueError(
            f"expected inclusion= of a judge, chances that add up to about the number of labelled rows, "
            f"{labels}; found a sum of {settled(total):.6g}"
        )
    return chance
