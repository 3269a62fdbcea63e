"""A user-defined measure of classes, registered by its function alone, in every verb."""

import numpy as np
import pytest
from class_examples import example

import calibstat as cs
from calibstat import resampling
from calibstat.data import lenses
from calibstat.inference.problems.resample import resampler
from calibstat.measures.kinds import registry
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws, Labels, Pairs, Stream

from_rows = cs.Predictions.from_rows


@pytest.fixture
def hits():
    """A measure of vectors with nothing but its function: off by how much the rows are right more often than said."""

    @cs.measure("hits", bounds=(0, 1))
    def hits(prob, label, *, power=1.0):
        """Return the absolute difference of accuracy and confidence, to a power."""
        return abs((prob.argmax(axis=1) == label).mean() - prob.max(axis=1).mean()) ** power

    yield hits
    registry._REGISTRY.pop("hits")


def test_a_user_defined_measure(hits):
    label, prob = example(50, 4, temperature=1.5)
    predictions, bound = resampling.in_order(from_rows(label, prob)), find_measure("hits", {"power": 2.0})
    assert cs.estimate(label, prob, measure="hits", power=2.0) == hits(prob, label, power=2.0)
    found = cs.calibration_test(label, prob, measure="hits", power=2.0, n_resamples=29, rng=1)
    drawn = resampling.draw(predictions, Labels(), np.copy, Draws.of(1, 29), Stream.LABELS)
    assert found.null_distribution.tolist() == [hits(predictions.prob, label, power=2.0) for label in drawn]
    assert str(found.measure) == "hits(power=2.0)"
    assert str(found.lens) == "lens canonical"
    drawn = resampler(bound, predictions, Pairs(), Stream.ROWS)(Draws.of(1, 59))
    given = {"measure": "hits", "power": 2.0, "n_resamples": 59, "rng": 1, "confidence_level": 0.9}
    percentile, basic = (cs.confidence_interval(label, prob, method=m, **given) for m in ("percentile", "basic"))
    low, high = np.quantile(drawn, [0.05, 0.95])
    estimate = hits(prob, label, power=2.0)
    assert (percentile.low, percentile.high) == pytest.approx((low, high))
    assert (basic.low, basic.high) == pytest.approx((max(2 * estimate - high, 0), max(2 * estimate - low, 0)))
    with pytest.raises(ValueError, match=r"no honest interval is known for hits.*methods percentile, basic$"):
        cs.confidence_interval(label, prob, measure="hits")
    assert cs.estimate(label, prob, measure="hits", lens=lenses.groups([[0, 1], [2, 3]])) >= 0
