"""Reports of one side: the test and the groups have it, intervals have both, and single classes are left out."""

import json

import numpy as np
import pandas as pd
import pytest
from quick_report import quick_report

import calibstat as cs

Y, P = cs.generators.temperature(2).sample(300, rng=1)
SITE = pd.DataFrame({"site": np.array(["a", "b"])[np.arange(300) % 2]})


@pytest.mark.parametrize("side", ["over", "under"])
def test_it_says_what_the_functions_say(side):
    page = quick_report(Y, P, by=SITE, side=side, rng=1)
    found = page.models["model"]
    assert found.test.pvalue == cs.calibration_test(Y, P, side=side, rng=1).pvalue
    assert found.groups.to_frame().equals(cs.audit(Y, P, SITE, side=side, rng=1).to_frame())
    assert found.verdict[: len(found.test.answer.splitlines())] == found.test.answer.splitlines()
    assert found.next_step == found.test.next_step
    assert found.detectable is None
    assert page.command == f"calibstat.report(y_true, y_prob, by=by, side='{side}', rng=1)"
    assert found.ece.low < found.ece.high


def test_it_is_written(tmp_path):
    page = quick_report(Y, {"A": P, "B": P**2}, by=SITE, side="over", rng=1)
    page.save(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text()
    assert "side fixed beforehand: over" in html
    assert "–" in html  # of the limit that is not there
    page.save(tmp_path / "report.json")
    saved = json.loads((tmp_path / "report.json").read_text())
    assert saved["models.A.test.side"] == "over"
    assert "models.A.groups.low" not in saved


def test_of_several_classes_the_most_likely_one_is_tested_and_no_single_ones():
    random = np.random.default_rng(1)
    prob = random.dirichlet([1, 1, 1], 300)
    label = (random.random(300)[:, None] > prob.cumsum(axis=1)[:, :2]).sum(axis=1)
    found = quick_report(label, prob, side="over", rng=1).models["model"]
    assert found.classes is None
    assert str(found.test.lens) == "lens top_label"
    assert "in every row independently, that class is observed with at least this" in str(found.test.null_hypothesis)


def test_what_has_no_side_is_refused():
    with pytest.raises(ValueError, match=r"expected side None, 'over' .* found 'both'"):
        quick_report(Y, P, side="both")
    with pytest.raises(ValueError, match="expected rows without folds= beside side=, because no study"):
        quick_report(Y, P, folds=np.arange(300) % 3, side="over")
    with pytest.raises(ValueError, match="a lens that shows a binary outcome for a test of one side"):
        quick_report([0, 1, 2] * 20, np.full((60, 3), 1 / 3), lens="class_wise", side="over")
