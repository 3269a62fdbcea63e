"""The page on installing shows the sizes and the seconds that benchmarks/dependencies.py stored."""

import csv
import re
import runpy
import tomllib

import pytest
from project_folder import PROJECT

import calibstat as cs

PAGE = (PROJECT / "docs" / "start" / "installing.md").read_text(encoding="utf-8")
DECISION = (PROJECT / "docs" / "evidence" / "decisions" / "0041-dependencies-weighed.md").read_text(encoding="utf-8")
with (PROJECT / "benchmarks" / "dependencies.csv").open(encoding="utf-8", newline="") as file:
    STORED = {line["library"]: line for line in csv.DictReader(file)}
FEW = 5  # files that import a library, for which the decision names an alternative


def row(line):
    """The row of the page of one library."""
    brings = f"{line['brings'].replace(' ', ', ')}: {line['brought MB']}" if line["brings"] else ""
    cells = [line["library"], line["version"], line["own MB"], brings, line["seconds"], line["files"]]
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def megabytes(names):
    """What libraries take on disk, with what they bring."""
    return round(sum(float(STORED[name]["own MB"]) + float(STORED[name]["brought MB"]) for name in names))


def test_the_page_shows_what_is_stored_of_every_dependency():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}
    assert set(STORED) == asked | {"calibstat"}
    assert STORED["calibstat"]["version"] == cs.__version__
    assert "\n".join(row(line) for line in STORED.values()) in PAGE


def test_the_sums_of_the_page_are_sums_of_the_table():
    everything = megabytes(STORED)
    for found in (everything, everything - megabytes(["numba"]), megabytes(["numpy", "scipy", "calibstat"])):
        assert f" | {found} |\n" in PAGE


def test_a_library_that_few_files_import_has_its_alternative():
    few = [name for name, line in STORED.items() if line["files"] and int(line["files"]) <= FEW]
    assert len(few) >= 3
    assert [name for name in few if f"\n| {name} | " not in DECISION] == []


def test_the_script_reads_imports_at_run_time_alone(tmp_path):
    made = runpy.run_path(str(PROJECT / "benchmarks" / "dependencies.py"))
    code = "import numpy\nif TYPE_CHECKING:\n    import pandas\ndef f():\n    from scipy.stats import norm\n"
    found = [made["ast"].unparse(node) for node in made["at_run_time"](made["ast"].parse(code))]
    assert "import numpy" in found
    assert "from scipy.stats import norm" in found
    assert "import pandas" not in found
    assert made["seconds"]("pass") > 0
    with pytest.raises(made["subprocess"].CalledProcessError):
        made["seconds"]("import no_such_module")
