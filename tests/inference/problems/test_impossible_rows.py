"""Impossible rows beside a test: what is said of them, and why the p-value of the other rows is exact."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibstat as cs
from calibstat.inference.designs.design import HowToTest
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.problems.impossible_rows import ImpossibleRows
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws, Stream

Y, P = cs.generators.calibrated().sample(400, rng=1)
BAD_Y, BAD_P = np.append(Y, [0, 1, 1, 0]), np.append(P, [0.0, 1.0, 0.0, 1.0])  # rows 402 and 403 were impossible
FEW = {"n_resamples": 99, "rng": 3}
INSIDE = np.array([0.1, 0.3, 0.5, 0.5, 0.8])
CERTAIN_P, CERTAIN_Y = np.array([0.0, 1.0, 0.0]), np.array([1, 1, 0])  # the first was impossible


def test_what_is_said_and_held():
    found = cs.calibration_test(BAD_Y, BAD_P, **FEW)
    said = found.impossible
    assert (said.number, said.first, said.total_certain, said.total_others) == (2, 402, 4, 400)
    assert not said.approximate
    lines = str(found).splitlines()
    assert lines[0].startswith("Not calibrated (p = 0.01): ")
    after = lines.index(str(said))  # the size of the error may be in two lines
    assert 0 < after <= 2
    assert lines[after] == (
        "2 rows were predicted to be impossible and happened (the first is row 402); "
        f"without rows predicted 0 or 1 p = {said.pvalue:.3g}."
    )
    assert str(found).count("impossible") == 1
    assert found.to_dict()["impossible.number"] == 2
    assert found.deviation is None  # of the other rows nothing was found


def test_words_of_one_row_of_a_summary_and_of_no_test():
    one = ImpossibleRows(1, 975, 12, 40, 0.03, False)
    assert str(one) == (
        "1 row was predicted to be impossible and happened (row 975); without rows predicted 0 or 1 p = 0.03."
    )
    assert "happened; without" in str(replace(one, first=None))
    few = replace(one, pvalue=None, total_others=3)
    assert str(few).endswith("; 3 rows predicted neither 0 nor 1 are too few for this test.")
    none = replace(few, total_others=0)
    assert str(none).endswith("; no row is predicted neither 0 nor 1, so that no other test can be made.")
    assert str(replace(one, approximate=True)).endswith("p = 0.03 (approximate).")


def test_the_p_value_is_that_of_the_same_test_of_the_other_rows():
    apart = Draws.of(3, 99).with_own_key(Stream.UNCERTAIN)
    for measure in ("omnibus", "ece", "ks", "brier"):
        found = cs.calibration_test(BAD_Y, BAD_P, measure=measure, **FEW)
        design = design_of(cs.Data(Y, P))
        how = design.how_to_test(HowToTest())
        alone = design.test(find_measure(measure, {}), "", how, apart)
        assert found.impossible.pvalue == alone.pvalue
        assert alone.impossible is None


def test_nothing_else_moves():
    """The draws of the other rows have a key of their own, so that the test of all rows is what it was."""
    rows = cs.Data(BAD_Y, BAD_P)
    design = design_of(rows)
    asked = find_measure("omnibus", {})
    alone = design.test(asked, "", design.how_to_test(HowToTest()), Draws.of(3, 99))
    found = cs.calibration_test(rows, **FEW)
    assert found.pvalue == alone.pvalue
    np.testing.assert_array_equal(found.null_distribution, alone.null_distribution)
    calibrated = cs.calibration_test(Y, P, **FEW)
    assert calibrated.impossible is None


def outcomes_of_uncertain_rows():
    """All outcomes of five rows, each with its probability."""
    for y in itertools.product([0, 1], repeat=INSIDE.size):
        y = np.array(y)
        yield y, np.where(y == 1, INSIDE, 1 - INSIDE).prod()


def gap(y, p):
    return abs((y - p).sum())


def largest_excess(kept):
    """The largest P(p <= a) - a, if p is the exact p-value of the rows that `kept` keeps, given their predictions."""
    pairs = []
    for y, chance in outcomes_of_uncertain_rows():
        rows = kept(y)
        null = [
            (gap(np.array(z), INSIDE[rows]), np.where(np.array(z) == 1, INSIDE[rows], 1 - INSIDE[rows]).prod())
            for z in itertools.product([0, 1], repeat=int(rows.sum()))
        ]
        pairs.append((sum(c for t, c in null if t >= gap(y[rows], INSIDE[rows]) - 1e-12), chance))
    return max(sum(c for p, c in pairs if p <= a + 1e-12) - a for a, _ in pairs)


def test_rows_chosen_by_their_predictions_have_an_exact_p_value_and_rows_chosen_by_outcomes_do_not():
    assert largest_excess(lambda y: np.ones(5, bool)) <= 1e-12
    assert largest_excess(lambda y: INSIDE != 0.5) <= 1e-12
    assert largest_excess(lambda y: y == 1) > 0.2  # the planted fault


def test_the_p_value_by_enumeration():
    """Of each of the 32 outcomes of five rows, whatever the certain rows had; in 5 standard errors of its draws."""
    law = [(gap(y, INSIDE), chance) for y, chance in outcomes_of_uncertain_rows()]
    draws = 1999
    for y, _ in list(outcomes_of_uncertain_rows())[::3]:
        exact = sum(chance for value, chance in law if value >= gap(y, INSIDE) - 1e-9)
        found = cs.calibration_test(
            np.append(y, CERTAIN_Y), np.append(INSIDE, CERTAIN_P), measure="gce", n_bins=1, n_resamples=draws, rng=1
        )
        assert found.impossible.first == 5
        assert abs(found.impossible.pvalue - exact) < 5 * (exact * (1 - exact) / draws) ** 0.5 + 1 / draws


def test_weights_clusters_summaries_and_maps():
    weight = np.random.default_rng(0).uniform(0.5, 2, BAD_Y.size)
    assert cs.calibration_test(BAD_Y, BAD_P, sample_weight=weight, **FEW).impossible.first == 402
    cluster = np.arange(BAD_Y.size) // 2
    clustered = cs.calibration_test(BAD_Y, BAD_P, cluster=cluster, **FEW)
    assert clustered.impossible.approximate
    assert "(approximate)" in str(clustered.impossible)
    plain = cs.calibration_test(BAD_Y, BAD_P, **FEW)
    summary = cs.calibration_test(cs.Sample.from_rows(BAD_Y, BAD_P), **FEW)
    assert summary.impossible.pvalue == plain.impossible.pvalue
    assert summary.impossible.first is None
    scaling = cs.recalibration.PlattScaling(clip=0.01).fit(P, Y)
    assert cs.calibration_test(BAD_Y, BAD_P, null=scaling, **FEW).impossible.pvalue > 0.05


@pytest.mark.parametrize("lens", ["top_label", "class_wise", "class_wise_mean", "canonical", cs.lenses.one_class(0)])
def test_classes(lens):
    label, prob = cs.generators.dirichlet((1, 1, 1)).sample(300, rng=1)
    prob[:2] = [[0, 0, 1], [0, 0.5, 0.5]]
    label[:2] = [0, 1]
    found = cs.calibration_test(label, prob, lens=lens, measure="ks" if lens != "canonical" else "skce", **FEW)
    assert found.impossible.first == 0
    assert found.impossible.pvalue > 0.02
    assert str(found).count("predicted to be impossible") == 1


def test_several_models_have_their_own():
    found = cs.calibration_test(BAD_Y, {"bad": BAD_P, "good": np.full(BAD_Y.size, 0.5)}, **FEW)
    assert found["bad"].impossible.number == 2
    assert found["good"].impossible is None


def test_a_deviation_is_of_the_other_rows():
    y, p = np.tile([1, 0], 100), np.tile([0.2, 0.8], 100)
    y[0], p[0] = 1, 0
    found = cs.calibration_test(y, p, **FEW)
    assert found.impossible.pvalue == 0.01
    assert str(found).splitlines()[2].startswith("Apart from that, ")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.integers(0, 1)), min_size=1, max_size=6))
def test_all_rows_at_0_and_1(rows):
    p, y = np.array(rows).T
    found = cs.calibration_test(y, p, n_resamples=9, rng=1)
    wrong = int((p != y).sum())
    if not wrong:
        assert found.impossible is None
        assert found.pvalue == 1
    else:
        assert found.impossible.number == found.impossible.total_certain - int((p == y).sum()) == wrong
        assert found.impossible.pvalue is None
        assert found.impossible.first == int(np.argmax(p != y))


@pytest.mark.parametrize(("y", "p"), [([1], [0.0]), ([1, 0], [0.0, 0.5]), ([0, 0, 0], [1.0, 0.5, 0.1])])
def test_one_row_and_no_event(y, p):
    for measure in ("omnibus", "ece", "log_loss", "kernel_ce"):
        found = cs.calibration_test(y, p, measure=measure, n_resamples=9, rng=1)
        assert found.impossible.number == 1
        assert found.impossible.pvalue is None or 0 < found.impossible.pvalue <= 1
