"""Study files: how they are loaded, what a run writes, how it goes on, and what the command line says."""

import dataclasses
import importlib
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from tiny_study import TINY
from typer.testing import CliRunner

import calibstat as cs
from calibstat.cli import app as cli
from calibstat.study import Study, load_study
from calibstat.study.study_file import load_module

COMMIT = "(; commit: [0-9a-f]+( with changes)?)?"  # where there is a checkout
FILE = """
import matplotlib.pyplot as plt
import calibstat as cs

def grids(quick):
    grid = {"question": "power", "generators": {"hidden": cs.generators.hidden()}, "measures": ["ks"]}
    return [{**grid, "n": [20, 30], "replicates": 5 if quick else 10}]

def figures(table):
    return {"": cs.study.plot(table), "more": plt.figure()}
"""


@pytest.fixture
def write(tmp_path):
    """Write a study file with these fields of its study, and return its path."""

    def write_file(name="tiny.py", **fields):
        shown = "".join(f", {field}={value}" for field, value in {"figures": "figures", **fields}.items())
        path = tmp_path / name
        path.write_text(f"{FILE}\nstudy = cs.study.Study(question='Is it small?', seed=1, grids=grids{shown})\n")
        return path

    return write_file


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments], terminal_width=200)


# --- loading ---------------------------------------------------------------------------------------------------------


def test_a_study_is_named_after_its_file(write):
    path = write()
    study = load_study(path)
    assert (study.name, study.question, study.file) == ("tiny", "Is it small?", path)
    assert load_study(str(path)).grids is study.grids  # the file is run once


def test_files_of_one_name_in_two_folders_are_two_studies(tmp_path):
    for folder, question in (("a.b c%2E", "One?"), ("a", "Another?")):
        (tmp_path / folder).mkdir()
        lines = f"import calibstat as cs\nstudy = cs.study.Study(question={question!r}, seed=1)\n"
        (tmp_path / folder / "random.py").write_text(lines)
    assert load_study(tmp_path / "a.b c%2E" / "random.py").question == "One?"
    assert load_study(tmp_path / "a" / "random.py").question == "Another?"
    assert "calibstat" not in importlib.import_module("random").__name__


def test_helpers_are_imported_with_a_dot(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "words.py").write_text("QUESTION = 'Beside it?'\n")
    (tmp_path / "my-study.py").write_text(
        "from calibstat.study import Study\nfrom .parts.words import QUESTION\nstudy = Study(question=QUESTION, seed=1)"
    )
    assert load_study(tmp_path / "my-study.py").question == "Beside it?"


def test_loading_leaves_the_search_path_alone(write):
    before = list(sys.path)
    load_study(write())
    assert sys.path == before


FAULTS = {
    "no study": ("x = 1\n", r"expected study = Study\(\.\.\.\) in .*wrong\.py, found no study"),
    "another type": ("study = {'seed': 1}\n", r"found a study of type dict: \{'seed': 1\}"),
    "syntax": ("import calibstat\nx = = 1\n", r"that Python can run, found SyntaxError in line 2 of .*wrong\.py: inv"),
    "error": ("def f():\n    return 1 / 0\n\nf()\n", r"found ZeroDivisionError in line 2 of .*wrong\.py: division by"),
    "import": ("import no_such_module\n", r"found ModuleNotFoundError in line 1 of .*wrong\.py: No module named 'no_s"),
    "field": (
        "import calibstat as cs\nstudy = cs.study.Study(question='?', seed=-1)\n",
        r"found ValueError in line 2 of .*wrong\.py: expected seed to be a whole number of at least 0, found -1",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_a_file_is_one_line(fault, tmp_path):
    content, message = FAULTS[fault]
    path = tmp_path / "wrong.py"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        load_study(path)
    found = run("study", path)
    assert found.exit_code == 2
    assert found.stderr.count("\n") == 1
    assert re.search(message, found.stderr)


def test_a_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "some.csv").write_text("y,p\n")
    (tmp_path / "two.dots.py").write_text("")
    for name, message in (
        ("missing.py", "found no file at"),
        ("", "found a folder at"),
        ("some.csv", "named NAME.py, without other dots, found"),
        ("two.dots.py", "named NAME.py, without other dots, found"),
    ):
        with pytest.raises(ValueError, match=rf"expected a study file,? .*{message} .*{re.escape(name)}"):
            load_study(tmp_path / name)
        assert run("study", tmp_path / name).exit_code == 2


# --- a run -----------------------------------------------------------------------------------------------------------


def test_a_study_writes_a_table_and_pictures(tmp_path):
    open_before = plt.get_fignums()
    table, written = TINY.run(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in written] == [
        "results/tiny.csv",
        "figures/tiny.png",
        "figures/tiny_more.png",
    ]
    assert all(path.stat().st_size > 0 for path in written)
    header = written[0].read_text().splitlines()[0]
    command = re.escape(f"calibstat study {Path.cwd().name}/tiny.py")
    assert re.fullmatch(rf"# command: {command}; seed: 1; version: {cs.__version__}{COMMIT}; date: [\d-]{{10}}", header)
    pd.testing.assert_frame_equal(pd.read_csv(written[0], comment="#"), table, rtol=1e-5)
    assert table["n"].tolist() == [20, 30]
    assert table["replicates"].tolist() == [10, 3]
    assert plt.get_fignums() == open_before


def test_a_saved_picture_keeps_rare_colours(tmp_path):
    figure, axes = plt.subplots()
    axes.imshow(np.linspace(0, 1, 10_000).reshape(100, 100), cmap="Blues")
    axes.plot(50, 50, "o", color="#de8f05")
    study = dataclasses.replace(TINY, figures=lambda table: {"": figure})
    _, (_, path) = study.run(tmp_path)
    pixels = plt.imread(path)[..., :3].reshape(-1, 3)
    assert np.abs(pixels - np.array([0xDE, 0x8F, 0x05]) / 255).max(axis=1).min() < 8 / 255


def test_pictures_are_drawn_in_the_look_of_studies(tmp_path):
    """Whatever draws them, without a word in the file of the study."""
    seen = []

    def figures(table):
        seen.append((plt.rcParams["axes.edgecolor"], plt.rcParams["axes.grid"]))
        return {}

    before = dict(plt.rcParams)
    dataclasses.replace(TINY, figures=figures).run(tmp_path)
    assert seen == [(".8", True)]
    assert dict(plt.rcParams) == before


def test_a_quick_run_does_not_touch_the_results_that_count(tmp_path):
    TINY.run(tmp_path)
    before = (tmp_path / "results/tiny.csv").read_bytes()
    table, written = TINY.run(tmp_path, quick=True)
    assert table["replicates"].tolist() == [5, 3]
    assert written[0].name == "tiny-quick.csv"
    assert (tmp_path / "results/tiny.csv").read_bytes() == before


def test_an_earlier_run_is_resumed_only_if_asked(tmp_path, monkeypatch):
    first, _ = TINY.run(tmp_path)
    with pytest.raises(ValueError, match=r"expected no earlier run in .*: resume it with --resume, or delete it"):
        TINY.run(tmp_path)
    monkeypatch.setattr("calibstat.study.engine.Cells.answer", None)  # nothing is left to compute
    again, _ = TINY.run(tmp_path, resume=True)
    pd.testing.assert_frame_equal(again, first, check_exact=True)


def test_a_table_of_its_own_is_put_below_the_grids(tmp_path):
    def own(*, quick, n_jobs):
        return pd.DataFrame({"question": ["own"], "quick": [quick], "jobs": [n_jobs]})

    table, written = dataclasses.replace(TINY, table=own).run(tmp_path, quick=True, n_jobs=1)
    assert table["question"].tolist() == ["power", "power", "own"]
    assert table.loc[2, ["quick", "jobs"]].tolist() == [True, 1]
    assert "question" in written[0].read_text().splitlines()[1]
    table, _ = Study(question="", seed=1, table=own, figures=TINY.figures, file=TINY.file).run(tmp_path)
    assert table["question"].tolist() == ["own"]


# --- the command line ------------------------------------------------------------------------------------------------


def test_the_command_line_runs_a_study_file(tmp_path, write):
    path = write(runtime_hours=0.25)
    found = run("study", path, "--out", tmp_path / "out", "--quick")
    assert found.exit_code == 0, found.output
    assert "Is it small?" in found.stdout
    written = "results/tiny-quick.csv, figures/tiny-quick.png, figures/tiny-quick_more.png"
    assert written in " ".join(found.stdout.split())
    assert run("study", path, "--out", tmp_path / "out", "--quick").exit_code == 2
    assert run("study", path, "--out", tmp_path / "out", "--quick", "--resume").exit_code == 0
    found = run("study", path)
    assert "About 15 min on two cores." in found.stdout
    header = (tmp_path / "results" / "tiny.csv").read_text().splitlines()[0]
    assert header.startswith(f"# command: calibstat study {tmp_path.name}/tiny.py; seed: 1;")


OWN = """
import calibstat as cs

class MyGenerator:
    is_calibrated = True

    def __repr__(self):
        return "MyGenerator()"

    def sample(self, n, rng=None):
        return cs.generators.calibrated().sample(n, rng)

@cs.measure("my_residual", title="Residual", formula="|E[y - v]|", reference="this file", bounds=(0, 1))
def my_residual(value, count, positives):
    '''Return the absolute mean residual.'''
    return abs((positives - count * value).sum()) / count.sum()

def grids(quick):
    grid = {"question": "size", "measures": ["my_residual"], "replicates": 10 if quick else 300, "n_resamples": 19}
    return [
        {**grid, "generators": {"uniform": cs.generators.calibrated()}, "n": [20, 40] if CHANGED else [20]},
        {**grid, "generators": {"mine": MyGenerator()}, "n": [20]},
    ]

study = cs.study.Study(question="Mine?", seed=7, grids=grids, violations=lambda table: table[:0])
"""


def test_a_user_defined_study_file_is_run_resumed_and_refused_when_changed(tmp_path, registry):
    """Measures and generators of the file are known in two other processes, whose numbers are those of one."""
    path = tmp_path / "mine.py"
    path.write_text(f"CHANGED = False\n{OWN}")
    found = run("study", path, "--quick", "--out", tmp_path / "2", "--n-jobs", 2)
    assert found.exit_code == 0, found.output
    assert "The guarantee is kept in every row" in found.stdout
    assert (tmp_path / "2/figures/mine-quick.png").stat().st_size > 0
    assert run("study", path, "--quick", "--out", tmp_path / "1", "--n-jobs", 1).exit_code == 0
    one, two = (tmp_path / f"{jobs}/results/mine-quick.csv" for jobs in (1, 2))
    assert one.read_bytes() == two.read_bytes()
    assert len(pd.read_csv(one, comment="#")) == 2
    next((tmp_path / "1/stores/mine-quick/0").glob("*.parquet")).unlink()
    assert run("study", path, "--quick", "--out", tmp_path / "1", "--resume").exit_code == 0
    assert one.read_bytes() == two.read_bytes()
    path.write_text(f"CHANGED = True\n{OWN}")
    del sys.modules[load_module(path).__name__]  # as in another process
    found = run("study", path, "--quick", "--out", tmp_path / "1", "--resume")
    assert found.exit_code == 2
    assert "expected the store of this study, found another" in found.stderr
    assert "n is [20] there and [20, 40] here" in found.stderr
    assert one.read_bytes() == two.read_bytes()


def test_the_study_file_of_the_documentation_runs(tmp_path):
    page = (PROJECT / "docs" / "more" / "studies-in-detail.md").read_text(encoding="utf-8")
    (block,) = [block for block in page.split("```python\n")[1:] if "study = cs.study.Study(" in block]
    path = tmp_path / "my_study.py"
    path.write_text(block.partition("```")[0])
    found = run("study", path, "--quick")
    assert found.exit_code == 0, found.output
    assert "results/my_study-quick.csv, figures/my_study-quick.png" in " ".join(found.stdout.split())
    assert "The guarantee is kept in every row" in found.stdout
    worst = pd.read_csv(tmp_path / "results/my_study-quick.csv", comment="#").assign(rejections=12)
    assert len(load_module(path).violations(worst)) == len(worst)


def test_data_are_given_to_a_study_that_takes_them(tmp_path, write):
    table = "lambda *, quick, n_jobs, data: __import__('pandas').DataFrame({'question': ['own'], 'data': [str(data)]})"
    path = write(table=table, takes_data=True, figures="lambda table: {}")
    table, _ = load_study(path).run(tmp_path / "none")
    assert table["data"].tolist()[-1] == "[]"
    data = tmp_path / "my data.npz"
    found = run("study", path, "--out", tmp_path, "--data", data)
    assert found.exit_code == 0, found.output
    header, *_, last = (tmp_path / "results/tiny.csv").read_text().splitlines()
    assert last.endswith(f'[{data!r}]"')
    assert header.startswith(f"# command: calibstat study {tmp_path.name}/tiny.py --data 'my data.npz'; seed: 1;")
    found = run("study", path, "--out", tmp_path / "two", "--data", data, "--data", "more.npz")
    assert found.exit_code == 0, found.output
    header, *_ = (tmp_path / "two/results/tiny.csv").read_text().splitlines()
    assert "tiny.py --data 'my data.npz' --data more.npz; seed" in header


OPTIONS = (
    "{'n': cs.study.Option(3, 'a number'), 'names': cs.study.Option(('a',), 'names'), 'on': cs.study.Option(True, '')}"
)


def test_options_are_set_and_written_down(tmp_path, write):
    table = "lambda *, quick, n_jobs, options: __import__('pandas').DataFrame({'question': ['own'], **options})"
    path = write(table=table, options=OPTIONS.replace("('a',)", "'a'"), figures="lambda table: {}")
    found, _ = load_study(path).run(tmp_path / "a", options={"n": 4})
    assert found.iloc[-1][["n", "names", "on"]].tolist() == [4, "a", True]
    found = run("study", path, "--out", tmp_path / "b", "--set", "on=false", "--set", "names=x y")
    assert found.exit_code == 0, found.output
    header, *_, last = (tmp_path / "b/results/tiny.csv").read_text().splitlines()
    assert "tiny.py --set on=false --set 'names=x y'; seed" in header
    assert "x y" in last
    for wrong, message in (
        ("n=0", "expected n to be a whole number"),
        ("m=1", "expected an option of study 'tiny': n ("),
    ):
        found = run("study", path, "--out", tmp_path / "c", "--set", wrong)
        assert found.exit_code == 2
        assert message in found.stderr
    assert not (tmp_path / "c").exists()


def test_options_of_several_names_are_written_with_commas(tmp_path, write):
    table = "lambda *, quick, n_jobs, options: __import__('pandas').DataFrame({'question': list(options['names'])})"
    path = write(table=table, options=OPTIONS, figures="lambda table: {}")
    found, (csv, *_) = load_study(path).run(tmp_path / "a", options={"names": ("b", "c")})
    assert found["question"].tolist()[-2:] == ["b", "c"]
    assert "--set names=b,c; seed" in csv.read_text().splitlines()[0]


def test_pages_are_written_beside_the_table(tmp_path, write):
    pages = "lambda table, figures: {'.md': f'{len(table)} rows, {len(figures)} figures'}"
    _, written = load_study(write(pages=pages)).run(tmp_path / "out", quick=True)
    assert [path.name for path in written] == [
        "tiny-quick.csv",
        "tiny-quick.md",
        "tiny-quick.png",
        "tiny-quick_more.png",
    ]
    assert written[1].read_text() == "2 rows, 2 figures"


def test_a_study_that_keeps_parts_of_its_table_is_given_a_folder(tmp_path, write):
    table = (
        "lambda *, quick, n_jobs, store: __import__('pandas').DataFrame({'question': ['own'], 'where': [str(store)]})"
    )
    path = write(table=table, takes_store=True, figures="lambda table: {}")
    found, _ = load_study(path).run(tmp_path / "none")
    assert found["where"].tolist()[-1] == str(tmp_path / "none/stores/tiny/table")


def test_data_that_a_study_does_not_take_are_refused(tmp_path, write):
    found = run("study", write(), "--out", tmp_path / "out", "--data", "my.npz")
    assert found.exit_code == 2
    assert "expected no data for study 'tiny', which makes its own; found my.npz" in found.stderr
    assert not (tmp_path / "out").exists()


def test_a_broken_promise_fails(write):
    found = run("study", write("broken.py", violations="lambda table: table[table['n'] == 30]"))
    assert found.exit_code == 1
    assert "The guarantee is violated in 1 of 2 rows:" in found.stdout
    found = run("study", write("kept.py", violations="lambda table: table[:0]"))
    assert found.exit_code == 0
    assert "The guarantee is kept in every row, up to the exact binomial limit." in found.stdout


def test_a_missing_library_is_one_line(write, monkeypatch):
    path = write()
    monkeypatch.setattr("calibstat.study.store.find_spec", lambda name: None)
    found = run("study", path)
    assert found.exit_code == 2
    assert "needs pyarrow: python -m pip install pyarrow" in found.stderr
