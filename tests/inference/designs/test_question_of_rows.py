"""Questions of rows: one way from outcomes, predictions and words about rows to each function that asks."""

import doctest
import inspect
import pickle
import pydoc
import sys
from importlib import import_module
from typing import Unpack

import numpy as np
import pytest
from public_functions import public_functions

import calibstat as cs
from calibstat.data.checked_rows import AboutRows, Samples
from calibstat.inference.designs import question_of_rows as questions
from calibstat.inference.designs.question_of_rows import ROW_WORDS, TAKERS, Reason, question, question_of_all
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.measure_options import RowsAndOptions

Y, P = cs.generators.temperature(2).sample(120, rng=1)
TWO = {"a": P, "b": P**2}
UNIT, FOLD = np.arange(120) // 2, np.arange(120) % 3
WORD = {"sample_weight": np.ones(120), "cluster": UNIT, "folds": FOLD, "judge": cs.Judge(Y * 1.0)}


@question("sample_weight", "cluster")
def described(
    rows: cs.Data, /, place: object = None, *, lens: object = None, power: float = 1, **options: Unpack[RowsAndOptions]
) -> tuple:
    """Return rows as they come, and what else was given.

    >>> described([0, 1], [0.2, 0.7], "here")[1]
    'here'
    """
    find_measure("ece", options)
    return rows, place, lens, power


@question(because=dict.fromkeys(["folds", "judge"], Reason("samples of different rows have none", "ask described")))
def plain(rows: cs.Data, /, **about: Unpack[AboutRows]) -> str:
    """Return the counts of rows."""
    return rows.counts


@question_of_all("cluster", "samples")
def of_all(
    rows: cs.Models, /, groups: object = None, *, lens: object = None, **options: Unpack[RowsAndOptions]
) -> tuple:
    """Return all models at once, and groups."""
    return rows, groups


def test_one_model_comes_as_data():
    for form in ((Y, P), (cs.Data(Y, P),), (cs.Sample.from_rows(Y, P),), (cs.Predictions.from_rows(Y, P),)):
        rows, *rest = described(*form)
        assert isinstance(rows, cs.Data)
        assert (rows.n, rest) == (120, [None, None, 1])
    data = cs.Data(Y, P)
    assert described(data)[0] is data
    assert described(y_true=Y, y_prob=P)[0].n == 120


def test_words_about_rows_describe_them():
    rows, *_ = described(Y, P, cluster=UNIT, sample_weight=np.ones(120), pos_label=1, power=2)
    assert rows.words == ("sample_weight", "cluster")
    assert described(np.where(Y == 1, "yes", "no"), P, labels=["no", "yes"])[0].counts == cs.Data(Y, P).counts


@pytest.mark.parametrize("form", ["mapping", "Models"])
def test_several_models_have_an_answer_each(form):
    given = (cs.Models(Y, TWO, cluster=UNIT),) if form == "Models" else (Y, TWO)
    answers = described(*given, **({} if form == "Models" else {"cluster": UNIT}))
    assert isinstance(answers, cs.Answers)
    assert list(answers) == ["a", "b"]
    assert [answers[name][0].words for name in TWO] == [("cluster",)] * 2
    with pytest.raises(ValueError, match=r"found 1\.5 .* \(of 'b'\)$"):
        described(Y, {"a": P, "b": P * 0 + 1.5})


def test_a_question_of_all_gets_all_models_at_once():
    models, groups = of_all(Y, TWO, "here", cluster=UNIT)
    assert isinstance(models, cs.Models)
    assert (list(models), groups, models.words) == (["a", "b"], "here", ("cluster",))
    assert isinstance(of_all(Y, P, groups="here")[0], cs.Data)
    samples, _ = of_all({"a": (Y, P), "b": (Y[:60], P[:60])}, groups=1)
    assert isinstance(samples, Samples)
    assert [each.n for each in samples.values()] == [120, 60]
    with pytest.raises(ValueError, match="the same rows for all models with cluster=, found samples of different rows"):
        of_all({"a": (Y, P)}, groups=1, cluster=UNIT)
    with pytest.raises(ValueError, match=r"expected samples, a mapping from name to \(y_true, y_prob\), found list"):
        of_all([0, 1])


def test_arguments_by_place_follow_the_predictions():
    assert described(Y, P, "third")[1] == "third"
    assert described(cs.Data(Y, P), None, "third")[1] == "third"
    with pytest.raises(
        TypeError, match="of described by name beside y_true, y_prob, place, found 'fourth' .*; write lens='fourth'$"
    ):
        described(Y, P, "third", "fourth")
    with pytest.raises(TypeError, match="of estimate by name beside y_true, y_prob: measure, lens; found 'ks' without"):
        cs.estimate(Y, P, "ks")
    with pytest.raises(TypeError, match=r"estimate\(\) missing 1 required positional argument: 'y_true'"):
        cs.estimate()


@pytest.mark.parametrize("name", ["sample_weight", "cluster", "folds", "judge", "labels", "pos_label", "y_prob"])
@pytest.mark.parametrize("kind", [cs.Data, cs.Models])
def test_nothing_is_said_beside_rows_that_are_described(kind, name):
    rows, value = kind(Y, P if kind is cs.Data else TWO), {**WORD, "labels": [0, 1], "pos_label": 1, "y_prob": P}[name]
    said_twice = rf"expected cs\.{kind.__name__} alone, found {name}= beside it; give it to cs\.{kind.__name__}"
    with pytest.raises(ValueError, match=f"{said_twice}|expected rows without {name}= for described, which takes none"):
        described(rows, **{name: value})


@pytest.mark.parametrize("word", ["folds", "judge"])
def test_a_word_that_is_not_taken_is_refused_with_the_reason(word):
    few = np.where(np.arange(120) % 2, Y, np.nan)
    y = few if word == "judge" else Y
    others = ", ".join(TAKERS[word])
    for ask in (lambda f: f(y, P, **{word: WORD[word]}), lambda f: f(cs.Data(y, P, **{word: WORD[word]}))):
        with pytest.raises(
            ValueError, match=f"rows without {word}= for described, which takes none; {others} do; found"
        ):
            ask(described)
        with pytest.raises(
            ValueError,
            match=f"{word}= for plain, because samples of different rows have none; found one: ask described",
        ):
            ask(plain)


def test_a_lens_is_taken_where_there_is_one():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(60, rng=1)
    assert described(label, prob, lens="canonical")[0].lens == "canonical"
    assert described(cs.Data(label, prob), lens="canonical")[0].kind == "multiclass"
    assert described(cs.Data(label, prob, lens="canonical"))[0].kind == "multiclass"
    with pytest.raises(ValueError, match="rows without lens= for plain, which takes none; found one"):
        plain(cs.Data(label, prob, lens="canonical"))
    with pytest.raises(TypeError, match=r"of plain \(y_true, y_prob, labels, pos_label\), found 'lens'"):
        plain(label, prob, lens="canonical")


def test_what_is_none_is_not_said():
    assert described(Y, P, folds=None, judge=None, cluster=None)[0].words == ()
    assert described(cs.Data(Y, P), None, cluster=None, labels=None)[0].n == 120


def test_unknown_arguments_are_named_beside_those_that_there_are():
    with pytest.raises(
        ValueError, match=r"of described \(y_true, y_prob, place, lens, power, sample_weight, cluster, "
    ):
        described(Y, P, other=1)
    with pytest.raises(ValueError, match="found 'clustr'; did you mean 'cluster'"):
        described(Y, P, clustr=UNIT)
    with pytest.raises(TypeError, match=r"of plain, found 'label'; did you mean 'labels'"):
        plain(Y, P, label=[0, 1])
    with pytest.raises(ValueError, match=r"of described, found 'pwer'") as error:
        described(Y, TWO, pwer=1)
    assert "(of 'a')" not in str(error.value)  # of all models alike


def public():
    """The public functions that are questions."""
    found = public_functions()
    return {name: each for name, each in found.items() if hasattr(each, "takes")}


def wrongly_named(takers, functions):
    """Words, functions that messages name, and those that take the word, where these differ."""
    first = {word: {name for name, each in functions.items() if word in each.takes} for word in takers}
    return {word: (names, first[word]) for word, names in takers.items() if not first[word] >= set(names)}


def test_messages_name_functions_that_take_the_word():
    assert {*TAKERS, "labels", "pos_label"} == ROW_WORDS
    assert wrongly_named(TAKERS, public()) == {}
    for word in ("folds", "judge"):  # which few functions take: all of them are named
        assert set(TAKERS[word]) == {name for name, each in public().items() if word in each.takes}


def test_a_function_that_does_not_take_the_word_is_found():
    assert wrongly_named({"judge": ("estimate",)}, public())["judge"][0] == ("estimate",)


@pytest.mark.parametrize("name", ["estimate", "calibration_test", "confidence_interval"])
def test_signatures_and_help_are_of_outcomes_and_predictions(name):
    function = getattr(cs, name)
    signature = inspect.signature(function)
    first, second, third, *_ = signature.parameters.values()
    assert (first.name, first.default) == ("y_true", inspect.Parameter.empty)
    assert (second.name, second.default) == ("y_prob", None)
    assert (third.name, third.kind) == ("measure", inspect.Parameter.KEYWORD_ONLY)
    assert signature.return_annotation == inspect.signature(function.__wrapped__).return_annotation != signature.empty
    page = pydoc.plain(pydoc.render_doc(function))
    assert f"{name}(y_true, y_prob=None, *, measure" in page
    assert function.__doc__.splitlines()[0] in page
    assert "takes" not in page.splitlines()[2]


def test_questions_are_pickled_by_their_names():
    for function in public().values():
        assert pickle.loads(pickle.dumps(function)) is function


def test_their_examples_are_found():
    finder = doctest.DocTestFinder(exclude_empty=True)
    (test,) = [each for each in finder.find(sys.modules[__name__]) if each.name.endswith(".described")]
    assert doctest.DocTestRunner(verbose=False).run(test) == (0, 1)
    for name, function in public().items():
        found = [each.name for each in finder.find(import_module(function.__module__)) if each.examples]
        assert f"{function.__module__}.{name}" in found


def test_wrong_rows_are_refused_before_wrong_arguments():
    with pytest.raises(ValueError, match=r"expected a probability from 0 to 1, found 1\.5"):
        plain(Y, P * 0 + 1.5, label=[0, 1])
    assert questions.need_alone(cs.Data(Y, P), {"lens": None}) is None
