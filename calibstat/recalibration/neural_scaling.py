"""A small neural network on the logarithms of the predictions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from calibstat.recalibration.formula import Expression
from calibstat.recalibration.recalibrator import NO_FORMULA, NO_WEIGHTS, Recalibrator, finite_logs


class NeuralScaling(Recalibrator):
    """Map the logarithms of the predictions by a neural network, scikit-learn's ``MLPClassifier``.

        >>> import calibstat as cs
        >>> from calibstat.recalibration import NeuralScaling
        >>> y, p = cs.generators.temperature(3).sample(1000, rng=1)
        >>> fitted = NeuralScaling(hidden_layer_sizes=(8,), random_state=1).fit(p, y)
        >>> y, p = cs.generators.temperature(3).sample(1000, rng=2)
        >>> bool(cs.estimate(y, fitted.predict_proba(p)) < cs.estimate(y, p) / 2)
        True

    Parameters
    ----------
    hidden_layer_sizes : sequence of int
        Number of neurons in each hidden layer.
    max_iter : int
        Most passes over the rows.
    random_state : None, int or numpy.random.RandomState
        Of the first weights and the order of the rows, as scikit-learn takes it.
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before logarithms are taken. By default none is
        moved, and one of exactly 0 or 1 raises; the message gives a value.

    Attributes
    ----------
    network_ : sklearn.neural_network.MLPClassifier or None
        The fitted network; None if only one class is observed.

    Raises
    ------
    ImportError
        By `fit`, if scikit-learn is not installed; ``pip install calibstat[simulations]`` brings it.
    ValueError
        By `fit`, if there are weights; by `fit` and `predict_proba`, if a probability is exactly 0 and there is no
        `clip`.

    Notes
    -----
    Not converged: the loss was still falling at the last pass, or a class is never observed, which then gets
    probability 0. Every logarithm is first brought to mean 0 and standard deviation 1 over the calibration rows.
    Training (Adam) stops when ten passes lower the loss by less than 1e-4 each, on purpose before the optimum, which
    fits noise; with fewer than some hundred rows the result does so too. The most likely class can change. Without
    `random_state` every fit is another. Cost: O(n K w) for each pass, w neurons.

    References
    ----------
    Nixon, Dusenberry, Jerfel, Nguyen, Liu, Zhang, Tran 2019, Measuring Calibration in Deep Learning, arXiv:1904.01685.
    """

    tried_from = None  # its fits are random and take long

    network_: Any

    def __init__(
        self,
        *,
        hidden_layer_sizes: Sequence[int] = (32,),
        max_iter: int = 1000,
        random_state: object = None,
        clip: float | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_iter = max_iter
        self.random_state = random_state
        self.clip = clip

    def _fit(self, prob: np.ndarray, label: np.ndarray) -> str | None:
        try:
            from sklearn.exceptions import ConvergenceWarning
            from sklearn.neural_network import MLPClassifier
        except ImportError:
            raise ImportError(
                "expected scikit-learn for NeuralScaling, found none; pip install calibstat[simulations] brings it"
            ) from None

        logs = finite_logs(prob, self.clip, self)
        self._centre = logs.mean(axis=0)
        self._spread = np.where(np.ptp(logs, axis=0) > 0, logs.std(axis=0), 1.0)
        self._observed = np.unique(label)
        absent = np.setdiff1d(np.arange(prob.shape[1]), self._observed)
        never = f"no row of class {', '.join(map(str, absent))}, which is given probability 0" if absent.size else None
        if self._observed.size == 1:
            self.network_ = None
            return never
        network = MLPClassifier(self.hidden_layer_sizes, max_iter=self.max_iter, random_state=self.random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said by fit, as of the other recalibrators
            network.fit((logs - self._centre) / self._spread, label)
        self.network_ = network
        done = network.n_iter_ < self.max_iter
        return never if never or done else f"the loss was still falling after max_iter={self.max_iter} passes"

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        why = "its training takes rows in batches of equal size, where a row of weight 2 is not two rows"
        raise ValueError(NO_WEIGHTS.format("NeuralScaling", why))

    def _map(self, prob: np.ndarray) -> np.ndarray:
        features = (finite_logs(prob, self.clip, self) - self._centre) / self._spread
        out = np.zeros(prob.shape)
        out[:, self._observed] = 1 if self.network_ is None else self.network_.predict_proba(features)
        return out

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        why = "a network of scikit-learn; apply it in Python, by predict_proba, or fit BetaCalibration or VectorScaling"
        raise ValueError(NO_FORMULA.format("NeuralScaling", why))
