"""Rows of which few have an outcome and all have a judge's answer, checked once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from calibstat import resampling
from calibstat.answers_by_model import Answers
from calibstat.data.checked_rows import Data, Models, named
from calibstat.data.checks import is_among, quoted, short
from calibstat.data.models import Predicted, named_models
from calibstat.data.numbered_labels import missing, numbered
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.data.validation import as_vector, check_all, to_numpy
from calibstat.digits import settled
from calibstat.inference.few_labels.guess import Guess
from calibstat.output.wording import percent

R = TypeVar("R")
FEWEST_LABELS = 50
FAR = 5.0  # standard deviations that the number of labels may lie from the sum of the chances
UNLIKE = 0.2  # share of other rows with answers that no labelled row has, from which on a judge looks odd


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows in an order that depends on what they hold.

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
    """

    outcome: np.ndarray
    prediction: np.ndarray
    proxy: np.ndarray
    labelled: np.ndarray
    chance: np.ndarray | None
    unit: np.ndarray | None

    def take(self, order: np.ndarray, unit: np.ndarray | None) -> JudgedRows:
        """Return the rows in this order, in clusters `unit` of the rows in this order."""
        chance = None if self.chance is None else self.chance[order]
        y, p, f, labelled = (each[order] for each in (self.outcome, self.prediction, self.proxy, self.labelled))
        return JudgedRows(y, p, f, labelled, chance, unit)

    @cached_property
    def data(self) -> Data:
        """The labelled rows alone, with their clusters, in this order."""
        cluster = None if self.unit is None else self.unit[self.labelled]
        return Data(self.outcome[self.labelled], self.prediction[self.labelled], cluster=cluster)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.labelled.size

    @cached_property
    def labels(self) -> int:
        """Number of labelled rows."""
        return int(np.count_nonzero(self.labelled))

    @property
    def rho(self) -> float:
        """The share of labelled rows."""
        return self.labels / self.n

    @cached_property
    def units(self) -> np.ndarray:
        """The number of the cluster of each row, or of the row."""
        return np.arange(self.n) if self.unit is None else self.unit

    @cached_property
    def scale(self) -> np.ndarray:
        """The factor of the residuals of labelled rows: `rho` over their chances, 1 if all are the same."""
        return np.ones(self.n) if self.chance is None else self.rho / self.chance

    @cached_property
    def guess(self) -> Guess:
        """The guesses of the outcomes."""
        weight = np.ones(self.n) if self.chance is None else (1 - self.chance) / self.chance**2
        return Guess.of(self.outcome, self.prediction, self.proxy, self.labelled, self.units, weight)

    @cached_property
    def contribution(self) -> np.ndarray:
        """The rectified residual of each row; the labelled rows' sums divided by their number have the right means.

        Statement and argument: docs/proofs.md, section 16.
        """
        guess = self.guess.outcome
        return self.rho * (guess - self.prediction) + self.labelled * self.scale * (self.outcome - guess)

    @cached_property
    def noise_left(self) -> float:
        """The share of the squared residuals of labelled rows that the guesses leave."""
        y, p, g, s = (each[self.labelled] for each in (self.outcome, self.prediction, self.guess.outcome, self.scale))
        return noise_left(np.sqrt(s) * (y - p), np.sqrt(s) * (y - g))

    @property
    def odd(self) -> str:
        """The reason why a judge that is right on every labelled row looks wrong; empty if there is none."""
        y, f, others = self.outcome[self.labelled], self.proxy[self.labelled], self.proxy[~self.labelled]
        if (f != y).any() or np.mean((others > 0) & (others < 1)) <= UNLIKE:
            return ""
        return (
            "The judge answers 0 or 1, and right, on every labelled row, but not so on others: proxy= may hold the "
            "outcomes themselves."
        )


def equivalent_labels(labels: float, rows: float, noise_left: float) -> float:
    """Return the labels without a judge that say as much as so many labels among rows with a judge's answers."""
    return labels / (noise_left + labels / rows * (1 - noise_left))


def noise_left(without: np.ndarray, by_guess: np.ndarray) -> float:
    """Return the share of the squares of labelled rows that guesses leave."""
    squares = float((without**2).sum())
    return float((by_guess**2).sum()) / squares if squares > 0 else 1.0


def ask_with_proxy(
    ask: Callable[[JudgedRows], R],
    y_true: object,
    y_prob: Predicted,
    proxy: object,
    **rows: object,
) -> R | Answers[R]:
    """Return the answer about rows with few labels, or the answers about several models on the same rows."""
    models = named_models(y_prob)
    if models is None:
        return ask(judged_rows(y_true, y_prob, proxy, **rows))
    return Answers(named(lambda prob: ask(judged_rows(y_true, prob, proxy, **rows)), models))


def needed_models(y_prob: object) -> Mapping[str, object]:
    """Return the predictions of two models or more, by their names."""
    models = named_models(y_prob)
    if models is None or len(models) < 2:
        found = "one" if models is None else quoted(models)
        raise ValueError(f"expected y_prob of two or more models for the same rows with proxy=, found {found}")
    return models


def need_defaults_with_proxy(given: Mapping[str, object], **defaults: tuple[object, object]) -> None:
    """Raise if an argument was given that is not taken with proxy: one that is None by default, or by this default."""
    for name, value in _given(given, defaults):
        raise ValueError(f"expected proxy= without {name}=, because no study covers both, found {short(value)}")


def need_proxy(given: Mapping[str, object], **defaults: tuple[object, object]) -> None:
    """Raise if an argument was given that only rows with a judge's answers take; defaults as above."""
    for name, _ in _given(given, defaults):
        raise ValueError(f"expected proxy=, the answers of a judge for all rows, beside {name}=; found none")


def _given(given: Mapping[str, object], defaults: Mapping[str, tuple[object, object]]) -> Iterator[tuple[str, object]]:
    """Yield what differs from its default, by its name."""
    yield from ((name, value) for name, value in given.items() if value is not None)
    yield from ((name, value) for name, (value, default) in defaults.items() if not is_among(value, (default,)))


def judged_rows(y_true: object, y_prob: object, proxy: object, **given: object) -> JudgedRows:
    """Check rows of which few have an outcome; an error names the row."""
    return in_one_order({"": _checked(y_true, y_prob, proxy, **given)})[""]


def judged_models(
    y_true: object,
    y_prob: Mapping[str, object],
    proxy: object,
    **given: object,
) -> dict[str, JudgedRows]:
    """Check the same rows of several models; an error names the model and the row."""
    return in_one_order(named(lambda prob: _checked(y_true, prob, proxy, **given), y_prob))


def in_one_order(models: Mapping[str, JudgedRows]) -> dict[str, JudgedRows]:
    """Return the same rows of several models in an order that depends on what they hold."""
    first = next(iter(models.values()))
    by_name = [models[name].prediction for name in sorted(models)]
    columns = [first.labelled.astype(np.float64), first.outcome, *by_name, first.proxy]
    order, unit = resampling.canonical_order([*columns, *([] if first.chance is None else [first.chance])], first.unit)
    return {name: rows.take(order, unit) for name, rows in models.items()}


def _checked(
    y_true: object,
    y_prob: object,
    proxy: object,
    *,
    inclusion: object = None,
    cluster: object = None,
    labels: object = None,
    pos_label: object = None,
) -> JudgedRows:
    """Return checked rows in the order in which they are given."""
    if isinstance(y_true, Data | Models | Sample | Predictions):
        raise ValueError(f"expected rows, y_true and y_prob, beside proxy=, found a {type(y_true).__name__}")
    outcomes, labelled = filled(y_true)
    data = Data(outcomes, y_prob, labels=labels, pos_label=pos_label)  # type: ignore[arg-type]
    if data.rows.are_of_classes:
        raise ValueError(f"expected proxy= of one event, found predictions of {data.rows.n_classes} classes")
    y, p = data.seen().one_event().float_rows()
    f = _numbers("proxy", proxy, y.size)
    check_all((f >= 0) & (f <= 1), "an answer of the judge from 0 to 1 for every row", f, "proxy")
    chance = None if inclusion is None else _chances(inclusion, labelled)
    unit = None if cluster is None else numbered("cluster", cluster, y.size)
    if chance is not None and unit is not None:
        raise ValueError("expected inclusion= without cluster=, because no study covers both, found both")
    count = int(np.count_nonzero(labelled))
    if count < FEWEST_LABELS:
        raise ValueError(f"expected at least {FEWEST_LABELS} labelled rows with proxy=, found {count}")
    if count == y.size:
        raise ValueError("expected rows without an outcome with proxy=, found none; ask without proxy=")
    return JudgedRows(np.where(labelled, y, 0.0), p, f, labelled, chance, unit)


def filled(y_true: object) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes in which missing ones are replaced by one that was observed, and which were there."""
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
        raise ValueError(f"expected {name}= with an entry for each of {n} rows, found {numbers.size}")
    return numbers


def _chances(inclusion: object, labelled: np.ndarray) -> np.ndarray:
    chance = _numbers("inclusion", inclusion, labelled.size)
    check_all((chance > 0) & (chance <= 1), "a chance of being labelled above 0 and at most 1", chance, "inclusion")
    check_all(labelled | (chance < 1), "a label, or a chance below 1", chance, "inclusion")
    labels, total = np.count_nonzero(labelled), float(chance.sum())
    if abs(labels - total) > FAR * np.sqrt((chance * (1 - chance)).sum()) + 0.5:
        raise ValueError(
            f"expected inclusion=, chances that add up to about the number of labelled rows, {labels}; found a sum of "
            f"{settled(total):.6g}"
        )
    return chance


def cannot_be_seen() -> str:
    """Return what no number here shows."""
    return (
        "Not seen: prompts, thresholds or examples of the judge that were tuned on the labelled rows, and labels that "
        "were not chosen at random, make this wrong. Agreement of judge and labels rules out neither."
    )


def noise_in_words(rows: JudgedRows, left: float) -> str:
    """Say how much noise the judge leaves, and what it is worth."""
    if not rows.guess.is_used:
        return (
            "The judge is not used: fewer than 10 labelled rows or clusters have one of the outcomes, or are expected "
            "to have it. Its answers change nothing here."
        )
    worth = round(settled(equivalent_labels(rows.labels, rows.n, left)))
    return f"The judge leaves {percent(left)} of the noise: worth about {worth:,} labels."
