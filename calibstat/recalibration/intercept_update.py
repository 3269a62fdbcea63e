"""Intercept update: every class counts by one factor, so that the mean prediction becomes the observed share."""

from __future__ import annotations

import numpy as np

from calibstat.data.clipping import clipped
from calibstat.recalibration.class_factors import (
    factors_of,
    likeliest_factors,
    reweighted,
    reweighted_formulas,
)
from calibstat.recalibration.formula import Expression, moved
from calibstat.recalibration.recalibrator import NO_OPTIMUM, Recalibrator, check_possible, counted


class InterceptUpdate(Recalibrator):
    """Add one number to all logits, and leave their slope: p becomes p_k exp(c_k) / sum of p_j exp(c_j).

        >>> import calibstat as cs
        >>> from calibstat.recalibration import InterceptUpdate
        >>> y, p = cs.generators.shift(0.5).sample(20000, rng=1)  # logits .5 too high
        >>> fitted = InterceptUpdate().fit(p, y)
        >>> fitted.intercept_.round(1)
        array([-0.5])
        >>> bool(abs(fitted.predict_proba(p).mean() - y.mean()) < 1e-9)
        True

    It updates a model for a population in which the outcome is more or less common. `PlattScaling` updates the slope
    too, and `PriorShift` knows the prevalence in place of outcomes.

    Parameters
    ----------
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before they are mapped. By default none is moved,
        and one of exactly 0 raises if its class is observed; the message gives a value.

    Attributes
    ----------
    intercept_ : ndarray, shape (K,), or (1,) for two classes
        c of each class, with mean 0; of two classes what is added to the logit of class 1.

    Raises
    ------
    ValueError
        By `fit`, if an observed class has probability 0 and there is no `clip`, because the log loss is then infinite.

    Notes
    -----
    Maximum likelihood: the mean of the new predictions of each class is its share of the calibration rows. Not
    converged: some class is never observed (or always), so that its c has no finite optimum. Exact 0 and 1 stay as they
    are without `clip`; where predictions are all of that kind c is 0. Two classes keep the order of all predictions.
    With more, and for predictions near 1/2 of two, the most likely class can change. Cost: some six passes, each
    O(n K²).

    References
    ----------
    Steyerberg, Borsboom, van Houwelingen, Eijkemans, Habbema 2004, Validation and updating of predictive logistic
    regression models: a study on sample size and shrinkage, doi:10.1002/sim.1844.
    """

    intercept_: np.ndarray
    _log_factor: np.ndarray

    def __init__(self, *, clip: float | None = None) -> None:
        self.clip = clip

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        prob, classes = clipped(prob, self.clip), prob.shape[1]
        check_possible(prob, label)
        part = counted(weight, label.size)
        part = part / part.sum()
        self._log_factor, still = likeliest_factors(prob, np.bincount(label, part, minlength=classes), part)
        self.intercept_ = np.diff(self._log_factor) if classes == 2 else self._log_factor.copy()
        return None if still else NO_OPTIMUM

    def _map(self, prob: np.ndarray) -> np.ndarray:
        return reweighted(clipped(prob, self.clip), factors_of(self._log_factor))

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        return reweighted_formulas([moved(p, self.clip) for p in prob], factors_of(self._log_factor))
