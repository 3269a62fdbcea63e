"""Names of papers and other packages lead to the call here, and to no measure that is spelled like them."""

import re
from collections import Counter

import numpy as np
import pytest
from project_folder import PROJECT

import calibstat as cs
from calibstat.data.words.names_elsewhere import (
    ARGUMENTS,
    CALLS,
    COMMANDS,
    DRAWN,
    MEMBERS,
    MEMBERS_OF_MAPS,
    UNCLEAR,
    call_meant,
    letters,
)
from calibstat.plots.plot import PLOTS
from calibstat.result import Result

PAGE = (PROJECT / "docs" / "start" / "other-packages.md").read_text(encoding="utf-8")
FOUND = {
    "mce": 'measure="ece", norm="max"',
    "MCE": 'measure="ece", norm="max"',
    "maximum_calibration_error": 'measure="ece", norm="max"',
    "Maximum Calibration Error": 'measure="ece", norm="max"',
    "sce": 'measure="gce")',
    "ace": 'binning="adaptive") of Nixon et al., the adaptive one, or cs.estimate(label, prob, measure="average_ce")',
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
    with pytest.raises(ValueError, match=f"^expected a measure, found {name!r}; {name!r} is cs\\.") as error:
        cs.estimate([0, 1], [0.3, 0.6], measure=name)
    assert FOUND[name] in str(error.value)
    assert "did you mean" not in str(error.value)


@pytest.mark.parametrize(("name", "meant"), [("eec", "ece"), ("expected calibration error", "ece"), ("skc", "skce")])
def test_spelling_comes_after_other_names(name, meant):
    with pytest.raises(ValueError, match=f"; did you mean '{meant}'\\?"):
        cs.estimate([0, 1], [0.3, 0.6], measure=name)
    assert call_meant("nothing like it") == ""


def by_formula(name, y, p):
    """Numbers of advertising and of forensic science, as their papers define them."""
    if name == "COPC":
        return np.count_nonzero(y == 1) / p.sum()  # clicks over predicted clicks
    if name == "Cllr":  # mean costs of each class, half and half, of likelihood ratios that are the odds
        ratio = p / (1 - p)
        return (np.log2(1 + 1 / ratio[y == 1]).mean() + np.log2(1 + ratio[y == 0]).mean()) / 2
    share = y.mean()
    loss = np.where(y == 1, -np.log(p), -np.log(1 - p)).mean()
    return loss / (-share * np.log(share) - (1 - share) * np.log(1 - share))


@pytest.mark.parametrize("name", ["COPC", "Cllr", "normalised entropy"])
def test_calls_of_other_fields_are_their_formulas(name):
    y, p = cs.generators.shift(0.7).sample(300, rng=2)
    found = eval(call_meant(name), {"cs": cs, "np": np, "y": y, "p": p})
    assert found == pytest.approx(by_formula(name, y, p), rel=1e-12)
    assert found != pytest.approx(by_formula(name, y, p**1.1), rel=1e-3)


def listed():
    """The calls of the page, which the test of the page runs."""
    return set(re.findall(r"`([^`]*cs\.[^`]+)`", PAGE))


def test_all_calls_are_those_of_the_page_and_no_name_is_a_measure():
    unclear = {call for text in UNCLEAR.values() for call in re.findall(r"cs\.\w+\(.*?\)", text)}
    assert (set(CALLS) | unclear) - listed() == set()
    assert len(CALLS) > 60
    assert {letters(name) for own in CALLS.values() for name in own} & {letters(name) for name in cs.MEASURES} == set()


def repeated(table, spelled=letters):
    """Names that a table has twice."""
    count = Counter(spelled(name) for own in table.values() for name in own)
    return sorted(name for name, times in count.items() if times > 1)


def test_a_name_means_one_call_and_one_attribute():
    assert repeated(CALLS) == []
    assert [repeated(table, str) for table in (MEMBERS, MEMBERS_OF_MAPS)] == [[], []]
    assert repeated({"cs.estimate(y, p)": ("ECE",), "cs.detail(y, p)": ("ece",)}) == ["ece"]


def test_no_name_of_an_argument_elsewhere_is_its_own_name_here():
    assert [written for written, own in ARGUMENTS.items() if written.partition("=")[0] in own] == []


def table_of_words():
    """The table of the page of calls that are no measure: names there, and the call."""
    rows = {call: own for call, own in CALLS.items() if "cs.estimate(" not in call}
    return "\n".join(f"| {', '.join(f'`{name}`' for name in own)} | `{call}` |" for call, own in rows.items())


def table_of_commands():
    """The table of the page of commands and calls, a row for each pair."""
    pairs = [(command, call) for command, calls in COMMANDS.items() for call in calls]
    return "\n".join(f"| `calibstat {command}` | `{call}` |" for command, call in pairs)


def test_the_page_has_the_words_of_functions_and_commands():
    assert f"\n\n| guess or name elsewhere | call |\n|---|---|\n{table_of_words()}\n\n" in PAGE
    assert f"\n\n| command | in Python |\n|---|---|\n{table_of_commands()}\n" in PAGE


def test_results_with_a_picture_are_those_that_plot_draws():
    assert set(DRAWN) == {kind.__name__ for kind in PLOTS if issubclass(kind, Result)}


def test_all_other_names_of_measures_on_the_page_are_known():
    """Short names with which a row of papers begins, and names of its table of packages that look like one."""
    text = PAGE.partition("\n## Guesses")[0]
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ") and "cs." in line]
    short = {name for row in rows for name in re.findall(r"\b(?:[A-Z]{2,}[\w-]*|\w+CE)\b", row.partition("(")[0])}
    known = {letters(name) for name in (*cs.MEASURES, *UNCLEAR, *(name for own in CALLS.values() for name in own))}
    known |= {"ecce", "mcb"}
    assert {name for name in short if letters(name) not in known} <= {"MAPIE", "SKCE", "KS", "MAD", "CORP"}
