"""Pages of the reference: the example first, parameters in groups and written out, short notes, and the results."""

import dataclasses
import inspect
import re

import pytest
from documentation import DOCS, TOOLS, load

import calibstat as cs

PARTS_OF_RESULTS = {  # bases, and what only other results hold
    "Result",
    "NotedResult",
    "ReportFields",
    "ClassesReport",
    "CrossFitted",
    "Measured",
    "FlexibleCurve",
}
MOST_WORDS_OF_NOTES = 150
HOMES = {"calibstat": cs, "classical": cs.classical, "recalibration": cs.recalibration, "generators": cs.generators}
PUBLIC = {
    f"{home}.{name}": getattr(module, name)
    for home, module in HOMES.items()
    for name in (cs.__all__ if home == "calibstat" else vars(module))
    if inspect.isfunction(getattr(module, name)) or inspect.isclass(getattr(module, name))
    if not name.startswith("_") and "Parameters\n---" in (inspect.getdoc(getattr(module, name)) or "")
}
made = load(TOOLS / "result_sections.py")
pages = load(DOCS / "extensions" / "reference_pages.py")


def objections(text):
    """What a docstring has in the wrong place, or at too great a length."""
    notes = re.search(r"\nNotes\n-----\n(.*?)(?=\n\n[A-Z][\w ]+\n-{4,}|\Z)", text, flags=re.DOTALL)
    words = len(notes[1].split()) if notes else 0
    late = ">>> " in text and text.index(">>> ") > text.index("Parameters\n---")
    return ["the example is late"] * late + [f"notes of {words} words"] * (words > MOST_WORDS_OF_NOTES)


@pytest.mark.parametrize("name", PUBLIC)
def test_pages_begin_with_the_example_and_have_short_notes(name):
    assert objections(inspect.getdoc(PUBLIC[name])) == []


def test_a_late_example_and_long_notes_are_found():
    text = (
        "Do it.\n\nParameters\n----------\nx\n    It.\n\nNotes\n-----\n"
        + "word " * 151
        + "\n\nExamples\n--------\n>>> 1\n"
    )
    assert objections(text) == ["the example is late", "notes of 151 words"]
    assert objections("Do it.\n\n    >>> 1\n\nParameters\n----------\nx\n    It.") == []


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_is_in_one_group(name):
    found = pages.written_out(pages.entries(inspect.getdoc(PUBLIC[name])))
    groups = pages.grouped(found)
    assert sum(map(len, groups.values())) == len(found)
    assert set(groups) <= {*pages.GROUPS, "Parameters"}
    given = set(inspect.signature(PUBLIC[name]).parameters) if inspect.isfunction(PUBLIC[name]) else set()
    named = {each.lstrip("*") for names, *_ in found for each in names}
    assert given <= named | {"options", "about", "unknown"}, given - named  # `unknown` is what an error names


def test_what_functions_share_is_written_out():
    found = pages.written_out(pages.entries(inspect.getdoc(cs.calibration_test)))
    groups = {title: [name for names, *_ in part for name in names] for title, part in pages.grouped(found).items()}
    assert {"y_true", "y_prob", "lens", "sample_weight", "cluster", "folds", "judge", "labels"} <= set(groups["Rows"])
    assert {"measure", "side", "margin", "null"} <= set(groups["What is asked"])
    assert {"n_resamples", "rng", "n_jobs"} <= set(groups["How it is computed"])
    shown = pages.listed("Rows", pages.grouped(found)["Rows"])
    assert "    **cluster** : array_like, shape (n,), or Clusters, optional" in shown
    assert not any("As for `estimate`" in line for line in shown)


def test_lines_of_numpydoc_are_replaced():
    lines = ["Do it.", "", ":Parameters:", "", "    **x**", "        Old.", "", ":Returns:", "", "    float"]

    def asked(y_true, measure):
        """Do it.

        Parameters
        ----------
        y_true
            Outcomes.
        measure : str
            Which.
        """

    pages.arrange(None, "function", "asked", asked, None, lines)
    assert lines[2:6] == [":Parameters:", "", "    **y_true**", "        Outcomes."]
    assert lines[-3:] == [":Returns:", "", "    float"]


def test_every_class_of_results_has_a_section_on_the_page_of_its_function():
    loaded = {name: each for name, each in made.classes().items() if each.__module__.startswith("calibstat.")}
    assert set(loaded) - PARTS_OF_RESULTS == set(made.RESULTS)
    sections = made.result_sections()
    for name, (calls, advice) in made.RESULTS.items():
        part = sections[f"calibstat.{made.page_of(calls.split(', ')[0])}"].partition(
            f".. _result-{name}:\n\n{name}\n---"
        )[2]
        assert advice in part, name
        described = part.partition(".. _result-")[0]
        assert all(re.search(rf"\*\*[^*]*\b{field.name}\b", described) for field in dataclasses.fields(loaded[name])), (
            name
        )
        assert f"{{ref}}`{name} <result-{name}>`" in made.results_table()


def test_sections_are_on_pages_of_the_reference():
    listed = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    for page in made.result_sections():
        assert re.search(rf"(?m)^   {page.rpartition('.')[2]}$", listed), page
