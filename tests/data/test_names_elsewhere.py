"""Names of measures in papers and other packages lead to the call here, and to no measure that is spelled like them."""

import re
from pathlib import Path

import pytest

import calibstat as cs
from calibstat.data.checks import letters
from calibstat.measures.kinds.names_elsewhere import CALLS, advice_of_measure

PAGE = (Path(__file__).parents[3] / "docs" / "other-packages.md").read_text(encoding="utf-8")

FOUND = {
    "mce": 'measure="ece", norm="max"',
    "MCE": 'measure="ece", norm="max"',
    "maximum_calibration_error": 'measure="ece", norm="max"',
    "Maximum Calibration Error": 'measure="ece", norm="max"',
    "sce": 'measure="gce")',
    "ace": 'binning="adaptive") of Nixon et al., the adaptive one, and cs.estimate(label, prob, measure="average_ce")',
    "rmsce": 'max_prob=True, class_conditional=False, norm="l2"',
    "TACE": "threshold=0.01",
    "auc": "cs.validate(y, p).auc",
    "roc_auc_score": "cs.validate(y, p).auc",
    "ici": "cs.validate(y, p).ici",
    "nll": 'measure="log_loss"',
    "mmce": 'measure="kernel_ce", bandwidth=0.4',
    "classwise-ECE": 'lens="class_wise_mean"',
    "hosmer_lemeshow": "cs.classical.hosmer_lemeshow",
}


@pytest.mark.parametrize("name", FOUND)
def test_other_names_lead_to_the_call(name):
    with pytest.raises(ValueError, match=r"expected a measure, one of ece, ") as error:
        cs.estimate([0, 1], [0.3, 0.6], measure=name)
    assert f"; {name!r} is cs." in str(error.value)
    assert FOUND[name] in str(error.value)
    assert "did you mean" not in str(error.value)


@pytest.mark.parametrize(("name", "meant"), [("eec", "ece"), ("expected calibration error", "ece"), ("skc", "skce")])
def test_spelling_comes_after_other_names(name, meant):
    with pytest.raises(ValueError, match=f"; did you mean '{meant}'\\?"):
        cs.estimate([0, 1], [0.3, 0.6], measure=name)
    assert advice_of_measure("nothing like it") == ""


def test_all_calls_are_those_of_the_page_and_no_name_is_a_measure():
    """The page's calls are run by the test of the page."""
    listed = set(re.findall(r"`(cs\.[^`]+)`", PAGE))
    calls = {call for text in CALLS.values() for call in re.findall(r"cs\.\w+\(.*?\)(?:\.\w+| \*\* 2)?(?= of|$)", text)}
    assert calls - listed == set()
    assert len(calls) > 25
    assert set(CALLS) & {letters(name) for name in cs.MEASURES} == set()


def test_all_other_names_of_measures_on_the_page_are_known():
    """Short names with which a row of papers begins, and names of its table of packages that look like one."""
    rows = [line.split("|")[1].strip() for line in PAGE.splitlines() if line.startswith("| ") and "cs." in line]
    short = {name for row in rows for name in re.findall(r"\b(?:[A-Z]{2,}[\w-]*|\w+CE)\b", row.partition("(")[0])}
    known = {letters(name) for name in cs.MEASURES} | set(CALLS) | {"ecce", "mcb"}
    assert {name for name in short if letters(name) not in known} <= {"MAPIE", "SKCE", "KS", "MAD", "CORP"}
