"""The search for a wished power, on power functions that are known."""

import numpy as np
import pytest
from scipy import stats

from calibstat.inference.power.power_search import PowerPoint, solve_power

N = 10_000


def power_of(slope):
    """A one-sided z test at level .025: power Phi(slope x - 1.96), rejections rounded."""
    return lambda x: PowerPoint(x, round(N * stats.norm.cdf(slope * x - 1.96)), N)


@pytest.mark.parametrize("start", [1e-3, 0.3, 1.0, 8.0])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_the_answer_of_a_known_power(start, power):
    exact = (stats.norm.ppf(power) + 1.96) / 2.5
    found, points = solve_power(power_of(2.5), start, 50.0, power, 0.05)
    assert found == pytest.approx(exact, rel=0.02)
    assert len(points) <= (12 if start < 0.1 else 8)


def test_an_effect_that_is_never_found():
    found, points = solve_power(lambda x: PowerPoint(x, 300, N), 0.1, 7.0, 0.8, 0.05)
    assert found == np.inf
    assert points[-1].at == 7.0


def test_a_step():
    """All or nothing at 1: no line can be fitted, and the bracket is halved."""
    found, _ = solve_power(lambda x: PowerPoint(x, N if x >= 1 else 0, N), 0.3, 7.0, 0.8, 0.05)
    assert 0.5 < found < 2


def test_the_probit_is_finite():
    assert np.isfinite([PowerPoint(1.0, 0, 5).probit, PowerPoint(1.0, 5, 5).probit]).all()


def test_a_power_that_stays_just_below_the_wished_one():
    """At .75 whatever the strength: there is no line to read, and the largest strength that was tried is the answer."""
    found, points = solve_power(lambda x: PowerPoint(x, round(0.75 * N), N), 0.1, 1e9, 0.8, 0.05)
    assert found == points[-1].at == max(point.at for point in points)
