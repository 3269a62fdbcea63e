"""Prior shift: predictions for a population in which the classes have other shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import as_numbers, short
from calibstat.data.validation import to_numpy
from calibstat.recalibration.class_factors import estimated_shares, reweighted, reweighted_formulas
from calibstat.recalibration.formula import Expression
from calibstat.recalibration.recalibrator import Recalibrator, counted

Shares = float | Sequence[float] | np.ndarray


class PriorShift(Recalibrator):
    """Correct predictions for shares of the classes that differ from the shares in the training rows.

        >>> from calibstat.recalibration import PriorShift
        >>> PriorShift(sampling_rate=0.1).fit([0.5]).predict_proba([0.5]).round(3)  # of class 0 a tenth was kept
        array([0.091])
        >>> PriorShift(train_prevalence=0.5, new_prevalence=0.2).fit([0.5]).predict_proba([0.5])
        array([0.2])
        >>> import calibstat as cs
        >>> y, p = cs.generators.calibrated().sample(50000, rng=1)  # half of the rows are of class 1
        >>> p_new = p[(y == 0) | (cs.generators.calibrated().sample(50000, rng=2)[1] < 0.2)]  # a fifth of class 1
        >>> PriorShift(train_prevalence=0.5).fit(p_new).new_prevalence_.round(1)
        array([0.8, 0.2])

    p becomes p_k r_k / sum of p_j r_j, where r_k is the new share of class k over its share in training. No outcome is
    read: `fit` takes predictions alone.

    Parameters
    ----------
    sampling_rate : float or sequence of K, optional
        Of two classes the share of the rows of class 0 that were kept for training, when all of class 1 were; or the
        share that was kept of each class. Above 0, at most 1.
    train_prevalence : float or sequence of K, optional
        The share of class 1 among the training rows, or the share of each class, which sum to 1. Above 0, below 1.
    new_prevalence : float or sequence of K, optional
        The same in the new population. By default it is estimated from the predictions that `fit` gets, by maximum
        likelihood.

    Attributes
    ----------
    new_prevalence_ : ndarray, shape (K,), or None
        The new shares, given or estimated; None with `sampling_rate`.
    factor_ : ndarray, shape (K,)
        r, up to a common factor.

    Raises
    ------
    ValueError
        By `fit`, unless either `sampling_rate` or `train_prevalence` is given, or if one of the parameters is not as
        above.

    Notes
    -----
    It assumes that the shares of the classes are all that differs: within each class features have the same
    distribution as in training (prior probability shift, label shift). And that the predictions are calibrated for the
    training population; an error of theirs becomes an error of the estimated prevalence, which no number here shows.
    If outcomes of the new population are known, `InterceptUpdate` assumes less. An estimated share of 0 may be a sign
    that the assumption fails. Not converged: the EM algorithm needs more steps. Exact 0 and 1 stay as they are. Cost:
    O(n K) with given shares; estimated ones take some ten to a thousand passes.

    References
    ----------
    Saerens, Latinne, Decaestecker 2002, Adjusting the outputs of a classifier to new a priori probabilities: a simple
    procedure, doi:10.1162/089976602753284446; sampling: Elkan 2001, The foundations of cost-sensitive learning.
    """

    tried_from = None  # it is given shares of classes

    new_prevalence_: np.ndarray | None
    factor_: np.ndarray

    def __init__(
        self,
        *,
        sampling_rate: Shares | None = None,
        train_prevalence: Shares | None = None,
        new_prevalence: Shares | None = None,
    ) -> None:
        self.sampling_rate = sampling_rate
        self.train_prevalence = train_prevalence
        self.new_prevalence = new_prevalence

    def fit(
        self,
        p: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        labels: Sequence[Any] | None = None,
        pos_label: object = None,
    ) -> Self:
        """Find the factors, from predictions of the new population if its shares are to be estimated.

        Parameters
        ----------
        p : array_like, shape (n,) or (n, K)
            Predicted probabilities, in [0, 1]: of class 1 of two, or of each class, with rows that sum to 1.
        y : array_like, shape (n,), optional
            Outcomes, which only name classes, as in the `fit` of other recalibrators.
        sample_weight : array_like, shape (n,), optional
            Non-negative weights of the rows, for the estimated shares.
        labels : sequence of K, optional
            The names of the classes, in the order of the columns.
        pos_label : object, optional
            Instead of `labels`, of two classes and with `y`: the one that counts as class 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As by other recalibrators, and for the reasons in the docstring of the class.

        Warns
        -----
        RuntimeWarning
            If the estimate has not converged.
        """
        if y is None:
            if pos_label is not None:
                raise ValueError("expected outcomes y with pos_label, one of them, found none; labels= names classes")
            y = [0 if labels is None else labels[0]] * len(to_numpy(p, "y_prob"))
        return super().fit(p, y, sample_weight, labels=labels, pos_label=pos_label)

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        classes = prob.shape[1]
        if (self.sampling_rate is None) == (self.train_prevalence is None):
            found = "neither" if self.sampling_rate is None else "both"
            raise ValueError(f"expected sampling_rate or train_prevalence for PriorShift, found {found}")
        if self.sampling_rate is not None:
            if self.new_prevalence is not None:
                raise ValueError("expected new_prevalence with train_prevalence, found it with sampling_rate")
            self.new_prevalence_, self.factor_ = None, 1 / _rates(self.sampling_rate, classes)
            return None
        before, still = _shares(self.train_prevalence, classes, "train_prevalence"), True
        if self.new_prevalence is None:
            part = counted(weight, label.size)
            self.new_prevalence_, still = estimated_shares(prob, before, part / part.sum())
        else:
            self.new_prevalence_ = _shares(self.new_prevalence, classes, "new_prevalence")
        self.factor_ = self.new_prevalence_ / before
        return None if still else "the EM algorithm needs more steps"

    def _map(self, prob: np.ndarray) -> np.ndarray:
        return reweighted(prob, self.factor_)

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        return reweighted_formulas(prob, self.factor_)


def _rates(given: object, classes: int) -> np.ndarray:
    """Return the share of the rows of each class that was kept."""
    rate = as_numbers(given)
    rate = np.array([float(rate), 1.0]) if rate.ndim == 0 and classes == 2 else rate
    if rate.shape != (classes,) or not np.all((rate > 0) & (rate <= 1)):
        raise ValueError(
            f"expected a sampling_rate of class 0 of two, or of each of {classes} classes, above 0 and at most 1, "
            f"found {short(given)}"
        )
    return rate


def _shares(given: object, classes: int, name: str) -> np.ndarray:
    """Return the shares of all classes."""
    share = as_numbers(given)
    share = np.array([1 - float(share), float(share)]) if share.ndim == 0 and classes == 2 else share
    if share.shape != (classes,) or not np.all((share > 0) & (share < 1)) or abs(share.sum() - 1) > 1e-6:
        raise ValueError(
            f"expected {name} of class 1 of two, or of each of {classes} classes with the sum 1, above 0 and below 1, "
            f"found {short(given)}"
        )
    return share
