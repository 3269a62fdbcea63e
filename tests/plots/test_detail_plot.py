"""Details of measures show their curves."""

import numpy as np
import pytest
from plotted_results import legend, lines, rows, segments

import calibstat as cs

pytestmark = pytest.mark.usefixtures("closed_figures")


def test_details_show_their_curves():
    y, p = rows(300)
    value = np.sort(p)
    found = cs.detail(y, p, measure="kuiper")
    ax = cs.plot(found)
    np.testing.assert_array_equal(lines(ax)["sum of residuals / n"][1:], np.column_stack([value, found["cumulative"]]))
    curve = np.append(0, found["cumulative"])
    assert sorted(lines(ax)["extremes"][:, 1]) == [curve.min(), curve.max()]
    ks = lines(cs.plot(cs.detail(y, p, measure="ks")))["extremes"]
    assert ks[0].tolist() == [0, 0]
    assert abs(ks[1, 1]) == pytest.approx(cs.estimate(y, p, measure="ks"), rel=1e-12)
    found = cs.detail(y, p, measure="kernel_ce")
    assert any(np.array_equal(line[:, 1], found["witness"]) for line in lines(cs.plot(found)).values())
    found = cs.detail(y, p, measure="smooth_ce")
    ax = cs.plot(found)
    for label, field in (("sum of residuals / n", "cumulative"), ("denoised", "denoised")):
        np.testing.assert_array_equal(lines(ax)[label][1:], np.column_stack([value, found[field]]))
    scale, drawn = ax.child_axes[0], lines(ax)["witness (right scale)"]
    scale.apply_aspect()  # as drawing does: its limits follow those of the axes
    on_right = np.interp(drawn[:, 1], ax.get_ylim(), scale.get_ylim())
    np.testing.assert_allclose(on_right, found["witness"], atol=1e-12)
    found = cs.detail(y, p, measure="smooth_ece")
    drawn = lines(cs.plot(found, deviation=True))[f"smoothed residual, bandwidth {found['bandwidth']:.3g}"]
    np.testing.assert_array_equal(drawn, np.column_stack([found["grid"], found["residual"]]))
    found = cs.detail(y, p, measure="mcb")
    ax = cs.plot(found)
    np.testing.assert_array_equal(lines(ax)["CORP recalibration"], np.column_stack([value, found["recalibrated"]]))
    assert f"MCB {found['mcb']:.4f}" in ax.get_title()
    found = cs.detail(y, p, measure="ece")
    gaps = np.array(segments(cs.plot(found))["gap"])
    np.testing.assert_array_equal(gaps[:, :, 1], np.column_stack([found["mean_prediction"], found["frequency"]]))
    losses = lines(cs.plot(cs.detail(y, p, measure="brier")))
    np.testing.assert_array_equal(losses["if the outcome is 1"], np.column_stack([value, (1 - value) ** 2]))
    np.testing.assert_array_equal(losses["if the outcome is 0"], np.column_stack([value, value**2]))


def test_smooth_ece_is_drawn_as_thick_as_predictions_are_dense():
    """Half of the rows near .2 and half near .7, none elsewhere: there the curve is not drawn."""
    sample = cs.Sample.from_counts([0.2, 0.7], [200, 100], [60, 60])
    found = cs.detail(sample, measure="smooth_ece", bandwidth=0.05)
    ax = cs.plot(found)
    curve = lines(ax)["smoothed frequency, bandwidth 0.05"]
    near = [np.nanargmin(np.abs(curve[:, 0] - v)) for v in (0.2, 0.7)]
    assert curve[near, 1] == pytest.approx([0.3, 0.6], abs=0.005)  # the frequencies 60/200 and 60/100
    far = np.abs(found["grid"] - 0.45) < 0.01
    assert np.isnan(curve[far]).all()
    (band,) = (area for area in ax.collections if area.get_label() == "thickness: density of the predictions")
    edges = np.concatenate([path.vertices for path in band.get_paths()])
    widths = [np.ptp(edges[np.abs(edges[:, 0] - v) < 1e-3, 1]) for v in (0.2, 0.7)]
    assert widths == pytest.approx([0.12, 0.06], abs=0.006)  # half as many rows


def test_details_show_distances():
    few = cs.Sample.from_counts([0.2, 0.3, 0.8], [10, 10, 20], [1, 9, 12])
    found = cs.detail(few, measure="upper_distance")
    ax = cs.plot(found)
    np.testing.assert_array_equal(lines(ax)["mean outcome of its cell"][:, 1], found["merged"])
    moves = np.array(segments(ax)["how far it moves"])[:, :, 1]
    np.testing.assert_array_equal(moves, np.column_stack([found["value"], found["merged"]]))
    found = cs.detail(few, measure="lower_distance", grid=10)
    ax = cs.plot(found)
    for label, field in (("weight if the outcome is 1", "weight_positive"), ("if the outcome is 0", "weight_negative")):
        np.testing.assert_array_equal(lines(ax)[label][:, 1], found[field])
    assert "certainly" in ax.get_title()
    found = cs.detail(*rows(300), measure="upper_distance")
    ax = cs.plot(found)
    low, high = found["bracket"]
    assert legend(ax) == [f"between {low:.3g} and {high:.3g}"]
    assert [patch.get_x() for patch in ax.patches] == [low]
    assert ax.patches[0].get_width() == pytest.approx(high - low)
