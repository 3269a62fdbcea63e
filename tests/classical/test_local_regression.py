"""Local regression of outcomes on predictions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.nonparametric.smoothers_lowess import lowess

import calibstat as cs
from calibstat.classical import local_regression
from calibstat.classical.local_regression import MOST_POINTS, local_curve

RNG = np.random.default_rng(1)


def slow(sample, every=1):
    """A weighted least-squares line at each distinct prediction, or at some; distances are sorted for each."""
    value, count, positives = sample.arrays
    near = max(int(0.75 * sample.n), 1)
    found = []
    for x in value[::every]:
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
    return np.clip(found, 0, 1)


def drawn(p):
    return cs.Sample.from_rows((RNG.random(p.size) < p).astype(float), p)


@pytest.mark.parametrize(
    "p", [RNG.random(300), RNG.choice([0.1, 0.3, 0.5], 300), RNG.beta(0.2, 3, 200), np.round(RNG.random(300), 2)]
)
def test_it_is_a_weighted_line_at_each_prediction(p):
    sample = drawn(p)
    assert local_curve(sample) == pytest.approx(slow(sample), abs=1e-9)


def test_without_ties_it_is_lowess_of_statsmodels():
    p = np.sort(RNG.random(400))
    y = (RNG.random(400) < p**2).astype(float)
    expected = lowess(y, p, frac=0.75, it=0, return_sorted=False)
    assert local_curve(cs.Sample.from_rows(y, p)) == pytest.approx(np.clip(expected, 0, 1), abs=1e-9)


def test_many_predictions_are_read_off_between_points():
    p = np.linspace(0, 1, 5 * MOST_POINTS)
    sample = drawn(p)
    assert local_curve(sample)[::500] == pytest.approx(slow(sample, 500), abs=1e-3)


@pytest.mark.parametrize("power", [1, 4])
def test_groups_of_neighbours_have_nearly_the_same_line(power, monkeypatch):
    sample = drawn(RNG.random(40_000) ** power)
    found = local_curve(sample)
    monkeypatch.setattr(local_regression, "MOST_VALUES", sample.value.size)
    assert found == pytest.approx(local_curve(sample), abs=1e-5)
    monkeypatch.setattr(local_regression, "MOST_VALUES", 50)
    assert found != pytest.approx(local_curve(sample), abs=1e-5)  # the twin: groups too wide


def test_groups_around_a_prediction_that_most_rows_share(monkeypatch):
    """Of a point beside it the near rows are closer than its group is wide; far from it nothing changes."""
    p = np.concatenate([np.full(60_000, 0.3), np.linspace(0, 1, 15_001)])
    y = (np.arange(p.size) % 10 < 4).astype(float)
    sample = cs.Sample.from_rows(y, p)
    found = local_curve(sample)
    assert np.isfinite(found).all()
    monkeypatch.setattr(local_regression, "MOST_VALUES", sample.value.size)
    far = np.abs(sample.value - 0.3) > 0.05
    assert found[far] == pytest.approx(local_curve(sample)[far], abs=1e-3)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.booleans()), min_size=1, max_size=12))
def test_it_is_a_frequency_for_any_rows(rows):
    p, y = (np.array(column, float) for column in zip(*rows, strict=True))
    found = local_curve(cs.Sample.from_rows(y, p))
    assert np.all((found >= 0) & (found <= 1))
