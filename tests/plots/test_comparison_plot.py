"""Plots of comparisons show the differences of the result."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from compared_models import three_models, two_models
from matplotlib.collections import LineCollection

import calibstat as cs


@pytest.fixture
def close_figures():
    yield
    plt.close("all")


@pytest.mark.usefixtures("close_figures")
@pytest.mark.parametrize("number", [2, 3, 10])
def test_a_picture_shows_differences(number):
    y, p, _ = two_models(200, ties=False)
    models = {f"model {i} $x$": p ** (1 + i / 5) for i in range(number)}
    found = cs.compare(y, models, measure="brier", n_resamples=99, rng=1)
    axes = cs.plot(found)
    (left,) = axes.figure.axes
    (bars,) = [each for each in left.collections if isinstance(each, LineCollection)]
    ends = np.array([segment[:, 0] for segment in bars.get_segments()])
    assert ends == pytest.approx(np.column_stack((found.low, found.high)))
    points = np.concatenate([line.get_xdata() for line in left.lines if line.get_linestyle() == "None"])
    assert np.sort(points) == pytest.approx(np.sort(found.difference))
    assert {text.get_text() for text in left.texts} == {f"{p:.2g}" for p in found.pvalue_adjusted} | {
        "p" if number == 2 else "p (Holm)"
    }
    axes.figure.draw_without_rendering()


@pytest.mark.usefixtures("close_figures")
def test_numbers_with_many_decimals_do_not_touch():
    y, p, _ = two_models(200, ties=False)
    models = {f"a long name of model {i}": p ** (1 + i / 200) for i in range(3)}
    axes = cs.plot(cs.compare(y, models, measure="brier", rng=1))
    axes.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    assert len(boxes) > 2
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


@pytest.mark.usefixtures("close_figures")
def test_a_picture_of_a_permutation_test_and_one_in_given_axes():
    y, models = three_models()
    permuted = cs.plot(cs.compare(y, models, method="swap", n_resamples=19, rng=1))
    assert len(permuted.figure.axes) == 1
    assert not [each for each in permuted.collections if isinstance(each, LineCollection)]
    _, given = plt.subplots()
    assert cs.plot(cs.compare(y, models, n_resamples=19, rng=1), given) is given
    assert len(given.figure.axes) == 1
