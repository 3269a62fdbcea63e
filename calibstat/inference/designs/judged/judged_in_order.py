"""Rows of which few have an outcome and all have a judge's answer, in an order that depends on what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.data.checked_rows import Data
from calibstat.data.judged_rows import JudgedColumns
from calibstat.data.numbered_labels import numbered
from calibstat.digits import settled
from calibstat.inference.designs.judged.guess import Guess
from calibstat.output.wording import percent

SHARE_UNLIKE = 0.2  # share of other rows with answers that no labelled row has, from which on a judge looks odd


@dataclass(frozen=True, eq=False)
class JudgedRows(JudgedColumns):
    """Rows in an order that depends on what they hold."""

    @classmethod
    def taken(cls, given: JudgedColumns, order: np.ndarray, unit: np.ndarray | None) -> JudgedRows:
        """Return rows in this order, in clusters `unit` of the rows in this order."""
        chance = None if given.chance is None else given.chance[order]
        y, p, f, labelled = (each[order] for each in (given.outcome, given.prediction, given.proxy, given.labelled))
        return cls(y, p, f, labelled, chance, unit, given.blind)

    @cached_property
    def data(self) -> Data:
        """The labelled rows alone, with their clusters, in this order."""
        outcome, prediction, unit = self.labelled_columns
        data = Data(outcome, prediction)
        if unit is not None:
            data.take_clusters(numbered("cluster", unit, outcome.size))  # who gave them was warned if they are few
        return data

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

        Statement and argument: docs/evidence/proofs/few-labels.md.
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
        if (f != y).any() or np.mean((others > 0) & (others < 1)) <= SHARE_UNLIKE:
            return ""
        return (
            "The judge answers 0 or 1, and right, on every labelled row, but not so on others: judge= may hold the "
            "outcomes themselves."
        )


def equivalent_labels(labels: float, rows: float, noise_left: float) -> float:
    """Return the labels without a judge that say as much as so many labels among rows with a judge's answers."""
    return labels / (noise_left + labels / rows * (1 - noise_left))


def noise_left(without: np.ndarray, by_guess: np.ndarray) -> float:
    """Return the share of the squares of labelled rows that guesses leave."""
    squares = float((without**2).sum())
    return float((by_guess**2).sum()) / squares if squares > 0 else 1.0


def judged_rows(data: Data) -> JudgedRows:
    """Return the rows of a judge in an order that depends on what they hold."""
    return judged_models({"": data})[""]


def judged_models(models: Mapping[str, Data]) -> dict[str, JudgedRows]:
    """Return the same rows of several models in one order, which depends on what they hold."""
    return in_one_order({name: data.judged for name, data in models.items() if data.judged is not None})


def in_one_order(models: Mapping[str, JudgedColumns]) -> dict[str, JudgedRows]:
    """Return the same rows of several models in an order that depends on what they hold."""
    first = next(iter(models.values()))
    by_name = [models[name].prediction for name in sorted(models)]
    columns = [first.labelled.astype(np.float64), first.outcome, *by_name, first.proxy]
    order, unit = resampling.canonical_order([*columns, *([] if first.chance is None else [first.chance])], first.unit)
    return {name: JudgedRows.taken(rows, order, unit) for name, rows in models.items()}


def rows_with_judge(rows: JudgedRows, design: float) -> dict[str, Any]:
    """Return the fields by which results say how rows came about, given the p-value of the check of the labels."""
    return {"n": rows.n, "labelled": rows.labels, "design_pvalue": design, "not_seen": cannot_be_seen()}


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
