"""Histogram binning: the share of outcomes in each bin of predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibstat import resampling
from calibstat.data.predictions import Predictions
from calibstat.data.sample import LARGEST_COUNT
from calibstat.data.single_precision import edges_for
from calibstat.digits import settled
from calibstat.measures.bins import bin_cells, bin_numbers, number_of_bins, uniform_cells
from calibstat.recalibration.formula import Expression, shares, steps
from calibstat.recalibration.one_against_rest import columns_of
from calibstat.recalibration.recalibrator import NO_WEIGHTS, Recalibrator, normalised
from calibstat.resampling import Draws, Pairs, Stream
from calibstat.resampling.rng import Rng


@dataclass(frozen=True)
class Steps:
    """A map that is constant in bins.

    Attributes
    ----------
    level : ndarray, shape (bins,)
        What the predictions of each bin that held rows become.
    upper : ndarray, shape (bins,), or None
        The largest prediction that belongs to each bin; None for bins of equal width.
    number : ndarray, shape (bins,), or None
        Of bins of equal width, their numbers from 0 to n_bins - 1, ascending; predictions of all others become the
        centre of their bin.
    n_bins : int
        How many bins of equal width there are; 0 for others.
    """

    level: np.ndarray
    upper: np.ndarray | None = None
    number: NDArray[np.int64] | None = None
    n_bins: int = 0

    def __call__(self, p: np.ndarray) -> np.ndarray:
        """Return the level of the bin of each prediction."""
        flat = p.reshape(-1)
        if self.number is None:
            assert self.upper is not None
            ends = edges_for(flat, self.upper)
            return self.level[np.minimum(np.searchsorted(ends, flat), self.level.size - 1)].reshape(p.shape)
        number = bin_numbers(flat, self.n_bins)
        cell = np.minimum(np.searchsorted(self.number, number), self.level.size - 1)
        known = self.number[cell] == number
        return np.where(known, self.level[cell], (number + 0.5) / self.n_bins).reshape(p.shape)

    @property
    def edges(self) -> np.ndarray:
        """The upper ends of the bins."""
        return np.arange(1, self.n_bins + 1) / self.n_bins if self.upper is None else self.upper


class HistogramBinning(Recalibrator):
    """Replace each prediction by the observed frequency among the calibration rows of its bin.

        >>> from calibstat.recalibration import HistogramBinning
        >>> fitted = HistogramBinning(n_bins=4).fit([0.1, 0.2, 0.9, 0.8, 0.9], [0, 1, 1, 0, 1])
        >>> fitted.predict_proba([0.25, 0.3, 1.0]).round(3)  # no rows from .25 to .5
        array([0.5  , 0.375, 0.667])
        >>> smoother = HistogramBinning(n_bins=4, n_resamples=200, random_state=1).fit([0.1, 0.2], [0, 1])
        >>> smoother.predict_proba([0.1, 0.3]).round(1)
        array([0.5, 0.4])

    With more than two classes the predictions of all classes, each against the rest, share the same bins; with
    `class_conditional` every class has separate bins. Rows are then divided by their sums.

    Parameters
    ----------
    n_bins : int, "cube_root" or "100 rows"
        Number of bins, or the smallest whose cube is at least the number of predictions that share them, or a
        hundredth of that number, rounded down (or any other number of rows).
    strategy : {"uniform", "quantile", "tree"}
        Bins of equal width, bin b of B being ((b - 1)/B, b/B]; of as near equal numbers of predictions as ties allow;
        or of a tree, whose bins of at least 100 predictions are split at their mean, whatever `n_bins`.
    class_conditional : bool
        Whether every class has separate bins. With two classes this makes no difference.
    n_resamples : int
        Number of times that the rows are drawn with replacement, bins and all made anew and the maps averaged. 0: once,
        with the rows as they are.
    random_state : None, int, SeedSequence or Generator
        Of these draws.

    Attributes
    ----------
    steps_ : list of lists of Steps
        For each class with separate bins, or for all classes together, the map of each bootstrap sample, or the only
        one.

    Raises
    ------
    ValueError
        By `fit`, if a parameter is not as above.

    Notes
    -----
    With weights, "cube_root" and the 100 predictions of a tree count a row of weight 2 as two rows; to them alone the
    scale of weights matters. A bin of equal width without rows has its centre as level. Bins of equal
    numbers have none without rows; a new prediction between two of them goes to the upper one, one above all to the
    last. A row of which every class becomes 0 turns uniform. The most likely class, and so the accuracy, can change.

    The bootstrap makes steps of moving bins smoother, and pulls bins of few rows towards their centre: a bin of equal
    width with a share q of n rows has none in (1 - q)^n of the samples. Cost: O(n K), and one sort for bins of equal
    numbers, as many times as there are bootstrap samples.

    References
    ----------
    Zadrozny, Elkan 2001, Obtaining calibrated probability estimates from decision trees and naive Bayesian classifiers;
    more classes and class-conditional bins: Nixon et al. 2019, arXiv:1904.01685; averaging: Breiman 1996, Bagging
    predictors, doi:10.1007/BF00058655.
    """

    interval_method = "mirror"
    steps_: list[list[Steps]]

    def __init__(
        self,
        *,
        n_bins: int | str = 15,
        strategy: str = "uniform",
        class_conditional: bool = False,
        n_resamples: int = 0,
        random_state: Rng = None,
    ) -> None:
        self.n_bins = n_bins
        self.strategy = strategy
        self.class_conditional = class_conditional
        self.n_resamples = n_resamples
        self.random_state = random_state

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        if weight is not None and self.n_resamples:
            raise ValueError(NO_WEIGHTS.format("HistogramBinning", "n_resamples draws rows that count the same"))
        if prob.shape[1] == 2:
            groups: list[list[int]] = [[1]]
        else:
            every = list(range(prob.shape[1]))
            groups = [[k] for k in every] if self.class_conditional else [every]

        def maps(prob: np.ndarray, label: np.ndarray) -> list[Steps]:
            return [self._steps(prob[:, group], label[:, None] == group, weight) for group in groups]

        if not self.n_resamples:
            self.steps_ = [[steps] for steps in maps(prob, label)]
            return None
        draws = Draws.of(self.random_state, self.n_resamples)
        data = resampling.in_order(Predictions.from_rows(label, prob))
        drawn = resampling.draw(data, Pairs(), lambda rows, label: maps(data.prob[rows], label), draws, Stream.BINS)
        self.steps_ = drawn.T.tolist()
        return None

    def _steps(self, p: np.ndarray, observed: np.ndarray, weight: np.ndarray | None) -> Steps:
        """Make bins of the predictions, with the observed frequency of each."""
        weight = None if weight is None else np.repeat(weight, p.shape[1])
        p, observed = p.reshape(-1), observed.reshape(-1)
        events = observed if weight is None else weight * observed
        rows = p.size if weight is None else float(weight.sum())
        if isinstance(self.n_bins, str) and rows > LARGEST_COUNT:
            raise ValueError(
                f"expected weights that add up to at most 2**53 for n_bins={self.n_bins!r}, which counts a row of "
                f"weight 2 as two rows, found a sum of {settled(rows):.3g}; divide them by their mean"
            )
        bins = number_of_bins(self.n_bins, rows)
        if isinstance(self.strategy, str) and self.strategy == "uniform":
            cell = uniform_cells(p, p, n_bins=bins)
            count = np.bincount(cell, weight)
            full, number = np.flatnonzero(count), np.empty(count.size, np.int64)
            number[cell] = bin_numbers(p, bins)
            return Steps(np.bincount(cell, events)[full] / count[full], number=number[full], n_bins=bins)
        value, index = np.unique(p, return_inverse=True)
        count = np.bincount(index, weight).astype(np.float64)
        cell = bin_cells(value, count, n_bins=bins, strategy=self.strategy)
        last = np.flatnonzero(np.diff(cell, append=cell[-1] + 1))
        return Steps(np.bincount(cell[index], events) / np.bincount(cell, count), value[last])

    def _map(self, prob: np.ndarray) -> np.ndarray:
        if prob.shape[1] == 2:
            event = _mean(self.steps_[0], np.ascontiguousarray(prob[:, 1]))
            return np.column_stack((1 - event, event))
        if len(self.steps_) == 1:
            return normalised(_mean(self.steps_[0], prob))
        columns = [_mean(steps, np.ascontiguousarray(prob[:, k])) for k, steps in enumerate(self.steps_)]
        return normalised(np.stack(columns, axis=1))

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        classes = columns_of(len(prob))
        maps = self.steps_ * len(classes) if len(self.steps_) == 1 else self.steps_
        return shares([_formula_of(prob[k], own) for k, own in zip(classes, maps, strict=True)])


def _formula_of(p: Expression, maps: list[Steps]) -> Expression:
    """Return the average of maps as an expression."""
    return steps(p, np.concatenate([each.edges for each in maps]), lambda at: _mean(maps, at))


def _mean(steps: list[Steps], p: np.ndarray) -> np.ndarray:
    """Average maps."""
    return sum((one(p) for one in steps), np.zeros(p.shape)) / len(steps)
