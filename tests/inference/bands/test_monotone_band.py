"""The band of a non-decreasing curve: against a slow implementation, its coverage, and lines that cross."""

import numpy as np
import pytest
from hypothesis import given
from row_strategies import weighted_rows
from scipy.stats import beta, binom

import calibstat as cs
from calibstat.bounds.curves import monotone_limits
from calibstat.bounds.curves.monotone_limits import cell_starts, intervals


def slow_band(y, p, level):
    """Row by row: limits of every interval of cells of the same family, then the best that holds at each prediction."""
    sample = cs.Sample.from_rows(y, p)
    starts = sample.value[cell_starts(sample)]
    cell = np.array([np.sum(starts <= v) - 1 for v in p])
    lengths = sorted({k for k in (1, 2, 3, *(2**j for j in range(20)), *(3 * 2**j for j in range(20)))
                      if k <= starts.size} | {starts.size})  # fmt: skip
    limits = []
    for length in lengths:
        last = starts.size - length
        begins = sorted({*range(0, last + 1, max(1, length // 4)), last})
        delta = (1 - level) / 2 / len(lengths) / len(begins)
        for begin in begins:
            here = (cell >= begin) & (cell < begin + length)
            n, s = here.sum(), y[here].sum()
            low = beta.ppf(delta, s, n - s + 1) if s else 0.0
            high = beta.ppf(1 - delta, s + 1, n - s) if s < n else 1.0
            limits.append((p[here].min(), p[here].max(), low, high))

    def at(v):
        below = [low for _, last, low, _ in limits if last <= v]
        above = [high for first, _, _, high in limits if first >= v]
        return max(below, default=0), min(above, default=1)

    return at


@given(data=weighted_rows())
def test_the_band_equals_a_slow_one(data):
    y, p, weight = data
    found = cs.reliability(cs.Sample.from_rows(y, p, weight), band="monotone", confidence_level=0.8)
    at = slow_band(np.repeat(y, weight), np.repeat(p, weight), 0.8)
    for v in {0.0, 0.05, 0.5, 0.77, 1.0, *p[weight > 0], *(p[weight > 0] / 2)}:
        np.testing.assert_allclose(found.curve_at(v), at(v), atol=1e-9)


@pytest.mark.parametrize("distinct", [None, 20])
def test_the_band_of_many_rows_equals_a_slow_one(distinct):
    random = np.random.default_rng(1)
    p = random.random(400) if distinct is None else random.integers(0, distinct, 400) / distinct
    y = (random.random(400) < p**2).astype(float)
    found, at = cs.reliability(y, p, band="monotone"), slow_band(y, p, 0.95)
    for v in [*np.unique(p)[::7], *random.random(20)]:
        np.testing.assert_allclose(found.curve_at(v), at(v), atol=1e-9)


@pytest.mark.parametrize("cells", [1, 2, 3, 4, 5, 11, 64, 100, 512])
def test_the_misses_of_all_limits_sum_to_alpha(cells):
    start, stop, miss = intervals(cells, 0.05)
    assert 2 * miss.sum() == pytest.approx(0.05)
    assert (start >= 0).all()
    assert (stop > start).all()
    assert (stop <= cells).all()
    assert len({*zip(start.tolist(), stop.tolist(), strict=True)}) == start.size
    assert (0, cells) in zip(start, stop, strict=True)
    assert {*range(cells)} <= {*start[stop == start + 1]}


@given(data=weighted_rows())
def test_cells_depend_on_predictions_alone_and_part_no_ties(data):
    y, p, weight = data
    cells = [cell_starts(cs.Sample.from_rows(labels, p, weight)) for labels in (y, 1 - y)]
    np.testing.assert_array_equal(*cells)
    assert cells[0][0] == 0
    assert cells[0].size <= min(512, np.unique(p[weight > 0]).size)


def test_cells_share_rows_and_information():
    # 1000 rows: 2**round(log2(60)) = 64 cells; equal predictions weigh by rows, and so cells are of equal rows
    sample = cs.Sample.from_counts(np.linspace(0.4999, 0.5001, 1000), np.ones(1000), np.zeros(1000))
    assert cell_starts(sample).size == 64
    assert np.ptp(np.diff(cell_starts(sample))) <= 1
    # half of the weight is information: of 900 rows near 0 and 100 near .5 the few have more than a tenth of the cells
    value = np.concatenate((np.linspace(0.001, 0.002, 900), np.linspace(0.45, 0.55, 100)))
    starts = cell_starts(cs.Sample.from_counts(value, np.ones(1000), np.zeros(1000)))
    assert 0.5 < np.mean(starts >= 900) < 0.6


CURVES = {
    "constant": lambda v: np.full(v.shape, 0.3),
    "line": lambda v: v,
    "step": lambda v: np.where(v < 0.5, 0.2, 0.8),
    "rare": lambda v: 0.02 * v,
}


SETS = 50


def held(curve, level, replicates=SETS, n=300):
    """In how many data sets the whole curve is inside the band: at every prediction and just beside it."""
    count = 0
    for seed in range(replicates):
        random = np.random.default_rng([9, seed])
        p = random.random(n)
        found = cs.reliability(
            (random.random(n) < curve(p)) * 1.0, p, band="monotone", confidence_level=level, interval=False
        )
        v = np.concatenate((np.linspace(0, 1, 501), found.curve_value, np.nextafter(found.curve_value, 2).clip(0, 1)))
        low, high = found.curve_at(v)
        count += ((low <= curve(v)) & (curve(v) <= high)).all()
    return count


@pytest.mark.parametrize("name", CURVES)
def test_the_whole_curve_is_held(name):
    assert held(CURVES[name], 0.8) >= binom.ppf(1e-4, SETS, 0.8)


def test_limits_that_each_miss_with_alpha_do_not_hold_the_whole_curve(monkeypatch):
    def pointwise(cells, alpha):
        start, stop, miss = intervals(cells, alpha)
        return start, stop, np.full(miss.shape, alpha / 2)

    monkeypatch.setattr(monotone_limits, "intervals", pointwise)
    assert held(CURVES["constant"], 0.8) < binom.ppf(1e-4, SETS, 0.8)


def test_lines_cross_where_the_curve_clearly_falls():
    falls = cs.Sample.from_counts([0.2, 0.8], [100, 100], [90, 10])
    found = cs.reliability(falls, band="monotone")
    assert found.crosses
    assert found.curve_low[-1] > found.curve_high[0]
    assert "Its lines cross, so the probability does fall somewhere (level 5 %)." in str(found)
    assert (found.low, found.high, found.inside, found.corp_inside) == (None,) * 4
    rises = cs.reliability(cs.Sample.from_counts([0.2, 0.8], [100, 100], [10, 90]), band="monotone")
    assert not rises.crosses
    assert "cross" not in str(rises)


def test_without_events_the_band_stays_open():
    """No event among 200 equal predictions, a single cell and interval: 1 - .025**(1/200), the rule of three."""
    found = cs.reliability(cs.Sample.from_counts([0.001], [200], [0]), band="monotone")
    assert found.curve_low.item() == 0
    assert found.curve_high.item() == pytest.approx(1 - 0.025 ** (1 / 200), rel=1e-9)
    assert found.curve_at([0.0005, 0.001, 0.002])[1] == pytest.approx([found.curve_high[0]] * 2 + [1])
