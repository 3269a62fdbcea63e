"""Limits of the total variation distances of all cells of the simplex at once."""

from __future__ import annotations

from itertools import product

import numpy as np

from calibstat.bounds.number_of_events import smallest_mean

CLASS_LIMIT = 10  # of more there are too many sets of classes


def limits_of_distances(
    mean_prediction: np.ndarray, frequency: np.ndarray, count: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return limits that hold the distances of average outcome probabilities from mean predictions, of all cells.

    Total variation is the largest difference of the probabilities of a set of classes. Each set has the lower limit of
    Clopper and Pearson of its average probability, also where rows of a cell have different ones (Hoeffding 1956): with
    Šidák's correction for the cells, which are independent given the predictions, and Bonferroni's for the sets in a
    cell. The sets come with their complements, so lower limits alone give both ends.

    Raises
    ------
    ValueError
        If there are more than `CLASS_LIMIT` classes.
    """
    cells, classes = frequency.shape
    if classes > CLASS_LIMIT:
        raise ValueError(
            f"expected at most {CLASS_LIMIT} classes for limits of the distances of cells, found {classes}: group "
            "them with lenses.groups, or look at the most likely ones with lenses.top_k"
        )
    sets = np.array(list(product((False, True), repeat=classes))[1:-1])
    miss = (1 - level ** (1 / cells)) / len(sets)
    seen = np.rint((frequency * count[:, None]) @ sets.T)
    off = smallest_mean(seen, count[:, None], miss) - mean_prediction @ sets.T
    return np.maximum(off.max(axis=1), 0), np.minimum(-off.min(axis=1), 1)
