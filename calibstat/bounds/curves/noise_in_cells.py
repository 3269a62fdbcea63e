"""The noise of one cell and the errors that it hides: bounds of log E exp(-theta * distance).

The distance of a cell is |S|, or S**2 / n, with S its sum of residuals. For a cell of n rows with mean prediction p and
outcome probabilities c_i of mean m and Q = sum (c_i - m)**2

    log E exp(-theta * distance) <= f(m) + kappa * Q.

f is known at nodes m_j, with a bound of how much its slope falls between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat.compiled import jit

LARGEST_POINT = 0.4689  # above sup sqrt(x) exp(-x) I_0(x) = .46882: a sum of sd s has no point above this / s
TANGENT = 0.04  # of log (E + K Q): taken where E is larger by this factor, as a logarithm
SPAN = 20.0  # standard errors
WIDEST = 0.85 ** np.arange(24)
LOWEST_LOG = -500.0  # logarithm of an expectation below which its bound by Jensen's inequality is as good
CLOSE = 1e-9  # to that bound: it is as good from here outwards


@dataclass(frozen=True, eq=False)
class Grid:
    """Levels of a curve, even on the scale of the arc sine, and finer nodes for means.

    Attributes
    ----------
    steps : int
        The number of intervals between levels.
    finer : int
        The number of intervals between nodes in each of them.
    block : int
        The number of levels that are taken together where a curve jumps far.
    """

    steps: int
    finer: int = 4
    block: int = 1

    @classmethod
    def of(cls, rows: float, levels: float, fewest: int, most: int) -> Grid:
        """Return so many levels per standard error of a rate from so many rows, within limits of their number."""
        per_error = math.pi * math.sqrt(rows)
        steps = int(min(max(levels * per_error, fewest), most))
        return cls(steps, block=max(1, int(steps / per_error / 2)))

    @cached_property
    def level(self) -> np.ndarray:
        """The levels, from 0 to 1."""
        return np.sin(np.arange(self.steps + 1) * (math.pi / 2 / self.steps)) ** 2

    @cached_property
    def node(self) -> np.ndarray:
        """The nodes, from 0 to 1; every level is one."""
        return np.sin(np.arange(self.steps * self.finer + 1) * (math.pi / 2 / self.steps / self.finer)) ** 2

    @cached_property
    def share(self) -> np.ndarray:
        """The distance of each node from the level at or below it as a share of the step, shape (steps, finer)."""
        node, level = self.node[:-1].reshape(-1, self.finer), self.level[:, None]
        return (node - level[:-1]) / (level[1:] - level[:-1])

    def reach(self, mean: np.ndarray) -> np.ndarray:
        """Return by how much a mean of numbers near this one moves at most, if each is rounded to a level beside it."""
        step = math.pi / 2 / self.steps
        return 2 * step * np.sqrt(mean * (1 - mean)) + 6 * step**2

    @cached_property
    def moved(self) -> np.ndarray:
        """The same for each interval of nodes."""
        reach = self.reach(self.node)
        return 1.001 * np.maximum(reach[1:], reach[:-1])

    @cached_property
    def least_moved(self) -> np.ndarray:
        """The least reach within the reach of each interval of nodes."""
        return np.minimum(self.reach(self.node[self.below]), self.reach(self.node[self.above]))

    @cached_property
    def below(self) -> np.ndarray:
        """The node at or below the start of each interval less the reach there."""
        return np.maximum(np.searchsorted(self.node, self.node[:-1] - self.moved, side="right") - 1, 0)

    @cached_property
    def above(self) -> np.ndarray:
        """The node at or above the end of each interval plus the reach there."""
        return np.minimum(np.searchsorted(self.node, self.node[1:] + self.moved), self.node.size - 1)


@dataclass(frozen=True, eq=False)
class Majorant:
    """A function that is linear between nodes, above a concave one.

    Attributes
    ----------
    bound : ndarray, shape (nodes,)
        The function at the nodes.
    fall : ndarray, shape (nodes,)
        By how much its slope falls from 0 up to each node, there included.
    bend : float
        The most that its slope falls at a node, per unit of the mean, times the square of what rounding may move there.
    """

    bound: np.ndarray
    fall: np.ndarray
    bend: float

    @classmethod
    def of(cls, bound: np.ndarray, slope: np.ndarray, grid: Grid) -> Majorant:
        """Return it for a concave function with these values and slopes at the nodes."""
        width = np.diff(grid.node)
        between = width * np.maximum(-np.diff(slope), 0.0) / 4
        bound = bound + np.maximum(np.append(between, 0.0), np.append(0.0, between))
        falls = np.maximum(-np.diff(np.diff(bound) / width), 0.0)
        bend = 2 * falls / (width[1:] + width[:-1]) * np.maximum(grid.moved[1:], grid.moved[:-1]) ** 2
        return cls(bound, np.concatenate(([0.0], falls.cumsum(), [falls.sum()])), float(bend.max(initial=0.0)))


@dataclass(frozen=True, eq=False)
class HiddenNoise:
    """f and kappa of one cell.

    Attributes
    ----------
    even : Majorant
        f, where the probabilities of the cell differ by at most `widest`.
    kappa : ndarray, shape (nodes,)
        What a unit of Q adds to it: the further from p the more.
    widest : float
        The largest difference of two probabilities for which this holds.
    any : Majorant
        A bound for any probabilities of this mean, by Jensen's inequality.
    """

    even: Majorant
    kappa: np.ndarray
    widest: float
    any: Majorant


def hidden_noise(n: float, p: float, theta: float, power: int, grid: Grid) -> HiddenNoise:
    """Return f and kappa of a cell of n rows with mean prediction p.

    Statement and argument: docs/evidence/proofs/curve-cells.md.
    """
    node = grid.node
    at = min(int(np.searchsorted(node, p)), node.size - 1)
    log, slope, cap, cap_slope = _expectations(int(n), p, theta, power, node, at)
    raised = log + TANGENT - 1 + math.exp(-TANGENT)  # of the tangent of the logarithm at exp(TANGENT) times E
    by_log = cap > raised
    most = max(-float(log[at]), 0.0)
    span = SPAN * math.sqrt(max(p * (1 - p), 1 / n) / n)
    for widest in WIDEST[span >= WIDEST] if span > WIDEST[-1] else WIDEST[-1:]:
        kappa = np.zeros(node.size)
        np.divide(_unequal(n, node, theta, power, widest), np.exp(log + TANGENT), out=kappa, where=by_log)
        if kappa[at] * n * widest**2 / 4 <= most:
            break
    kappa[at:] = np.maximum.accumulate(kappa[at:])
    kappa[: at + 1] = np.maximum.accumulate(kappa[at::-1])[::-1]
    bound, active = np.minimum(cap, raised), np.where(by_log, slope, cap_slope)
    even = Majorant.of(bound, active, grid)
    return HiddenNoise(even, kappa, widest, Majorant.of(cap, cap_slope, grid))


def _unequal(n: float, mean: np.ndarray, theta: float, power: int, widest: float) -> np.ndarray:
    """Return what a unit of Q adds to E exp(-theta * distance), where probabilities differ by at most `widest`."""
    kink = 1 - math.exp(-theta) if power == 1 else math.sqrt(2 * theta / (math.e * n))
    least = np.minimum(mean, 1 - mean)
    largest = n * np.minimum(widest**2 / 4, least * widest)
    free = np.maximum(n * mean * (1 - mean) - largest - 0.5, LARGEST_POINT**2)
    rate = kink * LARGEST_POINT / np.sqrt(free)
    return rate if power == 1 else np.minimum(rate, theta / n)


@jit
def _expectations(
    n: int, p: float, theta: float, power: int, node: np.ndarray, middle: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return log E exp(-theta * distance) of Binomial(n, m) at each node m, Jensen's bound, and the slopes of both.

    `middle` is the place of a node near p.
    """
    g = np.empty(n + 1)
    for y in range(n + 1):
        s = abs(y - n * p)
        g[y] = math.exp(-min(theta * s if power == 1 else theta * s * s / n, 600.0))
    size = node.size
    log, slope, cap, cap_slope = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for upwards in (True, False):
        known = True
        for j in range(middle, size) if upwards else range(middle - 1, -1, -1):
            cap[j], cap_slope[j] = _by_jensen(n, p, theta, power, node[j])
            log[j], slope[j] = cap[j], cap_slope[j]
            if known:
                log[j], slope[j] = _log_expectation(n, p, g, node[j])
                if log[j] < LOWEST_LOG or (power == 1 and cap[j] - log[j] < CLOSE):  # from here on both are as close
                    known = False
                    log[j], slope[j] = cap[j], cap_slope[j]
    return log, slope, cap, cap_slope


@jit
def _log_expectation(n: int, p: float, g: np.ndarray, m: float) -> tuple[float, float]:
    """Return log E g(Y) for Y of Binomial(n, m), and its slope."""
    if m <= 0.0:
        return math.log(g[0]), n * (g[1] / g[0] - 1.0)
    if m >= 1.0:
        return math.log(g[n]), n * (1.0 - g[n - 1] / g[n])
    spread = 9.0 * math.sqrt(n * m * (1.0 - m)) + 12.0
    least = max(int(n * min(m, p) - spread), 0)
    most = min(int(n * max(m, p) + spread) + 1, n)
    mode = min(int((n + 1) * m), n)
    chance = math.exp(
        math.lgamma(n + 1.0)
        - math.lgamma(mode + 1.0)
        - math.lgamma(n - mode + 1.0)
        + mode * math.log(m)
        + (n - mode) * math.log1p(-m)
    )
    odds = m / (1.0 - m)
    total, first, at_y = 0.0, 0.0, chance
    for y in range(mode, most + 1):
        total += at_y * g[y]
        first += at_y * g[y] * y
        at_y *= odds * (n - y) / (y + 1.0)
    at_y = chance
    for y in range(mode, least, -1):
        at_y *= y / (odds * (n - y + 1.0))
        total += at_y * g[y - 1]
        first += at_y * g[y - 1] * (y - 1.0)
    if total < 1e-250:
        return -np.inf, 0.0
    return math.log(total), (first / total - n * m) / (m * (1.0 - m))


@jit
def _by_jensen(n: int, p: float, theta: float, power: int, m: float) -> tuple[float, float]:
    """Return a concave bound of log E exp(-theta * distance) for any probabilities of mean m, and its slope."""
    if m == p:
        return 0.0, 0.0
    if power == 1:
        tilt = theta if m > p else -theta
        off = 0.0
    else:  # distance >= 2 a S - a**2 n for every a: the best a is the tilted mean less p
        low, high = (0.0, m - p) if m > p else (m - p, 0.0)
        for _ in range(60):
            a = 0.5 * (low + high)
            shrunk = math.exp(-2.0 * theta * a)
            if m * shrunk / (1.0 - m + m * shrunk) - p > a:
                low = a
            else:
                high = a
        a = 0.5 * (low + high)
        tilt = 2.0 * theta * a
        off = theta * a * a * n
    less = math.expm1(-tilt)
    value = n * math.log1p(m * less) + tilt * n * p + off
    if value >= 0.0:
        return 0.0, 0.0
    return value, n * less / (1.0 + m * less)
