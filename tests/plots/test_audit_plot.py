"""Pictures of audits show the numbers of the result, nothing overlaps or is cut off, and models are side by side."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from plotted_results import legend, outside, overlapping

import calibstat as cs
from calibstat.plots.audit_plot import _in_lines

pytestmark = pytest.mark.usefixtures("closed_figures")


@pytest.fixture(scope="module", name="data")
def data_fixture():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 1500), "income_of_the_household": rng.random(1500).round(2)})
    frame["region"] = rng.choice(["Mecklenburg-Vorpommern", "Nordrhein-Westfalen $x$"], 1500)
    p = rng.random(1500)
    return rng.random(1500) < np.where(frame.age > 70, p**2, p), p, frame


def texts(ax):
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("columns", [["age"], ["age", "income_of_the_household", "region"]])
def test_a_picture_shows_the_groups_and_their_numbers(data, columns):
    y, p, frame = data
    found = cs.audit(y, p, cs.Groups(frame[columns], depth=len(columns)), rng=1)
    ax = cs.plot(found)
    shown = [0, *(g for g in found.order if g != 0)][:40]
    assert len(found.names) == 5 or len(found.names) > 40
    assert [label.get_text().replace("\n", " ") for label in ax.get_yticklabels()] == [found.names[g] for g in shown]
    bars = [s[:, 0] for c in ax.collections if isinstance(c, LineCollection) for s in c.get_segments()]
    wanted = np.column_stack([found.low, found.high])[shown] * 100
    assert sorted(map(tuple, np.round(bars, 9))) == sorted(map(tuple, np.round(wanted, 9)))
    points = {m: np.sort(np.concatenate([x.get_xdata() for x in ax.lines if x.get_marker() == m])) for m in "oD"}
    speaking = [g for g in shown if g in found.found]
    assert 0 < len(speaking) < len(shown)
    assert points["D"] == pytest.approx(np.sort(100 * found.error[speaking]))
    assert points["o"] == pytest.approx(np.sort(100 * found.error[[g for g in shown if g not in speaking]]))
    numbers = [f"{found.pvalue_adjusted[g]:.2g}" for g in shown] + [f"{found.rows[g]:,}" for g in shown]
    assert sorted(texts(ax)) == sorted([*numbers, "rows", "adjusted p"])
    cut = f"40 of {len(found.names)} groups" if len(found.names) > 40 else "5 groups"
    assert f"{cut}, n = 1,500" in ax.get_xlabel()
    assert overlapping(ax.figure) == []
    assert outside(ax.figure) == []


def test_models_are_side_by_side(data):
    y, p, frame = data
    found = cs.audit(y, {"one": p, "two": p**2}, cs.Groups(frame[["age", "region"]], depth=1), rng=1)
    ax = cs.plot(found)
    points = np.concatenate([line.get_xdata() for line in ax.lines if line.get_marker() in ("o", "D")])
    wanted = np.concatenate([100 * each.error for each in found.values()])
    assert np.sort(points) == pytest.approx(np.sort(wanted))
    assert sum(text == "1,500" for text in texts(ax)) == 1  # rows once
    assert {"one, adjusted p > 0.05", "two, adjusted p ≤ 0.05"} < set(legend(ax))
    assert overlapping(ax.figure) == []
    assert outside(ax.figure) == []
    found = {**found, "two": cs.audit(y, p, frame[["age"]], rng=1)}
    with pytest.raises(ValueError, match="expected audits of the same groups, found different ones"):
        cs.plot(found)


def test_one_group_and_given_axes(data):
    y, p, _ = data
    found = cs.audit(y, p, np.ones(1500, bool), rng=1)
    _, given = plt.subplots()
    assert cs.plot(found, given) is given
    assert "1 group, n = 1,500" in given.get_xlabel()
    ax = cs.plot(replace(found, names=("$5 to $10",)))
    assert not ax.get_yticklabels()[0].get_parse_math()
    assert overlapping(ax.figure) == []
    assert outside(ax.figure) == []


def test_long_names():
    assert _in_lines("age > 60 and sex = woman") == "age > 60 and sex = woman"
    assert (
        _in_lines("income of the household > 10000 and sex = woman")
        == "income of the household > 10000\nand sex = woman"
    )
    assert _in_lines("x" * 60) == "x" * 43 + "…"


def test_rare_events_are_drawn_as_ratios_on_a_logarithmic_axis():
    rng = np.random.default_rng(4)
    p = rng.beta(1, 300, 60_000)
    site = np.resize(["north", "south", "none"], p.size)
    y = (rng.random(p.size) < np.where(site == "south", 2.5 * p, p)) & (site != "none")
    found = cs.audit(y, p, pd.DataFrame({"site": site}), n_resamples=99, rng=1)
    assert found.is_rare
    ax = cs.plot(found)
    ax.figure.draw_without_rendering()
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel().startswith("Observed / predicted (O/E)\nabove 1: predictions too low")
    shown = [0, *(g for g in found.order if g != 0)]
    bars = [s[:, 0] for c in ax.collections if isinstance(c, LineCollection) for s in c.get_segments()]
    wanted = {tuple(np.round([found.ratio_low[g], found.ratio_high[g]], 9)) for g in shown if found.ratio_low[g] > 0}
    assert wanted <= {tuple(np.round(bar, 9)) for bar in bars}
    assert len(bars) == len(shown)  # the group without an event too
    assert found.ratio.min() == 0
    points = np.concatenate([line.get_xdata() for line in ax.lines if line.get_marker() in "oD"])
    assert set(np.round(found.ratio[found.ratio > 0], 9)) <= set(np.round(points.astype(float), 9))
    assert outside(ax.figure) == []


@pytest.mark.parametrize("side", ["over", "under"])
def test_of_one_side_bars_go_from_the_error_to_its_limit(data, side):
    y, p, frame = data
    found = cs.audit(y, p, cs.Groups(frame[["age"]], depth=1), side=side, rng=1)
    ax = cs.plot(found)
    bars = [s[:, 0] for c in ax.collections if isinstance(c, LineCollection) for s in c.get_segments()]
    limit = found.high if side == "over" else found.low
    wanted = 100 * np.column_stack([found.error, limit])
    assert sorted(map(tuple, np.sort(np.round(bars, 9)))) == sorted(map(tuple, np.sort(np.round(wanted, 9))))
    assert "95% limits, all at once" in legend(ax)
