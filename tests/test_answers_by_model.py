"""Answers about several models: each below its name, in words, in notebooks, in frames and in dictionaries."""

import json
import pickle
import re
from functools import partial
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest

import calibstat as cs
from calibstat.answers_by_model import Answers

Y, P = cs.generators.temperature(2).sample(100, rng=1)
LABEL, PROB = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(60, rng=1)
TWO = {"A": P, "B <b>": P**2}
FEW = {"n_resamples": 19, "rng": 1}
ASKED = {
    "estimate": lambda: cs.estimate(Y, TWO),
    "estimate of classes": lambda: cs.estimate(LABEL, {"A": PROB, "B <b>": PROB}, lens="class_wise"),
    "calibration_test": lambda: cs.calibration_test(Y, TWO, **FEW),
    "confidence_interval": lambda: cs.confidence_interval(Y, TWO, **FEW),
    "detail": lambda: cs.detail(Y, TWO),
    "reliability": lambda: cs.reliability(Y, TWO, **FEW),
    "audit": lambda: cs.audit(Y, TWO, {"first": np.arange(100) < 50}, **FEW),
    "net_benefit": lambda: cs.net_benefit(Y, TWO, [0.2, 0.6]),
    "decision_loss": lambda: cs.decision_loss(Y, TWO, [0.2, 0.6], **FEW),
    "risk_coverage": lambda: cs.risk_coverage(Y, TWO, max_error=0.4),
    "gce_family": lambda: cs.gce_family(LABEL, {"A": PROB, "B <b>": PROB}),
    "skill_score": lambda: cs.skill_score(Y, TWO),
    "validate": lambda: cs.validate(Y, TWO),
}
RAW = re.compile(r"array\(|np\.|Answers\(|[A-Z]\w+\(\w+=|object at 0x")


def raw(text):
    """What of a text only a programmer can read."""
    return RAW.findall(text)


@pytest.mark.parametrize("name", ASKED)
def test_each_answer_is_below_the_name_of_its_model(name):
    found = ASKED[name]()
    assert isinstance(found, Answers)
    assert found.names == tuple(found) == ("A", "B <b>")
    assert repr(found) == str(found)
    assert re.match(r"A\b", str(found))
    assert re.search(r"^B <b>", str(found), re.MULTILINE)
    assert raw(str(found)) == raw(found._repr_html_()) == []
    assert re.search(r"B &lt;b&gt;(</h2>|</td>|</summary>)", found._repr_html_())
    frame = found.to_frame()
    assert frame.index.name == "model"
    assert frame.index.unique().tolist() == ["A", "B <b>"]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict()
    assert {key.partition(".")[0] for key in found.to_dict()} == {"A", "B <b>"}


def test_a_raw_text_is_found():
    found = cs.confidence_interval(Y, TWO, **FEW)
    assert raw(repr({"A": found["A"].rows.__class__})) == []
    assert raw(repr(cs.estimate(LABEL, PROB, lens="class_wise"))) == ["array("]


def test_numbers_and_results_as_they_are_printed():
    assert str(Answers({"A": 0.25, "B": np.float64(2) / 3})) == "A: 0.25\nB: 0.6667"
    assert str(Answers({"A": np.array([0.5, 0.125])})) == "A: 0.5, 0.125"
    found = cs.confidence_interval(Y, TWO, **FEW)
    first, second = (str(found[name]).splitlines() for name in found)
    assert str(found).splitlines() == ["A", *(f"  {x}" for x in first), "B <b>", *(f"  {x}" for x in second)]


FIVE = {f"model {k}": (k + 1) / 12 + P / 2 for k in range(5)}


@pytest.mark.parametrize(
    ("verb", "picture", "columns"),
    [
        (partial(cs.calibration_test, n_resamples=19, rng=1), False, ["estimate", "low", "high", "pvalue", "brier"]),
        (partial(cs.confidence_interval, **FEW), False, ["estimate", "low", "high"]),
        (partial(cs.reliability, rng=1), True, ["estimate", "low", "high"]),
        (cs.sharpness, True, ["calibration_error", "sharpness_gap", "total_divergence"]),
        (cs.decompose, False, ["score", "mcb", "dsc", "unc"]),
        (cs.validate, True, ["ratio", "intercept", "slope", "brier", "auc"]),
        (cs.estimate, False, ["estimate"]),
    ],
)
def test_a_notebook_shows_several_models_as_one_picture_and_one_table(verb, picture, columns):
    found = verb(Y, FIVE)
    html = found._repr_html_()
    root = ElementTree.fromstring(html)
    (table,) = [each for section in root.findall("section") for each in section.iter("table")]
    heads, *rows = [[(cell.text or "") for cell in row] for row in table.iter("tr")]
    assert heads == ["model", *columns]
    assert [row[0] for row in rows] == list(FIVE)
    known = found.scalars()
    for row in rows:
        of_model = [f"{known[key]:.4g}" for key in known if key.startswith(row[0])]
        assert set(row[1:]) - {""} <= {*of_model, "1"}
    assert html.count("<svg") == picture
    assert [fold.find("summary").text for fold in root.iter("details")] == list(FIVE) * (verb is not cs.estimate)


def test_a_notebook_says_once_what_is_true_of_all_models():
    same = dict.fromkeys("AB", FIVE["model 0"])
    root = ElementTree.fromstring(cs.validate(Y, same)._repr_html_())
    said = cs.validate(Y, FIVE["model 0"]).answer
    assert [p.text for p in root.find("section").iter("p")] == [f"All 2 models: {said}"]


def test_many_numbers_of_a_model_are_a_line():
    found = Answers({"A": np.arange(13.0), "B": np.arange(13.0)})._repr_html_()
    assert "<table>" not in found
    assert "<p>A: 0, 1, 2, 3," in found


def test_a_summary_has_a_row_for_each_model_and_none_is_cut():
    found = cs.summarize(Y, {f"model {k}": P for k in range(6)}, measures=["ece", "brier"], n_resamples=19, rng=1)
    root = ElementTree.fromstring(found._repr_html_())
    heads, *rows = [["".join(cell.itertext()) for cell in row] for row in root.find("section").iter("tr")]
    assert heads == ["model", "ece", "brier"]
    assert [row[0] for row in rows] == list(found.names)
    assert rows[0][1] == f"{found.estimate[0, 0]:.4f} [{found.low[0, 0]:.4f}, {found.high[0, 0]:.4f}]"
    assert "more rows" not in "".join(root.itertext())


def test_fields_have_the_name_of_the_model():
    found = cs.confidence_interval(Y, TWO, **FEW)
    assert found.to_dict()["A.low"] == found["A"].low
    assert found.to_frame()["low"].tolist() == [found["A"].low, found["B <b>"].low]
    assert Answers({"A": 0.25}).to_dict() == {"A": 0.25}
    of_classes = Answers({"A": np.array([0.5, 0.25])}).to_frame()
    assert list(of_classes["value"].items()) == [("A", 0.5), ("A", 0.25)]


def test_it_is_a_mapping_that_nobody_changes():
    given = {"A": 0.5}
    found = Answers(given)
    given["B"] = 1.0
    assert (dict(found), len(found), "B" in found, found.get("B")) == ({"A": 0.5}, 1, False, None)
    assert found == {"A": 0.5} == Answers({"A": 0.5})
    with pytest.raises(TypeError):
        found["B"] = 1.0
    with pytest.raises(TypeError):
        found._answers["B"] = 1.0
    assert pickle.loads(pickle.dumps(found)) == found


def test_several_models_are_drawn_as_a_dictionary_of_them_is():
    plt.switch_backend("Agg")
    ax = cs.plot(cs.confidence_interval(Y, TWO, **FEW))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["A", "B <b>"]
    plt.close("all")
