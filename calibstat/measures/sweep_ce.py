"""Monotonic sweep calibration error: the binned error over as many bins as leave the frequencies in ascending order."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat.data.cell_sums import cell_sums
from calibstat.data.checks import is_among, short
from calibstat.data.sample import Sample
from calibstat.measures.binned import ECE
from calibstat.measures.bins import table_of_bins
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.population_value import NO_EDGES, BinaryPopulation
from calibstat.measures.kinds.registry import measure

ROELOFS = "Roelofs, Cain, Shlens, Mozer 2022, Mitigating Bias in Calibration Error Estimation, arXiv:2012.08668"
SWEEP_STRATEGIES = ("quantile", "uniform")
EQUAL_LEVELS = 1e-12  # frequencies of a population that differ by less are equal


def _falls(frequency: np.ndarray, by: float = 0.0) -> bool:
    return bool(np.any(frequency[1:] < frequency[:-1] - by))


@measure(
    "sweep_ce",
    title="Monotonic sweep calibration error",
    formula=r"\Bigl(\sum_{b=1}^{B} \frac{n_b}{n}\,\bigl|\bar y_b - \bar v_b\bigr|^p\Bigr)^{1/p},"
    r"\quad B = \max \{B : \bar y_1 \le \dots \le \bar y_{B'} \text{ for all } B' \le B\}",
    reference=ROELOFS,
    bounds=(0, 1),
    sound=False,
    symmetric=False,
    slow_above=0,
    no_interval="its number of bins is chosen by the outcomes, so that its bins are not the same in another sample",
)
class SweepCE(Statistic):
    """The binned error, with a number of bins that the rows choose: the last before observed frequencies fall.

    Numbers of bins 1, 2, 3, ... are tried until the frequency of outcome 1 in some bin is below the one in the bin
    before it; the number before that is taken. At most every distinct prediction has a bin of its own.

    Options: `strategy`, "quantile" for nearly equal numbers of rows (ties stay together) or "uniform" for equal widths,
    where empty bins are passed over; `norm`, as for `ece`.

    Since outcomes choose the bins, a test draws outcomes and sweeps again for each draw, which is exact; there is no
    honest interval. For a diagram with these bins give `calibstat.reliability` the "n_bins" of `calibstat.detail` and
    the same `strategy`. Where the frequency rises with the prediction the value of a population is the error without
    bins, else it is that over the population's last number of bins; without one where frequencies of bins are equal.

    Cost: one sort, then one pass for each number of bins that is tried, usually a few dozen.
    """

    strategy: str = "quantile"
    norm: str | float = "l1"

    def check(self) -> None:
        if not is_among(self.strategy, SWEEP_STRATEGIES):
            raise ValueError(f"expected strategy 'quantile' or 'uniform', found {short(self.strategy)}")
        _ = self._error(1)

    def _error(self, n_bins: int | None) -> ECE:
        """Return the error over this number of bins; None for all distinct predictions."""
        return ECE(n_bins=n_bins, strategy=self.strategy, norm=self.norm)

    def _frequencies(self, cell: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
        rows, ones = np.bincount(cell, count), np.bincount(cell, positives)
        return ones[rows > 0] / rows[rows > 0]

    def _bins(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> int:
        """Return the number of bins of distinct predictions, all of which have rows."""
        # neighbours that are pooled keep an ascending order, so that then no number of bins breaks it
        if not _falls(positives / count):
            return value.size
        for n_bins in range(2, value.size):
            cell = self._error(n_bins).cells(value, count)
            if _falls(self._frequencies(cell, count, positives)):
                return n_bins - 1
        return value.size - 1

    def _cells(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> tuple[int, np.ndarray]:
        n_bins = self._bins(value, count, positives)
        return n_bins, self._error(None if n_bins == value.size else n_bins).cells(value, count)

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        full = count > 0
        rows = value[full], count[full], positives[full]
        return float(self._error(1).reduce(*cell_sums(self._cells(*rows)[1], *rows)))

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        n_bins, cell = self._cells(value, count, positives)
        return {"n_bins": n_bins, **table_of_bins(cell, value, count, positives)}

    def population_value(self, population: BinaryPopulation) -> float:
        if population.scattered:
            raise NotImplementedError("its number of bins needs the true probability at every prediction")
        points = population.summary(NO_EDGES)
        if not _falls(points.positives / points.count, EQUAL_LEVELS):
            return self._error(None).population_value(population)
        n_bins = 1
        while True:
            frequency = self._of_population(population, n_bins + 1)
            if _falls(frequency, EQUAL_LEVELS):
                return self._error(n_bins).population_value(population)
            if np.any(np.diff(frequency) <= EQUAL_LEVELS):
                raise NotImplementedError(f"two of its {n_bins + 1} bins have one frequency, and noise orders them")
            n_bins += 1

    def _of_population(self, population: BinaryPopulation, n_bins: int) -> np.ndarray:
        error = self._error(n_bins)
        sample: Sample = population.summary(*error.population_edges())
        return self._frequencies(error.cells(sample.value, sample.count), sample.count, sample.positives)
