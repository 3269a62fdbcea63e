"""Samples of every class, drawn together: one class a row, and each class by itself."""

import numpy as np
import pytest
from class_draws import FALSE_ALARM, KEY, draws, example, names
from scipy import stats

import calibstat as cs
from calibstat.inference.problems.resample import resampler
from calibstat.measures.kinds import registry
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Consistency, Draws, Labels, Pairs


@pytest.fixture
def share(monkeypatch):
    """A measure of one event that is the share of positives, times 1000 if rows were lost."""
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))

    @cs.measure("share", bounds=(0, 1))
    def share(value, count, positives):
        """Return the share of positives."""
        return positives.sum() / count.sum() if count.sum() == 60 else 1000.0

    return registry._REGISTRY["share"]()


@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=names)
def test_every_row_has_one_class(scheme, share):
    predictions = example(60, 5, digits=1)
    drawn = resampler(share, predictions, scheme, 1)(Draws(KEY, 300))
    assert drawn.shape == (300, 5)
    np.testing.assert_allclose(drawn.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert np.any(drawn[0] != drawn[1])


def test_joint_distribution_of_two_classes(share):
    """Positives of two classes have the covariance of one draw a row, minus the sum of p_a p_b, and not 0."""
    predictions = example(60, 3)
    drawn = 60 * resampler(share, predictions, Labels(), 1)(Draws(KEY, 20_000))
    prob = predictions.prob
    a, b = drawn[:, 0] - prob[:, 0].sum(), drawn[:, 1] - prob[:, 1].sum()
    limit = stats.norm.isf(FALSE_ALARM / 2) * (a * b).std() / np.sqrt(20_000)
    assert abs((a * b).mean() + (prob[:, 0] * prob[:, 1]).sum()) < limit
    assert abs((a * b).mean()) > limit  # planted fault: independent draws for each class


EVENTS = {
    "ece": {},
    "ece, quantiles": {"strategy": "quantile", "n_bins": 4},
    "ece, cube root": {"n_bins": "cube_root", "norm": "l2"},
    "ece, largest": {"norm": "max", "n_bins": 3},
    "average_ce": {"n_bins": 4},
    "ece_width": {"n_bins": 4},
    "ece_debiased": {"n_bins": 3},
    "ks": {},
    "brier": {},
}


@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=names)
@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_class_by_itself(name, scheme, dtype):
    predictions = example(60, 4, digits=1 if dtype == np.float64 else None, dtype=dtype)
    bound = find_measure(name.split(",")[0], EVENTS[name])
    drawn = resampler(bound, predictions, scheme, 1)(Draws(KEY, 12))
    for found, (prob, label) in zip(drawn, draws(predictions, scheme, 12), strict=True):
        for k in range(4):
            sample = cs.Sample.from_rows(label == k, prob[:, k])
            whole = cs.Sample.from_rows(predictions.label == k, predictions.prob[:, k])
            held = bound.with_fixed_cells(whole.value, whole.count)  # the cells of the data
            assert found[k] == pytest.approx(held.evaluate(*sample.arrays), rel=1e-9, abs=1e-12)
