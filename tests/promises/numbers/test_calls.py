"""Every call of `benchmarks/calls.py` can be written, in the words of before and in those of now, and is recorded."""

import ast
import inspect
from functools import cache

import pytest
from paired import SPELLINGS, calls, has_answer, meant, recorded, rows_of_calls, spelled, texts_of_calls

import calibstat as cs

NEW_WORDS = ("cs.Judge(", "cs.Clusters(", "cs.Groups(", "class_wise_mean", "class_wise_max", "'triangle'", "'mirror'")


@pytest.fixture(scope="module")
def texts():
    return texts_of_calls()


@pytest.fixture(scope="module")
def names():
    return {"cs", *rows_of_calls()}


@cache
def signature(verb):
    return inspect.signature(meant(verb))


def faults(text, names):
    """What is wrong with a call as it is written: names that nothing has, and arguments that do not fit."""
    call = ast.parse(text, mode="eval").body
    unknown = [node.id for node in ast.walk(call) if isinstance(node, ast.Name) and node.id not in names]
    try:
        signature(ast.unparse(call.func)).bind(*call.args, **{each.arg: each.value for each in call.keywords})
    except TypeError as error:
        unknown.append(str(error))
    return unknown


def test_every_call_can_be_read(texts, names):
    assert len(texts) >= 700
    assert {text: found for text in texts if (found := faults(text, names))} == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("cs.estimate(y, unknown)", "unknown"),
        ("cs.choose(y, ab, 'ks.high <= 0.1')", "too many positional arguments"),
        ("cs.compare(measure='ks')", "missing a required argument: 'y_true'"),
    ],
)
def test_a_call_that_is_written_wrongly_is_found(text, fault, names):
    assert faults(text, names) == [fault]


# --- spellings --------------------------------------------------------------------------------------------------------


def test_every_spelling_is_that_of_a_call(texts):
    for example, _, _ in SPELLINGS:
        ast.parse(example)
        assert any(spelled(text, {example}.__contains__) != text for text in texts), example


def test_calls_in_new_words_can_be_read(texts):
    changed = {text: new for text in texts if (new := spelled(text, lambda _: True)) != text}
    assert len(changed) > 200
    for text, new in changed.items():
        ast.parse(new)
        assert not any(word in text for word in NEW_WORDS)
    assert all(any(word in new for new in changed.values()) for word in NEW_WORDS)
    assert all(spelled(text, lambda _: False) == text for text in texts)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (
            "cs.calibration_test(few, p, proxy=j, inclusion=i, blind=True, cluster=k, use='noise')",
            "cs.calibration_test(few, p, judge=cs.Judge(j, inclusion=i, blind=True), cluster=k, method='noise')",
        ),
        (
            "cs.calibration_test(y, p, cluster=c, method='sign_flip', rng=1)",
            "cs.calibration_test(y, p, cluster=c, rng=1)",
        ),
        ("cs.calibration_test(y, p, method='sign_flip')", "cs.calibration_test(y, p, method='sign_flip')"),
        (
            "cs.confidence_interval(y, p, folds=f, learner='any')",
            "cs.confidence_interval(y, p, folds=f, method='triangle')",
        ),
        ("cs.cross_validate(a, x, y, learner='smooth')", "cs.cross_validate(a, x, y, method='mirror')"),
        ("cs.estimate(y, p, lens='class_wise', reduce='max')", "cs.estimate(y, p, lens='class_wise_max')"),
        ("cs.estimate(y, p, lens='class_wise')", "cs.estimate(y, p, lens='class_wise')"),
        ("cs.compare(y, ab, cluster=c, unseen='rows')", "cs.compare(y, ab, cluster=cs.Clusters(c, unseen='rows'))"),
        (
            "cs.audit(y, p, frame, depth=1, min_rows=5, rng=1)",
            "cs.audit(y, p, cs.Groups(frame, depth=1, min_rows=5), rng=1)",
        ),
        ("cs.audit_samples(by_site, 'site', depth=1)", "cs.audit_samples(by_site, 'site', depth=1)"),
        ("cs.kuiper(label, v)", "cs.classical.kuiper(label, v)"),
        ("cs.classical.kuiper(label, v)", "cs.classical.kuiper(label, v)"),
        ("cs.reliability(y, p, level=0.8)", "cs.reliability(y, p, confidence_level=0.8)"),
        ("cs.reliability(y, p, confidence_level=0.8)", "cs.reliability(y, p, confidence_level=0.8)"),
        (
            "cs.equivalence_test(y, p, by='ks', level=0.2)",
            "cs.equivalence_test(y, p, measure='ks', confidence_level=1 - 0.2)",
        ),
        ("cs.recalibration.choose(p, y, sample_weight=w)", "cs.recalibration.choose(y, p, sample_weight=w)"),
        ("cs.power(p, 'shift=0.5', level=0.2)", "cs.power(p, 'shift=0.5', level=0.2)"),
    ],
)
def test_new_spellings(before, now):
    assert spelled(before, lambda _: True) == now


def test_a_checkout_is_asked_in_the_words_that_it_knows():
    assert has_answer("cs.MEASURES['ks']")
    assert has_answer("signature(cs.compare).parameters['measure']")
    assert not has_answer("cs.MEASURES['kss']")
    found = meant("dict(lens='canonical', measure=cs.measures.KS())")
    assert found == {"lens": "canonical", "measure": cs.measures.KS()}
    assert meant("cs.cox") is cs.classical.cox


# --- answers ----------------------------------------------------------------------------------------------------------


def test_a_call_is_recorded(registry):
    every = calls()
    found = recorded(every["cs.estimate(y, p, measure='ks')"])
    names = rows_of_calls()
    assert found == {"": cs.estimate(names["y"], names["p"], measure="ks").hex()}
    refused = recorded(every["cs.calibration_test(y, p, mesure='ks')"])
    assert refused["refused"] == '"ValueError"'
    assert "did you mean 'measure'" in refused["refused:words"]
