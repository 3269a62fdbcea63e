"""The squared kernel calibration error against its definition, the binary kernel calibration error and closed forms."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows

import calibstat as cs
from calibstat.measures.skce import COLUMNS, SKCE


def skce(prob, label, **options):
    return SKCE(**options).evaluate(prob, label)


def skce_batch(prob, labels, **options):
    return SKCE(**options).batch(prob, labels)


KERNELS = [
    {},
    {"bandwidth": 0.2},
    {"distance": "euclidean", "bandwidth": 0.3},
    {"kernel": "gaussian", "distance": "euclidean", "bandwidth": 0.5},
]
STATISTICS = [
    {"statistic": "V"},
    {"statistic": "U"},
    {"statistic": "block", "block_size": 3},
    {"statistic": "block"},
    {"statistic": "linear"},
]


@st.composite
def vectors(draw, least=1, most=25):
    """Predicted vectors with ties and one-hot ones among them, and labels."""
    n, classes = draw(st.integers(least, most)), draw(st.integers(2, 5))
    one_hot = st.integers(0, classes - 1).map(lambda c: np.eye(classes)[c])
    eighths = st.lists(st.integers(0, 8), min_size=classes, max_size=classes).filter(any)
    row = st.one_of(one_hot, eighths.map(lambda v: np.array(v) / sum(v)))
    few = draw(st.lists(row, min_size=1, max_size=4))
    prob = draw(st.lists(st.one_of(st.sampled_from(few), row), min_size=n, max_size=n))
    label = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    return np.array(prob), np.array(label)


def simulated(seed, n, classes):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(classes, 0.7), n).round(2), rng.integers(0, classes, n)


def similarities(prob, kernel="laplace", distance="total_variation", bandwidth=1.0):
    """The kernel of all pairs of predictions, from the definition."""
    difference = prob[:, None, :] - prob[None, :, :]
    absolute = distance == "total_variation"
    d = np.abs(difference).sum(axis=2) / 2 if absolute else np.sqrt((difference**2).sum(axis=2))
    return np.exp(-d / bandwidth) if kernel == "laplace" else np.exp(-(d**2) / (2 * bandwidth**2))


def all_pairs(prob, label, similar):
    """All h(i, j), from the definition."""
    residual = np.eye(prob.shape[1])[label] - prob
    return similar * (residual @ residual.T)


def unbiased(h):
    n = h.shape[0]
    return (h.sum() - np.trace(h)) / (n * (n - 1))


def from_definition(prob, label, statistic="V", block_size="square_root", **kernel):
    return of_pairs(all_pairs(prob, label, similarities(prob, **kernel)), statistic, block_size)


def of_pairs(h, statistic="V", block_size="square_root"):
    n = h.shape[0]
    if statistic in ("V", "U"):
        return h.mean() if statistic == "V" else unbiased(h)
    size = {"linear": 2, "block": max(2, math.floor(math.sqrt(n))) if block_size == "square_root" else block_size}
    size = size[statistic]
    starts = range(0, n - size + 1, size)
    return np.mean([unbiased(h[i : i + size, i : i + size]) for i in starts])


@given(vectors(least=3), st.sampled_from(KERNELS), st.sampled_from(STATISTICS))
def test_against_all_pairs(data, kernel, statistic):
    expected = from_definition(*data, **kernel, **statistic)
    assert skce(*data, **kernel, **statistic) == pytest.approx(expected, abs=1e-14)


@given(vectors(least=3), st.sampled_from(KERNELS), st.sampled_from(STATISTICS), st.integers(1, 4))
def test_batch_is_one_at_a_time(data, kernel, statistic, size):
    prob, label = data
    labels = np.stack([np.roll(label, shift) for shift in range(size)])
    expected = [from_definition(prob, each, **kernel, **statistic) for each in labels]
    assert skce_batch(prob, labels, **kernel, **statistic) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_many_tiles(kernel, statistic):
    prob, label = simulated(0, 2 * COLUMNS + 77, 6)  # tiles in part, and rows after the last whole block
    labels = np.random.default_rng(1).integers(0, 6, (3, label.size))
    similar = similarities(prob, **kernel)
    expected, *others = (of_pairs(all_pairs(prob, each, similar), **statistic) for each in (label, *labels))
    assert skce(prob, label, **kernel, **statistic) == pytest.approx(expected, abs=1e-14)
    assert skce_batch(prob, labels, **kernel, **statistic) == pytest.approx(others, abs=1e-14)


def test_many_classes():
    prob, label = simulated(0, 60, 300)
    assert label.max() > 255  # the labels need more than a byte
    expected = from_definition(prob, label)
    assert skce(prob, label) == pytest.approx(expected, abs=1e-14)
    assert skce_batch(prob, label[None]) == pytest.approx([expected], abs=1e-14)


@given(rows(), st.sampled_from([0.1, 1, 5]))
def test_two_classes_are_twice_the_squared_binary_error(data, bandwidth):
    # e_y - p = (-r, r) with r = y - p_1: the product of two is 2 r r', and the total variation is |p_1 - p_1'|
    y, p = data
    prob = np.column_stack([1 - p, p])
    binary = cs.estimate(y, p, measure="kernel_ce", bandwidth=bandwidth)
    assert skce(prob, y, bandwidth=bandwidth) == pytest.approx(2 * binary**2, abs=1e-12)
    if y.size > 1:
        binary = cs.estimate(y, p, measure="kernel_ce_squared", bandwidth=bandwidth)
        assert skce(prob, y, bandwidth=bandwidth, statistic="U") == pytest.approx(2 * binary, abs=1e-12)


def test_by_hand():
    # residuals (.5, -.25, -.25) and (-.5, 1, -.5), product -.25 - .25 + .125 = -.375, squares .375 and 1.5;
    # differences (0, .25, .25): total variation .25, Euclidean sqrt(.125)
    prob, label = np.array([[0.5, 0.25, 0.25], [0.5, 0.0, 0.5]]), np.array([0, 1])
    assert skce(prob, label, statistic="U") == pytest.approx(-0.375 * math.exp(-0.25), abs=1e-15)
    assert skce(prob, label) == pytest.approx((1.875 - 0.75 * math.exp(-0.25)) / 4, abs=1e-15)
    assert skce(prob, label, distance="euclidean", statistic="linear", bandwidth=0.5) == pytest.approx(
        -0.375 * math.exp(-math.sqrt(0.125) / 0.5), abs=1e-15
    )
    assert skce(prob, label, kernel="gaussian", distance="euclidean", statistic="U", bandwidth=0.5) == pytest.approx(
        -0.375 * math.exp(-0.25), abs=1e-15
    )


def test_the_largest_values():
    # always certain and always wrong in the same way: every product is 2, every distance 0
    prob = np.tile([1.0, 0, 0], (20, 1))
    for statistic in STATISTICS:
        assert skce(prob, np.ones(20, int), **statistic) == pytest.approx(2, abs=1e-14)
        assert skce(prob, np.zeros(20, int), **statistic) == 0


def test_one_row():
    # the row and itself: (.75, -.5, -.25) squared
    prob, label = np.array([[0.25, 0.5, 0.25]]), np.array([0])
    assert skce(prob, label) == 0.5625 + 0.25 + 0.0625
    assert skce_batch(prob, np.array([[0], [1]])) == pytest.approx([0.875, 0.375], abs=1e-15)
    for statistic in ("U", "block", "linear"):
        with pytest.raises(ValueError, match="expected at least 2 rows"):
            skce(prob, label, statistic=statistic)


def test_single_precision_is_computed_in_double():
    prob, label = simulated(3, 200, 4)
    single = prob.astype(np.float32)
    for statistic in STATISTICS:
        expected = skce(single.astype(np.float64), label, **statistic)
        assert skce(single, label, **statistic) == expected
        assert skce_batch(single, label[None], **statistic) == pytest.approx([expected], abs=1e-14)


@given(vectors(least=2), st.sampled_from(KERNELS))
def test_order_matters_to_blocks_alone(data, kernel):
    prob, label = data
    for statistic in ("V", "U"):
        backwards = skce(prob[::-1], label[::-1], statistic=statistic, **kernel)
        assert skce(prob, label, statistic=statistic, **kernel) == pytest.approx(backwards, abs=1e-14)


def test_blocks_see_the_order_and_leave_out_the_last_rows():
    prob, label = simulated(4, 11, 3)
    options = {"statistic": "block", "block_size": 3}
    assert skce(prob, label, **options) == skce(prob[:9], label[:9], **options)
    assert skce(prob, label, **options) != pytest.approx(skce(prob[::-1], label[::-1], **options), abs=1e-3)
    assert skce(prob, label, statistic="block", block_size=11) == skce(prob, label, statistic="U")
    assert skce(prob, label, statistic="block", block_size=2) == skce(prob, label, statistic="linear")
    assert skce(prob, label, statistic="block") == skce(prob, label, statistic="block", block_size=3)  # 3**2 <= 11


@pytest.mark.parametrize("statistic", ["U", "linear"])
def test_unbiased_on_a_finite_law(statistic):
    # all samples of three (or four) rows from two predictions with known class probabilities, each with its
    # probability: the mean must be sum over pairs of predictions of their masses, kernel and product of gaps
    prob = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    truth = np.array([[0.4, 0.6, 0.0], [0.1, 0.3, 0.6]])
    mass = np.array([0.3, 0.7])
    k = np.exp(-np.abs(prob[:, None] - prob[None]).sum(axis=2) / 2)
    gap = truth - prob
    expected = mass @ (k * (gap @ gap.T)) @ mass
    rows_drawn = 3 if statistic == "U" else 4
    mean = total = 0.0
    for outcome in itertools.product(itertools.product(range(2), range(3)), repeat=rows_drawn):
        which, label = np.array(outcome).T
        chance = np.prod(mass[which] * truth[which, label])
        if chance > 0:
            mean += chance * skce(prob[which], label, statistic=statistic)
            total += chance
    assert total == pytest.approx(1, abs=1e-12)
    assert mean == pytest.approx(expected, abs=1e-12)


def test_the_mean_of_all_pairs_is_biased():
    # one prediction, calibrated: E V = E h(1, 1) / n = (1 - |p|^2) / n
    prob = np.array([[0.5, 0.3, 0.2]])
    mean = sum(
        np.prod(prob[0, list(label)]) * skce(np.repeat(prob, 2, axis=0), np.array(label))
        for label in itertools.product(range(3), repeat=2)
    )
    assert mean == pytest.approx((1 - 0.38) / 2, abs=1e-14)


def test_a_wrong_weight_of_pairs_is_found():
    prob, label = simulated(5, 30, 3)
    h = all_pairs(prob, label, similarities(prob))
    assert skce(prob, label, statistic="U") != pytest.approx((h.sum() - np.trace(h)) / 30**2, rel=1e-3)


def test_registered():
    entry = cs.MEASURES["skce"]
    prob, label = simulated(6, 40, 3)
    assert issubclass(entry, cs.measures.VectorStatistic)
    assert entry.info.tail == "greater"
    assert entry().evaluate(prob, label) == skce(prob, label)
    assert str(entry(statistic="U")) == "skce(statistic='U')"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "box"}, "expected kernel"),
        ({"distance": "cosine"}, "expected distance"),
        ({"kernel": "gaussian"}, "expected distance 'euclidean' with kernel 'gaussian', found 'total_variation'"),
        ({"bandwidth": 0}, "expected a bandwidth above 0"),
        ({"bandwidth": math.nan}, "expected a bandwidth above 0"),
        ({"statistic": "W"}, "expected statistic"),
        ({"block_size": 1}, "expected block_size"),
        ({"block_size": 2.5}, "expected block_size"),
        ({"block_size": True}, "expected block_size"),
        ({"statistic": "block", "block_size": 5}, "expected at least 5 rows for statistic 'block', found 4"),
    ],
)
def test_unknown_options(options, message):
    prob, label = simulated(7, 4, 3)
    with pytest.raises(ValueError, match=message):
        skce(prob, label, **options)
    with pytest.raises(ValueError, match=message):
        skce_batch(prob, label[None], **options)
