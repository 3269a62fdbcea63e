"""Outcomes and predictions of several classes from a file of any kind, whose columns need not be named."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

import numpy as np

from calibstat.cli.input_files import columns_of, read_rows
from calibstat.cli.large.parts import parts_of
from calibstat.cli.reading import Reading
from calibstat.data.predictions import Predictions

Rows = tuple[np.ndarray, np.ndarray]  # classes and predictions

OUTCOME_NAMES = ("y", "label", "labels", "y_true", "target")  # names of columns that are looked for
PROB_NAMES = ("prob*", "p_*", "p")
LOGITS = ("logit*",)


@dataclass(frozen=True)
class PredictionFile:
    """A file, what it holds to the last byte, and how it is read.

    Attributes
    ----------
    path : Path
        The file, or a folder of files, as for the commands of calibstat.
    digest : str
        Of its bytes.
    label : str
        The column of outcomes; empty for the first that has one of the usual names.
    prob : str
        A pattern for the columns of predictions, or the only one, of outcome 1; empty for the usual names.
    logits : bool
        Whether these are logits; columns that are found by the usual names say so themselves.
    """

    path: Path
    digest: str
    label: str = ""
    prob: str = ""
    logits: bool = False

    @classmethod
    def of(cls, path: Path, label: str = "", prob: str = "", logits: bool = False) -> PredictionFile:
        """Return a file as it is now."""
        content = hashlib.blake2b(digest_size=12)
        for part in parts_of(path):
            content.update(part.read_bytes())
        return cls(path, content.hexdigest(), label, prob, logits)

    def rows(self) -> Rows:
        """Return classes and predictions, as `read_predictions` does; the last file that was read is remembered."""
        return _rows(self)


@lru_cache(maxsize=1)
def _rows(file: PredictionFile) -> Rows:
    return read_predictions(file.path, file.label, file.prob, file.logits)


def read_predictions(path: Path, label: str = "", prob: str = "", logits: bool = False) -> Rows:
    """Read the number of the class in each row, and the probabilities of all classes, float64.

    One column is the probability of outcome 1 of two. Rows are divided by their sums, which are 1 only nearly where
    probabilities have single or half precision. A ValueError says what was expected.
    """
    there = columns_of(path)
    label = label or _named(there, OUTCOME_NAMES, path, "outcomes", "label")
    if not prob:
        prob = _named(there, (*PROB_NAMES, *LOGITS), path, "predictions", "prob")
        logits = logits or prob in LOGITS
    prob = next((name for name in there if fnmatchcase(name, prob)), prob) if _count(there, prob) == 1 else prob
    rows, _ = read_rows(path, label, [prob], Reading(logits=logits))
    if isinstance(rows, Predictions):
        p = rows.prob.astype(np.float64)
        return rows.label.astype(np.int64), p / p.sum(axis=1, keepdims=True)
    y, p = rows
    return y.astype(np.int64), np.column_stack([1 - p, p])


def _count(there: list[str], pattern: str) -> int:
    return sum(fnmatchcase(name, pattern) for name in there)


def _named(there: list[str], usual: tuple[str, ...], path: Path, what: str, option: str) -> str:
    """Return the first of the usual names, or patterns, that some column has."""
    for name in usual:
        if _count(there, name):
            return name
    shown = ", ".join(there[:10]) + ", ..." * (len(there) > 10)
    raise ValueError(
        f"expected a column of {what} named {', '.join(usual[:-1])} or {usual[-1]} in {path}, found {shown or 'none'}; "
        f"name it by --set {option}=COLUMN"
    )
