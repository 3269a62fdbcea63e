"""The study of days in a row: its series, its intervals beside other implementations, and the page that quotes it."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from project_folder import PROJECT
from scipy.stats import ttest_1samp
from simulation_files import study_file

import calibstat as cs

days = study_file("dependent_days")
RANDOM = np.random.SeedSequence(20261129)


def drawn(number, replicates=400, length=300):
    return days.SERIES[number].sample(np.random.default_rng(RANDOM), replicates, length)


@pytest.mark.parametrize("number", range(len(days.SERIES)))
def test_series_have_their_mean_and_correlation_from_the_first_day_on(number):
    kind, series = days.SERIES[number], drawn(number, 20_000, 30)
    variance = {"wet spells": days.WET * (1 - days.WET)}.get(kind.label, 1.0)
    for day in (0, 1, 29):
        assert series[:, day].mean() == pytest.approx(0, abs=4 * variance**0.5 / 20_000**0.5)
        assert series[:, day].var() == pytest.approx(variance, rel=0.08)
    near = 0.05 if kind.label.startswith("skewed") else 0.02  # of normal numbers before they are made skewed
    assert np.corrcoef(series[:, 0], series[:, 1])[0, 1] == pytest.approx(kind.correlation, abs=near)


def test_wet_spells_last_seven_days():
    """A wet day is followed by a dry one with chance 1/7: so many spells end."""
    wet = drawn(5, 200, 1000) > 0
    assert 1 - wet[:, 1:][wet[:, :-1]].mean() == pytest.approx(1 / days.SPELL, abs=0.005)
    assert wet.mean() == pytest.approx(days.WET, abs=0.02)


def test_an_interval_of_days_is_that_of_scipy():
    series = drawn(1, 5, 40)
    mean, half, number = days.of_sums(1, series)
    expected = ttest_1samp(series, 0, axis=1).confidence_interval(days.LEVEL)
    assert number == 40
    assert mean - half == pytest.approx(expected.low)
    assert mean + half == pytest.approx(expected.high)


def test_an_interval_of_weeks_by_hand():
    """Nine days, 0 in the first week and 1 in the next two days: mean 2/9, sums less 7 and 2 times it are -+14/9.

    The error is sqrt(2 x 2 x (14/9)**2) / 9 = 28/81, and the quantile of one degree of freedom 12.706.
    """
    mean, half, number = days.of_sums(7, np.array([[0.0] * 7 + [1.0] * 2]))
    assert (number, mean[0]) == (2, pytest.approx(2 / 9))
    assert half[0] == pytest.approx(12.7062 * 28 / 81, rel=1e-5)


def test_intervals_of_blocks_are_those_of_equal_sums():
    """Of 1000 days there are 40 blocks of 25."""
    series = drawn(2, 3, 1000)
    assert days.of_sums(None, series)[2] == 40
    for blocks, sums in zip(days.of_sums(None, series), days.of_sums(25, series), strict=True):
        assert np.array_equal(blocks, sums)


@pytest.mark.parametrize("lags", [3, 13])
def test_lags_are_those_of_statsmodels(lags):
    series = drawn(3, 3, 100)
    mean, half, number = days.newey_west(lambda n: lags + 0.9, series)
    assert number == lags
    for row, centre, reach in zip(series, mean, half, strict=True):
        fit = sm.OLS(row, np.ones(100)).fit(cov_type="HAC", cov_kwds={"maxlags": lags, "use_correction": False})
        assert [centre - reach, centre + reach] == pytest.approx(fit.conf_int(1 - days.LEVEL)[0], rel=1e-6)


def test_few_and_many_lags():
    few, many = (days.METHODS[f"Newey-West, {each} lags"](drawn(0, 2, 730))[2] for each in ("few", "many"))
    assert (few, many) == (6, 35)  # 0.75 x 9.004 = 6.8 and 1.3 x 27.02 = 35.1


def test_blocks_miss_as_often_as_they_say_where_days_do_not_depend_on_each_other_and_days_do_not_where_they_do():
    rows = {number: {row["method"]: row for row in days.rows_of(365, number, 1000)} for number in (0, 2)}
    most = cs.study.most_rejections(0.05, 1000, 1e-3)
    assert rows[0]["cs.blocks"]["missed"] <= most
    assert rows[0]["days"]["missed"] <= most
    assert rows[2]["days"]["missed"] > most  # 33 % of series
    for row in rows[2].values():
        assert row["missed"] == row["missed_below"] + row["missed_above"]


def test_the_page_has_the_numbers_of_the_table():
    page = (PROJECT / "docs" / "more" / "days-in-a-row.md").read_text(encoding="utf-8")
    table = pd.read_csv(PROJECT / "simulations" / "results" / "dependent_days.csv", comment="#")

    def percent(count):
        return f"{(count + 5) // 10 / 10:.1f}"  # of 10,000 series, halves upwards

    for label, rows in table[table["n"] == 730].groupby("generator", sort=False):
        cells = [f"{percent(row.missed_below)}, {percent(row.missed_above)}" for row in rows.itertuples()]
        assert f"| {label} | {' | '.join(cells)} |" in page
    for method, correlation in (("cs.blocks", 0.6), ("cs.blocks", 0.9), ("28 days", 0.9)):
        rows = table[(table["method"] == method) & (table["generator"] == f"correlation {correlation}")]
        found = [f"{percent(row.missed)} %" for row in rows.sort_values("n", ascending=False).itertuples()]
        assert f"{found[0]}, {found[1]} and {found[2]}" in page
