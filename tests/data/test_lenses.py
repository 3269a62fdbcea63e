"""Lenses against their definitions, row by row in plain Python."""

from dataclasses import replace

import numpy as np
import pytest
from class_examples import LABEL, PROB, vectors
from hypothesis import given
from hypothesis import strategies as st
from more_than import more_than
from scipy.stats import binom

import calibstat as cs
from calibstat.data import lenses

from_rows = cs.Predictions.from_rows


# --- definitions, slowly ---------------------------------------------------------------------------------------------


def order(row):
    """Classes from the most likely down, of equal ones the smaller number first."""
    return sorted(range(len(row)), key=lambda k: (-float(row[k]), k))


def slow_top_label(row, label):
    return row[order(row)[0]], order(row)[0] == label


def slow_top_k(row, label, k):
    first = order(row)[:k]
    likely = [float(row[j]) for j in first]
    return [*likely, sum(float(row[j]) for j in order(row)[k:])], first.index(label) if label in first else k


def slow_groups(row, label, partition):
    of_label = [g for g, group in enumerate(partition) if label in group]
    return [sum(float(row[k]) for k in group) for group in partition], of_label[0]


@st.composite
def partitions(draw, classes):
    group = [draw(st.integers(0, 3)) for _ in range(classes)]
    group[0], group[1] = 0, 1
    order = draw(st.permutations(range(classes)))
    cut = [[k for k in order if group[k] == g] for g in range(4)]
    return [part for part in cut if part]


SLOW = {
    "top_label": (lenses.top_label, slow_top_label),
    "canonical": (lenses.canonical, lambda row, label: (row, label)),
    "one_class": (lenses.one_class(1), lambda row, label: (row[1], label == 1)),
}


@pytest.mark.parametrize("name", SLOW)
@given(data=vectors(), dtype=st.sampled_from([np.float64, np.float32]))
def test_lenses(name, data, dtype):
    label, prob = data
    lens, slow = SLOW[name]
    check(lens, slow, label, prob.astype(dtype))


@given(data=vectors(), dtype=st.sampled_from([np.float64, np.float32]), choice=st.data())
def test_lenses_of_classes(data, dtype, choice):
    label, prob = data
    prob, classes = prob.astype(dtype), prob.shape[1]
    cut = choice.draw(partitions(classes))
    check(lenses.groups(cut), lambda row, label: slow_groups(row, label, cut), label, prob)
    k = choice.draw(st.integers(1, classes - 1))
    check(lenses.top_k(k), lambda row, label: slow_top_k(row, label, k), label, prob)


def check(lens, slow, label, prob):
    """What is seen is what the definition says, and it is coherent: a score is what its outcomes have in all."""
    seen = lens(from_rows(label, prob))
    expected = [slow(row, k) for row, k in zip(prob, label, strict=True)]
    scores, outcomes = (np.array(part) for part in zip(*expected, strict=True))
    off = 2e-6 if prob.dtype == np.float32 else 1e-12
    if scores.ndim == 1:
        whole = cs.Sample.from_rows(outcomes.astype(int), scores)
        assert isinstance(seen, cs.Sample)
        for ours, theirs in zip(seen.arrays, whole.arrays, strict=True):
            assert np.array_equal(ours, theirs)
    else:
        assert np.array_equal(seen.label, outcomes)
        np.testing.assert_allclose(seen.prob, scores, rtol=0, atol=off)
    scores = lens.scores(prob).astype(float)
    total = np.zeros(scores.shape)
    for k in range(prob.shape[1]):
        outcome = lens.outcomes(prob, np.full(len(prob), k)).astype(int)
        for i in range(len(prob)):
            if scores.ndim == 1:
                total[i] += float(prob[i, k]) * outcome[i]
            else:
                total[i, outcome[i]] += float(prob[i, k])
    np.testing.assert_allclose(scores, total, rtol=0, atol=off)


def test_top_label_of_ties_is_the_first():
    sample = lenses.top_label(from_rows([0, 1, 2], [[0.5, 0.5, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]]))
    assert (sample.value.tolist(), sample.count.tolist(), sample.positives.tolist()) == ([0.5], [3], [2])


def test_top_1_is_top_label_as_two_classes():
    generator = np.random.default_rng(0)
    prob = generator.dirichlet(np.ones(4), 100)
    label = generator.integers(0, 4, 100)
    seen = lenses.top_k(1)(from_rows(label, prob))
    sample = cs.Sample.from_rows(seen.label == 0, seen.prob[:, 0])
    assert np.array_equal(sample.value, lenses.top_label(from_rows(label, prob)).value)
    assert np.array_equal(sample.positives, lenses.top_label(from_rows(label, prob)).positives)


@pytest.mark.parametrize("classes", [3, 10, 1000])
def test_float32_through_lenses_of_classes(classes):
    """Sums may be off by what the predictions may be off by, which for float32 is more than for what is seen."""
    slack = min(1e-5, max(1e-6, 4 * classes * 2.0**-23))
    generator = np.random.default_rng(2)
    prob = generator.dirichlet(np.full(classes, 0.3), 300).astype(np.float32)
    prob[:150, 0] = np.maximum(prob[:150, 0] - 0.8 * slack, 0)
    prob[150:, 0] += np.float32(0.8 * slack)
    found = from_rows(np.zeros(300), np.minimum(prob, 1))
    half = classes // 2
    for lens in (
        lenses.groups([list(range(half)), list(range(half, classes))]),
        lenses.top_k(1),
        lenses.top_k(classes - 1),
        lenses.groups([[k] for k in range(classes)]),
    ):
        seen = lens(found)
        assert np.all((seen.prob >= 0) & (seen.prob <= 1))
        assert np.abs(seen.prob.sum(axis=1) - 1).max() <= slack
        assert lenses.top_k(1)(seen).n == 300  # a lens behind a lens


# --- names, nulls, and what is printed -------------------------------------------------------------------------------


def test_names():
    found = from_rows(["c", "a"], [[0.5, 0.25, 0.25], [0.5, 0.5, 0]], labels=["a", "b", "c"])
    assert lenses.canonical(found) is found
    assert lenses.groups([[2, 0], [1]])(found).names == ("c + a", "b")
    assert lenses.top_k(2)(found).names == ("most likely", "second", "other")
    four = from_rows([0], np.full((1, 5), 0.2))
    assert lenses.top_k(4)(four).names == ("most likely", "second", "third", "4th", "other")
    assert str(lenses.top_k(2)) == "top_k(2)"
    assert str(lenses.groups(((0, 2), (1,)))) == "groups([[0, 2], [1]])"
    assert [str(lens) for lens in cs.LENSES.values()] == list(cs.LENSES) == NAMES


NAMES = ["top_label", "class_wise", "class_wise_mean", "class_wise_max", "canonical"]
EVERY = {
    "top_label": ("ece", "most likely class"),
    "canonical": ("brier", "every class is observed"),
    "one_class(2)": ("ece", "class 2 is observed"),
    "groups([[0], [1, 2]])": ("brier", "every group of classes"),
    "top_k(2)": ("log_loss", "each of the 2 most likely classes, or another,"),
}


@pytest.mark.parametrize("name", EVERY)
def test_the_null_hypothesis_is_printed(name):
    lens = cs.LENSES.get(name) or eval(name, vars(lenses))
    measure, sentence = EVERY[name]
    found = cs.calibration_test([0, 1], [[0.5, 0.25, 0.25], [0.5, 0.5, 0]], measure=measure, lens=lens, n_resamples=9)
    assert str(found.lens) == f"lens {name}"
    assert str(found.null_hypothesis) == str(replace(lens.hypothesis, exact=True))
    assert sentence in str(lens.null)
    assert str(lens.null).endswith(".")
    assert f"lens {name}, n = 2" in str(found)
    assert f"Null hypothesis: {found.null_hypothesis}" in str(found)


@pytest.mark.parametrize("name", ["top_label", "one_class(2)", "top_k(1)", "top_k(2)", "groups([[0], [1, 2]])"])
def test_what_is_given_is_what_the_lens_shows(name):
    lens = cs.LENSES.get(name) or eval(name, vars(lenses))
    assert str(lens.null).startswith("given the ")
    assert " alone, in every row independently, " in str(lens.null)
    assert "whole" not in str(lens.null)


def rejections(measure, right, runs=400, n=50):
    """Whether tests at 5 % reject predictions (.6, .4, 0) and (.6, 0, .4), of which these shares are of class 0."""
    for seed in range(runs):
        random = np.random.default_rng(seed)
        kind = random.integers(0, 2, n)
        prob = np.array([[0.6, 0.4, 0.0], [0.6, 0.0, 0.4]])[kind]
        label = np.where(random.random(n) < np.array(right)[kind], 0, 1 + kind)
        lens = "top_label" if measure == "ece" else "canonical"
        yield cs.calibration_test(label, prob, measure=measure, lens=lens, n_resamples=19, rng=seed).pvalue <= 0.05


def test_a_lens_is_exact_given_what_it_shows():
    """Given the .6 alone the first class is observed in .6 of the rows, given all probabilities in .9 and in .3.

    The test through the lens keeps its level; the canonical one finds what is wrong. The twins: where .7 are observed
    the lens finds it, and where .6 are observed in both kinds of rows, so that all probabilities are right, the
    canonical test keeps its level.
    """
    limit = binom.isf(1e-5, 400, 0.05)
    vectors = "canonical_ce"
    assert sum(rejections("ece", (0.9, 0.3))) <= limit
    assert more_than(limit, rejections("ece", (0.9, 0.5)))
    assert more_than(binom.isf(1e-5, 100, 0.05), rejections(vectors, (0.9, 0.3), runs=100))
    assert sum(rejections(vectors, (0.6, 0.6), runs=100)) <= binom.isf(1e-5, 100, 0.05)


# --- what is looked at without being asked ---------------------------------------------------------------------------


def test_two_classes_through_a_lens():
    """The most likely of two is not outcome 1."""
    assert cs.estimate([0, 1, 1], [0.25, 0.75, 0.25], lens="top_label", n_bins=1) == pytest.approx(0.75 - 2 / 3)
    assert cs.estimate([0, 1, 1], [0.25, 0.75, 0.25], n_bins=1) == pytest.approx(2 / 3 - 1.25 / 3)


@pytest.mark.parametrize("how", ["mean", "max"])
def test_the_mean_and_the_largest_of_all_classes_are_lenses(how):
    """Of the numbers of single classes, whichever of both ways the lens is named by."""
    each = cs.estimate(LABEL, PROB, lens="class_wise")
    assert each.tolist() == [cs.estimate(LABEL, PROB, lens=lenses.one_class(k)) for k in range(3)]
    lens = getattr(cs.lenses.class_wise, how)
    for given_lens in (lens, f"class_wise_{how}"):
        found = cs.estimate(LABEL, PROB, lens=given_lens)
        assert found == pytest.approx(getattr(np, how)(each))
    assert lens == cs.LENSES[f"class_wise_{how}"] != cs.LENSES["class_wise"]
    assert (str(lens), lens.reduce, cs.lenses.class_wise.reduce) == (f"class_wise_{how}", how, None)
    assert lens.hypothesis == lenses.canonical.hypothesis
    test = cs.calibration_test(LABEL, PROB, lens=lens, n_resamples=9, rng=1)
    assert (str(test.lens), test.classes) == (f"lens class_wise, {how} over 3 classes", None)
    assert str(test.lens) in str(test)
    assert repr(cs.Data(LABEL, PROB, lens=lens)) == "Data(4 rows, 3 classes)"


@pytest.mark.parametrize("lens", ["class_wise_mean", "class_wise_max"])
def test_a_lens_of_all_classes_is_none_of_vectors(lens):
    with pytest.raises(ValueError, match=r"expected a lens that shows whole vectors .* found lens class_wise"):
        cs.estimate(LABEL, PROB, lens=lens, measure="canonical_ce")


def test_weights_through_lenses():
    weight = np.array([2, 0, 1, 3])
    repeated = LABEL.repeat(weight), PROB.repeat(weight, axis=0)
    for lens in ("top_label", lenses.one_class(2), "class_wise", None):
        for measure in ("ece", "ks"):
            ours = cs.estimate(LABEL, PROB, lens=lens, measure=measure, sample_weight=weight)
            np.testing.assert_allclose(ours, cs.estimate(*repeated, lens=lens, measure=measure), rtol=0, atol=1e-15)


# --- user-defined ----------------------------------------------------------------------------------------------------


def own(scores, outcomes, **more):
    return cs.Lens("own", scores, outcomes, "what one wants.", **more)


def test_a_user_defined_lens():
    swapped = own(lambda prob: prob[:, ::-1], lambda prob, label: prob.shape[1] - 1 - label, names=lambda n: n[::-1])
    seen = swapped(from_rows(LABEL, PROB))
    assert (seen.names, seen.label.tolist()) == ((2, 1, 0), [0, 2, 1, 1])
    assert cs.estimate(LABEL, PROB, lens=swapped, measure="brier") == pytest.approx(
        cs.estimate(LABEL, PROB, lens="canonical", measure="brier")
    )
    complement = own(lambda prob: 1 - prob[:, 0], lambda prob, label: label != 0)
    found = cs.calibration_test(LABEL, PROB, lens=complement, n_resamples=9)
    assert str(found.null_hypothesis) == "what one wants (exact)."
    half = PROB.astype(np.float16)  # 1 minus the first is not quite the sum of the others
    assert cs.estimate(LABEL, half, lens=complement) == pytest.approx(
        cs.estimate(LABEL, PROB, lens=complement), abs=1e-3
    )


@pytest.mark.parametrize(
    "lens",
    [
        own(lambda prob: prob[:, 0], lambda prob, label: label == 1),
        own(lambda prob: prob.max(axis=1) * 0.999, lambda prob, label: prob.argmax(axis=1) == label),
        own(lambda prob: prob[:, ::-1], lambda prob, label: label),
        own(lenses.top_label.scores, lambda prob, label: label == 0),
        own(lambda prob: prob[:, 0], lenses.top_label.outcomes),
        own(lenses.canonical.scores, lambda prob, label: (label + 1) % 3),
    ],
)
def test_an_incoherent_lens_raises(lens):
    label, prob = np.zeros(50, int), np.random.default_rng(3).dirichlet(np.ones(3), 50)
    with pytest.raises(ValueError, match="expected scores of lens 'own' to be the predicted probabilities"):
        lens(from_rows(label, prob))


@pytest.mark.parametrize(
    ("scores", "outcomes", "message"),
    [
        (lambda prob: prob[:, :1], lambda prob, label: label == 0, "L at least 2"),
        (lambda prob: prob[:2, 0], lambda prob, label: label == 0, r"found shapes \(4,\) and \(2,\), n = 4"),
        (lambda prob: prob[:, 0], lambda prob, label: (label == 0)[:, None], r"found shapes \(4, 1\) and"),
        (lambda prob: 0.5, lambda prob, label: label == 0, r"and \(\), n = 4"),
        (lambda prob: prob, lambda prob, label: label + 1, "from 0 to 2, found some from 3 to 3"),
        (lambda prob: prob, lambda prob, label: label - 1, "from 0 to 2, found some from -1 to -1"),
        (lambda prob: prob[:, 0], lambda prob, label: 2 * (label == 0), "from 0 to 1, found"),
    ],
)
def test_a_malformed_lens_raises(scores, outcomes, message):
    with pytest.raises(ValueError, match=message):
        cs.estimate(LABEL, PROB, measure="brier", lens=own(scores, outcomes))


# --- bad arguments ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "partition", [[], [[0, 1, 2]], [[0], []], [[0, 1], [1, 2]], [[0], [2]], [[0], [1.0]], [[0], [True]], [[0], [-1]]]
)
def test_bad_groups(partition):
    with pytest.raises(ValueError, match="expected"):
        lenses.groups(partition)


@pytest.mark.parametrize("partition", [[0, 1], None, 3, "01"])
def test_groups_that_are_none(partition):
    with pytest.raises(ValueError, match="expected"):
        lenses.groups(partition)


@pytest.mark.parametrize("k", [0, -1, 1.0, "1", None, True])
def test_bad_top_k(k):
    with pytest.raises(ValueError, match="expected a number of classes, a whole number of at least 1; found"):
        lenses.top_k(k)


@pytest.mark.parametrize("k", [-1, 1.0, "1", None, False])
def test_bad_one_class(k):
    with pytest.raises(ValueError, match="expected the number of a class, a whole number of at least 0; found"):
        lenses.one_class(k)


def test_whole_numbers_of_numpy():
    assert str(lenses.one_class(np.int32(2))) == "one_class(2)"
    assert str(lenses.top_k(np.int64(2))) == "top_k(2)"
    assert str(lenses.groups(np.array([[0], [1]]))) == "groups([[0], [1]])"


def test_lenses_that_do_not_fit():
    for lens, message in (
        (lenses.top_k(3), "more than 3 classes"),
        (lenses.one_class(3), r"a class from 0 to 2, found one_class\(3\)"),
        (lenses.groups([[0], [1]]), "groups of all 3 classes, found 2 classes in them"),
        (lenses.groups([[0], [1, 2, 3]]), "groups of all 3 classes, found 4 classes in them"),
    ):
        with pytest.raises(ValueError, match=message):
            cs.estimate(LABEL, PROB, lens=lens, measure="brier")


@pytest.mark.parametrize("lens", ["top", "groups", 3, lenses.groups, ["top_label"], {}])
def test_unknown_lenses(lens):
    with pytest.raises(ValueError, match=f"expected a lens, one of {', '.join(NAMES)} or made by"):
        cs.estimate(LABEL, PROB, lens=lens)
