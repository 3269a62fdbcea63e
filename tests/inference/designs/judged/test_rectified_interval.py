"""Intervals from few labels and a judge: coverage for any judge, width, what breaks it, and what results say."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.study import most_rejections

ASKED = {"n_resamples": 99, "rng": 1}
VALUE = np.arange(1, 20) / 20
JUDGES = {
    "right 90 %": lambda y, p, random: np.where(random.random(y.size) < 0.9, y, 1 - y),
    "adversarial": lambda y, p, random: 1 - y,
    "reversed below .5": lambda y, p, random: np.where(p < 0.5, 1 - y, y),
    "wrong where unseen": lambda y, p, random: np.where(random.random(y.size) < 0.02, 1.0, y),
}


def data(seed, judge="right 90 %", n=1000, labels=100, power=1.6):
    random = np.random.default_rng([7, seed])
    p = VALUE[random.integers(0, 19, n)]
    y = (random.random(n) < p**power) * 1.0
    f = JUDGES[judge](y, p, random)
    return np.where(random.permutation(n) < labels, y, np.nan), p, f


TRUTH = {
    name: cs.estimate(cs.Sample.from_counts(VALUE, np.full(19, 1.0), VALUE**1.6), measure=name)
    for name in ("ks", "ece")
}


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("measure", ["ks", "ece"])
def test_the_truth_is_held_whatever_the_judge(measure, judge):
    """80 data sets: misses of one side of at most .035, by an exact limit with a false alarm of 1e-4 each."""
    found = [
        cs.confidence_interval(y, p, judge=cs.Judge(f), measure=measure, **ASKED | {"rng": s})
        for s, (y, p, f) in ((s, data(s, judge)) for s in range(80))
    ]
    limit = most_rejections(0.035, 80, 5e-5)
    assert sum(each.low > TRUTH[measure] for each in found) <= limit
    assert sum(each.high < TRUTH[measure] for each in found) <= limit
    assert np.mean([each.high - each.low for each in found]) < np.mean(
        [each.rows.labels_only.high - each.rows.labels_only.low for each in found]
    )


def test_the_judge_taken_for_the_truth_is_a_planted_fault():
    """An adversarial judge's answers in place of labels: the truth is missed always."""
    missed = 0
    for seed in range(20):
        _, p, f = data(seed, "adversarial")
        found = cs.confidence_interval(f, p, measure="ks", **ASKED | {"rng": seed})
        missed += not found.low <= TRUTH["ks"] <= found.high
    assert missed > most_rejections(0.05, 20, 1e-4)


def test_a_judge_that_saw_the_labels_is_one_too():
    """Answers that are the outcomes of labelled rows, and worse elsewhere: the mean is missed, and nothing shows it."""
    missed = 0
    for seed in range(40):
        random = np.random.default_rng([8, seed])
        p, labelled = VALUE[random.integers(0, 19, 2000)], random.permutation(2000) < 300
        y = (random.random(2000) < p**1.6) * 1.0
        tuned = np.where(random.random(2000) < np.where(labelled, 1.0, 0.7), y, np.where(y == 1, 0, 1))
        few = np.where(labelled, y, np.nan)
        found = cs.confidence_interval(few, p, judge=cs.Judge(tuned), measure="ks", **ASKED | {"rng": seed})
        missed += not found.low <= TRUTH["ks"] <= found.high
    assert missed > most_rejections(0.05, 40, 1e-4)


def test_what_the_result_says():
    y, p, f = data(1)
    result = cs.confidence_interval(y, p, judge=cs.Judge(f), measure="ks", **ASKED)
    text, rows = str(result), result.rows
    assert (result.n, rows.n, rows.labelled) == (1000, 1000, 100)
    assert result.method == "rectified"
    assert rows.is_judge_used
    assert len(rows.slopes) == 4
    assert 0 < rows.share < 1
    assert rows.equivalent_labels == pytest.approx(100 / (rows.share + 0.1 * (1 - rows.share)))
    assert 0 < rows.design_pvalue <= 1
    assert f"Labels alone: [{rows.labels_only.low:.4g}, {rows.labels_only.high:.4g}]" in text
    assert f"worth about {round(rows.equivalent_labels)} labels" in text
    assert "tuned on the labelled rows" in text
    assert "for the labels, not the judge's answers" in result.estimand
    known = ~np.isnan(y)
    alone = cs.confidence_interval(y[known], p[known], measure="ks", **ASKED)
    assert rows.labels_only.high == pytest.approx(alone.high)
    written = result.to_dict()
    assert written["rows.labels_only.high"] == rows.labels_only.high
    assert written["rows.share"] == rows.share


def test_few_events_leave_the_judge_out():
    y, p, f = data(1)
    rare = p / 12
    few = np.where(np.isnan(y), np.nan, (np.nan_to_num(y) == 1) & (np.arange(1000) % 12 == 0))
    result = cs.confidence_interval(few, rare, judge=cs.Judge(f), measure="ks", **ASKED)
    assert not result.rows.is_judge_used
    assert result.rows.slopes == (0.0, 0.0, 0.0, 0.0)
    assert result.estimate == pytest.approx(result.rows.labels_only.estimate)
    assert result.high == pytest.approx(result.rows.labels_only.high)
    assert "The judge is not used" in str(result)


@pytest.mark.parametrize(
    "measure", ["ks", "kuiper", "kernel_ce", "smooth_ce", "ece", "two_bin_ce", "random_interval_ce"]
)
def test_every_norm_is_answered_with_chances_and_clusters(measure):
    y, p, f = data(2)
    chances = cs.Judge(f, inclusion=np.full(1000, 0.1))
    for more in ({}, {"judge": chances}, {"cluster": np.arange(1000) // 4}):
        result = cs.confidence_interval(y, p, **{"judge": cs.Judge(f), **more}, measure=measure, **ASKED)
        assert 0 <= result.low <= result.high <= 1
        assert result.high > result.estimate / 3
    gaussian = cs.confidence_interval(y, p, judge=cs.Judge(f), measure="kernel_ce", kernel="gaussian", **ASKED)
    assert gaussian.low <= gaussian.high


def test_chances_repair_rows_that_were_chosen():
    """Rows with answer 1 are labelled four times as often: with the chances the truth is held, without it is missed."""
    held = wrong = 0
    for seed in range(40):
        random = np.random.default_rng([9, seed])
        p = VALUE[random.integers(0, 19, 2000)]
        y = (random.random(2000) < p**1.6) * 1.0
        f = np.where(random.random(2000) < 0.9, y, 1 - y)
        chance = np.where(f == 1, 0.2, 0.05)
        few = np.where(random.random(2000) < chance, y, np.nan)
        right = cs.confidence_interval(
            few, p, judge=cs.Judge(f, inclusion=chance), measure="ks", **ASKED | {"rng": seed}
        )
        held += right.low <= TRUTH["ks"] <= right.high
        taken = cs.confidence_interval(
            few, p, judge=cs.Judge(np.full(2000, 0.5)), measure="ks", **ASKED | {"rng": seed}
        )
        wrong += not taken.low <= TRUTH["ks"] <= taken.high
    assert 40 - held <= most_rejections(0.06, 40, 1e-4) < wrong
