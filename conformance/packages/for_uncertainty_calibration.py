"""The measures of the cases that uncertainty-calibration has."""

from importlib.metadata import version

import calibration
import numpy as np

VERSION = f"uncertainty-calibration {version('uncertainty-calibration')}"


def binned(power, mode="marginal", debias=False):
    """Return the function of an error over bins of equal width."""

    def function(y, p, weights, n_bins=15, strategy="uniform", variant=None, reduce="mean"):
        fixed = (weights, strategy, variant, reduce) == (None, "uniform", "kumar" if debias else None, "mean")
        if not (fixed and isinstance(n_bins, int)):
            raise NotImplementedError
        scheme = calibration.utils.get_equal_prob_bins
        arrays = np.array(p), np.array(y)
        return float(calibration.utils._get_ce(*arrays, power, debias, n_bins, scheme, mode=mode))

    return function


FUNCTIONS = {
    "ece": binned(1),
    "rmsce": binned(2),
    "ece_debiased": binned(2, debias=True),
    "top_label_ece": binned(1, mode="top-label"),
    "class_wise_ece": binned(1),
}
