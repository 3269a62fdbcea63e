"""Residuals that are smaller than a calibrated model has them, as on outcomes that the predictions were fitted to."""

from __future__ import annotations

import numpy as np

from calibstat.data.cell_sums import cell_sums
from calibstat.data.sample import Sample
from calibstat.inference.p_values import extremes
from calibstat.measures.components.deviations import Diagnostics
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.resampling import Draws, Labels, Stream, draw, in_cells

NOTE_LEVEL = 0.01  # of both together: a calibrated model gets the note in at most 1 % of samples
OF_SUMS = 0.009  # of the mean and the slope of the residuals, and the rest of NOTE_LEVEL of the statistic
MEAN = 10.0  # times that the mean residual counts: cross-validation makes it smaller than any other component
LARGE_Z = 4.0  # their size from which on it is not worth while to draw
# labels in clusters have no such note, so the words are free: the statistic must not share its draws with the two sums
OTHER_WORDS = Stream.SHARED
ROUNDING = 1e-9  # sizes so close to each other are ties
NOTE = (
    "Residuals smaller than chance: were these predictions cross-validated, recalibrated or fitted on these outcomes? "
    "Then the test cannot find their error. For predictions out of the folds of cross-validation give folds=, the fold "
    "of each row. Residuals of a calibrated model are as small in at most 1 % of samples."
)


def is_small(statistic: float, null: np.ndarray, level: float = NOTE_LEVEL) -> bool:
    """Whether a statistic is so small that a calibrated model has as small a one with probability of at most `level`.

    Ties count as equally small, so that a statistic that takes few values is rarely called small.
    """
    as_small = extremes(statistic, null, "two-sided")[1]
    return bool((1 + np.count_nonzero(as_small)) <= level * (1 + null.size) * (1 + 1e-12))


def smaller_than_chance(measure: Statistic, sample: Sample, statistic: float, null: np.ndarray, draws: Draws) -> bool:
    """Whether residuals of a binary sample are smaller than chance: the statistic, or their mean and slope.

    Mean and slope are the first two components of a measure that has them. A fit to these outcomes makes both about 0,
    while the statistic looks at all components and hardly notices.
    """
    seen = measure.diagnose(sample)
    if seen is None or seen[1].components is None:
        return is_small(statistic, null)
    cell, diagnostics = seen
    if is_small(statistic, null, NOTE_LEVEL - OF_SUMS):
        return True
    observed = _size(diagnostics, cell_sums(cell, *sample.arrays)[1][None]).item()
    if observed > LARGE_Z:
        return False

    def size(count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        return _size(diagnostics, np.atleast_2d(residual))

    drawn = draw(in_cells(sample, cell), Labels(), size, draws, OTHER_WORDS)
    return is_small(observed + ROUNDING * (1 + observed), np.asarray(drawn).ravel(), OF_SUMS)


def _size(diagnostics: Diagnostics, residual: np.ndarray) -> np.ndarray:
    """Return the squared length of mean and slope, shape (B,), of residuals / n in cells, shape (B, m)."""
    assert diagnostics.components is not None
    sums = diagnostics.sums(residual) @ diagnostics.components.basis[:, :2]
    sums[:, 0] *= MEAN
    return np.asarray((sums**2).sum(axis=1))
