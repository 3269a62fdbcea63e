"""Equivalence of one side: its level by the binomial law, both sides as the worse of the two, and what is said."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows
from scipy.stats import binom, binomtest

import calibstat as cs
from calibstat.inference.equivalence import equivalence_test

SIDES = ("over", "under")
ASIDE = {"over": "below", "under": "above"}
MARGIN = st.sampled_from([0.01, 0.05, 0.3, 0.5, 0.9])
BINS = st.sampled_from([1, 2, 5, None])


def counted(n, events, prediction):
    return cs.Sample.from_counts([prediction], [n], [events])


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_by_hand():
    """20 rows at .5 with 10 events and margin .25: P(Bin(20, .25) >= 10) and P(Bin(20, .75) <= 10) are both .0139."""
    for side in SIDES:
        found = equivalence_test(counted(20, 10, 0.5), margin=0.25, side=side)
        assert found.pvalue == pytest.approx(0.013864, abs=1e-6)
        assert found.claimed
    # none of 20 at .01: nothing is too low by more than .1391 - .01, and nothing too high by more than .01
    low, high = (equivalence_test(counted(20, 0, 0.01), margin=0.1, side=side) for side in ("under", "over"))
    assert low.limit == pytest.approx(1 - 0.05 ** (1 / 20) - 0.01, abs=1e-12)
    assert low.pvalue == pytest.approx(0.89**20, abs=1e-12)
    assert (high.limit, high.pvalue) == (pytest.approx(0.01), 0)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("n", "mean", "margin"), [(30, 0.5, 0.1), (30, 0.2, 0.05), (200, 0.9, 0.05), (7, 0.5, 0.3)])
def test_p_value_and_limit_are_those_of_the_binomial_law(n, mean, margin, side):
    """Of one bin of equal predictions, from an observed mean on that is not beyond the margin."""
    for events in range(n + 1):
        found = equivalence_test(counted(n, events, mean), margin=margin, side=side)
        s, edge = (events, mean - margin) if side == "over" else (n - events, 1 - mean - margin)
        if s >= n * edge + 1 or s <= 1:
            exact = 1.0 if s == 0 else binom.sf(s - 1, n, max(edge, 0))
            assert found.pvalue == pytest.approx(max(exact, min(n * edge, 1)) if s == 1 else exact, abs=1e-12)
        if s >= 2:
            ends = binomtest(s, n).proportion_ci(0.9, "exact")  # each end at the whole level
            expected = (mean if side == "over" else 1 - mean) - ends.low
            assert found.limit == pytest.approx(max(expected, 0.0), abs=1e-9)
        assert found.claimed == (found.limit <= margin)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("n", [5, 40, 300])
def test_the_level_by_the_exact_law(n, side):
    """The mean probability is at the margin: P(p <= a) <= a for every a, and for a of .05 hardly below."""
    mean, margin, most = 0.5, 0.1, 0.0
    q = mean - margin if side == "over" else mean + margin
    found = [equivalence_test(counted(n, s, mean), margin=margin, side=side) for s in range(n + 1)]
    chance, p = binom.pmf(np.arange(n + 1), n, q), np.array([each.pvalue for each in found])
    for a in p:
        assert chance[p <= a * (1 + 1e-9)].sum() <= a + 1e-12
    claimed = np.array([each.claimed for each in found])
    assert chance[claimed].sum() <= 0.05
    most = max(most, chance[claimed].sum())
    assert most > 0.02 or n == 5


@pytest.mark.parametrize("side", SIDES)
def test_an_error_of_the_other_side_does_not_matter(side):
    """All predictions are off by .3 to the other side, which is shown to be no error of this one."""
    p, k = np.full(400, 0.5), np.arange(400)
    y = (k % 10 < 8).astype(int) if side == "over" else (k % 10 < 2).astype(int)
    assert equivalence_test(y, p, margin=0.01, side=side).claimed
    other = "under" if side == "over" else "over"
    assert not equivalence_test(y, p, margin=0.2, side=other).claimed
    assert not equivalence_test(y, p, margin=0.2).claimed


@given(data=rows(), margin=MARGIN, n_bins=BINS)
def test_both_sides_are_the_worse_of_the_two(data, margin, n_bins):
    both, over, under = (equivalence_test(*data, margin=margin, n_bins=n_bins, side=side) for side in (None, *SIDES))
    assert both.pvalue == max(over.pvalue, under.pvalue)
    assert both.limit == max(over.limit, under.limit)
    assert both.claimed == (over.claimed and under.claimed)
    assert np.array_equal(both.low, over.low)
    assert np.array_equal(both.high, under.high)
    assert (over.high, under.low) == (None, None)
    assert max(over.rows_needed, under.rows_needed) <= both.rows_needed


@given(data=rows(), margin=MARGIN, n_bins=BINS)
def test_claim_p_value_and_limit_agree(data, margin, n_bins):
    for side in SIDES:
        found = equivalence_test(*data, margin=margin, n_bins=n_bins, side=side)
        if abs(found.limit - margin) > 1e-9:
            assert found.claimed == (found.pvalue <= 0.05)
        assert 0 <= found.pvalue <= 1
        assert found.limit <= 1
        assert found.rows_needed >= 1
        assert found.count.sum() == data[0].size


@given(data=rows(), margin=MARGIN)
def test_under_is_over_of_the_complement(data, margin):
    y, p = data
    under = equivalence_test(y, p, margin=margin, n_bins=1, side="under")
    over = equivalence_test(1 - y, 1 - p, margin=margin, n_bins=1, side="over")
    assert under.pvalue == pytest.approx(over.pvalue, abs=1e-9)
    assert under.limit == pytest.approx(over.limit, abs=1e-9)


@given(data=rows(), margin=MARGIN, n_bins=BINS, at=st.integers(0, 1000))
def test_an_event_more_is_never_less_evidence_that_none_is_too_high(data, margin, n_bins, at):
    y, p = data
    more = y.copy()
    more[at % y.size] = 1
    few, many = (equivalence_test(each, p, margin=margin, n_bins=n_bins, side="over") for each in (y, more))
    assert many.pvalue <= few.pvalue + 1e-12
    assert many.limit <= few.limit + 1e-12


def test_extreme_rows():
    """Predictions of 0 cannot be too high, those of 1 not too low, whatever was observed."""
    for y in ([0, 0, 0], [1, 1, 1]):
        assert equivalence_test(y, [0.0] * 3, margin=0.01, side="over").claimed
        assert equivalence_test(y, [1.0] * 3, margin=0.01, side="under").claimed
    tiny = equivalence_test([0] * 50, [1e-300] * 50, margin=0.01, side="over")
    assert (tiny.claimed, tiny.pvalue) == (True, 0)
    large = equivalence_test(counted(10**15, 5 * 10**14, 0.5), margin=1e-6, side="over")
    assert large.claimed
    assert 0 < large.limit < 1e-6
    single = np.float32(0.3)
    assert equivalence_test([0, 1], np.full(2, single), side="under").mean_prediction[0] == float(single)


# --- what is said ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
def test_words_of_a_claim(side):
    y = np.arange(1000) % 2
    found = equivalence_test(y, 0.5 + np.linspace(-1e-4, 1e-4, 1000), margin=0.15, side=side)
    first, second, third = str(found).splitlines()
    # 100 of 200: the limit is .0604 from 1/2, and the first (or last) fifth is 8e-5 nearer to it
    assert first == (
        f"Shown: in every fifth of the predictions the outcomes average at most 0.15 {ASIDE[side]} the predictions "
        f"(p = {found.pvalue:.3g}). The smallest margin that these 1,000 rows show is 0.0605."
    )
    assert second == "5 quantile bins, event: outcome 1, n = 1000, confidence level 95 %."
    assert third == (
        "Null hypothesis: in some bin the mean outcome probability is more than 0.15 "
        f"{ASIDE[side]} the mean prediction."
    )
    assert found.side == side


@pytest.mark.parametrize("side", SIDES)
def test_words_without_a_claim(side):
    y, p = cs.generators.calibrated().sample(1000, rng=1)
    text = str(equivalence_test(y, p, side=side))
    assert text.startswith(
        f"Not shown: in every fifth of the predictions the outcomes average at most 0.05 {ASIDE[side]} the predictions."
    )
    assert " Even a calibrated model needs about " in text
    assert 'measure="ece"' not in text  # that has no side
    assert "within" not in text


@pytest.mark.parametrize("side", SIDES)
def test_table_and_saved_form(side):
    y, p = cs.generators.calibrated().sample(500, rng=1)
    found = equivalence_test(y, p, side=side)
    end, none = ("low", "high") if side == "over" else ("high", "low")
    assert [*found.to_frame()] == ["left", "right", "count", "mean_prediction", "frequency", end]
    saved = json.loads(json.dumps(found.to_dict()))
    assert (saved["side"], saved[none], len(saved[end])) == (side, None, 5)
    assert "side" in equivalence_test(y, p).to_dict()


def test_lens_and_order_of_rows():
    label, prob = cs.generators.dirichlet((1, 1, 1)).sample(500, rng=1)
    hit, largest = (prob.argmax(axis=1) == label).astype(int), prob.max(axis=1)
    top = equivalence_test(label, prob, side="over")
    assert str(top.lens) == "lens top_label"
    assert top.pvalue == equivalence_test(hit, largest, side="over").pvalue
    order = np.random.default_rng(1).permutation(500)
    assert equivalence_test(hit[order], largest[order], side="over").to_dict() == (
        equivalence_test(hit, largest, side="over").to_dict()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"measure": "ece"},
            "expected measure='bins' beside side='over', found 'ece': no interval of one side is known",
        ),
        ({"measure": "ks"}, "expected measure='bins' beside side='over', found 'ks'"),
        ({"measure": cs.measures.Mean()}, "expected measure='bins' beside side='over'"),
        ({"side": "Over"}, "expected side None, 'over'"),
        ({"side": True}, "expected side None, 'over'"),
        ({"side": ["over"]}, "expected side None, 'over'"),
        ({"sample_weight": [1, 2]}, "expected independent rows of equal weight for a test by bins, found weights"),
        ({"cluster": [0, 1]}, "expected independent rows of equal weight for a test by bins, found clusters"),
        ({"margin": 0}, "expected margin between 0 and 1"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        equivalence_test([0, 1], [0.2, 0.7], **({"side": "over"} | options))
