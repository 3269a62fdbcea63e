"""Means over splits, by hand."""

import numpy as np
import pandas as pd
import pytest

from calibstat.papers.splits import averaged

LABELS = ["question", "model", "measure", "against"]


def test_means_and_counts_by_hand():
    shared = {"question": "difference", "model": "m", "measure": "ece", "against": "other", "rank": np.nan}
    made = [{**shared, "value": v, "low": v - 0.1, "high": v + 0.1} for v in (0.2, 0.3, -0.05, -0.15)]
    made.append({"question": "summary", "model": "m", "measure": "log_loss", "value": np.inf})
    difference, summary = averaged(pd.DataFrame(made), LABELS).to_dict("records")
    assert difference["mean"] == pytest.approx(0.075)
    assert difference["sd"] == pytest.approx(np.std([0.2, 0.3, -0.05, -0.15], ddof=1))
    assert (difference["low"], difference["high"]) == pytest.approx((-0.025, 0.175))
    assert (difference["splits"], difference["below"], difference["above"]) == (4, 1, 2)
    assert summary["mean"] == np.inf
    assert np.isnan([summary["sd"], summary["below"], summary["rank"]]).all()


def test_a_difference_without_an_interval_is_on_no_side():
    row = {"question": "difference", "model": "m", "measure": "auc", "against": "other", "value": 0.1}
    (found,) = averaged(pd.DataFrame([{**row, "low": np.nan, "high": np.nan, "rank": np.nan}]), LABELS).to_dict(
        "records"
    )
    assert np.isnan([found["below"], found["above"], found["low"]]).all()
    assert found["mean"] == 0.1
