"""What a stranger reads first: the workflow of a host, forms of issues, how to report, the paper, and the release."""

import re
import tomllib

import pytest
import yaml
from project_folder import PROJECT

WORKFLOW = (PROJECT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
FORMS = sorted((PROJECT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
CONTRIBUTING = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
README = (PROJECT / "README.md").read_text(encoding="utf-8")
CLASSIFIERS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
PAPER = (PROJECT / "paper" / "paper.md").read_text(encoding="utf-8")
BIBLIOGRAPHY = (PROJECT / "paper" / "paper.bib").read_text(encoding="utf-8")
ADDRESS = re.compile(r"\S+@\S+\.\w+|https?://")
MOST_WORDS = 1000  # of a paper in the Journal of Open Source Software


def classified(topic):
    """What the classifiers of the package say about a topic."""
    return [line.rpartition(" :: ")[2] for line in CLASSIFIERS if line.startswith(topic)]


def test_the_workflow_runs_the_one_command_on_three_systems_and_every_python():
    [job] = yaml.safe_load(WORKFLOW)["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    matrix = job["strategy"]["matrix"]
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert matrix["python"] == [each for each in classified("Programming Language") if "." in each]


def test_what_was_not_run_says_so_and_no_other_system_is_promised():
    assert WORKFLOW.startswith("# Not run yet: ")
    assert "`.github/workflows/ci.yml` is not run yet" in CONTRIBUTING
    assert classified("Operating System") == ["Linux"]
    assert re.findall(r"\b(?:macOS|Windows)\b", README) == []


@pytest.mark.parametrize("form", [path for path in FORMS if path.stem != "config"], ids=lambda path: path.stem)
def test_a_form_asks_what_an_answer_needs(form):
    asked = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(asked)
    areas = [each for each in asked["body"] if each["type"] == "textarea"]
    assert len({each["id"] for each in areas}) == len(areas) >= 3
    assert any(each.get("validations", {}).get("required") for each in areas)


def test_there_is_no_address_that_nobody_reads():
    assert ADDRESS.search("write to someone@example.org")
    for path in (*FORMS, PROJECT / "SECURITY.md", PROJECT / "CITATION.cff"):
        assert ADDRESS.search(path.read_text(encoding="utf-8")) is None, path.name


def identifiers(bibliography):
    """The DOIs and arXiv numbers of a bibliography."""
    return re.findall(r"(?:doi|eprint) = \{(.+)\}", bibliography)


def known(identifier):
    """Whether a source file or a page of the project cites it."""
    files = [*(PROJECT / "calibstat").rglob("*.py"), *(PROJECT / "docs").rglob("*.md")]
    return any(identifier in re.sub(r'"\s+"|\n\s+', "", path.read_text(encoding="utf-8")) for path in files)


def test_the_paper_is_short_and_cites_what_the_project_cites():
    head, text = PAPER.split("---\n", 2)[1:]
    assert [author["name"] for author in yaml.safe_load(head)["authors"]] == ["The calibstat developers"]
    assert len(text.split()) <= MOST_WORDS
    for section in ("Summary", "Statement of need", "State of the field"):
        assert f"\n# {section}\n" in text
    keys = re.findall(r"^@\w+\{(\w+),$", BIBLIOGRAPHY, flags=re.MULTILINE)
    assert sorted(set(re.findall(r"@(\w+)", text))) == sorted(keys)
    assert len(identifiers(BIBLIOGRAPHY)) == len(keys)
    assert [each for each in identifiers(BIBLIOGRAPHY) if not known(each)] == []
    assert not known("10.1000/" + "182")


def test_the_release_has_ten_lines():
    release = CONTRIBUTING.partition("\n## To release\n")[2].partition("\n## ")[0]
    assert re.findall(r"^(\d+)\. ", release, flags=re.MULTILINE) == [str(line) for line in range(1, 11)]
    for tool in ("python -m build", "twine check", "check-wheel-contents", "calibstat demo"):
        assert tool in release
