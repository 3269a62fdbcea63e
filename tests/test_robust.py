"""Hostile arguments, files and places: a clear error or the right result, never a crash or a hang."""

import json
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import calibstat as cs
from calibstat.cli import app as cli
from calibstat.cli import input_files as reading
from calibstat.cli import terminal as printing
from calibstat.data.checks import check_level
from calibstat.output import csv_text as sheets
from calibstat.output import whole_folder as folders
from calibstat.recalibration import MatrixScaling
from calibstat.resampling import streams as words
from calibstat.study.store import DESCRIPTION, Store

Y, P = cs.generators.temperature(1.5).sample(60, rng=1)
NO_JOBS = [float("nan"), 1.5, 2.0, True, None, 0, -2, "2", [1]]
VERBS = {
    "test": lambda **given: cs.calibration_test(Y, P, measure="ks", **{"n_resamples": 9, **given}),
    "interval": lambda **given: cs.confidence_interval(Y, P, **{"measure": "ks", "n_resamples": 9, **given}),
    "compare": lambda **given: cs.compare(Y, {"a": P, "b": P**2}, **{"n_resamples": 9, **given}),
    "decompose": lambda **given: cs.decompose(Y, P, **given),
    "t_cal": lambda **given: cs.t_cal(Y, P, **{"n_resamples": 9, **given}),
    "reliability": lambda **given: cs.reliability(Y, P, **{"n_resamples": 9, **given}),
    "summarize": lambda **given: cs.summarize(Y, {"a": P}, **{"n_resamples": 9, **given}),
    "gap": lambda **given: cs.generalization_gap((Y, P), (Y, P), **{"n_resamples": 9, **given}),
}


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(each) for each in arguments])


# --- numbers among the arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("bad", NO_JOBS, ids=repr)
def test_n_jobs_is_a_whole_number(verb, bad):
    with pytest.raises(ValueError, match="expected n_jobs to be a whole number of at least 1, or -1"):
        VERBS[verb](n_jobs=bad)


def test_all_cores_are_those_that_may_be_used():
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("no affinity here")
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
    code += "from calibstat.resampling.streams import n_threads; print(n_threads(-1), n_threads(3))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.split() == ["1", "3"]
    assert words.n_threads(-1) <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in ("test", "t_cal", "reliability")])
@pytest.mark.parametrize("bad", [None, "0.9", float("nan"), 0, 1, True, 1 - 1e-16, 95, [0.9]], ids=repr)
def test_confidence_levels(verb, bad):
    with pytest.raises(ValueError, match="expected confidence_level between 0 and 1, found"):
        VERBS[verb](confidence_level=bad)


def test_levels_near_the_ends_are_taken():
    for level in (1e-12, 0.5, 1 - 1e-12, np.float32(0.5)):
        check_level("level", level)
        found = cs.confidence_interval(Y, P, measure="brier", confidence_level=float(level))
        assert np.isfinite([found.low, found.high]).all()


RUN = {"question": "bias", "generators": {"a": cs.generators.calibrated()}, "n": 5, "measures": ["ks"],
       "replicates": 2, "seed": 1}  # fmt: skip


@pytest.mark.parametrize(
    "bad",
    [
        *({"n": n} for n in (b"30", np.array(5), "30", True, 2.5, [10, "20"], [True], None, 0, [-1], float("nan"))),
        *({"seed": seed} for seed in (True, None, 1.5, -1, "1")),
        *({"replicates": k} for k in (True, 1.5, "2", None, 0)),
        *({"n_resamples": k} for k in (True, 1.5, "2", None, 0)),
        *({"level": level} for level in ("0.9", 0, 1, float("nan"), True)),
        *({"n_jobs": jobs} for jobs in NO_JOBS if jobs is not None),
        {"generators": [cs.generators.calibrated()]},
        *({"measures": m} for m in ("ks", 5, None, {"a": "ks"}, {"a": ("ks",)}, {"a": ("ks", 5)})),
        *({"methods": m} for m in ("plug-in", 5)),
        {"question": ["bias"]},
    ],
    ids=repr,
)
def test_arguments_of_a_study(bad):
    with pytest.raises(ValueError, match=r"^expected "):
        cs.study.run(**{**RUN, **bad})


def test_numpy_numbers_are_numbers():
    found = cs.study.run(**{**RUN, "n": np.array([5, 6]), "seed": np.int64(1), "replicates": np.int32(2)})
    assert found["n"].tolist() == [5, 6]


def test_long_names_are_cut_short():
    name = "x" * 5000
    with pytest.raises(ValueError, match=r"^expected") as caught:
        cs.compare(Y, {name: [0.5, 2.0], "b": P})
    assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match=r"^expected a measure") as caught:
        cs.estimate(Y, P, measure=name)
    assert len(str(caught.value)) < 1000


# --- places that cannot be written to --------------------------------------------------------------------------------


def test_import_without_a_cache():
    """No folder for compiled code: one warning, and the same numbers. Permissions would not stop root."""
    code = """
        import warnings
        from numba.core.caching import CacheImpl
        CacheImpl._locator_classes = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import calibstat as cs
        assert [w.category for w in caught] == [RuntimeWarning], caught
        assert "NUMBA_CACHE_DIR" in str(caught[0].message)
        print(cs.estimate([0, 1, 1], [0.2, 0.6, 0.9], n_bins=5))
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert float(found.stdout) == pytest.approx(0.7 / 3)  # (0.2 + 0.4 + 0.1) / 3


# --- files that are written ------------------------------------------------------------------------------------------


def constants(path, classes):
    if classes == 2:
        pd.DataFrame({"y": [0, 1] * 20, "p": 0.5}).to_csv(path, index=False)
        return "--prob", "p"
    pd.DataFrame({"y": [0, 1, 2] * 20, "p_0": 0.2, "p_1": 0.3, "p_2": 0.5}).to_csv(path, index=False)
    return "--prob", "p_*"


@pytest.mark.parametrize("classes", [2, 3])
def test_report_on_constant_predictions(classes, tmp_path):
    given = constants(tmp_path / "const.csv", classes)
    found = run("report", tmp_path / "const.csv", "--label", "y", *given, "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "out" / "null.png").exists()
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("measure", ["log_loss", "brier", "ece", "ks", "mcb"])
def test_a_null_distribution_of_one_number_is_drawn(measure):
    ax = cs.plot(cs.calibration_test([0, 1] * 20, [0.5] * 40, measure=measure, rng=0, n_resamples=99))
    heights = [float(np.max(patch.get_data().values)) for patch in ax.patches]
    assert max(heights) >= 99 / 40
    assert np.isfinite(ax.get_xlim()).all()


@pytest.mark.parametrize("existed", [False, True])
def test_a_failure_leaves_nothing(existed, tmp_path, monkeypatch):
    from calibstat.cli import saved_results as saving

    given = constants(tmp_path / "const.csv", 2)
    out = tmp_path / "deep" / "out"
    if existed:
        out.mkdir(parents=True)
        (out / "report.json").write_text("earlier")
    monkeypatch.setattr(saving, "error_intervals", lambda findings: 1 / 0)
    found = run("report", tmp_path / "const.csv", "--label", "y", *given, "--out", out)
    assert found.exit_code != 0
    if existed:
        assert [path.name for path in out.iterdir()] == ["report.json"]
        assert (out / "report.json").read_text() == "earlier"
    else:
        assert not out.parent.exists()


def test_files_of_an_earlier_report_are_replaced_and_others_kept(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.txt").write_text("earlier")
    (out / "mine.txt").write_text("mine")
    with folders.whole_folder(out) as draft:
        (draft / "a.txt").write_text("now")
        (draft / "sub").mkdir()
        (draft / "sub" / "b.txt").write_text("b")
    assert {str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if path.is_file()} == {
        "a.txt": "now",
        "mine.txt": "mine",
        "sub/b.txt": "b",
    }


def test_a_new_folder_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").mkdir()
    with folders.whole_folder(tmp_path / "out") as draft:
        (draft / "a.txt").write_text("a")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_folder_in_the_place_of_a_file_stops_all(tmp_path):
    out = tmp_path / "out"
    (out / "b.txt").mkdir(parents=True)

    def write():
        with folders.whole_folder(out) as draft:
            (draft / "a.txt").write_text("a")
            (draft / "b.txt").write_text("b")

    with pytest.raises(ValueError, match=r"expected a file or nothing at .*b\.txt"):
        write()
    assert [path.name for path in out.iterdir()] == ["b.txt"]


def test_out_is_a_file(tmp_path):
    given = constants(tmp_path / "const.csv", 2)
    found = run("report", tmp_path / "const.csv", "--label", "y", *given, "--out", tmp_path / "const.csv")
    assert found.exit_code == 2
    assert "expected a folder to write to, found the file" in found.stderr


FORMULAS = ["=1+1", '=HYPERLINK("http://x","a")', "@c", "+1", "-1", "\tx", "\rx"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_text_is_a_formula(formula, tmp_path):
    frame = pd.DataFrame({"name": [formula, "plain"], formula: [-1.5, 2.0], "mixed": [formula, -3]})
    text = sheets.as_csv(frame)
    (tmp_path / "a.csv").write_text(text, newline="")
    read = pd.read_csv(tmp_path / "a.csv")
    assert read.columns.tolist() == ["name", f"'{formula}", "mixed"]
    assert read["name"].tolist() == [f"'{formula}", "plain"]
    assert read[f"'{formula}"].tolist() == [-1.5, 2.0]
    cs.study.write_table(frame, tmp_path / "b.csv", command="x")
    assert pd.read_csv(tmp_path / "b.csv", comment="#")["name"].tolist()[0] == f"'{formula}"


def test_class_names_that_are_formulas(tmp_path):
    p = np.random.default_rng(1).dirichlet((1, 1, 1), 60)
    frame = pd.DataFrame(p, columns=["p_=1+1", "p_@c", "p_x"]).assign(y=[0, 1, 2] * 20)
    frame.to_csv(tmp_path / "a.csv", index=False)
    found = run("report", tmp_path / "a.csv", "--label", "y", "--prob", "p_*", "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert pd.read_csv(tmp_path / "out" / "classes.csv")["class"].tolist() == ["'=1+1", "'@c", "x"]


# --- what is printed -------------------------------------------------------------------------------------------------

EVIL = "\x1b[31mEVIL\x1b[0m\x07\x9b1m\u202e"


def test_control_characters_are_printed_as_in_code(tmp_path):
    pd.DataFrame({"y": Y, EVIL: P, "q": P**2}).to_csv(tmp_path / "a.csv", index=False)
    found = run("compare", tmp_path / "a.csv", "--label", "y", "--prob", EVIL, "--prob", "q", "--n-resamples", "9")
    assert found.exit_code == 0, found.output
    wrong = run("test", tmp_path / f"{EVIL[:4]}.csv", "--label", "y", "--prob", "q")
    assert wrong.exit_code == 2
    for text in (found.output, wrong.stderr):
        assert not printing.CONTROL.search(text)
        assert "\\x1b[31" in text
    three = pd.DataFrame(np.random.default_rng(1).dirichlet((1, 1, 1), 60), columns=[f"p_{EVIL}", "p_b", "p_c"])
    three.assign(y=[0, 1, 2] * 20).to_csv(tmp_path / "b.csv", index=False)
    for lens in ("class_wise", "one_class:b", f"one_class:{EVIL}"):
        found = run("test", tmp_path / "b.csv", "--label", "y", "--prob", "p_*", "--lens", lens, "--n-resamples", "9")
        assert found.exit_code == 0, found.output
        assert not printing.CONTROL.search(found.output)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_file_names_that_are_no_text(tmp_path):
    """They come as lone surrogates, which no terminal takes."""
    pd.DataFrame({"y": Y, "p": P}).to_csv(tmp_path / "bad\udcff.csv", index=False)
    out = tmp_path / "out\udcff"
    found = run("report", tmp_path / "bad\udcff.csv", "--label", "y", "--prob", "p", "--out", out)
    assert found.exit_code == 0, found.output
    assert "\\udcff" in found.output.replace("\n", "")


def test_markup_and_other_scripts_stay_as_they_are():
    for text in ("[red]x[/red]", "[/]", "жük 猫", "a\nb"):
        assert printing.visible(text) == text


# --- files that are read ---------------------------------------------------------------------------------------------


def test_a_pattern_over_very_many_columns_ends(tmp_path):
    names = [f"c{k}" for k in range(100_000)]
    begin = time.process_time()
    columns, classes = reading.choose(["y", *names], "y", ["c*"])
    assert columns == names
    assert classes[:2] == ["0", "1"]
    assert time.process_time() - begin < 20  # it was hours


@pytest.mark.parametrize(("row", "number"), [("1,0.5,7", 0), ('0,"0,5",,', 0), ("0,0.1\n\n1,0.5,", 1)])
def test_rows_with_more_cells_than_columns_are_refused(row, number, tmp_path):
    (tmp_path / "a.csv").write_text(f"y,p\n{row}\n0,0.2\n")
    found = run("test", tmp_path / "a.csv", "--label", "y", "--prob", "p")
    assert found.exit_code == 2
    assert f"at row {number} (rows count from 0)" in found.stderr
    assert "expected rows of 2 cells" in found.stderr


# --- stores ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", ["[" * 200_000, "[]", '"x"', "null", "5", "", '{"seed": "1"', '{"seed": 1}', "\x00\x01"]
)
def test_a_damaged_description_is_named(content, tmp_path):
    cs.study.run(**RUN, store=tmp_path / "store")
    (tmp_path / "store" / DESCRIPTION).write_text(content)
    with pytest.raises(ValueError, match=rf"expected the description of a study in .*{DESCRIPTION}, found"):
        cs.study.run(**RUN, store=tmp_path / "store")


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        ({"cell": [10**6], "ks": [0.5]}, "has cell 1000000 where there are 2"),
        ({"cell": [-1], "ks": [0.5]}, "has cell -1 where"),
        ({"row": [0], "ks": [0.5]}, "has no column 'cell'"),
        ({"cell": [0], "other": [0.5]}, "has no column 'ks'"),
        ({"cell": [0.5], "ks": [0.5]}, "column 'cell' is no number"),
        ({"cell": [0], "ks": ["a"]}, "column 'ks' is no number"),
    ],
)
def test_a_planted_batch_is_named(planted, message, tmp_path):
    import io

    from calibstat.study import store

    cs.study.run(**RUN, store=tmp_path / "store")
    content = io.BytesIO()
    pd.DataFrame(planted).to_parquet(content)
    name = f"cells-000000000-{store._digest(content.getvalue())}.parquet"
    (tmp_path / "store" / name).write_bytes(content.getvalue())
    with pytest.raises(ValueError, match=rf"found .*{name}, .*{message}"):
        cs.study.run(**RUN, store=tmp_path / "store")


def test_batches_that_contradict_are_named(tmp_path):
    cs.study.run(**RUN, store=tmp_path / "store")
    again = Store(tmp_path / "store", json.loads((tmp_path / "store" / DESCRIPTION).read_text()), ["ks"])
    cells, answers = again.read()
    again.append(cells[:1], answers[:1])  # the same numbers twice, no harm
    cs.study.run(**RUN, store=tmp_path / "store")
    again.append(cells[:1], answers[:1] + 0.5)
    with pytest.raises(ValueError, match=r"expected one answer for every cell in .*store, found two for cell 0"):
        cs.study.run(**RUN, store=tmp_path / "store")


@pytest.mark.parametrize("place", ["file", "file/store"])
def test_a_store_that_is_a_file(place, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ValueError, match=r"expected a folder for the store, found the file .*file"):
        cs.study.run(**RUN, store=tmp_path / place)


def test_a_batch_that_is_no_parquet_is_named(tmp_path):
    from calibstat.study import store

    cs.study.run(**RUN, store=tmp_path / "store")
    (tmp_path / "store" / f"cells-0-{store._digest(b'text')}.parquet").write_bytes(b"text")
    with pytest.raises(ValueError, match="which is no Parquet file"):
        cs.study.run(**RUN, store=tmp_path / "store")


def test_two_runs_do_not_write_to_one_store(tmp_path):
    pytest.importorskip("fcntl")
    store = Store(tmp_path / "store", {}, ["a"])
    with store.locked():
        (tmp_path / "store" / "batch.unfinished").write_text("")
        second = Store(tmp_path / "store", {}, ["a"])
        with pytest.raises(ValueError, match=rf"process {os.getpid()} writes to .*store; wait"), second.locked():
            pass
        assert (tmp_path / "store" / "batch.unfinished").exists()  # that of the first run
    with second.locked():
        assert not (tmp_path / "store" / "batch.unfinished").exists()
    assert [path.name for path in (tmp_path / "store").iterdir()] == [DESCRIPTION]


def test_the_lock_of_a_dead_process_does_not_block(tmp_path):
    pytest.importorskip("fcntl")
    code = f"""
        import os, signal
        from calibstat.study.store import Store
        with Store({str(tmp_path / "store")!r}, {{}}, ["a"]).locked():
            os.kill(os.getpid(), signal.SIGKILL)
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert killed.returncode != 0
    assert (tmp_path / "store" / ".lock").exists()
    with Store(tmp_path / "store", {}, ["a"]).locked():
        pass


# --- fits ------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_matrix_scaling_leaks_no_warning():
    import warnings

    rng = np.random.default_rng(5)
    for k in range(40):
        p = rng.dirichlet(np.full(3, 10.0 ** rng.uniform(-3, 1)), 8).clip(1e-300)
        y = rng.integers(0, 3, 8)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="MatrixScaling has not converged")
            found = MatrixScaling(regularisation=float(10.0 ** rng.uniform(-300, 300)) * (k % 4 > 0)).fit(p, y)
        assert np.isfinite(found.weight_).all()


# --- what takes too long ---------------------------------------------------------------------------------------------


def test_a_report_names_the_measures_that_so_many_rows_make_costly(tmp_path, monkeypatch):
    """Asked of fewer rows, they are put to them; those left out are named on the screen and in the file."""
    import json

    from calibstat.cli import report

    asked = []

    def assess(data, measure, **settings):
        asked.append(measure)
        return real(data, measure, **{**settings, "n_resamples": 9})

    real = report.assess
    monkeypatch.setattr(report, "assess", assess)
    rng = np.random.default_rng(1)
    dear = {"interval_ce", "surrogate_interval_ce", "post_processing_gap", "regression_ce"}
    for rows in (10_000, 10_001):
        asked.clear()
        p = rng.random(rows).round(2)
        pd.DataFrame({"y": (rng.random(rows) < p).astype(int), "p": p}).to_csv(tmp_path / "a.csv", index=False)
        found = run("report", tmp_path / "a.csv", "--label", "y", "--prob", "p", "--out", tmp_path / "out")
        assert found.exit_code == 0, found.output
        left_out = dear if rows > 10_000 else set()
        assert dear & set(asked) == dear - left_out
        assert set(json.loads((tmp_path / "out" / "report.json").read_text())["left_out"]) == left_out
        text = " ".join(found.output.split())
        assert ("Left out, because they are costly on 10,001 rows:" in text) == bool(left_out)
        assert all(name in text for name in left_out)


def test_measures_say_above_how_many_rows_they_are_costly():
    from calibstat.measures.registry import everyday_measures

    few, many, most = (set(everyday_measures(rows)) for rows in (1, 10_001, 1_000_000))
    assert few > many > most
    assert {"ece", "brier", "log_loss"} <= most
    assert not {"lower_distance", "upper_distance"} & few


# --- what does not exist here ----------------------------------------------------------------------------------------

FOREIGN = {"random_state": "use rng=", "seed": "use rng=", "bins": "use n_bins=", "n_boot": "use n_resamples=",
           "alpha": "confidence_level=", "weights": "Sample.from_rows"}  # fmt: skip


@pytest.mark.parametrize("verb", ["test", "interval", "compare", "decompose", "gap"])
@pytest.mark.parametrize("name", FOREIGN)
def test_names_of_other_packages_say_what_to_use(verb, name):
    with pytest.raises(ValueError, match=f"found '{name}'; .*{FOREIGN[name]}"):
        VERBS[verb](**{name: 3})


def test_tests_have_no_weights():
    for verb in ("test", "interval", "compare"):
        with pytest.raises(ValueError, match=r"found 'sample_weight'; .*Sample\.from_rows"):
            VERBS[verb](sample_weight=np.ones(60))


@pytest.mark.parametrize("generator", [lambda n, rng: (Y, P), 3, cs.generators.Generator, None])
def test_what_is_no_generator(generator):
    with pytest.raises(ValueError, match=r"expected generators with sample\(n, rng\), .* for 'a'"):
        cs.study.run(**{**RUN, "generators": {"a": generator}})


def test_a_recipe_without_its_parts_is_refused():
    from calibstat.measures import registry

    about = {"title": "t", "formula": "f", "reference": "r", "bounds": (0, 1)}

    def mean(value, residual):
        """Return the absolute mean residual."""
        return abs(residual.sum())

    def make(**given):
        return cs.measure("lacking", **about, honest=lambda: registry.WitnessInterval(1.0, 2.0), **given)(mean)

    with pytest.raises(ValueError, match="expected detail with a field 'witness' of measure 'lacking'"):
        make(norm=True)
    with pytest.raises(ValueError, match="expected norm=True of measure 'lacking'"):
        make(detail=lambda value, count, positives: {})
    with pytest.raises(ValueError, match="expected honest, a function"):
        cs.measure("lacking", **about, norm=True, honest=registry.MeanInterval())(mean)
    assert "lacking" not in cs.MEASURES
    try:
        make(norm=True, detail=lambda value, count, positives: {"other": value})
        for verb in ("interval", "compare"):
            with pytest.raises(ValueError, match="expected a field 'witness' in the detail of measure 'lacking'"):
                VERBS[verb](measure="lacking")
    finally:
        registry._REGISTRY.pop("lacking", None)
