"""Distances from calibration: the least mean move of predictions that makes them calibrated."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.measures.interval_ce import bracket_by_intervals
from calibstat.measures.kinds.binary_kinds import Bracket, Statistic
from calibstat.measures.kinds.registry import measure
from calibstat.measures.smooth_ce import SmoothCE

BLASIOK = "Błasiok, Gopalan, Hu, Nakkiran 2023, A Unifying Theory of Distance from Calibration, arXiv:2211.16886"

LARGEST = 10  # distinct predictions of `upper_distance`: 3**10 / 2 partitions take 10 ms, each more three times that
RUNS = 2000  # the most runs of neighbouring predictions between which `contiguous_merging` cuts
_MERGED_BELOW = 1e-9  # predictions nearer to each other are merged: the solver could not tell them apart
LEFT_OUT = 2e-9  # below it coefficients are left out, on which HiGHS fails: less than the error of any grid
EXACT = 1e-10  # tolerance of HiGHS for every condition, the least that it accepts


def _present(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return predictions that have rows, the shares of the rows at each, and of the rows with outcome 1."""
    full, n = count > 0, count.sum()
    return value[full], count[full] / n, positives[full] / n


def apart(value: np.ndarray, mesh: np.ndarray) -> np.ndarray:
    """Move ascending predictions nearer than `_MERGED_BELOW` to a point of the grid, or to the one before, onto it."""
    grid = mesh.size - 1
    nearest = mesh[np.minimum(np.rint(value * grid).astype(np.int64), grid)]
    place = np.where(np.abs(value - nearest) < _MERGED_BELOW, nearest, value)
    for j in range(1, place.size):
        if place[j] != nearest[j] and place[j] - place[j - 1] < _MERGED_BELOW:
            place[j] = place[j - 1]
    return place


def _on_grid(
    value: np.ndarray, share: np.ndarray, hits: np.ndarray, grid: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
    """Return points, the shares of all rows and of rows with outcome 1 at each, and two bounds on the error.

    The bounds say by how much the value may become too large and too small. If there are few predictions, they are
    added to the grid unchanged, but those too near to others are moved: the error is at most the mean move. Many are
    shared out between their two neighbours on the grid so that means stay. A 1-Lipschitz function differs from its
    linear interpolation between two points at distance d by at most 2 t (d - t) / d, where t is the distance to one of
    them: the error is at most the mean of this.
    """
    mesh = np.arange(grid + 1) / grid
    if value.size <= mesh.size:
        place = apart(value, mesh)
        point, at = np.unique(np.concatenate([mesh, place]), return_inverse=True)
        out = np.array([np.bincount(at[mesh.size :], w, point.size) for w in (share, hits)])
        moved = float(share @ np.abs(place - value))
        return point, *out, moved, moved
    left = np.minimum((value * grid).astype(np.int64), grid - 1)
    t = np.clip(value * grid - left, 0, 1)
    out = np.array(
        [np.bincount(left, (1 - t) * w, grid + 1) + np.bincount(left + 1, t * w, grid + 1) for w in (share, hits)]
    )
    return mesh, *out, 0.0, float(share @ (2 * t * (1 - t))) / grid


def least_move(point: np.ndarray, share: np.ndarray, hits: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Solve the dual linear programme on given points, 0 and 1 among them.

    Return its value, its two functions, and the mass at each point of the calibrated law to which the rows move.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_array, diags_array, hstack, vstack

    size = point.size
    step = diags_array((-np.ones(size - 1), np.ones(size - 1)), offsets=(0, 1), shape=(size - 1, size))
    steps = block_array([[step, None], [None, step]])
    whole = np.where(point < LEFT_OUT, 0.0, np.where(point > 1 - LEFT_OUT, 1.0, point))
    calibrated = hstack([diags_array(1 - whole), diags_array(whole)])
    width = np.tile(np.diff(point), 2)
    solution = linprog(
        -size * np.concatenate([share - hits, hits]),  # of order 1 for any number of points
        A_ub=vstack([steps, -steps, calibrated]).tocsc(),
        b_ub=np.concatenate([width, width, np.zeros(size)]),
        bounds=(-2, 2),  # from -1 to 1 is enough; a bound that is reached would take a part of the masses
        method="highs-ds",
        options={"primal_feasibility_tolerance": EXACT, "dual_feasibility_tolerance": EXACT},
    )
    if solution.status != 0:
        raise RuntimeError(f"the linear programme of the lower distance was not solved: {solution.message}")
    mass = np.maximum(-solution.ineqlin.marginals[-size:] / size, 0.0)
    return max(-solution.fun / size, 0.0), solution.x.reshape(2, size), mass


@measure(
    "lower_distance",
    title="Lower distance from calibration",
    formula=r"\min \Bigl\{ \mathbb E\,|u - v| : (v, y) \sim \Gamma,\ \mathbb E[y \mid u] = u \Bigr\}",
    reference=BLASIOK,
    bounds=(0, 1),
    continuous=True,
    slow_above=0,
    resamples=99,
    no_interval="it is a minimum over calibrated predictions",
)
class LowerDistance(Statistic):
    """The least mean move of predictions that makes them calibrated, if rows with equal predictions may be separated.

    Rows with the same prediction may move differently, also by their outcome. It is a lower bound on the distance from
    calibration over any domain of covariates with these predictions and outcomes, and attained by some.

    Option: `grid`, the number of intervals into which [0, 1] is cut: predictions move to the ends of these, or to other
    predictions. Up to grid + 1 distinct predictions keep their places, and the value is at most 1 / (2 grid²) above the
    lower distance, never below; but predictions within 1e-9 of a point of the grid or of each other, which the solver
    cannot tell apart, are put in one place, and the value may be off by as far as they move. (Between two points at
    distance d the condition of calibration fails by at most d² / 2 for linear functions that keep it at the points.)
    More are first shared out between their neighbours on the grid; the value may then also be below, in the worst case
    by 1 / (2 grid), or by 1 / (3 grid) if predictions are spread evenly. `calibstat.detail` gives the range for the
    sample at hand.

    The linear programme (HiGHS, through SciPy) takes 0.1 to 0.3 seconds on 1000 intervals, for any number of
    rows. A test solves one for every resample, so use a grid of 50 there. `smooth_ce` is between half and twice the
    value, and quick.
    """

    plugs_in = True

    grid: int = 1000

    def check(self) -> None:
        if isinstance(self.grid, bool) or not isinstance(self.grid, int | np.integer) or self.grid < 2:
            raise ValueError(f"expected grid to be a whole number of at least 2, found {self.grid!r}")

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return least_move(*_on_grid(*_present(value, count, positives), self.grid)[:3])[0]

    def bracket(self, n: float) -> Bracket:
        return Bracket(SmoothCE(), 0.5, SmoothCE(), times=2.0, width=0.5 / self.grid)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        """Return the range left by the grid, the bracket by `smooth_ce`, and the two functions of the dual optimum.

        "range": the lower distance is between these two numbers. "bracket": smCE / 2 and 2 smCE, between which it also
        is. "weight_negative" and "weight_positive": 1-Lipschitz functions of the prediction; the mean over rows
        of the one that belongs to the row's outcome is the value, and no calibrated sample has a positive mean (beyond
        the range).
        """
        point, share, hits, above, below = _on_grid(*_present(value, count, positives), self.grid)
        distance, weights, _ = least_move(point, share, hits)
        negative, positive = (np.interp(value, point, weight) for weight in weights)
        smooth = SmoothCE().evaluate(value, count, positives)
        return {
            "range": np.array([max(distance - 0.5 / self.grid**2 - above, 0.0), distance + below]),
            "bracket": np.array([smooth / 2, 2 * smooth]),
            "weight_negative": negative,
            "weight_positive": positive,
        }


def best_merging(value: np.ndarray, share: np.ndarray, positives: np.ndarray) -> tuple[float, np.ndarray]:
    """Partition points so that moving each to the mean outcome of its cell is cheapest; return cost and new values.

    The best partition of a set is the cell of its first member and the best partition of the rest. So sets are solved
    from the smallest on; a set is a number whose binary digits are its members.
    """
    size = value.size
    member = (np.arange(2**size)[:, None] >> np.arange(size)) & 1 == 1
    mean = (member @ positives) / np.maximum(member @ share, np.finfo(float).tiny)
    cost = (np.abs(value - mean[:, None]) * member @ share).tolist()
    best, cell = [0.0] * 2**size, [0] * 2**size
    for whole in range(1, 2**size):
        first = whole & -whole
        rest = others = whole ^ first
        least, cell[whole] = cost[whole], whole
        while others:  # every subset of the rest, which leaves the cell of the first
            total = cost[whole ^ others] + best[others]
            if total < least:
                least, cell[whole] = total, whole ^ others
            others = (others - 1) & rest
        best[whole] = least
    merged, left = np.empty(size), 2**size - 1
    while left:
        merged[member[cell[left]]] = mean[cell[left]]
        left ^= cell[left]
    return best[-1], merged


def contiguous_merging(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
    """Return the least mean move if runs of neighbouring predictions move to their mean outcomes.

    It is at least the upper distance, which allows more partitions, and at most `interval_ce`, because rows of a cell
    move by at most its gap plus its width. Of more than `RUNS` predictions only runs of about equal numbers of rows are
    merged, so that it may be larger.

    docs/evidence/proofs/brackets.md.
    """
    value, share, hits = _present(value, count, positives)
    start = np.arange(value.size)
    if value.size > RUNS:
        start = np.unique(np.searchsorted(np.cumsum(share), np.arange(RUNS) / RUNS))
    return float(_least_cut(value, share, hits, np.append(start, value.size)))


@jit
def _least_cut(value: np.ndarray, share: np.ndarray, hits: np.ndarray, edge: np.ndarray) -> float:
    """Return the least cost of cuts at some of these edges: dynamic programme over the last cell before each edge."""
    rows, moment, ones = np.zeros(value.size + 1), np.zeros(value.size + 1), np.zeros(value.size + 1)
    for j in range(value.size):
        rows[j + 1] = rows[j] + share[j]
        moment[j + 1] = moment[j] + share[j] * value[j]
        ones[j + 1] = ones[j] + hits[j]
    best = np.full(edge.size, np.inf)
    best[0] = 0.0
    for end in range(1, edge.size):
        last = edge[end]
        for begin in range(end):
            first = edge[begin]
            mean = (ones[last] - ones[first]) / (rows[last] - rows[first])
            low, high = first, last
            while low < high:  # the first prediction of the cell above the mean
                middle = (low + high) // 2
                if value[middle] > mean:
                    high = middle
                else:
                    low = middle + 1
            up = mean * (rows[low] - rows[first]) - (moment[low] - moment[first])
            down = moment[last] - moment[low] - mean * (rows[last] - rows[low])
            best[end] = min(best[end], best[begin] + up + down)
    return max(best[-1], 0.0)


@measure(
    "upper_distance",
    title="Upper distance from calibration",
    formula=r"\min \Bigl\{ \mathbb E\,|\kappa(v) - v| : \mathbb E[y \mid \kappa(v)] = \kappa(v) \Bigr\}",
    reference=BLASIOK,
    bounds=(0, 1),
    slow_above=0,
    no_interval="it is a minimum over calibrated predictions",
)
class UpperDistance(Statistic):
    """The least mean move of predictions that makes them calibrated, if equal predictions stay together.

    It is an upper bound on the distance from calibration over any domain of covariates with these predictions and
    outcomes, and attained by some. It is the minimum over all partitions of the predictions into cells, each moved to
    its mean outcome.

    No options. No fast algorithm is known: up to 10 distinct predictions all partitions are compared, in some 10 ms;
    with more there is no estimate, and `calibstat.detail` gives a bracket. It jumps when predictions that moved to
    different places become equal.
    """

    plugs_in = True

    def has_value(self, value: np.ndarray) -> bool:
        return value.size <= LARGEST

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        value, share, hits = _present(value, count, positives)
        if value.size > LARGEST:
            ways = "the upper distance is a minimum over all ways to merge predictions, which are too many"
            raise ValueError(
                f"expected at most {LARGEST} distinct predictions, found {value.size}: {ways}; "
                "calibstat.detail(..., measure='upper_distance') gives a bracket"
            )
        return best_merging(value, share, hits)[0]

    def bracket(self, n: float) -> Bracket:
        return bracket_by_intervals(n)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        """Return the new value of each prediction (NaN if it has no rows); with too many predictions only a bracket.

        "merged": the mean outcome of the cell of each distinct prediction. "bracket": the low end of the range
        of `lower_distance` and the least mean move if neighbouring predictions are merged; the upper and the true
        distance are between them.
        """
        if np.count_nonzero(count) > LARGEST:
            low = LowerDistance().detail(value, count, positives)["range"][0]  # an estimate may be above the distance
            return {"bracket": np.array([low, contiguous_merging(value, count, positives)])}
        merged = np.full(value.size, np.nan)
        merged[count > 0] = best_merging(*_present(value, count, positives))[1]
        return {"merged": merged}
