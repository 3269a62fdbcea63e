"""Every class of results has a page with its fields, how to read it, and whether it has a picture."""

import dataclasses

from documentation import TOOLS, load, measure_pages

PARTS_OF_RESULTS = {  # bases, and what only other results hold
    "Result",
    "NotedResult",
    "ReportFields",
    "ClassesReport",
    "CrossFitted",
    "Measured",
    "FlexibleCurve",
}


def test_every_class_of_results_has_a_page():
    measure_pages()  # which finds what stands beside it
    made = load(TOOLS / "result_pages.py")
    loaded = {name: each for name, each in made.classes().items() if each.__module__.startswith("calibstat.")}
    assert set(loaded) - PARTS_OF_RESULTS == set(made.RESULTS)
    for name in made.RESULTS:
        page = made.result_page(name)
        assert all(f"`{field.name}`" in page for field in dataclasses.fields(loaded[name])), name
        assert (
            page.count("\n## How to read it\n")
            == page.count("\n## Fields\n")
            == page.count("`cs.plot(result)`") + (page.count("no picture"))
        )
        assert f"[{name}]({name}.md)" in made.results_table()
