"""Samples of different rows, such as two sites or two years."""

from __future__ import annotations

from calibstat.inference.comparing.differences import ComparedModels
from calibstat.inference.designs.several_models import HowToCompare, SeveralModels
from calibstat.inference.rows_of_results import Rows

PERHAPS_PAIRED = (
    "If these are the same rows, such as answers to the same questions, give outcomes and predictions as two mappings."
)


class SeparateSamples(SeveralModels):
    """Samples that do not depend on each other, of independent rows."""

    called = "samples"
    paired = False
    one_way = "expected the same rows for all models with method {}, found samples of different rows"

    def note(self, compared: ComparedModels, how: HowToCompare, rows: Rows) -> str:
        sizes = {problem.view.n_given for problem in compared.problems}
        return PERHAPS_PAIRED if len(sizes) == 1 else ""

    def described(self, compared: ComparedModels, n: tuple[int, ...], how: HowToCompare) -> Rows:
        return Rows(sum(n))
