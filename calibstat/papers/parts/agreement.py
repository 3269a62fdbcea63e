"""Agreement of the 32 general calibration errors on the order of models: Nixon et al. (2019), tables 4 and 5."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from calibstat.inference.gce_family import GceFamily

Row = dict[str, Any]

THRESHOLDED = 2  # in the index of a general calibration error
PROPERTIES: Mapping[str, Callable[[GceFamily], np.ndarray]] = {
    "all": lambda family: family.index >= 0,
    "even bins": lambda family: family.binning == "even",
    "adaptive bins": lambda family: family.binning == "adaptive",
    "most likely class": lambda family: family.max_prob,
    "all classes": lambda family: ~family.max_prob,
    "class-conditional": lambda family: family.class_conditional,
    "class-unconditional": lambda family: ~family.class_conditional,
    "thresholded": lambda family: family.threshold > 0,
    "unthresholded": lambda family: family.threshold == 0,
    "L1": lambda family: family.norm == "l1",
    "L2": lambda family: family.norm == "l2",
}
AGREEMENTS = (
    "two measures, all test rows",
    "two measures, the same half",
    "one measure, two halves",
    "two measures, two halves",
)


def ranks(families: Mapping[str, GceFamily]) -> np.ndarray:
    """Return the rank of each model, from 1 for the smallest error, by each member; shape (models, 32)."""
    from scipy.stats import rankdata

    return rankdata([family.value for family in families.values()], axis=0)


def gce_rows(families: Mapping[str, GceFamily]) -> Iterator[Row]:
    """Return every general calibration error of every model, and its rank."""
    for (name, family), rank in zip(families.items(), ranks(families), strict=True):
        for k, value in enumerate(family.value):
            yield {"question": "gce", "model": name, "measure": str(k), "value": float(value), "rank": float(rank[k])}


def agreement_rows(*families: Mapping[str, GceFamily]) -> Iterator[Row]:
    """Return mean rank correlations of measures with each property, on all test rows and on halves of them.

    Pairs are left out that are equal by construction: with the largest probability alone a threshold changes nothing if
    that is always above it, as with fewer than 100 classes. A measure by which all models are equal has no order, and
    its pairs are left out, too.
    """
    every, first, second = (ranks(each) for each in families)
    whole, same, halves = correlation(every, every), correlation(first, first), correlation(first, second)
    family = next(iter(families[0].values()))
    equal = family.max_prob & (family.threshold == 0)  # to the same with a threshold
    for name, has in PROPERTIES.items():
        own = np.flatnonzero(has(family))
        pairs = [(i, j) for i, j in combinations(own, 2) if not (equal[i] and j == i + THRESHOLDED)]
        i, j = np.array(pairs).T
        crossed = (halves[i, j] + halves[j, i]) / 2
        values = (whole[i, j], same[i, j], np.diag(halves)[own], crossed)
        for against, value in zip(AGREEMENTS, values, strict=True):
            yield {"question": "agreement", "measure": name, "against": against, "value": mean_known(value)}


def mean_known(values: np.ndarray) -> float:
    """Return the mean of the values that are numbers, nan if none is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else np.nan


def correlation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the correlations of the columns of one array of ranks with the columns of another; nan if all are ties."""
    size = first.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.corrcoef(first, second, rowvar=False)[:size, size:]
