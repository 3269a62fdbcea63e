"""Post-processing gap: the gain in Brier score by the best Lipschitz update of the predictions.

That kappa(v) - v is 1-Lipschitz says that kappa rises from each prediction to the next, a distance d above it, by 0 to
2 d: kappa is an isotonic regression of the outcomes whose slope is at most 2. That it stays in [0, 1] is no
restriction: cutting it off at 0 and 1 shortens its rises and brings it nearer to the outcomes.

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
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.registry import measure

BGHN = "Błasiok, Gopalan, Hu, Nakkiran 2023, When Does Optimizing a Proper Loss Yield Calibration?, arXiv:2305.18764"

# Fields of a node: its breakpoint, the change of slope there, the sums over its subtree of change and of change times
# breakpoint, and the pending (lazy) shift of its children. Node 0 is the empty tree.
X, CHANGE, SLOPE, MOMENT, SHIFT = range(5)


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
def _splay(node: np.ndarray, child: np.ndarray, path: np.ndarray, side: np.ndarray, length: int) -> int:
    """Make the last node of a path from the root the new root; only the sums of this node are not updated.

    `side` says to which child the path goes on, 0 for the left one. No node on it has a pending shift.
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
    return t


@jit
def _improved(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Return kappa at every prediction, NaN where there are no rows."""
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
        t = 0
        if last >= 0:
            rise = 2.0 * (value[j] - value[last])
            _move(node, right, rise)
            low = 2 * j - 1
            t = 2 * j
            node[low, X], node[low, CHANGE] = zero, -slope
            node[t, X], node[t, CHANGE] = zero + rise, slope
            child[low, 0], child[low, 1] = left, 0
            child[t, 0], child[t, 1] = low, right
            _add_up(node, child, low)
            _add_up(node, child, t)
        rows += count[j]
        ones += positives[j]
        # look for the zero; change and moment are sums over all breakpoints to the left of the subtree of t
        change = moment = 0.0
        below, above = 0.0, 1.0
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
                above = min(x, 1.0)
                side[length] = 0
                t = child[t, 0]
            length += 1
        slope = max(rows + change, count[j])  # at least count[j], but for rounding
        zero = min(max((ones + moment) / slope, below), above)
        if length > 0:
            t = _splay(node, child, path, side, length)
            if side[length - 1] == 1:
                left, right = t, child[t, 1]
                child[t, 1] = 0
            else:
                left, right = child[t, 0], t
                child[t, 0] = 0
            _add_up(node, child, t)
        kappa[j] = zero
        last = j
    # given kappa at the next prediction, the best here is the zero, or the nearest to it that the rise allows
    for j in range(last - 1, -1, -1):
        if count[j] > 0.0:
            lowest = kappa[last] - 2.0 * (value[last] - value[j])
            kappa[j] = min(max(kappa[j], lowest), kappa[last])
            last = j
    return kappa


@measure(
    "post_processing_gap",
    title="Post-processing gap",
    formula=r"\frac1n \sum_i (y_i - v_i)^2 - \min_{\kappa\,:\ \kappa(v) - v\ \text{1-Lipschitz}} "
    r"\frac1n \sum_i (y_i - \kappa(v_i))^2",
    reference=BGHN,
    bounds=(0, 1),
    continuous=True,
    slow_above=10_000,
    no_interval="no bound of the gain by all post-processings at once has been worked out",
)
class PostProcessingGap(Statistic):
    """The gain in the Brier score by the best small update of the predictions.

    No options. An update replaces v by kappa(v) in [0, 1], where kappa(v) - v is 1-Lipschitz: predictions keep their
    order, and distances between them at most double. These are some of the recalibrations of `mcb`, which is at least
    as large and jumps where this one is continuous. The gap is between the square of `smooth_ce` and twice `smooth_ce`.

    Exact. The update is chosen on the same rows, so the estimate is above 0 for a calibrated model; a test takes that
    into account. Cost: one sort of the rows, then the logarithm of the number of distinct predictions for each of
    them, for any data, and 120 bytes of memory.
    """

    plugs_in = True

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        kappa = np.where(count > 0, _improved(value, count, positives), value)
        # the identity is an update too, so that the sum is at least 0 but for rounding
        gain = (value - kappa) * (count * (value + kappa) - 2 * positives)
        return max(float(gain.sum() / count.sum()), 0.0)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        """Return the map kappa at each distinct prediction, with which the Brier score falls by the gap."""
        return {"kappa": _improved(value, count, positives)}
