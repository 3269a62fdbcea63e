"""Rectified residuals, whose samples are drawn by themselves, each with replacement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.bounds.norms import Norm
from calibstat.bounds.rectified_table import RectifiedTable
from calibstat.resampling import Draws, Stage
from calibstat.residuals.rows import TableResiduals
from calibstat.residuals.table import OfTheta, Residuals

HELD = 2**21  # sums in cells of the resamples that are held together


@dataclass(frozen=True, eq=False)
class RectifiedResiduals(Residuals):
    """A table of rectified residuals: rows or clusters of one sample, or labelled and other rows."""

    table: RectifiedTable

    def resampled(self, of: OfTheta, draws: Draws, stage: int = Stage.ROWS) -> np.ndarray:
        stages = (stage, Stage.UNLABELLED)
        samples = list(zip(self.table.samples, stages, strict=False))

        def sums(first: int, last: int) -> np.ndarray:
            drawn = (
                TableResiduals(sample).resampled(lambda theta: theta, draws.part(first, last, stage), stage)
                * (sample.n / self.table.n)
                for sample, stage in samples
            )
            return np.asarray(sum(drawn))

        return np.concatenate([of(sums(*block)) for block in blocks(draws.n, self.table.cells)])

    def moved(self, norm: Norm, origin: np.ndarray, step: float, draws: Draws) -> np.ndarray:
        return self.resampled(lambda theta: norms(norm, origin + step * (theta - origin)), draws)


def norms(norm: Norm, theta: np.ndarray) -> np.ndarray:
    """Return the norms of sums over the last axis, in one pass over the cells if it has one."""
    return np.asarray(norm.value(theta) if norm.one_pass is None or theta.ndim == 1 else norm.one_pass.of(theta))


def blocks(n: int, cells: int) -> list[tuple[int, int]]:
    """Return the first and the last of the resamples whose sums in cells are held together."""
    some = max(HELD // cells, 1)
    return [(first, min(first + some, n)) for first in range(0, n, some)]
