"""Rows with clusters and weights can be unpacked, pickled and passed on."""

import pickle

import numpy as np

import calibstat as cs
from calibstat.generators import calibrated, six_points


def test_rows_are_passed_on():
    rows = calibrated().sample(90, 1, clusters=30, weights="independent")
    y, p, cluster, weight = rows
    assert y is rows.y
    assert p is rows.p
    assert rows.arguments == {"cluster": cluster, "sample_weight": weight}
    data = cs.Data(rows.y, rows.p, **rows.arguments)
    assert "with weights, 30 clusters" in repr(data)
    few = {"measure": "ks", "n_resamples": 19, "rng": 1}
    apart = cs.calibration_test(y, p, cluster=cluster, sample_weight=weight, **few)
    assert str(cs.calibration_test(data, **few)) == str(apart)
    copy = pickle.loads(pickle.dumps(rows))
    assert all(np.array_equal(a, b) for a, b in zip(copy, rows, strict=True))


def test_independent_rows_have_the_same_names():
    rows = calibrated().sample(9, 1)
    y, p = rows
    assert rows == (y, p)
    assert y is rows.y
    assert p is rows.p
    assert (rows.cluster, rows.weight, rows.arguments) == (None, None, {})
    assert np.array_equal(pickle.loads(pickle.dumps(rows)).p, p)


def test_only_what_there_is():
    assert list(six_points().sample(6, 1, clusters=2).arguments) == ["cluster"]
    assert list(six_points().sample(6, 1, weights="related").arguments) == ["sample_weight"]
    assert six_points().sample(6, 1, weights="related").cluster is None
    assert six_points().sample(6, 1, clusters=2).weight is None
