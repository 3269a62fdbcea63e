"""Plots of calibration-sharpness diagrams show the numbers of the result."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import calibstat as cs
from calibstat.inference.sharpness import sharpness
from calibstat.measures import regression_ce as regression  # noqa: F401  (registers the measure)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def models():
    y, p = cs.generators.temperature(2).sample(2000, rng=1)
    q = np.full(2000, y.mean())
    return {"as it is": sharpness(y, p), "constant": sharpness(y, q), "reversed": sharpness(1 - y, p)}


def band(ax):
    return next(entry for entry in ax.collections if "gap" in entry.get_label()).get_paths()[0].vertices


def test_a_diagram_shows_its_numbers():
    found = models()["as it is"]
    ax = cs.plot(found)
    lines = {line.get_label(): line.get_xydata() for line in ax.lines}
    np.testing.assert_array_equal(lines["calibrated"], [[0, 0], [1, 1]])
    np.testing.assert_array_equal(lines["calibration curve"], np.column_stack([found.grid, found.curve]))
    assert band(ax)[:, 1].max() == np.nanmax(found.high)
    assert band(ax)[:, 1].min() == np.nanmin(found.low) >= 0
    error, gap, total = found.standard_error.values()
    assert [text.get_text() for text in ax.texts] == [
        f"calibration error {found.calibration_error:.4f} ± {error:.4f}\n"
        f"sharpness gap {found.sharpness_gap:.4f} ± {gap:.4f}\n"
        f"total divergence {found.total_divergence:.4f} ± {total:.4f} (Brier)"
    ]
    density = ax.child_axes[0].collections[0].get_paths()[0].vertices
    assert density[:, 1].max() == found.density.max()
    assert ax.get_xlabel() == "Predicted probability"
    assert ax.get_ylabel() == "Observed frequency"
    assert len(ax.get_legend().get_texts()) == 4
    ax = plt.subplots()[1]
    assert cs.plot(found, ax) is ax


def test_several_models_share_their_axes():
    found = models()
    first = cs.plot(found)
    panels = first.figure.axes
    first.figure.draw_without_rendering()
    assert [panel.get_title() for panel in panels] == list(found)
    assert len({panel.get_ylim() for panel in panels}) == 1
    assert first.get_ylim()[1] > max(np.nanmax(one.high) for one in found.values()) > 1  # the band is not cut off at 1
    assert len({panel.child_axes[0].get_ylim() for panel in panels}) == 1
    for panel, one in zip(panels, found.values(), strict=True):
        assert f"{one.calibration_error:.4f}" in panel.texts[0].get_text()
    with pytest.raises(ValueError, match="expected no axes"):
        cs.plot(found, plt.subplots()[1])
    assert len(cs.plot(dict.fromkeys("abcdef", found["constant"])).figure.axes) == 6
    assert cs.plot({"one": found["constant"]}).get_title() == "one"
    with pytest.raises(TypeError, match=r"CalibrationSharpness, .* a mapping from name to one of these"):
        cs.plot([*found.values()])


@pytest.mark.slow
def test_a_million_rows_are_drawn_in_seconds():
    import time

    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(10), 1_000_000)
    y = rng.integers(0, 10, 1_000_000)
    cs.plot(sharpness(y[:100], prob[:100]))
    start = time.perf_counter()
    cs.plot(sharpness(y, prob)).figure.draw_without_rendering()
    assert time.perf_counter() - start < 10  # 2 seconds; the rest is for busy machines
