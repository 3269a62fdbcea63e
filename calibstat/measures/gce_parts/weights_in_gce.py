"""Weights of the general calibration error: of regions of probabilities, and of classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from calibstat.data.checks import is_among, is_number, short

REGIONS: Mapping[str, Callable[[np.ndarray], np.ndarray] | None] = {
    "all": None,
    "ends": lambda p: (1 - 2 * p) ** 2,
    "middle": lambda p: 4 * p * (1 - p),
}


def check_weights(region: object, class_weight: object, ties: str, class_conditional: bool) -> None:
    """Raise a ValueError unless weights are as they should be, and go with the other options."""
    if not is_among(region, REGIONS):
        raise ValueError(f"expected region 'all', 'ends' or 'middle', found {short(region)}")
    if region != "all" and ties == "split":
        raise ValueError(f"expected ties 'together' with region {region!r}, found 'split'")
    if class_weight is None:
        return
    if not isinstance(class_weight, Sequence) or isinstance(class_weight, str) or not all(map(_fits, class_weight)):
        raise ValueError(f"expected a finite class_weight of at least 0 for each class, found {short(class_weight)}")
    if not sum(class_weight) > 0:
        raise ValueError(f"expected a class_weight above 0 for some class, found {short(class_weight)}")
    if not class_conditional:
        raise ValueError("expected class_conditional=True with class_weight, found False")


def _fits(weight: object) -> bool:
    return is_number(weight) and 0 <= weight < np.inf


def weights_of_classes(class_weight: Sequence[float] | None, groups: int) -> np.ndarray:
    """Return the weight of each group of bins; 1 by default."""
    if class_weight is None:
        return np.ones(groups)
    if len(class_weight) != groups:
        raise ValueError(f"expected a class_weight for each of {groups} classes, found {len(class_weight)}")
    return np.array(class_weight, dtype=np.float64)


def mean_weights(prob: np.ndarray, region: str, place: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return the mean weight of the kept probabilities in each bin, of which `place` is the number; 0 in empty ones."""
    weight = REGIONS[region]
    if weight is None:
        return np.ones(count.shape)
    total = np.bincount(place.ravel(), weight(prob.astype(np.float64)).ravel(), count.size + 1)[:-1]
    return np.divide(total.reshape(count.shape), count, out=np.zeros(count.shape), where=count > 0)
