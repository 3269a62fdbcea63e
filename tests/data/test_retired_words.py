"""Words that are gone: each function that had one writes out what is written now, and that has an answer."""

import re
from functools import partial
from operator import attrgetter

import numpy as np
import pytest
from project_folder import PROJECT
from sklearn.naive_bayes import GaussianNB

import calibstat as cs
from calibstat.data.retired_words import (
    RETIRED,
    RETIRED_FUNCTIONS,
    RETIRED_MEMBERS,
    RETIRED_METHODS,
    RETIRED_PARAMETERS,
    refuse_retired,
)

Y, P = cs.generators.temperature(2).sample(200, rng=1)
LABEL, PROB = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(120, rng=1)
FEW = np.where(np.random.default_rng(1).permutation(200) < 100, Y, np.nan)
DRAWS = {"n_resamples": 9, "rng": 1}
WORDS = {**RETIRED, **RETIRED_PARAMETERS}
NAMES = {  # what stands in the messages
    "cs": cs,
    "answers": Y.astype(float),
    "chances": np.full(200, 0.5),
    "labels": np.arange(200) // 4,
    "features": {"first": np.arange(200) < 100, "even": np.arange(200) % 2 == 0},
}
JUDGED = {
    "calibration_test": lambda **given: cs.calibration_test(FEW, P, **DRAWS, **given),
    "confidence_interval": lambda **given: cs.confidence_interval(FEW, P, measure="ks", **DRAWS, **given),
    "compare": lambda **given: cs.compare(FEW, {"a": P, "b": P**2}, **DRAWS, **given),
    "report": lambda **given: cs.report(FEW, P, **given),
}


def blind(**given):
    """A test with a judge, which never saw outcomes, or with the judge in place of it that is given."""
    judge = given.pop("judge", cs.Judge(NAMES["answers"]))
    judge.blind = True if judge.blind is None else judge.blind
    return cs.calibration_test(FEW, P, judge=judge, **DRAWS, **given)


def of_classes(ask, *rows):
    return lambda **given: ask(*rows, **{"lens": "class_wise", **DRAWS, **given})


TWO = {"a": PROB, "b": PROB**2 / (PROB**2).sum(axis=1, keepdims=True)}
CALLS = {  # of each word, functions that had it and a value that they took
    "proxy": ({**JUDGED, "calibration_test": blind}, NAMES["answers"]),
    "inclusion": (
        {
            "calibration_test": lambda **given: blind(method="noise", **given),
            "confidence_interval": JUDGED["confidence_interval"],
        },
        NAMES["chances"],
    ),
    "blind": ({"calibration_test": JUDGED["calibration_test"]}, True),
    "use": ({"calibration_test": blind}, "noise"),
    "learner": (
        {
            "confidence_interval": lambda **given: cs.confidence_interval(
                Y, P, folds=np.arange(200) % 3, **DRAWS, **given
            ),
            "cross_validate": lambda **given: cs.cross_validate(
                GaussianNB(), P[:, None], Y, cv=2, repeats=1, rng=1, **given
            ),
        },
        "smooth",
    ),
    "reduce": (
        {
            "estimate": lambda **given: cs.estimate(LABEL, PROB, **given),
            "calibration_test": of_classes(cs.calibration_test, LABEL, PROB),
            "confidence_interval": of_classes(cs.confidence_interval, LABEL, PROB),
            "compare": of_classes(cs.compare, LABEL, TWO),
            "detectable_effect": of_classes(cs.detectable_effect, PROB, None, "ks"),
            "scorer": lambda **given: cs.scorer("ece", **given),
            "truth": lambda **given: cs.generators.six_points().truth("ece", **given),
        },
        "mean",
    ),
    "unseen": ({"compare": lambda **given: cs.compare(Y, {"a": P, "b": P**2}, **DRAWS, **given)}, "rows"),
    **dict.fromkeys(("depth", "min_rows", "n_quantiles"), (
        {"audit": lambda **given: cs.audit(Y, P, **{"groups": NAMES["features"], **DRAWS, **given})}, 2,
    )),
    "level": (
        {
            "reliability": lambda **given: cs.reliability(Y, P, **DRAWS, **given),
            "equivalence_test": lambda **given: cs.equivalence_test(Y, P, **given),
        },
        0.1,
    ),
    "rng": (
        {"HistogramBinning": lambda **given: cs.recalibration.HistogramBinning(n_resamples=2, **given).fit(P, Y)},
        1,
    ),
    "bootstrap": ({"HistogramBinning": lambda **given: cs.recalibration.HistogramBinning(**given).fit(P, Y)}, 2),
    "by": ({"equivalence_test": lambda **given: cs.equivalence_test(Y, P, **DRAWS, **given)}, "ks"),
    **{word: ({"sample_size": partial(cs.sample_size, P, width=0.6, of="ks", n_sets=2, **DRAWS, **others)}, value)
       for word, value, others in (
           ("proxy_share", 0.4, {"judge_rows": 900}),
           ("proxy_rows", 900, {"judge_share": 0.4}),
    )},
}  # fmt: skip
CASES = [(word, function) for word, (functions, _) in CALLS.items() for function in functions]


def written(ask, word, value):
    """What the message of a word that is gone says is written now, as arguments by name."""
    with pytest.raises(ValueError, match=f"^expected .*, found {word}=.*, which is gone$") as error:
        ask(**{word: value})
    text = re.match(r"expected (.*) for \w+, found ", str(error.value))[1]
    return eval(f"dict({text})", NAMES)


@pytest.mark.parametrize(("word", "function"), CASES)
def test_what_is_written_now_has_an_answer(word, function):
    functions, value = CALLS[word]
    assert functions[function](**written(functions[function], word, value)) is not None


def not_tried(retired, calls):
    """Words and functions with an entry that no call tries, or the other way."""
    entries = {(word, function) for word, each in retired.items() for function in each.where}
    return entries ^ {(word, function) for word, (functions, _) in calls.items() for function in functions}


def test_every_word_is_tried_where_it_was():
    assert not_tried(WORDS, CALLS) == set()


def test_a_word_without_an_entry_is_found():
    functions = {"estimate": CALLS["reduce"][0]["estimate"]}
    assert not_tried(WORDS, CALLS | {"bins": (functions, 9)}) == {("bins", "estimate")}
    with pytest.raises(AssertionError):
        written(functions["estimate"], "bins", 9)


@pytest.mark.parametrize(
    ("word", "value", "now"),
    [
        ("use", "rough", "method='direction' or method='noise'"),
        ("use", None, "method='direction' or method='noise'"),
        ("learner", "any", "method='triangle'"),
        ("learner", ["any"], "method='triangle' or method='mirror'"),
        ("reduce", "max", "lens='class_wise_max'"),
        ("reduce", np.arange(2), "lens='class_wise_mean' or lens='class_wise_max'"),
        ("reduce", None, "lens= alone"),
        ("blind", False, "judge=cs.Judge(answers, blind=False)"),
        ("depth", 3, "groups=cs.Groups(features, depth=3)"),
        ("level", 0.9, "confidence_level=0.9"),
    ],
)
def test_what_is_written_now_depends_on_the_value(word, value, now):
    assert RETIRED[word].written(value) == now


def test_what_is_written_now_depends_on_the_function():
    assert RETIRED["level"].written(0.1, "reliability") == "confidence_level=0.1"
    assert RETIRED["level"].written(0.1, "equivalence_test") == "confidence_level=1 - 0.1"


def test_methods_that_are_gone_say_why():
    for method, why in RETIRED_METHODS.items():
        with pytest.raises(ValueError, match=f"expected {re.escape(why)}; found method='{method}'"):
            cs.calibration_test(Y, P, cluster=NAMES["labels"], method=method)


def test_a_word_is_free_where_it_never_was():
    """An option of a measure of one's own, say, and an argument of a function that still has it."""
    refuse_retired("estimate", {"depth": 3, "use": "noise", "level": 0.1}, ())
    refuse_retired("reliability", {"level": 0.1}, ("level",))
    refuse_retired("report", {"by": "site"}, ("by",))
    assert cs.power(P, "shift=1", test="ks", level=0.1, n_datasets=5, **DRAWS).level == 0.1
    with pytest.raises(ValueError, match="expected confidence_level= of confidence_interval, found 'level'"):
        cs.confidence_interval(Y, P, level=0.9)


def told_apart(retired):
    """The functions that had a word, those in which it meant the same together."""
    apart = dict(retired.of_functions)
    return [", ".join(each for each in retired.where if each not in apart), *apart]


def told():
    """The table of the page of upgrades: a row for each value that is written in its own way, or for any."""
    rows = [
        (f"{word}={value!r}" if value != "..." else f"{word}=...", functions, f"`{now.format('...')}`")
        for word, each in WORDS.items()
        for functions in told_apart(each)
        for value, now in each.of_values or (("...", each.written("...", functions).replace("'...'", "...")),)
    ]
    rows += [(f"method={name!r}", "calibration_test", now) for name, now in RETIRED_METHODS.items()]
    rows += [(f"cs.{name}", "calibstat", f"`cs.{now}`") for name, now in RETIRED_FUNCTIONS.items()]
    rows += [(name, "measures of your own", f"`{now}`") for name, now in RETIRED_MEMBERS.items()]
    return "\n".join(f"| `{word}` | {functions} | {now} |" for word, functions, now in rows)


def test_the_page_of_upgrades_has_the_table():
    assert (
        f"\n\n| word | of | write |\n|---|---|---|\n{told()}\n\n"
        in (PROJECT / "docs" / "start" / "stability.md").read_text()
    )


@pytest.mark.parametrize(("name", "now"), RETIRED_FUNCTIONS.items())
def test_a_function_that_is_gone_writes_out_what_is_called_now(name, now):
    with pytest.raises(AttributeError, match=re.escape(f"has no attribute {name!r}; write calibstat.{now}")):
        getattr(cs, name)
    assert callable(attrgetter(now.partition("(")[0])(cs))
