"""How often means over clusters are missed: `calibstat.bounds.observed_clusters` written a second time, for many sets.

Of a data set ten sums are kept, from which a value is judged without another look at its clusters. Beside the rule are
Student's t and CR2, the correction of Bell and McCaffrey. `absent` allows for clusters or rows of any kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from calibstat.bounds.observed_clusters import FARTHEST
from calibstat.bounds.tail_bound import MANY_SHOW_IT, TailBound
from calibstat.compiled import jit
from calibstat.generators.distributions import Random

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
FULL_GAP = 30.0
METHODS = ("observed", "t", "CR2")
STEPS = 120  # of a bisection, at most
CHUNK = 2_000_000  # numbers in an array
(N, MEAN, XX, XM, MM, XXX, XXM, XMM, MMM, SKEW, UP, DOWN, CR2, MOST, SUMS) = range(15)


@jit
def most_hidden(rows: np.ndarray, k: float) -> float:
    """Return the most rows of clusters that show no event with probability exp(-k)."""
    ordered = -np.sort(-rows)
    logs, taking_part, below = 0.0, 0, 0.0
    for j in range(ordered.size):
        logs += np.log(ordered[j])
        common = np.exp((logs - k) / (j + 1))
        if ordered[j] > common:
            taking_part, below = j + 1, common
    return (ordered[:taking_part] - below).sum()


@jit
def sums_of(total: np.ndarray, size: np.ndarray, rows: np.ndarray, gap: float, found: np.ndarray) -> None:
    """Fill in the sums of a data set; `gap` is the part of the gap between the two most extreme clusters."""
    groups = total.size
    n = size.sum()
    mean = total.sum() / n
    up = next_up = down = next_down = -np.inf
    xx = xm = mm = xxx = xxm = xmm = mmm = fourths = cr2 = most = 0.0
    for c in range(groups):
        x, m = total[c] - size[c] * mean, size[c] - n / groups
        x2, m2 = x * x, m * m
        xx += x2
        xm += x * m
        mm += m2
        xxx += x2 * x
        xxm += x2 * m
        xmm += x * m2
        mmm += m2 * m
        fourths += x2 * x2
        others = 1 - size[c] / n
        cr2 += x2 / others if others > 0 else 0.0
        moved = x / others if others > 0 else 0.0
        if moved > next_up:
            up, next_up = max(moved, up), min(moved, up)
        if -moved > next_down:
            down, next_down = max(-moved, down), min(-moved, down)
        most = max(most, rows[c])
    largest = max(up, down)
    found[N], found[MEAN], found[MOST], found[CR2] = n, mean, most, cr2
    found[XX], found[XM], found[MM] = xx, xm, mm
    found[XXX], found[XXM], found[XMM], found[MMM] = xxx, xxm, xmm, mmm
    found[SKEW] = max(fourths - 3 * xx * xx / groups, 0.0) / np.sqrt(xx * groups / (groups - 1)) if xx > 0 else 0.0
    found[UP] = max(largest, up + gap * (up - next_up))
    found[DOWN] = max(largest, down + gap * (down - next_down))


@jit
def is_kept(found: np.ndarray, groups: int, value: float, z: float, whole: float, hidden: float, room: float) -> bool:
    """Return whether the rule keeps a value; `whole` is a part of a cluster, and `room` the most that a row adds."""
    k = (2 * z * z + 4) / 3
    d = found[MEAN] - value
    sign = 1.0 if d < 0 else -1.0
    unbiased = groups / (groups - 1)
    largest = found[UP] if d < 0 else found[DOWN]
    cap = largest
    if whole > 0:
        cap = max(largest, whole * room * found[MOST])
        largest = max(largest, whole * room * hidden / k)
    variance = unbiased * (found[XX] + d * (2 * found[XM] + d * found[MM]))
    third = sign * (found[XXX] + d * (3 * found[XXM] + d * (3 * found[XMM] + d * found[MMM])))
    squares = variance + largest * largest
    rate = 0.0
    if squares > 0:
        rate = min((max(third + z * found[SKEW], 0.0) + largest * largest * largest) / squares, cap)
    added = rate * k / 2
    reach = added + np.sqrt(z * z * max(variance, 0.0) + added * added)
    return found[N] * abs(d) <= max(reach, z * np.sqrt(unbiased * found[XX]))


@jit
def end_of(found: np.ndarray, groups: int, far: float, z: float, whole: float, hidden: float, room: float) -> float:
    """Return the last value that is kept on the way to `far`, which is asked first."""
    if is_kept(found, groups, far, z, whole, hidden, room):
        return far
    inside, outside = found[MEAN], far
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        if is_kept(found, groups, middle, z, whole, hidden, room):
            inside = middle
        else:
            outside = middle
    return inside


@jit
def answers(
    total: np.ndarray,
    size: np.ndarray,
    rows: np.ndarray,
    showing: np.ndarray,
    rooms: np.ndarray,
    far: np.ndarray,
    asked: np.ndarray,
    z: float,
    z_of_cr2: float,
    gap: float,
    sides: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Fill in on which side of the interval each asked value lies, by method, and the ends of the rule.

    `total` has the shape (B, G), `size` and `rows` too or (1, G), `rooms` and `far` (B, 2) or (1, 2): downwards and
    upwards. `sides` has the shape (B, values, 3), and `ends` (B, 2), or (0, 2) if they are not wanted.
    """
    groups = total.shape[1]
    found = np.empty(SUMS)
    hidden, known = 0.0, False
    for b in range(total.shape[0]):
        own, own_rows = size[b % size.shape[0]], rows[b % rows.shape[0]]
        room, away = rooms[b % rooms.shape[0]], far[b % far.shape[0]]
        sums_of(total[b], own, own_rows, gap, found)
        g = showing[b % showing.size]
        whole = max(0.0, 1 - g / MANY_SHOW_IT) * (1 - g / groups)
        if whole > 0 and (rows.shape[0] > 1 or not known):
            hidden, known = most_hidden(own_rows, (2 * z * z + 4) / 3), True
        plain = z * np.sqrt(groups / (groups - 1) * found[XX])
        for j in range(asked.size):
            d = found[MEAN] - asked[j]
            side, upwards = (1 if d < 0 else -1), 1 if d < 0 else 0
            out = not is_kept(found, groups, asked[j], z, whole, hidden, room[upwards])
            if out:
                out = not is_kept(found, groups, away[upwards], z, whole, hidden, room[upwards])
            sides[b, j, 0] = side if out else 0
            sides[b, j, 1] = side if found[N] * abs(d) > plain else 0
            sides[b, j, 2] = side if found[N] * abs(d) > z_of_cr2 * np.sqrt(found[CR2]) else 0
        if ends.shape[0] > 0:
            for upwards in (0, 1):
                ends[b, upwards] = end_of(found, groups, away[upwards], z, whole, hidden, room[upwards])


@dataclass(frozen=True)
class Asked:
    """Where values lie in data sets: below an interval (-1), above (1) or inside, shape (B, values, methods)."""

    sides: np.ndarray
    ends: np.ndarray

    def counts(self, value: int, method: int) -> tuple[int, int]:
        """Return in how many data sets a value lies below the interval of a method, and above it."""
        side = self.sides[:, value, method]
        return int((side < 0).sum()), int((side > 0).sum())


def quantile(groups: int) -> float:
    """Return Student's quantile of clusters."""
    return float(stdtrit(groups - 1, 1 - TAIL))


def quantile_of_cr2(size: np.ndarray) -> float:
    """Return Student's quantile with the degrees of freedom of Bell and McCaffrey, of a mean in clusters."""
    n = size.sum()
    part = size**2 / (n - size)
    off = part.sum() ** 2 - (part**2).sum()
    return float(stdtrit(n**2 / ((size**2).sum() + off), 1 - TAIL))


def ask(
    total: np.ndarray,
    size: np.ndarray,
    asked: tuple[float, ...] = (0.0,),
    *,
    rows: np.ndarray | None = None,
    showing: np.ndarray | None = None,
    rooms: np.ndarray | None = None,
    far: np.ndarray | None = None,
    with_ends: bool = False,
    gap: float | None = None,
) -> Asked:
    """Ask of data sets (B, G) whether values are kept; without `showing` no whole cluster is allowed for."""
    sets, groups = total.shape
    size = np.atleast_2d(size).astype(np.float64)
    rows = size if rows is None else np.atleast_2d(rows).astype(np.float64)
    showing = np.full(1, float(groups)) if showing is None else showing.astype(np.float64)
    rooms = np.zeros((1, 2)) if rooms is None else rooms
    far = np.array([[-FARTHEST, FARTHEST]]) if far is None else far
    gap = min(1.0, groups / FULL_GAP) if gap is None else gap
    sides = np.zeros((sets, len(asked), len(METHODS)), np.int8)
    ends = np.empty((sets if with_ends else 0, 2))
    z = quantile(groups)
    z_of_cr2 = quantile_of_cr2(size[0]) if size.shape[0] == 1 else np.nan
    given = np.ascontiguousarray(total, np.float64), size, rows, showing, rooms, far, np.array(asked, np.float64)
    answers(*given, z, z_of_cr2, gap, sides, ends)
    return Asked(sides, ends)


def width_of_t(total: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the widths of Student's intervals of data sets (B, G)."""
    n, groups = size.sum(), size.size
    part = total - size * (total.sum(axis=1) / n)[:, None]
    return np.asarray(2 * quantile(groups) * np.sqrt(groups / (groups - 1) * (part**2).sum(axis=1)) / n)


def absent(
    total: np.ndarray, size: np.ndarray, bounds: tuple[float, float], hides: np.ndarray | None = None
) -> np.ndarray:
    """Return the ends of means of bounded losses, shape (B, 2), if clusters of any kind, or rows `hides`, are absent.

    Clusters have the same sizes in all data sets.
    """
    n, groups = size.sum(), size.size
    mean = total.sum(axis=1) / n
    part = total - size * mean[:, None]
    variance, third = groups / (groups - 1) * (part**2).sum(axis=1), (part**3).sum(axis=1)
    bound = TailBound.of_units(size.astype(np.float64), TAIL, hides)
    found = []
    for sign, room in ((-1.0, mean - bounds[0]), (1.0, bounds[1] - mean)):
        largest, cap = bound.largest * room, bound.cap * room
        squares = variance + 2 * largest**2
        rate = np.minimum((np.maximum(sign * third, 0) + 2 * largest**3) / np.maximum(squares, 1e-300), cap)
        found.append(mean + sign * bound.widen(bound.z * np.sqrt(variance), rate) / n)
    return np.stack(found, axis=1)


@jit
def draw_kinds(
    uniform: np.ndarray, keep: np.ndarray, other: np.ndarray, effect: np.ndarray, weight: np.ndarray,
    total: np.ndarray, size: np.ndarray,
) -> None:  # fmt: skip
    """Fill in what clusters add and their sizes, of kinds drawn by Walker's aliases."""
    kinds = keep.size
    for b in range(uniform.shape[0]):
        for c in range(uniform.shape[1]):
            u = uniform[b, c] * kinds
            i = min(int(u), kinds - 1)
            if u - i >= keep[i]:
                i = other[i]
            total[b, c] = effect[i]
            size[b, c] = weight[i]


def aliases(chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return with which probability each kind is kept, and what is drawn in its place otherwise (Walker 1977)."""
    keep, other = chance * chance.size, np.arange(chance.size)
    small, large = np.flatnonzero(keep < 1).tolist(), np.flatnonzero(keep >= 1).tolist()
    while small and large:
        s, most = small.pop(), large[-1]
        other[s] = most
        keep[most] -= 1 - keep[s]
        if keep[most] < 1:
            small.append(large.pop())
    keep[small + large] = 1.0
    return keep, other


@dataclass(frozen=True, eq=False)
class Kinds:
    """A population of kinds of clusters: the chance of each, its size, and what it adds beyond the true mean of 0."""

    chance: np.ndarray
    size: np.ndarray
    effect: np.ndarray

    def draw(self, random: Random, sets: int, groups: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what clusters add, and their sizes, shapes (B, G)."""
        total, size = np.empty((2, sets, groups))
        draw_kinds(random.random((sets, groups)), *aliases(self.chance), self.effect, self.size, total, size)
        return total, size

    def misses(self, random: Random, sets: int, groups: int) -> np.ndarray:
        """Return in how many data sets the mean lies below and above, of the rule and of Student's t, shape (2, 2)."""
        counts = np.zeros((2, 2), np.int64)
        each = max(CHUNK // groups, 1)
        for begin in range(0, sets, each):
            found = ask(*self.draw(random, min(each, sets - begin), groups))
            counts += [found.counts(0, method) for method in (0, 1)]
        return counts

    def expected(self, groups: int) -> float:
        """Return how often the kind that adds most, up or down, is expected: the class asks for 3.7 times."""
        value, place = np.unique(np.round(self.effect, 9), return_inverse=True)
        often = np.bincount(place, self.chance) * groups
        largest = np.abs(value).max()
        return float(often[np.abs(value) > largest * (1 - 1e-6)].max())

    def __str__(self) -> str:
        value, place = np.unique(np.round(self.effect / np.abs(self.effect).max(), 3), return_inverse=True)
        share = np.bincount(place, self.chance)
        told = [f"{share[i]:.3g} add {value[i]:g}" for i in np.argsort(-np.abs(value), kind="stable")[:5]]
        told += ["and others"] * (value.size > 5)
        told += [f"sizes {self.size.min():.2g} to {self.size.max():.2g}"] * bool(np.ptp(self.size))
        return ", ".join(told)
