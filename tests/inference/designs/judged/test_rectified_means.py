"""Means of losses from few labels: the plain formulas, exactly unbiased, and what they refuse."""

from itertools import combinations

import numpy as np
import pytest
from judged_by import judged_by
from plain_few_labels import guesses, score_reach
from scipy.stats import t

import calibstat as cs
from calibstat.inference.designs.judged import guess as guess_file
from calibstat.inference.designs.judged.judged_in_order import JudgedRows
from calibstat.inference.designs.judged.rectified_means import RectifiedLosses
from calibstat.study import most_rejections

BRIER, LOG = cs.measures.Brier(), cs.measures.LogLoss()
LOSSES = {  # of outcome 0, and of outcome 1
    "brier": lambda p: (p**2, (1 - p) ** 2),
    "log_loss": lambda p: (-np.log(1 - p), -np.log(p)),
}


def data(seed=1, n=400, labels=100, hit=0.9):
    random = np.random.default_rng([11, *np.atleast_1d(seed)])
    p = random.integers(1, 20, n) / 20
    y = (random.random(n) < p**1.4) * 1.0
    f = np.where(random.random(n) < hit, y, 1 - y)
    return np.where(random.permutation(n) < labels, y, np.nan), p, f


def plain_interval(measure, y, p, f):
    """Row by row: the losses at the guesses of all rows, and what they miss on labelled ones; two samples."""
    labelled = ~np.isnan(y)
    outcome, n, m = np.where(labelled, y, 0.0), len(y), int(labelled.sum())
    g, rho = guesses(outcome, p, f, labelled)[0], m / n
    x, of_rows = np.empty(n), []
    for i in range(n):
        zero, one = LOSSES[measure](p[i])
        at_guess = (1 - g[i]) * zero + g[i] * one
        x[i] = rho * at_guess + (((one if y[i] == 1 else zero) - at_guess) if labelled[i] else 0.0)
        of_rows += [zero - (1 - rho) * at_guess, one - (1 - rho) * at_guess]
    mean = x.sum() / m
    seen, other = x[labelled] - x[labelled].mean(), x[~labelled] - x[~labelled].mean()
    variance = np.sum(seen**2) * m / (m - 1) + np.sum(other**2)
    third = np.sum(seen**3) + np.sum(other**3)
    above, below = max(of_rows) - mean, mean - min(of_rows)
    if measure == "brier":  # any other row, of which there are fewer by rho: at most 1, and at least -(1 - rho)
        above, below = max(above, rho * (1 - mean)), max(below, rho * (mean + 1 - rho))
    z = t.ppf(0.975, m - 1)
    high = mean + above * score_reach(variance / above**2, third / above**3, z) / m
    return mean, mean - below * score_reach(variance / below**2, -third / below**3, z) / m, high


@pytest.mark.parametrize("measure", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_intervals_are_the_plain_formulas(measure, seed):
    y, p, f = data(seed)
    found = cs.confidence_interval(y, p, judge=cs.Judge(f), measure=measure, rng=1)
    expected = plain_interval(measure, y, p, f)
    assert (found.estimate, found.low, found.high) == pytest.approx(expected, rel=1e-9)
    assert found.if_calibrated is None
    known = ~np.isnan(y)
    alone = cs.confidence_interval(y[known], p[known], measure=measure, rng=1)
    assert (found.rows.labels_only.low, found.rows.labels_only.high) == (alone.low, alone.high)


def test_the_share_is_of_the_variance_of_the_losses():
    y, p, f = data()
    rows = judged_by(y, p, f)
    found = cs.confidence_interval(y, p, judge=cs.Judge(f), measure="brier", rng=1)
    share, equivalent = found.rows.share, found.rows.equivalent_labels
    chosen, g = rows.labelled, rows.guess.outcome
    loss, at_guess = (
        (rows.outcome - rows.prediction) ** 2,
        (1 - g) * rows.prediction**2 + g * (1 - rows.prediction) ** 2,
    )
    assert share == pytest.approx(np.var((loss - at_guess)[chosen]) / np.var(loss[chosen]))
    assert equivalent == pytest.approx(100 / (share + 0.25 * (1 - share)))
    assert f"worth about {round(equivalent)} labels" in str(found)


@pytest.mark.parametrize("seed", range(3))
def test_means_are_exactly_unbiased_over_all_subsets_that_may_be_labelled(seed, monkeypatch):
    """The mean over the 126 subsets of 4 of 9 rows is rho times the loss of each row."""
    monkeypatch.setattr(guess_file, "FEWEST_EVENTS", 0)
    monkeypatch.setattr(guess_file, "PULL", 0.5)
    random = np.random.default_rng([4, seed])
    p = random.choice([0.02, 0.2, 0.5, 0.9, 1.0], 9)
    y = (random.random(9) < 0.5) * 1.0
    f = np.where(random.random(9) < 0.8, y, random.random(9))
    total, unscaled = np.zeros(9), np.zeros(9)
    for each in combinations(range(9), 4):
        labelled = np.isin(np.arange(9), each)
        rows = JudgedRows(np.where(labelled, y, 0.0), p, f, labelled, None, None)
        losses = RectifiedLosses.of(BRIER, rows)
        total += losses.contribution / 126
        unscaled += (losses.by_guess + labelled * (losses.loss - losses.by_guess)) / 126
    assert total == pytest.approx(4 / 9 * (y - p) ** 2, abs=1e-12)
    assert np.abs(unscaled - 4 / 9 * (y - p) ** 2).max() > 1e-3  # a planted fault: all of the guess of each row


def test_the_truth_is_held_whatever_the_judge():
    """100 data sets a judge, limits of .035 a side with a false alarm of 1e-4; the judge as truth misses."""
    value = np.arange(1, 20) / 20
    truth = np.mean(value**1.4 * (1 - value) ** 2 + (1 - value**1.4) * value**2)
    wrong = 0
    for hit in (0.9, 0.0, 0.5):
        below = above = 0
        for seed in range(100):
            y, p, f = data([seed, 5], n=1000, hit=hit)
            low, high, _ = RectifiedLosses.of(BRIER, judged_by(y, p, f)).ends(0.05, None)
            below, above = below + (low > truth), above + (high < truth)
            taken = cs.confidence_interval(f, p, measure="brier", rng=1) if seed < 10 and hit == 0.0 else None
            wrong += taken is not None and not taken.low <= truth <= taken.high
        assert max(below, above) <= most_rejections(0.035, 100, 1e-4)
    assert wrong > most_rejections(0.07, 10, 1e-4)


def test_what_is_refused():
    y, p, f = data()
    chances = cs.Judge(f, inclusion=np.full(400, 0.25))
    for name, more in {"cluster": {"cluster": np.arange(400) // 4}, "inclusion": {"judge": chances}}.items():
        with pytest.raises(ValueError, match=f"without {name}=, because no study covers both"):
            cs.confidence_interval(y, p, **{"judge": cs.Judge(f), **more}, measure="brier")
    sure = np.where(np.arange(400) == 3, 1.0, p)
    with pytest.raises(ValueError, match=r"finite .* of both outcomes with judge=, found 1 in y_prob; .*clip"):
        cs.confidence_interval(np.where(np.arange(400) == 3, np.nan, y), sure, judge=cs.Judge(f), measure="log_loss")
    clipped = cs.confidence_interval(y, sure, judge=cs.Judge(f), measure="log_loss", clip=0.001, rng=1)
    assert clipped.low < clipped.estimate < clipped.high
    with pytest.raises(ValueError, match="or a mean of losses such as brier; found"):
        cs.confidence_interval(y, p, judge=cs.Judge(f), measure="mcb")


def test_few_events_leave_the_loss_at_the_predictions():
    y, p, f = data()
    rare = p / 12
    few = np.where(np.isnan(y), np.nan, (np.nan_to_num(y) == 1) & (np.arange(400) % 12 == 0))
    found = cs.confidence_interval(few, rare, judge=cs.Judge(f), measure="brier", rng=1)
    known = ~np.isnan(few)
    expected = np.mean(rare * (1 - rare)) + np.mean((few - rare)[known] ** 2 - (rare * (1 - rare))[known])
    assert found.estimate == pytest.approx(expected)
    assert "Its answers change nothing here" in str(found)
