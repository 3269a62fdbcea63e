"""Populations of kinds of clusters in which no kind adds more than kinds do that are expected a least number of times.

Two ways to make one from numbers between 0 and 1: a law on each side of the true mean, cut off at an expected number,
with noise between them; and few kinds with expected numbers of their own. A search changes the numbers of the worst.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaincinv, ndtri

from calibstat.generators.distributions import Random

from .kept_means import Kinds

POINTS = 150  # of a law
LEAST = 3.7  # times that the most extreme kind is expected at 95 %: -log(.025)
NOISE, SPREAD = 40, 9
KEPT = 40  # of the worst, which are changed
Make = Callable[[np.ndarray, int, float], Kinds | None]


def quantiles(points: int) -> np.ndarray:
    """Return numbers in the middle of equal parts between 0 and 1."""
    return (np.arange(points) + 0.5) / points


def law(which: float, shape: float) -> np.ndarray:
    """Return points of a positive law: one value, log-normal, Pareto, gamma, a power, two values, or half-normal."""
    u = quantiles(POINTS)
    laws: list[tuple[float, Callable[[], np.ndarray]]] = [
        (0.22, lambda: np.ones(1)),
        (0.36, lambda: np.exp((0.1 + 2 * shape) * ndtri(u))),
        (0.50, lambda: (1 - u) ** (-1 / (1.2 + 4 * shape))),
        (0.62, lambda: gammaincinv(0.05 + 3 * shape, u) + 1e-9),
        (0.74, lambda: u ** (0.3 + 3 * shape) + 1e-3),
        (0.87, lambda: np.array([1.0, 0.1 + 0.89 * shape])),
        (1.01, lambda: np.abs(ndtri((1 + u) / 2)) + 1e-3),
    ]
    return next(make for end, make in laws if which < end)()


def cut_off(value: np.ndarray, often: np.ndarray, least: float) -> np.ndarray:
    """Return values of which none is larger than those that are expected at least so many times."""
    order = np.argsort(-value)
    place = int(np.searchsorted(np.cumsum(often[order]), least * (1 - 1e-9)))
    return np.minimum(value, value[order[min(place, value.size - 1)]])


def of_laws(numbers: np.ndarray, groups: int, least: float) -> Kinds:
    """Return clusters with a law on each side of the true mean, and noise; sizes go with what clusters add, or not."""
    wanted = least * (15 / least) ** numbers[[7, 8]]
    most = groups * 0.95
    times = np.where(wanted < most, wanted * (most / wanted) ** numbers[[4, 5]], most)
    if times.sum() > groups:
        room = groups - wanted.sum()
        if room < 0:
            wanted = times = np.full(2, min(least, groups / 2))
        else:
            times = wanted + (times - wanted) * room / (times - wanted).sum()
    sides, often = [], []
    for i in (0, 1):
        value = law(*numbers[[2 * i, 2 * i + 1]])
        first = 0.05 + 0.9 * numbers[9]
        share = np.array([first, 1 - first]) if value.size == 2 else np.full(value.size, 1 / value.size)
        sides.append(cut_off(value, share * times[i], wanted[i]))
        often.append(share * times[i])
    sides[1] = sides[1] * (often[0] @ sides[0]) / (often[1] @ sides[1])
    top = max(sides[0].max(), sides[1].max())
    noise = 0.5 * numbers[6] ** 3
    middle = np.clip(noise * ndtri(quantiles(NOISE)), -0.999, 0.999) if noise > 0.003 else np.zeros(1)
    effect = np.concatenate([sides[0] / top, -sides[1] / top, middle])
    rest = np.full(middle.size, max(groups - times.sum(), 0.0) / middle.size)
    chance = np.concatenate([*often, rest])
    effect, chance = effect[chance > 0], chance[chance > 0]
    return with_sizes(Kinds(chance / chance.sum(), np.ones(chance.size), effect), numbers[10:14])


def with_sizes(kinds: Kinds, numbers: np.ndarray) -> Kinds:
    """Return clusters of seven sizes for each kind, which go with what it adds, or with how much, or with neither."""
    spread = 2.5 * numbers[0] ** 1.5
    if spread <= 0.02:
        return kinds
    along = spread * (1.5 * (2 * numbers[1] - 1) * (np.abs(kinds.effect) - 0.5))
    along = along + spread * 0.8 * (2 * numbers[2] - 1) * np.sign(kinds.effect)
    own = spread * (0.05 + numbers[3]) * ndtri(quantiles(7))
    size = np.exp((along[:, None] + own).ravel())
    return Kinds(np.repeat(kinds.chance / 7, 7), size, np.repeat(kinds.effect, 7))


def of_few(numbers: np.ndarray, groups: int, least: float) -> Kinds | None:
    """Return two to five kinds with expected numbers and sizes of their own, and noise; None if they do not balance."""
    number = 2 + int(3.99 * numbers[0])
    often, effect = np.empty(number), np.empty(number)
    often[0] = least * (min(30, groups * 0.8) / least) ** numbers[1]
    effect[0] = 1.0 if numbers[2] < 0.5 else -1.0
    of_kind = numbers[3:15].reshape(4, 3)[: number - 1]
    often[1:] = 0.3 * (groups / 0.3) ** of_kind[:, 0]
    place = of_kind[:, 1]
    effect[1:] = effect[0] * np.where(place < 0.65, -place / 0.65, (place - 0.65) / 0.35)
    if not (effect * effect[0] < 0).any():
        effect[1] = -effect[0] * max(abs(effect[1]), 0.01)
    if often.sum() > groups:
        often[1:] *= max(groups - often[0], 1e-3) / often[1:].sum()
    other = effect * effect[0] < 0
    if (often * np.abs(effect))[other].sum() <= 0:
        effect[other] = -effect[0] / 2
    _balance(often, effect, other, groups)
    size = np.exp(3 * numbers[15] ** 2 * (2 * numbers[16:21][:number] - 1))
    spread = 0.6 * numbers[22] ** 2
    chance = often / groups
    if spread > 0.01:
        chance, size, effect = _spread_out(chance, size, effect, spread)
    noise = 0.4 * numbers[21] ** 3
    middle = np.clip(noise * ndtri(quantiles(30)), -0.999, 0.999) if noise > 0.002 else np.zeros(1)
    rest = np.full(middle.size, max(1 - chance.sum(), 0.0) / middle.size)
    sizes = np.append(size, np.full(middle.size, np.exp(3 * numbers[15] ** 2 * (2 * numbers[23] - 1))))
    chance, effect = np.append(chance, rest), np.append(effect, middle)
    there = chance > 0
    chance, sizes, effect = chance[there] / chance.sum(), sizes[there], effect[there]
    off = float(chance @ effect)
    return Kinds(chance, sizes, effect - off) if abs(off) < 0.02 else None


def _balance(often: np.ndarray, effect: np.ndarray, other: np.ndarray, groups: int) -> None:
    """Change what the other side adds so that the mean is 0, or how often, where it would add too much."""
    one, two = ((often * np.abs(effect))[side].sum() for side in (~other, other))
    largest = np.abs(effect[other]).max()
    if one / two * largest <= 1:
        effect[other] *= one / two
        return
    effect[other] /= largest
    often[other] *= one / two * largest
    often /= max(often.sum() / (groups * 0.9999), 1.0)


def _spread_out(
    chance: np.ndarray, size: np.ndarray, effect: np.ndarray, spread: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return nine kinds for each kind but the first, whose logarithms differ; none adds more than the first."""
    wide = np.repeat(effect, SPREAD) * np.exp(spread * np.tile(ndtri(quantiles(SPREAD)), effect.size))
    wide = np.sign(wide) * np.minimum(np.abs(wide), 1)
    wide[:SPREAD] = effect[0]
    chance, size = np.repeat(chance / SPREAD, SPREAD), np.repeat(size, SPREAD)
    along = wide * effect[0] > 0
    one, two = ((chance * np.abs(wide))[side].sum() for side in (along, ~along))
    if one < two:
        wide[~along] *= one / two
    else:
        chance[~along] *= one / two
        chance /= max(chance.sum(), 1.0)
    return chance, size, wide


MAKERS: dict[str, tuple[Make, int]] = {"laws": (of_laws, 14), "few kinds": (of_few, 24)}


def worst(
    random: Random, way: str, groups: int, least: float, populations: int, sets: int, keep: int
) -> tuple[list[Kinds], int]:
    """Search populations in which the rule misses most on a side, and return the worst, and how many were tried.

    Four in ten are drawn at random, the others are changes of the worst. Promising ones are asked again with four times
    as many data sets. Those that are not in the class are not counted.
    """
    make, dimensions = MAKERS[way]
    pool: list[tuple[float, np.ndarray, Kinds]] = []
    tried = drawn = 0
    while tried < populations and drawn < 4 * populations:
        drawn += 1
        if tried < 0.4 * populations or len(pool) < KEPT:
            numbers = random.random(dimensions)
        else:
            numbers = _changed(random, [each[1] for each in pool])
        kinds = make(numbers, groups, least)
        if kinds is None or kinds.expected(groups) < least * 0.999:
            continue
        tried += 1
        rate = kinds.misses(random, sets, groups)[0].max() / sets
        if len(pool) < KEPT or rate > pool[-1][0]:
            again = kinds.misses(random, 4 * sets, groups)[0].max() / (4 * sets)
            pool.append(((rate + 4 * again) / 5, numbers, kinds))
            pool.sort(key=lambda each: -each[0])
            del pool[KEPT:]
    return [each[2] for each in pool[:keep]], tried


def _changed(random: Random, parents: list[np.ndarray]) -> np.ndarray:
    """Return a change of one of the worst, more often of the very worst, sometimes crossed with another one."""
    numbers = parents[int(len(parents) * random.random() ** 2)].copy()
    if random.random() < 0.3:
        taken = random.random(numbers.size) < 0.5
        numbers[taken] = parents[int(len(parents) * random.random())][taken]
    moved = random.random(numbers.size) < 0.35
    numbers[moved] += random.normal(0, 0.12, int(moved.sum()))
    return np.clip(numbers, 0, 1 - 1e-9)
