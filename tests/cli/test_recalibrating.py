"""The command that recalibrates writes what the maps give."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import fails_with, plain_text, run

import calibstat as cs
from calibstat.cli.recalibrating import named_map

BINARY = ["--label", "y", "--prob", "p"]


@pytest.fixture(name="files")
def files_fixture(tmp_path):
    found = []
    for seed, name in ((1, "old.csv"), (2, "new.csv")):
        y, p = cs.generators.temperature(2).sample(400, rng=seed)
        pd.DataFrame({"y": y, "p": p}).to_csv(tmp_path / name, index=False)
        found.append(tmp_path / name)
    return found


def test_a_map_of_one_file_is_applied_to_another(files, tmp_path):
    result = run(
        "recalibrate", files[0], *BINARY, "--to", files[1], "--map", "platt_scaling", "--out", tmp_path / "out.csv"
    )
    assert result.exit_code == 0, result.output
    assert "Recalibrated by a map fitted on 400 rows of old.csv: PlattScaling()" in plain_text(result.stdout)
    old, new = (pd.read_csv(file) for file in files)
    expected = cs.recalibration.PlattScaling().fit(old["p"], old["y"]).predict_proba(new["p"])
    table = pd.read_csv(tmp_path / "out.csv")
    assert list(table.columns) == ["p", "p_recalibrated"]
    assert table["p"].to_numpy() == pytest.approx(new["p"].to_numpy())
    assert table["p_recalibrated"].to_numpy() == pytest.approx(expected)


def test_the_rows_that_the_map_was_fitted_to_are_pointed_out(files, tmp_path):
    def said(file, *options):
        return plain_text(run("recalibrate", file, *BINARY, *options, "--out", tmp_path / "out.csv").stdout)

    copy = tmp_path / "copy.csv"
    copy.write_text(files[0].read_text())
    for same in (files[0], copy):
        assert "Warning: the file of --to has the same predictions, row by row, as old.csv" in said(
            files[0], "--to", same
        )
    assert "Warning" not in said(files[0], "--to", files[1])
    assert "Warning" not in said(files[0])


@pytest.mark.parametrize("out", ["out.csv", "./out.csv", "sub/out.csv"])
def test_it_says_the_path_that_was_written(out, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    text = plain_text(run("recalibrate", files[0], *BINARY, "--out", out).stdout)
    assert f"Written to {Path(out)}." in text
    assert Path(out).exists()


def test_without_another_file_rows_are_recalibrated_by_the_others(files, tmp_path):
    assert run("recalibrate", files[0], *BINARY, "--out", tmp_path / "out.csv").exit_code == 0
    rows, table = pd.read_csv(files[0]), pd.read_csv(tmp_path / "out.csv")
    every = cs.recalibration.PlattScaling().fit(rows["p"], rows["y"]).predict_proba(rows["p"])
    found = table["p_recalibrated"].to_numpy()
    assert np.abs(found - every).max() < 0.1  # about that of all rows, and not the same
    assert np.abs(found - every).max() > 0
    assert cs.estimate(rows["y"], found) < cs.estimate(rows["y"], rows["p"])


def test_several_classes(tmp_path):
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(300, rng=1)
    file = tmp_path / "classes.csv"
    pd.DataFrame(prob, columns=["p_a", "p_b", "p_c"]).assign(y=[*map("abc".__getitem__, label)]).to_csv(
        file, index=False
    )
    result = run("recalibrate", file, "--label", "y", "--prob", "p_*", "--to", file, "--out", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    expected = cs.recalibration.TemperatureScaling().fit(prob, label).predict_proba(prob)
    table = pd.read_csv(tmp_path / "out.csv")
    assert table[["p_a_recalibrated", "p_b_recalibrated", "p_c_recalibrated"]].to_numpy() == pytest.approx(expected)


def test_names_of_maps(files, tmp_path):
    assert isinstance(named_map("isotonic-regression"), cs.recalibration.IsotonicRegression)
    arguments = ["recalibrate", files[0], *BINARY, "--out", tmp_path / "out.csv"]
    fails_with(run(*arguments, "--map", "platt_scalin"), "expected a map, one of", "did you mean 'PlattScaling'?")
    fails_with(run(*arguments, "--to", tmp_path / "none.csv"), "no such file")
    assert not (tmp_path / "out.csv").exists()


def recalibrated_in_sqlite(file, select):
    """The columns that the SQL of --save makes of the rows of a file."""
    with closing(sqlite3.connect(":memory:")) as database:
        pd.read_csv(file).to_sql("scored", database, index=False)
        return pd.read_sql_query(f"SELECT {select} FROM scored", database)


@pytest.mark.parametrize("to", [True, False])
def test_the_map_is_saved_as_json_and_as_sql(to, files, tmp_path):
    other = ["--to", files[1]] if to else []
    asked = ["recalibrate", files[0], *BINARY, *other, "--map", "isotonic_regression", "--out", tmp_path / "out.csv"]
    result = run(*asked, "--save", tmp_path / "map.json")
    assert result.exit_code == 0, result.output
    assert f"Writtento{tmp_path / 'map.json'}." in "".join(result.stdout.split())  # long paths are folded
    old, new = (pd.read_csv(file) for file in files)
    expected = cs.recalibration.IsotonicRegression().fit(old["p"], old["y"]).predict_proba(new["p"])
    saved = json.loads((tmp_path / "map.json").read_text())
    found = cs.recalibration.Recalibrator.from_dict(saved).predict_proba(new["p"])
    np.testing.assert_array_equal(found, expected)
    assert run(*asked, "--save", tmp_path / "map.sql").exit_code == 0
    table = recalibrated_in_sqlite(files[1], (tmp_path / "map.sql").read_text())
    assert list(table.columns) == ["p_recalibrated"]
    assert table["p_recalibrated"].to_numpy() == pytest.approx(expected, abs=1e-12)


def test_the_sql_of_several_classes_has_a_column_for_each(tmp_path):
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(300, rng=1)
    file, out = tmp_path / "classes.csv", tmp_path / "out.csv"
    pd.DataFrame(prob, columns=["p_a", "p_b", "p_c"]).assign(y=[*map("abc".__getitem__, label)]).to_csv(
        file, index=False
    )
    asked = ["recalibrate", file, "--label", "y", "--prob", "p_*", "--map", "histogram_binning", "--to", file]
    assert run(*asked, "--out", out, "--save", tmp_path / "map.sql").exit_code == 0
    table = recalibrated_in_sqlite(file, (tmp_path / "map.sql").read_text())
    expected = pd.read_csv(out)[["p_a_recalibrated", "p_b_recalibrated", "p_c_recalibrated"]]
    pd.testing.assert_frame_equal(table, expected, rtol=0, atol=1e-12)


def test_places_for_the_map_that_do_not_do(files, tmp_path):
    out = tmp_path / "out.csv"
    asked = ["recalibrate", files[0], *BINARY, "--out", out, "--save"]
    fails_with(run(*asked, tmp_path / "map.txt"), "expected a file with suffix .json or .sql behind --save")
    fails_with(run(*asked, tmp_path / "map.sql", "--clip", 0.01), "expected no --logits, --clip or --divide-by-sums")
    copy = tmp_path / "rows.json"
    fails_with(run(*asked[:-2], copy, "--save", copy), "expected two files behind --out and --save")
    assert not out.exists()


def test_a_map_without_a_formula_leaves_no_file(files, tmp_path):
    pytest.importorskip("sklearn")
    asked = ["recalibrate", files[0], *BINARY, "--map", "neural_scaling", "--to", files[1], "--out", tmp_path / "o.csv"]
    fails_with(run(*asked, "--save", tmp_path / "map.sql"), "expected a map that is a formula or steps")
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".csv" or path.stem == "o"] == []
