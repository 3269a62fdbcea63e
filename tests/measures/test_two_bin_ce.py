import itertools

import numpy as np
import pytest
from hypothesis import given
from posed_problem import pose
from row_strategies import rows, weighted_rows

import calibstat as cs
from calibstat.bounds.intervals import SeminormInterval
from calibstat.measures.two_bin_ce import TwoBinCE


def all_pairs(y, p, weight):
    """The root of the mean over pairs of rows."""
    residual = weight * (y - p) / weight.sum()
    return np.sqrt(max(residual @ (1 - np.abs(p[:, None] - p)) @ residual, 0.0))


@given(weighted_rows())
def test_against_all_pairs(data):
    y, p, weight = data
    found = cs.estimate(y, p, measure="two_bin_ce", sample_weight=weight)
    assert found == pytest.approx(all_pairs(y, p, weight), abs=1e-7)
    assert found**2 == pytest.approx(all_pairs(y, p, weight) ** 2, abs=1e-13)


@given(rows())
def test_against_two_bins_with_each_edge(data):
    """The sums are constant between two predictions."""
    y, p = data
    edges = np.unique(np.concatenate([[0.0, 1.0], p]))
    mean = 0.0
    for low, high in itertools.pairwise(edges):
        below = p <= low
        mean += (high - low) * ((y - p)[below].sum() ** 2 + (y - p)[~below].sum() ** 2)
    assert cs.estimate(y, p, measure="two_bin_ce") ** 2 == pytest.approx(mean / y.size**2, abs=1e-13)


def test_by_hand():
    # residuals -.5 and 1 half a unit apart: squares .25 + 1 - 2 * .5 * .5, over 2**2 rows
    assert cs.estimate([0, 1], [0.5, 0.0], measure="two_bin_ce") == pytest.approx(np.sqrt(0.75) / 2)


@given(rows())
def test_one_pass_and_witness_are_the_measure(data):
    sample = cs.Sample.from_rows(*data)
    expected = cs.estimate(sample, measure="two_bin_ce")
    one_pass = TwoBinCE().one_pass(*sample.arrays)
    both = np.stack([sample.residual, -2 * sample.residual])
    assert one_pass.of(both) ** 2 == pytest.approx([expected**2, 4 * expected**2], abs=1e-13)
    witness = cs.detail(sample, measure="two_bin_ce")["witness"]
    kernel = 1 - np.abs(sample.value[:, None] - sample.value)
    assert witness * expected == pytest.approx(kernel @ sample.residual, abs=1e-12)


@given(rows())
def test_it_is_at_most_kuiper_times_the_root_of_2(data):
    """Either side of an edge is an interval of predictions, so that both squares are at most Kuiper's."""
    sample = cs.Sample.from_rows(*data)
    assert cs.estimate(sample, measure="two_bin_ce") <= np.sqrt(2) * cs.estimate(sample, measure="kuiper") + 1e-9


def test_it_may_be_above_kuiper():
    # residuals 1/4 at 0 and -.9/4 at .9: the square is .0625 + .050625 - 2 * .25 * .225 * .1 = .101875, Kuiper is 1/4
    sample = cs.Sample.from_counts([0.0, 0.9], [3, 1], [1, 0])
    assert cs.estimate(sample, measure="two_bin_ce") == pytest.approx(np.sqrt(0.101875))
    assert cs.estimate(sample, measure="kuiper") == pytest.approx(0.25)


@given(rows(max_size=8))
def test_the_square_is_truthful(data):
    """For any true probabilities, by the law of all outcomes: no other predictions have a smaller mean square."""
    other, truth = np.clip(data[1], 0.01, 0.99), np.random.default_rng(data[0].size).random(data[0].size)

    def mean_square(p):
        mean = 0.0
        for outcome in itertools.product((0, 1), repeat=truth.size):
            y = np.array(outcome)
            chance = np.prod(np.where(y, truth, 1 - truth))
            mean += chance * all_pairs(y, p, np.ones(y.size)) ** 2
        return mean

    assert mean_square(truth) == pytest.approx((truth * (1 - truth)).sum() / truth.size**2, abs=1e-12)
    assert mean_square(truth) <= mean_square(other) + 1e-12


def test_the_unbiased_square_is_not_truthful():
    """The mean product over different rows is 0 at the truth, and below 0 for errors that take turns."""
    outcomes = list(itertools.product((0, 1), repeat=2))  # of two rows of probability .5
    of_other, of_truth = (
        np.mean([cs.estimate(y, p, measure="kernel_ce_squared") for y in outcomes]) for p in ([0.4, 0.6], [0.5, 0.5])
    )
    assert of_truth == pytest.approx(0, abs=1e-15)
    assert of_other < 0


@pytest.mark.parametrize("kind", [{}, {"sample_weight": 1}, {"cluster": 1}, {"sample_weight": 1, "cluster": 1}])
def test_intervals_hold_the_estimate(kind):
    y, p = cs.generators.temperature(2).sample(400, rng=1)
    given = {"sample_weight": np.random.default_rng(1).gamma(3, size=400), "cluster": np.arange(400) // 4}
    asked = {"measure": "two_bin_ce", "n_resamples": 99, "rng": 1, **{name: given[name] for name in kind}}
    found = cs.confidence_interval(y, p, **asked)
    assert 0 <= found.low <= found.estimate < found.high < 1


@given(rows())
def test_the_high_end_is_the_closed_form_of_kernels(data):
    """No weights in the unit ball have a larger bound, without skewness: docs/evidence/proofs/kernel-ce.md."""
    y, p = data
    interval, table = pose(y, p, "two_bin_ce", {}).interval_of_rows(slice(None))
    assert isinstance(interval, SeminormInterval)
    high = interval.high(0.025)
    value, moments = np.unique(p), table.moments
    kernel = 1 - np.abs(value[:, None] - value)
    random = np.random.default_rng(y.size)
    for coefficients in random.normal(size=(20, value.size)):
        weights = kernel @ coefficients / np.sqrt(coefficients @ kernel @ coefficients)
        total, variance, *_ = moments.of(weights)
        assert (total + 1.959 * np.sqrt(max(variance, 0.0))) / y.size <= high + 1e-9
