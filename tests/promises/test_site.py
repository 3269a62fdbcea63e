"""The check of the built site finds each fault that is planted, and leaves a good page alone."""

import asyncio
import shutil

import pytest
from documentation import DOCS, TOOLS, load
from quick_report import quick_report

import calibstat as cs

pytestmark = pytest.mark.site

GOOD = """
<p>Some words, a picture that fits and a formula.</p>
<div style="overflow-x: auto"><table style="width: 900px"><tr><td>a table in a box that scrolls</td></tr></table></div>
<p><math><mi>x</mi></math></p>
"""
PLANTED = {
    "asks another host: https://example.org/a.js": '<script src="https://example.org/a.js"></script>',
    "asks for a file that is not there": '<img src="gone.png">',
    "400 px: the page is 900 px wide": '<div style="width: 900px">wide</div>',
    "400 px: cut off": '<div style="overflow: hidden"><table style="width: 900px"><tr><td>cut</td></tr></table></div>',
    "400 px: scrolls": '<div class="bd-article" style="overflow: auto"><table style="width: 900px"></table></div>',
    "1280 px: cut off": '<div style="overflow: hidden"><p style="width: 1500px">text that is cut</p></div>',
    "formula of width 0": '<p><math style="display: block; width: 0"><mi>x</mi></math></p>',
    "formula that is not drawn": '<p><span class="math">\\(x\\)</span></p>',
    "formula with an error": "<p><math><merror><mtext>wrong</mtext></merror></math></p>",
}


@pytest.fixture(scope="module")
def checker():
    """Without playwright or Chromium these tests fail, and are never skipped."""
    return load(TOOLS / "check_site.py")


def write(folder, body, name="page.html"):
    page = f'<!doctype html><meta charset="utf-8"><body style="margin: 0"><article>{body}</article></body>'
    (folder / name).write_text(page, encoding="utf-8")


def test_a_good_page_is_left_alone(checker, tmp_path):
    write(tmp_path, GOOD)
    assert asyncio.run(checker.check(tmp_path)) == []


def test_each_planted_fault_is_found_on_its_page(checker, tmp_path):
    for number, body in enumerate(PLANTED.values()):
        write(tmp_path, GOOD + body, f"{number}.html")
    faults = asyncio.run(checker.check(tmp_path))
    for number, fault in enumerate(PLANTED):
        assert any(found.startswith(f"{number}.html: ") and fault in found for found in faults), (fault, faults)


def test_without_chromium_the_check_fails(checker, tmp_path, monkeypatch):
    write(tmp_path, GOOD)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(FileNotFoundError, match="expected Chromium on the path, found none"):
        asyncio.run(checker.check(tmp_path))


@pytest.fixture
def search():
    return load(TOOLS / "check_search.py")


def test_words_whose_page_is_not_first_are_found(search):
    assert search.misses({"install": ["start/installing", "index"], "cite": ["index"]}) == []
    (fault,) = search.misses({"install": ["index", "start/installing"], "cite": ["index"]})
    assert fault == "install: expected start/installing first, found index, start/installing"
    (fault,) = search.misses({"install": []})
    assert fault.endswith("found nothing")


def test_sixty_searches_are_stored_and_each_has_a_page(search):
    made = {"measures/", "gallery/", "reference/"}
    assert len(search.FIRST) >= 60
    written = [page for page in search.FIRST.values() if not page.startswith(tuple(made))]
    assert [page for page in written if not (DOCS / f"{page}.md").exists()] == []


def test_a_page_that_is_far_from_the_landing_page_is_found(search, tmp_path):
    (tmp_path / "a").mkdir()
    for page, links in {"index": ["a/b"], "a/b": ["../index", "../c"], "c": ["d"], "d": []}.items():
        write(tmp_path, "".join(f'<a class="x" href="{link}.html#part">x</a>' for link in links), f"{page}.html")
    assert search.clicks(tmp_path) == {"index": 0, "a/b": 1, "c": 2, "d": 3}
    (fault,) = search.far(search.clicks(tmp_path), {"near": ["c", "d"], "away": ["d"]})
    assert fault.startswith("away: expected one of ['d'] at most 2 clicks")


def test_a_row_of_questions_without_a_link_is_found(search, tmp_path, monkeypatch):
    (tmp_path / "start").mkdir()
    monkeypatch.setattr(search, "FIRST", {})
    row = "<tr><td>{}</td><td><code>call()</code>{}</td></tr>"
    rows = row.format("linked?", '<a href="c.html">c</a>') + row.format("alone?", "")
    write(tmp_path, f"<table><thead><tr><th>question</th></tr></thead>{rows}</table>", "start/questions.html")
    write(tmp_path, "", "start/c.html")
    assert search.wanted(tmp_path) == {"linked?": ["start/c"], "alone?": []}
    (fault,) = search.far({"index": 0, "start/c": 2}, search.wanted(tmp_path))
    assert fault.startswith("alone?: expected one of no links")


def test_without_pages_the_check_fails(checker, tmp_path):
    with pytest.raises(FileNotFoundError, match="expected a built site, found no pages"):
        asyncio.run(checker.check(tmp_path))


def test_reports_and_notebooks_fit_a_phone_and_a_screen(checker, tmp_path, monkeypatch):
    """Of five models with long names: what is wider than the window scrolls in a box of its own."""
    y, p = cs.generators.temperature(2).sample(300, rng=1)
    models = {f"a model with a long name, number {k}": (k + 1) / 12 + p / 2 for k in range(5)}
    found = quick_report(y, models)
    found.save(tmp_path / "report.html")
    for name, shown in {
        "piece": found,
        "tests": cs.calibration_test(y, models, n_resamples=19, rng=1),
        "diagrams": cs.reliability(y, models, rng=1),
        "summary": cs.summarize(y, models, n_resamples=19, rng=1),
        "validations": cs.validate(y, models),
        "differences": cs.compare(y, models, n_resamples=19, rng=1),
    }.items():
        write(tmp_path, shown._repr_html_().replace("<details", "<details open"), f"{name}.html")
    monkeypatch.setattr(checker, "WIDTHS", {1440: 900, 400: 800})
    assert asyncio.run(checker.check(tmp_path)) == []
    (tmp_path / "bad.html").write_text((tmp_path / "report.html").read_text().replace("overflow-x:auto", ""))
    assert asyncio.run(checker.check(tmp_path))
