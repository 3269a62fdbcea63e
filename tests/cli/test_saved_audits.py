"""The files of an audit: a row for each group and model, strict JSON, and a picture."""

import json

import numpy as np
import pandas as pd

import calibstat as cs
from calibstat.cli.saved_audits import save_audits


def test_all_models_are_written(tmp_path):
    y, p = cs.generators.temperature(2).sample(90, rng=1)
    groups = pd.DataFrame({"=site": np.where(np.arange(90) % 2, "+a", "b")})
    found = cs.audit(y, {"p": p, "q": p**2}, cs.Groups(groups, min_rows=10), rng=1, n_resamples=99)
    paths = save_audits(found, tmp_path)
    assert [path.name for path in paths] == ["groups.csv", "groups.png", "groups.json"]
    table = pd.read_csv(tmp_path / "groups.csv")
    assert table.model.tolist() == ["p"] * 3 + ["q"] * 3
    assert "'=site = +a" in set(table.group)  # no formula
    assert json.loads((tmp_path / "groups.json").read_text())["q"] == found["q"].to_dict()
