"""Guesses beside the plain formulas, and what they do with judges that say nothing, too much or the opposite."""

from itertools import combinations

import numpy as np
import pytest
from plain_few_labels import contrasts, equal_groups, guesses, rectified

from calibstat.inference.designs.judged import guess as guess_file
from calibstat.inference.designs.judged.guess import SLOPES, Guess, Slopes, contrasts_of, fewest_events, groups_of


def rows(n=240, labels=80, seed=1, ties=True):
    random = np.random.default_rng(seed)
    p = random.integers(1, 20, n) / 20 if ties else random.random(n)
    y = (random.random(n) < p**1.3) * 1.0
    f = np.where(random.random(n) < 0.85, y, 1 - y)
    labelled = np.zeros(n, bool)
    labelled[random.permutation(n)[:labels]] = True
    return np.where(labelled, y, 0.0), p, f, labelled


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("judge", ["labels", "probability", "sure"])
def test_guesses_are_the_plain_formulas(ties, judge):
    y, p, f, labelled = rows(ties=ties)
    f = {"labels": f, "probability": 0.7 * p + 0.3 * f, "sure": np.where(p > 0.9, f, 0.5)}[judge]
    found = Guess.of(y, p, f, labelled, np.arange(p.size), np.ones(p.size))
    guess, slopes, informed = guesses(y, p, f, labelled)
    assert found.is_used
    assert np.allclose(found.outcome, guess, atol=1e-12)
    assert np.allclose(found.slopes, slopes, atol=1e-12)
    assert np.allclose(found.calibrated, informed, atol=1e-12)


def test_contrasts_are_the_plain_formulas():
    _, p, f, _ = rows(ties=False)
    for judge in (f, 0.7 * p + 0.3 * f, np.where(p > 0.9, f, 0.5), 1e-9 * f):
        assert np.allclose(contrasts_of(p, judge), contrasts(p, judge).T, atol=1e-12)
    sure = np.round(p)  # predictions of 0 and 1 have no contrast of a calibrated model
    assert (contrasts_of(sure, f)[1] == 0).all()
    assert (contrasts_of(sure, f)[0] ** 2).mean() == pytest.approx(1)


def small(seed):
    """Nine rows, of which some guesses are cut for some slopes."""
    random = np.random.default_rng([4, seed])
    p = random.choice([0.02, 0.2, 0.5, 0.9, 1.0], 9)
    y = (random.random(9) < 0.5) * 1.0
    return y, p, np.where(random.random(9) < 0.8, y, random.random(9))


def mean_over_subsets(y, p, f, guess_of):
    """The mean of the rectified residuals' sum in each row over all subsets of four rows that may be labelled."""
    total = np.zeros(9)
    subsets = [np.isin(np.arange(9), each) for each in combinations(range(9), 4)]
    for labelled in subsets:
        total += rectified(y, p, guess_of(np.where(labelled, y, 0.0), labelled), labelled)
    return total / len(subsets)


@pytest.mark.parametrize("seed", range(5))
def test_sums_are_exactly_unbiased_over_all_subsets_that_may_be_labelled(seed, monkeypatch):
    """The mean over the 126 subsets is rho * (y - p) in each row, although slopes are fitted and guesses are cut."""
    monkeypatch.setattr(guess_file, "FEWEST_EVENTS", 0)
    monkeypatch.setattr(guess_file, "PULL", 0.5)
    y, p, f = small(seed)

    def guess_of(outcome, labelled):
        return Guess.of(outcome, p, f, labelled, np.arange(9), np.ones(9)).outcome

    assert mean_over_subsets(y, p, f, guess_of) == pytest.approx(4 / 9 * (y - p), abs=1e-12)

    def by_mean_slopes(outcome, labelled):  # the planted fault: other rows get the guess by the mean of all slopes
        group, x = groups_of(p, SLOPES), contrasts_of(p, f)
        of = Slopes.of((outcome - p)[labelled], x[:, labelled], group[labelled], np.arange(4), np.ones(4))
        guess = np.clip(p + (of.left_out.mean(axis=1)[group].T * x).sum(axis=0), 0, 1)
        guess[labelled] = np.clip(p[labelled] + of.left_out_moves, 0, 1)
        return guess

    gap = np.abs(mean_over_subsets(y, p, f, by_mean_slopes) - 4 / 9 * (y - p)).max()
    assert gap > 1e-5


def test_a_judge_is_used_where_a_model_is_sure_and_wrong():
    """Log-odds three times too large, 98 % right: no more than a quarter of the squared residuals is left."""
    random = np.random.default_rng(8)
    truth = random.random(5000)
    p = truth**3 / (truth**3 + (1 - truth) ** 3)
    y = (random.random(5000) < truth) * 1.0
    f = np.where(random.random(5000) < 0.98, y, 1 - y)
    labelled = np.arange(5000) < 200
    guess = Guess.of(np.where(labelled, y, 0.0), p, f, labelled, np.arange(5000), np.ones(5000)).outcome
    assert np.sum((y - guess)[labelled] ** 2) < 0.25 * np.sum((y - p)[labelled] ** 2)


def test_slopes_leave_out_whole_clusters_and_weigh_rows():
    y, p, f, labelled = rows()
    unit, weight = np.arange(p.size) // 3, np.random.default_rng(2).random(p.size) + 0.1
    found = Guess.of(y, p, f, labelled, unit, weight)
    guess, slopes, informed = guesses(y, p, f, labelled, unit, weight)
    assert np.allclose(found.outcome, guess, atol=1e-12)
    assert np.allclose(found.slopes, slopes, atol=1e-12)
    assert np.allclose(found.calibrated, informed, atol=1e-12)


def test_a_planted_fault_is_seen():
    """With the slope of all rows, also of the row itself, guesses are others."""
    y, p, f, labelled = rows()
    found = Guess.of(y, p, f, labelled, np.arange(p.size), np.ones(p.size))
    group, x = groups_of(p, SLOPES), contrasts_of(p, f)
    full = Slopes.of((y - p)[labelled], x[:, labelled], group[labelled], np.arange(80), np.ones(80)).full
    not_left_out = np.clip(p + (full[group].T * x).sum(axis=0), 0, 1)
    assert not np.allclose(found.outcome, not_left_out, atol=1e-4)


def test_the_outcome_of_a_row_does_not_change_its_own_guess():
    y, p, f, labelled = rows()
    guess = Guess.of(y, p, f, labelled, np.arange(p.size), np.ones(p.size)).outcome
    for row in np.flatnonzero(labelled)[:10]:
        other = y.copy()
        other[row] = 1 - y[row]
        changed = Guess.of(other, p, f, labelled, np.arange(p.size), np.ones(p.size)).outcome
        assert changed[row] == pytest.approx(guess[row], abs=1e-12)
        assert not np.allclose(changed, guess, atol=1e-9)


@pytest.mark.parametrize("f", [0.3, 0.0])
def test_a_judge_that_says_nothing_leaves_the_predictions(f):
    y, p, _, labelled = rows()
    found = Guess.of(y, p, np.full(p.size, f), labelled, np.arange(p.size), np.ones(p.size))
    assert (found.outcome == p).all()
    assert (found.slopes == 0).all()


@pytest.mark.parametrize("ties", [True, False])
def test_an_echo_adds_nothing(ties):
    y, p, _, labelled = rows(ties=ties)
    for echo in (p, 1 - p, 0.2 + 0.5 * p):
        assert np.abs(contrasts_of(p, echo)).max() == 0
        found = Guess.of(y, p, echo, labelled, np.arange(p.size), np.ones(p.size))
        assert (found.outcome == p).all()


def test_a_judge_that_is_always_wrong_is_as_good_as_a_perfect_one():
    y, p, _, labelled = rows(n=600, labels=300)
    truth = (np.random.default_rng(5).random(600) < p) * 1.0
    truth[labelled] = y[labelled]
    right = Guess.of(y, p, truth, labelled, np.arange(600), np.ones(600))
    wrong = Guess.of(y, p, 1 - truth, labelled, np.arange(600), np.ones(600))
    assert np.allclose(right.outcome, wrong.outcome, atol=1e-12)
    assert np.allclose(right.slopes, -wrong.slopes, atol=1e-12)
    assert np.abs(right.outcome - truth)[labelled].mean() < 0.1


def test_below_ten_events_the_judge_is_not_used():
    y, p, f, labelled = rows()
    few = y.copy()
    few[np.flatnonzero(labelled & (y == 1))[9:]] = 0
    assert not Guess.of(few, p, f, labelled, np.arange(p.size), np.ones(p.size)).is_used
    expected_few = np.full(p.size, 9.5 / 80)
    assert fewest_events(y, expected_few, labelled, np.arange(p.size)) == pytest.approx(9.5)
    together = np.where(y == 1, 0, np.arange(p.size))  # all events in one cluster
    assert fewest_events(y, p, labelled, together) == 1


def test_groups_hold_equal_predictions_together():
    p = np.array([0.1] * 50 + [0.2] * 5 + [0.9] * 45)
    group = groups_of(p, 4)
    assert group.tolist() == equal_groups(p, 4)
    assert len(set(group[:50])) == 1
    assert (np.diff(group[np.argsort(p)]) >= 0).all()
