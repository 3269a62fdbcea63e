"""The power at 5 % of the omnibus test of many classes with fewer and with more cells of each, in three minutes.

Predictions are drawn once and labels many times, so that all sets of labels share one sample of the null distribution.
All numbers of cells see the same labels.
"""

import sys

import numpy as np

from calibstat.data.cell_sums import cell_sums
from calibstat.measures.components.deviations import Diagnostics, cells_of_time
from calibstat.measures.omnibus import most_cells

LEVEL, SEED = 0.05, 20240501
# rows, classes, sets of predictions, sets of labels of each, resamples
SIZES = (2000, 100, 5, 40, 399), (5000, 1000, 1, 60, 199)


def predictions(n, classes, rng):
    """Return softmax of normal logits: a few likely classes in each row."""
    power = np.exp(2 * rng.standard_normal((n, classes)) + rng.standard_normal(classes))
    return power / power.sum(axis=1, keepdims=True)


def temperature(prob, rng, t):
    moved = prob ** (1 / t)
    return moved / moved.sum(axis=1, keepdims=True)


def moved_class(prob, rng, shift):
    """Move the log-odds of the most frequent class."""
    moved = prob.copy()
    moved[:, prob.mean(axis=0).argmax()] *= np.exp(shift)
    return moved / moved.sum(axis=1, keepdims=True)


def noise(prob, rng, spread):
    """Draw the probabilities around the predictions."""
    moved = rng.gamma(prob / spread) + 1e-300
    return moved / moved.sum(axis=1, keepdims=True)


def waves(prob, rng, size, periods):
    """Move the log-odds of each class up and down along the ranks of its predictions."""
    rank = prob.argsort(axis=0).argsort(axis=0) / len(prob)
    moved = prob * np.exp(size * np.sin(2 * np.pi * periods * rank))
    return moved / moved.sum(axis=1, keepdims=True)


ALTERNATIVES = {
    "calibrated": lambda prob, rng: prob,
    "temperature 1.1": lambda prob, rng: temperature(prob, rng, 1.1),
    "temperature 1.5": lambda prob, rng: temperature(prob, rng, 1.5),
    "one class moved by .4": lambda prob, rng: moved_class(prob, rng, 0.4),
    "one class moved by .8": lambda prob, rng: moved_class(prob, rng, 0.8),
    "noise of .1": lambda prob, rng: noise(prob, rng, 0.1),
    "waves, 3 periods": lambda prob, rng: waves(prob, rng, 0.8, 3),
    "waves, 40 periods": lambda prob, rng: waves(prob, rng, 1.2, 40),
    "waves, 200 periods": lambda prob, rng: waves(prob, rng, 1.2, 200),
}


def labels_of(prob, times, rng):
    edges = prob.cumsum(axis=1)
    u = rng.random((times, len(prob))) * edges[:, -1]
    return np.stack([np.searchsorted(edge, each, "right") for edge, each in zip(edges, u.T, strict=True)], axis=1)


def by_class(prob, labels, most):
    """Return the statistic of each class and of the most likely class, shape (B, K + 1)."""
    n, classes = prob.shape
    top = prob.argmax(axis=1)
    columns = [(prob[:, k], labels == k) for k in range(classes)]
    columns.append((prob.max(axis=1), labels == top))
    statistic = np.empty((len(labels), classes + 1))
    for k, (column, event) in enumerate(columns):
        value, where, count = np.unique(column, return_inverse=True, return_counts=True)
        cell = cells_of_time(value, count.astype(float), most)
        rows, _, sums = cell_sums(cell, value, count.astype(float), np.zeros(value.size))
        at = cell[where]
        positives = np.stack([np.bincount(at[each], minlength=rows.size) for each in event])
        statistic[:, k] = Diagnostics.at(rows, sums).statistic(positives / n - sums)
    return statistic


def main(sizes=SIZES):
    for n, classes, sets, times, resamples in sizes:
        rng = np.random.default_rng(SEED)
        cells = sorted({128, most_cells(classes), 1024})
        rejections = {name: np.zeros((len(cells), 2)) for name in ALTERNATIVES}
        for _ in range(sets):
            prob = predictions(n, classes, rng)
            labels = [labels_of(prob, resamples, rng)]
            labels += [labels_of(make(prob, rng), times, rng) for make in ALTERNATIVES.values()]
            ends = np.cumsum([len(part) for part in labels])
            for i, most in enumerate(cells):
                each = by_class(prob, np.concatenate(labels), most)
                joined = np.stack([np.logaddexp.reduce(each, axis=1), each[:, :-1].mean(axis=1)])
                null, *observed = np.split(joined, ends[:-1], axis=1)
                for name, part in zip(ALTERNATIVES, observed, strict=True):
                    p = (1 + (null[:, None] >= part[:, :, None]).sum(axis=2)) / (1 + resamples)
                    rejections[name][i] += (p <= LEVEL).sum(axis=1)
        print(f"\n{n} rows, {classes} classes, {sets * times} sets of labels: canonical, class-wise mean")
        print(f"{'':24}" + "".join(f"{f'{most} cells':>16}" for most in cells))
        for name, counts in rejections.items():
            shares = [f"{a:.3f}, {b:.3f}" for a, b in counts / (sets * times)]
            print(f"{name:24}" + "".join(f"{share:>16}" for share in shares))


if __name__ == "__main__":
    main([(500, 70, 1, 5, 19)] if "--quick" in sys.argv else SIZES)
