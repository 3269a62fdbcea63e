"""Curves of errors over n: one that does not vanish is seen not to fall, and what is not known is not drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import calibstat as cs


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def drawn_errors(axes):
    """The errors that are drawn with bars."""
    (found,) = axes.containers
    return found.lines[0].get_ydata()


def error_table(errors, order):
    """The table of one error that is known."""
    row = {"question": "consistency", "generator": "g", "n": 10_000, "measure": "m", "method": "rmse", "replicates": 9}
    row |= {"n_from": 100, "truth": 0.1, "order": order, "order_se": 0.01}
    return pd.DataFrame(
        [row | {f"error_{n}{se}": v for n, e in errors.items() for se, v in (("", e), ("_se", e / 20))}]
    )


def test_an_error_that_does_not_vanish_is_a_curve_that_does_not_fall():
    """On an axis that is long enough for one of order 1/2, 0.05 is level with 0.049, and dashes fall at the order."""
    figure = cs.study.plot(error_table({100: 0.05, 1000: 0.05, 10_000: 0.049}, 0.004))
    axes = figure.axes[0]
    assert np.divide(*axes.get_ylim()[::-1]) >= 10
    (dashed,) = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert np.divide(*dashed.get_ydata()[[0, -1]]) == pytest.approx(100**0.004)
    figure = cs.study.plot(error_table({100: 0.05, 1000: 0.05 / 10**0.5, 10_000: 0.005}, 0.5))
    (dashed,) = [line for line in figure.axes[0].lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(dashed.get_ydata(), [0.05, 0.05 / 10**0.5, 0.005])  # the line goes through the errors


def test_an_error_that_is_zero_or_not_known_is_not_drawn_and_has_no_line():
    figure = cs.study.plot(error_table({100: 0.05, 1000: 0.0, 10_000: np.nan}, np.nan))
    assert np.isfinite(drawn_errors(figure.axes[0])).tolist() == [True, False, False]
    (dashed,) = [line for line in figure.axes[0].lines if line.get_linestyle() == "--"]
    assert np.isnan(dashed.get_ydata()).all()
    figure = cs.study.plot(error_table({100: np.nan, 1000: np.nan, 10_000: np.nan}, np.nan))  # nothing to see
    figure.draw_without_rendering()


def test_of_many_measures_only_the_orders_are_drawn():
    table = error_table({100: 0.05, 1000: 0.02, 10_000: 0.01}, 0.4)
    many = pd.concat([table.assign(measure=f"measure {k}") for k in range(11)], ignore_index=True)
    assert len(cs.study.plot(many).axes) == 1
    assert len(cs.study.plot(many[:10]).axes) == 2
