"""Clusters as they are given: how they are numbered, what is refused, and when they are few."""

import numpy as np
import pandas as pd
import pytest

from calibstat.data.clusters import as_clusters


@pytest.mark.parametrize(
    "names",
    [
        np.repeat([7, 3, 5], 20),
        np.repeat(["b", "a", "c"], 20),
        pd.Series(np.repeat(["b", "a", "c"], 20)),
        pd.Categorical(np.repeat(["b", "a", "c"], 20)),
        np.array(["b", 1, 2.5], object).repeat(20),
        np.repeat(np.array(["2026-03-01", "2026-01-01", "2026-02-01"], "datetime64[D]"), 20),
    ],
)
def test_clusters_are_numbered_in_the_order_of_their_rows(names):
    found = as_clusters(names, 60)
    assert found.tolist() == [0] * 20 + [1] * 20 + [2] * 20
    assert found.dtype == np.int64


def test_enough_clusters_do_not_warn():
    assert as_clusters(np.arange(30), 30).tolist() == list(range(30))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([1.0, 2.0, np.nan], "missing clusters, found one at row 2"),
        (["a", None, "b"], "missing clusters, found one at row 1"),
        (pd.Series(["a", "b", pd.NA]), "missing clusters, found one at row 2"),
        (np.array(["2026-01-01", "NaT", "2026-01-02"], "datetime64[D]"), "missing clusters, found one at row 1"),
        ([1, 2], r"shape \(3,\), found shape \(2,\)"),
        ([[1], [2], [3]], r"found shape \(3, 1\)"),
        ([4, 4, 4], "at least 2 clusters, found 1"),
    ],
)
def test_bad_clusters(names, message):
    with pytest.raises(ValueError, match=message):
        as_clusters(names, 3)
