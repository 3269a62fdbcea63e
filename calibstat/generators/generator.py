"""What every synthetic family can do: draw rows, know its truth, and be changed into another family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from calibstat.data.clipping import SMALLEST
from calibstat.data.sample import Sample
from calibstat.generators import population
from calibstat.generators.distortion import Distortion
from calibstat.generators.distributions import Density, describe
from calibstat.generators.population import Part
from calibstat.measures.binned import cuts_of, is_unbinned, number_of_bins
from calibstat.measures.losses import normalized
from calibstat.measures.registry import BoundMeasure, find_measure

# Consistent plug-ins: their value on the population is what the estimate tends to. Seminorms need no entry.
PLUG_IN = frozenset(
    {"ece", "average_ce", "ece_width", "kernel_ce", "smooth_ece", "mcb", "interval_ce", "surrogate_interval_ce"}
    | {"lower_distance", "upper_distance", "post_processing_gap", "brier", "log_loss", "normalized_log_loss"}
    | {"regression_ce"}
)
LOGARITHMIC = frozenset({"log_loss", "normalized_log_loss"})
INTERVAL_CUTS = 2**14  # where `interval_ce` may cut a continuous law, at least; more bins are taken as level sets

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def drawing(n: Any, rng: Any) -> tuple[int, Any]:
    """Check a number of rows and return it with what draws them."""
    if isinstance(n, bool) or n != int(n) or n < 1:
        raise ValueError(f"expected n to be a whole number of at least 1, found {n!r}")
    return int(n), np.random.default_rng(rng)


def need_fixed_bins(bound: BoundMeasure) -> None:
    """Raise if the number of bins depends on that of rows, which a law does not have."""
    bins = bound.options.get("n_bins")
    if isinstance(bins, str) and bins == "cube_root":
        raise ValueError(f"expected a number of bins, found {bins!r}, which depends on the number of rows")


def _log_loss(part: Part, clip: float | None) -> float:
    """Return the mean log loss of a part of the population."""
    if clip is None:
        return part.log_loss()
    return find_measure("log_loss", {"clip": clip}).estimate(part.population())


def plug_in(measure: str, options: Mapping[str, Any]) -> tuple[BoundMeasure, int]:
    """Return the measure that, taken of the law and to this power, is what estimates by a measure tend to."""
    bound = find_measure(measure, options)
    need_fixed_bins(bound)
    if measure == "ece_debiased":
        shared = {k: v for k, v in bound.options.items() if k in ("n_bins", "strategy")}
        return find_measure("ece", {"norm": "l2", **shared}), 1
    if measure == "kernel_ce_squared":
        return find_measure("kernel_ce", bound.options), 2
    if measure not in PLUG_IN and not bound.measure.norm:
        known = "neither a seminorm of the residual measure nor one that comes with calibstat"
        raise NotImplementedError(f"the population value of measure {measure!r} is not known: it is {known}")
    return bound, 1


def _edges(n_bins: Any, strategy: Any) -> tuple[np.ndarray, str]:
    """Return where bins end, and whether that is a prediction ("uniform") or a share of the law ("quantile")."""
    if not isinstance(strategy, str):
        return cuts_of(strategy), "uniform"
    if is_unbinned(n_bins) or (bins := number_of_bins(n_bins, np.nan)) > INTERVAL_CUTS:
        return population.NO_EDGES, "uniform"  # the nodes are so many cells themselves
    return np.arange(1, bins) / bins, strategy


def value_on(bound: BoundMeasure, law: Sample, *, finite: bool) -> float:
    """Return the measure of a law of predictions and outcomes, or raise where it has none.

    Of a law that is not finite predictions of 0 and 1 are rounded ones, and certain to one rounding error only.
    """
    if bound.is_steep and not finite and bound.options["clip"] is None:
        bound = replace(bound, options={**bound.options, "clip": SMALLEST})
    if not bound.has_value(law):
        most = f"it has none on more than {bound.measure.largest} distinct predictions"
        raise NotImplementedError(f"the population value of measure {bound.measure.name!r} is not known: {most}")
    return bound.estimate(law)


class Generator:
    """What all families share: a law of covariates, the prediction made from them, and the chance of outcome 1."""

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows.

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        rng : None, int, SeedSequence or Generator
            Whatever `numpy.random.default_rng` takes.

        Returns
        -------
        y : ndarray of int64, shape (n,)
            Outcomes, 0 or 1.
        p : ndarray of float64, shape (n,)
            Predicted probabilities of outcome 1.

        Raises
        ------
        ValueError
            If `n` is not a whole number of at least 1.
        """
        return self.sample_covariates(n, rng)[1:]

    def sample_covariates(self, n: int, rng: Any = None) -> Rows:
        """Draw the rows that `sample` draws, with what the predictions are made from.

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        rng : None, int, SeedSequence or Generator
            Whatever `numpy.random.default_rng` takes.

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

    def truth(self, measure: str = "ece", **options: Any) -> float:
        """Return the measure of the population, which an estimate from n rows tends to as n grows.

        Parameters
        ----------
        measure : str
            A name in `calibstat.MEASURES`: any seminorm of the residual measure, and every measure that comes with
            calibstat.
        **options
            Options of the measure. ``strategy="quantile"`` means the quantiles of the population; ascending cuts, as
            of a sample, the population's error over those cells; ``n_bins=None`` E|E[y | v] - v|.

        Returns
        -------
        float
            For `ece_debiased` the binned L2 error; for `kernel_ce_squared` the square of `kernel_ce`.

        Raises
        ------
        ValueError
            If the measure or an option is unknown, or an option depends on n, as ``n_bins="cube_root"`` does.
        NotImplementedError
            If nobody has said what the population value of a registered measure is, or it has none on so many distinct
            predictions (`upper_distance`).

        Notes
        -----
        Finite laws are summed exactly. Other laws are integrated with Gauss-Legendre rules of 8 nodes on 512 panels
        and more, cut where the calibration curve crosses the diagonal and at the edges of bins, and narrowing where
        logarithms are singular. Bin sums, partial sums, `ks`, `kuiper`, `mcb` (of monotone curves), mean scores and
        `post_processing_gap` are then off by less than 1e-9. The Laplace kernel has a kink within panels, and
        `smooth_ece` shares nodes out to a grid: both are off by less than 1e-5 for a bandwidth of at least 0.02. So is
        `mcb` of curves that rise and fall. `lower_distance` has the error of its grid.

        An optimal partition for `interval_ce` has an interval of positive width only where the curve crosses the
        diagonal steeply, for other intervals lose nothing if they are cut ever finer. The ends of these are rounded to
        nodes, on 16384 panels and more: off by less than 1e-4. `random_interval_ce` and `surrogate_interval_ce` are
        off by less than 1e-5.

        Mixtures of continuous laws (groups, distorted subgroups) are added up in 4096 and more common cells, cut at
        the edges of bins too. Bin sums and mean scores are as above; partial sums, `ks`, `kuiper`, `mcb`, unbinned
        norms and `post_processing_gap` are off by less than 1e-6, because a curve may cross the diagonal within a cell.

        The log loss, normalized or not, is that of exact arithmetic. Where a confident family makes predictions that
        round to 1 (at temperature 5, one row in 1e7 does and is wrong) estimates of it can be infinite; other measures
        see ties.
        """
        bound, power = plug_in(measure, options)
        parts = self._parts(())
        if measure in LOGARITHMIC:
            loss = sum(part.share * _log_loss(part, bound.options["clip"]) for part in parts)
            return loss if measure == "log_loss" else normalized(loss, sum(part.share * part.rate() for part in parts))
        if measure == "brier":  # a mean over rows too; cells would round it
            return sum(part.share * bound.estimate(part.population()) for part in parts)
        bins = INTERVAL_CUTS if measure == "interval_ce" else bound.options.get("n_bins", 1)
        edge, strategy = _edges(bins, bound.options.get("strategy", "uniform"))
        law = population.population(parts, edge, strategy)
        finite = not any(isinstance(part.law, Density) for part in parts)
        return value_on(bound, law, finite=finite) ** power

    def curve(self, v: Any) -> np.ndarray:
        """Return the calibration curve, the probability of outcome 1 given the prediction.

        Parameters
        ----------
        v : array_like
            Predictions in [0, 1].

        Returns
        -------
        ndarray of float64
            Of the shape of `v`; nan at predictions that have no curve because the family never makes them.

        Raises
        ------
        ValueError
            If a prediction is not in [0, 1].

        Notes
        -----
        In a mixture it is the average of the chances that its parts have at this prediction, weighted by the densities
        of their predictions; predictions of positive probability outweigh any density. A single continuous law has a
        formula, which is returned for predictions outside its support too.
        """
        f = np.asarray(v, np.float64)
        if not np.all((f >= 0) & (f <= 1)):
            raise ValueError("expected predictions from 0 to 1")
        return np.asarray(population.curve(self._parts(()), f), np.float64)

    @cached_property
    def is_calibrated(self) -> bool:
        """Whether the probability of outcome 1 given the prediction is the prediction, to 1e-12, everywhere."""
        return population.is_calibrated(self._parts(()))

    def distance(self) -> float:
        """Return the true distance from calibration, the least mean |f(x) - g(x)| of a perfectly calibrated g.

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
        Exact: the minimum over all ways to cut the domain into sets S of the sum over S of E|f(x) - E[y | S]| on S
        (Błasiok, Gopalan, Hu, Nakkiran 2023, section 4, arXiv:2211.16886). The domain of `domain` is what it is given,
        that of other families the values of the score, and of groups the pairs of group and score.
        """
        return 0.0 if self.is_calibrated else population.distance(self._parts(()))

    def distorted_by(
        self, *, temperature: float = 1.0, shift: float = 0.0, s_shape: float = 0.0, subgroup: float = 1.0
    ) -> Generator:
        """Return the family that draws the same covariates and outcomes and reports other predictions.

        Parameters
        ----------
        temperature : float
            What multiplies the log-odds of the prediction, positive: more than 1 is more confident.
        shift : float
            What is then added to the log-odds.
        s_shape : float
            Between -1 and 1; what is then reported for v is v + s_shape sin(4 pi v) / (4 pi). It leaves 0, 1/4, 1/2,
            3/4 and 1 where they are; positive, it pushes predictions away from 0, 1/2 and 1, towards 1/4 and 3/4.
        subgroup : float
            Share of the rows to which this happens, in (0, 1], independent of all else; the other rows stay as they
            are.

        Returns
        -------
        Generator

        Raises
        ------
        ValueError
            If an argument is outside its range.

        Examples
        --------
        >>> from calibstat import generators
        >>> generators.calibrated().distorted_by(temperature=2, shift=0.3).curve([0.2, 0.8]).round(3)
        array([0.301, 0.633])
        >>> one_bad_subgroup = generators.calibrated().distorted_by(temperature=2, subgroup=0.1)
        >>> round(one_bad_subgroup.truth("ece", n_bins=2), 6)  # a tenth of ln(2)/2 - 1/4
        0.009657
        """
        from calibstat.generators.composed import distorted, groups

        if not 0 < subgroup <= 1:
            raise ValueError(f"expected subgroup above 0 and at most 1, found {subgroup!r}")
        other = distorted(self, temperature, shift, s_shape)
        return other if subgroup == 1 else groups({"rest": (1 - subgroup, self), "subgroup": (subgroup, other)})

    def with_prevalence(self, rate: float) -> Generator:
        """Return the family in another population, where outcome 1 has this probability (label shift).

        Parameters
        ----------
        rate : float
            Probability of outcome 1, between 0 and 1. The law of covariates and prediction given the outcome stays.

        Returns
        -------
        Generator

        Raises
        ------
        ValueError
            If the rate is not between 0 and 1, or only one outcome happens before.

        Examples
        --------
        >>> from calibstat import generators
        >>> generators.calibrated().with_prevalence(0.1).curve([0.1, 0.5, 0.9]).round(3)  # odds divided by 9
        array([0.012, 0.1  , 0.5  ])
        """
        from calibstat.generators.composed import prevalence

        return prevalence(self, rate)

    def __repr__(self) -> str:
        given = [f"{field.name}={describe(getattr(self, field.name))}" for field in fields(self)]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(given)})"

    def _rows(self, n: int, random: Any, distortions: Sequence[Distortion]) -> Rows:
        """Draw covariates, boolean outcomes and predictions, to which these distortions happen last."""
        raise NotImplementedError

    def _parts(self, distortions: Sequence[Distortion]) -> list[Part]:
        """Return the law of what `_rows` draws."""
        raise NotImplementedError
