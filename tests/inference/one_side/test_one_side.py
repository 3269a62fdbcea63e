"""What a test of one side says: some, and never all or on average; its limit by closed laws; and what is not shown."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows
from scipy.stats import binom, binomtest

import calibstat as cs
from calibstat.bounds.number_of_events import smallest_mean
from calibstat.inference.one_side import Events, EventsInRange, next_step
from calibstat.measures.kinds.one_sided import one_side_of

SIDES = ("over", "under")
NAMES = ("omnibus", "mean", "ks", "kuiper", "ece")
WORDS = {"over": ("too high", "too low"), "under": ("too low", "too high")}
ALL_OF_THEM = re.compile(r"(?<!some )(?<!any )predictions (are|average)[^.]* too (high|low)", re.IGNORECASE)


def events_of(sample, side, measure="mean", found=True):
    return Events.of(sample, one_side_of(cs.MEASURES[measure](), side), found=found)


def wrong(side, n=400):
    """Rows of which those above 1/2 are wrong to this side, and the others not: by .25."""
    p = (np.arange(n) + 0.5) / n
    rng = np.random.default_rng(3)
    return (rng.random(n) < np.clip(p + np.where(p > 0.5, 0.25, 0) * (1 if side == "under" else -1), 0, 1)).astype(
        int
    ), p


def said(result):
    return "\n".join([result.answer, result.next_step, str(result)])


# --- counted by hand -------------------------------------------------------------------------------------------------


def test_events_by_hand():
    # .2 + .3 + .9 = 1.4 expected, one observed
    found = events_of(cs.Sample.from_rows([0, 1, 0], [0.2, 0.3, 0.9]), "over")
    assert (found.rows, found.observed) == (3, 1)
    assert found.expected == pytest.approx(1.4)
    assert found.by_number
    assert found.where is None


def test_range_by_hand():
    """No event of 2 rows at .8 and .9, and others as expected: by `ks` the end of the range has 1.7 events too few."""
    y, p = [1, 0, 0, 0], [0.4, 0.5, 0.8, 0.9]
    where = events_of(cs.Sample.from_rows(y, p), "over", "ks").where
    assert (where.low, where.high, where.rows, where.observed) == (0.5, 0.9, 3, 0)
    assert where.expected == pytest.approx(2.2)  # .5 of the second row too
    assert events_of(cs.Sample.from_rows(y, p), "over", "ks", found=False).where is None
    under = events_of(cs.Sample.from_rows(y, p), "under", "ks").where
    assert (under.low, under.high, under.rows, under.observed) == (0.4, 0.4, 1, 1)


@given(rows())
def test_both_sides_count_the_same_events(data):
    sample = cs.Sample.from_rows(*data)
    over, under = (events_of(sample, side) for side in SIDES)
    assert (over.rows, over.expected, over.observed) == (under.rows, under.expected, under.observed)
    assert not (over.at_least and under.at_least)
    assert min(over.at_least, under.at_least) == 0


# --- the limit -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows_", "events", "mean"), [(40, 3, 0.3), (40, 20, 0.3), (200, 0, 0.05), (7, 7, 0.2)])
def test_limit_is_one_less_the_smallest_mean_of_the_other_outcome(rows_, events, mean):
    sample = cs.Sample.from_counts([mean], [rows_], [events])
    over, under = (events_of(sample, side).at_least for side in SIDES)
    largest = 1 - smallest_mean(np.array(float(rows_ - events)), np.array(float(rows_)), 0.05)
    smallest = smallest_mean(np.array(float(events)), np.array(float(rows_)), 0.05)
    assert over == pytest.approx(max(mean - largest, 0), abs=1e-12)
    assert under == pytest.approx(max(smallest - mean, 0), abs=1e-12)
    if rows_ - events >= 2 and over > 0:  # then it is the limit of Clopper and Pearson, at the whole level
        high = binomtest(events, rows_).proportion_ci(0.9, "exact").high
        assert over == pytest.approx(mean - high, abs=1e-9)


def law(q):
    found = np.ones(1)
    for each in q:
        found = np.convolve(found, [1 - each, each])
    return found


def test_limit_holds_for_any_true_probabilities():
    """Enumerated over the number of events: it is above the true excess of the mean with probability of at most .05."""
    rng, most = np.random.default_rng(4), 0.0
    for _ in range(150):
        n = int(rng.integers(1, 9))
        v = rng.random() if rng.random() < 0.5 else rng.choice([0.001, 0.9, 0.99])
        q = rng.choice([rng.random(n), np.append(0.0499, np.zeros(n - 1)), np.full(n, rng.random())])
        chance = law(q)
        for side, sign in (("over", 1), ("under", -1)):
            truth = sign * (v - q.mean())
            limits = [events_of(cs.Sample.from_counts([v], [n], [s]), side).at_least for s in range(n + 1)]
            missed = chance[np.array(limits) > max(truth, 0) + 1e-12].sum()
            most = max(most, missed)
    assert 0.04 < most <= 0.05 + 1e-12


def test_half_at_01_and_half_at_99_with_truth_one_half():
    """The mean prediction is right, and its test says that some are too high in .31: so no limit says more than that.

    Drawn events have the law of Bin(50, .01) + Bin(50, .99), and the true ones that of Bin(100, 1/2).
    """
    drawn = np.convolve(binom.pmf(np.arange(51), 50, 0.01), binom.pmf(np.arange(51), 50, 0.99))
    true, p = binom.pmf(np.arange(101), 100, 0.5), np.cumsum(drawn)
    assert true[p <= 0.05].sum() == pytest.approx(0.31, abs=0.005)
    limits = [
        events_of(cs.Sample.from_counts([0.01, 0.99], [50, 50], [max(s - 50, 0), min(s, 50)]), "over").at_least
        for s in range(101)
    ]
    assert true[np.array(limits) > 0].sum() <= 0.05
    found = cs.calibration_test(np.tile([0, 1], 50), np.repeat([0.01, 0.99], 50), side="over", measure="mean", rng=1)
    few = cs.calibration_test(
        cs.Sample.from_counts([0.01, 0.99], [50, 50], [22, 22]), side="over", measure="mean", rng=1, n_resamples=199
    )
    assert found.pvalue > 0.3
    assert few.pvalue <= 0.05
    assert few.answer.startswith("Some predictions are too high (p = ")
    assert "mean prediction" not in few.answer
    assert few.events.at_least == 0


@pytest.mark.parametrize(
    "about", [{"sample_weight": 1 + np.arange(400) % 2}, {"cluster": np.arange(400) // 2}], ids=str
)
def test_no_limit_of_weights_or_clusters(about):
    y, p = np.zeros(400, int), np.full(400, 0.3)
    found = cs.calibration_test(y, p, side="over", measure="mean", n_resamples=99, rng=1, **about)
    assert found.pvalue <= 0.05
    assert found.events.at_least is None
    assert "mean prediction" not in str(found)


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("truth", SIDES)
def test_some_or_any_and_never_all_or_on_average(measure, side, truth):
    y, p = wrong(truth)
    text = said(cs.calibration_test(y, p, side=side, measure=measure, n_resamples=99, rng=1))
    assert not ALL_OF_THEM.search(text)
    assert "average" not in text
    if side == truth:
        assert text.startswith(f"Some predictions are {WORDS[side][0]}")
        assert f"side fixed beforehand: {side}" in text
        assert "not looked for" not in text
    else:
        assert text.startswith(f"It is not shown that any predictions are {WORDS[side][0]}")
        assert f"Predictions that are {WORDS[side][1]} were not looked for." in text
        assert f'side="{side}"' in text


def test_the_pattern_finds_planted_sentences():
    for planted in (
        "Predictions are too high.",
        "so predictions are on average too low",
        "The predictions are too high",
    ):
        assert ALL_OF_THEM.search(planted)
    for right in (
        "Some predictions are too high",
        "that any predictions are too low (p = 1). Predictions that are too",
    ):
        assert not ALL_OF_THEM.search(right)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("measure", ["omnibus", "ks", "kuiper", "ece"])
def test_the_range_is_called_overstated_and_has_no_percentage_difference_or_limit(measure, side):
    y, p = wrong(side)
    found = cs.calibration_test(y, p, side=side, measure=measure, n_resamples=99, rng=1)
    line = next(line for line in str(found).splitlines() if line.startswith("Largest deviation"))
    assert line.startswith("Largest deviation, chosen for being largest and hence overstated: predictions 0.")
    assert re.fullmatch(
        r".*: predictions [\d.]+( to [\d.]+)?, \d+ rows?, [\d.,]+ events expected, [\d,]+ observed\.", line
    )
    for word in ("%", "point", "differ", "too ", "limit", "confidence", "interval", "excess", "−", "+"):
        assert word not in line
    where = found.events.where
    assert 0 <= where.low <= where.high <= 1
    inside = (p >= where.low) & (p <= where.high)
    assert (where.rows, where.observed) == (inside.sum(), y[inside].sum())
    assert where.expected == pytest.approx(p[inside].sum())


def test_the_mean_has_its_events_and_no_range():
    y, p = wrong("over")
    lines = cs.calibration_test(y, p, side="over", measure="mean", n_resamples=99, rng=1).answer.splitlines()
    events = f"{p.sum():,.1f} expected, {y.sum()} observed"
    assert (
        lines[0]
        == f"Some predictions are too high (p = 0.01, by the number of events: {events}; side fixed beforehand: over)."
    )
    assert len(lines) == 2
    assert re.fullmatch(r"The mean prediction is at least [\d.]+ points too high \(95 % confidence\)\.", lines[1])


def test_not_found_asks_for_a_margin_on_the_same_side():
    text = next_step("under", 0.4, "rows")
    assert 'calibstat.equivalence_test(y, p, margin=0.05, side="under")' in text
    assert "does not show that none is too low" in text
    assert "equivalence_test" not in next_step("under", 0.4, "clusters")  # a test by bins takes no clusters
    assert 'calibstat.audit(y, p, groups, side="over")' in next_step("over", 0.05, "rows")
    assert "audit" not in next_step("over", 0.05, "clusters")


def test_what_is_named_can_be_called():
    """The calls that next steps name, with these arguments."""
    y, p = wrong("over")
    for side in SIDES:
        assert cs.equivalence_test(y, p, margin=0.05, side=side).side == side
        assert cs.audit(y, p, np.arange(400) < 200, side=side, n_resamples=19, rng=1).side == side


@given(
    ends=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    counts=st.tuples(st.integers(1, 10**15), st.floats(0, 1), st.floats(0, 1)),
)
def test_any_range_is_written(ends, counts):
    low, high = sorted(ends)
    n, mean, share = counts
    text = str(EventsInRange(low, high, float(n), n * mean, float(round(n * share))))
    assert text.startswith("predictions ")
    assert not re.search(r"nan|inf|e[-+]\d", text.replace("expected", ""))


@pytest.mark.parametrize("measure", NAMES)
def test_results_are_written_and_saved(measure):
    y, p = wrong("over")
    found = cs.calibration_test(y, p, side="over", measure=measure, n_resamples=99, rng=1)
    saved = found.to_dict()
    assert saved["side"] == "over"
    assert saved["events.observed"] == y.sum()
    assert len(found.to_frame()) == 1
    assert found.headline == ("side", "events.expected", "events.observed", "pvalue")
    assert found.size is None
    assert found.deviation is None


def test_rows_on_which_a_range_is_not_of_the_other_rows_have_none():
    """The one impossible row alone rejects: no range is named, and the row is."""
    y, p = np.append(0, np.tile([0, 1], 50)), np.append(1.0, np.full(100, 0.5))
    found = cs.calibration_test(y, p, side="over", n_resamples=99, rng=1)
    assert found.pvalue == 0.01
    assert found.events.where is None
    assert "1 row was predicted to be impossible and happened (row 0); without rows predicted 0 or 1 p = 1" in str(
        found
    )
