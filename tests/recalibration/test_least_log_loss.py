"""The temperature of the least log loss against a plain search, and how many passes over the rows it takes."""

import math

import numpy as np
import pytest
from distorted import P, Y
from hypothesis import assume, given
from hypothesis import strategies as st
from row_strategies import rows
from scipy.optimize import brentq

from calibstat.recalibration import least_log_loss
from calibstat.recalibration.least_log_loss import best_temperature
from calibstat.recalibration.temperature_scaling import HOTTEST, scaled

END = math.log(HOTTEST)


def plain(prob, label):
    """The zero of the derivative by 1/T, by a search between the ends of the range."""
    logs = np.log(np.where(prob > 0, prob, 1))
    observed = logs[np.arange(label.size), label]

    def slope(log_inverse):
        return float(((scaled(prob, math.exp(-log_inverse)) * logs).sum(axis=1) - observed).mean())

    if slope(-END) >= 0:
        return HOTTEST
    if slope(END) <= 0:
        return 1 / HOTTEST
    return math.exp(-brentq(slope, -END, END, xtol=1e-13))


def passes(monkeypatch):
    """Count the passes over the rows from now on."""
    seen = []
    whole = least_log_loss._derivatives
    monkeypatch.setattr(least_log_loss, "_derivatives", lambda *rows: seen.append(rows[2]) or whole(*rows))
    return seen


@pytest.mark.parametrize("temperature", [0.03, 0.5, 1.0, 3.0, 40.0])
def test_a_few_passes_find_what_a_plain_search_finds(temperature, monkeypatch):
    seen = passes(monkeypatch)
    prob = scaled(P, 1 / temperature)
    assert best_temperature(prob, Y, HOTTEST, np.ones(Y.size)) == pytest.approx(plain(prob, Y), rel=1e-10)
    assert len(seen) <= 10


@given(rows())
def test_rows_with_ties_and_certain_predictions(data):
    y, p = data
    prob, label = np.column_stack((1 - p, p)), y.astype(np.int64)
    possible = prob[np.arange(label.size), label] > 0
    prob, label = prob[possible], label[possible]
    assume(label.size and not np.all((prob == 0) | (prob == prob.max(axis=1, keepdims=True))))
    found, searched = best_temperature(prob, label, HOTTEST, np.ones(label.size)), plain(prob, label)

    def loss(t):
        return -np.log(scaled(prob, t)[np.arange(label.size), label]).mean()

    assert found == pytest.approx(searched, rel=1e-6) or loss(found) == pytest.approx(loss(searched), abs=1e-12)


@pytest.mark.parametrize(("label", "end"), [([0, 1], 1 / HOTTEST), ([1, 0], HOTTEST)])
@pytest.mark.parametrize("smallest", [0.3, 1e-3, 1e-300])
def test_the_ends_of_the_range_take_few_passes(label, end, smallest, monkeypatch):
    seen = passes(monkeypatch)
    prob = np.array([[1 - smallest, smallest], [smallest, 1 - smallest]])
    assert best_temperature(prob, np.array(label), HOTTEST, np.ones(2)) == pytest.approx(end, rel=1e-14)
    assert len(seen) <= 4


@given(st.floats(-3, 3), st.floats(0.01, 60))
def test_a_zero_where_newton_alone_would_creep_or_leap(zero, rate):
    def function(x):  # to the left it falls like an exponential, to the right it is nearly flat
        seen.append(x)
        return -math.expm1(-rate * (x - zero)), rate * math.exp(-rate * (x - zero))

    seen = []
    assert least_log_loss._zero(function, -END, END) == pytest.approx(zero, abs=1e-7)
    assert len(seen) < 60


def test_the_derivatives_are_those_of_the_log_loss():
    logs = np.empty(P.shape)
    assert not least_log_loss._fill_logs(P, logs)

    times = np.random.default_rng(1).random(Y.size)

    def loss(inverse):
        return np.average(-np.log(scaled(P, 1 / inverse)[np.arange(Y.size), Y]), weights=times)

    first, second = least_log_loss._derivatives(logs, Y, 0.7, times, times.sum())
    assert first == pytest.approx((loss(0.7 + 1e-5) - loss(0.7 - 1e-5)) / 2e-5, abs=1e-8)
    assert second == pytest.approx((loss(0.7 + 1e-3) - 2 * loss(0.7) + loss(0.7 - 1e-3)) / 1e-6, abs=1e-5)
