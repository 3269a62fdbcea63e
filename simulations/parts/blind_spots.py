"""Alternatives on which the test by default does badly, so that its largest losses are shown and not looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibstat.generators.simulator import drawing

from .alternatives import Design, Rows, Shape, between, waves

N = (200, 1000, 5000)
DISTRIBUTION = "centred"


def in_top_quarter(number: float) -> Shape:
    """Return waves over the highest quarter of the rows."""
    return lambda rows, _: np.where(rows.rank > 0.75, np.sin(2 * np.pi * number * 4 * (rows.rank - 0.75)), 0.0)


BLIND: Mapping[str, Shape] = {
    "12 waves in the top quarter": in_top_quarter(12),
    "20 waves": waves(20),
    "40 waves": waves(40),
    "80 waves": waves(80),
    "every other row": lambda rows, _: np.where(np.arange(rows.rank.size) % 2, 1.0, -1.0),
    "1 % of the rows": between(0.6, 0.61),
}


@dataclass(frozen=True)
class BlindDesign(Design):
    """Fixed predictions for these alternatives."""

    def shape(self, alternative: str, rows: Rows) -> np.ndarray:
        """Return the shape of an alternative, none of which is random."""
        return BLIND[alternative](rows, drawing(self.n, self.seed(1))[1])


def blind_designs() -> list[Design]:
    """Return a design for each number of rows."""
    return [BlindDesign(DISTRIBUTION, n, tuple(BLIND)) for n in N]
