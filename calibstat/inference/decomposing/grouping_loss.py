"""The grouping loss: what features know of the outcomes beyond the predictions, bounded from below."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibstat.bounds.isotonic_interval import recalibrated
from calibstat.bounds.mean_interval import MeanInterval
from calibstat.data.checks import check_jobs, check_level, check_whole, cut, is_among
from calibstat.data.sample import Sample
from calibstat.data.validation import as_rows, check_rows
from calibstat.digits import settled
from calibstat.inference.cross_validation.feature_rows import beside, count_rows
from calibstat.inference.cross_validation.fitted_folds import Estimator, check_estimator, fit_folds, fit_forward
from calibstat.inference.cross_validation.given_folds import folds_asked
from calibstat.inference.decomposing.outcomes_within_predictions import p_of_features
from calibstat.measures.bregman import Bregman, find_score
from calibstat.output.wording import level_text
from calibstat.resampling import Draws, key_of
from calibstat.resampling.rng import Rng
from calibstat.result import Result

SHAPES = ("nondecreasing", None)
PERMUTATIONS = 999


@dataclass(frozen=True, eq=False)
class GroupingLoss(Result):
    """Result of `grouping_loss`: a lower bound of the grouping loss, and the score that it is a part of.

    Attributes
    ----------
    estimate : float
        Mean loss of the predictions after the best recalibration, less the mean loss of the model that knows the
        features. Below 0 if that model is worse.
    low : float
        The grouping loss is at least this, with the confidence level; 0 if nothing is shown.
    confidence_level : float
        Of this end. There is no other end.
    pvalue : float or None
        Of outcomes that do not depend on the features among rows with equal predictions. None if no two rows share a
        prediction.
    score : float
        The mean loss of the predictions: mcb + estimate + rest.
    mcb : float
        By how much the best recalibration of these rows lowers it.
    rest : float
        The mean loss of the model that knows the features, out of folds.
    loss : str
        The name of the score.
    shape : {"nondecreasing", None}
        Of the recalibration.
    n, n_folds : int
        Rows and folds.
    estimator : str
        What was fitted to features and predictions.
    """

    estimate: float
    low: float
    confidence_level: float
    pvalue: float | None
    score: float
    mcb: float
    rest: float
    loss: str
    shape: str | None
    n: int
    n_folds: int
    estimator: str

    def __str__(self) -> str:
        level = level_text(self.confidence_level)
        found = (
            f"The features know more than the predictions: the grouping loss ({self.loss}) is at least "
            f"{settled(self.low):.4g} "
            f"({level} confidence; estimated lower bound {settled(self.estimate):.4g})."
            if self.low > 0
            else f"It is not shown that the features know more than the predictions (grouping loss by {self.loss}, "
            f"estimated lower bound {settled(self.estimate):.4g}, {level} confidence)."
        )
        return (
            f"{found}\n{self._tested}\n"
            f"{self.loss} score {settled(self.score):.4g} = miscalibration (mcb) {settled(self.mcb):.4g} + "
            f"grouping {settled(self.estimate):.4g} + rest {settled(self.rest):.4g}, n = {self.n}, "
            f"{self.n_folds} folds of {self.estimator}.\n"
            "There is no upper end: features that were not given, or a better model of these, may know more."
        )

    @property
    def _tested(self) -> str:
        if self.pvalue is None:
            return "No p-value: no two rows share a prediction."
        p = f"(p = {settled(self.pvalue):.3g})"
        if self.pvalue <= 1 - self.confidence_level:
            return f"Among rows with equal predictions, outcomes depend on the features {p}."
        return f"It is not shown that outcomes depend on the features among rows with equal predictions {p}."


def grouping_loss(
    estimator: Estimator,
    /,
    X: object,
    y: ArrayLike,
    p: ArrayLike,
    *,
    cv: int | ArrayLike = 5,
    score: str | Bregman = "brier",
    shape: str | None = "nondecreasing",
    clip: float | None = None,
    confidence_level: float = 0.95,
    rng: Rng = None,
    n_jobs: int = 1,
) -> GroupingLoss:
    """Say how much features know of the outcomes that calibrated predictions do not: at least, not at most.

    >>> import numpy as np
    >>> import calibstat as cs
    >>> from sklearn.linear_model import LogisticRegression
    >>> random = np.random.default_rng(1)
    >>> X = random.integers(0, 2, (2000, 1))
    >>> y, p = random.random(2000) < 1 / 4 + X[:, 0] / 2, np.full(2000, 0.5)
    >>> found = cs.grouping_loss(LogisticRegression(), X, y, p, rng=1)  # the truth is 1/16
    >>> round(found.estimate, 2), 0.04 < found.low < 1 / 16
    (0.06, True)

    Parameters
    ----------
    estimator : object
        A classifier of scikit-learn, or anything else with `get_params`, `fit` and `predict_proba`. Clones are fitted
        to the features, the prediction and its log-odds.
    X : array_like, shape (n, n_features), or data frame
        The features.
    y, p : array_like, shape (n,)
        Outcomes, 0 or 1, and predictions in [0, 1] of a model that was not fitted to these rows.
    cv : int, or array_like of shape (n,)
        The number of folds, dealt at random, or the fold of each row.
    score : {"brier", "log_loss", "spherical"} or Bregman
        The proper score.
    shape : {"nondecreasing", None}
        Of the probability of outcome 1 given the prediction; None for any, over level sets, if predictions repeat.
    clip : float, optional
        Predictions of the estimator are moved into [clip, 1 - clip], for scores that can be infinite.
    confidence_level : float
        Of the low end, between 0 and 1.
    rng, n_jobs
        As for `calibration_test`; `rng` deals folds and gives seeds to an estimator that has none.

    Returns
    -------
    GroupingLoss
        `print` says it in words.

    Raises
    ------
    ValueError, ImportError
        If rows, features, folds or options are not as described; if scikit-learn is not installed.

    Notes
    -----
    The grouping loss is the mean divergence of the probability given the prediction from the probability given the
    features. The estimate is the mean loss of the best recalibration of the stated shape, less that of the estimator,
    fitted without the row: whatever the estimator, a bound from below in the mean (section 5 of the page "How intervals
    are made"), but not with a probability of another shape. The low end is asymptotic, for models that single rows do
    not change much. Null hypothesis of the p-value: rows are independent, and among those with equal predictions
    outcomes do not depend on the features. Each fold is tested by an estimator fitted to the folds before it, by 999
    permutations: exact, however wrong the predictions. Cost: a fit for each fold, about two if predictions repeat.

    References
    ----------
    Kull, Flach 2015, doi:10.1007/978-3-319-23528-8_5; Perez-Lebel, Le Morvan, Varoquaux 2023, arXiv:2210.16315;
    Chidambaram, Ge 2024, appendix E, arXiv:2406.04068.
    """
    check_estimator(estimator, "grouping_loss")
    check_level("confidence_level", confidence_level)
    check_jobs(n_jobs)
    phi = find_score(score)
    if not is_among(shape, SHAPES):
        raise ValueError(f"expected shape 'nondecreasing' or None, found {shape!r}")
    event, prediction = _rows(X, y, p)
    if isinstance(cv, int | np.integer):
        check_whole("cv", cv, 2)
    key = key_of(rng)
    fold = folds_asked(cv, 1 if isinstance(cv, int | np.integer) else None, key, X, event, None, None)[:, :1]
    features = beside(X, prediction)
    fitted = fit_folds(estimator, features, event, 1, fold, key, n_jobs, refits=0)
    known = phi.inside(np.clip(fitted.predictions[:, 0], 0.0, 1.0), clip)
    outcome = event.astype(np.float64)
    gain = phi.loss(outcome, _recalibrated(event, prediction, shape)) - phi.loss(outcome, known)
    interval = _bounded_below(gain, known, phi)
    pvalue = None
    if np.unique(prediction).size < prediction.size:  # else there is nothing to exchange
        ahead = fit_forward(estimator, features, event, 1, fold[:, 0], key, n_jobs)
        evidence = _evidence_of_an_event(ahead, phi, clip)
        pvalue = p_of_features(event, prediction, fold[:, 0], evidence, Draws(key, PERMUTATIONS, n_jobs))
    given = float(phi.loss(outcome, phi.moved(prediction, clip)).mean())
    rest = float(phi.loss(outcome, known).mean())
    return GroupingLoss(
        estimate=interval.estimate,
        low=max(interval.low(1 - confidence_level), 0.0),
        confidence_level=confidence_level,
        pvalue=pvalue,
        score=given,
        mcb=given - interval.estimate - rest,
        rest=rest,
        loss=phi.name,
        shape=shape,
        n=gain.size,
        n_folds=int(fold.max()) + 1,
        estimator=cut(" ".join(repr(estimator).split()), 200),
    )


def _rows(X: object, y: ArrayLike, p: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes and predictions; raise unless both outcomes occur, and X has a row for each."""
    outcome, prediction = as_rows(y, p)
    check_rows(outcome, prediction)
    if (n := count_rows(X)) != outcome.size:
        raise ValueError(f"expected a row of X for each outcome, found {n} rows and {outcome.size} outcomes")
    if outcome.min() == outcome.max():
        raise ValueError(f"expected outcomes 0 and 1, found {outcome[0]:g} alone")
    return outcome.astype(np.int64), prediction


def _evidence_of_an_event(known: np.ndarray, phi: Bregman, clip: float | None) -> np.ndarray:
    """Return by how much the loss of what is known falls if the outcome is 1 in place of 0, up to a constant."""
    evidence = np.full(known.size, np.nan)
    asked = ~np.isnan(known)
    q = phi.inside(np.clip(known[asked], 0.0, 1.0), clip)
    evidence[asked] = phi.loss(np.zeros(q.size), q) - phi.loss(np.ones(q.size), q)
    return evidence


def _bounded_below(gain: np.ndarray, known: np.ndarray, phi: Bregman) -> MeanInterval:
    """Return the interval of the mean gain, no part of which is below minus the largest loss of what is known."""
    centred = gain - gain.mean()
    worst = max(float(phi.loss(np.full(known.size, float(k)), known).max()) for k in (0, 1))
    return MeanInterval(
        estimate=float(gain.mean()),
        variance=float(centred @ centred),
        third=float((centred**3).sum()),
        n=gain.size,
        least=-worst,
        most=np.inf,
        title="the grouping loss",
        is_bounded=True,
    )


def _recalibrated(y: np.ndarray, p: np.ndarray, shape: str | None) -> np.ndarray:
    """Return the best fit of this shape to the outcomes, of each row.

    Statement and argument: docs/evidence/proofs/grouping-loss.md.
    """
    sample = Sample.from_rows(y, p)
    fit = sample.positives / sample.count if shape is None else recalibrated(*sample.arrays)
    return np.clip(fit, 0.0, 1.0)[np.searchsorted(sample.value, p)]
