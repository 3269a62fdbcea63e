"""The interval of the area under risk and coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs
from calibstat.inference.answering import risk_area as module
from calibstat.inference.answering.answered_rows import AnsweredRows
from calibstat.inference.answering.risk_area import risk_area


def rows_of(confidence, wrong):
    return AnsweredRows.of_cells(np.asarray(confidence), np.ones(len(wrong)), np.asarray(wrong, np.float64))


def area_by_hand(confidence, wrong):
    """The mean over rows of the error among the rows that are at least as confident."""
    return np.mean([np.mean(wrong[confidence >= c]) for c in confidence])


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1)), min_size=1, max_size=30))
def test_the_area_and_what_each_row_adds(rows):
    """With ties, one row and no error; the derivative by a little more weight of a row is what the row adds."""
    confidence, wrong = np.array(rows, np.float64).T
    seen = rows_of(confidence / 8, wrong)
    found = risk_area(seen)
    area = area_by_hand(confidence, wrong)
    assert found.estimate == pytest.approx(area, abs=1e-12)
    assert seen.area(seen.share) == pytest.approx(area, abs=1e-12)
    step, moved = 1e-5, []
    for row in range(len(wrong)):
        weight = np.ones(len(wrong))
        weight[row] += step * len(wrong)
        shares = [np.average(wrong[confidence >= c], weights=weight[confidence >= c]) for c in confidence]
        moved.append((np.average(shares, weights=weight) - area) * (1 + step) / step)
    n = len(wrong)
    assert found.variance == pytest.approx(np.square(moved).sum() * n / max(n - 1, 1), rel=1e-2, abs=1e-3)
    assert found.least - 1e-9 <= found.estimate <= found.most + 1e-9


def drawn(n, error, replicates, seed):
    """Shares from the most confident row on, and whether each is wrong."""
    random = np.random.default_rng(seed)
    for _ in range(replicates):
        share = random.random(n)
        yield 1 - share, (random.random(n) < error(share)).astype(float)


CASES = {  # errors by the share from the most confident row on, and the area: the integral of -error(s) log(s)
    "alike": (lambda s: 0.1 + 0 * s, 0.1),
    "calibrated": (lambda s: 0.6 * s, 0.15),
    "perfect order": (lambda s: s > 0.8, 1 - 0.8 + 0.8 * np.log(0.8)),
    "most confident wrong": (lambda s: s < 0.1, 0.1 * (1 - np.log(0.1))),
}


def misses(n, case, replicates, seed):
    error, truth = CASES[case]
    ends = []
    for confidence, wrong in drawn(n, error, replicates, seed):
        found = risk_area(rows_of(confidence, wrong))
        ends.append((found.low(0.025), found.high(0.025)))
    low, high = np.array(ends).T
    return int((low > truth).sum()), int((high < truth).sum())


@pytest.mark.parametrize("case", CASES)
def test_each_end_misses_seldom(case):
    most = cs.study.most_rejections(0.03, 300, 1e-5)
    assert max(misses(200, case, 300, 1)) <= most


def given_confidences(seen):
    """The fault: the variance of outcomes alone, which in perfect order knows nothing of how many are wrong."""
    if_wrong = np.cumsum((seen.rows / seen.answered)[::-1])[::-1]
    added = np.concatenate([0 * if_wrong, if_wrong])
    mean = float(if_wrong @ seen.wrong) / seen.n
    found = module.of_counted_losses(
        "area", added, np.concatenate([seen.rows - seen.wrong, seen.wrong]), lambda: added, (0.0, float(added.max()))
    )
    return found.with_moments(float(seen.wrong @ (if_wrong - mean) ** 2) * mean, 0.0)


def test_the_variance_of_outcomes_alone_is_found(monkeypatch):
    monkeypatch.setitem(globals(), "risk_area", given_confidences)
    assert max(misses(200, "perfect order", 300, 1)) > cs.study.most_rejections(0.03, 300, 1e-5)


def test_an_error_at_the_top_that_was_not_observed_is_allowed_for():
    """Of 100 rows none is wrong: the area may be what four errors at the top would make it, and a normal end is 0."""
    seen = rows_of(np.arange(100) / 100, np.zeros(100))
    found = risk_area(seen)
    top = (1 / np.arange(1, 101)).sum()
    assert found.most == pytest.approx(top)
    assert 3 * top / 100 < found.high(0.025) < 5 * top / 100
    assert found.plain(0.025)[1] == 0


def test_an_interval_without_the_largest_error_is_found(monkeypatch):
    """The fault: as if no row could add more than those observed."""
    monkeypatch.setitem(CASES, "rare", (lambda s: s < 0.002, 0.002 * (1 - np.log(0.002))))
    most = cs.study.most_rejections(0.03, 300, 1e-5)
    assert misses(200, "rare", 300, 2)[1] <= most
    right = module.of_counted_losses

    def observed(title, loss, count, possible, bounds):
        there = loss[count > 0]
        return right(title, loss, count, possible, (float(there.min()), float(there.max())))

    monkeypatch.setattr(module, "of_counted_losses", observed)
    assert misses(200, "rare", 300, 2)[1] > most


def hidden(replicates, seed):
    """How often the high end is too low: most rows are equally confident and right, few lie above and are wrong.

    The area: a share of 0.06 of the rows with error 1, and then 0.94 with error 0.06.
    """
    random, missed = np.random.default_rng(seed), 0
    for _ in range(replicates):
        wrong = (random.random(40) < 0.06).astype(float)
        missed += risk_area(rows_of(0.5 + 0.25 * wrong, wrong)).high(0.025) < 0.06 + 0.94 * 0.06
    return missed


def test_errors_above_many_equal_confidences_are_allowed_for(monkeypatch):
    """The fault: no row lies above all others, as if only the confidences that were observed existed."""
    most = cs.study.most_rejections(0.03, 300, 1e-5)
    assert hidden(300, 5) <= most
    right = module.of_counted_losses

    def observed(title, loss, count, possible, bounds):
        return right(title, loss, count, possible, (float(loss.min()), float(loss.max())))

    monkeypatch.setattr(module, "of_counted_losses", observed)
    assert hidden(300, 5) > most
