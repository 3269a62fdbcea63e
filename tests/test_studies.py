"""Named studies: what they write, how they go on, and what the command line says of them."""

import dataclasses
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import calibstat as cs
from calibstat import studies
from calibstat.cli import app as cli
from calibstat.studies import STUDIES, Study

GRID = {"question": "power", "generators": {"hidden": cs.generators.hidden()}, "n": 20, "measures": ["ks"]}
TINY = Study(
    "tiny",
    "Is it small?",
    seed=1,
    hours=0.001,
    grids=lambda quick: [{**GRID, "replicates": 5 if quick else 10}, {**GRID, "n": 30, "replicates": 3}],
    figures=lambda table: {"": plt.figure(), "more": plt.figure()},
)


@pytest.fixture
def tiny(monkeypatch):
    def install(**changes):
        study = dataclasses.replace(TINY, **changes)
        monkeypatch.setattr(studies, "STUDIES", {"tiny": study})
        return study

    return install


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments], terminal_width=200)


def test_a_study_writes_a_table_and_pictures(tmp_path):
    open_before = plt.get_fignums()
    table, written = TINY.carry_out(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in written] == [
        "results/tiny.csv",
        "figures/tiny.png",
        "figures/tiny_more.png",
    ]
    assert all(path.stat().st_size > 0 for path in written)
    header = written[0].read_text().splitlines()[0]
    assert re.fullmatch(
        rf"# command: calibstat study tiny; seed: 1; version: {cs.__version__}; date: [\d-]{{10}}", header
    )
    pd.testing.assert_frame_equal(pd.read_csv(written[0], comment="#"), table, rtol=1e-5)
    assert table["n"].tolist() == [20, 30]
    assert table["replicates"].tolist() == [10, 3]
    assert plt.get_fignums() == open_before


def test_a_saved_picture_keeps_rare_colours(tmp_path):
    figure, axes = plt.subplots()
    axes.imshow(np.linspace(0, 1, 10_000).reshape(100, 100), cmap="Blues")
    axes.plot(50, 50, "o", color="#de8f05")
    study = dataclasses.replace(TINY, figures=lambda table: {"": figure})
    _, (_, path) = study.carry_out(tmp_path)
    pixels = plt.imread(path)[..., :3].reshape(-1, 3)
    assert np.abs(pixels - np.array([0xDE, 0x8F, 0x05]) / 255).max(axis=1).min() < 8 / 255


def test_a_quick_run_does_not_touch_the_results_that_count(tmp_path):
    TINY.carry_out(tmp_path)
    before = (tmp_path / "results/tiny.csv").read_bytes()
    table, written = TINY.carry_out(tmp_path, quick=True)
    assert table["replicates"].tolist() == [5, 3]
    assert written[0].name == "tiny-quick.csv"
    assert (tmp_path / "results/tiny.csv").read_bytes() == before


def test_an_earlier_run_is_resumed_only_if_asked(tmp_path, monkeypatch):
    first, _ = TINY.carry_out(tmp_path)
    with pytest.raises(ValueError, match=r"expected no earlier run in .*: resume it with --resume, or delete it"):
        TINY.carry_out(tmp_path)
    monkeypatch.setattr("calibstat.study.engine.Cells.answer", None)  # nothing is left to compute
    again, _ = TINY.carry_out(tmp_path, resume=True)
    pd.testing.assert_frame_equal(again, first, check_exact=True)


def test_the_command_line_lists_studies():
    shown = run("studies").stdout.split()
    for name, study in STUDIES.items():
        assert name in shown
        assert set(study.asks.split()) <= set(shown)


def test_the_command_line_runs_a_study(tmp_path, tiny):
    tiny()
    found = run("study", "tiny", "--out", tmp_path, "--quick")
    assert found.exit_code == 0, found.output
    assert "Is it small?" in found.stdout
    assert "results/tiny-quick.csv, figures/tiny-quick.png, figures/tiny-quick_more.png" in found.stdout
    assert run("study", "tiny", "--out", tmp_path, "--quick").exit_code == 2
    assert run("study", "tiny", "--out", tmp_path, "--quick", "--resume").exit_code == 0


def test_a_table_of_its_own_is_put_below_the_grids(tmp_path):
    def own(*, quick, n_jobs):
        return pd.DataFrame({"question": ["own"], "quick": [quick], "jobs": [n_jobs]})

    table, written = dataclasses.replace(TINY, table=own).carry_out(tmp_path, quick=True, n_jobs=1)
    assert table["question"].tolist() == ["power", "power", "own"]
    assert table.loc[2, ["quick", "jobs"]].tolist() == [True, 1]
    assert "question" in written[0].read_text().splitlines()[1]
    table, _ = dataclasses.replace(TINY, grids=Study("", "", 1, 0).grids, table=own).carry_out(tmp_path)
    assert table["question"].tolist() == ["own"]


def test_data_are_given_to_a_study_that_takes_them(tmp_path, tiny):
    seen = []

    def own(*, quick, n_jobs, data):
        seen.append(data)
        return pd.DataFrame({"question": ["own"]})

    study = tiny(table=own, takes_data=True)
    study.carry_out(tmp_path / "none")
    path = tmp_path / "my data.npz"
    found = run("study", "tiny", "--out", tmp_path, "--data", path)
    assert found.exit_code == 0, found.output
    assert seen == [None, path]
    header = (tmp_path / "results/tiny.csv").read_text().splitlines()[0]
    assert header.startswith("# command: calibstat study tiny --data 'my data.npz'; seed: 1;")


def test_data_that_a_study_does_not_take_are_refused(tmp_path, tiny):
    tiny()
    found = run("study", "tiny", "--out", tmp_path, "--data", "my.npz")
    assert found.exit_code == 2
    assert "expected no data for study 'tiny', which makes its own; found my.npz" in found.stderr
    assert not list(tmp_path.iterdir())


def test_a_broken_promise_fails(tmp_path, tiny):
    tiny(broken=lambda table: table[table["n"] == 30])
    found = run("study", "tiny", "--out", tmp_path)
    assert found.exit_code == 1
    assert "The promise is broken in 1 of 2 rows:" in found.stdout
    tiny(broken=lambda table: table[:0])
    found = run("study", "tiny", "--out", tmp_path, "--resume")
    assert found.exit_code == 0
    assert "The promise is kept in every row, up to the exact binomial limit." in found.stdout


def test_what_is_wrong_is_one_line(tmp_path, tiny, monkeypatch):
    tiny()
    found = run("study", "big", "--out", tmp_path)
    assert found.exit_code == 2
    assert found.stderr == "calibstat: expected a study, one of tiny; found 'big'\n"
    monkeypatch.setattr("calibstat.study.store.find_spec", lambda name: None)
    found = run("study", "tiny", "--out", tmp_path)
    assert found.exit_code == 2
    assert "needs pyarrow: python -m pip install 'calibstat[simulations]'" in found.stderr


def test_every_study_has_a_seed_of_its_own():
    assert len({study.seed for study in STUDIES.values()}) == len(STUDIES)


FITTED = {"label_noise"}  # its data sets are models fitted anew, which takes long
ASKED = [
    pytest.param(name, marks=pytest.mark.slow) if name in FITTED else name
    for name, study in STUDIES.items()
    if study.grids(True)
]


@pytest.mark.parametrize("name", ASKED)
def test_every_grid_can_be_asked(name, monkeypatch):
    """Checks every argument of the full grid, with one replicate and nothing computed."""
    asked = []
    monkeypatch.setattr("calibstat.study.runner.compute", lambda *given: asked.append(given) or 1 / 0)
    for quick in (True, False):
        for grid in STUDIES[name].grids(quick):
            with pytest.raises(ZeroDivisionError):
                cs.study.run(**grid, seed=1)
    assert len(asked) >= 2


def test_every_study_makes_a_table():
    assert all(study.grids(True) or study.table for study in STUDIES.values())
