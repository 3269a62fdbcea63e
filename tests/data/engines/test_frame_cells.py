"""Frames of any engine: equal samples, exact bins, bounds of other measures, and one error for all bad rows."""

import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from compared_samples import arrays, same
from engine_frames import ENGINES, frame_of, quiet_about_dask, rows_of_every_kind
from hypothesis import given, settings
from hypothesis import strategies as st
from row_strategies import rows, weighted_rows

import calibstat as cs
from calibstat.data.engines.cell_table import TABLE_CELLS
from calibstat.measures.bins import bin_numbers

pytest.importorskip("narwhals")


@pytest.fixture(autouse=True)
def _quiet():
    quiet_about_dask()


def oracle(data, weight=None):
    """For each cell by `bin_of`: the exact mean prediction rounded once, rows and positive rows."""
    w = np.ones(len(data), int) if weight is None else data[weight].to_numpy()
    cell, sums = bin_numbers(data.p.to_numpy(), TABLE_CELLS), {}
    for b, p, y, times in zip(cell.tolist(), data.p.tolist(), data.y.tolist(), w.tolist(), strict=True):
        s = sums.setdefault(b, [Fraction(0), 0, 0])
        s[0], s[1], s[2] = s[0] + Fraction(p) * times, s[1] + times, s[2] + y * times
    return np.array([[float(s / n), n, a] for _, (s, n, a) in sorted(sums.items()) if n]).T


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_exact_sums_of_cells(engine):
    pytest.importorskip(engine.partition(" ")[0])
    data = rows_of_every_kind()
    frame = frame_of(engine, data)
    sample = cs.Sample.from_frame(frame, "y", "p")
    exact = oracle(data)
    assert arrays(sample)[1:] == exact[1:].tolist()
    assert sample.value[1:].tolist() == exact[0][1:].tolist()
    assert abs(sample.value[0] - exact[0][0]) <= 2.0**-71  # in the first cell what is below is cut off
    assert 0 < sample.moved <= 1 / TABLE_CELLS
    groups = cs.Sample.from_frame(frame, "y", "p", by="site")
    assert list(groups) == ["a", "b", "c"]
    for site, group in groups.items():
        assert same(group, cs.Sample.from_frame(data[data.site == site], "y", "p"))
    weighted = cs.Sample.from_frame(frame, "y", "p", weight="w")
    assert np.allclose(weighted.arrays, oracle(data, "w"), rtol=1e-15, atol=2.0**-71)
    assert weighted.n_zero_weight == np.sum(data.w == 0)
    assert weighted.n_repeated == np.sum(data.w > 0)
    distinct = cs.Sample.from_frame(frame, "y", "p", cells="distinct")
    assert same(distinct, cs.Sample.from_rows(data.y, data.p))
    assert distinct.moved == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_counts_all_bad_rows_in_one_error(engine):
    pytest.importorskip(engine.partition(" ")[0])
    bad = pd.DataFrame(
        {
            "y": [0.0, 1.0, 2.0, 0.5, np.nan, 1.0, 0.0, 1.0],
            "p": [0.1, np.nan, 1.5, 0.5, 0.2, -0.1, np.inf, 1.0],
            "site": ["a", "a", "a", "a", "a", "b", None, "a"],
        }
    )
    with pytest.raises(
        ValueError, match=r"expected 0 or 1 in column 'y', found 1 missing and 2 other values; "
    ) as error:
        cs.Sample.from_frame(frame_of(engine, bad), "y", "p", by="site")
    for part in [
        "expected a probability from 0 to 1 in column 'p', found 1 missing and 3 other values",
        "expected a group in column 'site', found 1 missing value",
        "expected at least 2 rows in each group of 'site', found 1 group of 1 row: 'b'",
    ]:
        assert part in str(error.value)
    data = pd.DataFrame({"y": [0, 1, 1], "p": [0.1, 0.2, 0.3], "w": [0.5, 1, -1]})
    with pytest.raises(
        ValueError, match=r"whole weight from 0 to 2,147,483,648 in column 'w', found 2 other values; only"
    ):
        cs.Sample.from_frame(frame_of(engine, data), "y", "p", weight="w")


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "duckdb"])
def test_an_empty_frame_is_refused(engine):
    pytest.importorskip(engine)
    with pytest.raises(ValueError, match="expected at least one row, found none"):
        cs.Sample.from_frame(frame_of(engine, rows_of_every_kind()[:0]), "y", "p")


def test_fractions_of_all_denominators_up_to_200_stay_as_they_are():
    p = np.concatenate([np.arange(m + 1) / m for m in range(1, 201)])
    y = np.arange(p.size) % 2
    sample = cs.Sample.from_frame(pd.DataFrame({"y": y, "p": p}), "y", "p")
    assert same(sample, cs.Sample.from_rows(y, p))
    assert sample.moved == 0
    for bins in (10, 15, 20, 25, 50, 100):
        assert cs.estimate(sample, n_bins=bins) == pytest.approx(cs.estimate(y, p, n_bins=bins), abs=1e-14)


@settings(max_examples=25)
@given(rows(), st.sampled_from([10, 15, 20, 25, 50, 100]))
def test_binned_errors_are_exact_and_others_within_their_bounds(data, bins):
    y, p = data
    p = (p + np.arange(p.size) * 1e-7).clip(0, 1)  # several in one cell
    sample, exact = cs.Sample.from_frame(pd.DataFrame({"y": y, "p": p}), "y", "p"), cs.Sample.from_rows(y, p)
    assert cs.estimate(sample, n_bins=bins) == pytest.approx(cs.estimate(exact, n_bins=bins), abs=1e-14)
    assert sample.moved <= 1 / TABLE_CELLS
    # |(y - v)**2 - (y - v')**2| is at most 2 |v - v'|
    brier = [cs.estimate(each, measure="brier") for each in (sample, exact)]
    assert abs(brier[0] - brier[1]) <= 2 * sample.moved + 1e-15
    share = sample.count.max() / sample.n
    for measure, times in [("ks", 1), ("kuiper", 2)]:
        small, large = (cs.estimate(each, measure=measure) for each in (sample, exact))
        assert small - 1e-14 <= large <= small + times * share + 1e-14


@settings(max_examples=25)
@given(weighted_rows())
def test_weights_count_repeated_rows(data):
    y, p, w = data
    sample = cs.Sample.from_frame(pd.DataFrame({"y": y, "p": p, "w": w}), "y", "p", weight="w", cells="distinct")
    rows = cs.Sample.from_rows(y, p, w)
    assert same(sample, rows)
    assert sample.n_repeated == rows.n_repeated


def test_single_precision_is_converted_first():
    data = rows_of_every_kind()[["y", "p"]].astype({"p": np.float32})
    assert same(cs.Sample.from_frame(data, "y", "p"), cs.Sample.from_frame(data.astype({"p": np.float64}), "y", "p"))


def test_groups_by_several_columns_have_tuples_and_feed_a_monitor():
    data = rows_of_every_kind().assign(year=np.arange(3000) % 2 + 2024)
    groups = cs.Sample.from_frame(data, "y", "p", by=["year", "site"])
    assert list(groups) == [(year, site) for year in (2024, 2025) for site in "abc"]
    years = cs.Sample.from_frame(data, "y", "p", by="year", cells="distinct")
    monitor, plain = cs.Monitor(), cs.Monitor()
    for year, sample in years.items():
        monitor.update(sample, period=str(year))
        plain.update(*(data[data.year == year][name].to_numpy() for name in "yp"), period=str(year))
    assert str(monitor.status()) == str(plain.status())


def test_results_say_what_cells_do_to_them():
    sample = cs.Sample.from_frame(rows_of_every_kind(), "y", "p")
    note = cs.confidence_interval(sample).note
    assert f"cells of width 1/153,600, which moved them by at most {sample.moved:.1e}" in note
    assert "ks may be too small" in note
    assert "cells of predictions" in repr(sample)
    assert (sample + sample).moved == sample.moved
    exact = cs.Sample.from_frame(rows_of_every_kind(), "y", "p", cells="distinct")
    assert "cells of width" not in cs.confidence_interval(exact).note


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("y", "q"), r"expected columns 'q', found 'y', 'p', 'site', 'w'"),
        (("site", "p"), r"expected numbers or booleans in column 'site', found"),
        (("y", "p", ["site", "site"]), "distinct names of columns"),
        (("y", "p", "cell"), "distinct names of columns"),
        (("y", "p", []), "one name of a column or several, found none"),
        (("y", "p", None, None, 100), "expected cells None, which means 153,600 cells, or 'distinct'; found 100"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        cs.Sample.from_frame(rows_of_every_kind(), *arguments)


def test_what_is_no_frame_is_named():
    with pytest.raises(ValueError, match=r"expected a frame of pandas, .* found list of length 2"):
        cs.Sample.from_frame([0, 1], "y", "p")


def test_without_narwhals_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals.stable.v2", None)
    with pytest.raises(ImportError, match=r"pip install calibstat\[frames\]"):
        cs.Sample.from_frame(rows_of_every_kind(), "y", "p")


def test_dask_gives_the_same_sample():
    pytest.importorskip("dask.dataframe")
    data = rows_of_every_kind()
    sample = cs.Sample.from_frame(frame_of("dask", data), "y", "p", by="site")
    expected = cs.Sample.from_frame(data, "y", "p", by="site")
    assert all(same(sample[site], expected[site]) for site in expected)


@pytest.mark.slow  # to start two processes that import Dask
def test_two_workers_of_dask_give_the_same_sample():
    distributed = pytest.importorskip("distributed")
    data = rows_of_every_kind(200_000)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        sample = cs.Sample.from_frame(frame_of("dask", data), "y", "p")
    assert same(sample, cs.Sample.from_frame(data, "y", "p"))
