"""Audits of one side: their promise by enumeration, limits of one end each, what they print, and samples as rows."""

import json
import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest

import calibstat as cs
from calibstat.bounds.number_of_events import smallest_mean
from calibstat.inference.auditing.group_statistic import GroupRoots, Strata
from calibstat.inference.p_values import step_down

SIDES = ("over", "under")
SIGN = {"over": -1, "under": 1}
LABELS = np.array([*product((0, 1), repeat=4)])
MASKS = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]], bool)
RIGHT = ~MASKS[:, 0]  # the groups without the first row, which is wrong


# --- theorem 3 by enumeration ----------------------------------------------------------------------------------------


def adjusted_of_all_labels(v, side):
    """The adjusted p-values of all labels of four rows, from every label as often as its chance says.

    Predictions are quarters, so that 4^4 = 256 draws hold each label exactly as often.
    """
    strata = Strata.of(v, np.ones(4), 1)
    statistic = GroupRoots.of(v, np.ones(4), strata, MASKS, False, side)
    positives = np.stack(
        [[np.bincount(strata.stratum, mask * label, strata.size) for mask in MASKS] for label in LABELS]
    )
    largest = statistic.largest(statistic(positives))
    times = np.rint(np.prod(np.where(LABELS == 1, v, 1 - v), axis=1) * 256).astype(int)
    return np.stack([step_down(each, np.repeat(largest, times, axis=0)) for each in largest])


def law_with_a_wrong_row(rng, v, side):
    """The first row is wrong to this side, and its outcome moves those of the others, which are right or beyond."""
    far = float(side == "over")
    wrong = v[0] * rng.random() if side == "over" else v[0] + (1 - v[0]) * rng.random()
    law = np.where(LABELS[:, 0] == 1, wrong, 1 - wrong)
    for i in 1 + rng.permutation(3):
        share = rng.choice([0, 0, 0.5, 1, rng.random()], 2)[LABELS[:, 0]]  # by what the first row was
        q = v[i] + share * (far - v[i])
        law = law * np.where(LABELS[:, i] == 1, q, 1 - q)
    return law


def excess(side, asked, tries=12, laws=12):
    """The largest P(a group whose rows are all right or beyond has an adjusted p of at most a) - a."""
    rng, most = np.random.default_rng(5), -1.0
    for _ in range(tries):
        v = np.sort(rng.choice([0, 1, 2, 2, 3, 4], 4)) / 4
        if not 0 < v[0] < 1:
            v[0] = 0.5
        v = np.sort(v)
        p = adjusted_of_all_labels(v, asked)[:, RIGHT].min(axis=1)
        for _ in range(laws):
            law = law_with_a_wrong_row(rng, v, side)
            most = max(most, *(law[p <= a].sum() - a for a in p))
    return most


@pytest.mark.parametrize("side", SIDES)
def test_no_group_that_is_right_or_beyond_is_found_too_often(side):
    assert excess(side, side) <= 1e-12


@pytest.mark.parametrize("side", SIDES)
def test_roots_of_both_sides_would_find_them(side):
    """Planted fault: rows beyond what is predicted are as surprising as rows short of it."""
    assert excess(side, None) > 0.2


@pytest.mark.parametrize("side", SIDES)
def test_an_outcome_that_the_side_forbids_makes_its_groups_infinite_and_the_other_no_evidence(side):
    p = np.array([0.0, 0.5, 0.5, 1.0] * 20)
    y = (p + 0.5).astype(int) * (p > 0)
    y[[1, 5, 9, 13, 17, 21, 25, 29, 33, 37]] = 0
    zero, one = p == 0, p == 1
    groups = {"zeros": zero, "ones": one, "halves": p == 0.5}
    y[0], y[3] = 1, 0  # both impossible, each on one side
    found = cs.audit(y, p, groups, side=side, n_resamples=99, rng=1)
    at = {name: k for k, name in enumerate(found.names)}
    bad, allowed = ("ones", "zeros") if side == "over" else ("zeros", "ones")
    assert found.root[at[bad]] == found.root[0] == SIGN[side] * np.inf
    assert found.pvalue_adjusted[at[bad]] == 0.01
    assert found.root[at[allowed]] == 0
    assert found.pvalue_adjusted[at[allowed]] == 1
    assert found.impossible.number[[0, at[bad], at[allowed], at["halves"]]].tolist() == [1, 1, 0, 0]
    assert found.impossible.first == (3 if side == "over" else 0)
    assert np.isfinite(found.root[at["halves"]])


def test_only_what_the_other_side_forbids_is_not_mentioned():
    y, p = np.append(1, np.tile([0, 1], 40)), np.append(0.0, np.full(80, 0.5))
    found = cs.audit(y, p, np.arange(81) < 41, side="over", n_resamples=99, rng=1)
    assert found.impossible is None
    assert "impossible" not in str(found)
    assert cs.audit(y, p, np.arange(81) < 41, side="under", n_resamples=99, rng=1).impossible.first == 0


# --- limits ----------------------------------------------------------------------------------------------------------


def rows_of(side, n=600):
    """Rows of group a wrong to this side by .2, and of others right; b overlaps, and c is right."""
    rng = np.random.default_rng(2)
    p, k = 0.3 + 0.4 * rng.random(n), np.arange(n)
    a = k < 200
    y = (rng.random(n) < p + 0.2 * SIGN[side] * a).astype(int)
    return y, p, {"a": a, "b": k % 2 == 0, "c": k >= 400}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_each_limit_has_the_whole_level_divided_by_the_groups(side, level):
    """Of Clopper and Pearson at alpha / G; planted: at alpha / 2G, as of both sides, they are further away."""
    y, p, groups = rows_of(side)
    found = cs.audit(y, p, groups, side=side, confidence_level=level, n_resamples=19, rng=1)
    both = cs.audit(y, p, groups, confidence_level=level, n_resamples=19, rng=1)
    inside = [np.ones(600, bool), *groups.values()]
    for g, mask in enumerate(inside):
        ones, rows = int(y[mask].sum()), int(mask.sum())
        ends = binomtest(ones, rows).proportion_ci(1 - 2 * (1 - level) / 4, "exact")  # the other end has its own
        predicted = p[mask].mean()
        if side == "over":
            assert found.high[g] == pytest.approx(ends.high - predicted, abs=1e-9)
            assert found.high[g] < both.high[g] - 1e-4
        else:
            assert found.low[g] == pytest.approx(ends.low - predicted, abs=1e-9)
            assert found.low[g] > both.low[g] + 1e-4
    assert (found.low is None, found.high is None) == (side == "over", side == "under")
    assert (found.ratio_low is None, found.ratio_high is None) == (side == "over", side == "under")
    assert found.beyond is None
    assert found.slope is None


def test_limits_of_no_event_and_of_one():
    """None of 50: the mean is at most 1 - .025^(1/50) of two groups; of one event Markov's inequality is the larger."""
    y, p = np.zeros(100, int), np.full(100, 0.3)
    found = cs.audit(y, p, np.arange(100) < 50, side="over", n_resamples=19, rng=1)
    assert found.high[1] == pytest.approx(1 - 0.025 ** (1 / 50) - 0.3, abs=1e-12)
    y[0] = 1
    found = cs.audit(y, p, np.arange(100) < 50, side="under", n_resamples=19, rng=1)
    assert found.low[1] == pytest.approx(0.025 / 50 - 0.3, abs=1e-12)
    assert found.low[0] == pytest.approx(smallest_mean(np.array(1.0), np.array(100.0), 0.025) - 0.3, abs=1e-12)


def test_limits_hold_at_once():
    """200 data sets with unequal true probabilities; all limits hold but in at most 5 %, within a 1e-6 limit."""
    rng = np.random.default_rng(11)
    v, q = rng.random(90), rng.random(90)
    groups = np.arange(90)[:, None] % 3 == np.arange(3)
    truth = np.array([(q - v)[mask].mean() for mask in (np.ones(90, bool), *groups.T)])
    missed = {"over": 0, "under": 0}
    for _ in range(200):
        y = (rng.random(90) < q).astype(int)
        for side in SIDES:
            found = cs.audit(y, v, groups, side=side, n_resamples=1, rng=1)
            missed[side] += bool((found.high < truth).any() if side == "over" else (found.low > truth).any())
    assert max(missed.values()) <= binom.ppf(1 - 1e-6, 200, 0.05)


# --- what is said ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
def test_words_of_a_found_group(side):
    y, p, groups = rows_of(side)
    found = cs.audit(y, p, groups, side=side, n_resamples=199, rng=1)
    too, other = ("too high", "too low") if side == "over" else ("too low", "too high")
    assert "a" in [found.names[g] for g in found.found]
    a = found.names.index("a")
    assert re.search(rf"; the mean prediction is at least [\d.]+ points {too}$", found.sentence(a))
    assert found.answer.endswith(
        f"have some predictions that are {too}:"
    ) or f"has some predictions that are {too}:" in str(found)
    text = str(found)
    assert f"any group whose predictions are right or {other} is at most 5 %" in text
    assert "all limits hold at once with 95 % confidence" in text
    assert f"side fixed beforehand: {side}" in text
    assert "interval" not in text
    assert "between" not in text
    assert "average" not in text
    least = {"over": "at least", "under": "at most"}[side]
    assert text.splitlines()[-1] == (
        "Null hypothesis: given the predictions and the groups of all rows, outcome 1 is observed in every row "
        f"independently with {least} its predicted probability (exact)."
    )


def test_words_where_nothing_is_found():
    y, p, groups = rows_of("over")
    found = cs.audit(y, p, groups, side="under", n_resamples=199, rng=1)
    assert found.found.size == 0
    assert found.answer.startswith("It is not shown that any predictions of any of 4 groups are too low (600 rows). ")
    assert "Predictions that are too high were not looked for." in found.answer
    assert "it is not shown that any of its predictions are too low" in found.sentence(0)


def test_a_group_whose_limit_shows_nothing_has_some_wrong_predictions():
    """Rows at .01 and .99 with 26 events of 60, where 30 are expected with a standard deviation of .8.

    The mean of .43 is compatible with .5 for any probabilities, and the labels are not with these predictions.
    """
    p = np.repeat([0.01, 0.99], 30)
    y = np.append(np.arange(30) < 12, np.arange(30) < 14).astype(int)
    found = cs.audit(y, p, {"all but one": np.arange(60) > 0}, side="over", n_resamples=99, rng=1)
    assert 0 in found.found
    assert found.high[0] > 0
    assert found.claim(0) == "some of its predictions are too high"


@pytest.mark.parametrize("side", SIDES)
def test_table_and_saved_form(side):
    y, p, groups = rows_of(side)
    found = cs.audit(y, p, groups, side=side, n_resamples=99, rng=1)
    end, none = ("high", "low") if side == "over" else ("low", "high")
    columns = ["group", "rows", "predicted", "observed", "error", end, "ratio", f"ratio_{end}", "root"]
    frame = found.to_frame()
    assert [*frame] == [*columns, "pvalue", "pvalue_adjusted"]
    assert frame.pvalue_adjusted.is_monotonic_increasing
    saved = json.loads(json.dumps(found.to_dict()))
    assert saved["side"] == side
    assert saved[none] is None
    assert saved["beyond"] is None
    assert saved["slope"] is None
    assert len(saved[end]) == 4


@pytest.mark.parametrize("side", SIDES)
def test_a_report_says_the_same_sentences(side):
    y, p, groups = rows_of(side)
    found = cs.audit(y, p, groups, side=side, n_resamples=99, rng=1)
    assert found.beyond_found == 0
    assert found.beyond_sentences == []
    assert found.sentences == [found.answer, *(f"{found.sentence(g)}." for g in found.found)]
    low, high = found.drawn
    assert np.all(low <= found.error)
    assert np.all(found.error <= high)


# --- designs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
def test_slopes_have_no_side(side):
    y, p, groups = rows_of(side)
    samples = {key: cs.Sample.from_rows(y[mask], p[mask]) for key, mask in groups.items()}
    with pytest.raises(ValueError, match=f"expected shape=False beside side='{side}'"):
        cs.audit(y, p, groups, side=side, shape=True)
    with pytest.raises(ValueError, match=f"expected shape=False beside side='{side}'"):
        cs.audit_samples(samples, side=side, shape=True)
    for bad in ("both", "Over", 1, ["over"]):
        with pytest.raises(ValueError, match="expected side None, 'over'"):
            cs.audit(y, p, groups, side=bad)
        with pytest.raises(ValueError, match="expected side None, 'over'"):
            cs.audit_samples(samples, side=bad)


@pytest.mark.parametrize("side", SIDES)
def test_rows_and_samples_agree(side):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"p": rng.choice([0.0, 0.2, 0.5, 0.9, 1.0], 900), "site": np.array(["a", "b", "c"])[np.arange(900) % 3]}
    )
    chance = np.clip(frame.p + SIGN[side] * 0.15 * (frame.site == "b"), 0, 1)
    frame["y"] = (rng.random(900) < chance).astype(int)
    of_rows = cs.audit(frame.y, frame.p, frame[["site"]], side=side, n_resamples=499, rng=1)
    counted = cs.audit_samples(
        cs.Sample.from_frame(frame, "y", "p", by="site"), "site", side=side, n_resamples=499, rng=1
    )
    assert counted.names == of_rows.names
    assert (counted.side, counted.beyond, counted.slope) == (side, None, None)
    for name in ("rows", "predicted", "observed", "error", "root", "high" if side == "over" else "low"):
        assert getattr(counted, name) == pytest.approx(getattr(of_rows, name), rel=1e-9, abs=1e-12), name
    assert np.abs(counted.pvalue - of_rows.pvalue).max() < 5 * np.sqrt(0.5 / 499)
    assert np.array_equal(counted.impossible.number, of_rows.impossible.number)
    assert str(counted.null_hypothesis) == str(of_rows.null_hypothesis)


@pytest.mark.parametrize("side", SIDES)
def test_order_of_rows_and_threads_change_no_p_value(side):
    y, p, groups = rows_of(side)
    first = cs.audit(y, p, groups, side=side, n_resamples=99, rng=1)
    order = np.random.default_rng(3).permutation(y.size)
    moved = {name: mask[order] for name, mask in groups.items()}
    for again in (
        cs.audit(y[order], p[order], moved, side=side, n_resamples=99, rng=1),
        cs.audit(y, p, groups, side=side, n_resamples=99, rng=1, n_jobs=2),
    ):
        assert np.array_equal(again.pvalue, first.pvalue)
        assert np.array_equal(again.pvalue_adjusted, first.pvalue_adjusted)


def test_both_sides_together_are_as_before():
    y, p, groups = rows_of("over")
    found = cs.audit(y, p, groups, n_resamples=99, rng=1)
    over, under = (cs.audit(y, p, groups, side=side, n_resamples=99, rng=1) for side in SIDES)
    assert found.side is None
    assert found.low is not None
    assert found.beyond is not None
    for one in (over, under):
        assert np.array_equal(one.root, found.root)
    half = np.minimum(over.pvalue, under.pvalue)  # the p-value of a side is not half of that of both, but about
    assert np.all(half <= found.pvalue + 1e-12)
    assert np.all(over.pvalue + under.pvalue >= 1)
