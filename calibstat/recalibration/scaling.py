"""Platt, vector and matrix scaling: logits mapped linearly, by maximum likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat.data.clipping import clipped
from calibstat.recalibration.recalibrator import Recalibrator, finite_logs, normalised

MOST_CURVED = 1000  # parameters up to which second derivatives are used
STILL = 1e-3  # a fit has converged if one more Newton step moves no fitted logit by more
BLOCK = 2**20  # weighted features of the rows that are handled together
FAILURE = (
    "the log loss keeps falling as parameters grow, because the predictions separate some classes without an exception "
    "or a class never happened; or the fit needs more steps"
)


class PlattScaling(Recalibrator):
    """Map the logit x of each prediction to a x + b, a logistic regression of the outcomes on it.

    With more than two classes one regression for each class, whether it happens or not; rows are then divided by their
    sums.

    Parameters
    ----------
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before logarithms are taken. By default none is
        moved, and one of exactly 0 or 1 raises; the message gives a value.

    Attributes
    ----------
    slope_, intercept_ : ndarray, shape (K,), or (1,) for two classes
        a and b of each class, or of class 1 of two.

    Raises
    ------
    ValueError
        By `fit` and `predict_proba`, if a probability is exactly 0, or 1 in a vector, and there is no `clip`.

    Notes
    -----
    Not converged: some class has no finite optimum. Maximum likelihood, with outcomes 0 and 1 as they are and not moved
    towards each other as Platt did. If predictions separate the outcomes without an exception, the slope has no finite
    optimum. With more than two classes the most likely class, and so the accuracy, can change. Cost: some ten passes
    over the rows for each class.

    References
    ----------
    Platt 1999, Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods;
    Niculescu-Mizil, Caruana 2005, Predicting good probabilities with supervised learning, doi:10.1145/1102351.1102430.

    Examples
    --------
    >>> import calibstat as cs
    >>> from calibstat.recalibration import PlattScaling
    >>> y, p = cs.generators.temperature(2).sample(10000, rng=1)  # logits twice as large as they should be
    >>> fitted = PlattScaling().fit(p, y)
    >>> fitted.slope_.round(1)
    array([0.5])
    >>> fitted.predict_proba([0.5, 0.9]).round(1)
    array([0.5, 0.8])
    """

    slope_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, *, clip: float | None = None) -> None:
        self.clip = clip

    def _fit(self, prob: np.ndarray, label: np.ndarray) -> str | None:
        logits = _logits(prob, self.clip, self)
        classes = [1] if prob.shape[1] == 2 else range(prob.shape[1])
        found, still = np.empty((len(classes), 2)), True
        for j, k in enumerate(classes):
            features = np.zeros((label.size, 2, 2))  # class "not k" has logit 0, whatever its parameters
            features[:, 1, 0] = logits[:, j]
            features[:, 1, 1] = 1
            theta, here = likeliest(features, (label == k).astype(np.int64), np.array([[0.0, 0.0], [1.0, 0.0]]))
            found[j], still = theta[1], still and here
        self.slope_, self.intercept_ = found.T.copy()
        return None if still else FAILURE

    def _map(self, prob: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        score = expit(_logits(prob, self.clip, self) * self.slope_ + self.intercept_)
        return np.column_stack((1 - score, score)) if prob.shape[1] == 2 else normalised(score)


class VectorScaling(Recalibrator):
    """Map the logits, the logarithms of the predictions, to w_k log p_k + b_k for each class k, then softmax.

    Parameters
    ----------
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before logarithms are taken. By default none is
        moved, and one of exactly 0 or 1 raises; the message gives a value.

    Attributes
    ----------
    weight_, intercept_ : ndarray, shape (K,)
        w and b. A number added to all of b changes nothing.

    Raises
    ------
    ValueError
        By `fit` and `predict_proba`, if a probability is exactly 0 and there is no `clip`.

    Notes
    -----
    Not converged: there is no finite optimum. Maximum likelihood. Logits from before a softmax lose a number of each
    row in it, and vector scaling of them is not quite the same. With two classes it is beta calibration (Kull, Silva
    Filho, Flach 2017, doi:10.1214/17-EJS1338SI). The most likely class can change. Cost: some ten passes over the rows,
    each O(n K²) for up to 500 classes; for more, where second derivatives are not used, some hundreds of O(n K).

    References
    ----------
    Guo, Pleiss, Sun, Weinberger 2017, arXiv:1706.04599.

    Examples
    --------
    >>> import calibstat as cs
    >>> from calibstat.recalibration import VectorScaling
    >>> y, p = cs.generators.dirichlet((1, 1, 1), scale=(2, 2, 2), shift=(0, 1, 0)).sample(20000, rng=1)
    >>> fitted = VectorScaling().fit(p, y)
    >>> fitted.weight_.round(1)
    array([0.5, 0.5, 0.5])
    """

    weight_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, *, clip: float | None = None) -> None:
        self.clip = clip

    def _fit(self, prob: np.ndarray, label: np.ndarray) -> str | None:
        logs = finite_logs(prob, self.clip, self)
        features = np.stack((logs, np.ones(logs.shape)), axis=2)
        start = np.column_stack((np.ones(prob.shape[1]), np.zeros(prob.shape[1])))
        found, still = likeliest(features, label, start)
        self.weight_, self.intercept_ = found.T.copy()
        return None if still else FAILURE

    def _map(self, prob: np.ndarray) -> np.ndarray:
        from scipy.special import softmax

        return softmax(finite_logs(prob, self.clip, self) * self.weight_ + self.intercept_, axis=1)


class MatrixScaling(Recalibrator):
    """Map the logits, the logarithms of the predictions, to W log p + b, then softmax.

    Parameters
    ----------
    regularisation : float
        At least 0. That many times the mean square of the entries of W off the diagonal, plus that of b, is added to
        the mean log loss (off-diagonal and intercept regularisation, ODIR).
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before logarithms are taken. By default none is
        moved, and one of exactly 0 or 1 raises; the message gives a value.

    Attributes
    ----------
    weight_ : ndarray, shape (K, K)
        W, a row for each new logit. A row vector added to all its rows changes nothing.
    intercept_ : ndarray, shape (K,)
        b.

    Raises
    ------
    ValueError
        By `fit`, if `regularisation` is not as above; by `fit` and `predict_proba`, if a probability is exactly 0 and
        there is no `clip`.

    Notes
    -----
    Not converged: there is no finite optimum, or it takes more steps. Maximum likelihood of a multinomial logistic
    regression on log p; also known as Dirichlet calibration. K² + K parameters: with many classes and few rows it fits
    noise, unless regularised. The most likely class can change. Cost: some ten passes over the rows, each O(n K⁴) for
    up to 31 classes; for more, where second derivatives are not used, some hundreds of O(n K²).

    References
    ----------
    Guo, Pleiss, Sun, Weinberger 2017, arXiv:1706.04599; Kull et al. 2019, arXiv:1910.12656.

    Examples
    --------
    >>> import calibstat as cs
    >>> from calibstat.recalibration import MatrixScaling
    >>> family = cs.generators.dirichlet((1, 1, 1), matrix=[[2, 0.5, 0], [0, 2, 0.5], [0.5, 0, 2]], shift=(0, 0, 1))
    >>> y, p = family.sample(20000, rng=1)
    >>> bool(abs(MatrixScaling().fit(p, y).predict_proba(p) - family.conditional(p)).mean() < 0.01)
    True
    """

    weight_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, *, regularisation: float = 0.0, clip: float | None = None) -> None:
        self.regularisation = regularisation
        self.clip = clip

    def _fit(self, prob: np.ndarray, label: np.ndarray) -> str | None:
        classes = prob.shape[1]
        if not 0 <= self.regularisation < np.inf:
            raise ValueError(f"expected regularisation of at least 0 and finite, found {self.regularisation!r}")
        logs = finite_logs(prob, self.clip, self)
        features = np.column_stack((logs, np.ones(label.size)))[:, None]
        start = np.eye(classes, classes + 1)
        share = np.full((classes, classes + 1), 1 / (classes * (classes - 1)))
        share[:, :classes][np.diag_indices(classes)] = 0
        share[:, classes] = 1 / classes
        found, still = likeliest(features, label, start, self.regularisation * share)
        self.weight_, self.intercept_ = found[:, :classes].copy(), found[:, classes].copy()
        return None if still else FAILURE

    def _map(self, prob: np.ndarray) -> np.ndarray:
        from scipy.special import softmax

        return softmax(finite_logs(prob, self.clip, self) @ self.weight_.T + self.intercept_, axis=1)


def _logits(prob: np.ndarray, clip: float | None, who: Recalibrator) -> np.ndarray:
    """Return the logit of class 1 of two, or of each class against all others together."""
    logs = finite_logs(prob, clip, who)
    if prob.shape[1] == 2:
        return logs[:, 1:] - logs[:, :1]
    others = prob.sum(axis=1, keepdims=True) - prob
    # of the most likely class the difference may lose all digits; the sum of the others keeps them
    top, rest = (np.arange(len(prob)), prob.argmax(axis=1)), prob.copy()
    rest[top] = 0
    others[top] = rest.sum(axis=1)
    return logs - np.log(clipped(others, clip))


def likeliest(
    features: np.ndarray, label: np.ndarray, start: np.ndarray, penalty: Any = 0.0
) -> tuple[np.ndarray, bool]:
    """Minimise the mean log loss of softmax(sum over m of features[i, k, m] theta[k, m]), and say if it converged.

    The features have shape (n, K, M), or (n, 1, M) where all classes share them; theta and start (K, M). The penalty,
    one number or one for each of theta, multiplies its square. Convex. Predictions that separate classes without an
    exception show in the last Newton step: the loss falls like exp(-t) along some direction, gradient and curvature
    vanish together, and the step stays near 1 however small the gradient is.
    """
    from scipy.optimize import minimize

    weight = np.broadcast_to(np.asarray(penalty, np.float64), start.shape).ravel()
    unit = 1 / np.sqrt(np.maximum(weight, 1.0))  # the search is for theta / unit, whose penalty is never steep
    weight = np.minimum(weight, 1.0)

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient, _ = _log_loss(features, label, (x * unit).reshape(start.shape), curved=False)
        return value + weight @ x**2, gradient * unit + 2 * weight * x

    def curvature(x: np.ndarray) -> np.ndarray:
        bend = _log_loss(features, label, (x * unit).reshape(start.shape), curved=True)[2]
        return bend * unit * unit[:, None] + np.diag(2 * weight)

    begin = start.ravel() / unit
    with np.errstate(over="ignore"):  # a step too far has an infinite loss and is taken back
        if start.size > MOST_CURVED:
            fit = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "maxfun": 10000})
            return (fit.x * unit).reshape(start.shape), bool(fit.success)
        fit = minimize(loss, begin, jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-8})
        step = (_newton_step(loss(fit.x)[1], curvature(fit.x)) * unit).reshape(start.shape)
    still = bool(np.abs(_logits_of(features, step)).max() <= STILL)
    return (fit.x * unit).reshape(start.shape) + (step if still else 0), still


def _newton_step(gradient: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """Return the step to the minimum of the quadratic, none where everything is flat up to rounding."""
    from scipy.linalg import eigh

    bend, direction = eigh(curvature)
    flat = bend <= bend.size * np.finfo(np.float64).eps * max(bend[-1], 0.0)
    along = direction.T @ gradient
    return -direction @ np.divide(along, bend, out=np.zeros(bend.size), where=~flat)


def _logits_of(features: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return the logits of rows, shape (n, K)."""
    return np.einsum("ikm,km->ik", features, theta) if features.shape[1] > 1 else features[:, 0] @ theta.T


def _log_loss(
    features: np.ndarray, label: np.ndarray, theta: np.ndarray, *, curved: bool
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the mean log loss and its first and, if asked for, second derivatives by the flat parameters."""
    from scipy.special import log_softmax

    n, (classes, each) = len(label), theta.shape
    size = max(BLOCK // theta.size, 1)
    value, gradient = 0.0, np.zeros(theta.shape)
    curvature = np.zeros((theta.size, theta.size) if curved else (0, 0))
    for first in range(0, n, size):
        part, happened = features[first : first + size], label[first : first + size]
        rows = np.arange(happened.size)
        logs = log_softmax(_logits_of(part, theta), axis=1)
        value -= logs[rows, happened].sum()
        chance = np.exp(logs)
        if curved:
            weighted = (chance[:, :, None] * part).reshape(rows.size, -1)
            curvature -= weighted.T @ weighted
            for k in range(classes):
                own = slice(k * each, (k + 1) * each)
                curvature[own, own] += weighted[:, own].T @ part[:, min(k, part.shape[1] - 1)]
        chance[rows, happened] -= 1
        if part.shape[1] == 1:
            gradient += chance.T @ part[:, 0]
        else:
            gradient += np.einsum("ik,ikm->km", chance, part)
    return value / n, gradient.ravel() / n, curvature / n
