"""Several models on the same rows with outcomes of their own, such as two language models on the same questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from calibstat.inference.comparing.differences import ComparedModels
from calibstat.inference.designs.paired import Paired, PairedClusters
from calibstat.inference.designs.several_models import HowToCompare
from calibstat.inference.rows_of_results import Rows
from calibstat.measures.kinds.base import Measure
from calibstat.resampling import Draws
from calibstat.result import read_only

SCORES_DIFFER = (
    "Scores of models with outcomes of their own differ by accuracy too, and do not compare calibration alone."
)


class OwnOutcomes(Paired):
    """Models on the same rows, each with outcomes of its own, which depend on each other in any way.

    Rows enter every formula by outcome and prediction of each model, so that nothing is as if outcomes were the same.
    Statement and argument: docs/evidence/squares.md, under models with outcomes of their own.
    """

    def pose(self, measure: Measure, draws: Draws) -> ComparedModels:
        compared = replace(super().pose(measure, draws), own_outcomes=True)
        for name, problem in zip(compared.names, compared.problems, strict=True):
            if problem.view.kind != "binary":
                raise ValueError(
                    "expected one event of each model with outcomes of its own, which a class or the most likely one "
                    f"is, found {problem.lens} of {name}; use lens='top_label' or measure='brier'"
                )
        return compared

    def further(self, compared: ComparedModels) -> Mapping[str, Any]:
        rates, means = _means(compared)
        return {"rates": read_only(rates), "mean_predictions": read_only(means)}

    def null(self, compared: ComparedModels, method: str, rows: Rows) -> str:
        return f"{super().null(compared, method, rows)}; each model has outcomes of its own"

    def note(self, compared: ComparedModels, how: HowToCompare, rows: Rows) -> str:
        notes = [
            super().note(compared, how, rows),
            SCORES_DIFFER if compared.first.measure.is_proper else "",
        ]
        return "\n".join(note for note in notes if note)

    def same_order(self, compared: ComparedModels, a: int, b: int) -> bool:
        return False  # they tell other events apart


class OwnOutcomesInClusters(OwnOutcomes, PairedClusters):
    """The same where whole clusters of rows are independent, such as several samples of each question."""


def _means(compared: ComparedModels) -> tuple[np.ndarray, np.ndarray]:
    """Return the rate of outcome 1 and the mean prediction of each model."""
    rows = [problem.view.one_event().float_rows() for problem in compared.problems]
    of_each = [[np.average(column, weights=compared.first.weight) for column in columns] for columns in rows]
    rates, means = np.array(of_each).T
    return rates, means
