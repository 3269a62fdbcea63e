"""Ten networks of scikit-learn for digits, and their predictions of rows that they were not fitted to."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calibstat.generators.simulator import drawing

from .digits import HELD_OUT, digits

SEED = 20342  # of the rows that are held out, the same for all networks and studies
NEURONS = (25, 50, 100, 200, 400)
STARTS = 2  # of each width


@dataclass(frozen=True)
class Network:
    """Predictions of half of the digits by a network that was fitted to the other half.

    Attributes
    ----------
    neurons : int
        Of its only hidden layer.
    start : int
        The number of its start.
    """

    neurons: int
    start: int

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return classes and predictions of rows that the network was not fitted to, the same for all networks."""
        return _predicted(self)


@lru_cache(maxsize=64)
def _predicted(network: Network) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    pixels, label = digits()
    _, random = drawing(label.size, SEED)
    order = random.permutation(label.size)
    test, train = order[:HELD_OUT], order[HELD_OUT:]
    model = MLPClassifier((network.neurons,), random_state=1000 * network.start + network.neurons, max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 200 passes are what is asked
        model.fit(pixels[train], label[train])
    p = model.predict_proba(pixels[test])
    return label[test], p / p.sum(axis=1, keepdims=True)


def networks(quick: bool) -> dict[str, Network]:
    """Return the networks by name."""
    widths, starts = (NEURONS[:2], 1) if quick else (NEURONS, STARTS)
    return {f"{k} neurons, start {start}": Network(k, start) for k in widths for start in range(1, starts + 1)}
