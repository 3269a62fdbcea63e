"""One-sided tests through the front door: their level beyond the border, what they refuse, ties, seeds and extremes."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import calibstat as cs
from calibstat.inference.p_values import tie
from calibstat.measures.kinds.one_sided import one_side_of

SIDES = ("over", "under")
NAMES = ("omnibus", "mean", "ks", "kuiper", "ece")
FALSE_ALARM = 1e-6


def outcomes(rng, n=60):
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), p


def ask(y, p, side, measure=None, n_resamples=99, rng=1, **options):
    return cs.calibration_test(y, p, side=side, measure=measure, n_resamples=n_resamples, rng=rng, **options)


# --- the level -------------------------------------------------------------------------------------------------------


def predictions_of(law, rng, n):
    if law == "confidences":
        return rng.choice([0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0], n)
    if law == "ends":
        return rng.choice([0.0, 0.4, 1.0], n, p=[0.2, 0.6, 0.2])
    return rng.random(n) ** (6 if law == "rare" else 1)


def beyond(v, how, side):
    """True probabilities on the border of the null hypothesis, or further in it."""
    if how == "border":
        return v
    return np.sqrt(v) if side == "over" else 1 - np.sqrt(1 - v)


def rejections(side, measure, law, how, runs, asked="side", n=40, **options):
    rng, number = np.random.default_rng(13), 0
    for run in range(runs):
        v = predictions_of(law, rng, n)
        y = (rng.random(n) < beyond(v, how, side)).astype(int)
        number += ask(y, v, side if asked == "side" else None, measure, rng=run, **options).pvalue <= 0.05
    return number


CELLS = [*zip(NAMES * 2, SIDES * 5, ("uniform", "confidences", "rare", "ends") * 3, strict=False)]


@pytest.mark.parametrize("how", ["border", "further"])
@pytest.mark.parametrize("runs", [100, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("measure", "side", "law"), CELLS)
def test_at_most_one_in_twenty_is_found(measure, side, law, how, runs):
    assert rejections(side, measure, law, how, runs) <= binom.ppf(1 - FALSE_ALARM, runs, 0.05)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("runs", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_at_most_one_in_twenty_is_found_where_drawing_stops(side, runs):
    """The p-value of Besag and Clifford, h / l once h draws are as extreme."""
    for how in ("border", "further"):
        found = rejections(side, "ks", "uniform", how, runs, stop_after=5)
        assert found <= binom.ppf(1 - FALSE_ALARM, runs, 0.05)


@pytest.mark.parametrize("measure", ["kernel_ce", "omnibus"])
@pytest.mark.parametrize("side", SIDES)
def test_statistics_of_both_sides_find_far_more(measure, side):
    """Planted fault: where predictions are far too low, a test of both sides answers whether they are too high."""
    assert rejections(side, measure, "uniform", "further", 30, asked="both") > binom.ppf(1 - FALSE_ALARM, 30, 0.05)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("about", [{}, {"stop_after": 4}], ids=["all draws", "stopped"])
def test_with_the_same_draws_p_moves_with_each_outcome_one_way(measure, side, about):
    """From no event to all, in an order by chance: p never falls of "over", and never rises of "under"."""
    rng = np.random.default_rng(4)
    p = np.append(rng.random(16), [0.0, 0.5, 0.5, 1.0])
    found = []
    for k in range(21):
        y = np.zeros(20, int)
        y[np.argsort(np.sin(np.arange(20) * 7.3))[:k]] = 1
        found.append(ask(y, p, side, measure, **about).pvalue)
    steps = np.diff(found) * (1 if side == "over" else -1)
    assert steps.min() >= 0
    assert max(found) > 0.9
    assert min(found) <= 0.05


# --- theorem 2 -------------------------------------------------------------------------------------------------------

FOUR = ("omnibus", "mean", "ks", "ece")


def statistics(labels, v, side="over"):
    """Four statistics of each set of labels, shape (B, 4)."""
    measures = [one_side_of(cs.MEASURES[name](), side) for name in FOUR]
    return np.array([[each.estimate(cs.Sample.from_rows(y, v)) for each in measures] for y in labels])


def min_p(found, drawn):
    """The p-value of the smallest of several, ranked among all draws and the observed labels."""
    every = np.vstack([found, drawn])
    p = (every[:, None] >= every - tie(every)).mean(axis=0)  # of each c and statistic
    least = p.min(axis=1)
    return (least <= least[0] + 1e-12).mean()


def min_p_of_draws(found, drawn):
    """Planted fault: draws are ranked without the observed labels."""
    of_found = (1 + (drawn >= found - tie(found)).sum(axis=0)) / (1 + len(drawn))
    least = (drawn[:, None] >= drawn - tie(drawn)).mean(axis=0).min(axis=1)
    return (1 + (least <= of_found.min() + 1e-12).sum()) / (1 + len(drawn))


@pytest.mark.parametrize("side", SIDES)
def test_the_smallest_of_several_p_values_moves_one_way(side):
    """All 64 labels of six rows, 40 sets of 11 draws: an event more never lowers the p-value of "over"."""
    rng = np.random.default_rng(5)
    labels = np.array([*product((0, 1), repeat=6)])
    place = {tuple(y): k for k, y in enumerate(labels.tolist())}
    for v in (np.array([0.1, 0.3, 0.3, 0.5, 0.8, 0.95]), rng.random(6)):
        table = statistics(labels, v, side)
        for _ in range(20):
            drawn = table[[place[tuple(y)] for y in (rng.random((11, 6)) < v).astype(int).tolist()]]
            p = np.array([min_p(found, drawn) for found in table])
            for i in range(6):
                more = p[labels[:, i] == 1] - p[labels[:, i] == 0]
                assert (more * (1 if side == "over" else -1)).min() >= 0


def levels(combined, statistics_of):
    """The largest P(p <= a) - a over all combinations of the observed labels and three draws, of three rows."""
    v, labels = np.array([0.3, 0.5, 0.7]), np.array([*product((0, 1), repeat=3)])
    table, law = statistics_of(labels, v), np.prod(np.where(labels == 1, v, 1 - v), axis=1)
    found = [
        (combined(table[a], table[[*draws]]), law[[a, *draws]].prod()) for a, *draws in product(range(8), repeat=4)
    ]
    p, chance = np.array(found).T
    return max(chance[p <= a + 1e-12].sum() - a for a in np.unique(p))


def three_orders(labels, v):
    """Three statistics that fall with every label, and rank labels in other orders."""
    return -np.stack([labels @ weight for weight in ([4, 2, 1], [2, 1, 4], [1, 4, 2])], axis=1).astype(float)


def test_the_smallest_of_several_p_values_is_exact_and_without_the_observed_labels_it_is_not():
    assert levels(min_p, statistics) <= 1e-12
    assert levels(min_p, three_orders) <= 1e-12
    assert levels(min_p_of_draws, three_orders) > 0.005


# --- ties, order and threads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("measure", ["mean", "ks", "kuiper", "ece"])
def test_equal_numbers_of_events_are_ties(measure, side):
    """Of equal predictions each statistic is one of the number of events: p counts draws with as few, or as many."""
    p, sign = np.full(50, 0.1), -1 if side == "over" else 1
    for events in (2, 4, 5, 6, 9):
        y = (np.arange(50) < events).astype(int)
        found = ask(y, p, side, measure, n_resamples=499)
        drawn = np.rint(found.null_distribution * 50 * sign + 5)  # what is beyond 5; less is 0 but of the mean
        beyond = (
            sign * (drawn - events) >= 0
            if measure == "mean"
            else sign * (drawn - max(events * sign, 5 * sign) * sign) >= 0
        )
        assert found.pvalue == (1 + beyond.sum()) / 500


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("measure", NAMES)
def test_order_of_rows_threads_and_counting_change_no_p_value(measure, side):
    y, p = outcomes(np.random.default_rng(8), 300)
    p[:200] = np.round(p[:200], 1)  # ties, 0 and 1 among them
    first = ask(y, p, side, measure)
    order = np.random.default_rng(9).permutation(300)
    for again in (
        ask(y[order], p[order], side, measure),
        ask(y, p, side, measure, n_jobs=2),
        cs.calibration_test(cs.Sample.from_rows(y, p), side=side, measure=measure, n_resamples=99, rng=1),
        ask(y.astype(bool), p, side, measure),
    ):
        assert (again.pvalue, again.statistic) == (first.pvalue, first.statistic)
        assert np.array_equal(again.null_distribution, first.null_distribution)
    single = ask(y, p.astype(np.float32), side, measure)
    assert single.pvalue == ask(y, p.astype(np.float32).astype(float), side, measure).pvalue


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("measure", NAMES)
def test_equal_weights_are_none_and_whole_counts_are_rows(measure, side):
    y, p = outcomes(np.random.default_rng(8))
    plain, weighted = ask(y, p, side, measure), ask(y, p, side, measure, sample_weight=np.full(60, 0.3))
    assert weighted.statistic == pytest.approx(plain.statistic, abs=1e-9)
    assert weighted.null_hypothesis.weights
    assert weighted.null_hypothesis.exact
    count = 1 + np.arange(60) % 3
    sample = cs.calibration_test(cs.Sample.from_rows(y, p, count), side=side, measure=measure, n_resamples=99, rng=1)
    assert sample.pvalue == ask(np.repeat(y, count), np.repeat(p, count), side, measure).pvalue


@pytest.mark.parametrize("side", SIDES)
def test_confidences_are_tested_as_outcomes_of_hits(side):
    label, prob = cs.generators.dirichlet((1, 1, 1)).sample(200, rng=1)
    found = ask(label, prob, side, lens="top_label")
    hit, top = (prob.argmax(1) == label).astype(int), prob.max(1)
    assert found.pvalue == ask(hit, top, side).pvalue
    least = {"over": "at least", "under": "at most"}[side]
    assert f"that class is observed with {least} this probability (exact)" in str(found.null_hypothesis)


# --- outcomes that were impossible, and extremes ---------------------------------------------------------------------


@pytest.mark.parametrize("measure", NAMES)
def test_an_event_predicted_0_is_no_evidence_that_any_are_too_high_and_none_predicted_1_is_proof(measure):
    y, p = outcomes(np.random.default_rng(2), 40)
    p[:2] = 0.0, 1.0
    for bad, side in ((1, "over"), (0, "under")):
        allowed, forbidden = y.copy(), y.copy()
        allowed[:2] = (1, 1) if side == "over" else (0, 0)
        forbidden[:2] = (0, 0) if side == "over" else (1, 1)
        usual = y.copy()
        usual[:2] = 0, 1
        found = ask(allowed, p, side, measure)
        assert np.isfinite(found.statistic)
        assert found.impossible is None
        assert found.pvalue >= ask(usual, p, side, measure).pvalue
        proof = ask(forbidden, p, side, measure)
        assert (proof.statistic, proof.pvalue) == (np.inf, 0.01)
        assert proof.impossible.first == bad
        assert str(proof).startswith("Some predictions are too")


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([1], [0.3]), ([0], [0.3]), ([0], [0.0]), ([1], [1.0]), ([1], [0.0]), ([0], [1.0]), ([0] * 50, [0.3] * 50),
        ([1] * 50, [0.3] * 50), ([0, 1] * 20, [0.5] * 40), ([0] * 20 + [1], [1e-300] * 21), ([0, 0, 1], [1e-310] * 3),
        ([1] * 20 + [0], [1 - 1e-16] * 21), ([1, 0, 0, 1, 0], [0, 1, 0.5, 1, 0]), ([0] + [1] * 100, [1] + [0.95] * 100),
        ([1] + [0] * 100, [0] + [0.04] * 100),
    ],
)  # fmt: skip
def test_extreme_rows_have_an_answer(y, p, measure, side):
    found = ask(y, p, side, measure)
    assert 0.01 <= found.pvalue <= 1
    assert not np.isnan(found.statistic)
    assert str(found)
    assert found.to_dict()["side"] == side


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize(
    ("value", "count", "events"),
    [
        ([1e-10], [1e11], [0]), ([1e-10], [1e11], [60]), ([0.5, 1], [1e10, 1e10], [5e9, 1e10 - 1]),
        ([0, 0.5], [1e10, 1e10], [1, 5e9]), ([0.2, 0.5], [1e8, 1e8], [2e7 - 5e4, 5e7]),
    ],
)  # fmt: skip
def test_very_many_counted_rows_have_an_answer(value, count, events, measure, side):
    sample = cs.Sample.from_counts(value, count, events)
    found = cs.calibration_test(sample, side=side, measure=measure, n_resamples=99, rng=1)
    assert 0.01 <= found.pvalue <= 1
    assert str(found)


# --- what is refused, and what stays as it was -----------------------------------------------------------------------


class Mine(cs.measures.ECE):
    """A measure made from one that has a side, of which it is not known whether it has one."""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "kernel_ce"}, "expected a measure with one side, .*; found 'kernel_ce'"),
        ({"measure": "brier"}, "expected a measure with one side, .*; found 'brier'"),
        ({"measure": "log_loss"}, "expected a measure with one side, .*; found 'log_loss'"),
        ({"measure": "smooth_ce"}, "expected a measure with one side, .*; found 'smooth_ce'"),
        ({"measure": Mine()}, "not known that it never rises"),
        ({"measure": Mine}, "not known that it never rises"),
        ({"resample": "both"}, "expected resample='labels' beside side='over', .*found 'both'"),
        ({"null": lambda v: v}, "expected no side='over' with null="),
        (
            {"margin": 0.05},
            r"expected no margin= beside side='over', .*equivalence_test\(y, p, margin=0.05, side='over'",
        ),
        ({"folds": np.arange(60) % 2}, "expected rows without folds= beside side=, because no study covers both"),
        ({"judge": np.full(60, 0.5)}, "judge"),
        ({"method": "noise"}, "expected no method= for a test"),
        ({"stop_after": 100}, "expected stop_after to be None or a whole number from 1 to n_resamples = 99"),
        *(({"side": bad}, "expected side None, 'over'") for bad in ("Over", "both", "", 0, 1, True, ["over"], b"over")),
    ],
)
def test_refusals(options, message):
    y, p = outcomes(np.random.default_rng(2))
    with pytest.raises(ValueError, match=message):
        cs.calibration_test(y, p, **({"side": "over", "n_resamples": 99} | options))


@pytest.mark.parametrize("lens", ["class_wise", "class_wise_mean", "class_wise_max", "canonical"])
@pytest.mark.parametrize("measure", ["omnibus", "ks"])
def test_several_classes_together_have_no_side(lens, measure):
    label, prob = cs.generators.dirichlet((1, 1, 1)).sample(60, rng=1)
    with pytest.raises(ValueError, match="lens"):
        cs.calibration_test(label, prob, side="over", lens=lens, measure=measure)


def test_no_side_is_both_sides_as_before():
    y, p = outcomes(np.random.default_rng(2))
    for measure in (None, "ks", "mean"):
        plain = cs.calibration_test(y, p, measure=measure, n_resamples=99, rng=1)
        none = cs.calibration_test(y, p, measure=measure, n_resamples=99, rng=1, side=None)
        assert none.to_dict() == plain.to_dict()
        assert none.side is None
        assert none.events is None
        assert "at least its" not in str(none)


def test_one_side_is_not_half_of_both():
    """20 rows at 1/2 with 6 events: both sides by |N - 10| have twice the chance, but p of a side is not half of p."""
    y, p = (np.arange(20) < 6).astype(int), np.full(20, 0.3)
    both, over, under = (ask(y, p, side, "mean", n_resamples=1999).pvalue for side in (None, *SIDES))
    assert both == 1  # exactly as many as expected
    assert over == pytest.approx(binom.cdf(6, 20, 0.3), abs=0.06)
    assert under == pytest.approx(binom.sf(5, 20, 0.3), abs=0.06)
    assert over + under > 1.1
