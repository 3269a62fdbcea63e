"""Rows of groups in batches: levels of all values of a column, and counts of atoms and predictions."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from calibstat.cli import batches
from calibstat.cli.large import rows_of_groups, rows_of_models
from calibstat.cli.large.rows_of_groups import FeatureLevels, GroupCounts, values_in
from calibstat.data.features import levels

SIZE = 100


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", SIZE)
    rng = np.random.default_rng(2)
    p = rng.random(600)
    frame = pd.DataFrame({"y": (rng.random(600) < p) * 1.0, "p": p, "site": rng.choice(["a", None, "b"], 600)})
    frame["age"] = rng.integers(20, 90, 600)
    for k in range(2):
        frame[300 * k : 300 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet", index=False)
    return frame, sorted(tmp_path.iterdir())


def counted(frame, parts):
    values = values_in(parts, ["site", "age"])
    features = {name: FeatureLevels(name, each, pd.Series(each.index, name=name), 4) for name, each in values.items()}
    counts = GroupCounts(parts, features, 1)
    for start in range(0, 600, SIZE):
        part = frame[start : start + SIZE]
        counts.add(part.y.to_numpy(), part.p.to_numpy())
    return counts


@pytest.mark.parametrize("most", [2**19, 500])
def test_counts_of_atoms_and_cells(most, folder, monkeypatch):
    monkeypatch.setattr(rows_of_models, "MOST_KINDS", most)
    frame, parts = folder
    of_atoms, rows, n_cells, moved = counted(frame, parts).counts(0)
    expected = {name: levels(name, frame[name], 4) for name in ("site", "age")}
    assert [names for names, _ in of_atoms] == [names for names, _ in expected.values()]
    cell = np.ceil(frame.p * n_cells) if n_cells else frame.p
    table = frame.assign(site=expected["site"][1], age=expected["age"][1], cell=cell)
    table["shared"] = table.groupby("cell").p.transform("mean")
    grouped = table.groupby(["site", "age", "cell"])
    wanted = grouped.agg(number=("y", "size"), ones=("y", "sum"), p=("p", "mean"), shared=("shared", "first"))
    wanted = wanted.reset_index().sort_values(["site", "age", "p"])
    found = pd.DataFrame({"site": of_atoms[0][1][rows["atom"]], "age": of_atoms[1][1][rows["atom"]], **rows})
    found = found.sort_values(["site", "age", "prediction"])
    names = ["site", "age", "number", "ones", "prediction", "shared"]
    np.testing.assert_allclose(found[names], wanted.rename(columns={"p": "prediction"})[names], rtol=1e-13)
    assert (n_cells > 0) == (moved > 0) == (most == 500)
    assert moved == pytest.approx(np.abs(table.p - grouped.p.transform("mean")).max())


def test_too_many_values_are_refused(folder, monkeypatch):
    monkeypatch.setattr(rows_of_groups, "VALUES_HELD", 30)
    with pytest.raises(ValueError, match="expected at most 30 different values in column 'age'"):
        values_in(folder[1], ["site", "age"])


def test_more_combinations_of_levels_than_whole_numbers_are_refused():
    """Of three columns with 2**21 levels each there are 2**63."""
    features = {name: SimpleNamespace(names=range(2**21)) for name in ("site", "age", "day")}
    with pytest.raises(
        ValueError, match=r"fewer combinations of levels than 2\*\*61, found more for \['site', 'age', 'day'"
    ):
        GroupCounts([], features, 1)
    assert GroupCounts([], dict(list(features.items())[:2]), 1).n == 0
