"""Class-wise intervals and comparisons of rows with weights."""

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.bounds.absolute_norms import over_classes
from calibstat.bounds.moments import SeparableMoments
from calibstat.measures import ECE, KS

N = 150
RNG = np.random.default_rng(3)
Y, P = cs.generators.dirichlet((1, 1, 1), temperature=2.0).sample(N, 3)
Q = P**0.6 / (P**0.6).sum(axis=1, keepdims=True)
WEIGHT = RNG.gamma(2.0, 1.0, N)
WEIGHT[:4] = 0.0
ERRORS = [
    {"measure": "ece"},
    {"measure": "ece", "strategy": "quantile"},
    {"measure": "ks"},
    {"measure": "kernel_ce", "kernel": "gaussian"},
]
DRAWN = {"n_resamples": 49, "rng": 1}
OVER_CLASSES = ["class_wise_mean", "class_wise_max"]
FALSE_ALARM = 1e-4


def interval(y, p, weight, **asked):
    return cs.confidence_interval(y, p, sample_weight=weight, **{**DRAWN, **asked})


def ends(found):
    return float(found.low), float(found.estimate), float(found.high)


@pytest.mark.parametrize("lens", OVER_CLASSES)
@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_what_does_not_matter(error, lens):
    """Rows without weight, the unit of the weights, the order of the rows, and the number of threads."""
    found = ends(interval(Y, P, WEIGHT, lens=lens, **error))
    each = cs.estimate(Y, P, sample_weight=WEIGHT, lens="class_wise", **error)
    assert found[1] == pytest.approx(each.mean() if lens == "class_wise_mean" else each.max())
    kept = WEIGHT > 0
    assert ends(interval(Y[kept], P[kept], WEIGHT[kept], lens=lens, **error)) == found
    assert ends(interval(Y[::-1], P[::-1], WEIGHT[::-1], lens=lens, **error)) == pytest.approx(found, abs=1e-12)
    assert ends(interval(Y, P, WEIGHT, lens=lens, n_jobs=2, **error)) == found
    assert ends(interval(Y, P, 8 * WEIGHT, lens=lens, **error)) == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("lens", OVER_CLASSES)
@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_equal_weights_are_nearly_none(error, lens):
    """Beside weights third moments are about the mean, and quantiles are Student's."""
    alone = cs.confidence_interval(Y, P, lens=lens, **DRAWN, **error)
    equal = interval(Y, P, np.full(N, 3.0), lens=lens, **error)
    assert equal.estimate == pytest.approx(alone.estimate)
    assert equal.high == pytest.approx(alone.high, rel=0.05)
    unequal = interval(Y, P, WEIGHT**2, lens=lens, **error)
    assert unequal.high - unequal.estimate > alone.high - alone.estimate  # fewer rows count


def test_two_classes_are_one_event():
    """A kernel error of either class is that of the event; the mean and the maximum have its high end."""
    y, p = (Y > 0).astype(int), 1 - P[:, 0]
    one = cs.confidence_interval(y, p, measure="kernel_ce", sample_weight=WEIGHT, rng=1)
    for lens in OVER_CLASSES:
        found = interval(y, np.stack([1 - p, p], axis=1), WEIGHT, measure="kernel_ce", lens=lens)
        assert (found.estimate, found.high) == pytest.approx((one.estimate, one.high))


def test_moments_of_one_class_are_of_its_rows():
    predictions = cs.Predictions.from_rows(Y[4:], P[4:])
    weight = WEIGHT[4:]
    index, count, value = ECE(n_bins=4).class_cells(predictions, weight)
    assert count.sum(axis=1) == pytest.approx(np.full(3, weight.sum()))
    _, table = over_classes(index, value, predictions, weight, "max")
    for k in range(3):
        cells = slice(4 * k, 4 * k + 4)
        residual = (predictions.label == k) - predictions.prob[:, k]
        expected = SeparableMoments.of_rows(index[:, k], residual, 4, weight, predictions.prob[:, k])
        assert table.theta[cells] == pytest.approx(expected.total / weight.sum())
        found = table.moments.of_cells(cells)
        assert np.array(found.powers) == pytest.approx(np.array(expected.powers))
        assert found.largest_square == pytest.approx(expected.largest_square)
        tail_bound = expected.tail_bound(0.025)
        assert found.absolute_sum_bound(tail_bound) == pytest.approx(expected.absolute_sum_bound(tail_bound))


def test_moments_of_a_summary_with_weights_are_of_its_rows():
    predictions = cs.Predictions.from_rows(Y[4:], np.round(P[4:], 12))
    parts = KS().interval_over_classes(predictions, "mean", WEIGHT[4:]).parts
    for k, part in enumerate(parts):
        value, cell = np.unique(predictions.prob[:, k], return_inverse=True)
        residual = (predictions.label == k) - predictions.prob[:, k]
        expected = SeparableMoments.of_rows(cell, residual, value.size, WEIGHT[4:])
        assert np.array(part.table.moments.powers) == pytest.approx(np.array(expected.powers))
        assert part.theta == pytest.approx(expected.total / WEIGHT[4:].sum())


@pytest.mark.parametrize("lens", OVER_CLASSES)
def test_comparisons(lens):
    settings = {**DRAWN, "measure": "ece", "lens": lens, "n_bins": 5}
    found = cs.compare(Y, {"P": P, "Q": Q}, sample_weight=WEIGHT, **settings)
    assert found.estimates == pytest.approx([ends(interval(Y, p, WEIGHT, **settings))[1] for p in (P, Q)])
    assert found.low < found.difference < found.high
    turned = cs.compare(Y, {"Q": Q, "P": P}, sample_weight=5 * WEIGHT, **settings)
    assert (-turned.high[0], -turned.low[0]) == pytest.approx((found.low[0], found.high[0]))
    alone = cs.compare(Y, {"P": P, "Q": Q}, **settings)
    equal = cs.compare(Y, {"P": P, "Q": Q}, sample_weight=np.full(N, 2.0), **settings)
    for name in ("low", "high"):
        assert getattr(equal, name) == pytest.approx(getattr(alone, name), abs=0.02)
    with pytest.raises(ValueError, match="no honest comparison of rows with weights is known for mcb"):
        cs.compare(Y, {"P": P, "Q": Q}, sample_weight=WEIGHT, lens=lens, measure="mcb")


def misses(measure, weights, with_weights, sets=300):
    """How often either end misses the error of the population in which rows count by their weights."""
    family = cs.generators.dirichlet((1, 1, 1), temperature=1.2)

    def sample(n, rng):
        if weights != "by class":
            return family.sample(n, rng, weights=weights)
        y, p = family.sample(n, rng)
        return y, p, None, 1.0 + 9 * (y == 0)

    y, p, _, weight = sample(100_000, 1)
    truth = cs.estimate(y, p, measure=measure, lens="class_wise", sample_weight=weight).mean()
    low = high = 0
    for r in range(sets):
        y, p, _, weight = sample(300, [7, r])
        given = weight if with_weights else None
        found = cs.confidence_interval(
            y, p, measure=measure, lens="class_wise_mean", sample_weight=given, n_resamples=99, rng=r
        )
        low, high = low + (found.low > truth), high + (found.high < truth)
    return low, high


MOST = stats.binom.isf(FALSE_ALARM, 300, 0.03)


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["independent", "related", "determined", "by class"])
@pytest.mark.parametrize("measure", ["ece", "ks"])
def test_coverage_with_weights(measure, weights):
    """Rows may not be calibrated by their weights even if the model is."""
    assert max(misses(measure, weights, True)) <= MOST


@pytest.mark.slow
def test_ignoring_weights_is_noticed():
    assert max(misses("ks", "by class", False)) > MOST
