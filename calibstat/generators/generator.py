"""Base class of binary generators: simulators with known population values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.generators.distortion import Distortion
from calibstat.generators.distributions import Random, Seed, describe
from calibstat.generators.population import Part, Population, unknown_value_of
from calibstat.generators.simulator import Pairs, Simulator, drawing
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.registry import find_measure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


class Generator(Simulator):
    """A binary generator: a distribution of covariates, with the prediction and the true probability at each."""

    def sample_covariates(self, n: int, rng: Seed = None) -> Rows:
        """Draw the rows of `sample` together with their covariates.

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        rng : None, int, SeedSequence or Generator
            As for `numpy.random.default_rng`.

        Returns
        -------
        x : ndarray, shape (n,)
            The name of the group for `groups`, the number of the point for `domain` and `hidden`, else the score.
        y : ndarray of int64, shape (n,)
            Outcomes, 0 or 1.
        p : ndarray of float64, shape (n,)
            Predicted probabilities of outcome 1.

        Raises
        ------
        ValueError
            If `n` is not a whole number of at least 1.
        """
        x, y, p = self._rows(*drawing(n, rng), ())
        return x, y.astype(np.int64), p

    def truth(self, measure: str | Measure | type[Measure] = "ece", **options: Any) -> float:
        """Return the measure of the population, the limit of estimates from n rows as n grows.

        Parameters
        ----------
        measure : str or Measure
            A name in `calibstat.MEASURES`, or a measure itself. The value is known for every binary measure of
            calibstat, and for user-defined seminorms, mean losses, measures over bins (to 1e-4, unless they define
            `population_edges`), and statistics that set `plugs_in` or define `population_value`.
        **options
            Options of the measure. ``strategy="quantile"`` means the quantiles of the population; ascending cuts, as
            for a sample, mean the cells between them; ``n_bins=None`` E|E[y | v] - v|.

        Returns
        -------
        float
            For `ece_debiased` the binned L2 error; for `kernel_ce_squared` the square of `kernel_ce`.

        Raises
        ------
        ValueError
            If the measure or an option is unknown, or an option depends on n, as ``n_bins="cube_root"`` does.
        NotImplementedError
            If the population value is not known, or there are too many distinct predictions for it (`upper_distance`).

        Notes
        -----
        Finite distributions are summed exactly. Others are integrated with Gauss-Legendre rules of 8 nodes on 512
        panels and more, cut where the calibration curve crosses the diagonal and at the edges of bins, and narrowing
        where logarithms are singular. Bin sums, partial sums, `ks`, `kuiper`, `mcb` (of monotone curves), mean scores
        and `post_processing_gap` are then off by less than 1e-9. The Laplace kernel has a kink within panels, and
        `smooth_ece` shares nodes out to a grid: both are off by less than 1e-5 for a bandwidth of at least 0.02. So is
        `mcb` of curves that rise and fall. `lower_distance` has the error of its grid.

        An optimal partition for `interval_ce` has an interval of positive width only where the curve crosses the
        diagonal steeply; elsewhere finer cuts cost nothing. The ends of such intervals are rounded to nodes, on 16384
        panels and more: off by less than 1e-4. `random_interval_ce` and `surrogate_interval_ce` are
        off by less than 1e-5.

        Mixtures of continuous distributions (groups, distorted subgroups) are added up in 4096 and more common cells,
        cut at the edges of bins too. Bin sums and mean scores are as above; partial sums, `ks`, `kuiper`, `mcb`,
        unbinned norms and `post_processing_gap` are off by less than 1e-6, because a curve may cross the diagonal
        within a cell.

        The log loss, normalized or not, is computed in exact arithmetic. If predictions of a confident generator round
        to 1 (at temperature 5, one row in 1e7 does and is wrong), estimates of it can be infinite; for other measures
        they are ties.
        """
        found = find_measure(measure, options)
        with unknown_value_of(found):
            if not isinstance(found, Statistic):
                raise NotImplementedError("it is a multiclass measure")
            return found.population_value(self._population)

    def curve(self, v: ArrayLike) -> np.ndarray:
        """Return the calibration curve, the probability of outcome 1 given the prediction.

        Parameters
        ----------
        v : array_like
            Predictions in [0, 1].

        Returns
        -------
        ndarray of float64
            Of the shape of `v`; nan at predictions that the generator never makes.

        Raises
        ------
        ValueError
            If a prediction is not in [0, 1].

        Notes
        -----
        In a mixture it is the average of the true probabilities of its parts at this prediction, weighted
        by the densities of their predictions; predictions of positive probability outweigh any density. A single
        continuous distribution has a formula, which is returned for predictions outside its support too.
        """
        f = np.asarray(v, np.float64)
        if not np.all((f >= 0) & (f <= 1)):
            raise ValueError("expected predictions from 0 to 1")
        return np.asarray(self._population.curve(f), np.float64)

    @cached_property
    def is_calibrated(self) -> bool:
        """Whether the probability of outcome 1 given the prediction is the prediction, to 1e-12, everywhere."""
        return self._population.is_calibrated

    def distance(self) -> float:
        """Return the true distance from calibration: the least mean `|f(x) - g(x)|` over perfectly calibrated g.

        Returns
        -------
        float
            Over all functions g of the covariates with E[y | g(x)] = g(x); 0 if the predictions f are calibrated.

        Raises
        ------
        NotImplementedError
            If the predictions are not calibrated and the domain has more than 12 points.

        Notes
        -----
        Exact: the minimum over all partitions of the domain into sets S of the sum over S of E|f(x) - E[y | S]| on S
        (Błasiok, Gopalan, Hu, Nakkiran 2023, section 4, arXiv:2211.16886). The domain of `domain` is given; the domain
        of other generators is the values of the score, and of groups the pairs of group and score.
        """
        return 0.0 if self.is_calibrated else self._population.distance()

    @property
    def _population(self) -> Population:
        return Population(self._parts(()))

    def __repr__(self) -> str:
        given = [f"{field.name}={describe(getattr(self, field.name))}" for field in fields(self)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def _classes(self) -> int:
        return 2

    def _pairs(self, n: int, random: Random) -> Pairs:
        _, y, p = self._rows(n, random, ())
        return y.astype(np.int64), p

    def _chance_given(self, p: np.ndarray) -> np.ndarray:
        value, place = np.unique(p, return_inverse=True)
        return self.curve(value)[place]

    def _outcome(self, chance: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        return (uniform < chance).astype(np.int64)

    def _rows(self, n: int, random: Random, distortions: Sequence[Distortion]) -> Rows:
        """Draw covariates, boolean outcomes and predictions, with these distortions applied last."""
        raise NotImplementedError

    def _parts(self, distortions: Sequence[Distortion]) -> list[Part]:
        """Return the distribution of what `_rows` draws."""
        raise NotImplementedError
