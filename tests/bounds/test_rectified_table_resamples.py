"""Resamples of rectified residuals: both samples by themselves, with the right spread, a part like the whole."""

import numpy as np
import pytest
from judged_by import judged_by

import calibstat as cs
from calibstat.bounds import rectified_table as rectified
from calibstat.bounds.rectified_table import blocks
from calibstat.inference.designs.judged.rectified_interval import norm_problem
from calibstat.inference.designs.judged.rectified_rows import RectifiedRows, rectified_table
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws

Y, P = cs.generators.temperature(1.5).sample(400, rng=1)
P = np.round(P, 1)
F = np.where(np.random.default_rng(1).random(400) < 0.85, Y, 1 - Y)
Y = np.where(np.arange(400) < 100, Y, np.nan)


def table(**more):
    rows = judged_by(Y, P, F, **more)
    value, cell = np.unique(rows.prediction, return_inverse=True)
    return rectified_table(rows, cell, value.size)


@pytest.mark.parametrize("more", [{}, {"cluster": np.arange(400) % 130}, {"inclusion": np.full(400, 0.25)}])
def test_resamples_spread_as_the_moments_say(more):
    """The variance of a weighted sum of 4000 resamples, within 5 standard errors (.11) of the one of the moments."""
    of = table(**more)
    w = np.random.default_rng(2).uniform(-1, 1, of.cells)
    drawn = of.resampled(lambda theta: theta @ w, Draws.of(1, 4000))
    assert drawn.mean() == pytest.approx(of.theta @ w, abs=5 * drawn.std() / 4000**0.5)
    assert drawn.var() * of.n**2 == pytest.approx(of.moments.of(w).variance, rel=0.12)


def test_a_planted_fault_is_seen():
    """Resamples of labelled rows alone spread less than the moments say."""
    of = table()
    w = np.random.default_rng(2).uniform(-1, 1, of.cells)
    drawn = of.samples[0].resampled(lambda theta: theta @ w, Draws.of(1, 4000))
    assert abs(drawn.var() * of.n**2 / of.moments.of(w).variance - 1) > 0.005
    twice = of.resampled(lambda theta: 2 * (theta @ w), Draws.of(1, 4000))
    assert abs(twice.var() * of.n**2 / of.moments.of(w).variance - 1) > 0.12


def test_blocks_do_not_show(monkeypatch):
    of = table()
    whole = of.resampled(lambda theta: theta, Draws.of(1, 50))
    monkeypatch.setattr(rectified, "HELD", 7 * of.cells)
    assert blocks(50, of.cells)[:2] == [(0, 7), (7, 14)]
    assert np.array_equal(of.resampled(lambda theta: theta, Draws.of(1, 50)), whole)
    assert np.array_equal(of.resampled(lambda theta: theta, Draws.of(1, 50, 2)), whole)


@pytest.mark.parametrize("measure", ["ks", "kernel_ce", "smooth_ce", "ece"])
def test_norms_of_many_are_the_norms_of_each(measure):
    rows = judged_by(Y, P, F)
    posed = RectifiedRows.of(norm_problem(rows, find_measure(measure, {})), rows)
    theta = np.random.default_rng(1).standard_normal((5, posed.cells))
    each = [float(posed.interval.norm.value(one)) for one in theta]
    norm = posed.interval.norm
    assert posed._norms(theta) == pytest.approx(each)
    moved = posed.table.moved(norm.value, norm.one_pass, posed.interval.theta, 2.0, Draws.of(1, 20))
    origin = posed.interval.theta
    plain = posed.table.resampled(
        lambda theta: np.array([posed.interval.norm.value(2 * one - origin) for one in theta]), Draws.of(1, 20)
    )
    assert moved == pytest.approx(plain)
