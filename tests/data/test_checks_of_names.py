"""Arguments of verbs: a misspelt one is named with those that there are."""

import inspect
import re
from functools import partial, wraps
from typing import Unpack

import pytest
from public_functions import public_functions

import calibstat as cs
from calibstat.data.checked_rows import AboutRows
from calibstat.data.checks import arguments_of, options_of
from calibstat.inference.designs.question_of_rows import ROW_WORDS, question
from calibstat.measures.measure_options import RowsAndOptions

Y, P = [0, 1, 1, 0], [0.2, 0.6, 0.7, 0.4]
TWO = {"a": P, "b": P}


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda: cs.calibration_test(Y, P, methd="x"), "'methd'; did you mean 'method'?"),
        (lambda: cs.calibration_test(Y, P, n_resample=9), "'n_resample'; did you mean 'n_resamples'?"),
        (lambda: cs.estimate(Y, P, n_bin=9), "expected n_bins= of measure 'ece', found 'n_bin'"),
        (lambda: cs.estimate(Y, P, nbins=9), "'nbins'; did you mean 'n_bins'?"),
        (lambda: cs.estimate(Y, TWO, lense=9), "'lense'; did you mean 'lens'?"),
        (lambda: cs.detail(Y, P, wieght=1), "'wieght'"),
        (lambda: cs.confidence_interval(Y, P, confidence_levl=0.9), "did you mean 'confidence_level'?"),
        (lambda: cs.compare(Y, TWO, metod="swap"), "'metod'; did you mean 'method'?"),
        (lambda: cs.generalization_gap(train=(Y, P), test=(Y, P), n_resample=9), "did you mean 'n_resamples'?"),
        (lambda: cs.power(P, "shift=1", lvel=0.1), "'lvel'; did you mean 'level'?"),
        (lambda: cs.sample_size(P, "shift=1", lvel=0.1), "'lvel'; did you mean 'level'?"),
        (lambda: cs.detectable_effect(P, n_dataset=9), "'n_dataset'; did you mean 'n_datasets'?"),
    ],
)
def test_a_misspelt_argument_is_named_beside_those_of_the_function(ask, found):
    with pytest.raises(ValueError, match=r"^expected (an argument|arguments|n_bins=) of ") as error:
        ask()
    assert found in str(error.value)
    assert ("(y_true, " in str(error.value)) == ("wieght" in found)  # all are listed where none is meant


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (
            lambda: cs.validate(Y, P, lense="top_label"),
            "expected an argument of validate, found .*; did you mean 'lens'",
        ),
        (
            lambda: cs.classical.hosmer_lemeshow(Y, P, sample_weigh=P),
            r"arguments of hosmer_lemeshow \(y_true, y_prob, .*weigh'",
        ),
        (lambda: cs.expected_calibration_error(Y, P, sample_weigh=P), "did you mean 'sample_weight'"),
        (lambda: cs.summarize(Y, TWO, refrence="a"), "argument of summarize, .*did you mean 'reference'"),
        (lambda: cs.report(Y, P, titel="a"), "argument of report, .*did you mean 'title'"),
    ],
)
def test_a_function_without_options_says_so_too(ask, found):
    with pytest.raises(TypeError, match=found):
        ask()


def test_an_option_unknown_further_down_is_not_blamed_on_the_function():
    def ask(**options):
        with options_of(ask, options):
            return cs.estimate(Y, P, nbins=3)

    @question()
    def verb(rows: cs.Data, /, **options: Unpack[RowsAndOptions]) -> float:
        return cs.estimate(Y, P, nbins=3)

    for asked in (ask, partial(verb, Y, P)):
        with pytest.raises(ValueError, match="an argument of estimate, found 'nbins'"):
            asked(other=1)


def verbs():
    """The functions of calibstat that have options, or look at arguments that they do not have."""
    found = public_functions()
    del found["measure"]  # a decorator
    return {name: each for name, each in found.items() if each.__code__.co_flags & inspect.CO_VARKEYWORDS}


CALLS = {
    "audit": lambda **given: cs.audit(Y, P, {"a": Y}, **given),
    "audit_samples": lambda **given: cs.audit_samples({"a": cs.Sample.from_rows(Y, P)}, **given),
    "choose": lambda **given: cs.choose(Y, TWO, **given),
    "compare": lambda **given: cs.compare(Y, TWO, **given),
    "cross_validate": lambda **given: cs.cross_validate(cs.recalibration.PlattScaling(), Y, P, **given),
    "generalization_gap": lambda **given: cs.generalization_gap((Y, P), (Y, P), **given),
    "power": lambda **given: cs.power(P, "shift=1", **given),
    "sample_size": lambda **given: cs.sample_size(P, "shift=1", **given),
    "scorer": lambda **given: cs.scorer("ece", **given),
    "summarize": lambda **given: cs.summarize(Y, TWO, **given),
}
GIVEN = {"y_true", "y_prob", "groups", "samples", "train", "alternative"}  # by position
FIRST = {"generalization_gap": {"test"}, "cross_validate": {"estimator", "X", "y"}, "scorer": {"measure"}}


def misspelt(name):
    """A name with each of its letters left out."""
    return sorted({name[:i] + name[i + 1 :] for i in range(len(name)) if name[i] != "_"})


def unanswered(ask, names):
    """Misspelt arguments that a function does not answer by the right name."""
    found = []
    for name in names:
        for wrong in misspelt(name):
            with pytest.raises((TypeError, ValueError)) as error:
                ask(**{wrong: 1})
            asked = rf"found '{wrong}'; (did you mean '{name}'\?$|.*\b{name}=)"
            if not re.search(rf"^expected {name}=.* of .*, found '{wrong}'$|{asked}", str(error.value)):
                found.append((wrong, str(error.value)))
    return found


@pytest.mark.parametrize("name", verbs())
def test_every_argument_is_answered_if_a_letter_is_left_out(name):
    given = GIVEN | FIRST.get(name, set())
    names = [*arguments_of(verbs()[name]), *(word for word in ROW_WORDS if word in getattr(verbs()[name], "takes", ()))]
    names = [each for each in names if len(each) > 2 and each not in given]  # of two letters one says little
    assert unanswered(CALLS.get(name, partial(verbs()[name], Y, P)), names) == []


def test_an_argument_that_is_not_answered_is_found():
    def ask(**given):
        raise TypeError(f"found {next(iter(given))!r}; did you mean 'other'?")

    assert [wrong for wrong, _ in unanswered(ask, ["rng"])] == ["ng", "rg", "rn"]


QUESTION = {"__wrapped__", "__signature__", "takes", "because"}


def wrapped(functions):
    """The functions that are wrapped by something other than the one decorator of questions, or by it twice."""
    return [
        name
        for name, each in functions.items()
        if vars(each).keys() not in (set(), QUESTION) or vars(vars(each).get("__wrapped__", unanswered))
    ]


def test_questions_alone_are_wrapped_and_once():
    assert len(verbs()) >= 28
    assert wrapped(verbs()) == ["report"]  # whose warnings are in its notes


def test_a_function_that_is_wrapped_otherwise_or_twice_is_found():
    def ask(rows: cs.Data, /, *, measure: str = "ece", **about: Unpack[AboutRows]) -> float:
        return 1.0

    once = question("cluster")(ask)
    assert wrapped({"plain": ask, "once": once}) == []
    assert wrapped({"otherwise": wraps(ask)(lambda rows: 1), "twice": wraps(once)(lambda rows: 1)}) == [
        "otherwise",
        "twice",
    ]


@pytest.mark.parametrize("several", [["ece", "brier"], ("ece",), {"ece"}])
def test_several_measures_are_sent_to_summarize(several):
    with pytest.raises(ValueError, match=r"expected one measure, found \w+ of length \d; .*calibstat\.summarize"):
        cs.estimate(Y, P, measure=several)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("expected_calibration_error", "ece"), ("brier_score", "brier"), ("Smooth calibration error", "smooth_ce")],
)
def test_a_title_of_a_measure_leads_to_its_name(name, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        cs.estimate(Y, P, measure=name)
