"""The study of the papers' tables: what it computes, against slow code; hard files; and how it goes on."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from command_line import run

import calibstat as cs
from calibstat.papers import tables
from calibstat.papers.parts.agreement import PROPERTIES
from calibstat.papers.parts.recalibrations import BEFORE, RECALIBRATIONS, REPLACED
from calibstat.study import load_study
from calibstat.study.study_options import chosen

FAMILY = cs.generators.dirichlet((0.3,) * 4, temperature=1.5)
MODELS = (BEFORE, "temperature", "histogram, by class", "isotonic", REPLACED)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def save(tmp_path):
    """Save rows as a file of this name, and return its path."""

    def save_rows(name, y, p):
        np.savez(tmp_path / f"{name}.npz", prob=p, y=y)
        return tmp_path / f"{name}.npz"

    return save_rows


def asked(**given):
    return chosen(tables.OPTIONS, {"splits": 2, "resamples": 19, **given}, "tables")


def table_of(*paths, store=None, **given):
    return tables.table(quick=False, data=paths, store=store, options=asked(**given))


def of(table, question, value="mean"):
    """The values of a question, by file, model and measure."""
    rows = table[table["question"] == question]
    return rows.set_index(["file", "model", "measure"])[value]


# --- what is computed ------------------------------------------------------------------------------------------------


def slow_errors(y, p, bins):
    """ECE and its plain mean over bins, and the AUC of hits, by loops; log loss and Brier score of vectors."""
    confidence, hit = p.max(axis=1), p.argmax(axis=1) == y
    gaps, sizes = [], []
    for k in range(bins):
        inside = [i for i, c in enumerate(confidence) if k / bins <= c < (k + 1) / bins or (k == bins - 1 and c == 1)]
        if inside:
            gaps.append(abs(np.mean(hit[inside]) - np.mean(confidence[inside])))
            sizes.append(len(inside))
    pairs = [(a > b) + (a == b) / 2 for a in confidence[hit] for b in confidence[~hit]]
    return {
        "accuracy": np.mean(hit),
        "ece": np.average(gaps, weights=sizes),
        "average_ce": np.mean(gaps),
        "auc": np.mean(pairs),
        "log_loss": np.mean([-np.log(row[label]) for row, label in zip(p, y, strict=True)]),
        "brier": np.mean([np.sum((row - np.eye(row.size)[label]) ** 2) for row, label in zip(p, y, strict=True)]),
    }


@pytest.mark.parametrize(("alpha", "bins"), [((0.3,) * 4, 15), ((0.5, 0.5), 7)])
def test_measures_are_those_of_slow_code(alpha, bins):
    y, p = cs.generators.dirichlet(alpha, temperature=1.5).sample(300, rng=1)
    found = tables.measured(y, p, bins)
    for name, value in slow_errors(y, p, bins).items():
        assert found[name] == pytest.approx(value, abs=1e-12), name
    assert set(found) == set(tables.TABLED)
    assert found["smooth_ece"] == cs.estimate(y, p, measure="smooth_ece", lens="top_label")
    assert found["adaptive_calibration_error"] == cs.estimate(y, p, measure="gce", binning="adaptive", n_bins=bins)


def test_ranks_by_hand():
    values = {
        "a": dict.fromkeys(tables.TABLED, 0.1) | {"accuracy": 0.9, "log_loss": np.inf, "auc": np.nan},
        "b": dict.fromkeys(tables.TABLED, 0.2) | {"accuracy": 0.8, "log_loss": np.inf, "auc": 0.6},
        "c": dict.fromkeys(tables.TABLED, 0.3) | {"accuracy": 0.95, "log_loss": 1.0, "auc": 0.7},
    }
    ranks = pd.DataFrame(tables.order(values), index=list(values), columns=tables.TABLED)
    assert ranks["ece"].tolist() == [1, 2, 3]
    assert ranks["accuracy"].tolist() == [2, 3, 1]
    assert ranks["log_loss"].tolist() == [2.5, 2.5, 1]
    assert ranks["auc"].tolist()[1:] == [2, 1]


def test_differences_are_paired_and_have_intervals_where_they_are_known(save):
    table = table_of(save("some", *FAMILY.sample(400, rng=1)))
    measure, difference = of(table, "measure"), of(table, "difference")
    low, high = of(table, "difference", "low"), of(table, "difference", "high")
    for model in MODELS[1:]:
        for name in tables.TABLED:
            expected = measure["some", model, name] - measure["some", BEFORE, name]
            assert difference["some", model, name] == pytest.approx(expected, abs=1e-12)
            keeps_classes = model in ("temperature", REPLACED)
            known = name in tables.DIFFERED or (name == "accuracy" and not keeps_classes)
            assert (low["some", model, name] <= expected <= high["some", model, name]) == known
    assert set(table.loc[table["question"] == "difference", "against"]) == {BEFORE}
    assert difference["some", "isotonic", "log_loss"] == np.inf
    assert difference["some", REPLACED, "accuracy"] == difference["some", "temperature", "accuracy"] == 0


def test_splits_are_the_same_for_files_with_as_many_rows(monkeypatch):
    rows = {}

    def seen(y, p, others, *rest):
        rows[p.shape[1]] = (p[:, 0], others[:, 0])
        raise StopIteration

    monkeypatch.setattr(tables, "fits", seen)
    for k in (2, 3):
        order = np.arange(100)[:, np.newaxis] * np.ones((1, k))
        source = type("Rows", (), {"rows": lambda self, p=order: (np.zeros(100, int), p)})()
        with pytest.raises(StopIteration):
            tables.one_split(source, 1, asked())
    assert np.array_equal(rows[2][0], rows[3][0])
    assert sorted([*rows[2][0], *rows[2][1]]) == list(range(100))
    assert rows[2][0].size == 20


def test_the_temperature_of_a_hundred_classes_is_found(save):
    y, p = cs.generators.dirichlet((0.05,) * 100, temperature=1.5).sample(5000, rng=1)
    table = table_of(save("wide", y, p.astype(np.float32)), splits=1, agreement=False, recalibrations=("temperature",))
    assert of(table, "fit")["wide", "temperature", "temperature"] == pytest.approx(1.5, abs=0.1)
    measure = of(table, "measure")
    q = p ** (1 / 1.5)  # the true probabilities, up to a factor: all confidences are above them
    truth = np.mean(p.max(axis=1) - q.max(axis=1) / q.sum(axis=1))
    assert measure["wide", BEFORE, "ece"] == pytest.approx(truth, abs=0.03)
    assert measure["wide", "temperature", "ece"] < truth / 3


# --- blocks and files ------------------------------------------------------------------------------------------------


def test_numbers_of_classes_are_blocks_with_means_over_files(save):
    paths = [save(f"four{k}", *FAMILY.sample(200, rng=k)) for k in range(3)]
    paths.append(save("two", *cs.generators.dirichlet((0.5, 0.5)).sample(200, rng=4)))
    table = table_of(*paths, agreement=False)
    assert set(table["classes"]) == {2, 4}
    every = table[table["file"] == tables.EVERY]
    assert set(every["classes"]) == {4}
    assert set(every["files"]) == {3}
    measure = of(table, "measure")
    files = [measure[f"four{k}", "temperature", "ece"] for k in range(3)]
    assert measure[tables.EVERY, "temperature", "ece"] == pytest.approx(np.mean(files))
    assert of(every, "measure", "sd")[tables.EVERY, "temperature", "ece"] == pytest.approx(np.std(files, ddof=1))


def test_files_of_one_name_are_told_apart(tmp_path):
    paths = [tmp_path / "a" / "same.npz", tmp_path / "b" / "same.npz", tmp_path / "other.npz"]
    assert list(tables.names_of(paths)) == [str(paths[0]), str(paths[1]), "other"]
    assert list(tables.names_of([tmp_path / f"{tables.EVERY}.npz"])) == [str(tmp_path / f"{tables.EVERY}.npz")]
    with pytest.raises(ValueError, match=r"expected every file once, found .*same.* 2 times"):
        tables.names_of([paths[0], paths[0]])


def hard(name):
    y, p = FAMILY.sample(120, rng=1)
    rounded = np.where(p < 0.05, 0, p)
    return {
        "one row": (y[:1], p[:1]),
        "two rows": (y[:2], p[:2]),
        "three rows": (y[:3], p[:3]),
        "one class": (np.zeros(60), np.ones((60, 1))),
        "one class observed": (np.zeros(120, int), p),
        "zeros": (y, rounded / rounded.sum(axis=1, keepdims=True)),
        "certain": (y, np.eye(4)[p.argmax(axis=1)]),
        "always right": (p.argmax(axis=1), p),
        "absent class": (y[y < 3], p[y < 3]),
        "half precision": (y, p.astype(np.float16)),
        "all the same": (y, np.full_like(p, 0.25)),
        "not a number": (y, np.where(p == p.max(), np.nan, p)),
        "unknown class": (y + 1, p),
    }[name]


REASONS = {
    "one row": "expected at least 3 rows, of which 20% are fitted to, found 1",
    "two rows": "expected at least 3 rows, of which 20% are fitted to, found 2",
    "not a number": "expected a probability from 0 to 1, found nan in column",
    "unknown class": "expected names of classes",
}
HARD = ("one row", "two rows", "three rows", "one class", "one class observed", "zeros", "certain", "always right",
        "absent class", "half precision", "all the same", "not a number", "unknown class")  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_a_hard_file_is_a_line_or_a_named_reason(name, save):
    table = table_of(save("hard", *hard(name)), splits=1)
    reasons = table.loc[table["question"] == "left out", "reason"].tolist()
    if name in REASONS:
        assert len(reasons) == 1
        assert reasons[0].startswith(REASONS[name])
        assert set(table["question"]) == {"left out"}
        return
    assert set(table.loc[table["question"] == "measure", "model"]) == set(MODELS)
    assert reasons == []
    texts = tables.pages(table, tables.draw_diagrams(table))
    assert all("hard" in text for text in texts.values())


def test_what_takes_too_long_is_left_out_by_name(save):
    y, p = cs.generators.dirichlet((0.1,) * 101).sample(100, rng=1)
    asked_for = ("matrix", "temperature")
    table = table_of(save("wide", y, p), splits=1, agreement=False, recalibrations=asked_for, reference="matrix")
    rows = table[table["question"] == "left out"]
    assert dict(zip(rows["measure"], rows["reason"], strict=True)) == {
        "": "expected at most 100 classes for matrix, whose fit takes too long with 101",
        "differences": "expected the reference among what is fitted, found it left out",
    }
    assert set(table.loc[table["question"] == "measure", "model"]) == {BEFORE, "temperature"}


# --- a run -----------------------------------------------------------------------------------------------------------


def test_every_recalibration_can_be_asked(save):
    table = table_of(save("some", *FAMILY.sample(300, rng=1)), splits=1, recalibrations=tuple(tables.BY_OPTION))
    assert set(table.loc[table["question"] == "measure", "model"]) == {BEFORE, *RECALIBRATIONS}
    assert set(table.loc[table["question"] == "agreement", "measure"]) == set(PROPERTIES)


def test_a_run_goes_on_by_file_and_split(save, tmp_path, monkeypatch):
    paths = [save("a", *FAMILY.sample(100, rng=1)), save("b", *FAMILY.sample(100, rng=2))]
    first = table_of(*paths, store=tmp_path / "store")
    made = []
    one_split = tables.one_split
    monkeypatch.setattr(tables, "one_split", lambda *given: made.append(given[1]) or one_split(*given))
    again = table_of(*paths, store=tmp_path / "store")
    pd.testing.assert_frame_equal(again, first, check_exact=True)
    assert made == []
    table_of(*paths, store=tmp_path / "store", splits=3)
    assert made == [2, 2]
    save("b", *FAMILY.sample(100, rng=3))
    table_of(*paths, store=tmp_path / "store")
    assert made == [2, 2, 0, 1]


def test_processes_do_not_change_the_numbers(save):
    path = save("a", *FAMILY.sample(100, rng=1))
    one, two = (tables.table(quick=True, data=[path], store=None, options=asked(), n_jobs=jobs) for jobs in (1, 2))
    pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_the_command_runs_in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("study", "tables", "--quick")
    assert found.exit_code == 0, found.stderr
    results = tmp_path / "results"
    assert sorted(path.suffix for path in results.iterdir()) == [".csv", ".html", ".md", ".tex"]
    assert len(list((tmp_path / "figures").glob("tables-quick_*.png"))) == 2
    assert "temperature 1.5" in (results / "tables-quick.md").read_text()
    page = (results / "tables-quick.html").read_text()
    assert page.count("<svg") == 2
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_the_study_is_small_and_needs_nothing_beside_the_package():
    folder = Path(tables.__file__).parent
    assert sum(path.stat().st_size for path in folder.rglob("*.py")) <= 150_000
    assert not any("seaborn" in path.read_text() or "sklearn" in path.read_text() for path in folder.rglob("*.py"))


def test_unknown_names_are_refused_with_the_list(tmp_path):
    study = load_study("tables")
    with pytest.raises(ValueError, match=r"any of temperature, temperature_by_ece, platt, .*; found 'temperatur'"):
        study.run(tmp_path, quick=True, options={"recalibrations": "temperatur"})
    with pytest.raises(ValueError, match=r"expected an option of study 'tables': recalibrations \(.*found 'split'"):
        study.run(tmp_path, quick=True, options={"split": "2"})
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_interval_has_its_difference_and_the_reason(monkeypatch):
    """Of two rows, one of which each model gets right: one model alone has no difference of the accuracy."""
    y, p = np.array([0, 1]), np.array([[0.75, 0.25], [0.75, 0.25]])
    models = {BEFORE: p, "temperature": p[::-1]}
    values = {name: dict.fromkeys(tables.TABLED, 0.25 * k) for k, name in enumerate(models)}

    def refuse(*_, **__):
        raise ValueError("expected more rows")

    monkeypatch.setattr(tables, "differences", refuse)
    found = list(tables.paired(y, models, values, asked(), 1))
    refused = {row["measure"]: row["reason"] for row in found if row["question"] == "left out"}
    assert refused == {f"intervals of differences of {name}": "expected more rows" for name in tables.DIFFERED}
    differences = {row["measure"]: row["value"] for row in found if row["question"] == "difference"}
    assert {differences[name] for name in tables.DIFFERED} == {0.25}
    assert list(tables.in_accuracy(y, {BEFORE: p}, BEFORE, 19, 1)) == []


def test_a_model_that_changes_no_class_has_no_interval_of_the_accuracy():
    """Its difference is 0 by construction: an interval of a constant would say that it was estimated."""
    y, p = FAMILY.sample(200, rng=1)
    sharper = p**2 / (p**2).sum(axis=1, keepdims=True)
    models = {BEFORE: p, "temperature": sharper, "other": np.roll(p, 1, axis=1)}
    same, other = tables.in_accuracy(y, models, BEFORE, 19, 1)
    assert (same["value"], "low" in same, "high" in same) == (0, False, False)
    assert other["low"] <= other["value"] <= other["high"]


def test_rows_of_an_example_are_those_of_its_generator():
    y, p = tables.Drawn(FAMILY, 5).rows()
    again = FAMILY.sample(5, tables.SEED)
    assert np.array_equal(y, again[0])
    assert np.array_equal(p, again[1])
