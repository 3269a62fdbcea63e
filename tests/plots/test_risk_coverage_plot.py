"""Pictures of risk and coverage."""

import numpy as np
import pytest

import calibstat as cs

Y, P = cs.generators.temperature(1.6).sample(2000, rng=1)


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_one_model_with_its_threshold():
    found = cs.risk_coverage(Y, P, max_error=0.15)
    ax = cs.plot(found)
    assert ax.get_xlabel() == "Answered, % of the rows"
    assert texts(ax) == ["model", "if calibrated", "in perfect order", "largest error allowed", "shown to be allowed"]
    assert ax.lines[0].get_ydata() == pytest.approx(100 * found.error)
    x, y = ax.lines[-1].get_data()
    assert (x, y) == (pytest.approx(100 * found.answered), pytest.approx(100 * found.observed))


def test_models_share_axes_and_a_missing_threshold_has_no_dot():
    found = cs.risk_coverage(Y, {"a": P, "b": P.round(1)})
    ax = cs.plot(found)
    assert texts(ax) == ["a", "b", "if calibrated", "in perfect order"]
    dots = [line for line in cs.plot(cs.risk_coverage(Y, P, max_error=0.001)).lines if line.get_marker() == "o"]
    assert len(dots) == 1  # of the legend
    assert not np.size(dots[0].get_xdata())


def test_a_few_levels_are_points():
    assert cs.plot(cs.risk_coverage(Y, np.full(2000, 0.7))).lines[0].get_marker() == "."
