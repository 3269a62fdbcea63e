"""The measures of the cases that relplot has."""

from importlib.metadata import version

import numpy as np
from relplot.metrics import binnedECE, binnedECEw

VERSION = f"relplot {version('relplot')}"


def binned(error):
    """Return the function of an error over bins of equal width."""

    def function(y, p, weights, n_bins=15, strategy="uniform"):
        if weights is not None or strategy != "uniform" or not isinstance(n_bins, int):
            raise NotImplementedError
        return float(error(np.array(p), np.array(y), nbins=n_bins))

    return function


FUNCTIONS = {"ece": binned(binnedECE), "ece_width": binned(binnedECEw)}
