"""Intercepts and slopes of all clusters together are those of each by itself."""

import numpy as np
import pytest
from scipy.special import expit

from calibstat.classical import lines_of_clusters
from calibstat.classical.lines_of_clusters import FEWEST, RowsByCluster, intercepts, lines


def rows_of(seed, k=40, ties=False):
    """Clusters of 2 to 250 rows: predictions from nearly equal to nearly certain, outcomes from alike to separated."""
    random = np.random.default_rng(seed)
    place = np.repeat(np.arange(k), random.integers(2, 250, k))
    logit = random.normal(-1, 1, place.size) * random.choice([0.01, 0.3, 1, 6], k)[place]
    p = np.clip(expit(logit).round(1), 0.05, 0.95) if ties else expit(logit)
    p[place == 0] = 0.3  # a cluster of equal predictions
    true = random.standard_normal(k)[place] + random.choice([0, 1, 4], k)[place] * np.log(p / (1 - p))
    y = (random.random(p.size) < expit(true)).astype(float)
    y[place == 1] = 0.0
    separated = place == 2
    y[separated] = p[separated] > np.median(p[separated])
    shuffled = random.permutation(place.size)
    return RowsByCluster.of(y[shuffled], p[shuffled], p[shuffled], place[shuffled])


def by_itself(rows, c):
    """The numbers of one cluster, nan where there is none."""
    found, events = rows.line(c, 0.95), rows.sums(rows.outcome)[c]
    if min(events, rows.n[c] - events) < FEWEST:
        found.pop("slope", None)
    nothing = (np.nan, (np.nan, np.nan))
    return [(number, *ends) for number, ends in (found.get(name, nothing) for name in ("in_the_large", "slope"))]


@pytest.mark.parametrize("ties", [False, True])
def test_they_are_those_of_each_cluster_by_itself(ties):
    rows = rows_of(3 + ties, ties=ties)
    wanted = np.array([by_itself(rows, c) for c in range(rows.n.size)]).transpose(1, 0, 2)
    assert 0 < np.isnan(wanted[0, :, 0]).sum() < np.isnan(wanted[1, :, 0]).sum() < rows.n.size - 10
    assert np.array(lines(rows, 0.95)) == pytest.approx(wanted, rel=1e-8, abs=1e-8, nan_ok=True)


def test_most_clusters_take_their_steps_together(monkeypatch):
    asked = []
    monkeypatch.setattr(RowsByCluster, "line", lambda rows, c, level: asked.append(c) or {})
    lines(rows_of(3), 0.95)
    assert 0 < len(asked) < 15  # of 40 that were made to be hard


def test_large_clusters_are_left_to_the_condensed_summary(monkeypatch):
    rows = rows_of(5, k=6)
    together = lines(rows, 0.95)
    monkeypatch.setattr(lines_of_clusters, "MOST_TOGETHER", 0)
    assert np.array(lines(rows, 0.95)) == pytest.approx(np.array(together), rel=1e-8, abs=1e-8, nan_ok=True)


def test_an_intercept_makes_the_expected_events_those_wished_for():
    rows = rows_of(7)
    wished = np.linspace(0.001, 0.999, rows.n.size) * rows.n
    at = intercepts(rows, wished)
    assert rows.sums(expit(rows.logit + rows.each_row(at))) == pytest.approx(wished, rel=1e-9)
    assert at[0] == pytest.approx(np.log(0.001 / 0.999) - np.log(0.3 / 0.7))  # of equal predictions
