"""Pictures inside pages: the same in every run, names unique, text as text, colours by their role."""

import re
import warnings
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pytest

import calibstat as cs
from calibstat.plots.inline_svg import compact, inline_svg, picture_of_result

Y, P = cs.generators.temperature(2).sample(60, rng=1)


@pytest.fixture(scope="module")
def diagram():
    return cs.reliability(Y, P, rng=1)


@pytest.fixture(scope="module", name="svg")
def svg_fixture(diagram):
    return inline_svg(diagram, 'of "a" <b>')


def test_it_is_the_same_in_every_run_and_closes_its_figure(svg, diagram):
    before = plt.get_fignums()
    assert inline_svg(diagram, 'of "a" <b>') == svg
    assert plt.get_fignums() == before


def test_it_is_small_well_formed_and_described(svg):
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == 'of "a" <b>'
    assert root.get("role") == "img"
    assert len(svg) < 60_000


def test_text_stays_text(svg):
    texts = {"".join(each.itertext()) for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")}
    assert "Observed frequency" in texts


def test_nothing_is_loaded_and_no_style_leaks(svg):
    assert not re.search(r"<(script|style|image|metadata)|@import", svg)
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', svg))


def test_names_are_used_and_of_this_picture_alone(svg):
    names = re.findall(r' id="([^"]*)"', svg)
    assert len(names) == len(set(names)) > 0
    assert set(names) == set(re.findall(r'(?:url\(|href=")#([^)"]+)', svg))
    assert not set(names) & set(re.findall(r' id="([^"]*)"', inline_svg(cs.reliability(Y, P**2, rng=1))))


def test_black_and_white_are_those_of_the_page(svg):
    assert not re.search(r"(?<!,)#(000000|262626|ffffff|ebebeb)", svg)
    assert "currentColor" in svg
    assert "var(--page,#fff)" in svg


def test_text_from_data_is_text():
    names = ("<script>", "\x1b[31m", 'style="font-family: x" #ffffff')
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(60, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = inline_svg(cs.reliability(label.astype(int).tolist(), prob, lens="class_wise", band=None))
        named = cs.Predictions.from_rows([names[k] for k in label.astype(int)], prob, labels=names)
        hostile = inline_svg(cs.reliability(named, lens="class_wise", band=None))
    assert "<script" not in hostile
    assert "\x1b" not in hostile
    assert hostile.count("<svg") == found.count("<svg") == 1
    texts = "".join(ElementTree.fromstring(hostile).itertext())
    assert "<script>" in texts
    assert "#ffffff" in texts


def test_a_result_that_words_say_has_no_picture():
    assert picture_of_result(cs.confidence_interval(Y, P, rng=1, n_resamples=19)) == ""
    assert picture_of_result(object()) == ""


def test_what_cannot_be_drawn_has_no_picture():
    label, prob = cs.generators.dirichlet((0.3,) * 6).sample(60, rng=1)
    assert picture_of_result(cs.reliability(label, prob, lens="canonical", band=None)) == ""


def test_numbers_of_places_are_cut_and_those_of_text_are_not():
    svg = '<?xml?><svg x="1"><path d="M 1.23456 -0.98765"/><text x="3.33333">0.123456</text></svg>'
    assert '<path d="M 1.23 -0.98"/><text x="3.33">0.123456</text>' in compact(svg, "")
