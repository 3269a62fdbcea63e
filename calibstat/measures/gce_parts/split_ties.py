"""Bins of equal numbers of rows that share the rows of equal predictions, as a binned error takes them."""

from __future__ import annotations

import numpy as np


def errors_of_shared_ties(
    prob: np.ndarray,
    labels: np.ndarray,
    top: np.ndarray,
    threshold: np.float64,
    bins: int,
    class_weight: np.ndarray,
) -> np.ndarray:
    """Return the L1 and the L2 error for each row of labels, shape (B, 2); `top` is as in `GCE`.

    Classes are apart if there is a weight for each, and together if there is only one.

    The edges of the bins are numbers of rows. Rows of one prediction that an edge parts go to both sides in proportion,
    and so do the ones whose class was observed. So the residuals summed up to an edge lie on straight lines
    between the sums at distinct predictions.
    """
    n, classes = prob.shape
    rows = np.arange(n)
    out = np.zeros((len(labels), 2))
    kept = prob > threshold
    if top[0] >= 0:
        only = np.zeros_like(kept)
        only[rows, top] = kept[rows, top]
        kept = only
    groups = [(slice(None), slice(k, k + 1)) for k in range(classes)] if class_weight.size > 1 else [np.s_[:, :]]
    for group, weight in zip(groups, class_weight, strict=True):
        inside = kept[group]
        distinct, index, count = np.unique(prob[group][inside], return_inverse=True, return_counts=True)
        if count.size == 0:
            continue
        size = int(count.sum())
        edge = -((bins - 2 * np.arange(bins + 1) * size) // (2 * bins))  # b size / bins, halves rounded down
        below, in_bin = np.append(0, np.cumsum(count)), np.diff(edge)
        for r, label in enumerate(labels):
            hit = np.zeros((n, classes), np.bool_)
            hit[rows, label] = True
            observed = np.bincount(index, hit[group][inside], count.size)
            total = np.append(0.0, np.cumsum(observed - count * distinct.astype(np.float64)))
            gap = np.abs(np.diff(np.interp(edge, below, total)))
            out[r, 0] += weight * gap.sum() / size
            out[r, 1] += weight * np.divide(gap**2, in_bin, out=np.zeros(bins), where=in_bin > 0).sum() / size
    out /= class_weight.sum()
    out[:, 1] = np.sqrt(out[:, 1])
    return out
