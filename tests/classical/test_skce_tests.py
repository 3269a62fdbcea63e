"""Approximate tests of canonical calibration against dense matrices, closed forms and the size they should have."""

import itertools
import json

import numpy as np
import pytest
from scipy import stats

from calibstat import measures
from calibstat.classical.skce_tests import kernel_calibration_test
from calibstat.data.predictions import Predictions
from calibstat.measures.skce import SKCE, columns, kernel_arguments, matched_sums, residuals, signed_sums
from calibstat.resampling import Stream, key_of
from calibstat.resampling.row_sums import signs


def skce(prob, label, **options):
    return SKCE(**options).evaluate(prob, label)


KERNELS = [{}, {"kernel": "gaussian", "distance": "euclidean", "bandwidth": 0.4}]


def calibrated(rng, n, classes):
    prob = rng.dirichlet(np.ones(classes), n)
    return np.minimum((prob.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), classes - 1), prob


def sharpened(rng, n, classes):
    label, prob = calibrated(rng, n, classes)
    return label, prob**3 / (prob**3).sum(axis=1, keepdims=True)


def all_pairs(prob, label, kernel="laplace", distance="total_variation", bandwidth=1.0):
    """All h(i, j), from the definition, with 0 on the diagonal."""
    residual = np.eye(prob.shape[1])[label] - prob
    difference = prob[:, None, :] - prob[None, :, :]
    absolute = distance == "total_variation"
    d = np.abs(difference).sum(axis=2) / 2 if absolute else np.sqrt((difference**2).sum(axis=2))
    k = np.exp(-d / bandwidth) if kernel == "laplace" else np.exp(-(d**2) / (2 * bandwidth**2))
    return k * (residual @ residual.T) * (1 - np.eye(label.size))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("n", "classes"), [(2, 3), (40, 2), (300, 5)])
def test_random_signs_against_the_dense_matrix(n, classes, kernel):
    label, prob = calibrated(np.random.default_rng(n), n, classes)
    found = kernel_calibration_test(label, prob, n_resamples=199, rng=3, **kernel)
    order = np.lexsort((*prob.T[::-1], label))  # in which signs are drawn
    label, prob = label[order], prob[order]
    h = all_pairs(prob, label, **kernel) / (n * (n - 1))
    drawn = 2.0 * np.stack([signs(key_of(3), Stream.ROW_SIGNS, r, n) for r in range(199)]) - 1
    null = np.einsum("bi,ij,bj->b", drawn, h, drawn, optimize=True)
    assert found.statistic == pytest.approx(h.sum(), abs=1e-15)
    assert found.statistic == pytest.approx(skce(prob, label, statistic="U", **kernel), abs=1e-15)
    assert found.pvalue == (1 + np.count_nonzero(null >= h.sum() - 1e-14)) / 200
    assert found.n_resamples == 199


BINARY = [{"bandwidth": 0.3}, {"bandwidth": 0.01}, {"distance": "euclidean", "bandwidth": 0.4}]


@pytest.mark.parametrize("options", BINARY)
@pytest.mark.parametrize(("n", "digits"), [(2, 9), (40, 1), (700, 1), (700, 9)])
def test_two_classes_need_no_pairs_of_rows(n, digits, options, monkeypatch):
    """The sums over all pairs, with ties and predictions of 0 and 1."""
    rng = np.random.default_rng(n)
    p = rng.uniform(-0.1, 1.1, n).clip(0, 1).round(digits)
    predictions = Predictions.from_rows((rng.random(n) < p).astype(int), p)
    drawn = np.vstack((np.zeros(n, np.uint8), rng.integers(0, 2, (99, n), np.uint8)))
    arguments = kernel_arguments("laplace", options.get("distance", "total_variation"), options["bandwidth"])
    prob, residual = columns(predictions.prob), residuals(predictions.prob, predictions.label)
    agreeing = matched_sums(prob, residual, drawn, n, arguments)
    monkeypatch.setattr(measures.skce, "matched_sums", None)
    found = signed_sums(predictions, np.packbits(drawn, axis=1), arguments)
    assert found == pytest.approx(2 * agreeing - agreeing[0], rel=1e-11, abs=1e-12 * n)


def test_for_even_odds_the_random_signs_are_exact():
    # two classes of probability 1/2: a label drawn anew changes the sign of a residual, nothing else, so that all
    # labels and all signs give the same values
    prob = np.full((7, 2), 0.5)
    every = np.array(list(itertools.product(range(2), repeat=7)), np.uint8)
    observed = [skce(prob, label, statistic="U") for label in every.astype(int)]
    residual = (np.eye(2)[every[37]] - prob).T.copy()
    h = all_pairs(prob, every[37].astype(int))
    null = 2 * matched_sums(prob.T.copy(), residual, every, 7, kernel_arguments("laplace", "total_variation", 1.0))
    assert np.sort((null - h.sum() / 2) / 21) == pytest.approx(np.sort(observed), abs=1e-14)


def test_linear_by_hand():
    # two pairs with values a and b: mean (a + b) / 2, standard error abs(a - b) / 2
    label, prob = calibrated(np.random.default_rng(1), 4, 3)
    h = all_pairs(prob, label)
    a, b = h[0, 1], h[2, 3]
    found = kernel_calibration_test(label, prob, method="linear")
    assert found.statistic == pytest.approx((a + b) / 2, abs=1e-15)
    assert found.pvalue == pytest.approx(stats.norm.sf((a + b) / abs(a - b)), abs=1e-14)
    assert found.n_resamples == 0


@pytest.mark.parametrize(("block_size", "size"), [(2, 2), (7, 7), ("square_root", 10)])
def test_blocks_against_a_t_statistic(block_size, size):
    label, prob = sharpened(np.random.default_rng(2), 107, 4)
    h = all_pairs(prob, label)
    blocks = [h[i : i + size, i : i + size].sum() / (size * (size - 1)) for i in range(0, 107 - size + 1, size)]
    found = kernel_calibration_test(label, prob, method="block", block_size=block_size)
    z = stats.ttest_1samp(blocks, 0).statistic
    assert found.pvalue == pytest.approx(stats.norm.sf(z), rel=1e-10)
    assert found.statistic == pytest.approx(np.mean(blocks), abs=1e-15)
    assert found.statistic == skce(prob, label, statistic="block", block_size=block_size)


def test_linear_is_blocks_of_two():
    label, prob = calibrated(np.random.default_rng(3), 51, 3)
    linear = kernel_calibration_test(label, prob, method="linear")
    block = kernel_calibration_test(label, prob, method="block", block_size=2)
    assert (linear.statistic, linear.pvalue) == (block.statistic, block.pvalue)


def test_the_same_seed_gives_the_same_numbers():
    label, prob = calibrated(np.random.default_rng(4), 60, 3)
    one, again = (kernel_calibration_test(label, prob, rng=5) for _ in range(2))
    assert one.to_dict() == again.to_dict()
    assert kernel_calibration_test(label, prob, rng=5).pvalue != kernel_calibration_test(label, prob, rng=6).pvalue


def test_more_resamples_begin_with_the_same_signs():
    assert np.array_equal(signs(np.uint64(7), 5, 3, 100)[:64], signs(np.uint64(7), 5, 3, 64))


def even(draws):
    """Whether so many signs are plus as are likely of independent even ones: false alarm below 1e-5."""
    low, high = stats.binom.ppf([5e-6, 1 - 5e-6], draws.size, 0.5)
    return low <= np.count_nonzero(draws) <= high


def test_signs_are_even_and_independent():
    drawn = np.stack([signs(key_of(0), Stream.ROW_SIGNS, r, 1000) for r in range(100)])
    assert set(np.unique(drawn)) == {0, 1}
    assert even(drawn)
    assert even(drawn[:, 1:] ^ drawn[:, :-1])
    assert even(drawn[1:] ^ drawn[:-1])
    assert not even(drawn[:, 1:] | drawn[:, :-1])


def test_a_right_and_certain_model_has_the_largest_p():
    prob, label = np.eye(3)[[0, 1, 2, 1]], np.array([0, 1, 2, 1])
    found = kernel_calibration_test(label, prob, rng=0)
    assert (found.statistic, found.pvalue) == (0, 1)
    with pytest.raises(ValueError, match="expected blocks of different values, found 0 in all 2"):
        kernel_calibration_test(label, prob, method="linear")


def test_a_wrong_and_certain_model_has_the_smallest_p():
    # the value of every pair is 2; random signs reach it only when all 30 are equal
    prob, label = np.tile([1.0, 0, 0], (30, 1)), np.ones(30, int)
    found = kernel_calibration_test(label, prob, rng=0)
    assert found.statistic == pytest.approx(2, abs=1e-14)
    assert found.pvalue == 0.001
    with pytest.raises(ValueError, match="expected blocks of different values, found 2 in all 6"):
        kernel_calibration_test(label, prob, method="block")


def test_predictions_names_and_single_precision():
    label, prob = calibrated(np.random.default_rng(6), 80, 3)
    names = np.array(["cat", "dog", "hen"])
    expected = kernel_calibration_test(label, prob, rng=1)
    assert kernel_calibration_test(Predictions.from_rows(label, prob), rng=1).to_dict() == expected.to_dict()
    assert kernel_calibration_test(names[label], prob, labels=names, rng=1).to_dict() == expected.to_dict()
    single = kernel_calibration_test(label, prob.astype(np.float32), rng=1)
    assert single.statistic == pytest.approx(expected.statistic, abs=1e-6)


def test_the_result_reads_well():
    label, prob = calibrated(np.random.default_rng(8), 50, 3)
    found = kernel_calibration_test(label, prob, rng=1, n_resamples=99, bandwidth=0.5)
    assert str(found).startswith("Asymptotic test of calibration: skce(bandwidth=0.5, statistic='U') = ")
    assert "lens canonical, n = 50, p = " in str(found)
    assert "(approximate), 99 sets of random signs.\nNull hypothesis: given the predicted vectors" in str(found)
    assert "approximate" in str(found.null_hypothesis)
    assert json.loads(json.dumps(found.to_dict()))["pvalue"] == found.pvalue
    assert found.to_frame()["n"].item() == 50
    linear = kernel_calibration_test(label, prob, method="linear")
    assert str(linear).startswith("Linear test of calibration: skce(statistic='linear') = ")
    assert "normal limit" in str(linear)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "exact"}, "expected method"),
        ({"kernel": "gaussian"}, "expected distance 'euclidean'"),
        ({"bandwidth": -1}, "expected a bandwidth above 0"),
        ({"n_resamples": 0}, "expected n_resamples"),
        ({"rng": -1}, "expected rng"),
        ({"method": "block", "block_size": 4}, "expected at least 2 blocks of 4 rows, found 1"),
        ({"method": "block", "block_size": 8}, "expected at least 8 rows"),
        ({"block_size": 0}, "expected block_size"),
    ],
)
def test_bad_arguments(options, message):
    label, prob = calibrated(np.random.default_rng(9), 6, 3)
    with pytest.raises(ValueError, match=message):
        kernel_calibration_test(label, prob, **options)


def test_too_few_rows():
    for method in ("asymptotic", "block", "linear"):
        with pytest.raises(ValueError, match="expected at least 2 rows"):
            kernel_calibration_test([0], [[0.5, 0.25, 0.25]], method=method)
    with pytest.raises(ValueError, match="expected at least 2 blocks"):
        kernel_calibration_test([0, 1], [[0.5, 0.25, 0.25]] * 2, method="linear")


def rejections(method, n, classes, make, replicates, seed):
    """How many p-values are at most 5 %."""
    rng = np.random.default_rng(seed)
    return sum(
        kernel_calibration_test(*make(rng, n, classes), method=method, n_resamples=199, rng=r).pvalue <= 0.05
        for r in range(replicates)
    )


def plausible(found, replicates, least, most):
    """Whether so many rejections can come from a size from `least` to `most`: false alarm below 1e-5."""
    return stats.binom.ppf(5e-6, replicates, least) <= found <= stats.binom.ppf(1 - 5e-6, replicates, most)


SIZE = {"asymptotic": (0.04, 0.06), "block": (0.025, 0.05), "linear": (0.02, 0.05)}  # measured: approximate tests


@pytest.mark.slow
@pytest.mark.parametrize("method", SIZE)
@pytest.mark.parametrize("classes", [3, 10])
@pytest.mark.parametrize(("n", "replicates"), [(100, 2000), (1000, 1000)])
def test_size(method, n, classes, replicates):
    found = rejections(method, n, classes, calibrated, replicates, seed=classes)
    assert plausible(found, replicates, *SIZE[method])


@pytest.mark.slow
@pytest.mark.parametrize("method", SIZE)
def test_a_wrong_size_is_found(method):
    found = rejections(method, 1000, 3, sharpened, 300, seed=1)
    assert not plausible(found, 300, *SIZE[method])
