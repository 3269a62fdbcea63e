"""Data sets of clusters in named cells: sizes, outcomes, pools of clusters, differences of Brier scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammaincinv, ndtri

from calibstat.compiled import jit
from calibstat.generators.distributions import Random

from .kept_means import CHUNK
from .kinds_of_clusters import quantiles

POOL = 4000  # clusters of a pool
SPREAD_OF_PREDICTORS = 0.9


def equal(groups: int) -> np.ndarray:
    """Return sizes that are all 1."""
    return np.ones(groups)


def log_normal(spread: float, groups: int) -> np.ndarray:
    """Return the quantiles of a log-normal law, with mean 1."""
    size = np.exp(spread * ndtri(quantiles(groups)))
    return size / size.mean()


def geometric(groups: int) -> np.ndarray:
    """Return sizes that fall by a factor of exp(3) in all, in equal steps, with mean 1."""
    size = np.exp(-3 * np.arange(groups) / (groups - 1))
    return size / size.mean()


def one_giant(groups: int) -> np.ndarray:
    """Return a size of a third of all beside equal ones, with mean 1."""
    size = np.ones(groups)
    size[0] = (groups - 1) / 2
    return size / size.mean()


SIZES: dict[str, Callable[[int], np.ndarray]] = {
    "equal": equal,
    "log-normal .8": lambda groups: log_normal(0.8, groups),
    "geometric": geometric,
    "one giant": one_giant,
}


def whole_rows(size: np.ndarray, mean: float) -> np.ndarray:
    """Return numbers of rows: sizes times a mean, at least one."""
    return np.maximum(1, np.rint(size * mean)).astype(np.int64)


def chunks(sets: int, numbers: float) -> Iterator[int]:
    """Yield how many data sets to draw at once, of so many numbers each."""
    each = max(int(CHUNK / numbers), 1)
    for begin in range(0, sets, each):
        yield min(each, sets - begin)


# --- outcomes ---------------------------------------------------------------------------------------------------------


def risks(random: Random, mean: np.ndarray, correlation: float, shape: tuple[int, int]) -> np.ndarray:
    """Draw a risk for each cluster, so that outcomes of its rows have this correlation: beta, or 0 and 1, or one."""
    if correlation == 0:
        return np.broadcast_to(mean, shape)
    if correlation == 1:
        return (random.random(shape) < mean).astype(np.float64)
    size = 1 / correlation - 1
    return random.beta(size * mean, size * (1 - mean), shape)


def showing(events: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return how many clusters show the outcome that fewer clusters show, of each data set."""
    return np.minimum((events > 0).sum(axis=1), (events < rows).sum(axis=1))


def predicted(prevalence: float, groups: int) -> np.ndarray:
    """Return mean predictions of clusters, log-normal, in an order that does not go with sizes."""
    place = (np.arange(groups) * 0.6180339887 + 0.5) % 1
    return np.minimum(prevalence * np.exp(0.5 * ndtri(place * 0.998 + 0.001) - 0.125), 0.95)


@dataclass(frozen=True)
class Pool:
    """Clusters of which samples are drawn: their rows and risks, and the share in which all rows have one outcome."""

    rows: np.ndarray
    risk: np.ndarray
    alike: float = 0.0

    @property
    def mean(self) -> float:
        """The mean outcome of rows."""
        return float(self.rows @ self.risk / self.rows.sum())

    def draw(self, random: Random, sets: int, groups: int) -> tuple[np.ndarray, np.ndarray]:
        """Return events and rows of clusters, shapes (B, G)."""
        which = random.integers(self.rows.size, size=(sets, groups))
        rows, risk = self.rows[which], self.risk[which]
        events = random.binomial(rows, risk)
        if self.alike:
            together = random.random((sets, groups)) < self.alike
            events = np.where(together, rows * (random.random((sets, groups)) < risk), events)
        return events.astype(np.float64), rows.astype(np.float64)


def _places() -> tuple[np.ndarray, np.ndarray]:
    """Return the places of clusters in the laws of sizes and of risks, which do not go together."""
    return tuple((np.arange(POOL) * step + 0.5) % 1 * 0.998 + 0.001 for step in (0.7548776662, 0.5698402910))  # type: ignore[return-value]


def pool_of(prevalence: float, rows: float, factor: np.ndarray, spread: float = 0.0, alike: float = 0.0) -> Pool:
    """Return clusters of log-normal sizes whose risks are these factors of the prevalence."""
    size = whole_rows(np.exp(spread * ndtri(_places()[0])), rows)
    factor = np.broadcast_to(factor, POOL)
    return Pool(size, np.minimum(prevalence * factor / factor.mean(), 0.98), alike)


def two_risks(share: float, other: float) -> np.ndarray:
    """Return the factor 1, and another one in a share of the clusters."""
    return np.where(_places()[1] < share, other, 1.0)


def outside(groups: int) -> dict[str, Pool]:
    """Return pools of which samples of so many clusters say little of the extreme ones."""
    kinds: dict[int, dict[str, Pool]] = {
        12: {
            "one cluster in 50 at risk .98": pool_of(0.12, 399, two_risks(0.02, 0.98 / 0.1024)),
            "7 % of clusters without events": pool_of(0.40, 399, two_risks(0.07, 0.0)),
            "gamma risks, sd .94 of their mean": pool_of(0.1, 399, gammaincinv(1 / 0.94**2, _places()[1])),
        },
        60: {
            "rows alike in 36 % of clusters": pool_of(0.0088, 399, np.ones(1), alike=0.36),
            "no events in 5 expected, sizes 1.5": pool_of(0.3, 40, two_risks(5 / 60, 0.0), 1.5),
        },
        200: {"rows alike in 37 % of clusters": pool_of(0.002, 399, np.ones(1), alike=0.37)},
    }
    found = kinds.get(groups, {})
    if groups in (30, 60, 200):
        found |= {"outbreaks in 5 expected, sizes 1.5": pool_of(0.1, 40, two_risks(5 / groups, 3.0), 1.5)}
    if groups in (12, 30, 60, 200):
        along = np.exp(1.5 * ndtri(_places()[0]))
        found |= {"sizes go with risk": pool_of(0.02, 40, along, 1.5)}
    return found


LAWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exponential": lambda u: -np.log1p(-u) - 1,
    "gamma .5": lambda u: gammaincinv(0.5, u) - 0.5,
    "log-normal 1": lambda u: np.exp(ndtri(u)) - np.exp(0.5),
    "Pareto 3": lambda u: (1 - u) ** (-1 / 3) - 1.5,
}


# --- differences of Brier scores --------------------------------------------------------------------------------------


@jit
def score_differences(
    start: np.ndarray,
    x: np.ndarray,
    uniform: np.ndarray,
    shift: np.ndarray,
    slope: np.ndarray,
    intercept: float,
    shrunk: float,
    total: np.ndarray,
    showing: np.ndarray,
    ends: np.ndarray,
) -> None:
    """Fill in the sums by cluster of what the score of the shrunk model is above the other one's.

    Beside them are the clusters that show the rarer outcome, and the least and the largest difference that a row may
    have. Rows of cluster c are those from start[c] to start[c + 1].
    """
    groups = start.size - 1
    for b in range(x.shape[0]):
        with_event = without = 0
        least, most = np.inf, -np.inf
        for c in range(groups):
            added, events = 0.0, 0
            for i in range(start[c], start[c + 1]):
                one = 1 / (1 + np.exp(-intercept - x[b, i]))
                two = 1 / (1 + np.exp(-intercept - shrunk * x[b, i]))
                true = 1 / (1 + np.exp(-intercept - x[b, i] - shift[b, c] - slope[b, c] * x[b, i]))
                if_none = two * two - one * one
                if_event = if_none - 2 * (two - one)
                least, most = min(least, if_none, if_event), max(most, if_none, if_event)
                if uniform[b, i] < true:
                    added += if_event
                    events += 1
                else:
                    added += if_none
            total[b, c] = added
            with_event += events > 0
            without += events < start[c + 1] - start[c]
        showing[b] = min(with_event, without)
        ends[b, 0], ends[b, 1] = least, most


@dataclass(frozen=True)
class Brier:
    """Two models in clusters: log-odds of an event are a + x + u + v x, with u and v of the cluster.

    One model says a + x, the other a + s x.
    """

    intercept: float
    sd_of_shift: float
    sd_of_slope: float
    shrunk: float

    def draw(self, random: Random, sets: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return sums of differences by cluster, clusters with the rarer outcome, and the ends of differences."""
        start = np.concatenate([[0], np.cumsum(rows)])
        x = SPREAD_OF_PREDICTORS * random.standard_normal((sets, int(start[-1])))
        shift = self.sd_of_shift * random.standard_normal((sets, rows.size))
        slope = self.sd_of_slope * random.standard_normal((sets, rows.size))
        total, count, ends = np.empty((sets, rows.size)), np.empty(sets), np.empty((sets, 2))
        score_differences(
            start, x, random.random(x.shape), shift, slope, self.intercept, self.shrunk, total, count, ends
        )
        return total, count, ends

    @property
    def truth(self) -> float:
        """The mean difference in the population, by quadrature."""
        node, weight = np.polynomial.hermite_e.hermegauss(81)
        weight = weight / weight.sum()
        x = SPREAD_OF_PREDICTORS * node
        sd = np.sqrt(self.sd_of_shift**2 + (self.sd_of_slope * x) ** 2)
        chance = expit((self.intercept + x)[:, None] + sd[:, None] * node) @ weight
        one, two = expit(self.intercept + x), expit(self.intercept + self.shrunk * x)
        return float(weight @ (two**2 - one**2 - 2 * chance * (two - one)))
