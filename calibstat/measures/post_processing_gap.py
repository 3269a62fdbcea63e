"""Post-processing gap: the gain in a proper score by the best Lipschitz update of the predictions.

First the Brier score. That kappa(v) - v is 1-Lipschitz says that kappa rises from each prediction to the next, a
distance d above it, by 0 to 2 d: kappa is an isotonic regression of the outcomes whose slope is at most 2. That it
stays in [0, 1] is no restriction: cutting it off at 0 and 1 shortens its rises and brings it nearer to the outcomes.

Let F_j(x) be half the least squared error of the predictions up to the j-th if kappa is x at the j-th. Its derivative
f rises without jumps and is linear between breakpoints. To go on to the next prediction, at which c rows have a
positives: where f is above 0 it moves to the right by 2 d, which leaves a flat piece at its zero; then c x - a is
added. Hence, with C rows and A positives so far,

    f(x) = C x - A + sum over breakpoints b < x of change_b (x - b),

and a change of slope never changes. The zeros of all f give kappa from the last prediction to the first.

Breakpoints keep their order, all to the right of the zero move together, and new ones come in at the zero. So they are
the nodes of a splay tree (Sleator, Tarjan 1985, doi:10.1145/3828.3835), where the sums in the formula are kept for
every subtree, and a pending (lazy) shift at its root. A step costs the logarithm of the number of nodes, on average
over all steps, on every input. Where the zero moves past few nodes, as on most data, it costs less: they are near the
root. (Agarwal, Phillips, Sadri 2010, Lipschitz Unimodal and Isotonic Regression on Paths and Trees, LATIN, has the
bound.)

Any other proper score is d(y, v) of a convex phi. On the scale u = phi'(v) its loss is convex in u, with the derivative
v(u) - y, whatever phi is; an update may rise by 0 to 2 d there, d the distance of two neighbours in u. Newton's method
replaces the loss by a quadratic one, whose best update is the one above with other weights and outcomes, as often as
there is something to gain. That u is not kept within the range of phi' is no restriction, for the same reason as above.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.data.clipping import LEAST_CLIP, check_clip, uncertain
from calibstat.measures.bregman import Bregman, find_score, total_loss
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.population_value import BinaryPopulation
from calibstat.measures.kinds.registry import measure

BGHN = "Błasiok, Gopalan, Hu, Nakkiran 2023, When Does Optimizing a Proper Loss Yield Calibration?, arXiv:2305.18764"

# Fields of a node: its breakpoint, the change of slope there, the sums over its subtree of change and of change times
# breakpoint, and the pending (lazy) shift of its children. Node 0 is the empty tree.
X, CHANGE, SLOPE, MOMENT, SHIFT = range(5)

MOST_STEPS = 100  # of Newton's method, at most; 10 are usual
TOLERANCE = 1e-14  # of the gain that is left
FLAT = 1e-9  # the least curvature, as a share of the usual one, so that a step is finite where predictions are certain


@jit
def _add_up(node: np.ndarray, child: np.ndarray, t: int) -> None:
    """Compute the sums over the subtree of t from the sums over its children."""
    left, right = child[t, 0], child[t, 1]
    node[t, SLOPE] = node[left, SLOPE] + node[right, SLOPE] + node[t, CHANGE]
    node[t, MOMENT] = node[left, MOMENT] + node[right, MOMENT] + node[t, CHANGE] * node[t, X]


@jit
def _move(node: np.ndarray, t: int, shift: float) -> None:
    """Move the subtree of t to the right."""
    if t > 0:
        node[t, X] += shift
        node[t, MOMENT] += node[t, SLOPE] * shift
        node[t, SHIFT] += shift


@jit
def _part(node: np.ndarray, child: np.ndarray, path: np.ndarray, side: np.ndarray, length: int) -> tuple[int, int]:
    """Part the tree where a path from its root ends; return the roots of what is to the left and to the right.

    `side` says to which child the path goes on, 0 for the left one. No node on it has a pending shift. First its last
    node becomes the root.
    """
    t = path[length - 1]
    i = length - 2
    while i >= 0:
        parent, s = path[i], side[i]
        if i > 0:
            grandparent, r = path[i - 1], side[i - 1]
            if r == s:  # in line: the parent goes up first, which is what halves the depth of the path
                child[grandparent, s] = child[parent, 1 - s]
                child[parent, 1 - s] = grandparent
            else:
                child[grandparent, r] = child[t, s]
                child[t, s] = grandparent
            _add_up(node, child, grandparent)
        child[parent, s] = child[t, 1 - s]
        child[t, 1 - s] = parent
        _add_up(node, child, parent)
        i -= 2
    if side[length - 1] == 1:
        left, right = t, child[t, 1]
        child[t, 1] = 0
    else:
        left, right = child[t, 0], t
        child[t, 0] = 0
    _add_up(node, child, t)
    return left, right


@jit
def _find_zero(
    node: np.ndarray,
    child: np.ndarray,
    t: int,
    rows: float,
    ones: float,
    lowest: float,
    highest: float,
    path: np.ndarray,
    side: np.ndarray,
) -> tuple[int, float, float, float, float]:
    """Go down from the root t to the zero of f, and fill in the path, whose length comes first.

    Then come the sums of change and of change times breakpoint over all breakpoints to the left of the zero, and the
    breakpoints on either side of it, or `lowest` and `highest`.
    """
    change = moment = 0.0
    below, above = lowest, highest
    length = 0
    while t > 0:
        if node[t, SHIFT] != 0.0:
            _move(node, child[t, 0], node[t, SHIFT])
            _move(node, child[t, 1], node[t, SHIFT])
            node[t, SHIFT] = 0.0
        x = node[t, X]
        path[length] = t
        change_here = change + node[child[t, 0], SLOPE]
        moment_here = moment + node[child[t, 0], MOMENT]
        if (rows + change_here) * x - ones - moment_here < 0.0:
            below = x
            change = change_here + node[t, CHANGE]
            moment = moment_here + node[t, CHANGE] * x
            side[length] = 1
            t = child[t, 1]
        else:
            above = min(x, highest)
            side[length] = 0
            t = child[t, 0]
        length += 1
    return length, change, moment, below, above


@jit
def _limit_rises(value: np.ndarray, count: np.ndarray, kappa: np.ndarray, last: int) -> None:
    """Make the best update of the zeros, from the last prediction that has rows to the first.

    Given kappa at the next prediction, the best here is the zero, or the nearest to it that the rise allows.
    """
    for j in range(last - 1, -1, -1):
        if count[j] > 0.0:
            lowest = kappa[last] - 2.0 * (value[last] - value[j])
            kappa[j] = min(max(kappa[j], lowest), kappa[last])
            last = j


@jit
def _improved(
    value: np.ndarray, count: np.ndarray, positives: np.ndarray, lowest: float = 0.0, highest: float = 1.0
) -> np.ndarray:
    """Return kappa at every prediction, NaN where there are no rows.

    All means of outcomes, positives / count, are from `lowest` to `highest`.
    """
    m = value.size
    node = np.zeros((2 * m + 1, 5))
    child = np.zeros((2 * m + 1, 2), np.int32)
    path = np.empty(2 * m + 1, np.int32)
    side = np.empty(2 * m + 1, np.int8)
    kappa = np.full(m, np.nan)
    left = right = 0  # trees of the breakpoints on either side of the zero
    zero = slope = 0.0  # the zero of f and the slope there
    rows = ones = 0.0
    last = -1
    for j in range(m):
        if count[j] <= 0.0:
            continue
        root = 0
        if last >= 0:
            rise = 2.0 * (value[j] - value[last])
            _move(node, right, rise)
            low = 2 * j - 1
            root = 2 * j
            node[low, X], node[low, CHANGE] = zero, -slope
            node[root, X], node[root, CHANGE] = zero + rise, slope
            child[low, 0], child[low, 1] = left, 0
            child[root, 0], child[root, 1] = low, right
            _add_up(node, child, low)
            _add_up(node, child, root)
        rows += count[j]
        ones += positives[j]
        length, change, moment, below, above = _find_zero(node, child, root, rows, ones, lowest, highest, path, side)
        slope = max(rows + change, count[j])  # at least count[j], but for rounding
        zero = min(max((ones + moment) / slope, below), above)
        if length > 0:
            left, right = _part(node, child, path, side, length)
        kappa[j] = zero
        last = j
    _limit_rises(value, count, kappa, last)
    return kappa


def _best_update(score: Bregman, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Return kappa at every prediction, all of which have rows and finite losses, for any score."""
    if score.is_quadratic:
        return _improved(value, count, positives)
    start = place = np.asarray(score.gradient(value), np.float64)
    kappa, loss = value, float(total_loss(score, value, count, positives).sum())
    inside = LEAST_CLIP if score.is_steep else None  # a prediction that is rounded to 0 or 1 is not certain
    for _ in range(MOST_STEPS):
        curvature = count * np.maximum(score.spread(place), FLAT * score.usual_spread)
        pull = positives - count * kappa
        step = _improved(start, curvature, curvature * place + pull, -math.inf, math.inf) - place
        gain = float(np.einsum("i,i->", pull, step))
        size = 1.0
        while gain > TOLERANCE * count.sum():
            moved = score.moved(score.prediction(place + size * step), inside)
            after = float(total_loss(score, moved, count, positives).sum())
            if after <= loss - size * gain / 10:
                break
            size, gain = size / 2, gain if size > TOLERANCE else 0.0
        else:
            return kappa
        place, kappa, loss = place + size * step, moved, after
    return kappa


@measure(
    "post_processing_gap",
    title="Post-processing gap",
    formula=r"\frac1n \sum_i d_\varphi(y_i, v_i) - \min_{\kappa\,:\ \varphi'(\kappa(v)) - \varphi'(v)\ "
    r"\text{1-Lipschitz in}\ \varphi'(v)} \frac1n \sum_i d_\varphi(y_i, \kappa(v_i))",
    reference=BGHN,
    bounds=(0, math.inf),
    continuous=True,
    slow_above=10_000,
    no_interval="no bound of the gain by all post-processings at once has been worked out",
)
class PostProcessingGap(Statistic):
    """The gain in a proper score by the best small update of the predictions.

    Options: `score`, "brier", "log_loss", "spherical" or a `calibstat.Bregman`; `clip`, for scores that can be infinite
    ("log_loss") only, by which predictions are moved into [clip, 1 - clip]: without it a prediction of exactly 0 or 1
    raises. An update replaces v by kappa(v) in [0, 1]. On the scale of the score, which is v for "brier" and the
    log-odds of v for "log_loss", the change is 1-Lipschitz: predictions keep their order, and distances between them at
    most double. For every score the gap of a population is 0 if and only if it is calibrated.

    With "brier" these are some of the recalibrations of `mcb`, which is at least as large and jumps where this one is
    continuous, and the gap is between the square of `smooth_ce` and twice `smooth_ce`. With "log_loss" it is at least
    twice the square of `smooth_ce`; it can be large where `smooth_ce` is small, as the score is.

    Exact for "brier", and to 1e-12 for others, by Newton's method. The update is chosen on the same rows, so the
    estimate is above 0 for a calibrated model; a test takes that into account. Cost: one sort of the rows, then the
    logarithm of the number of distinct predictions for each of them, for any data, and 120 bytes of memory.
    """

    plugs_in = True

    score: str | Bregman = "brier"
    clip: float | None = None

    def check(self) -> None:
        self._score.takes(check_clip(self.clip))

    @property
    def _score(self) -> Bregman:
        return find_score(self.score)

    @property
    def bounds(self) -> tuple[float, float]:
        if self._score.is_steep:
            return self.info.bounds
        return 0.0, float(self._score.loss(np.array([0.0, 1.0]), np.array([1.0, 0.0])).max())

    def check_probabilities(self, prob: np.ndarray) -> None:
        if self._score.is_steep:
            uncertain(prob, self.clip, str(self))

    def population_value(self, population: BinaryPopulation) -> float:
        clip = self._score.clip_of_population(self.clip, population.finite)
        return replace(self, clip=clip).plug_in(population)

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        full = count > 0
        value, kappa = self._before_and_after(value[full], count[full], positives[full])
        # the identity is an update too, so that the sum is at least 0 but for rounding
        gain = self._score.gain(value, kappa, count[full], positives[full])
        return max(float(gain.sum() / count.sum()), 0.0)

    def _before_and_after(
        self, value: np.ndarray, count: np.ndarray, positives: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        value = self._score.inside(value, self.clip)
        return value, _best_update(self._score, value, count, positives)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        """Return the map kappa at each distinct prediction, with which the score falls by the gap."""
        full, kappa = count > 0, np.full(value.size, np.nan)
        kappa[full] = self._before_and_after(value[full], count[full], positives[full])[1]
        return {"kappa": kappa}
