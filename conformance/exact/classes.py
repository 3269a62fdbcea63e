"""Errors of predictions of several classes."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from exact.binned import ece
from exact.decimals import Real, decimal, entropy_term, root
from exact.rows import Level, Rows, cells_of, total
from exact.sums_of_residuals import similarity

Vector = list[Fraction]


@dataclass(frozen=True)
class ClassRows:
    """Observed classes from 0 on, the predicted probabilities of all, and weights."""

    y: list[int]
    p: list[Vector]
    weights: list[Fraction]

    @classmethod
    def of(cls, y: list[int], p: list[list[float]], weights: list[float] | None = None) -> ClassRows:
        """Take the doubles of a case as the fractions that they are."""
        return cls(y, [[Fraction(v) for v in row] for row in p], [Fraction(w) for w in weights or [1] * len(y)])

    @property
    def classes(self) -> range:
        """The classes."""
        return range(len(self.p[0]))

    def one_class(self, k: int) -> Rows:
        """Return whether each row is of this class, and its probability."""
        return Rows([int(y == k) for y in self.y], [row[k] for row in self.p], self.weights)

    def top(self) -> list[int]:
        """Return the most likely class of each row, of equal ones the first."""
        return [max(self.classes, key=lambda k: (row[k], -k)) for row in self.p]

    def top_label(self) -> Rows:
        """Return whether each row is of its most likely class, and the probability of this class."""
        top = self.top()
        hits = [int(y == k) for y, k in zip(self.y, top, strict=True)]
        return Rows(hits, [row[k] for row, k in zip(self.p, top, strict=True)], self.weights)

    def residuals(self) -> list[Vector]:
        """Return the one-hot class less the prediction of each row."""
        return [[(y == k) - v for k, v in enumerate(row)] for y, row in zip(self.y, self.p, strict=True)]


def top_label_ece(rows: ClassRows, n_bins: int = 15) -> Fraction:
    """Return the binned error of the most likely class."""
    return ece(rows.top_label(), n_bins=n_bins)


def class_wise_ece(rows: ClassRows, n_bins: int = 15, reduce: str = "mean") -> Fraction:
    """Return the mean, or the largest, of the binned errors of the classes."""
    found = [ece(rows.one_class(k), n_bins=n_bins) for k in rows.classes]
    return max(found) if reduce == "max" else sum(found, Fraction(0)) / len(found)


def general_ce(
    rows: ClassRows,
    n_bins: int | None = 15,
    binning: str = "even",
    threshold: float = 0.0,
    norm: str = "l1",
    max_prob: bool = False,
    class_conditional: bool = True,
) -> Real:
    """Return the general calibration error of Nixon et al. (2019): probabilities above a threshold, class by class."""
    kept: dict[int, list[tuple[int, Fraction]]] = {k: [] for k in (rows.classes if class_conditional else [0])}
    top = rows.top()
    for y, row, best in zip(rows.y, rows.p, top, strict=True):
        for k in [best] if max_prob else rows.classes:
            if row[k] > Fraction(threshold):
                kept[k if class_conditional else 0].append((int(y == k), row[k]))
    errors = []
    for pairs in kept.values():
        found = Rows([y for y, _ in pairs], [v for _, v in pairs], [Fraction(1)] * len(pairs))
        levels = found.levels()
        strategy = {"even": "uniform", "adaptive": "quantile"}[binning]
        cells: list[Level] = [total(cell) for cell in cells_of(levels, n_bins, strategy)] if levels else []
        power = {"l1": 1, "l2": 2}[norm]
        errors.append(sum((c.count / found.n * (abs(c.residual) / c.count) ** power for c in cells), Fraction(0)))
    mean = sum(errors, Fraction(0)) / len(errors)
    return mean if norm == "l1" else root(mean)


def class_brier(rows: ClassRows) -> Fraction:
    """Return the mean squared distance of one-hot class and prediction."""
    each = [sum(r * r for r in row) for row in rows.residuals()]
    return sum(w * x for w, x in zip(rows.weights, each, strict=True)) / sum(rows.weights)


def class_log_loss(rows: ClassRows) -> Decimal:
    """Return the mean negative logarithm of the probability of the observed class."""
    n = sum(rows.weights)
    return sum(entropy_term(w / n, row[y]) for y, row, w in zip(rows.y, rows.p, rows.weights, strict=True))


def skce(
    rows: ClassRows,
    statistic: str = "V",
    kernel: str = "laplace",
    distance: str = "total_variation",
    bandwidth: float = 1.0,
    block_size: int = 2,
) -> Decimal:
    """Return the squared kernel calibration error: over all pairs ("V"), different rows ("U"), or within blocks."""
    residual = rows.residuals()

    def product_of(i: int, j: int) -> Decimal:
        change = [a - b for a, b in zip(rows.p[i], rows.p[j], strict=True)]
        apart: Real = sum(map(abs, change)) / 2 if distance == "total_variation" else root(sum(d * d for d in change))
        dot = sum(a * b for a, b in zip(residual[i], residual[j], strict=True))
        return decimal(dot) * similarity(apart, kernel, bandwidth)

    n = len(rows.y)
    if statistic == "V":
        return sum(product_of(i, j) for i in range(n) for j in range(n)) / n**2
    size = {"U": n, "linear": 2, "block": block_size}[statistic]
    blocks = [range(start, start + size) for start in range(0, n - size + 1, size)]
    means = [sum(product_of(i, j) for i in b for j in b if i != j) / (size * (size - 1)) for b in blocks]
    return sum(means) / len(means)


def canonical_ce(rows: ClassRows, distance: str = "total_variation") -> Real:
    """Return the mean over level sets of the distance of mean one-hot class and prediction."""
    sums: dict[tuple[Fraction, ...], tuple[Fraction, Vector]] = {}
    for row, residual, w in zip(rows.p, rows.residuals(), rows.weights, strict=True):
        count, so_far = sums.get(tuple(row), (Fraction(0), [Fraction(0)] * len(row)))
        sums[tuple(row)] = (count + w, [a + w * r for a, r in zip(so_far, residual, strict=True)])
    measured = {
        "total_variation": lambda r: sum(map(abs, r)) / 2,
        "l1": lambda r: sum(map(abs, r)),
        "max": lambda r: max(map(abs, r)),
        "squared_euclidean": lambda r: sum(x * x for x in r),
    }[distance]
    return sum(count * measured([x / count for x in r]) for count, r in sums.values()) / sum(rows.weights)
