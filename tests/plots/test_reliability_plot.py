"""The reliability diagram of one event shows its numbers and its band, that of several models theirs."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
from plotted_results import legend, lines, rows, segments

import calibstat as cs
from calibstat.inference.bands.bands import BANDS

pytestmark = pytest.mark.usefixtures("closed_figures")


LEGEND = {
    "consistency": "95% simultaneous consistency band",
    "confidence": "95% simultaneous confidence band",
    "monotone": None,
    "pointwise_consistency": "95% pointwise consistency bars",
    "binomial": "95% pointwise binomial bars",
    "pointwise_confidence": "95% pointwise confidence bars",
}
CURVE = {
    "consistency": "95% simultaneous band, CORP curve",
    "monotone": "95% confidence band, non-decreasing curve",
}


@cache
def diagram(band):
    return cs.reliability(*rows(2000), band=band, rng=1)


def bars_of(ax, label):
    """Middle or left and right, low and high of bars or boxes with this label."""
    for boxes in ax.containers:
        if boxes.get_label() == label:
            return np.array([[(b.get_x(), b.get_x() + b.get_width()), (b.get_y(), b.get_y() + b.get_height())]
                             for b in boxes.patches])  # fmt: skip
    return np.array(segments(ax)[label]).transpose(0, 2, 1)


@pytest.mark.parametrize("deviation", [False, True])
@pytest.mark.parametrize("band", BANDS)
def test_a_reliability_diagram_shows_its_numbers(band, deviation):
    found = diagram(band)
    ax = cs.plot(found, deviation=deviation)
    base = found.mean_prediction if deviation else 0
    if BANDS[band].compared == "frequency":
        points = np.vstack([lines(ax)[f"observed, {where}"] for where in ("inside", "outside")])
        assert len(lines(ax)["observed, outside"]) == np.sum(~found.inside)
        points = points[np.argsort(points[:, 0])]
    else:
        points = lines(ax)["observed"]
    np.testing.assert_array_equal(points, np.column_stack([found.mean_prediction, found.frequency - base]))
    if LEGEND[band]:
        bars = bars_of(ax, LEGEND[band])
        if band == "confidence":  # about the whole bin
            np.testing.assert_allclose(bars[:, 0], np.column_stack([found.left, found.right]), atol=1e-12)
        else:
            np.testing.assert_array_equal(bars[:, 0], np.column_stack([found.mean_prediction] * 2))
        np.testing.assert_allclose(bars[:, 1], np.column_stack([found.low - base, found.high - base]), atol=1e-12)
    if not deviation:
        kept = np.flatnonzero(found.corp_count >= 10)
        corners = np.column_stack([found.corp_value, found.corp_frequency])[kept[0] : kept[-1] + 1]
        np.testing.assert_array_equal(lines(ax)["CORP curve"], corners)
        assert ax.get_aspect() == 1
    low, high = found.interval.low, found.interval.high
    assert ax.get_title() == f"ECE {found.error:.3f}, 95% interval {low:.3f} to {high:.3f}"
    np.testing.assert_array_equal(lines(ax)["calibrated"], [[0, 0], [1, 0 if deviation else 1]])
    strip = ax.child_axes[0]
    np.testing.assert_array_equal([bar.get_height() for bar in strip.patches], found.count)
    np.testing.assert_allclose([bar.get_x() for bar in strip.patches], found.left, atol=1e-12)
    assert strip.texts[0].get_text() == f"{found.count[0]:.0f}"
    low, high = ax.get_ylim()
    assert low <= points[:, 1].min()
    assert points[:, 1].max() <= high


@pytest.mark.parametrize("deviation", [False, True])
@pytest.mark.parametrize("band", BANDS)
def test_the_band_of_a_curve_is_drawn_as_steps(band, deviation):
    found = diagram(band)
    ax = cs.plot(found, deviation=deviation)
    drawn = {entry.get_label(): entry for entry in ax.collections}
    label = CURVE.get(band)
    if label is None or (deviation and band == "consistency"):  # deviations are drawn without the CORP curve
        assert not set(CURVE.values()) & set(drawn)
        return
    (path,) = drawn[label].get_paths()
    random = np.random.default_rng(1)
    first, last = (
        (0, 1) if band == "monotone" else found.curve_value[[0, -1]]
    )  # the CORP curve ends with the predictions
    v = first + (last - first) * random.random(400)
    low, high = (ends - (v if deviation else 0) for ends in found.curve_at(v))
    assert path.contains_points(np.column_stack((v, low + 1e-6))).all()
    assert path.contains_points(np.column_stack((v, high - 1e-6))).all()
    assert not path.contains_points(np.column_stack((v, low - 1e-6))).any()
    assert not path.contains_points(np.column_stack((v, high + 1e-6))).any()
    bottom, top = ax.get_ylim()
    if deviation:
        assert bottom <= path.vertices[:, 1].min()
        assert path.vertices[:, 1].max() <= top


def test_the_band_of_the_corp_curve_goes_straight_between_few_predictions():
    value = np.array([0.1, 0.3, 0.6])
    sample = cs.Sample.from_counts(value, [90, 80, 70], [9, 24, 42])
    found = cs.reliability(sample, rng=1)
    drawn = {entry.get_label(): entry for entry in cs.plot(found).collections}[CURVE["consistency"]]
    (path,) = drawn.get_paths()
    corners = {tuple(corner) for corner in path.vertices.tolist()}
    assert corners == {*zip(value, found.curve_low, strict=True), *zip(value, found.curve_high, strict=True)}


def test_numbers_of_rows_are_short():
    sample = cs.Sample.from_counts([0.1, 0.3, 0.5, 0.7, 0.9], [999, 1000, 9960, 1.25e6, 3e9], np.zeros(5))
    strip = cs.plot(cs.reliability(sample, n_bins=5, band=None, interval=False)).child_axes[0]
    assert [text.get_text() for text in strip.texts] == ["999", "1.0k", "10k", "1.2M", "3.0G"]


@pytest.mark.parametrize("band", CURVE)
@pytest.mark.parametrize("values", [[0.3], [0.3] * 40, [0.3] * 20 + [0.7] * 20])
def test_the_legend_has_no_curve_that_cannot_be_seen(values, band):
    found = cs.reliability([i % 3 == 0 for i in range(len(values))], values, band=band, rng=1)
    seen = {"CORP curve", CURVE[band]} & set(cs.plot(found).get_legend_handles_labels()[1])
    steps = {CURVE["monotone"]} & {CURVE[band]}  # go from 0 to 1, whatever is predicted
    assert seen == ({"CORP curve", CURVE[band]} if len(set(values)) > 1 else steps)


def test_a_curve_does_not_begin_at_0_because_of_one_row():
    """One row of the smallest prediction without the event, then 9 and 11 rows: the first piece of 10 or more."""
    for few, first in ((9, 0.4), (11, 0.2)):
        sample = cs.Sample.from_counts([0.1, 0.2, 0.4, 0.8], [1, few, 100, 100], [0, 1, 40, 80])
        corners = lines(cs.plot(cs.reliability(sample, rng=1)))["CORP curve"]
        assert corners[0, 0] == first
        assert corners[-1].tolist() == [0.8, 0.8]
    nowhere = cs.reliability([0, 1, 1], [0.2, 0.5, 0.9], rng=1)
    assert "CORP curve" not in lines(cs.plot(nowhere))
    summary = cs.Sample.from_rows([0, 1, 0, 1], [0.1, 0.2, 0.5, 0.9], [0.001, 0.2, 0.3, 0.499])
    weighted = cs.reliability(summary, band=None)
    ax = cs.plot(weighted)
    assert lines(ax)["CORP curve"][0, 0] == 0.2  # the first has less than 1 % of the weight
    assert ax.get_title() == f"ECE {weighted.error:.3g}"
    assert ax.child_axes[0].get_ylabel() == "Weight"


@pytest.mark.parametrize("deviation", [False, True])
def test_several_models_share_given_axes(deviation):
    y, p = rows(2000)
    found = cs.reliability(y, {"A": p, "B": p**2, "C": np.full(2000, 0.5)}, rng=1)
    ax = cs.plot(found, plt.subplots(layout="constrained")[1], deviation=deviation)
    for one, (name, text) in zip(found.values(), zip("ABC", legend(ax), strict=False), strict=True):
        e = one.interval
        assert text == f"{name}\nECE {e.estimate:.3f} [{e.low:.3f}, {e.high:.3f}]"
    assert legend(ax)[3:] == ["inside its own band", "outside"]
    assert ax.get_title() == "ECE with 95% intervals"
    marks = [line for line in ax.lines if line.get_linestyle() == "None" and len(line.get_xdata())]
    drawn = sorted(tuple(point) for line in marks for point in line.get_xydata())
    base = {name: one.mean_prediction * deviation for name, one in found.items()}
    expected = [(x, z) for k, one in found.items()
                for x, z in zip(one.mean_prediction, one.frequency - base[k], strict=True)]  # fmt: skip
    np.testing.assert_array_equal(drawn, sorted(expected))
    full = sum(len(line.get_xdata()) for line in marks if line.get_markerfacecolor() != "white")
    assert full == sum(np.sum(~one.inside) for one in found.values())
    assert len({line.get_marker() for line in marks}) == 3
    heights = [line.get_ydata() for line in ax.child_axes[0].lines]
    for one, height in zip(found.values(), heights, strict=True):
        np.testing.assert_array_equal(height, one.count)


def test_an_error_over_quantile_bins_is_called_so():
    """Tables of measures have the error over bins of equal width, which is another number."""
    y, p = cs.generators.calibrated().sample(500, rng=1)
    title = cs.plot(cs.reliability(y, p, strategy="quantile", rng=1)).get_title()
    assert title.startswith("ECE in quantile bins 0.")
    assert cs.plot(cs.reliability(y, p, rng=1)).get_title().startswith("ECE 0.")


def test_a_calibration_map_is_a_line():
    curve = cs.generators.temperature(2).curve
    found = cs.reliability(*rows(2000), null=curve, rng=1)
    for deviation in (False, True):
        line = lines(cs.plot(found, deviation=deviation))["if the function curve is right"]
        base = found.mean_prediction if deviation else 0
        np.testing.assert_array_equal(line, np.column_stack([found.mean_prediction, found.expected - base]))
