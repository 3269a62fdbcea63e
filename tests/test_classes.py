"""Every verb on K classes: estimates and details, tests, intervals and reliability, against slow transcriptions."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import bin_number
from scipy import stats
from test_predictions import LABEL, PROB, vectors

import calibstat as cs
from calibstat import resampling
from calibstat.data import lenses
from calibstat.measures import registry
from calibstat.measures.binned import uniform_column_sums
from calibstat.measures.cell_sums import vector_sums
from calibstat.measures.registry import find_measure
from calibstat.resampling import Consistency, Draws, Labels, Pairs, Stage

from_rows = cs.Predictions.from_rows


def example(n, classes=3, seed=0, temperature=1.0, dtype=np.float64):
    """Classes drawn from vectors that are then made sharper: calibrated at temperature 1."""
    generator = np.random.default_rng(seed)
    prob = generator.dirichlet(np.full(classes, 0.8), n)
    label = (prob.cumsum(axis=1) < generator.random((n, 1))).sum(axis=1).clip(max=classes - 1)
    prob = prob**temperature
    return label, (prob / prob.sum(axis=1, keepdims=True)).astype(dtype)


# --- sums in cells ---------------------------------------------------------------------------------------------------


@given(vectors(), st.sampled_from([1, 2, 4, 15]), st.sampled_from([np.float64, np.float32]))
def test_sums_in_bins_of_every_class(data, n_bins, dtype):
    label, prob = data
    predictions = from_rows(label, prob.astype(dtype))
    check_column_sums(predictions, n_bins)


@pytest.mark.parametrize("classes", [31, 32, 33, 64, 100])
def test_sums_in_bins_of_many_classes(classes):
    """By blocks of 32 classes, some of which have nothing beyond the first bin."""
    generator = np.random.default_rng(classes)
    prob = generator.dirichlet(np.full(classes, 0.05), 40)
    prob[:5] = 1 / classes
    prob[5:10] = np.eye(classes)[generator.integers(0, classes, 5)]
    check_column_sums(from_rows(generator.integers(0, classes, 40), prob), 10)


def check_column_sums(predictions, n_bins):
    n, classes = predictions.prob.shape
    count, residual, value = np.zeros((3, classes, n_bins))
    for i in range(n):
        for k in range(classes):
            v = float(predictions.prob[i, k])
            b = int(bin_number(v, n_bins))
            count[k, b] += 1
            residual[k, b] += ((predictions.label[i] == k) - v) / n
            value[k, b] += v / n
    found = uniform_column_sums(predictions, n_bins=n_bins)
    for ours, slow in zip(found, (count, residual, value), strict=True):
        np.testing.assert_allclose(ours, slow, rtol=0, atol=1e-12)


@given(vectors(), st.data())
def test_sums_in_cells_of_vectors(data, choice):
    label, prob = data
    n, classes = prob.shape
    cell = np.array(choice.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    count, residual, value = vector_sums(cell, prob, label)
    for b in range(cell.max() + 1):
        inside = cell == b
        assert count[b] == inside.sum()
        np.testing.assert_allclose(value[b], prob[inside].sum(axis=0) / n, rtol=0, atol=1e-14)
        expected = (np.eye(classes)[label[inside]] - prob[inside]).sum(axis=0) / n
        np.testing.assert_allclose(residual[b], expected, rtol=0, atol=1e-14)


# --- estimates -------------------------------------------------------------------------------------------------------

OF_EVENTS = [
    ("ece", {}),
    ("ece", {"strategy": "quantile", "n_bins": 4}),
    ("ece", {"norm": "max"}),
    ("ece", {"n_bins": "cube_root", "norm": "l2"}),
    ("ece", {"n_bins": 5000}),
    ("ece_width", {}),
    ("ece_debiased", {"n_bins": 3}),
    ("ks", {}),
    ("kernel_ce", {}),
    ("smooth_ce", {}),
    ("brier", {}),
]


@pytest.mark.parametrize(("measure", "options"), OF_EVENTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_class_wise_is_each_class_by_itself(measure, options, dtype):
    label, prob = example(80, 4, dtype=dtype)
    prob[:10] = np.eye(4)[0]
    slow = [cs.estimate(label == k, prob[:, k], measure=measure, **options) for k in range(4)]
    for data in ((label, prob), (from_rows(label, prob),)):
        found = cs.estimate(*data, measure=measure, lens="class_wise", **options)
        assert found.shape == (4,)
        np.testing.assert_allclose(found, slow, rtol=1e-9, atol=1e-12)
    for reduce, together in (("mean", np.mean), ("max", np.max)):
        found = cs.estimate(label, prob, measure=measure, lens="class_wise", reduce=reduce, **options)
        assert isinstance(found, float)
        assert found == pytest.approx(together(slow), rel=1e-9, abs=1e-12)
    for k in (0, 3):
        found = cs.estimate(label, prob, measure=measure, lens=lenses.one_class(k), **options)
        assert found == pytest.approx(slow[k], rel=1e-9, abs=1e-12)


@given(vectors(), st.sampled_from([np.float64, np.float32]))
def test_scores_of_whole_vectors(data, dtype):
    label, prob = data
    prob = prob.astype(dtype)
    exact, one_hot = prob.astype(float), np.eye(prob.shape[1])[label]
    found = cs.estimate(label, prob, measure="brier", lens="canonical")
    assert found == pytest.approx(((one_hot - exact) ** 2).sum(axis=1).mean(), rel=1e-9, abs=1e-12)
    assert 0 <= found <= 2 + 1e-5
    with np.errstate(divide="ignore"):
        loss = -np.log(exact[np.arange(len(label)), label]).mean()
    assert cs.estimate(label, prob, measure="log_loss", lens="canonical") == pytest.approx(loss, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("away", [0.0, 2.0**-53, 3 * 2.0**-53, 1e-12, 3e-9, 1e-8, 1e-7])
def test_brier_of_what_is_nearly_certain(away):
    """1 + p**2 - 2 p may round, but not to less than 0."""
    found = cs.estimate([0], [[1 - away, away]], measure="brier", lens="canonical")
    assert found >= 0
    assert found == pytest.approx(2 * away**2, rel=0, abs=1e-15)


def test_two_classes_as_vectors():
    y, p = np.array([0, 1, 1, 0, 1]), np.array([0.1, 0.75, 1.0, 0.5, 0.25])
    assert cs.estimate(y, p, measure="brier", lens="canonical") == pytest.approx(2 * cs.estimate(y, p, measure="brier"))
    found = cs.estimate(y, p, measure="log_loss", lens="canonical")
    assert found == pytest.approx(cs.estimate(y, p, measure="log_loss"))
    for n_bins in (1, 4, 15):  # total variation of two classes is the gap of one
        grid = cs.estimate(y, p, measure="canonical_ce", strategy="uniform", n_bins=n_bins)
        assert grid == pytest.approx(cs.estimate(y, p, measure="ece", n_bins=n_bins))


def test_lenses_of_classes_lead_to_measures_of_vectors():
    label, prob = example(60, 4)
    two = np.stack([prob[:, 0] + prob[:, 2], prob[:, 1] + prob[:, 3]], axis=1)
    for measure in ("brier", "canonical_ce"):
        found = cs.estimate(label, prob, measure=measure, lens=lenses.groups([[0, 2], [1, 3]]))
        assert found == pytest.approx(cs.estimate(label % 2, two, measure=measure, lens="canonical"))
    found = cs.estimate(label, prob, measure="gce", lens=lenses.top_k(3), max_prob=True, class_conditional=False)
    assert found == pytest.approx(cs.estimate(label, prob, measure="ece"))  # the largest is still the largest


def test_one_row():
    assert cs.estimate([1], [[0.5, 0.25, 0.25]], lens="class_wise").tolist() == [0.5, 0.75, 0.25]
    assert cs.estimate([1], [[0.5, 0.25, 0.25]], measure="canonical_ce") == 0.75
    found = cs.calibration_test([1], [[0.5, 0.25, 0.25]], lens="class_wise", n_resamples=9, rng=0)
    assert found.null_distribution.shape == (9, 3)


def test_weights_class_by_class():
    label, prob = example(40)
    weight = np.random.default_rng(1).random(40)
    slow = [cs.estimate(label == k, prob[:, k], sample_weight=weight) for k in range(3)]
    found = cs.estimate(label, prob, lens="class_wise", sample_weight=weight)
    np.testing.assert_allclose(found, slow, rtol=1e-12)
    mean = cs.estimate(label, prob, lens="class_wise", reduce="mean", sample_weight=weight)
    assert mean == pytest.approx(np.mean(slow))
    for bad in (np.ones(39), -np.ones(40), np.zeros(40)):
        with pytest.raises(ValueError, match="weight"):
            cs.estimate(label, prob, lens="class_wise", sample_weight=bad)


# --- detail ----------------------------------------------------------------------------------------------------------


def test_detail():
    label, prob = example(60)
    hit, largest = prob.argmax(axis=1) == label, prob.max(axis=1)
    ours, slow = cs.detail(label, prob, measure="ks"), cs.detail(hit, largest, measure="ks")
    assert ours.estimate == slow.estimate
    assert np.array_equal(ours["witness"], slow["witness"])
    found = cs.detail(label, prob, measure="brier", lens="canonical")
    assert found["loss"].mean() == pytest.approx(found.estimate)
    assert found["loss"] == pytest.approx(((np.eye(3)[label] - prob) ** 2).sum(axis=1))
    found = cs.detail(label, prob, measure="canonical_ce", strategy="uniform", n_bins=3)
    assert found["count"].sum() == 60
    assert found["count"] @ found["distance"] / 60 == pytest.approx(found.estimate)
    with pytest.raises(ValueError, match=r"such as lenses.one_class\(0\), found 'class_wise'"):
        cs.detail(label, prob, lens="class_wise")


# --- tests -----------------------------------------------------------------------------------------------------------


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
    null = resampling.resample(
        bound, drawn, Labels() if scheme == "labels" else Consistency(), Draws.of(5, 39), Stage.LABELS
    )
    assert np.array_equal(found.null_distribution, null)
    for k in range(4):
        statistic = bound.evaluate(*cs.Sample.from_rows(label == k, prob[:, k]).arrays)
        assert found.statistic[k] == pytest.approx(statistic, rel=1e-9, abs=1e-12)
        assert found.pvalue[k] == pytest.approx(slow_p(found.statistic[k], null[:, k], tail))
    assert np.all(found.pvalue > 0)
    assert found.pvalue_holm == pytest.approx(holm(found.pvalue))
    assert found.pvalue_error == pytest.approx(np.sqrt(found.pvalue * (1 - found.pvalue) / 39))
    for reduce, together in (("mean", np.mean), ("max", np.max)):
        one = cs.calibration_test(label, prob, lens="class_wise", reduce=reduce, **given)
        assert one.statistic == pytest.approx(together(found.statistic))
        assert one.null_distribution == pytest.approx(together(null, axis=1))
        assert one.pvalue == pytest.approx(slow_p(one.statistic, one.null_distribution, tail))
        if reduce == "mean":
            assert one.pvalue == found.overall.pvalue
            assert np.array_equal(one.null_distribution, found.overall.null_distribution)


def test_what_a_class_wise_test_says():
    found = cs.calibration_test(
        ["a", "c", "c"], PROB[:3], lens="class_wise", labels=np.array(["a", "b", "c"]), n_resamples=19, rng=1
    )
    assert found.names == ("a", "b", "c")
    assert found.null_hypothesis.startswith(
        "given its probability alone, in every row independently, the class happens"
    )
    assert found.null_hypothesis.endswith("(exact).")
    assert found.overall.null_hypothesis == lenses.canonical.null.removesuffix(".") + " (exact)."
    assert (found.lens, found.overall.lens) == ("lens class_wise", "lens class_wise, mean over 3 classes")
    text = str(found)
    for part in (found.null_hypothesis, found.overall.null_hypothesis, "lens class_wise, n = 3", "p (Holm)"):
        assert part in text
    assert [line.split()[0] for line in text.splitlines()[2:5]] == ["a", "b", "c"]
    frame = found.to_frame()
    assert frame["class"].tolist() == ["a", "b", "c"]
    assert frame["pvalue_holm"].tolist() == found.pvalue_holm.tolist()
    assert json.loads(json.dumps(found.to_dict()))["overall"]["pvalue"] == found.overall.pvalue
    for array in (found.statistic, found.pvalue, found.pvalue_holm, found.pvalue_error, found.null_distribution):
        assert not array.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.n = 4
    approximate = cs.calibration_test(LABEL, PROB, lens="class_wise", resample="both", n_resamples=19, rng=1)
    assert "(approximate" in approximate.null_hypothesis
    assert "(approximate" in approximate.overall.null_hypothesis
    assert "(approximate)" in str(approximate)


def test_many_classes_are_cut_short_in_print():
    label, prob = example(50, 30)
    found = cs.calibration_test(label, prob, lens="class_wise", n_resamples=9, rng=1)
    assert "and 20 more, each with p of at least" in str(found)
    assert len(str(found).splitlines()) == 16


def test_top_label_is_a_test_of_one_event():
    label, prob = example(200, 5, seed=3, temperature=1.5)
    hit, largest = prob.argmax(axis=1) == label, prob.max(axis=1)
    for measure in ("ece", "ks"):
        found = cs.calibration_test(label, prob, measure=measure, rng=3, n_resamples=99)
        slow = cs.calibration_test(hit, largest, measure=measure, rng=3, n_resamples=99)
        assert (found.statistic, found.pvalue) == (slow.statistic, slow.pvalue)
        assert np.array_equal(found.null_distribution, slow.null_distribution)
        assert found.lens == "lens top_label"
        assert found.null_hypothesis != slow.null_hypothesis


@pytest.mark.parametrize("reduce", [None, "max"])
@pytest.mark.parametrize("scheme", ["labels", "both"])
def test_threads_do_not_show(scheme, reduce):
    label, prob = example(60, 4)
    one, two = (
        cs.calibration_test(
            *(label, prob), lens="class_wise", reduce=reduce, resample=scheme, n_resamples=50, rng=1, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    )
    assert np.array_equal(one.null_distribution, two.null_distribution)


def test_p_is_never_0_and_ties_count():
    label, prob = np.zeros(200, int), np.tile([0.01, 0.01, 0.98], (200, 1))
    for reduce in (None, "mean", "max"):
        found = cs.calibration_test(label, prob, lens="class_wise", reduce=reduce, n_resamples=99, rng=1)
        assert np.min(found.pvalue) == 0.01
    certain = np.eye(3)[[0, 1, 2, 2]]
    found = cs.calibration_test([0, 1, 2, 2], certain, lens="class_wise", n_resamples=99, rng=1)
    assert found.pvalue.tolist() == [1, 1, 1]  # every resample is the data
    assert found.pvalue_holm.tolist() == [1, 1, 1]
    wrong = cs.calibration_test([1, 1, 2, 2], certain, lens="class_wise", n_resamples=99, rng=1)
    assert wrong.pvalue.tolist() == [0.01, 0.01, 1]
    impossible = cs.calibration_test([1, 1, 2, 2], certain, measure="log_loss", lens="canonical", n_resamples=99, rng=1)
    assert (impossible.statistic, impossible.pvalue) == (np.inf, 0.02)


def test_p_value_against_the_exact_law():
    """Ten rows of (.2, .3, .5) that are all class 0: total variation .8 in one cell, a multinomial sum."""
    prob = np.tile([0.2, 0.3, 0.5], (10, 1))
    label = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2])
    law = 0.0
    for a in range(11):
        for b in range(11 - a):
            off = np.abs(np.array([a, b, 10 - a - b]) / 10 - prob[0]).sum() / 2
            law += stats.multinomial.pmf([a, b, 10 - a - b], 10, prob[0]) * (off >= 0.3 - 1e-9)
    found = cs.calibration_test(label, prob, measure="canonical_ce", n_resamples=99_999, rng=1)
    assert found.statistic == pytest.approx(0.3)
    low, high = stats.binom.ppf(1e-6, 99_999, law), stats.binom.isf(1e-6, 99_999, law)
    assert low <= found.pvalue * 100_000 - 1 <= high
    assert not low <= (found.null_distribution > 0.3 + 1e-9).sum() <= high  # planted fault: ties do not count


RUNS, LEVEL = 500, 0.05
GATES = {
    "each class": {"lens": "class_wise"},
    "largest": {"lens": "class_wise", "reduce": "max"},
    "quantiles": {"lens": "class_wise", "reduce": "mean", "strategy": "quantile", "n_bins": 3},
    "whole vectors": {"measure": "canonical_ce", "min_size": 10},
    "two-sided": {"measure": "brier", "lens": "canonical"},
    "most likely": {"measure": "ks"},
}


def rejections(name, runs, temperature=1.0, n=20):
    """Rejections at 5 %; of each class, of any class after Holm's adjustment, and of all, the most of these."""
    found = np.zeros(5)
    for run in range(runs):
        label, prob = example(n, 3, seed=1000 + run, temperature=temperature)
        prob = np.maximum(prob, 1e-9) / np.maximum(prob, 1e-9).sum(axis=1, keepdims=True)
        result = cs.calibration_test(label, prob, n_resamples=99, rng=run, **GATES[name])
        if name == "each class":
            p = [*result.pvalue, result.pvalue_holm.min(), result.overall.pvalue]
        else:
            p = [result.pvalue] * 5
        found += np.array(p) <= LEVEL
    return found.max()


@pytest.mark.parametrize("name", GATES)
def test_labels_only_keeps_its_level(name):
    assert rejections(name, RUNS) <= stats.binom.isf(1e-6, RUNS, LEVEL)


@pytest.mark.parametrize("name", ["each class", "whole vectors"])
def test_level_check_can_fail(name):
    """Planted fault: the vectors are made sharper after the classes were drawn."""
    assert rejections(name, RUNS, temperature=1.8) > stats.binom.isf(1e-6, RUNS, LEVEL)


@pytest.mark.slow
@pytest.mark.parametrize("name", GATES)
def test_labels_only_keeps_its_level_in_many_runs(name):
    for n in (5, 60):
        assert rejections(name, 5000, n=n) <= stats.binom.isf(1e-6, 5000, LEVEL)
    assert rejections(name, 2000, temperature=1.8, n=60) > stats.binom.isf(1e-6, 2000, LEVEL)


# --- a measure of one's own ------------------------------------------------------------------------------------------


@pytest.fixture
def hits():
    """A measure of vectors with nothing but its function: off by how much the rows are right more often than said."""

    @cs.measure("hits", bounds=(0, 1))
    def hits(prob, label, *, power=1.0):
        """Return the absolute difference of accuracy and confidence, to a power."""
        return abs((prob.argmax(axis=1) == label).mean() - prob.max(axis=1).mean()) ** power

    yield hits
    registry._REGISTRY.pop("hits")


def test_a_measure_of_ones_own(hits):
    label, prob = example(50, 4, temperature=1.5)
    predictions, bound = resampling.in_order(from_rows(label, prob)), find_measure("hits", {"power": 2.0})
    assert cs.estimate(label, prob, measure="hits", power=2.0) == hits(prob, label, power=2.0)
    found = cs.calibration_test(label, prob, measure="hits", power=2.0, n_resamples=29, rng=1)
    drawn = resampling.draw(predictions, Labels(), np.copy, Draws.of(1, 29), Stage.LABELS)
    assert found.null_distribution.tolist() == [hits(predictions.prob, label, power=2.0) for label in drawn]
    assert found.measure == "hits(power=2.0)"
    assert found.lens == "lens canonical"
    drawn = resampling.resample(bound, predictions, Pairs(), Draws.of(1, 59), Stage.ROWS)
    given = {"measure": "hits", "power": 2.0, "n_resamples": 59, "rng": 1, "confidence_level": 0.9}
    percentile, basic = (cs.confidence_interval(label, prob, method=m, **given) for m in ("percentile", "basic"))
    low, high = np.quantile(drawn, [0.05, 0.95])
    estimate = hits(prob, label, power=2.0)
    assert (percentile.low, percentile.high) == pytest.approx((low, high))
    assert (basic.low, basic.high) == pytest.approx((max(2 * estimate - high, 0), max(2 * estimate - low, 0)))
    with pytest.raises(ValueError, match=r"no honest interval is known for hits.*methods percentile, basic$"):
        cs.confidence_interval(label, prob, measure="hits")
    assert cs.estimate(label, prob, measure="hits", lens=lenses.groups([[0, 1], [2, 3]])) >= 0


# --- intervals that are not honest -----------------------------------------------------------------------------------


@pytest.mark.parametrize("reduce", ["mean", "max"])
@pytest.mark.parametrize(("measure", "options"), [("ece", {}), ("ks", {}), ("ece_debiased", {"n_bins": 3})])
def test_percentiles_of_all_classes(measure, options, reduce):
    """Each resample of the rows is reduced over its classes."""
    label, prob = example(60, 4, temperature=1.4)
    bound = find_measure(measure, options)
    predictions = resampling.in_order(from_rows(label, prob))
    drawn = resampling.resample(bound, predictions, Pairs(), Draws.of(8, 49), Stage.ROWS)
    together = drawn.mean(axis=1) if reduce == "mean" else drawn.max(axis=1)
    given = {"measure": measure, "lens": "class_wise", "reduce": reduce, "n_resamples": 49, "rng": 8, **options}
    found = cs.confidence_interval(label, prob, method="percentile", **given)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(together, [0.025, 0.975])))
    expected = cs.estimate(label, prob, measure=measure, lens="class_wise", reduce=reduce, **options)
    assert found.estimate == pytest.approx(expected, abs=1e-12)
    assert found.lens == f"lens class_wise, {reduce} over 4 classes"
    assert f"lens class_wise, {reduce} over 4 classes, of the population" in found.estimand


# --- reliability -----------------------------------------------------------------------------------------------------


def equal(a, b):
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


@pytest.mark.parametrize("given", [{}, {"strategy": "quantile", "n_bins": 4}, {"band": "confidence"}, {"band": None}])
def test_reliability_of_every_class(given):
    label, prob = example(150, 3)
    given = {"rng": 4, "n_resamples": 50, **given}
    found = cs.reliability(["abc"[k] for k in label], prob, lens="class_wise", labels=["a", "b", "c"], **given)
    assert (found.names, found.n, found.lens) == (("a", "b", "c"), 150, "lens class_wise")
    for k, diagram in enumerate(found.diagrams):
        slow = cs.reliability(label == k, prob[:, k], **given)
        assert diagram.lens == f"class {'abc'[k]}"
        for field in dataclasses.fields(slow):
            if field.name != "lens":
                assert equal(getattr(diagram, field.name), getattr(slow, field.name)), field.name
    options = {name: given[name] for name in ("strategy", "n_bins") if name in given}
    error = [cs.estimate(label == k, prob[:, k], **options) for k in range(3)]
    np.testing.assert_allclose(found.error, error, rtol=1e-12)
    json.dumps(found.to_dict())


def test_weighted_reliability_of_every_class():
    label, prob = example(60, 3)
    weight = np.random.default_rng(1).random(60)
    found = cs.reliability(label, prob, lens="class_wise", sample_weight=weight, band=None)
    slow = cs.reliability(label == 1, prob[:, 1], sample_weight=weight, band=None)
    assert np.array_equal(found.diagrams[1].frequency, slow.frequency)
    assert found.error[1] == pytest.approx(cs.estimate(label == 1, prob[:, 1], sample_weight=weight))
    top = cs.reliability(label, prob, sample_weight=weight, band=None)
    slow = cs.reliability(prob.argmax(axis=1) == label, prob.max(axis=1), sample_weight=weight, band=None)
    assert np.array_equal(top.frequency, slow.frequency)
    assert top.lens == "lens top_label"
    with pytest.raises(ValueError, match="whole-number counts"):
        cs.reliability(label, prob, lens="class_wise", sample_weight=weight)
    with pytest.raises(ValueError, match="no sample_weight for whole vectors"):
        cs.reliability(label, prob, lens="canonical", sample_weight=weight)


@pytest.mark.parametrize("lens", ["canonical", lenses.groups([[0, 1], [2, 3]]), lenses.top_k(2)])
def test_reliability_of_whole_vectors(lens):
    label, prob = example(150, 4)
    seen = lenses.find_lens(lens)(from_rows(label, prob))
    found = cs.reliability(label, prob, lens=lens, n_bins=3)
    bins = bin_number(seen.prob, 3)
    bins = bins[:, 1:] if seen.n_classes == 2 else bins  # of two the second decides
    cells = {}
    for i in range(150):
        cells.setdefault(tuple(bins[i]), []).append(i)
    slow = [
        (len(rows), *seen.prob[rows].mean(axis=0), *np.eye(seen.n_classes)[seen.label[rows]].mean(axis=0))
        for rows in cells.values()
    ]
    ours = np.column_stack((found.count, found.mean_prediction, found.frequency))
    np.testing.assert_allclose(sorted(map(tuple, ours)), sorted(slow), rtol=0, atol=1e-12)
    assert np.all(np.diff(found.count) <= 0)
    estimate = cs.estimate(label, prob, lens=lens, measure="canonical_ce", strategy="uniform", n_bins=3)
    assert found.count @ found.distance / 150 == pytest.approx(estimate)
    assert (found.names, found.n, found.lens) == (seen.names, 150, f"lens {lens}")
    tree = cs.reliability(label, prob, lens=lens, strategy="tree")
    assert "tree" in tree.strategy
    json.dumps(found.to_dict())


# --- what is refused -------------------------------------------------------------------------------------------------

VERBS = [cs.estimate, cs.calibration_test, cs.confidence_interval]


@pytest.mark.parametrize("verb", VERBS)
def test_questions_that_do_not_fit(verb):
    sample = cs.Sample.from_rows([0, 1], [0.25, 0.75])
    for data, asked, message in (
        ((LABEL, PROB), {"reduce": "mean"}, "expected lens 'class_wise' with reduce='mean', found lens top_label"),
        ((LABEL, PROB), {"reduce": "sum", "lens": "class_wise"}, "expected reduce None, 'mean' or 'max', found 'sum'"),
        ((LABEL, PROB), {"reduce": "max", "measure": "canonical_ce"}, "found lens canonical"),
        ((LABEL, PROB), {"measure": "canonical_ce", "lens": "top_label"}, "a lens that shows whole vectors"),
        ((LABEL, PROB), {"measure": "canonical_ce", "lens": "class_wise"}, "a lens that shows whole vectors"),
        ((LABEL, PROB), {"lens": "canonical"}, "which shows 3 classes"),
        ((LABEL, PROB), {"lens": lenses.groups([[0], [1, 2]]), "measure": "ks"}, "which shows 2 classes"),
        ((sample,), {"lens": "top_label"}, "found a Sample, which has one event only"),
        ((sample,), {"measure": "gce"}, "found a Sample, which has one event only"),
        ((sample,), {"reduce": "mean"}, "with reduce='mean', found event: outcome 1"),
        ((from_rows(LABEL, PROB), PROB), {}, "expected Predictions alone"),
        ((LABEL,), {}, "found one array"),
        ((LABEL,), {"lens": "canonical"}, "found one ndarray"),
        ((LABEL, PROB), {"lens": "canonical", "measure": "brier", "n_bins": 3}, "found 'n_bins'"),
        ((LABEL, PROB), {"lens": "nothing"}, "expected a lens"),
        (([0, 1, 2, 3], PROB), {}, "expected a class from 0 to 2, found 3 in y_true at row 3"),
    ):
        with pytest.raises(ValueError, match=message):
            verb(*data, **asked)


def test_weights_of_whole_vectors_are_refused():
    for asked in ({"measure": "gce"}, {"measure": "brier", "lens": "canonical"}):
        with pytest.raises(ValueError, match="no sample_weight for whole vectors"):
            cs.estimate(LABEL, PROB, sample_weight=np.ones(4), **asked)
        with pytest.raises(ValueError, match="no sample_weight for whole vectors"):
            cs.detail(LABEL, PROB, sample_weight=np.ones(4), **asked)


def test_intervals_that_are_not_there():
    with pytest.raises(ValueError, match="expected reduce 'mean' or 'max' for an interval"):
        cs.confidence_interval(LABEL, PROB, lens="class_wise")
    for asked in ({"lens": "class_wise", "reduce": "mean"}, {"measure": "canonical_ce"}):
        with pytest.raises(ValueError, match=r"no bca interval is known .* the methods honest, percentile, basic"):
            cs.confidence_interval(LABEL, PROB, method="bca", **asked)
    for asked in (
        {"lens": "class_wise", "reduce": "mean", "measure": "ks"},
        {"lens": "class_wise", "reduce": "max", "measure": "brier"},
        {"lens": "class_wise", "reduce": "mean", "norm": "l2"},
        {"measure": "canonical_ce", "distance": "l2"},
        {"measure": "gce"},
    ):
        with pytest.raises(ValueError, match="no honest interval is known for"):
            cs.confidence_interval(LABEL, PROB, **asked)
