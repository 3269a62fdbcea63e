"""Sums of the Brier scores of two models, by hand and through JSON."""

import json

import numpy as np
import pytest

import calibstat as cs
from calibstat.monitoring.pair_summary import PairSummary, PairSums, summarize_pair


def test_sums_of_each_segment_by_hand():
    a, b = np.array([1 / 16, 1 / 4]), np.array([1 / 4, 0.0])
    summary = summarize_pair(a, b, ["x", "y"])
    assert summary.segments["x"] == PairSums(1, 62_500_000, 250_000_000, 35_156_250)  # (3/16)**2 = 0.03515625
    assert summary.segments["y"] == PairSums(1, 250_000_000, 0, 62_500_000)
    assert summary.total == PairSums(2, 312_500_000, 250_000_000, 97_656_250)


def test_a_summary_survives_json():
    y, p = cs.generators.calibrated().sample(30, rng=1)
    for segment in (None, np.arange(30) % 2):
        summary = cs.BrierMonitor().summarize(y, p, p**2, segment)
        assert PairSummary.from_dict(json.loads(json.dumps(summary.to_dict()))) == summary
    assert repr(summary) == "PairSummary(30 rows, 2 segments)"
    assert repr(cs.BrierMonitor().summarize([1], [0.5], [0.5])) == "PairSummary(1 row)"


@pytest.mark.parametrize("entry", [None, [1, 2], {}, {"": [1, 2, 3]}, {"": [0, 0, 0, 0]}, {"": [1, 0, 0, 0], "a": []}])
def test_what_no_summary_writes(entry):
    with pytest.raises(ValueError, match="expected"):
        PairSummary.from_dict(entry)
