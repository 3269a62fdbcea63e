"""Errors that are optima: linear programmes by the simplex method in fractions, and searches through all ways."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, product

from exact.rows import Level, Rows, total


def largest(objective: list[Fraction], table: list[list[Fraction]], bound: list[Fraction]) -> Fraction:
    """Return the maximum of c x over x >= 0 with A x <= b, where b >= 0: the simplex method with Bland's rule."""
    size = len(objective)
    lines = [
        [*line, *(Fraction(i == j) for j in range(len(table))), end]
        for i, (line, end) in enumerate(zip(table, bound, strict=True))
    ]
    cost = [*(-c for c in objective), *[Fraction(0)] * (len(table) + 1)]
    basis = [size + i for i in range(len(table))]
    while True:
        enter = next((j for j, c in enumerate(cost[:-1]) if c < 0), None)
        if enter is None:
            return cost[-1]
        leave = min((line[-1] / line[enter], basis[i], i) for i, line in enumerate(lines) if line[enter] > 0)[2]
        pivot = lines[leave][enter]
        lines[leave] = [x / pivot if x else x for x in lines[leave]]
        for line in (*lines[:leave], *lines[leave + 1 :], cost):
            factor = line[enter]
            if factor:
                line[:] = [x - factor * y if y else x for x, y in zip(line, lines[leave], strict=True)]
        basis[leave] = enter


def smooth_ce(rows: Rows) -> Fraction:
    """Return the largest mean of residuals times a function of the prediction of slope and size at most 1.

    The unknowns are the function plus 1, from 0 to 2, at the distinct predictions.
    """
    found = rows.residuals()
    size = len(found)
    unit = [[Fraction(i == j) for j in range(size)] for i in range(size)]
    steps = [[a - b for a, b in zip(unit[i], unit[i + 1], strict=True)] for i in range(size - 1)]
    widths = [v - u for (u, _), (v, _) in pairwise(found)]
    table = [*unit, *steps, *([-x for x in step] for step in steps)]
    residual = [r for _, r in found]
    return largest(residual, table, [Fraction(2)] * size + widths + widths) - sum(residual)


def lower_distance(rows: Rows, grid: int) -> Fraction:
    """Return the least mean move to multiples of 1 / grid or to other predictions after which these are calibrated.

    Its dual: numbers f of each prediction and outcome and g of each place u, with f + g (y - u) <= |u - v| for all,
    that make the mean of f largest. Both may be negative, so each is a difference of two unknowns.
    """
    mass = [
        (level.value, y, share / rows.n)
        for level in rows.levels()
        for y, share in ((1, level.ones), (0, level.count - level.ones))
        if share
    ]
    places = sorted({Fraction(k, grid) for k in range(grid + 1)} | {v for v, _, _ in mass})
    table, bound = [], []
    for i, (v, y, _) in enumerate(mass):
        for j, u in enumerate(places):
            line = [Fraction(k == i) for k in range(len(mass))] + [(y - u) * (k == j) for k in range(len(places))]
            table.append([*line, *(-x for x in line)])
            bound.append(abs(u - v))
    objective = [*(share for _, _, share in mass), *[Fraction(0)] * len(places)]
    return largest([*objective, *(-x for x in objective)], table, bound)


def partitions(items: list[Level]) -> Iterator[list[list[Level]]]:
    """Yield all ways to put items into cells."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for beside in combinations(range(len(rest)), size):
            others = [rest[i] for i in range(len(rest)) if i not in beside]
            for cells in partitions(others):
                yield [[first, *(rest[i] for i in beside)], *cells]


def upper_distance(rows: Rows) -> Fraction:
    """Return the least mean move of whole level sets that puts them at the mean outcome of all that moves there."""

    def moved(cell: list[Level]) -> Fraction:
        mean = total(cell).ones / total(cell).count
        return sum(level.count * abs(level.value - mean) for level in cell)

    return min(sum(map(moved, cells)) for cells in partitions(rows.levels())) / rows.n


def interval_ce(rows: Rows) -> Fraction:
    """Return the least sum of binned error and mean width of a row's bin, over all ways to cut the predictions.

    A bin may be as narrow as from its smallest to its largest prediction, with empty bins in between.
    """
    levels = rows.levels()
    best: list[Fraction] = [Fraction(0)]
    for j in range(1, len(levels) + 1):
        costs = []
        for i in range(j):
            cell = levels[i:j]
            width = cell[-1].value - cell[0].value
            costs.append(best[i] + abs(sum(x.residual for x in cell)) + width * sum(x.count for x in cell))
        best.append(min(costs))
    return best[-1] / rows.n


def random_interval_ce(rows: Rows, width: float = 0.125) -> Fraction:
    """Return the mean binned error over all shifts of bins of one width: between two steps nothing changes."""
    found, wide = rows.residuals(), Fraction(width)
    steps = sorted({Fraction(0), wide, *(v % wide for v, _ in found)})
    area = Fraction(0)
    for start, end in pairwise(steps):
        middle, sums = (start + end) / 2, {}
        for v, residual in found:
            bin_number = (v - middle) // wide
            sums[bin_number] = sums.get(bin_number, Fraction(0)) + residual
        area += (end - start) * sum(map(abs, sums.values()))
    return area / wide


def surrogate_interval_ce(rows: Rows, precision: float = 0.001) -> Fraction:
    """Return the least sum of a width and the error at that width: 1, 1/2, ..., the first below `precision`, or 0."""
    widths = [Fraction(1)]
    while widths[-1] >= Fraction(precision):
        widths.append(widths[-1] / 2)
    unbinned = sum(abs(residual) for _, residual in rows.residuals())
    return min(unbinned, *(width + random_interval_ce(rows, float(width)) for width in widths))


def isotonic(levels: list[Level]) -> list[Fraction]:
    """Return the nondecreasing function of the predictions that fits the outcomes best: neighbours are pooled."""
    pools: list[list[Level]] = []
    for level in levels:
        pools.append([level])
        while len(pools) > 1 and mean_outcome(pools[-2]) >= mean_outcome(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    return [mean_outcome(pool) for pool in pools for _ in pool]


def mean_outcome(cell: list[Level]) -> Fraction:
    """Return the mean outcome of the rows of some levels."""
    return total(cell).ones / total(cell).count


def squared_loss(levels: list[Level], predicted: list[Fraction]) -> Fraction:
    """Return the mean squared difference of the outcomes and one prediction for each level."""
    loss = sum(x.ones * (1 - q) ** 2 + (x.count - x.ones) * q**2 for x, q in zip(levels, predicted, strict=True))
    return loss / sum(x.count for x in levels)


def mcb(rows: Rows) -> Fraction:
    """Return the gain in the Brier score by the best nondecreasing recalibration."""
    levels = rows.levels()
    return squared_loss(levels, [x.value for x in levels]) - squared_loss(levels, isotonic(levels))


def dsc(rows: Rows) -> Fraction:
    """Return the gain in the Brier score of the best nondecreasing recalibration over the mean outcome."""
    levels = rows.levels()
    return squared_loss(levels, [rows.rate] * len(levels)) - squared_loss(levels, isotonic(levels))


def post_processing_gap(rows: Rows) -> Fraction:
    """Return the gain in the Brier score by the best update of slope at most 1, kept in [0, 1].

    Between neighbours the update rises by the distance, falls by it, or is free. For each of these choices runs that
    are not free move as one, each by the amount that is best within [0, 1]. The best choice that is allowed is the
    optimum.
    """
    levels = rows.levels()
    values = [x.value for x in levels]
    best = squared_loss(levels, values)
    for choice in product((-1, 0, 1), repeat=len(levels) - 1):
        runs, shape = [[0]], [Fraction(0)]
        for j, slope in enumerate(choice, 1):
            shape.append(shape[-1] + slope * (values[j] - values[j - 1]) if slope else Fraction(0))
            runs = [*runs[:-1], [*runs[-1], j]] if slope else [*runs, [j]]
        updated = list(values)
        for run in runs:
            count = sum(levels[j].count for j in run)
            move = sum(levels[j].residual - levels[j].count * shape[j] for j in run) / count
            least = max(-values[j] - shape[j] for j in run)
            most = min(1 - values[j] - shape[j] for j in run)
            if least > most:
                break
            for j in run:
                updated[j] = values[j] + shape[j] + min(max(move, least), most)
        else:
            change = [u - v for u, v in zip(updated, values, strict=True)]
            if all(abs(b - a) <= v - u for (a, b), (u, v) in zip(pairwise(change), pairwise(values), strict=True)):
                best = min(best, squared_loss(levels, updated))
    return squared_loss(levels, values) - best
