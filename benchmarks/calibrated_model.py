"""CPU seconds of `CalibratedModel` beside scikit-learn's `CalibratedClassifierCV`: fit and probabilities.

OMP_NUM_THREADS=1 python benchmarks/calibrated_model.py [LARGEST n]
"""

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from tables import markdown

import calibstat as cs
from calibstat.recalibration import IsotonicRegression, PlattScaling

SIZES = (1_000, 10_000, 100_000)
ROUNDS = {1_000: 7, 10_000: 3, 100_000: 2}
ASKED = 15  # rounds of predict_proba
FOLDS = 5
CLIP = 0.005  # shares of 20 trees are 0 and 1, of which Platt scaling takes logits
ESTIMATORS = {
    "logistic": lambda: LogisticRegression(),
    "forest": lambda: RandomForestClassifier(20, max_depth=8, random_state=0, n_jobs=1),
}
METHODS = {  # our map, and the method of scikit-learn that it is put beside
    "sigmoid": (lambda: PlattScaling(clip=CLIP), "sigmoid"),
    "isotonic": (lambda: IsotonicRegression(), "isotonic"),
    "choose beside isotonic": (lambda: "choose", "isotonic"),
}


def models(estimator: Callable[[], object], method: str) -> dict[str, object]:
    """Return models to be fitted: with one estimator of all rows behind one map, and one for each fold."""
    map_, beside = METHODS[method]
    given = {"method": beside, "cv": FOLDS}
    return {
        "calibstat": cs.CalibratedModel(estimator(), map=map_(), cv=FOLDS, random_state=0),
        "scikit-learn": CalibratedClassifierCV(estimator(), ensemble=False, **given),
        "scikit-learn, ensemble": CalibratedClassifierCV(estimator(), ensemble=True, **given),
    }


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of one call."""
    started = time.process_time()
    call()
    return time.process_time() - started


def medians(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median CPU time of each call, called in turn."""
    times = [{name: cpu_seconds(call) for name, call in calls.items()} for _ in range(rounds)]
    return {name: float(np.median([each[name] for each in times])) for name in calls}


def row_of(n: int, name: str, method: str, X: np.ndarray, y: np.ndarray) -> list[str]:
    """Return seconds of calibstat, and its time over the ones of scikit-learn, without ensemble and with.

    The first n rows are fitted to, and the probabilities of the others are asked.
    """
    made = models(ESTIMATORS[name], method)
    fit = medians({who: lambda m=model: m.fit(X[:n], y[:n]) for who, model in made.items()}, ROUNDS[n])
    ask = medians({who: lambda m=model: m.predict_proba(X[n:]) for who, model in made.items()}, ASKED)
    own, *others = made
    row = [f"{n:,}", name, method]
    for times in (fit, ask):
        row += [f"{times[own]:.3g}", *(f"{times[own] / times[who]:.2f}" for who in others)]
    brier = [np.mean((y[n:] - model.predict_proba(X[n:])[:, 1]) ** 2) for model in made.values()]
    return [*row, " / ".join(f"{score:.4f}" for score in brier)]


def main(largest: int) -> None:
    """Print the table."""
    X, y = make_classification(400, 20, random_state=0)
    for method in METHODS:  # compiles
        models(ESTIMATORS["logistic"], method)["calibstat"].fit(X, y).predict_proba(X)
    rows = []
    for n in (n for n in SIZES if n <= largest):
        X, y = make_classification(2 * n, 20, n_informative=8, flip_y=0.1, class_sep=0.7, random_state=0)
        rows += [row_of(n, name, method, X, y) for name in ESTIMATORS for method in METHODS]
    titles = ["fit, s", "over scikit-learn", "over its ensemble"]
    probabilities = [title.replace("fit", "predict_proba") for title in titles]
    print(markdown(["n", "estimator", "method", *titles, *probabilities, "Brier scores"], rows))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else max(SIZES))
