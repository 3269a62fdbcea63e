"""The rows of a case as fractions, their level sets, and their bins."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Cells = list[list["Level"]]


@dataclass(frozen=True)
class Level:
    """A distinct prediction with its rows, or total weight, and how many of them have outcome 1."""

    value: Fraction
    count: Fraction
    ones: Fraction

    @property
    def residual(self) -> Fraction:
        """The sum of outcome less prediction."""
        return self.ones - self.count * self.value

    @property
    def square(self) -> Fraction:
        """The sum of the squares of outcome less prediction."""
        return self.ones * (1 - self.value) ** 2 + (self.count - self.ones) * self.value**2


@dataclass(frozen=True)
class Rows:
    """Outcomes, predictions and weights of a case; without weights each row weighs 1."""

    y: list[int]
    p: list[Fraction]
    weights: list[Fraction]

    @classmethod
    def of(cls, y: list[int], p: list[float], weights: list[float] | None = None) -> Rows:
        """Take the doubles of a case as the fractions that they are."""
        return cls(y, [Fraction(v) for v in p], [Fraction(w) for w in weights or [1] * len(y)])

    @property
    def n(self) -> Fraction:
        """The number of rows, or total weight."""
        return sum(self.weights, Fraction(0))

    @property
    def rate(self) -> Fraction:
        """The mean outcome."""
        return self.mean([Fraction(y) for y in self.y])

    def mean(self, numbers: list[Fraction]) -> Fraction:
        """Return the weighted mean of one number for each row."""
        return sum((w * x for w, x in zip(self.weights, numbers, strict=True)), Fraction(0)) / self.n

    def levels(self) -> list[Level]:
        """Return the distinct predictions, ascending."""
        found = []
        for value in sorted(set(self.p)):
            here = [(w, y) for w, y, p in zip(self.weights, self.y, self.p, strict=True) if p == value]
            found.append(Level(value, sum(w for w, _ in here), sum(w * y for w, y in here)))
        return found

    def residuals(self) -> list[tuple[Fraction, Fraction]]:
        """Return each distinct prediction with its sum of residuals over n."""
        return [(level.value, level.residual / self.n) for level in self.levels()]


def number_of_bins(n_bins: int | str, n: Fraction) -> int:
    """Return the number of bins; "cube_root" is the smallest B with B**3 >= n."""
    return next(b for b in range(1, 10**6) if b**3 >= n) if n_bins == "cube_root" else int(n_bins)


def cells_of(
    levels: list[Level], n_bins: int | str | None = 15, strategy: str | list[float] = "uniform"
) -> list[list[Level]]:
    """Return the levels in each bin that holds any.

    Bin b of B is ((b - 1)/B, b/B], the first closed at 0, with edges rounded to doubles; no number of bins means a bin
    for each level. Cuts belong to the bin below. Quantile bins end after the level whose cumulative number of rows is
    nearest to b n / B, of two the smaller.
    """
    if isinstance(strategy, list):
        return grouped(levels, [sum(level.value > Fraction(cut) for cut in strategy) for level in levels])
    if n_bins is None:
        return [[level] for level in levels]
    bins = number_of_bins(n_bins, sum(level.count for level in levels))
    if strategy == "uniform":
        edges = [Fraction(b / bins) for b in range(1, bins)]
        return grouped(levels, [sum(level.value > edge for edge in edges) for level in levels])
    running = [Fraction(0)]
    for level in levels:
        running.append(running[-1] + level.count)
    targets = [Fraction(b, bins) * running[-1] for b in range(1, bins)]
    ends = {min(range(len(running)), key=lambda j: (abs(running[j] - target), j)) for target in targets}
    return grouped(levels, [sum(end <= j for end in ends) for j in range(len(levels))])


def grouped(levels: list[Level], keys: list[int]) -> list[list[Level]]:
    """Return levels with the same key together, in the order of the keys."""
    return [[level for level, k in zip(levels, keys, strict=True) if k == key] for key in sorted(set(keys))]


def total(cell: list[Level]) -> Level:
    """Return a cell as one level: its mean prediction, its rows, and those with outcome 1."""
    count = sum(level.count for level in cell)
    value = sum(level.count * level.value for level in cell) / count
    return Level(value, count, sum(level.ones for level in cell))
