"""`calibstat audit` of more rows than are kept: the same groups as of all rows, and errors that name the file."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import plain_text, run

from calibstat.cli import counted_audits
from calibstat.cli.counted_audits import typed
from calibstat.cli.large import rows_of_models

ASKED = ["--label", "y", "--prob", "a", "--prob", "b", "--by", "site", "--by", "age", "--by", "day"]
SAME = ("names", "rows", "observed", "predicted", "low", "high", "beyond.names", "n", "left_out")


@pytest.fixture(params=["csv", "parquet"])
def folder(request, tmp_path):
    """A column of which the first file alone has whole numbers, with dates, and with missing values."""
    rng = np.random.default_rng(4)
    n = 3000
    p = rng.random(n)
    frame = pd.DataFrame({"y": (rng.random(n) < p) * 1, "a": p, "b": p**1.3, "site": rng.choice(["x", "y", None], n)})
    frame["age"] = np.where(np.arange(n) < 1000, rng.integers(20, 90, n), rng.uniform(20, 90, n).round(1))
    frame["day"] = rng.choice(["2026-01-05", "2026-02-07", "2026-02-08"], n)
    for k in range(3):
        part = frame[1000 * k : 1000 * (k + 1)]
        file = tmp_path / f"{k}.{request.param}"
        part.to_csv(file, index=False) if request.param == "csv" else part.to_parquet(file, index=False)
    return tmp_path


def test_many_rows_have_the_groups_of_few(folder, monkeypatch):
    command = ["audit", folder, *ASKED, "--n-resamples", "99", "--format", "json"]
    few = json.loads(run(*command).stdout)
    for module in (rows_of_models, counted_audits):
        monkeypatch.setattr(module, "MOST_ROWS", 100)
    monkeypatch.setattr(rows_of_models, "MOST_KINDS", 2900)
    many = json.loads(run(*command).stdout)
    assert few.keys() == many.keys()
    for key, value in few.items():
        if key.split(".", 1)[-1] in SAME:
            if isinstance(value, list) and value and isinstance(value[0], float):
                np.testing.assert_allclose(many[key], value, rtol=1e-10, atol=1e-12)
            else:
                assert many[key] == value, key
    text = plain_text(run("audit", folder, *ASKED, "--n-resamples", "99").stdout)
    assert "Predictions were counted: a in" in text
    assert "Rows, outcomes and mean predictions of groups are exact." in text


@pytest.mark.parametrize("options", [["--prob", "[ab]"], ["--prob", "a", "--positive", "1"]])
def test_what_cannot_be_counted_is_read_whole(options, folder, monkeypatch):
    """Two columns of a pattern are the classes of one model, and texts of outcomes mean something together."""
    command = ["audit", folder, "--label", "y", *options, "--by", "site", "--n-resamples", "99", "--format", "json"]
    few = run(*command)
    monkeypatch.setattr(counted_audits, "MOST_ROWS", 100)
    many = run(*command)
    assert (many.exit_code, many.stdout, many.stderr) == (few.exit_code, few.stdout, few.stderr)


def test_a_column_that_the_third_file_lacks_is_named(folder, monkeypatch):
    monkeypatch.setattr(counted_audits, "MOST_ROWS", 100)
    file = sorted(folder.iterdir())[2]
    csv = file.suffix == ".csv"
    frame = (pd.read_csv(file) if csv else pd.read_parquet(file)).drop(columns="age")
    frame.to_csv(file, index=False) if csv else frame.to_parquet(file, index=False)
    text = plain_text(run("audit", folder, *ASKED).output)
    assert "no column 'age' in" in text
    assert "file 3 of 3" in text


def test_texts_mean_what_pandas_reads():
    assert typed("x", pd.Index(["1", "2", np.nan]), decimal=".").dtype == float
    assert typed("x", pd.Index(["1", "a"]), decimal=".").tolist() == ["1", "a"]
    assert typed("x", pd.Index(["2026-01-05", "2026-02-07"]), decimal=".").dtype.kind == "M"
    assert typed("x", pd.Index([3, 4]), decimal=None).tolist() == [3, 4]
