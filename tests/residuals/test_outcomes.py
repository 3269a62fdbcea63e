"""Shares of rows by outcome that are drawn, against plain loops over the drawn rows."""

import numpy as np
import pytest
from class_draws import KEY, example, slow_draw

import calibstat as cs
from calibstat.measures import DecisionLoss
from calibstat.resampling import Draws, Pairs, draw
from calibstat.residuals.outcomes import EachClassShares, OutcomeShares

N, DRAWS = 40, Draws(KEY, 8)
PREDICTIONS = example(N, 3, digits=1)


def test_shares_of_a_summary():
    y, p = cs.generators.calibrated().sample(60, 1)
    sample = cs.Sample.from_rows(y, np.round(p, 1))
    found = OutcomeShares(sample).resampled(np.copy, DRAWS, 1)
    counts = draw(sample, Pairs(), lambda _, count, positives: np.stack([count, positives]), DRAWS, 1)
    assert found[:, ::2] == pytest.approx((counts[:, 0] - counts[:, 1]) / 60)
    assert found[:, 1::2] == pytest.approx(counts[:, 1] / 60)
    assert found.sum(axis=1) == pytest.approx(np.ones(DRAWS.n))


@pytest.mark.parametrize("weight", [None, 1.0 + np.arange(N) % 3])
def test_each_class_at_its_distinct_predictions(weight):
    found = EachClassShares(PREDICTIONS, weight).resampled(lambda thetas: np.concatenate(list(thetas)), DRAWS, 1)
    interval = DecisionLoss().interval_over_classes(PREDICTIONS, "mean", weight)
    directional = EachClassShares(PREDICTIONS, weight).resampled(interval.directional, DRAWS, 1)
    for r, (rows, label) in enumerate(slow_draw(PREDICTIONS, Pairs(), r) for r in range(DRAWS.n)):
        expected = []
        for k in range(3):
            value, shares = np.unique(PREDICTIONS.prob[:, k]), []
            counts = np.ones(N) if weight is None else weight[rows]
            for v in value:
                shares += [counts[(PREDICTIONS.prob[rows, k] == v) & ((label == k) == y)].sum() for y in (0, 1)]
            expected.append(np.array(shares) / counts.sum())
        assert found[r] == pytest.approx(np.concatenate(expected), abs=1e-12)
        assert directional[r] == pytest.approx(interval.directional(expected), abs=1e-12)
