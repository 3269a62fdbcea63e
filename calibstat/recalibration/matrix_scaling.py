"""Matrix scaling, also known as Dirichlet calibration: a linear map of all logarithms."""

from __future__ import annotations

import numpy as np

from calibstat.recalibration.formula import Expression, log, softmax_of, total
from calibstat.recalibration.recalibrator import NO_OPTIMUM, Recalibrator, counted, finite_logs
from calibstat.recalibration.softmax_regression import likeliest


class MatrixScaling(Recalibrator):
    """Map the logits, the logarithms of the predictions, to W log p + b, then softmax.

        >>> import calibstat as cs
        >>> from calibstat.recalibration import MatrixScaling
        >>> family = cs.generators.dirichlet((1, 1, 1), matrix=[[2, 0.5, 0], [0, 2, 0.5], [0.5, 0, 2]], shift=(0, 0, 1))
        >>> y, p = family.sample(20000, rng=1)
        >>> bool(abs(MatrixScaling().fit(p, y).predict_proba(p) - family.conditional(p)).mean() < 0.01)
        True

    Parameters
    ----------
    regularisation : float
        At least 0. That many times the mean square of W off the diagonal plus the mean square of b is added to
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
    """

    tried_from = 3  # with two classes it is vector scaling
    tried_to = 50  # of 100 a fit takes about a minute, and `choose` makes 16

    weight_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, *, regularisation: float = 0.0, clip: float | None = None) -> None:
        self.regularisation = regularisation
        self.clip = clip

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        classes = prob.shape[1]
        if not 0 <= self.regularisation < np.inf:
            raise ValueError(f"expected regularisation of at least 0 and finite, found {self.regularisation!r}")
        logs = finite_logs(prob, self.clip, self)
        features = np.column_stack((logs, np.ones(label.size)))[:, None]
        start = np.eye(classes, classes + 1)
        share = np.full((classes, classes + 1), 1 / (classes * (classes - 1)))
        share[:, :classes][np.diag_indices(classes)] = 0
        share[:, classes] = 1 / classes
        coefficients, still = likeliest(
            features, label, counted(weight, label.size), start, self.regularisation * share
        )
        self.weight_, self.intercept_ = coefficients[:, :classes].copy(), coefficients[:, classes].copy()
        return None if still else NO_OPTIMUM

    def _map(self, prob: np.ndarray) -> np.ndarray:
        from scipy.special import softmax

        return softmax(finite_logs(prob, self.clip, self) @ self.weight_.T + self.intercept_, axis=1)

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        logs = [log(p, self.clip) for p in prob]
        return softmax_of(
            [
                total([float(w) * each for w, each in zip(weight, logs, strict=True)]) + float(b)
                for weight, b in zip(self.weight_, self.intercept_, strict=True)
            ]
        )
