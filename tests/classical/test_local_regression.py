"""Local regression of outcomes on predictions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.nonparametric.smoothers_lowess import lowess as lowess_of_statsmodels
from val_prob_rows import FOLDER, NAMES, stored

import calibstat as cs
from calibstat.classical import local_regression
from calibstat.classical.local_regression import lowess

RNG = np.random.default_rng(1)


def slow(sample, points):
    """A weighted least-squares line at each of these points; distances are sorted for each."""
    value, count, positives = sample.arrays
    near = max(int(2 / 3 * sample.n + 1e-7), 2)
    found = []
    for x in points:
        distance = np.abs(value - x)
        order = np.argsort(distance, kind="stable")
        reach = distance[order][np.searchsorted(np.cumsum(count[order]), near)]
        if reach == 0:
            found.append((positives / count)[value == x][0])
            continue
        weight = count * (1 - np.minimum(distance / reach, 1) ** 3) ** 3
        some = weight > 0
        root = np.sqrt(weight[some])
        lines = np.column_stack([root, root * (value[some] - x) / reach])
        found.append(np.linalg.lstsq(lines, root * (positives / count)[some], rcond=1e-6)[0][0])
    return np.array(found)


def points_of_r(value):
    """The points that R chooses among distinct predictions, row by row."""
    step, last, chosen = 0.01 * (value[-1] - value[0]), value[0], [value[0]]
    for k in range(1, value.size):
        ahead = value[k + 1] if k + 1 < value.size else np.inf
        if value[k] > last + step or ahead > last + step:
            last = value[k]
            chosen.append(last)
    return np.array(chosen)


def drawn(p):
    return cs.Sample.from_rows((RNG.random(p.size) < p).astype(float), p)


@pytest.mark.parametrize(
    "p", [RNG.random(300), RNG.choice([0.1, 0.3, 0.5], 300), RNG.beta(0.2, 3, 200), np.round(RNG.random(300), 2)]
)
def test_it_is_a_weighted_line_at_the_points_that_r_chooses(p):
    sample = drawn(p)
    points, found = lowess(sample)
    assert points == pytest.approx(points_of_r(sample.value), abs=0)
    assert found == pytest.approx(slow(sample, points), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_lowess_of_r(name):
    of_r = pd.read_csv(FOLDER / "curves.csv", comment="#").query("rows == @name")
    points, found = lowess(cs.Sample.from_rows(*stored(name)))
    assert np.interp(of_r.p, points, found) == pytest.approx(of_r.lowess, abs=1e-9)
    assert (found.min() < 0) == (name != "over_confident")  # neither R nor this keeps it within 0 and 1


def test_without_ties_it_is_lowess_of_statsmodels():
    p = np.sort(RNG.random(400))
    y = (RNG.random(400) < p**2).astype(float)
    every = lowess_of_statsmodels(y, p, frac=2 / 3, it=0, delta=0.01 * np.ptp(p), return_sorted=False)
    assert np.interp(p, *lowess(cs.Sample.from_rows(y, p))) == pytest.approx(every, abs=1e-6)


def test_many_predictions_have_few_points():
    sample = drawn(np.linspace(0, 1, 5000))
    points, found = lowess(sample)
    assert 100 < points.size <= 202
    assert found[::10] == pytest.approx(slow(sample, points[::10]), abs=1e-9)


@pytest.mark.parametrize("power", [1, 4])
def test_groups_of_neighbours_have_nearly_the_same_line(power, monkeypatch):
    sample = drawn(RNG.random(40_000) ** power)
    found = lowess(sample)[1]
    monkeypatch.setattr(local_regression, "MOST_VALUES", sample.value.size)
    assert found == pytest.approx(lowess(sample)[1], abs=1e-5)
    monkeypatch.setattr(local_regression, "MOST_VALUES", 50)
    assert found != pytest.approx(lowess(sample)[1], abs=1e-5)  # the twin: groups too wide


def test_groups_around_a_prediction_that_most_rows_share(monkeypatch):
    """Of a point beside it the near rows are closer than its group is wide; far from it nothing changes."""
    p = np.concatenate([np.full(60_000, 0.3), np.linspace(0, 1, 15_001)])
    y = (np.arange(p.size) % 10 < 4).astype(float)
    sample = cs.Sample.from_rows(y, p)
    points, found = lowess(sample)
    assert np.isfinite(found).all()
    monkeypatch.setattr(local_regression, "MOST_VALUES", sample.value.size)
    far = np.abs(points - 0.3) > 0.05
    assert found[far] == pytest.approx(lowess(sample)[1][far], abs=1e-3)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.booleans(), st.integers(1, 5)), min_size=1, max_size=12
    )
)
def test_outcomes_on_a_line_stay_on_it(rows):
    """Whatever the rows, a local line is exact for frequencies on a line; here positives are count * prediction."""
    p, _, count = (np.array(column, float) for column in zip(*rows, strict=True))
    sample = cs.Sample.from_counts(p, 10 * count, 10 * count * p)
    points, found = lowess(sample)
    assert (points[0], points[-1]) == (sample.value[0], sample.value[-1])
    assert found == pytest.approx(points, abs=1e-6)
