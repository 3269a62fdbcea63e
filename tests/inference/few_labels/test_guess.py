"""Guesses beside the plain formulas, and what they do with judges that say nothing, too much or the opposite."""

import numpy as np
import pytest
from plain_few_labels import contrasts, equal_groups, guesses

from calibstat.inference.few_labels.guess import Guess, contrast_of, fewest_events, groups_of


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
    group, h = np.array(equal_groups(p, 4)), contrasts(p, f)
    not_left_out = np.clip(p + found.slopes[group] * h, 0, 1)
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


def test_an_echo_of_tied_predictions_adds_nothing():
    """20 groups hold one of 19 predictions each, in which an echo does not vary."""
    y, p, _, labelled = rows()
    assert np.abs(contrast_of(p, p)).max() == 0
    found = Guess.of(y, p, p.copy(), labelled, np.arange(p.size), np.ones(p.size))
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
