"""Tests of calibration of several classes, class by class and together, against slow transcriptions."""

import dataclasses
import json
from dataclasses import replace

import numpy as np
import pytest
from class_examples import LABEL, OF_EVENTS, PROB, example
from scipy import stats

import calibstat as cs
from calibstat import resampling
from calibstat.data import lenses
from calibstat.inference.problems.resample import resampler
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Consistency, Draws, Labels, Stream

from_rows = cs.Predictions.from_rows


def holm(pvalue):
    """The smallest p times K, the next times K - 1 but no smaller, and so on; none above 1."""
    adjusted, last = np.empty(len(pvalue)), 0.0
    for rank, k in enumerate(sorted(range(len(pvalue)), key=lambda k: pvalue[k])):
        adjusted[k] = last = max(last, min(1.0, (len(pvalue) - rank) * pvalue[k]))
    return adjusted


def slow_p(statistic, null, tail):
    tolerance = 100 * 2.0**-52 * max(1, abs(statistic))
    above = sum(t >= statistic - tolerance for t in null)
    below = sum(t <= statistic + tolerance for t in null)
    upper, lower = (1 + above) / (1 + len(null)), (1 + below) / (1 + len(null))
    return upper if tail == "greater" else min(1, 2 * min(upper, lower))


@pytest.mark.parametrize("scheme", ["labels", "both"])
@pytest.mark.parametrize(("measure", "options"), [*OF_EVENTS, ("log_loss", {})])
def test_class_wise_test(measure, options, scheme):
    label, prob = example(50, 4, seed=2, temperature=1.3)
    prob[:6] = 0.25  # ties
    label[:6] = 0
    bound = find_measure(measure, options)
    given = {"measure": measure, "resample": scheme, "n_resamples": 39, "rng": 5, **options}
    found = cs.calibration_test(label, prob, lens="class_wise", **given)
    tail = cs.MEASURES[measure].info.tail
    drawn = resampling.in_order(from_rows(label, prob))
    null = resampler(bound, drawn, Labels() if scheme == "labels" else Consistency(), Stream.LABELS)(Draws.of(5, 39))
    of_each = found.classes
    assert np.array_equal(of_each.null_distribution, null)
    for k in range(4):
        statistic = bound.evaluate(*cs.Sample.from_rows(label == k, prob[:, k]).arrays)
        assert of_each.statistic[k] == pytest.approx(statistic, rel=1e-9, abs=1e-12)
        assert of_each.pvalue[k] == pytest.approx(slow_p(of_each.statistic[k], null[:, k], tail))
    assert np.all(of_each.pvalue > 0)
    assert of_each.pvalue_holm == pytest.approx(holm(of_each.pvalue))
    assert of_each.pvalue_error == pytest.approx(np.sqrt(of_each.pvalue * (1 - of_each.pvalue) / 39))
    for how, together in (("mean", np.mean), ("max", np.max)):
        one = cs.calibration_test(label, prob, lens=f"class_wise_{how}", **given)
        assert one.classes is None
        assert one.statistic == pytest.approx(together(of_each.statistic))
        assert one.null_distribution == pytest.approx(together(null, axis=1))
        assert one.pvalue == pytest.approx(slow_p(one.statistic, one.null_distribution, tail))
        if how == "mean":
            assert one.pvalue == found.pvalue
            assert np.array_equal(one.null_distribution, found.null_distribution)


def test_what_a_class_wise_test_says():
    found = cs.calibration_test(
        ["a", "c", "c"], PROB[:3], lens="class_wise", labels=np.array(["a", "b", "c"]), n_resamples=19, rng=1
    )
    of_each = found.classes
    assert of_each.names == ("a", "b", "c")
    assert str(of_each.null_hypothesis).startswith(
        "given its probability alone, in every row independently, the class is observed"
    )
    assert str(of_each.null_hypothesis).endswith("(exact).")
    assert str(found.null_hypothesis) == str(replace(lenses.canonical.hypothesis, exact=True))
    assert (str(of_each.lens), str(found.lens)) == ("lens class_wise", "lens class_wise, mean over 3 classes")
    text = str(found)
    for part in (str(of_each.null_hypothesis), str(found.null_hypothesis), "lens class_wise, n = 3", "p (Holm)"):
        assert part in text
    assert [line.split()[0] for line in text.splitlines()[3:6]] == ["a", "b", "c"]
    frame = found.to_frame()
    assert frame["class"].tolist() == ["a", "b", "c"]
    assert frame["pvalue_holm"].tolist() == of_each.pvalue_holm.tolist()
    written = json.loads(json.dumps(found.to_dict()))
    assert (written["pvalue"], written["classes.pvalue"]) == (found.pvalue, of_each.pvalue.tolist())
    for name in ("statistic", "pvalue", "pvalue_holm", "pvalue_error", "null_distribution"):
        assert not getattr(of_each, name).flags.writeable
    for frozen, name in ((found, "n"), (of_each, "names")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(frozen, name, 4)
    approximate = cs.calibration_test(LABEL, PROB, lens="class_wise", resample="both", n_resamples=19, rng=1)
    assert "(approximate" in str(approximate.classes.null_hypothesis)
    assert "(approximate" in str(approximate.null_hypothesis)
    assert "(approximate)" in str(approximate)


def test_many_classes_are_cut_short_in_print():
    label, prob = example(50, 30)
    found = cs.calibration_test(label, prob, lens="class_wise", n_resamples=9, rng=1)
    assert "and 20 more, each with p of at least" in str(found)
    assert "Draws: 9 resamples." in str(found)
    assert len(str(found).splitlines()) == 22


def test_top_label_is_a_test_of_one_event():
    label, prob = example(200, 5, seed=3, temperature=1.5)
    hit, largest = prob.argmax(axis=1) == label, prob.max(axis=1)
    for measure in ("ece", "ks"):
        found = cs.calibration_test(label, prob, measure=measure, rng=3, n_resamples=99)
        slow = cs.calibration_test(hit, largest, measure=measure, rng=3, n_resamples=99)
        assert (found.statistic, found.pvalue) == (slow.statistic, slow.pvalue)
        assert np.array_equal(found.null_distribution, slow.null_distribution)
        assert str(found.lens) == "lens top_label"
        assert found.null_hypothesis != slow.null_hypothesis


@pytest.mark.parametrize("lens", ["class_wise", "class_wise_max"])
@pytest.mark.parametrize("scheme", ["labels", "both"])
def test_threads_do_not_show(scheme, lens):
    label, prob = example(30, 4)
    one, two = (
        cs.calibration_test(label, prob, lens=lens, resample=scheme, n_resamples=20, rng=1, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert np.array_equal(one.null_distribution, two.null_distribution)
    if lens == "class_wise":
        assert np.array_equal(one.classes.null_distribution, two.classes.null_distribution)


def test_p_is_never_0_and_ties_count():
    label, prob = np.zeros(200, int), np.tile([0.01, 0.01, 0.98], (200, 1))
    for lens in ("class_wise", "class_wise_mean", "class_wise_max"):
        found = cs.calibration_test(label, prob, lens=lens, n_resamples=99, rng=1)
        assert found.pvalue == 0.01
        assert found.classes is None or found.classes.pvalue.min() == 0.01
    certain = np.eye(3)[[0, 1, 2, 2]]
    found = cs.calibration_test([0, 1, 2, 2], certain, lens="class_wise", n_resamples=99, rng=1)
    assert found.classes.pvalue.tolist() == [1, 1, 1]  # every resample is the data
    assert found.classes.pvalue_holm.tolist() == [1, 1, 1]
    wrong = cs.calibration_test([1, 1, 2, 2], certain, lens="class_wise", n_resamples=99, rng=1)
    assert wrong.classes.pvalue.tolist() == [0.01, 0.01, 1]
    impossible = cs.calibration_test([1, 1, 2, 2], certain, measure="log_loss", lens="canonical", n_resamples=99, rng=1)
    assert (impossible.statistic, impossible.pvalue) == (np.inf, 0.02)


def test_p_value_against_the_exact_distribution():
    """Ten rows of (.2, .3, .5) that are all class 0: total variation .8 in one cell, a multinomial sum."""
    prob = np.tile([0.2, 0.3, 0.5], (10, 1))
    label = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2])
    exact = 0.0
    for a in range(11):
        for b in range(11 - a):
            off = np.abs(np.array([a, b, 10 - a - b]) / 10 - prob[0]).sum() / 2
            exact += stats.multinomial.pmf([a, b, 10 - a - b], 10, prob[0]) * (off >= 0.3 - 1e-9)
    found = cs.calibration_test(label, prob, measure="canonical_ce", n_resamples=99_999, rng=1)
    assert found.statistic == pytest.approx(0.3)
    low, high = stats.binom.ppf(1e-6, 99_999, exact), stats.binom.isf(1e-6, 99_999, exact)
    assert low <= found.pvalue * 100_000 - 1 <= high
    assert not low <= (found.null_distribution > 0.3 + 1e-9).sum() <= high  # planted fault: ties do not count


RUNS, LEVEL = 120, 0.05
GATES = {
    "each class": {"measure": "ece", "lens": "class_wise"},
    "largest": {"measure": "ece", "lens": "class_wise_max"},
    "quantiles": {"measure": "ece", "lens": "class_wise_mean", "strategy": "quantile", "n_bins": 3},
    "canonical": {"measure": "canonical_ce", "min_size": 10},
    "two-sided": {"measure": "brier", "lens": "canonical"},
    "most likely": {"measure": "ks"},
}
SLOW_GATES = {
    "omnibus of each class": {"measure": "omnibus", "lens": "class_wise"},
    "omnibus of all classes": {"measure": "omnibus", "lens": "canonical"},
}


def rejections(name, runs, temperature=1.0, n=20):
    """Rejections at 5 %; of each class, of any class after Holm's adjustment, and of all, the most of these."""
    found = np.zeros(5)
    for run in range(runs):
        label, prob = example(n, 3, seed=1000 + run, temperature=temperature)
        prob = np.maximum(prob, 1e-9) / np.maximum(prob, 1e-9).sum(axis=1, keepdims=True)
        result = cs.calibration_test(label, prob, n_resamples=99, rng=run, **(GATES | SLOW_GATES)[name])
        if name.endswith("each class"):
            p = [*result.classes.pvalue, result.classes.pvalue_holm.min(), result.pvalue]
        else:
            p = [result.pvalue] * 5
        found += np.array(p) <= LEVEL
    return found.max()


@pytest.mark.parametrize("name", [*GATES, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_GATES)])
def test_labels_only_keeps_its_level(name):
    assert rejections(name, RUNS) <= stats.binom.isf(1e-6, RUNS, LEVEL)


@pytest.mark.parametrize("name", ["each class", "canonical"])
def test_level_check_can_fail(name):
    """Planted fault: the vectors are made sharper after the classes were drawn."""
    assert rejections(name, RUNS, temperature=2.5) > stats.binom.isf(1e-6, RUNS, LEVEL)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*GATES, "omnibus of each class"])
def test_labels_only_keeps_its_level_in_many_runs(name):
    for n in (5, 60):
        assert rejections(name, 5000, n=n) <= stats.binom.isf(1e-6, 5000, LEVEL)
    assert rejections(name, 2000, temperature=1.8, n=60) > stats.binom.isf(1e-6, 2000, LEVEL)
