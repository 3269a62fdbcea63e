"""Bounds of differences of squared kernel errors of many data sets at once, of clusters of rows, and of classes.

It is the recipe of `calibstat.bounds.square_bound` for units of several rows, written a second time with matrices over
kinds of rows: a sum over pairs of units is a product of matrices of kinds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibstat.bounds.skewness import cancelled, share_skewed_up, unsure
from calibstat.bounds.tail_bound import TailBound
from calibstat.generators.distributions import Random

from .pairs_of_models import HALVINGS, random_pair
from .populations import log_uniform
from .squares_of_kinds import PairOfKinds, kernel, unseen

MOST_KINDS = 6
CHUNK = 2.0e7  # numbers in an array


@dataclass(frozen=True, eq=False)
class ModelsOnClusters:
    """Two models on clusters whose rows are of m kinds, with K classes, of which `events` are looked at.

    Attributes
    ----------
    probability, chance : ndarray, shapes (m,) and (m, K)
        Probabilities of kinds, and of classes given the kind.
    models : ndarray, shape (2, m, K)
        Predictions.
    events : tuple of int
        One class, or all of which squares are averaged.
    size : ndarray, shape (G,)
        Rows of clusters.
    whole, alike : float
        The shares of clusters all of whose rows are of one kind, and whose outcomes one uniform number decides.
    weight : ndarray, shape (m,)
        The weights of rows.
    """

    probability: np.ndarray
    chance: np.ndarray
    models: np.ndarray
    events: tuple[int, ...]
    bandwidth: float
    size: np.ndarray
    whole: float = 0.0
    alike: float = 0.0
    weight: np.ndarray | None = None

    @classmethod
    def of_event(cls, pair: PairOfKinds, size: np.ndarray, whole: float = 0.0, alike: float = 0.0) -> ModelsOnClusters:
        """Return two models of one event."""
        chance, *models = (np.stack((1 - part, part), axis=1) for part in (pair.chance, pair.first, pair.second))
        return cls(pair.probability, chance, np.array(models), (1,), pair.bandwidth, size, whole, alike)

    @cached_property
    def sides(self) -> list[tuple[float, np.ndarray, np.ndarray]]:
        """The sign, the predictions and the residuals of each model and event in the cells of kinds and classes."""
        m, classes = self.chance.shape
        observed = np.tile(np.arange(classes), m)
        found = []
        for sign, model in zip((1.0, -1.0), self.models, strict=True):
            for k in self.events:
                value = np.repeat(model[:, k], classes)
                found.append((sign, value, (observed == k) - value))
        return found

    @cached_property
    def terms(self) -> np.ndarray:
        """What pairs of cells add."""
        each = (sign * np.outer(r, r) * kernel(v, self.bandwidth) for sign, v, r in self.sides)
        return sum(each, np.zeros(2 * (self.chance.size,))) / len(self.events)

    @property
    def difference(self) -> float:
        """The difference of the squared errors in the population, in which rows count by their weights."""
        weight = 1.0 if self.weight is None else self.weight
        share = ((self.probability * weight / (self.probability * weight).sum())[:, None] * self.chance).ravel()
        return float(share @ self.terms @ share)

    def __str__(self) -> str:
        weights = "" if self.weight is None else ", weights"
        return f"{self.whole:g} of one kind, {self.alike:g} alike, bandwidth {self.bandwidth:g}{weights}"

    def draw(self, random: Random, data_sets: int) -> np.ndarray:
        """Return the rows, or their weights, of each cluster in each cell, shape (B, G, m K)."""
        unit = np.repeat(np.arange(self.size.size), self.size)
        rows, groups, cells = unit.size, self.size.size, self.chance.size

        def shared(part: np.ndarray, share: float) -> np.ndarray:
            """Give the rows of a share of clusters the number of the first row of the cluster."""
            first = np.concatenate(([0], np.cumsum(self.size)[:-1]))
            taken = random.random((data_sets, groups)) < share
            return np.where(taken[:, unit], part[:, first][:, unit], part)

        kinds = shared(random.choice(self.probability.size, (data_sets, rows), p=self.probability), self.whole)
        u = shared(random.random((data_sets, rows)), self.alike)
        outcome = (u[:, :, None] > self.chance.cumsum(axis=1)[kinds][:, :, :-1]).sum(axis=2)
        place = (np.arange(data_sets)[:, None] * groups + unit) * cells + kinds * self.chance.shape[1] + outcome
        weights = None if self.weight is None else self.weight[kinds].ravel()
        count = np.bincount(place.ravel(), weights, data_sets * groups * cells)
        return count.reshape(data_sets, groups, cells).astype(np.float64)

    def ends(self, count: np.ndarray, tail: float, *, rows_hide: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return the low and the high ends of data sets, whose cells have been drawn in clusters."""
        weight = np.ones(self.chance.size) if self.weight is None else np.repeat(self.weight, self.chance.shape[1])
        size, cell = count.sum(axis=2), count.sum(axis=1)
        n, units = size.sum(axis=1), size.shape[1]
        pairs = n**2 - (size**2).sum(axis=1)
        near = count @ self.terms
        same = (near * count).sum(axis=2)
        added = (near @ cell[:, :, None])[:, :, 0] - same
        estimate = added.sum(axis=1) / pairs
        c = (n / pairs)[:, None] * (added - estimate[:, None] * size * (n[:, None] - size))
        linear, third = 4 * (c**2).sum(axis=1), 8 * (c**3).sum(axis=1)
        along = (count * c[:, :, None]).sum(axis=1)
        bend = 4 * ((along @ self.terms) * along).sum(axis=1)
        curvature = np.where(linear > 1e-20, bend / (n * np.maximum(linear, 1e-300)), 0.0)
        products = np.swapaxes(count, 1, 2) @ near  # of cells: the trace of its square is the sum over pairs of units
        squares = (products * np.swapaxes(products, 1, 2)).sum(axis=(1, 2)) - (same**2).sum(axis=1)
        quadratic = 2 * (n / pairs) ** 2 * (1 - 1 / units) * np.maximum(squares, 0)
        most, least = self._unseen(cell)
        alone = min(len(self.events), 2) / len(self.events)
        scores = [_score(each, rows, tail, rows_hide=rows_hide) for each, rows in self._sizes(size, cell, weight)]
        z, largest, cap = (
            np.array([getattr(tail_bound, name) for tail_bound in scores]) for name in ("z", "largest", "cap")
        )
        k = (2 * z**2 + 4) / 3
        variance = linear + (1 + np.maximum(z / 1.96, 1) ** 3) * quadratic
        spreads = [
            [tail_bound.spreads(*each) for tail_bound, each in zip(scores, self._plain(count, r, v), strict=True)]
            for _, v, r in self.sides
        ]
        hidden = self._cancelled(count, c)
        skewed, steepest = np.max(spreads, axis=0) ** 2 - z**2, np.sqrt(quadratic / 2)
        found = []
        for sign, part in ((-1.0, least), (1.0, most)):
            one = 2 * part / n + np.maximum(4, np.log(tail) ** 2 / k) * largest * alone / n
            seen = _rate(linear, np.maximum(sign * third, 0) + hidden, largest * one, cap * one)
            seen = seen - _rate(linear, 0, largest * one, cap * one)
            rate = np.minimum(_rate(variance, 0, largest * one, cap * one) + seen, cap * one)
            reach = rate * k / 2 + np.sqrt(z**2 * variance + rate**2 * k**2 / 4)
            own = np.maximum(sign * curvature, 0)
            limits = zip(np.maximum(own, steepest), own, np.sqrt(linear), 4 * steepest**2, z, strict=True)
            unknown = np.array([float(unsure(*each)) for each in limits])
            found.append(estimate + sign * (reach + z**2 * own + skewed * unknown) / n)
        return found[0].clip(-1, 1), found[1].clip(-1, 1)

    def _cancelled(self, count: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return what the third moments of clusters that are skewed in opposite directions take from each other."""
        cell = count.sum(axis=1)
        skew, noise = np.zeros((2, *c.shape))
        for sign, value, residual in self.sides:
            smoothed = (cell * residual) @ kernel(value, self.bandwidth)
            along = sign * count * (smoothed * np.maximum(value * (1 - value), np.finfo(float).tiny))[:, None]
            skew, noise = skew + along @ (1 - 2 * value), noise + np.abs(along).sum(axis=2)
        up = share_skewed_up(np.divide(skew, noise, out=np.zeros_like(skew), where=noise > 0))
        return np.asarray(cancelled((8 * up * c**3).sum(axis=1), (8 * (1 - up) * c**3).sum(axis=1)))

    def _plain(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> list[tuple[float, float]]:
        """Return the variance of the sum of the residuals of clusters, and its third moment whatever its sign."""
        total, up = count @ residual, share_skewed_up((count @ (1 - 2 * value)) / count.sum(axis=2))
        rare, frequent = (up * total**3).sum(axis=1), ((1 - up) * total**3).sum(axis=1)
        third = np.abs(rare + frequent) + cancelled(rare, frequent)
        return list(zip((total**2).sum(axis=1).tolist(), third.tolist(), strict=True))

    def _unseen(self, cell: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the most that a row adds and takes, times n / 2."""
        parts = np.zeros((2, len(cell)))
        for sign in (1.0, -1.0):
            sums, high, low = np.zeros((2, len(cell))), np.zeros(len(cell)), np.zeros(len(cell))
            for _, value, residual in (side for side in self.sides if side[0] == sign):
                smoothed = (cell * residual) @ kernel(value, self.bandwidth)
                seen = cell > 0
                sums += unseen(value, smoothed, seen)
                high = np.maximum(high, np.where(seen, smoothed, 0).max(axis=1))
                low = np.minimum(low, np.where(seen, smoothed, 0).min(axis=1))
            parts += (sums if len(self.events) == 1 else np.minimum(sums, high - low))[:: int(sign)]
        return parts[0] / len(self.events), parts[1] / len(self.events)

    @staticmethod
    def _sizes(size: np.ndarray, cell: np.ndarray, weight: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the sizes of clusters and of rows of each data set."""
        rows = (cell / weight).round().astype(int)
        return [(each, np.repeat(weight, of)) for each, of in zip(size, rows, strict=True)]


def _score(size: np.ndarray, rows: np.ndarray, tail: float, *, rows_hide: bool) -> TailBound:
    return TailBound.of_units(size, tail, rows if rows_hide else None)


def misses(
    random: Random, models: ModelsOnClusters, tail: float, data_sets: int, *, rows_hide: bool = False
) -> tuple[int, int]:
    """Return in how many data sets the interval lies above the difference of squares, and below it."""
    above = below = 0
    most = max(int(CHUNK / (models.size.sum() * models.chance.shape[1] + models.size.size * models.chance.size)), 1)
    true = models.difference
    for begin in range(0, data_sets, most):
        low, high = models.ends(models.draw(random, min(most, data_sets - begin)), tail, rows_hide=rows_hide)
        above, below = above + int((low > true + 1e-12).sum()), below + int((high < true - 1e-12).sum())
    return above, below


SIZES = {
    "60 x 10": np.full(60, 10),
    "200 x 5": np.full(200, 5),
    "300 x 4": np.full(300, 4),
    "one giant": np.append(np.full(60, 8), 120),
    "log-normal": np.maximum(np.exp(0.8 * np.linspace(-2.3, 2.3, 150)) * 4, 1).astype(int),
}
SIZES_OF_CLASSES = {
    **{f"{n} x 1": np.ones(n, np.int64) for n in (100, 500, 1000)},
    "300 x 4": SIZES["300 x 4"],
}
ALTERNATIVES = "temperature 1.5", "shift 0.3"


def alternative(kind: str, size: np.ndarray, alike: float) -> ModelsOnClusters:
    """Return a calibrated model with 25 equally likely predictions beside one that is off."""
    from scipy.special import expit, logit

    value = (np.arange(25) + 0.5) / 25
    wrong = expit(1.5 * logit(value) if kind == ALTERNATIVES[0] else logit(value) + 0.3)
    pair = PairOfKinds(np.full(25, 1 / 25), value, value, wrong)
    return ModelsOnClusters.of_event(pair, size, alike=alike)


def random_models(random: Random, size: np.ndarray, *, classes: bool, weights: bool) -> ModelsOnClusters:
    """Draw two models on clusters of these sizes: of one event, or of three or four classes."""
    whole, alike = (float(random.choice([0, 0.5, 1])) for _ in range(2))
    if classes:
        found = _random_classes(random, size, whole, alike)
    else:
        pair = random_pair(random, size.size if whole == 1 else int(size.sum()))
        found = ModelsOnClusters.of_event(pair, size, whole=whole, alike=alike)
    return replace(found, weight=random.choice([1.0, 2.0, 4.0], found.probability.size)) if weights else found


def _random_classes(random: Random, size: np.ndarray, whole: float, alike: float) -> ModelsOnClusters:
    m, k = int(random.integers(1, MOST_KINDS + 1)), int(random.integers(3, 5))
    probability = random.dirichlet(np.full(m, log_uniform(random, 0.2, 5)))
    chance = random.dirichlet(np.full(k, log_uniform(random, 0.1, 5)), m)
    chance[random.random(m) < random.choice([0, 0.4])] = np.eye(k)[random.integers(k)]

    def predicted() -> np.ndarray:
        other = random.dirichlet(np.ones(k), m)
        by = random.choice([0, float(log_uniform(random, 0.01, 1))], (m, 1))
        value = (1 - by) * chance + by * other
        return np.tile(value.mean(axis=0), (m, 1)) if random.random() < 0.15 else value

    first, second = predicted(), predicted()
    second = np.where(random.random((m, 1)) < random.choice([0, 0.4]), first, second)
    bandwidth = float(random.choice([0.05, 0.2, 1.0]))
    return ModelsOnClusters(
        probability, chance, np.array([first, second]), tuple(range(k)), bandwidth, size, whole, alike
    )


def made_equal(models: ModelsOnClusters) -> ModelsOnClusters | None:
    """Move the predictions of the model with the larger error towards the chances until both errors are equal."""
    right = models.chance
    alone = [abs(replace(models, models=np.array([model, right])).difference) for model in models.models]
    if min(alone) <= 1e-15 or np.array_equal(*models.models):
        return None
    first, second = models.models if alone[0] >= alone[1] else models.models[::-1]

    def moved(share: float) -> ModelsOnClusters:
        return replace(models, models=np.array([right + share * (first - right), second]))

    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        share = (low + high) / 2
        low, high = (low, share) if moved(share).difference > 0 else (share, high)
    return moved((low + high) / 2)


def _rate(variance: np.ndarray, third: np.ndarray | float, largest: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Return third moment over variance, with two unseen events of the largest size, at most so much."""
    return np.asarray(np.minimum((third + 2 * largest**3) / (variance + 2 * largest**2), most))
