"""The mean and the maximum over classes as one seminorm of the sums of all classes."""

import numpy as np
import pytest
from class_draws import KEY, example, slow_draw

import calibstat as cs
from calibstat.bounds.over_classes import REDUCERS, OneByOneInterval, OverClasses
from calibstat.measures import ECE, KS, DecisionLoss, KernelCE
from calibstat.resampling import Draws, Pairs, Stream

Y, P = cs.generators.dirichlet((0.5, 1, 2), temperature=1.5).sample(120, rng=1)
PREDICTIONS = cs.Predictions.from_rows(Y, P)
SAMPLES = [cs.Sample.from_rows(k == Y, P[:, k].round(1)) for k in range(3)]
MEASURES = [KS(), KernelCE(), ECE(n_bins=4)]


def intervals(measure, reduce):
    parts = [measure.interval(sample) for sample in SAMPLES]
    return OverClasses(parts, REDUCERS[reduce]), OneByOneInterval.of(parts, reduce, PREDICTIONS, None)


@pytest.mark.parametrize("reduce", ["mean", "max"])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_value_witness_and_ends(measure, reduce):
    found, _ = intervals(measure, reduce)
    each = [measure.estimate(sample) for sample in SAMPLES]
    assert found.estimate == pytest.approx(np.mean(each) if reduce == "mean" else max(each))
    weights = found.witness(found.theta)
    assert weights @ found.theta == pytest.approx(found.estimate)
    for other in np.random.default_rng(2).normal(size=(20, found.theta.size)):
        assert weights @ other <= found.value(other) + 1e-12  # it is one of the weights that are allowed
    highs = [part.high(0.025) for part in found.parts]
    assert found.high(0.025) == pytest.approx(np.mean(highs) if reduce == "mean" else max(highs))


@pytest.mark.parametrize("reduce", ["mean", "max"])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_one_by_one_is_the_same_bootstrap(measure, reduce):
    together, one_by_one = intervals(measure, reduce)
    theta = np.random.default_rng(3).normal(0, 0.01, (5, together.theta.size))
    begin = np.cumsum([part.theta.size for part in together.parts])[:-1]
    assert together.directional(theta) == pytest.approx(
        [one_by_one.directional(np.split(each, begin)) for each in theta]
    )


def test_what_a_row_may_add():
    """The residuals of a row add up to at most 2 in size, and the mean divides them by the number of classes."""
    mean, largest = (intervals(KS(), reduce)[0].tail_bound(0.025) for reduce in ("mean", "max"))
    assert (mean.largest, largest.largest) == (pytest.approx(2 / 3), 1.0)
    assert mean.z == largest.z


# --- resamples of one class at a time, against plain loops over the drawn rows ----------------------------------------


N, DRAWS = 40, Draws(KEY, 8)
TIED = example(N, 3, digits=1)
WEIGHT = 1.0 + np.arange(N) % 3


def residuals(k, value, rows, label, weight):
    at = np.searchsorted(value, TIED.prob[rows, k])
    return np.bincount(at, weight * ((label == k) - TIED.prob[rows, k]), value.size)


def shares(k, value, rows, label, weight):
    at = [(TIED.prob[rows, k] == v) & ((label == k) == y) for v in value for y in (0, 1)]
    return np.array([weight[rows].sum() for rows in at])


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["rows", "weights"])
@pytest.mark.parametrize(("measure", "sums"), [(KS(), residuals), (DecisionLoss(), shares)], ids=["ks", "gain"])
def test_each_class_at_its_distinct_predictions(measure, sums, weight):
    interval = measure.interval_over_classes(TIED, "mean", weight)
    found, each = interval.resampled(DRAWS), np.ones(N) if weight is None else weight
    for r in range(DRAWS.n):
        rows, label = slow_draw(TIED, Pairs(), r, Stream.ROWS)
        expected = []
        for k in range(3):
            expected.append(sums(k, np.unique(TIED.prob[:, k]), rows, label, each[rows]) / each[rows].sum())
            known = interval.sums(k, rows, label, None if weight is None else weight[rows])
            assert known == pytest.approx(expected[k], abs=1e-12)
        assert found[r] == pytest.approx(interval.directional(expected), abs=1e-12)


def test_its_parts_do_without_their_summaries():
    assert {part.table.sample for part in KS().interval_over_classes(TIED, "mean").parts} == {None}
