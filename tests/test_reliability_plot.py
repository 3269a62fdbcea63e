"""The reliability diagram of one event shows its numbers."""

import numpy as np
import pytest
from plotted_results import lines, rows, segments

import calibstat as cs

pytestmark = pytest.mark.usefixtures("closed_figures")


@pytest.mark.parametrize("deviation", [False, True])
@pytest.mark.parametrize("band", ["consistency", "confidence"])
def test_a_reliability_diagram_shows_its_numbers(band, deviation):
    found = cs.reliability(*rows(2000), band=band, rng=1)
    ax = cs.plot(found, deviation=deviation)
    base = found.mean_prediction if deviation else 0
    if band == "consistency":
        points = np.vstack([lines(ax)[f"observed, {where} bar"] for where in ("inside", "outside")])
        assert len(lines(ax)["observed, outside bar"]) == np.sum(~found.inside)
        points = points[np.argsort(points[:, 0])]
    else:
        points = lines(ax)["observed"]
    np.testing.assert_array_equal(points, np.column_stack([found.mean_prediction, found.frequency - base]))
    bars = np.array(segments(ax)[f"{90 if band == 'consistency' else 95}% {band} bars"])
    np.testing.assert_array_equal(bars[:, :, 0], np.column_stack([found.mean_prediction] * 2))
    np.testing.assert_array_equal(bars[:, :, 1], np.column_stack([found.low - base, found.high - base]))
    if not deviation:
        np.testing.assert_array_equal(
            lines(ax)["CORP curve"], np.column_stack([found.corp_value, found.corp_frequency])
        )
    np.testing.assert_array_equal(lines(ax)["calibrated"], [[0, 0], [1, 0 if deviation else 1]])
    strip = ax.figure.axes[1]
    np.testing.assert_array_equal([bar.get_height() for bar in strip.patches], found.count)
    np.testing.assert_allclose([bar.get_x() for bar in strip.patches], found.left, atol=1e-12)
    assert strip.texts[0].get_text() == f"{found.count[0]:.0f}"
    low, high = ax.get_ylim()
    assert low <= points[:, 1].min()
    assert points[:, 1].max() <= high


def test_numbers_of_rows_are_short():
    sample = cs.Sample.from_counts([0.1, 0.3, 0.5, 0.7, 0.9], [999, 1000, 9960, 1.25e6, 3e9], np.zeros(5))
    strip = cs.plot(cs.reliability(sample, n_bins=5, band=None)).figure.axes[1]
    assert [text.get_text() for text in strip.texts] == ["999", "1.0k", "10k", "1.2M", "3.0G"]
