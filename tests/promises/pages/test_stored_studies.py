"""The stored tables of studies have their rows in the list and all measures, and the stored pictures show them."""

import re
import shutil

import pandas as pd
import pytest
from project_folder import PROJECT as ROOT
from redraw_pictures import FIGURES, RESULTS, outdated, study_of
from simulation_files import STORED

from calibstat.measures.kinds.registry import everyday_measures
from calibstat.papers import consistency
from calibstat.study.study import Study

COMMIT = "[0-9a-f]{7,40}"


def has_facts(first, name, seed):
    """Whether a first line has command, seed, version, date and commit: that of the code, or that stored the table."""
    command = rf"# command: calibstat study ({name}|simulations/{name}\.py)( --data \S+)?"
    of_code, of_table = rf"; commit: {COMMIT}( with changes)?", rf"; stored in commit: {COMMIT}"
    facts = rf"{command}; seed: {seed}; version: [\d.]+(; date: \S+{of_table}|{of_code}; date: \S+)"
    return re.fullmatch(facts, first) is not None


def test_every_study_has_its_row_and_its_results():
    readme = (ROOT / "simulations" / "README.md").read_text(encoding="utf-8")
    for name, study in STORED.items():
        hours = rf", {study.runtime_hours:g} h \|"
        assert re.search(rf"\| {re.escape(study.question)} \| \[{name}\]\([\w./]*{name}\.py\){hours}", readme), name
        first, second = (ROOT / "simulations" / "results" / f"{name}.csv").read_text().splitlines()[:2]
        assert has_facts(first, name, study.seed), name
        assert second.replace('"', "").startswith("question,")
        assert list((ROOT / "simulations" / "figures").glob(f"{name}*.png"))


def test_a_table_that_does_not_say_what_made_it_is_found():
    facts = ["# command: calibstat study size", "seed: 1", "version: 0.1.0", "date: 2026-11-22"]
    assert has_facts("; ".join([*facts[:3], "commit: 0123abc", facts[3]]), "size", 1)
    assert has_facts("; ".join([*facts, "stored in commit: 0123abc"]), "size", 1)
    assert not has_facts("; ".join(facts), "size", 1)
    for i in range(4):
        assert not has_facts("; ".join([*facts[:i], *facts[i + 1 :], "stored in commit: 0123abc"]), "size", 1)


def missing_measures(study, table):
    """The measures that a study asks about and its stored table does not have."""
    asked = {label for grid in study.grids(False) for label in grid["measures"]}
    return sorted(asked - set(table["measure"]))


@pytest.mark.parametrize("name", [name for name, study in STORED.items() if study.grids is not Study.grids])
def test_stored_results_have_every_measure_that_the_study_asks_about(name):
    stored = pd.read_csv(ROOT / "simulations" / "results" / f"{name}.csv", comment="#")
    assert missing_measures(STORED[name], stored) == []


@pytest.mark.parametrize("name", ["size", "bias", "consistency", "ranking"])
def test_studies_of_measures_ask_about_all_that_are_registered(name):
    asked = {measure for grid in STORED[name].grids(False) for measure, _ in grid["measures"].values()}
    expected = set(everyday_measures())
    if name == "consistency":  # an error can only vanish where the population value is known
        expected = set(consistency.with_truth({measure: (measure, {}) for measure in expected}))
    assert asked >= expected


def test_a_measure_that_is_not_in_the_stored_results_is_found():
    stored = pd.read_csv(ROOT / "simulations" / "results" / "size.csv", comment="#")
    without = stored[stored["measure"] != "ks"]
    missing = [missing_measures(STORED["size"], table) for table in (without, stored)]
    assert set(missing[0]) - set(missing[1]) == {"ks"}


# --- the pictures -----------------------------------------------------------------------------------------------------


def test_every_picture_shows_the_table_of_its_study():
    """If not: ``python tests/helpers/redraw_pictures.py``, and look at what it wrote."""
    assert outdated() == {}


def test_every_picture_belongs_to_one_study():
    assert {study_of(picture) for picture in FIGURES.glob("*.png")} == set(STORED)
    assert study_of(FIGURES / "groups_power.png") == "groups"
    assert study_of(FIGURES / "grouping.png") == "grouping"


@pytest.fixture
def folders(tmp_path):
    """A few pictures, and tables of all studies."""
    figures = tmp_path / "figures"
    figures.mkdir()
    for name in ("size_both", "size_labels", "maps"):
        shutil.copy(FIGURES / f"{name}.png", figures)
    shutil.copytree(RESULTS, tmp_path / "results")
    return figures, tmp_path / "results"


def test_pictures_of_a_table_that_has_changed_are_found(folders):
    figures, results = folders
    assert outdated(figures, results) == {}
    table = results / "size.csv"
    first, *rows, last = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([first + "; rows: more", *rows, last, ""]), encoding="utf-8")
    assert outdated(figures, results) == {}  # only who made it has changed
    table.write_text("\n".join([first, *rows, ""]), encoding="utf-8")
    assert sorted(outdated(figures, results)) == ["size_both.png", "size_labels.png"]


def test_a_picture_of_another_study_or_without_a_name_is_found(folders):
    figures, results = folders
    shutil.copy(FIGURES / "peers.png", figures / "maps.png")
    assert list(outdated(figures, results)) == ["maps.png"]
