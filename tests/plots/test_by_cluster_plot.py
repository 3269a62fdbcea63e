"""The forest plot of clusters shows O/E of each, the mean over them and O/E of all rows, and nothing overlaps."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from plotted_results import legend, outside, overlapping

import calibstat as cs

pytestmark = [
    pytest.mark.usefixtures("closed_figures"),
    pytest.mark.filterwarnings("ignore:.*clusters are few:UserWarning"),
]
LONG = "a $hospital$ with a name that goes on and on"


def table(k, m=60):
    random = np.random.default_rng(k)
    place = np.repeat(np.arange(k), m)
    p = random.beta(2, 5, k * m)
    y = random.random(k * m) < p ** random.choice([0.7, 1.0, 1.4], k)[place]
    names = np.array([f"{LONG} {c}"[-40:] if c % 2 else f"{c}" for c in range(k)])
    return cs.validate(y & (place > 0), p, cluster=names[place]).by_cluster


def bars(ax):
    """The ends of all horizontal lines, a row each."""
    return np.array([s[:, 0] for c in ax.collections if isinstance(c, LineCollection) for s in c.get_segments()])


@pytest.mark.parametrize("k", [2, 3, 12, 40, 200])
def test_it_shows_each_cluster_and_both_means(k):
    found = table(k)
    ax = cs.plot(found)
    right = ax.get_xlim()[1]
    ends = np.minimum(np.vstack([found.ratio_interval, [found.ratio_of_rows_interval]]), [np.inf, right])
    order = np.arange(k) if k <= 40 else np.argsort(found.ratio, kind="stable")
    assert bars(ax) == pytest.approx(ends[[*order, k]])
    points = [line for line in ax.lines if line.get_marker() == "o"]
    assert points[0].get_xdata() == pytest.approx(found.ratio[order])
    diamond = next(patch for patch in ax.patches if patch.get_label() == "mean over clusters").get_xy()[:4, 0]
    low, high = found.mean_ratio.interval
    assert diamond == pytest.approx([low, found.mean_ratio.mean, high, found.mean_ratio.mean])
    assert [label.get_text() for label in ax.get_yticklabels()][-2:] == ["mean over clusters", "all rows"]
    assert len(ax.get_yticklabels()) == (k + 2 if k <= 40 else 2)
    assert ("a further cluster, approximately" in legend(ax)) == (k > 2)
    assert f"{found.mean_ratio.mean:.2f} ({low:.2f} to {high:.2f})" in [text.get_text() for text in ax.texts]
    assert overlapping(ax.figure) == []
    assert outside(ax.figure) == []


def test_an_interval_that_is_cut_off_has_an_arrow():
    random = np.random.default_rng(4)
    place = np.repeat(np.arange(12), [3] + [300] * 11)
    p = random.uniform(0.1, 0.2, place.size)
    found = cs.validate((random.random(p.size) < p).astype(int), p, cluster=place).by_cluster
    ax = cs.plot(found)
    right = ax.get_xlim()[1]
    assert found.ratio_interval[0, 1] > right
    arrows = np.concatenate([line.get_ydata() for line in ax.lines if line.get_marker() == ">"])
    assert 0 in arrows
    assert set(arrows) <= {0.0, 13.5, 13.0}


def test_clusters_that_have_no_mean_are_drawn():
    found = cs.validate(np.zeros(60, int), np.linspace(0.1, 0.4, 60), cluster=np.arange(60) % 3).by_cluster
    ax = cs.plot(found, plt.subplots()[1])
    assert "mean over clusters" not in legend(ax)
    ax.figure.draw_without_rendering()
