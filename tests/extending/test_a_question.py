"""A question from outside of the package: on which side of a limit is the error, for any measure and kind of rows?"""

from dataclasses import dataclass

import numpy as np
import pytest

import calibstat as cs
from calibstat.inference.honest_ends import HonestEnds
from calibstat.inference.p_values import largest_p_value
from calibstat.inference.problems.pose import problem_of
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws


@dataclass(frozen=True, eq=False)
class Side:
    """Whether the error is shown to lie above a limit, below it, or neither; and the p-value of calibration."""

    above: bool
    below: bool
    pvalue: float

    def __str__(self):
        return "above" if self.above else "below" if self.below else "not known"


def side_of(y_true, y_prob, limit, *, measure="ks", cluster=None, rng=None, **rows):
    """Ask on which side of a limit the error of the population lies, at level .95."""
    data = cs.Data(y_true, y_prob, cluster=cluster, **rows)
    problem = problem_of(data, find_measure(measure, {}))
    drawn = problem.in_order("side_of") if cluster is None else problem.in_clusters(data.cluster)
    draws = Draws.of(rng, 199)
    ends = HonestEnds.of(drawn, draws)
    pvalue, _ = largest_p_value(drawn.statistic(), drawn.null_draws(draws))
    return Side(ends.low(0.1) > limit, ends.high(0.1) < limit, pvalue)


Y, P = cs.generators.temperature(3).sample(600, rng=1)


@pytest.mark.parametrize("measure", ["ks", "ece", "smooth_ece"])
def test_of_any_measure(measure):
    ends = cs.confidence_interval(Y, P, measure=measure, confidence_level=0.9, n_resamples=199, rng=1)
    for limit in (0.5 * ends.low, ends.estimate, 1.01 * ends.high):
        found = side_of(Y, P, limit, measure=measure, rng=1)
        assert (found.above, found.below) == (ends.low > limit, ends.high < limit)
    assert found.pvalue == cs.calibration_test(Y, P, measure=measure, n_resamples=199, rng=1).pvalue


def test_of_any_kind_of_rows():
    cluster, prob = np.arange(600) // 4, np.column_stack([1 - P, P])
    assert str(side_of(Y, P, 0.001, cluster=cluster, rng=1)) == "above"
    assert str(side_of(Y, P, 0.9, sample_weight=P + 0.1, rng=1)) == "below"
    assert str(side_of(Y, prob, 0.001, measure="canonical_ce", lens="canonical", rng=1)) == "above"
