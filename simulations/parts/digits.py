"""The 1797 digits of scikit-learn, and predictions of them by a model fitted to some with noisy labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from calibstat.generators.simulator import drawing

CLASSES = 10
HELD_OUT = 897  # the other 900 rows are fitted to
STRENGTH = 10.0  # of those tried (0.1, 1, 10, 100) that of the smallest log loss on held-out rows without noise


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Return the grey values of the 64 pixels of each digit, from 0 to 1, and its class."""
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError as error:
        wanted = "this study needs scikit-learn: python -m pip install 'calibstat[simulations]'"
        raise ModuleNotFoundError(wanted) from error
    pixels, label = load_digits(return_X_y=True)
    return pixels / 16, label.astype(np.int64)


@dataclass(frozen=True)
class NoisyDigits:
    """Predictions by softmax regression of digits it was not fitted to, after labels were replaced.

    Attributes
    ----------
    fraction : float
        Share of the labels that are replaced by any of the ten classes, equally likely: perhaps by what they were.
    clean : bool
        Whether labels of held-out rows stay as they are.
    strength : float
        Inverse strength of the quadratic penalty, scikit-learn's ``C``.
    """

    fraction: float
    clean: bool = False
    strength: float = STRENGTH
    n_classes = CLASSES
    is_calibrated = False

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Hold out n rows at random, fit to the rest, and return classes and predictions of those held out."""
        n, random = drawing(n, rng)
        pixels, label = digits()
        from sklearn.linear_model import LogisticRegression

        order = random.permutation(label.size)
        replaced = random.random(label.size) < self.fraction
        noisy = np.where(replaced, random.integers(CLASSES, size=label.size), label)
        held_out, rest = order[:n], order[n:]
        if np.unique(noisy[rest]).size < CLASSES:
            raise ValueError(f"expected rows of all {CLASSES} classes to fit to, found fewer: hold out less than {n}")
        model = LogisticRegression(C=self.strength, max_iter=10_000).fit(pixels[rest], noisy[rest])
        return (label if self.clean else noisy)[held_out], model.predict_proba(pixels[held_out])

    def truth(self, measure: Any = "ece", **options: Any) -> float:
        """Raise: the distribution of the class given the prediction is not known."""
        raise NotImplementedError(f"the population value of measure {measure!r} is not known for real digits")
