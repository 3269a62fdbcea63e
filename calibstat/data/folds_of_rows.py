"""Folds of cross-validation: which rows were predicted by one model, which was fitted on the other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from calibstat.data.checks import calls_within, described, short
from calibstat.data.models import Predicted
from calibstat.data.numbered_labels import as_labels, coded
from calibstat.digits import settled

FEWEST_ROWS = 2  # or clusters, of a fold, so that its residuals vary
FEW_ROWS = 20  # of a fold on average, below which a warning says so
ONE_EVENT = "of one event, without lens= and sample_weight="


def columns_of_folds(y_prob: Predicted, folds: object) -> list[tuple[Predicted, np.ndarray]]:
    """Return predictions and fold labels of each repeat of cross-validation.

    One repeat has labels of shape (n,), and predictions as they were given. R repeats have both of shape (n, R).
    """
    if isinstance(folds, Mapping):
        raise ValueError(
            f"expected folds, one array for all models, which share their folds, found {described(folds)}: models that "
            "were fitted on different folds differ by their training rows too"
        )
    label = as_labels("fold", folds)
    if label.ndim == 1:
        return [(y_prob, label)]
    prob = np.asarray(y_prob)
    if label.ndim != 2 or prob.shape != label.shape:
        raise ValueError(
            "expected folds of shape (n,), or folds and y_prob of one shape (n, R) for R repeats, found folds of shape "
            f"{label.shape} and y_prob of shape {prob.shape}"
        )
    if label.shape[1] == 0:
        raise ValueError("expected at least one repeat, found folds without columns")
    return [(prob[:, r], label[:, r]) for r in range(label.shape[1])]


def numbered_folds(label: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """Number the folds from 0 and return the number of each row.

    Raise unless there are two folds or more, each of two rows or more with both outcomes among the other rows; warn if
    folds are small.
    """
    import warnings

    fold, names = coded("fold", label, outcome.size)
    if len(names) < 2:
        raise ValueError("expected at least 2 folds, found 1")
    rows, events = np.bincount(fold), np.bincount(fold, outcome)
    if rows.min() < FEWEST_ROWS:
        named = short(names[int(rows.argmin())])
        raise ValueError(f"expected at least {FEWEST_ROWS} rows in each fold, found {rows.min()} in fold {named}")
    training = events.sum() - events
    single = (training == 0) | (training == outcome.size - rows)
    if single.any():
        k = int(single.argmax())
        raise ValueError(
            "expected both outcomes among the training rows of each fold, found outcome "
            f"{int(training[k] > 0)} alone outside of fold {short(names[k])}"
        )
    if rows.mean() < FEW_ROWS:
        warnings.warn(
            f"{settled(rows.mean()):.3g} rows a fold on average are few: nothing was studied below {FEW_ROWS}",
            UserWarning,
            stacklevel=calls_within(),
        )
    return fold


def need_whole(what: str, fold: np.ndarray, unit: np.ndarray, repeat: int | None = None) -> None:
    """Raise unless all rows of each unit, a cluster or a group, are in one fold; `repeat` is named."""
    first = fold[np.unique(unit, return_index=True)[1]]
    torn = np.flatnonzero(fold != first[unit])
    if torn.size:
        of = "" if repeat is None else f" of repeat {repeat}"
        raise ValueError(
            f"expected all rows of a {what} in one fold, found row {torn[0]} in fold {fold[torn[0]]} and an earlier "
            f"row of its {what} in fold {first[unit[torn[0]]]}{of}"
        )


def need_clusters_in_folds(repeats: Sequence[np.ndarray], unit: np.ndarray) -> None:
    """Raise unless clusters are whole within folds, and at least two in each fold of each repeat."""
    for r, fold in enumerate(repeats):
        need_whole("cluster", fold, unit, r if len(repeats) > 1 else None)
        held = np.bincount(fold[np.unique(unit, return_index=True)[1]], minlength=int(fold.max()) + 1)
        if held.min() < FEWEST_ROWS:
            raise ValueError(f"expected at least {FEWEST_ROWS} clusters in each fold, found {held.min()}")


def are_stratified(fold: np.ndarray, outcome: np.ndarray) -> bool:
    """Whether all folds hold the same number of events, up to one, as folds that were dealt by the outcomes do."""
    events = np.bincount(fold, outcome)
    return bool(events.max() - events.min() <= 1)


def folds_in_words(fold: np.ndarray, repeats: int) -> str:
    """Return the number of folds, of their rows and of repeats, such as "5 folds of 40 rows, 3 repeats"."""
    rows = np.bincount(fold)
    low, high = int(rows.min()), int(rows.max())
    of = f"{low:,} to {high:,}" if low < high else f"{low:,}"
    return f"{rows.size:,} folds of {of} rows{f', {repeats:,} repeats' if repeats > 1 else ''}"
