"""Groups against the other rows at the same predictions: what they show beyond all rows.

The log-odds of a row are those that are predicted, plus an amount that neighbouring predictions share, whatever it is,
plus theta if the row is in the group. Given how many rows of each stratum of neighbouring predictions have outcome 1,
the shared amounts drop out: how many of these are in the group has a distribution that depends on theta alone, known
exactly (conditional logistic regression). The strata are independent, and their sum is the number in the group.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from calibstat.compiled import first_calls, jit
from calibstat.inference.auditing.beyond_results import GROUPS_NULL, Beyond
from calibstat.inference.p_values import holm
from calibstat.measures.components.smooth_components import LOGIT
from calibstat.resampling.poisson_binomial import NO_MASS, convolve
from calibstat.resampling.threads import announced_pieces, chunks
from calibstat.result import read_only

ROWS_OF_AN_AMOUNT = 32  # neighbouring rows that share an amount; of few rows about as many as there are strata
ALIKE = 0.05  # log-odds, up to which rows of a stratum that differ in them have equal ones
WIDE = 64  # numbers of rows, up to which neighbouring strata are joined: a few sums are quicker than many
LEAST_TOLD = 1e-20  # the smallest p-value that is told from smaller ones
STEPS, SETTLED = 12, 1e-9  # of Newton's method, whose error after a step is about the square of the step
SMALL_P = 1e-3  # p-values down to it lie within four standard deviations, so far from the ends that are cut off
GROUPS_AT_ONCE = 16  # after which it is known how long all take
SURE_LOGIT = 60.0  # log-odds; further out a frequency is 0 or 1 to the last bit

Tails: TypeAlias = Callable[[float], tuple[float, float]]  # of theta: chances of at least, and of at most, so many rows


class Against(NamedTuple):
    """A group against the other rows.

    Attributes
    ----------
    expected : float
        The rows of the group with outcome 1 that are expected if it deviates as the other rows do.
    log_odds, low, high : float
        Theta as it is most likely given the strata, and its limits; infinite where there is none.
    pvalue : float
        Two-sided, for theta = 0.
    """

    expected: float
    log_odds: float
    low: float
    high: float
    pvalue: float


@dataclass(frozen=True)
class Neighbours:
    """Distinct predictions in strata of neighbours, and the outcomes of all rows.

    Attributes
    ----------
    count, positives : ndarray, shape (m,)
        Rows with each prediction, ascending, and those with outcome 1.
    start : ndarray, shape (S + 1,)
        The first prediction of each stratum, and m.
    chance : ndarray, shape (m,)
        Probabilities whose log-odds differ from the predicted ones by an amount for each stratum, about as many
        as were observed. The amount is arbitrary: it keeps the numbers in the range of float64.
    """

    count: np.ndarray
    positives: np.ndarray
    start: np.ndarray
    chance: np.ndarray

    @classmethod
    def of(cls, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> Neighbours:
        """Return strata of distinct predictions, ascending.

        A prediction with many rows is a stratum, and so are 0 and 1, which have no log-odds to share.
        """
        start = _starts(value, count, min(math.ceil(math.sqrt(count.sum())), ROWS_OF_AN_AMOUNT))
        logit = np.clip(value, LOGIT, 1 - LOGIT)
        logit = np.log(logit) - np.log1p(-logit)
        size = np.diff(start)
        rows, ones = (np.add.reduceat(each, start[:-1]) for each in (count, positives))
        middle = np.clip(ones, 0.25, rows - 0.25) / rows
        shift = np.log(middle / (1 - middle)) - np.add.reduceat(count * logit, start[:-1]) / rows
        for _ in range(8):
            chance = 1 / (1 + np.exp(-logit - np.repeat(shift, size)))
            expected, spread = (np.add.reduceat(count * x, start[:-1]) for x in (chance, chance * (1 - chance)))
            shift = shift + np.clip((middle * rows - expected) / np.maximum(spread, 1e-300), -2, 2)
        return cls(count, positives, start, 1 / (1 + np.exp(-logit - np.repeat(shift, size))))

    def compare(self, count: np.ndarray, ones: float, level: float) -> Against:
        """Compare a group by its rows with each prediction, and those with outcome 1; each limit fails at `level`."""
        parts = _Parts(*_of_strata(self.chance, count, self.count - count, self.start, self.positives))
        return parts.compare(ones, level)


@first_calls(1e-6)
@jit
def _starts(value: np.ndarray, count: np.ndarray, neighbours: int) -> np.ndarray:
    """Return the first prediction of each stratum of about so many neighbours, and the number of predictions."""
    start = np.empty(value.size + 1, np.int64)
    strata = 0
    held = 0.0
    alone = True
    for j in range(value.size):
        large = count[j] >= neighbours or value[j] == 0.0 or value[j] == 1.0
        if alone or large or held >= neighbours:
            start[strata] = j
            strata += 1
            held = 0.0
        held += count[j]
        alone = large
    start[strata] = value.size
    return start[: strata + 1].copy()


@dataclass(frozen=True)
class _Parts:
    """Distributions of the rows of a group with outcome 1, given the rows of each stratum with it, by a few strata.

    Attributes
    ----------
    fixed : float
        The rows with outcome 1 in strata that leave no choice, which are not in the others.
    lowest : ndarray, shape (S,)
        The smallest number in each part.
    edge : ndarray, shape (S + 1,)
        Where in `pmf` the probabilities of the numbers from there on begin, and where the last ones end.
    pmf : ndarray
        These probabilities, for theta = 0.
    large : ndarray, shape (L, 3)
        The rows of the group, the others and those with outcome 1 in strata of a single prediction with many rows.
    """

    fixed: float
    lowest: np.ndarray
    edge: np.ndarray
    pmf: np.ndarray
    large: np.ndarray

    def compare(self, seen: float, level: float) -> Against:
        """Compare with the number of rows that was seen."""
        rows, rest, ones = self.large.T
        least = self.lowest.sum() + np.maximum(0, ones - rest).sum()
        most = self.lowest.sum() + (np.diff(self.edge) - 1).sum() + np.minimum(rows, ones).sum()
        if least == most:
            return Against(self.fixed + least, 0.0, -math.inf, math.inf, 1.0)
        k = seen - self.fixed
        mean = self._moments(0.0)[0]
        best = self._with_mean(min(max(k, least + 0.5), most - 0.5))
        near = self._tails(k, best)
        pvalue = 2 * min(near(0.0))
        if pvalue < SMALL_P:
            pvalue = 2 * min(self._tails(k, 0.0)(0.0))
        pvalue = max(min(1.0, pvalue), LEAST_TOLD)
        low = -math.inf if k == least else _root(lambda theta: near(theta)[0] - level, best, -1)
        high = math.inf if k == most else _root(lambda theta: level - near(theta)[1], best, 1)
        log_odds = -math.inf if k == least else math.inf if k == most else best
        return Against(self.fixed + mean, log_odds, low, high, pvalue)

    def _moments(self, theta: float) -> tuple[float, float]:
        """Return the mean and the variance of the sum at theta."""
        return _moments(self.edge, self.pmf, self.lowest, self.large, theta)

    def _with_mean(self, wanted: float) -> float:
        """Return the theta at which the sum has that mean by Newton's steps, or by halving where they do not settle."""
        theta = 0.0
        for _ in range(STEPS):
            mean, variance = self._moments(theta)
            step = (wanted - mean) / max(variance, math.ulp(1.0))
            theta += min(max(step, -1.0), 1.0)
            if abs(step) < SETTLED:
                return theta
        return _root(lambda theta: self._moments(theta)[0] - wanted, 0.0, 0)

    def _tails(self, k: float, centre: float) -> Tails:
        """Return the chances of at least, and of at most, k rows, by their distribution at a theta near the wanted."""
        low, pmf = _sum(self.edge, self.pmf, self.lowest, self.large, centre)
        return lambda theta: _tails(pmf, low - k, theta - centre)


def against_other_rows(
    value: np.ndarray,
    positives: np.ndarray,
    of_groups: Callable[[int], tuple[np.ndarray, float]],
    names: tuple[str, ...],
    confidence_level: float,
    n_jobs: int,
) -> Beyond:
    """Compare every group with the other rows.

    `value` are the distinct predictions, ascending, with `positives` rows of outcome 1 at each. `of_groups` returns the
    rows of a group at each, and how many of its rows have outcome 1; the first group is all rows.
    """
    count, _ = of_groups(0)
    neighbours = Neighbours.of(value, count, positives)
    tail = (1 - confidence_level) / (2 * max(len(names) - 1, 1))

    def compared(first: int, last: int) -> list[tuple[float, ...]]:
        found: list[tuple[float, ...]] = []
        for g in range(first + 1, last + 1):
            rows, ones = of_groups(g)
            found.append((rows.sum(), ones, *neighbours.compare(rows, ones, tail)))
        return found

    what = f"the comparison of {len(names) - 1:,} groups with the other rows; fewer groups or n_jobs=-1 take less"
    pieces = chunks(len(names) - 1, n_jobs, GROUPS_AT_ONCE) if len(names) > 1 else []
    parts = announced_pieces(compared, pieces, n_jobs, what)
    of_all = (count.sum(), positives.sum(), *[math.nan] * 5)
    rows, ones, expected, log_odds, low, high, pvalue = np.array([of_all, *(each for part in parts for each in part)]).T
    return Beyond(
        names=names,
        rows=read_only(rows.astype(np.int64)),
        observed=read_only(ones / rows),
        expected=read_only(expected / rows),
        odds_ratio=read_only(np.exp(log_odds)),
        low=read_only(np.exp(low)),
        high=read_only(np.exp(high)),
        pvalue=read_only(pvalue),
        pvalue_adjusted=read_only(np.append(math.nan, holm(pvalue[1:]))),
        null_hypothesis=GROUPS_NULL,
        confidence_level=float(confidence_level),
    )


def _root(rising: Callable[[float], float], start: float, way: int) -> float:
    """Return where a rising function is 0: below the start (-1), above (1), or on either side of it (0).

    What lies below or above and is not found before SURE_LOGIT is infinite.
    """
    from scipy.optimize import brentq

    step = 0.25
    low = start - step * (way <= 0)
    high = start + step * (way >= 0)
    while way <= 0 and low > -SURE_LOGIT and rising(low) > 0:
        low, step = low - step, 2 * step
    while way >= 0 and high < SURE_LOGIT and rising(high) < 0:
        high, step = high + step, 2 * step
    if rising(low) >= 0:
        return -math.inf if way < 0 else low
    if rising(high) <= 0:
        return math.inf if way > 0 else high
    return float(brentq(rising, low, high, xtol=1e-10))


@first_calls(1e-6)
@jit
def _of_strata(
    chance: np.ndarray, group: np.ndarray, others: np.ndarray, start: np.ndarray, positives: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the fields of `_Parts`."""
    fixed = 0.0
    lowest = np.empty(start.size - 1)
    edge = np.zeros(start.size, np.int64)
    pmf = np.empty(1024)
    large = np.empty((start.size - 1, 3))
    parts = 0
    many = 0
    for s in range(start.size - 1):
        first, last = start[s], start[s + 1]
        rows = rest = ones = mine = theirs = 0.0
        for j in range(first, last):
            rows += group[j]
            rest += others[j]
            ones += positives[j]
            mine += chance[j] * group[j]
            theirs += chance[j] * others[j]
        if rows == 0.0 or rest == 0.0 or ones == 0.0 or ones == rows + rest:
            fixed += min(rows, ones)
            continue
        if rows + rest >= 2 * ROWS_OF_AN_AMOUNT:  # strata of several predictions have fewer rows
            large[many, 0], large[many, 1], large[many, 2] = rows, rest, ones  # a tuple takes a second to compile
            many += 1
            continue
        least, most = chance[first], chance[last - 1]
        if most - least <= ALIKE * least * (1 - most):
            begin, stratum = _alike(mine / rows, theirs / rest, rows, rest, ones)
        else:
            here = _positives(chance[first:last], group[first:last])
            there = _positives(chance[first:last], others[first:last])
            begin = max(0, int(ones) - there.size + 1)
            stratum = np.empty(min(here.size - 1, int(ones)) - begin + 1)
            for i in range(stratum.size):
                stratum[i] = here[begin + i] * there[int(ones) - begin - i]
        if parts and edge[parts] - edge[parts - 1] < WIDE:
            parts -= 1
            stratum = convolve(pmf[edge[parts] : edge[parts + 1]], stratum)
            begin += lowest[parts]
        lowest[parts] = begin
        total = 0.0
        for i in range(stratum.size):
            total += stratum[i]
        pmf, edge[parts + 1] = _appended(pmf, edge[parts], stratum / total)
        parts += 1
    return fixed, lowest[:parts].copy(), edge[: parts + 1].copy(), pmf[: edge[parts]].copy(), large[:many].copy()


@first_calls(lambda mine, theirs, rows, rest, ones: 2e-6 * min(rows, ones))
@jit
def _alike(mine: float, theirs: float, rows: float, rest: float, ones: float) -> tuple[int, np.ndarray]:
    """Return the smallest number of the group's rows with outcome 1, and weights of it and the next ones.

    The chances of all rows are nearly the same: rows of the group count as of one chance, `mine`, and the others too.
    """
    odds = mine * (1 - theirs) / (theirs * (1 - mine))
    begin = int(max(0.0, ones - rest))
    weight = np.ones(int(min(rows, ones)) - begin + 1)
    for i in range(1, weight.size):
        weight[i] = weight[i - 1] * odds * _step(rows, rest, ones, begin + i)
    return begin, weight


@first_calls()
@jit
def _step(rows: float, rest: float, ones: float, k: float) -> float:
    """Return P(K = k) / P(K = k - 1), with K of the `ones` rows with outcome 1 among `rows`: hypergeometric."""
    return (rows - k + 1) * (ones - k + 1) / (k * (rest - ones + k))


@first_calls(lambda chance, count: 4e-7 * count.sum() * count.sum())
@jit
def _positives(chance: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return the probability of each number of positives of a few rows."""
    pmf = np.zeros(int(count.sum()) + 1)
    pmf[0] = 1.0
    size = 0
    for j in range(chance.size):
        for _ in range(int(count[j])):
            size += 1
            for k in range(size, 0, -1):
                pmf[k] += (pmf[k - 1] - pmf[k]) * chance[j]
            pmf[0] -= pmf[0] * chance[j]
    return pmf


@first_calls(lambda rows, rest, ones, theta: 2e-5 * (10.0 + math.sqrt(min(rows, ones))))
@jit
def _of_many(rows: float, rest: float, ones: float, theta: float) -> tuple[float, np.ndarray]:
    """Return the lowest number and the probabilities at theta in a stratum of many rows, those that matter.

    That is Fisher's noncentral hypergeometric law, outwards from its mode (Liao, Rosen 2001).
    """
    least, most = max(0.0, ones - rest), min(rows, ones)
    odds = math.exp(theta)
    low, high = least, most  # the last number that is more likely than the one before it
    while low < high:
        k = math.floor((low + high + 1) / 2)
        if odds * _step(rows, rest, ones, k) >= 1:
            low = k
        else:
            high = k - 1
    mode = low
    weight, last = 1.0, mode
    while last < most and weight > NO_MASS:
        last += 1
        weight *= odds * _step(rows, rest, ones, last)
    weight, first = 1.0, mode
    while first > least and weight > NO_MASS:
        weight /= odds * _step(rows, rest, ones, first)
        first -= 1
    pmf = np.ones(int(last - first) + 1)
    for i in range(int(mode - first) + 1, pmf.size):
        pmf[i] = pmf[i - 1] * odds * _step(rows, rest, ones, first + i)
    for i in range(int(mode - first) - 1, -1, -1):
        pmf[i] = pmf[i + 1] / (odds * _step(rows, rest, ones, first + i + 1))
    total = 0.0
    for i in range(pmf.size):
        total += pmf[i]
    return first, pmf / total


@first_calls(1e-6)
@jit
def _leaning(pmf: np.ndarray, theta: float) -> np.ndarray:
    """Return probabilities of ascending whole numbers as they are at theta."""
    out = np.empty(pmf.size)
    total, weight, falling = 0.0, 1.0, math.exp(-abs(theta))  # from the end to which theta leans
    for i in range(pmf.size):
        at = pmf.size - 1 - i if theta > 0 else i
        out[at] = pmf[at] * weight
        total += out[at]
        weight *= falling
    for i in range(pmf.size):
        out[i] /= total
    return out


@first_calls(1e-7)
@jit
def _part(
    s: int, edge: np.ndarray, pmf: np.ndarray, lowest: np.ndarray, large: np.ndarray, theta: float
) -> tuple[float, np.ndarray]:
    """Return the lowest number and the probabilities of one part at theta, the large strata last."""
    if s < lowest.size:
        return lowest[s], _leaning(pmf[edge[s] : edge[s + 1]], theta)
    many = large[s - lowest.size]
    return _of_many(many[0], many[1], many[2], theta)


@first_calls(1e-6)
@jit
def _moments(
    edge: np.ndarray, pmf: np.ndarray, lowest: np.ndarray, large: np.ndarray, theta: float
) -> tuple[float, float]:
    """Return the mean and the variance of the sum at theta."""
    mean = variance = 0.0
    for s in range(lowest.size + len(large)):
        low, here = _part(s, edge, pmf, lowest, large, theta)
        first = second = 0.0
        for i in range(here.size):
            first += here[i] * i
        for i in range(here.size):
            second += here[i] * ((i - first) * (i - first))
        mean += low + first
        variance += second
    return mean, variance


@first_calls(2e-6)
@jit
def _tails(pmf: np.ndarray, low: float, lean: float) -> tuple[float, float]:
    """Return the chances of at least, and of at most, 0 of whole numbers from `low` on, multiplied by exp(lean k)."""
    top = max(lean * low, lean * (low + pmf.size - 1))
    least = most = total = 0.0
    for i in range(pmf.size):
        k = low + i
        weight = pmf[i] * math.exp(lean * k - top)
        total += weight
        least += weight if k >= 0 else 0.0
        most += weight if k <= 0 else 0.0
    return least / total, most / total


@first_calls()
@jit
def _sum(
    edge: np.ndarray, pmf: np.ndarray, lowest: np.ndarray, large: np.ndarray, theta: float
) -> tuple[float, np.ndarray]:
    """Return the lowest value of the sum at theta, and the probabilities from there on; negligible ends are cut off.

    Neighbouring parts are added in pairs, then the pairs, and so on: cutting the ends off keeps all of them short.
    """
    low = 0.0
    size = lowest.size + len(large)
    here = np.empty(pmf.size + 1024)
    begin = np.zeros(size + 1, np.int64)
    for s in range(size):
        least, one = _part(s, edge, pmf, lowest, large, theta)
        low += least
        here, begin[s + 1] = _appended(here, begin[s], one)
    while size > 1:
        there = np.empty(here.size)
        pairs = (size + 1) // 2
        for s in range(pairs):
            one = here[begin[2 * s] : begin[2 * s + 1]]
            first, last = 0, one.size
            if 2 * s + 1 < size:
                one = convolve(one, here[begin[2 * s + 1] : begin[2 * s + 2]])
                last = one.size
                while one[first] < NO_MASS:
                    first += 1
                while one[last - 1] < NO_MASS:
                    last -= 1
                low += first
            there, begin[s + 1] = _appended(there, begin[s], one[first:last])
        here, size = there, pairs
    return low, here[: begin[1]].copy()


@first_calls()
@jit
def _appended(held: np.ndarray, end: int, more: np.ndarray) -> tuple[np.ndarray, int]:
    """Return an array of which `more` follows the first `end` numbers, and where it ends; it grows if need be."""
    if end + more.size > held.size:
        larger = np.zeros(2 * (end + more.size))
        for i in range(end):
            larger[i] = held[i]
        held = larger
    for i in range(more.size):
        held[end + i] = more[i]
    return held, end + more.size
