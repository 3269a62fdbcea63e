"""Real data as populations: cross-validated predictions of data sets of scikit-learn, whose rows are drawn again.

What is estimated is the error on all rows of the data set, which is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from calibstat import generators

from .digits import digits

FOLDS = 5
SEED = 20311
DIGIT = 8  # against all others


@cache
def population(name: str) -> generators.domain:
    """Return the rows of a data set as equally likely points, with their outcomes as chances."""
    digits()  # says what to install
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.naive_bayes import GaussianNB

    pixels, label = digits()
    if name == "digit 8, logistic regression":
        x, y, model = pixels, (label == DIGIT).astype(int), LogisticRegression(max_iter=1000)
    else:
        x, y = load_breast_cancer(return_X_y=True)
        model = {
            "breast cancer, naive Bayes": GaussianNB(),
            "breast cancer, random forest": RandomForestClassifier(random_state=SEED),
        }[name]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    predicted = cross_val_predict(model, x, y, cv=folds, method="predict_proba")[:, 1]
    return generators.domain([1 / y.size] * y.size, y.tolist(), predicted.tolist())


@dataclass(frozen=True)
class RealRows:
    """A data set with the predictions of a model that was not fitted to them, from which rows are drawn.

    Attributes
    ----------
    name : str
        The data set and the model.
    """

    name: str
    is_calibrated = False

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows with replacement."""
        return population(self.name).sample(n, rng)

    def truth(self, measure: Any = "ece", **options: Any) -> float:
        """Return the measure of all rows."""
        return population(self.name).truth(measure, **options)


REAL = "breast cancer, naive Bayes", "breast cancer, random forest", "digit 8, logistic regression"
