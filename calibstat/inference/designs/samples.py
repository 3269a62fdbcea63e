"""Samples of different rows, such as two sites or two years."""

from __future__ import annotations

from calibstat.inference.comparing.differences import ComparedModels
from calibstat.inference.designs.several_models import HowToCompare, SeveralModels
from calibstat.inference.rows_of_results import Rows


class SeparateSamples(SeveralModels):
    """Samples that do not depend on each other, of independent rows."""

    called = "samples"
    paired = False
    one_way = "expected the same rows for all models with method {}, found samples of different rows"

    def described(self, compared: ComparedModels, n: tuple[int, ...], how: HowToCompare) -> Rows:
        return Rows(sum(n))
