"""Rules that say in which groups of rows predictions are wrong: audits, Holm over single tests, and those of MCGrad."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from calibstat.resampling.poisson_binomial import pmf_of_positives

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05
MIN_ROWS = 30
SIGMAS = 5  # "values above 5 indicate significant miscalibration"
INSTALLED = find_spec("mcgrad") is not None
MCGRAD = ("MCGrad, p < .05", "MCGrad, sigma > 5")
LEFT_OUT = "mcgrad is not installed, so its rules are left out: install calibstat[groups-study]"

Found = Iterator[tuple[str, np.ndarray]]  # name of a rule, and which groups it finds


def masks_of(names: Sequence[str], features: pd.DataFrame) -> np.ndarray:
    """Return the rows of groups with these names, boolean of shape (G, n)."""
    level = {f"{name} = {k}": (features[name] == k).to_numpy() for name in features for k in features[name].unique()}
    level["all rows"] = np.ones(len(features), bool)
    return np.array([np.logical_and.reduce([level[part] for part in name.split(" and ")]) for name in names])


def holm(y: np.ndarray, p: np.ndarray, masks: np.ndarray) -> Found:
    """Yield what Holm's procedure finds by normal p-values of the sums of residuals, and by exact ones."""
    from scipy.stats import norm

    residual, variance = masks @ (y - p), masks @ (p * (1 - p))
    yield "Holm, normal", rejected(2 * norm.sf(np.abs(residual) / np.sqrt(variance)))
    yield "Holm, exact", rejected(np.array([exact_p_value(y[mask], p[mask]) for mask in masks]))


def rejected(pvalue: np.ndarray) -> np.ndarray:
    """Return the hypotheses that Holm's procedure rejects."""
    order = np.argsort(pvalue)  # statsmodels, which does this too, takes a tenth of a second to collect garbage
    kept = pvalue[order] > LEVEL / np.arange(pvalue.size, 0, -1)
    found = np.zeros(pvalue.size, bool)
    found[order] = np.cumsum(kept) == 0
    return found


def exact_p_value(y: np.ndarray, p: np.ndarray) -> float:
    """Return twice the smaller tail of the number of events, which is Poisson-binomial, or 1."""
    low, pmf = pmf_of_positives(p, np.ones(p.size))
    observed = int(y.sum()) - low
    return float(min(2 * min(pmf[: max(observed + 1, 0)].sum(), pmf[max(observed, 0) :].sum()), 1))


def mcgrad(y: np.ndarray, p: np.ndarray, features: pd.DataFrame, masks: np.ndarray) -> Found:
    """Yield what the two rules of MCGrad's multicalibration error find, for the same groups.

    What it prints is the largest of all groups: it speaks if any group is found.
    """
    from mcgrad.metrics import MulticalibrationError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deprecated arguments of pandas
        error = MulticalibrationError(
            features.assign(label=y, score=p),
            "label",
            "score",
            categorical_segment_columns=list(features),
            max_depth=2,
            max_values_per_segment_feature=max(features.nunique()),
            min_samples_per_segment=MIN_ROWS,
            max_n_segments=None,
        )
        pvalue, sigma = error.segments_ecce_pvalue, error.segments_ecce_sigma
    segments = np.concatenate(error._segments[0])[: sigma.size, np.argsort(error.df["index"])]
    number = {segment.tobytes(): k for k, segment in enumerate(segments)}
    place = [number[mask.tobytes()] for mask in masks]
    for name, found in zip(MCGRAD, (pvalue < LEVEL, sigma > SIGMAS), strict=True):
        yield name, found[place]
