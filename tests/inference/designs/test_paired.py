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
    "asked", [{"measure": "brier"}, {"measure": "kernel_ce"}, {"method": "swap"}, {"folds": UNIT % 4}]
)
def test_unseen_is_refused_where_it_means_nothing(asked):
    with pytest.raises(ValueError, match=r"expected unseen='rows' with cluster= and kernel_ce_squared, .* found"):
        cs.compare(Y, TWO, cluster=HIDDEN, n_resamples=9, **asked)


def test_models_can_forget_what_is_said_of_their_clusters():
    """As functions of many questions do, for those that it says nothing of."""
    models = cs.Models(Y, TWO, cluster=HIDDEN)
    whole = cs.compare(models.with_whole_clusters(), measure="brier")
    assert whole.to_dict() == cs.compare(Y, TWO, cluster=UNIT, measure="brier").to_dict()
    with pytest.raises(ValueError, match="expected unseen='rows'"):
        cs.compare(models, measure="brier")
    found = cs.compare(models)
    assert found.to_dict() != cs.compare(models.with_whole_clusters()).to_dict()
