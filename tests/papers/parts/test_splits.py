"""Means over splits, by hand."""

import numpy as np
import pandas as pd
import pytest

from calibstat.papers.parts.splits import EVERY, averaged, every_split, over_files

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


def test_a_claim_is_counted_by_its_sign():
    row = {"question": "claim", "model": "", "measure": "a − b", "against": "bins", "rank": np.nan}
    rows = [{**row, "value": v, "low": v, "high": v} for v in (0.2, 0.1, -0.1, 0.0)]
    (found,) = averaged(pd.DataFrame(rows), LABELS).to_dict("records")
    assert (found["above"], found["below"], found["mean"]) == (2, 1, pytest.approx(0.05))


def test_every_split_of_every_source_is_asked_in_order():
    rows = every_split({"a": 10, "b": 20}, 2, lambda source, split: [{"value": source + split}], None)
    assert rows == [
        {"file": "a", "value": 10},
        {"file": "a", "value": 11},
        {"file": "b", "value": 20},
        {"file": "b", "value": 21},
    ]


def test_files_with_as_many_classes_are_averaged_by_hand():
    labels = ["classes", "file", "question", "measure", "at", "reason"]
    rows = pd.DataFrame(
        [
            {"classes": k, "file": file, "question": question, "measure": "ece", "at": np.nan, "reason": "", "n": 80,
             "value": value}
            for k, file, question, value in (
                (3, "a", "measure", 0.1), (3, "b", "measure", 0.3), (3, "b", "fit", 1.0), (2, "c", "measure", 0.7)
            )
        ]
    )  # fmt: skip
    found = averaged(rows.assign(low=np.nan, high=np.nan, rank=np.nan), labels)
    table = over_files(found, rows, labels, ("measure",))
    (every,) = table[table["file"] == EVERY].to_dict("records")
    assert (every["classes"], every["question"], every["files"]) == (3, "measure", 2)
    assert every["mean"] == pytest.approx(0.2)
    assert every["sd"] == pytest.approx(np.std([0.1, 0.3], ddof=1))
    assert table.loc[table["file"] != EVERY, "n"].tolist() == [80] * 4
