"""The page of a report: its order, and that no name is more than text."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from lucky_rows import lucky_rows
from quick_report import quick, quick_report

import calibstat as cs
from calibstat.reporting.pages import as_markdown, page, piece, sections

NAMES = ("<script>alert(1)</script>", "=1+1", "\x1b[31mred", "{{7*7}}|*_")
MODELS = ("<img src=x onerror=alert(1)>", "B\u202e")
CLOSED = {"meta", "link"}


class Tags(HTMLParser):
    """All tags and all text of a page; an error where they are not closed in order."""

    def __init__(self):
        super().__init__()
        self.tags, self.text, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in CLOSED:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(html):
    parser = Tags()
    parser.feed(html)
    assert parser.open == []
    return parser


@pytest.fixture(scope="module", name="report")
def report_fixture():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.2, 0.1), temperature=2).sample(120, rng=1)
    y = [NAMES[int(k)] for k in label]
    by = {"<i>half</i>": np.arange(120) < 60, "\x07rest": np.arange(120) >= 60}
    return quick_report(y, {MODELS[0]: prob, MODELS[1]: prob**2 / (prob**2).sum(1, keepdims=True)},
                        labels=NAMES, by=by, recalibrate=True, title="<h1>&amp;</h1>")  # fmt: skip


@pytest.fixture(scope="module", name="html")
def html_fixture(report):
    return page(report)


def test_the_verdict_is_first_and_how_to_make_it_again_last(report):
    found = [each.title for each in sections(report, pictures=False)]
    assert found[:3] == ["Which model is better calibrated?", *MODELS]
    assert found[3:6] == ["What to do next", "Reliability diagram", "Measures"]
    assert found[-3:] == ["What these rows could have shown", "What this rests on", "How to make it again"]
    for start in ("Classes of ", "Groups of ", "Recalibration of "):
        assert sum(title.startswith(start) for title in found) == 2
    comparison, first, *_ = sections(report, pictures=False)
    assert comparison.words == [each.answer for each in report.comparisons.values()]
    assert (
        first.words[: len(report.models[MODELS[0]].answer.splitlines())] == report.models[MODELS[0]].answer.splitlines()
    )


@pytest.fixture(scope="module", name="five")
def five_fixture():
    y, p = cs.generators.temperature(2).sample(150, rng=1)
    return quick_report(y, {f"model {k}": (k + 1) / 12 + p / 2 for k in range(5)})


def test_five_models_are_five_panels_and_nothing_is_said_five_times(five, monkeypatch):
    drawn = []
    monkeypatch.setattr("calibstat.reporting.pages.inline_svg", lambda result, label: drawn.append(result) or "<svg/>")
    found = {each.title: each for each in sections(five)}
    assert list(drawn[0]) == list(five.models)
    diagrams = found["Reliability diagram"]
    assert diagrams.pictures[0].wide
    text = " ".join(diagrams.notes)
    promise = str(five.models["model 0"].diagram).splitlines()[1].partition(". ")[0]
    assert text.count(promise) == 1
    assert all(str(each.diagram).count(promise) == 1 for each in five.models.values())
    rests = " ".join(found["What this rests on"].words)
    assert rests.count("Null hypothesis: ") == 1
    for model in five.models.values():
        assert f"{model.test.statistic:.4g}"[:4] in rests
    advice = " ".join(found["What to do next"].words)
    assert all(advice.count(each.next_step) == 1 for each in five.models.values())


def test_the_first_sentence_about_several_models_is_short(five):
    first = next(sections(five, pictures=False))
    assert first.kind == "answer"
    assert len(first.words[0].split()) <= 20
    assert str(five).splitlines()[0] == first.words[0]


def test_two_bandwidths_are_two_names(five):
    """The table of measures and the comparison have different kernel errors, and each says which."""
    found = {each.title: each for each in sections(five, pictures=False)}
    assert "Kernel calibration error (bandwidth=1)" in [row[0] for row in found["Measures"].tables[0].rows]
    assert found["Comparison of the models"].tables[0].header[0].endswith("(bandwidth=0.2)")
    estimate = five.models["model 0"].measures["kernel_ce"].estimate
    y, p = cs.generators.temperature(2).sample(150, rng=1)
    assert estimate == pytest.approx(cs.estimate(y, 1 / 12 + p / 2, measure="kernel_ce", bandwidth=1))


def test_names_are_text(html):
    found = parsed(html)
    assert not {tag for tag, _ in found.tags} & {"script", "img", "i", "h3", "iframe", "object"}
    assert not any(name.startswith("on") for _, attributes in found.tags for name in attributes)
    text = "".join(found.text)
    for name in (NAMES[0], "\\x1b[31mred", "{{7*7}}|*_", MODELS[0], "B\\u202e", "<i>half</i>", "<h1>&amp;</h1>"):
        assert name in text
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", html)


def test_nothing_is_loaded(html):
    found = parsed(html)
    addresses = [attributes.get(name) for _, attributes in found.tags for name in ("href", "src", "xlink:href")]
    assert all(address.startswith(("#", "data:")) for address in addresses if address)
    assert not re.search(r"@import|url\((?!#)", html)
    assert any(attributes.get("content", "").startswith("default-src 'none'") for _, attributes in found.tags)


def test_names_of_the_page_are_unique(html):
    names = [attributes["id"] for _, attributes in parsed(html).tags if "id" in attributes]
    assert len(names) == len(set(names)) > 0


def test_the_page_is_small(html):
    assert len(html.encode()) < 350_000  # 2 models, 4 classes


def test_it_follows_light_dark_and_paper(html):
    assert "@media(prefers-color-scheme:dark)" in html
    assert "@media print" in html


def test_the_piece_for_notebooks_has_the_same_sections(report, html, monkeypatch):
    monkeypatch.setattr("calibstat.reporting.pages.inline_svg", lambda result, label: "<svg></svg>")
    found = piece(report)
    parsed(found)
    assert found == report._repr_html_()
    for title in ("Reliability diagram", "What this rests on"):
        assert f"<h2>{title}</h2>" in found
        assert f"<h2>{title}</h2>" in html
    assert "<html" not in found


def test_markdown_has_the_words_and_tables_and_no_html(report, monkeypatch):
    monkeypatch.delattr("calibstat.reporting.pages.inline_svg")  # nothing is drawn that it does not show
    found = as_markdown(report)
    assert found.startswith("# &lt;h1&gt;&amp;amp;&lt;/h1&gt;\n")
    assert not re.search(r"<[a-z]", found)
    assert "\x1b" not in found
    rows = [line for line in found.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows if "Brier" in row or row.startswith("| Meas")}) <= 2
    assert "\n\n\n\n" not in found


def test_estimates_outside_their_intervals_are_explained():
    with quick(("ece", "ece_debiased", "kernel_ce")):
        found = cs.report(*lucky_rows(200), rng=1)
    debiased = found.models["model"].measures["ece_debiased"]
    assert debiased.estimate < debiased.low
    said = f"{debiased.title}: The estimate lies below the interval because its bias is subtracted"
    shown = "A calibrated model would show"
    for text in (page(found), as_markdown(found)):
        assert said in text
        assert text.count(shown) == 2  # in the answer and below the table
    assert shown in str(found)


def test_one_model_has_no_heading_of_its_own():
    y, p = cs.generators.temperature(2).sample(150, rng=1)
    found = list(sections(quick_report(y, p), pictures=False))
    assert found[0].title == ""
    assert [each.title for each in found if each.title.startswith("Comparison")] == []


def test_classes_keep_their_names():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(60, rng=2)
    found = {each.title: each for each in sections(quick_report(label, prob), pictures=False)}
    assert [row[0] for row in found["Classes"].tables[0].rows] == ["0", "1", "2"]
