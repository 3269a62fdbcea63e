"""Models on the same rows: what is said of rows and clusters, and clusters that were not observed."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.inference.rows_of_results import ClustersOfRows, Rows

Y, P = cs.generators.calibrated().sample(240, rng=1)
TWO, UNIT = {"a": P, "b": P**2}, np.arange(240) // 3
HIDDEN = cs.Clusters(UNIT, unseen="rows")


@pytest.mark.parametrize("method", ["bootstrap", "swap"])
def test_results_say_how_rows_came_about(method):
    asked = {"measure": "ks", "method": method, "n_resamples": 9, "rng": 1}
    rows = cs.compare(Y, TWO, **asked)
    assert (type(rows.rows), rows.rows.n) == (Rows, 240)
    clusters = cs.compare(Y, TWO, cluster=UNIT, **asked)
    assert type(clusters.rows) is ClustersOfRows
    assert (clusters.rows.clusters, clusters.rows.smallest, clusters.rows.largest) == (80, 3, 3)
    assert str(clusters.rows) == "80 clusters of 3 rows each"
    assert str(clusters.rows) in clusters.null_hypothesis
    assert "clusters" not in rows.null_hypothesis
    assert clusters.to_dict()["rows.clusters"] == 80


@pytest.mark.parametrize(
    "asked", [{}, {"measure": "brier"}, {"measure": "ks"}, {"measure": "brier", "folds": UNIT % 4}], ids=str
)
def test_more_is_found_where_more_is_supposed_of_absent_clusters(asked):
    """And each result says what it supposes."""
    labels = np.arange(240) // 6
    asked = {**asked, "folds": labels % 4} if "folds" in asked else asked
    found = {
        word: cs.compare(Y, TWO, cluster=cs.Clusters(labels, unseen=word), n_resamples=99, rng=1, **asked)
        for word in ("clusters", "observed", "rows")
    }
    widths = [float(each.high[0] - each.low[0]) for each in found.values()]
    assert widths[0] > widths[1] > 0
    assert widths[0] > widths[2] > 0
    assert found["observed"].to_dict() == cs.compare(Y, TWO, cluster=labels, n_resamples=99, rng=1, **asked).to_dict()
    if "folds" not in asked:
        said = {word: str(each) for word, each in found.items()}
        assert "no absent kind of cluster is more extreme than the most extreme of these 40" in said["observed"]
        assert "all of whose rows have the worst outcome" in said["clusters"]
        assert "absent kinds of clusters do not matter" in said["rows"]


def test_swapping_supposes_nothing_of_absent_clusters():
    found = [cs.compare(Y, TWO, cluster=each, method="swap", n_resamples=9, rng=1) for each in (UNIT, HIDDEN)]
    assert found[0].to_dict() == found[1].to_dict()
    assert "absent" not in str(found[0])
