"""Pages of speed, conformance and coverage say which version made their numbers: this one, or the page says which."""

import re

import pandas as pd
from project_folder import PROJECT as ROOT

import calibstat as cs

BLOCK = r"<!-- (.+): begin -->\n\n(.*\n)"
COMMIT = r"(stored in )?commit [0-9a-f]{7,40}( with changes)?"
MADE = rf"Made by `(python benchmarks/\w+\.py[^`]*)` with calibstat ([\d.]+), {COMMIT}\.\n"


def page(name):
    return (ROOT / "docs" / "evidence" / name).read_text(encoding="utf-8")


def of_other_versions(text):
    """The tables of a page of benchmarks that do not say what made them, or were made by another version."""
    blocks = re.findall(BLOCK, text)
    assert blocks
    made = {name: re.fullmatch(MADE, first) for name, first in blocks}
    return [name for name, found in made.items() if not found or found[2] != cs.__version__]


def test_tables_of_speed_are_of_this_version():
    """If not, run the commands that the page gives."""
    assert of_other_versions(page("speed.md")) == []


def test_a_table_of_speed_of_another_version_or_without_command_is_found():
    text = page("speed.md")
    for part in (f"with calibstat {cs.__version__}", "Made by `python benchmarks/cost_curves.py"):
        assert of_other_versions(text.replace(part, "with calibstat 0.0.1")) != []


def test_stored_times_beside_torch_say_what_made_them():
    first = (ROOT / "benchmarks" / "peers_torch.csv").read_text(encoding="utf-8").partition("\n")[0]
    assert re.fullmatch(rf"# calibstat [\d.]+, .*\. {MADE}", first + "\n")


def versions_of_conformance(text):
    """The versions of calibstat in a table, or in what was shown."""
    return set(re.findall(r"^(?:\| )?calibstat (\d[\d.]*)", text, flags=re.MULTILINE))


def test_conformance_is_of_this_version():
    shown = (ROOT / "conformance" / "shown-1.txt").read_text(encoding="utf-8")
    for text in (page("conformance.md"), shown):
        assert versions_of_conformance(text) == {cs.__version__}
        assert versions_of_conformance(text.replace(f"calibstat {cs.__version__}", "calibstat 0.0.1")) == {"0.0.1"}


def says_its_version(text, versions):
    """Whether a page is of this version alone, or names the version that its own rows are of."""
    return versions == {cs.__version__} or all(f"rows of calibstat are of version {each}" in text for each in versions)


def test_coverage_beside_other_packages_is_of_this_version_or_says_of_which():
    stored = pd.read_csv(ROOT / "simulations" / "results" / "peers.csv", comment="#")
    versions = set(stored.loc[stored["package"] == "calibstat", "version"])
    assert versions == set(re.findall(r"^\| calibstat ([\d.]+):", page("honesty.md"), flags=re.MULTILINE))
    assert says_its_version(page("honesty.md"), versions)
    assert not says_its_version("no word of it", {"0.0.1"})
    assert says_its_version("no word of it", {cs.__version__})
