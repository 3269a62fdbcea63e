"""General calibration error: a family of binned multiclass errors with five options."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from calibstat.bounds.absolute_norms import need_rows_in_cells
from calibstat.bounds.intervals import Interval
from calibstat.bounds.unit_sums import ClassSums
from calibstat.bounds.weighted_sums_interval import WeightedSumsInterval
from calibstat.compiled import jit
from calibstat.data.checks import check_switch, is_among, is_number, short
from calibstat.data.predictions import Predictions
from calibstat.data.single_precision import edges_for, is_single
from calibstat.measures.bins import BLOCK, MANY_BINS, Single, bin_cells, bin_of, check_bins, is_unbinned, number_of_bins
from calibstat.measures.gce_parts.split_ties import errors_of_shared_ties
from calibstat.measures.gce_parts.weights_in_gce import check_weights, mean_weights, weights_of_classes
from calibstat.measures.kinds.base import Honest
from calibstat.measures.kinds.multiclass_kinds import VectorStatistic
from calibstat.measures.kinds.registry import measure

NIXON = (
    "Nixon, Dusenberry, Jerfel, Nguyen, Liu, Zhang, Tran 2019, Measuring Calibration in Deep Learning, arXiv:1904.01685"
)
BINNINGS = {"even": "uniform", "adaptive": "quantile"}
GCE_NORMS = ("l1", "l2")
BIN_TIES = ("together", "split")


def check_switches(binning: str, max_prob: bool, class_conditional: bool, threshold: float) -> None:
    """Raise a ValueError if one of these options is invalid."""
    if not is_among(binning, BINNINGS):
        raise ValueError(f"expected binning 'even' or 'adaptive', found {binning!r}")
    for name, switch in (("max_prob", max_prob), ("class_conditional", class_conditional)):
        check_switch(name, switch)
    if not (is_number(threshold) and 0 <= threshold < 1):
        raise ValueError(f"expected a threshold of at least 0 and below 1, found {threshold!r}")


def l1_and_l2(
    prob: np.ndarray,
    labels: np.ndarray,
    *,
    binning: str,
    max_prob: bool,
    class_conditional: bool,
    threshold: float,
    n_bins: int | str | None,
    ties: str = "together",
    region: str = "all",
    class_weight: Sequence[float] | None = None,
) -> np.ndarray:
    """Return the L1 and the L2 error for each row of labels, shape (B, 2); bins are computed once."""
    if not is_among(ties, BIN_TIES):
        raise ValueError(f"expected ties 'together' or 'split', found {short(ties)}")
    if ties == "split" and binning == "adaptive" and not is_unbinned(n_bins):
        check_switches(binning, max_prob, class_conditional, threshold)
        bins, top = number_of_bins(n_bins, prob.shape[0]), _kept_class(prob, max_prob)
        classes = weights_of_classes(class_weight, prob.shape[1] if class_conditional else 1)
        return errors_of_shared_ties(prob, labels, top, _least(prob, threshold), bins, classes)
    top, least, count, value, upper = _table(prob, binning, max_prob, class_conditional, threshold, n_bins)
    many = len(labels) >= prob.shape[1] or region != "all"
    place = _places(prob, top, least, count, upper, is_single(prob) or None) if many else np.empty((0, 0), np.int64)
    weight, classes = mean_weights(prob, region, place, count), weights_of_classes(class_weight, len(count))
    single = is_single(prob) or None
    return _errors(prob, labels, top, least, count, value, upper, place, weight, classes, single)


def _table(
    prob: np.ndarray, binning: str, max_prob: bool, class_conditional: bool, threshold: float, n_bins: int | str | None
) -> tuple[np.ndarray, np.float64, np.ndarray, np.ndarray, np.ndarray]:
    """Return the predicted class of each row, the threshold, and number, sum and ends of the bins.

    The predicted class is the only one that is kept, or -1 if all are. Number and sum of kept probabilities have a row
    for each class, or one for all together. The ends are the largest probability in each bin; they have no rows if bins
    are computed by a formula.
    """
    check_switches(binning, max_prob, class_conditional, threshold)
    least = _least(prob, threshold)
    top = _kept_class(prob, max_prob)
    bins = 0 if is_unbinned(n_bins) else number_of_bins(n_bins, prob.shape[0])
    computed = binning == "even" and 0 < bins <= MANY_BINS  # bins by a formula; others are looked up
    if computed and not max_prob:
        count, value = _even_sums(prob, bins, least, is_single(prob) or None)
        upper = np.empty((0, bins))
        if not class_conditional:
            count, value = count.sum(axis=0, keepdims=True), value.sum(axis=0, keepdims=True)
    else:
        cut = partial(bin_cells, n_bins=bins or None, strategy=BINNINGS[binning])
        fewest = bins if computed else 1
        count, value, upper = _group_sums(prob, top, least, cut, fewest, max_prob, class_conditional)
    return top, least, count, value, upper[:0] if computed else upper


def _least(prob: np.ndarray, threshold: float) -> np.float64:
    """Return the threshold as predictions are compared with it, in double precision whatever their type."""
    return np.float64(edges_for(prob, threshold))


def _kept_class(prob: np.ndarray, max_prob: bool) -> np.ndarray:
    """Return the predicted class of each row, of which alone the probability is kept, or -1 if all are kept."""
    return prob.argmax(axis=1) if max_prob else np.full(prob.shape[0], -1)


def _group_sums(
    prob: np.ndarray,
    top: np.ndarray,
    threshold: np.float64,
    cut: Callable[[np.ndarray, np.ndarray], np.ndarray],
    fewest: int,
    max_prob: bool,
    class_conditional: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number, sum and maximum of the kept probabilities in each bin, by sorting.

    The arrays have a row for each class, or one for all classes together, and a column for each bin, at least `fewest`.
    ``cut(distinct, rows)`` returns the bin of each distinct probability.
    """
    groups = prob.shape[1] if class_conditional else 1
    pairs = prob.max(axis=1) if max_prob else prob
    of_groups = []
    for g in range(groups):
        group = pairs
        if class_conditional:
            group = pairs[top == g] if max_prob else pairs[:, g]
        distinct, rows = np.unique(group[group > threshold], return_counts=True)
        distinct, rows = distinct.astype(np.float64), rows.astype(np.float64)
        of_groups.append((distinct, rows, cut(distinct, rows) if distinct.size else np.empty(0, np.int64)))
    bins = max(fewest, *(int(cell.max(initial=0)) + 1 for _, _, cell in of_groups))
    count, value = np.zeros((2, groups, bins))
    upper = np.full((groups, bins), np.inf)
    for g, (distinct, rows, cell) in enumerate(of_groups):
        count[g] = np.bincount(cell, rows, bins)
        value[g] = np.bincount(cell, rows * distinct, bins)
        upper[g, cell] = distinct  # the last and largest prediction of a cell remains
    return count, value, upper


@jit
def _bin_below(v: float, upper: np.ndarray) -> int:
    """Return the first bin whose largest prediction is at least v."""
    low = 0
    high = upper.size - 1
    while low < high:
        middle = (low + high) // 2
        if upper[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low


@jit
def _even_sums(prob: np.ndarray, bins: int, threshold: float, single: Single = None) -> tuple[np.ndarray, np.ndarray]:
    """Return for each class and even bin the number of probabilities above the threshold, and their sum.

    All others go into an extra bin, which is dropped, so that the first loop over a row has no branches.
    """
    n, classes = prob.shape
    count = np.zeros((classes, bins + 1))
    value = np.zeros((classes, bins + 1))
    part = np.empty((classes, bins + 1))
    cell = np.empty(classes, np.int32)
    for start in range(0, n, BLOCK):
        part[:] = 0.0  # a sum for each block: one running sum would lose digits over many rows
        for i in range(start, min(start + BLOCK, n)):
            row = prob[i]
            for k in range(classes):
                v = np.float64(row[k])
                cell[k] = np.int32(bin_of(v, bins, single) if v > threshold else bins)
            for k in range(classes):
                count[k, cell[k]] += 1.0
                part[k, cell[k]] += row[k]
        value += part
    return count[:, :bins].copy(), value[:, :bins].copy()


@jit
def _place(
    v: float, k: int, top: int, threshold: float, bins: int, upper: np.ndarray, groups: int, single: Single = None
) -> int:
    """Return the place of a probability of class k: bins of one group after the other, and one place of all others.

    The arguments are as from `_table`.
    """
    if v <= threshold or (top >= 0 and top != k):
        return groups * bins
    g = k if groups > 1 else 0
    b = _bin_below(v, upper[g]) if upper.size else int(bin_of(v, bins, single))
    return g * bins + b


@jit
def _places(
    prob: np.ndarray,
    top: np.ndarray,
    threshold: np.float64,
    count: np.ndarray,
    upper: np.ndarray,
    single: Single = None,
) -> np.ndarray:
    """Return the place of each class of each row."""
    groups, bins = count.shape
    index = np.empty(prob.shape, np.int64)
    for i in range(prob.shape[0]):
        for k in range(prob.shape[1]):
            index[i, k] = _place(np.float64(prob[i, k]), k, top[i], threshold, bins, upper, groups, single)
    return index


@jit
def _errors(
    prob: np.ndarray,
    labels: np.ndarray,
    top: np.ndarray,
    threshold: float,
    count: np.ndarray,
    value: np.ndarray,
    upper: np.ndarray,
    place: np.ndarray,
    weight: np.ndarray,
    classes: np.ndarray,
    single: Single = None,
) -> np.ndarray:
    """Return the L1 and the L2 error for each row of labels, given the bins: only positives have to be counted.

    `place` is the place of each class of each row; it has no rows if only places of labels are looked up. `weight` is
    the mean weight of the rows of each bin, and `classes` the weight of each group of bins.
    """
    groups, bins = count.shape
    out = np.zeros((labels.shape[0], 2))
    kept = np.zeros(groups)
    for g in range(groups):
        kept[g] = (count[g] * weight[g]).sum()
    observed = np.empty(groups * bins + 1)
    total = classes.sum()
    for r in range(labels.shape[0]):
        observed[:] = 0.0
        if place.size:
            for i in range(prob.shape[0]):
                observed[place[i, labels[r, i]]] += 1.0
        else:
            for i in range(prob.shape[0]):
                k = labels[r, i]
                observed[_place(np.float64(prob[i, k]), k, top[i], threshold, bins, upper, groups, single)] += 1.0
        for g in range(groups):
            for b in range(bins):
                if count[g, b] > 0.0 and kept[g] > 0.0:
                    gap = abs(observed[g * bins + b] - value[g, b])
                    share = classes[g] * weight[g, b]
                    out[r, 0] += share * gap / kept[g]
                    out[r, 1] += share * gap * gap / count[g, b] / kept[g]
        out[r, 0] /= total
        out[r, 1] = math.sqrt(out[r, 1] / total)
    return out


@measure(
    "gce",
    title="General calibration error",
    formula=r"\Bigl(\frac1K \sum_k \sum_b \frac{n_{bk}}{n_k}\,"
    r"\bigl|\mathrm{acc}_{bk} - \mathrm{conf}_{bk}\bigr|^p\Bigr)^{1/p}",
    reference=NIXON,
    bounds=(0, 1),
    sound=False,
)
class GCE(VectorStatistic):
    """The general calibration error: the gap between accuracy and confidence in bins, with five options.

    Options: `binning`, "even" for bins of equal width or "adaptive" for as near equal numbers of probabilities as ties
    allow; `max_prob`, to use only the largest probability of each row (of equal ones the first) and not all K;
    `class_conditional`, to bin each class separately (with `max_prob`, the rows predicted as that class) and not all
    probabilities together; `threshold`, to keep only probabilities above it, so that an exact 0 is never kept; `norm`,
    "l1" or "l2"; `n_bins`, a number, "cube_root" (the smallest B with B**3 >= n rows), "100 rows" (n / 100, rounded
    down) or None (a bin for each distinct probability); `ties`, what becomes of equal probabilities where an adaptive
    bin would end among them: "together" keeps them in one bin, so that bins are less equal, "split" makes all bins
    equal up to one row and shares such probabilities, and in the same proportion their observed classes, between the
    bins. The default is the static calibration error, SCE. ECE is `max_prob=True, class_conditional=False`; ACE is
    `binning="adaptive"`, TACE that with `threshold=0.01`; RMSCE is `binning="adaptive", max_prob=True,
    class_conditional=False, norm="l2"`.

    Weights, as Nixon et al. name them (appendix D.2): `region`, "ends" to weigh a probability p by (1 - 2p)^2, as for
    rare events, or "middle" by 4p(1 - p), and `class_weight`, a number of at least 0 for each class. A bin then counts
    by the sum of the weights in it, while its accuracy and its confidence stay means over its rows with equal weights.

    n_k counts the kept probabilities of class k, so the weights of the bins of a class sum to 1. Classes have weight
    1/K each, or by `class_weight` divided by its sum; one without a kept probability adds 0. With "l2" the root is
    taken last: it is not the mean of the roots of the classes. Under `max_prob` a threshold below 1/K changes nothing.

    Nixon et al. cut the sorted probabilities by their index, so that ties go to either side by their order or at
    random; "split" is what that tends to for many tied rows in random order. Without ties both are the same; with the
    few distinct probabilities of histogram binning they differ.

    The honest interval exists for "l1" with ties together, and is for the error over the bins of these rows, each class
    with the weight 1 / (K n_k) that it has in them. With "l2" a bin counts the less the fewer rows it has, which no
    fixed weights do.

    It is biased upwards in finite samples, the more the more classes and bins there are, and insensitive to opposite
    errors that cancel within a bin. Cost: O(n K), for adaptive bins a sort of each class or, not class-conditional, of
    all kept probabilities together, which takes several times their memory.
    """

    why_no_weights: ClassVar[str] = "its bins, and the shares of its classes, count rows"

    binning: str = "even"
    max_prob: bool = False
    class_conditional: bool = True
    threshold: float = 0.0
    norm: str = "l1"
    n_bins: int | str | None = 15
    ties: str = "together"
    region: str = "all"
    class_weight: Sequence[float] | None = None

    def check(self) -> None:
        if not is_among(self.norm, GCE_NORMS):
            raise ValueError(f"expected norm 'l1' or 'l2', found {short(self.norm)}")
        if not is_among(self.ties, BIN_TIES):
            raise ValueError(f"expected ties 'together' or 'split', found {short(self.ties)}")
        check_switches(self.binning, self.max_prob, self.class_conditional, self.threshold)
        check_bins(self.n_bins)
        check_weights(self.region, self.class_weight, self.ties, self.class_conditional)

    def evaluate(self, prob: np.ndarray, label: np.ndarray) -> float:
        return float(self.batch(prob, label[np.newaxis])[0])

    @property
    def refits_cells(self) -> bool:
        """Whether bins or numbers of kept probabilities depend on the sample; the honest interval is given them."""
        kept = self.threshold == 0 and self.region == "all" and not (self.max_prob and self.class_conditional)
        return self.binning != "even" or not kept

    @property
    def honest(self) -> Honest:
        return "own" if self.norm == "l1" and self.ties == "together" else ""

    @property
    def why_no_interval(self) -> str:
        if self.ties == "split":
            return "two bins may share the rows of one prediction, so that their sums are not sums of separate rows"
        return "a bin of few rows may add any multiple of their share to the square"

    def interval(self, predictions: Predictions) -> Interval:
        """Return the interval over the bins of these rows, each with the weight that the rows give to its class."""
        prob = predictions.prob
        options = (self.binning, self.max_prob, self.class_conditional, self.threshold, self.n_bins)
        top, least, count, _, upper = _table(prob, *options)
        need_rows_in_cells(str(self), int(count.sum()), int(np.count_nonzero(count)))
        index = _places(prob, top, least, count, upper, is_single(prob) or None)
        of_bins, classes = (
            mean_weights(prob, self.region, index, count),
            weights_of_classes(self.class_weight, len(count)),
        )
        kept = (count * of_bins).sum(axis=1, keepdims=True)
        of_rows = np.divide(
            predictions.n * classes[:, np.newaxis], classes.sum() * kept, out=np.zeros_like(kept), where=kept > 0
        )
        weight = of_rows * of_bins
        by_place = np.append(weight, 0.0)
        largest = float(weight.max()) * (1 if self.max_prob else 2)  # absolute residuals of a row add up to at most 2
        return WeightedSumsInterval(ClassSums(predictions, index, 0, by_place.size), by_place, largest)

    def batch(self, prob: np.ndarray, labels: np.ndarray) -> np.ndarray:
        both = l1_and_l2(
            prob,
            labels,
            binning=self.binning,
            max_prob=self.max_prob,
            class_conditional=self.class_conditional,
            threshold=self.threshold,
            n_bins=self.n_bins,
            ties=self.ties,
            region=self.region,
            class_weight=self.class_weight,
        )
        return both[:, GCE_NORMS.index(self.norm)]
