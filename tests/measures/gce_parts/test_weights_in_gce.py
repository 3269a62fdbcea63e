"""Weights of regions and of classes in the general calibration error, against loops over all probabilities."""

from itertools import product

import numpy as np
import pytest
from binned_by_hand import adaptive_bins, even_bin
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs
from calibstat.measures.gce_parts.weights_in_gce import REGIONS

WEIGHTS = {"all": lambda p: 1.0, "ends": lambda p: (1 - 2 * p) ** 2, "middle": lambda p: 4 * p * (1 - p)}


def slow(y, p, bins, region, class_weight, norm, *, binning="even", max_prob=False, threshold=0.0):
    """The mean over classes by their weights of the mean over bins by the sums of weights in them.

    `y` has classes, or the chance of each class in every row.
    """
    total, top = 0.0, p.argmax(axis=1)
    for k in range(p.shape[1]):
        kept = [
            (p[i, k], y[i, k] if y.ndim == 2 else y[i] == k)
            for i in range(len(y))
            if p[i, k] > threshold and (not max_prob or top[i] == k)
        ]
        values = [v for v, _ in kept]
        cell = [even_bin(v, bins) for v in values] if binning == "even" else adaptive_bins(values, bins)
        sums = {}
        for (v, hit), b in zip(kept, cell, strict=True):
            weight, n, gap = sums.get(b, (0.0, 0, 0.0))
            sums[b] = (weight + WEIGHTS[region](v), n + 1, gap + hit - v)
        every = sum(weight for weight, _, _ in sums.values())
        power = {"l1": 1, "l2": 2}[norm]
        if every > 0:
            error = sum(weight * abs(gap / n) ** power for weight, n, gap in sums.values()) / every
            total += error * class_weight[k] / sum(class_weight)
    return total ** (1 / power)


def found(y, p, bins, region, class_weight, norm, **options):
    return cs.estimate(y, p, measure="gce", n_bins=bins, region=region, class_weight=class_weight, norm=norm, **options)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("binning", ["even", "adaptive"])
def test_against_loops(binning, norm):
    y, p = cs.generators.dirichlet((0.5,) * 4, temperature=2).sample(80, rng=1)
    weights = [(1.0, 1.0, 1.0, 1.0), (3.0, 0.5, 0.0, 1.0)]
    for region, class_weight, max_prob, threshold in product(WEIGHTS, weights, (False, True), (0.0, 0.05)):
        options = {"binning": binning, "max_prob": max_prob, "threshold": threshold}
        given_ = (y, p, 5, region, class_weight, norm)
        assert found(*given_, **options) == pytest.approx(slow(*given_, **options), abs=1e-12)


@given(st.data())
def test_hard_rows_against_loops(data):
    """Ties, exact 0 and 1, a half, which has no weight at the ends, constants and one row."""
    n, classes = data.draw(st.integers(1, 8)), data.draw(st.integers(2, 4))
    parts = st.lists(st.integers(0, 4), min_size=classes, max_size=classes).filter(any)
    rows = np.array(data.draw(st.lists(parts, min_size=n, max_size=n)), float)
    p = rows / rows.sum(axis=1, keepdims=True)
    y = np.array(data.draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n)))
    class_weight = data.draw(st.lists(st.integers(0, 3), min_size=classes, max_size=classes).filter(any))
    for region, norm in product(WEIGHTS, ("l1", "l2")):
        arguments = (y, p, 4, region, class_weight, norm)
        assert found(*arguments) == pytest.approx(slow(*arguments), abs=1e-12)


def test_both_regions_make_the_whole_where_bins_hold_one_value():
    """Weights of ends and middle add to 1, so the two errors times their shares of the weight add to the error."""
    y, p = np.array([0, 1, 1, 0, 1, 1]), np.array([0.1, 0.1, 0.5, 0.5, 0.9, 0.9])
    prob = np.stack([1 - p, p], axis=1)
    share = np.mean(4 * p * (1 - p))
    whole, ends, middle = (found(y, prob, 10, region, None, "l1") for region in ("all", "ends", "middle"))
    assert whole == pytest.approx(share * middle + (1 - share) * ends)
    # ends: .64 at .1 and .9, 0 at .5; the gaps are .4 at .1 and .1 at .9
    assert ends == pytest.approx((0.4 + 0.1) / 2)


def test_weights_of_classes_pick_a_class():
    y, p = cs.generators.dirichlet((0.5,) * 3, temperature=2).sample(200, rng=1)
    for k in range(3):
        only = np.eye(3)[k]
        expected = cs.estimate(y == k, p[:, k], measure="ece")
        assert found(y, p, 15, "all", only, "l1") == pytest.approx(expected, abs=1e-12)
        split = found(y, p, 15, "all", only, "l1", binning="adaptive", ties="split")
        assert split == pytest.approx(cs.estimate(y == k, p[:, k], measure="ece", strategy="quantile"), abs=1e-12)
    assert found(y, p, 15, "all", (2, 2, 2), "l2") == found(y, p, 15, "all", None, "l2")


def test_intervals_and_tests_take_the_weights():
    y, p = cs.generators.dirichlet((0.5,) * 3, temperature=2).sample(1000, rng=1)
    options = {"measure": "gce", "region": "middle", "class_weight": (1, 1, 4)}
    interval = cs.confidence_interval(y, p, rng=1, n_resamples=199, **options)
    assert interval.low <= cs.estimate(y, p, **options) <= interval.high
    assert cs.calibration_test(y, p, rng=1, n_resamples=99, **options).pvalue == 0.01
    good, q = cs.generators.dirichlet((0.5,) * 3).sample(1000, rng=2)
    assert cs.confidence_interval(good, q, rng=1, n_resamples=199, **options).low == 0


def misses(replicates, region, class_weight, chances):
    """How many honest intervals of data sets miss the error over the bins of their rows, below and above."""
    family = cs.generators.dirichlet((0.5,) * 3, temperature=2)
    count = [0, 0]
    for seed in range(replicates):
        y, p = family.sample(200, rng=seed)
        options = {"measure": "gce", "n_bins": 5, "region": region, "class_weight": class_weight}
        interval = cs.confidence_interval(y, p, rng=seed, n_resamples=99, **options)
        truth = slow(chances(family, p), p, 5, region, class_weight, "l1")
        count[0] += truth < interval.low - 1e-12
        count[1] += truth > interval.high + 1e-12
    return count


@pytest.mark.slow
@pytest.mark.parametrize(("region", "class_weight"), [("ends", (1, 1, 1)), ("middle", (1, 1, 4)), ("all", (1, 0, 0))])
def test_honest_intervals_cover_the_weighted_error(region, class_weight):
    """At 95 % each end misses in at most 5 % of 200 data sets, up to a chance of 1 in 10,000 each."""
    most = cs.study.most_rejections(0.05, 200, 1e-4)
    assert max(misses(200, region, class_weight, lambda family, p: family.conditional(p))) <= most


@pytest.mark.slow
def test_a_wrong_truth_is_missed():
    """The error of another model, which is calibrated, is 0 and is below most intervals."""
    assert misses(100, "middle", (1, 1, 1), lambda family, p: p)[0] > cs.study.most_rejections(0.05, 100, 1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"region": "centre"}, r"expected region 'all', 'ends' or 'middle', found 'centre'"),
        ({"region": "ends", "ties": "split"}, r"expected ties 'together' with region 'ends', found 'split'"),
        (
            {"class_weight": (1, -1, 1)},
            r"expected a finite class_weight of at least 0 for each class, found \(1, -1, 1\)",
        ),
        ({"class_weight": "big"}, r"expected a finite class_weight"),
        ({"class_weight": (0, 0, 0)}, r"expected a class_weight above 0 for some class"),
        ({"class_weight": (1, 1)}, r"expected a class_weight for each of 3 classes, found 2"),
        ({"class_weight": (1, 1, 1), "class_conditional": False}, r"expected class_conditional=True with class_weight"),
    ],
)
def test_wrong_weights_are_refused(options, message):
    y, p = cs.generators.dirichlet((0.5,) * 3).sample(20, rng=1)
    with pytest.raises(ValueError, match=message):
        cs.estimate(y, p, measure="gce", **options)


def test_every_region_is_asked_here():
    assert set(WEIGHTS) == set(REGIONS)
