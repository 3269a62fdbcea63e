"""The measures of the cases that scikit-learn has."""

import numpy as np
import sklearn
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, d2_brier_score, log_loss, roc_auc_score

VERSION = f"scikit-learn {sklearn.__version__}"


def scored(score, **fixed):
    """Return the function of a score of outcomes 0 and 1."""

    def function(y, p, weights, **options):
        if options:
            raise NotImplementedError
        return float(score(y, p, sample_weight=weights, **fixed))

    return function


def of_classes(score, **fixed):
    """Return the function of a score of classes, all of which are named."""
    return lambda y, p, w: float(score(y, np.array(p), sample_weight=w, labels=list(range(len(p[0]))), **fixed))


def recalibrated(y, p, w):
    """Return the Brier scores of the predictions, of their isotonic regression, and of the mean outcome."""
    best = IsotonicRegression(y_min=0, y_max=1).fit(p, y, sample_weight=w).predict(p)
    mean = np.full(len(y), np.average(y, weights=w))
    return [float(np.average((np.array(y) - q) ** 2, weights=w)) for q in (np.array(p), best, mean)]


FUNCTIONS = {
    "brier": scored(brier_score_loss, pos_label=1),
    "scaled_brier": scored(d2_brier_score),
    "log_loss": scored(log_loss, labels=[0, 1]),
    "auc": scored(roc_auc_score),
    "class_brier": of_classes(brier_score_loss, scale_by_half=False),
    "class_log_loss": of_classes(log_loss),
    "mcb": lambda y, p, w: recalibrated(y, p, w)[0] - recalibrated(y, p, w)[1],
    "dsc": lambda y, p, w: recalibrated(y, p, w)[2] - recalibrated(y, p, w)[1],
}
