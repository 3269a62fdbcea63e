"""Every plot: what is drawn equals the result, everything is labelled, nothing global changes."""

import functools

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import calibstat as cs
from calibstat.inference.confidence_interval import ConfidenceInterval
from calibstat.inference.estimate import MeasureDetail

DETAILED = ["ece", "ks", "kuiper", "kernel_ce", "smooth_ce", "smooth_ece", "mcb", "brier", "log_loss"]
DETAILED += ["interval_ce", "random_interval_ce", "surrogate_interval_ce", "post_processing_gap"]

DETAILED += ["lower_distance", "upper_distance"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def rows(n, bad=True, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(float), p**2 / (p**2 + (1 - p) ** 2) if bad else p


def interval(low, high, estimate, measure="ece", method="honest"):
    return ConfidenceInterval(low, high, estimate, 0.95, method, "what it covers", measure, "event", 100, 999)


@functools.cache
def results():
    y, p = rows(300)
    found = {f"detail of {name}": cs.detail(y, p, measure=name) for name in DETAILED}
    for band in ("consistency", "confidence", None):
        for deviation in (False, True):
            found[f"{band}, {deviation}"] = cs.reliability(y, p, band=band, deviation=deviation, rng=1)
    found["test"] = cs.calibration_test(y, p, rng=1)
    found["interval"] = interval(0.01, 0.03, 0.02)
    found["intervals"] = [interval(0.01, 0.03, 0.02), interval(-0.01, 0.03, 0.04, "ks", "basic")]
    found["named intervals"] = {"A": interval(0.01, 0.03, 0.02), "B": interval(0, 0.02, 0.01)}
    return found


def lines(ax):
    return {line.get_label(): line.get_xydata() for line in ax.lines}


def segments(ax):
    return {entry.get_label(): entry.get_segments() for entry in ax.collections if hasattr(entry, "get_segments")}


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("given_ax", [False, True])
@pytest.mark.parametrize("name", results())
def test_every_result_is_drawn_and_labelled(name, given_ax):
    result = results()[name]
    ax = plt.subplots(layout="constrained")[1] if given_ax else None
    before = dict(mpl.rcParams), len(plt.get_fignums())
    drawn = cs.plot(result, ax)
    drawn.figure.canvas.draw()
    assert drawn is ax or not given_ax
    assert len(plt.get_fignums()) == before[1] + (not given_ax)
    assert dict(mpl.rcParams) == before[0]
    assert all(legend(drawn))
    assert len(legend(drawn)) >= 1
    assert "Predicted probability" in [a.get_xlabel() for a in drawn.figure.axes] or drawn.get_xlabel()
    if "interval" not in name:  # the names of intervals are their axis
        assert drawn.get_ylabel()


@pytest.mark.parametrize("deviation", [False, True])
@pytest.mark.parametrize("band", ["consistency", "confidence"])
def test_a_reliability_diagram_shows_its_numbers(band, deviation):
    found = cs.reliability(*rows(2000), band=band, deviation=deviation, rng=1)
    ax = cs.plot(found)
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


def test_a_test_shows_its_null_distribution():
    found = cs.calibration_test(*rows(200), rng=1, measure="ks")
    ax = cs.plot(found)
    assert sum(ax.patches[0].get_data().values) == 999
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [found.statistic] * 2)
    assert f"p = {found.pvalue:.2g}" in ax.get_title()
    assert ax.get_xlabel() == "ks"


def test_intervals_show_their_ends():
    found = {"A": interval(0.01, 0.03, 0.02), "B": interval(0.02, 0.05, 0.06, method="basic")}  # estimate outside
    ax = cs.plot(found)
    bars = segments(ax)["95% confidence interval"]
    np.testing.assert_array_equal(bars, [[[0.01, 0], [0.03, 0]], [[0.02, 1], [0.05, 1]]])
    np.testing.assert_array_equal(lines(ax)["estimate"], [[0.02, 0], [0.06, 1]])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["A", "B"]
    assert "0.06 [0.02, 0.05]" in [text.get_text() for text in ax.texts]


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
    drawn = lines(cs.plot(found))[f"smoothed residual, bandwidth {found['bandwidth']:.3g}"]
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


def test_roles_have_colours_that_stay_apart():
    """Blue against red and green against red differ in lightness or blue, which colour-blind readers keep."""
    from calibstat.plots.style import colors

    colors = colors()
    for one, other in (("blue", "red"), ("green", "red"), ("blue", "orange")):
        (r1, g1, b1), (r2, g2, b2) = colors[one], colors[other]
        assert abs((r1 + g1) - (r2 + g2)) / 2 + abs(b1 - b2) > 0.3


@pytest.mark.parametrize("thing", [None, 0.3, "ece", [], {}, [1, 2], {"A": 1}, MeasureDetail("mine", 0.1, 3, {})])
def test_other_things_are_refused_by_name(thing):
    with pytest.raises(TypeError, match=r"expected a (Reliability, CalibrationTestResult|MeasureDetail)"):
        cs.plot(thing)


@pytest.mark.parametrize(
    "data",
    [
        [(0, 0.5)],
        [(1, 1.0)],
        [(0, 0.0), (1, 0.0)],
        [(1, 0.2)] * 3 + [(1, 0.7)] * 2,
        [(0, 0.4), (0, 0.4), (1, 0.4)],
    ],
)
def test_small_and_degenerate_data_are_drawn_without_warnings(data):
    y, p = np.array(data, dtype=float).T
    kinds = [{"strategy": "uniform"}, {"strategy": "quantile", "deviation": True}, {"band": "confidence"}]
    found = [cs.reliability(y, p, rng=1, n_resamples=50, **kind) for kind in kinds]
    found += [cs.detail(y, p, measure=name) for name in DETAILED]
    found += [cs.calibration_test(y, p, rng=1, n_resamples=19, measure="brier")]
    for result in found:
        cs.plot(result).figure.canvas.draw()
        plt.close("all")


def test_display_from_predictions():
    y, p = rows(200)
    display = cs.ReliabilityDisplay.from_predictions(y, p, n_bins=5, band="confidence", name="forest")
    assert display.ax_.figure is display.figure_
    assert display.ax_.get_legend().get_title().get_text() == "forest"
    np.testing.assert_array_equal(display.reliability.low, cs.reliability(y, p, n_bins=5, band="confidence").low)
    ax = plt.subplots()[1]
    assert display.plot(ax, name="again") is display
    assert display.ax_ is ax
    assert ax.get_legend().get_title().get_text() == "again"


def test_display_from_estimator():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(rng.random(200) < 1 / (1 + np.exp(-X[:, 0])), "yes", "no")
    model = LogisticRegression().fit(X, y)
    display = cs.ReliabilityDisplay.from_estimator(model, X, y, rng=1)
    assert display.name == "LogisticRegression"
    expected = cs.reliability((y == "yes") * 1, model.predict_proba(X)[:, 1], rng=1)
    np.testing.assert_array_equal(display.reliability.frequency, expected.frequency)
    other = cs.ReliabilityDisplay.from_estimator(model, X, y, rng=1, pos_label="no", ax=plt.subplots()[1])
    expected = cs.reliability((y == "no") * 1, model.predict_proba(X)[:, 0], rng=1)
    np.testing.assert_array_equal(other.reliability.frequency, expected.frequency)
    with pytest.raises(ValueError, match="pos_label"):
        cs.ReliabilityDisplay.from_estimator(model, X, y, pos_label="maybe")
    with pytest.raises(ValueError, match="two classes, found 3"):
        cs.ReliabilityDisplay.from_estimator(LogisticRegression().fit(X, np.arange(200) % 3), X, y)
    with pytest.raises(TypeError, match="predict_proba"):
        cs.ReliabilityDisplay.from_estimator(object(), X, y)
