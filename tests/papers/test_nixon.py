"""Nixon et al. 2019 (arXiv:1904.01685): the general calibration errors probability by probability, and figure 4."""

from itertools import product

import numpy as np
import pytest
from binned_by_hand import adaptive_bins, binned_error, even_bin, hits_and_confidence, in_bins

import calibstat as cs

BINS = 7


def general(label, prob, binning, max_prob, class_conditional, threshold):
    """Appendix C: the mean over classes, apart or together, of gaps to the powers 1 and 2, and their roots."""
    top = prob.argmax(axis=1)
    kept = [
        (k, prob[i, k], int(label[i] == k))
        for i in range(len(label))
        for k in range(prob.shape[1])
        if prob[i, k] > threshold and (not max_prob or k == top[i])
    ]
    groups = [[each for each in kept if each[0] == k] for k in range(prob.shape[1])] if class_conditional else [kept]
    total = [0.0, 0.0]
    for group in groups:
        values, hits = [v for _, v, _ in group], [hit for *_, hit in group]
        cell = [even_bin(v, BINS) for v in values] if binning == "even" else adaptive_bins(values, BINS)
        for share, hit, value in in_bins(hits, values, cell):
            total[0] += share * abs(hit - value) / len(groups)
            total[1] += share * (hit - value) ** 2 / len(groups)
    return total[0], total[1] ** 0.5


@pytest.mark.parametrize("seed", [1, 2])
def test_appendix_c_all_32_errors_in_their_order(seed):
    """Of 120 classes the threshold of .01 matters for the largest probability too, of four for the others."""
    classes, alpha, n = {1: (4, 0.3, 80), 2: (120, 40.0, 30)}[seed]
    label, prob = cs.generators.dirichlet((alpha,) * classes, temperature=2).sample(n, rng=seed)
    slow = []
    for binning, max_prob, apart, threshold in product(("even", "adaptive"), (True, False), (True, False), (0, 0.01)):
        slow += general(label, prob, binning, max_prob, apart, threshold)
    family = cs.gce_family(label, prob, n_bins=BINS)
    assert family.value == pytest.approx(slow, abs=1e-13)
    assert len({round(each, 9) for each in slow}) >= 16


def test_sce_ece_and_rmsce_by_name():
    label, prob = cs.generators.dirichlet((0.3,) * 4, temperature=2).sample(80, rng=3)
    family = cs.gce_family(label, prob, n_bins=BINS)
    assert family["SCE"] == pytest.approx(general(label, prob, "even", False, True, 0)[0], abs=1e-14)
    assert family["ECE"] == pytest.approx(binned_error(*hits_and_confidence(label, prob), BINS), abs=1e-14)
    assert family["ACE"] == pytest.approx(general(label, prob, "adaptive", False, True, 0)[0], abs=1e-14)
    assert family["TACE"] == pytest.approx(general(label, prob, "adaptive", False, True, 0.01)[0], abs=1e-14)
    assert family["RMSCE"] == pytest.approx(general(label, prob, "adaptive", True, False, 0)[1], abs=1e-14)


def test_figure_4_errors_that_cancel_in_a_bin():
    """450 times .52 with outcome 0 and 550 times .58 with outcome 1: .45 * .52 + .55 * .58 = .553 is predicted and .55
    happens, though the two are off by .52 and .42."""
    p, y = np.repeat([0.52, 0.58], [450, 550]), np.repeat([0, 1], [450, 550])
    assert cs.estimate(y, p, measure="ece", n_bins=10) == pytest.approx(0.003, abs=1e-12)
    assert cs.generators.hidden().truth("ece", n_bins=10) == pytest.approx(0.003, abs=1e-12)
    apart = 0.45 * 0.52 + 0.55 * 0.42
    assert cs.estimate(y, p, measure="ece", strategy="quantile", n_bins=2) == pytest.approx(apart, abs=1e-12)
    assert cs.generators.hidden().truth("ece", n_bins=None) == pytest.approx(apart, abs=1e-12)


def test_index_cuts_part_equal_probabilities_at_random_as_split_does_in_proportion():
    """The cuts of the paper, at the ranks of the rows, over many random orders of tied rows.

    1000 rows of two values, 7 to 3, and five bins: the bin with both values holds too high and too low predictions,
    which cancel there, and not if equal ones stay together.
    """
    random = np.random.default_rng(4)
    p = np.repeat([0.6, 0.9], [700, 300])
    prob = np.stack([1 - p, p], axis=1)
    y = (random.random(1000) < np.repeat([0.8, 0.6], [700, 300])).astype(int)
    cut = []
    for _ in range(200):
        order = np.lexsort((random.random(1000), p))
        cut.append(sum(0.2 * abs(y[rows].mean() - p[rows].mean()) for rows in np.split(order, 5)))
    options = {"measure": "gce", "binning": "adaptive", "max_prob": True, "class_conditional": False, "n_bins": 5}
    split = cs.estimate(y, prob, ties="split", **options)
    together = cs.estimate(y, prob, **options)
    assert split == pytest.approx(np.mean(cut), abs=0.004)
    assert abs(together - np.mean(cut)) > 0.01


def test_rmsce_of_100_rows_in_each_bin():
    """The recipe of the authors' library: as many bins as 100 rows go into the rows, and squares weighted by rows."""
    label, prob = cs.generators.dirichlet((0.3,) * 4, temperature=2).sample(399, rng=3)
    hit, confidence = hits_and_confidence(label, prob)
    order = np.argsort(confidence)
    hit, confidence = np.asarray(hit, float)[order], np.asarray(confidence)[order]
    square = 0.0
    for rows in np.split(np.arange(399), np.round(np.linspace(0, 399, 3, endpoint=False)).astype(int)[1:]):
        square += rows.size / 399 * (hit[rows].mean() - confidence[rows].mean()) ** 2
    rmsce = {"measure": "gce", "binning": "adaptive", "max_prob": True, "class_conditional": False, "norm": "l2"}
    assert cs.estimate(label, prob, **rmsce, n_bins="100 rows") == pytest.approx(square**0.5, abs=1e-13)
