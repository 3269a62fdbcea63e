"""Every plot: everything is labelled, nothing global changes, other things are refused."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from plotted_results import DETAILED, RESULTS, interval, legend, made, outside, per_class, rows

import calibstat as cs
from calibstat.inference.bands.bands import BANDS
from calibstat.inference.estimate import MeasureDetail

pytestmark = pytest.mark.usefixtures("closed_figures")


@pytest.mark.parametrize("given_ax", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in RESULTS), *((f"{band}", {"deviation": True}) for band in (*BANDS, None))],
)
def test_every_result_is_drawn_and_labelled(name, options, given_ax):
    result = made(name)
    ax = plt.subplots(layout="constrained")[1] if given_ax else None
    before = dict(mpl.rcParams), len(plt.get_fignums())
    drawn = cs.plot(result, ax, **options)
    if not given_ax:
        drawn.figure.draw_without_rendering()
    assert drawn is ax or not given_ax
    assert len(plt.get_fignums()) == before[1] + (not given_ax)
    assert dict(mpl.rcParams) == before[0]
    assert all(legend(drawn))
    assert len(legend(drawn)) >= 1
    assert any(axes.get_xlabel() for axes in (drawn, *drawn.child_axes))
    if "interval" not in name:  # the names of intervals are their axis
        assert drawn.get_ylabel()


@pytest.mark.parametrize("thing", [None, 0.3, "ece", [], {}, [1, 2], {"A": 1}, MeasureDetail("mine", 0.1, 3, {})])
def test_other_things_are_refused_by_name(thing):
    with pytest.raises(TypeError, match=r"expected a (Reliability, |MeasureDetail|result to draw)"):
        cs.plot(thing)


@pytest.mark.parametrize(
    "data",
    [
        [(1, 1.0)],
        [(0, 0.0), (1, 0.0)],
        [(1, 0.2)] * 3 + [(1, 0.7)] * 2,
        pytest.param([(0, 0.5)], marks=pytest.mark.slow),
        pytest.param([(0, 0.4), (0, 0.4), (1, 0.4)], marks=pytest.mark.slow),
    ],
)
def test_small_and_degenerate_data_are_drawn_without_warnings(data):
    y, p = np.array(data, dtype=float).T
    kinds = [{"strategy": "uniform"}, {"strategy": "quantile"}, {"band": "confidence"}, {"band": "monotone"}]
    found = [cs.reliability(y, p, rng=1, n_resamples=50, **kind) for kind in kinds]
    found += [cs.detail(y, p, measure=name) for name in DETAILED]
    found += [cs.calibration_test(y, p, rng=1, n_resamples=19, measure="brier")]
    for result in found:
        cs.plot(result).figure.draw_without_rendering()
        plt.close("all")
    cs.plot(found[1], deviation=True).figure.draw_without_rendering()


HOSTILE = "$5 to $10 <b>_"
LONG = "a name that goes on " * 20


@pytest.mark.parametrize("given_ax", [False, True])
@pytest.mark.parametrize("name", ["consistency", "test", "intervals", "detail of ks"])
def test_a_title_is_shown_as_it_is_above_everything(name, given_ax):
    result = made(name)
    ax = plt.subplots(layout="constrained")[1] if given_ax else None
    own = cs.plot(result).get_title()
    drawn = cs.plot(result, ax, title=HOSTILE)
    assert drawn.get_title() == "\n".join(filter(None, (HOSTILE, own)))
    assert not drawn.title.get_parse_math()
    drawn.figure.draw_without_rendering()
    assert outside(drawn.figure) == []
    above, legend = drawn.title.get_window_extent(), drawn.get_legend().get_window_extent()
    assert min(above.y1, legend.y1) - max(above.y0, legend.y0) < 1
    assert cs.plot(result, title=LONG).get_title().count("\n") <= 3


def test_classes_have_their_title_over_the_legend():
    figure = cs.plot(per_class(3), title=HOSTILE).figure
    assert figure.legends[0].get_title().get_text().startswith(HOSTILE + "\n3 classes")
    assert not figure.legends[0].get_title().get_parse_math()


@pytest.mark.parametrize("given_ax", [False, True])
def test_a_legend_can_be_left_out(given_ax):
    y, p = rows(300)
    found = cs.reliability(y, {"A": p, "B": 1 - p}, rng=1)
    ax = plt.subplots()[1] if given_ax else None
    assert cs.plot(found, ax, legend=False).get_legend() is None
    assert cs.plot(per_class(2), legend=False).figure.legends == []


def test_names_of_models_are_shown_as_they_are():
    y, p = rows(300)
    names = [HOSTILE, "_hidden", "\x1b[31mred\t<script>"]
    found = cs.reliability(y, dict(zip(names, (p, p**2, 1 - p), strict=True)), rng=1)
    shown = legend(cs.plot(found, plt.subplots(layout="constrained")[1]))
    beside = [panel.get_title() for panel in cs.plot(found).figure.axes]
    assert beside[0].startswith(HOSTILE + "\n")
    assert beside[2].startswith("\\x1b[31mred <script>\n")
    assert [text.partition("\n")[0] for text in shown[:3]] == [HOSTILE, "_hidden", "\\x1b[31mred <script>"]
    benefit = cs.plot(cs.net_benefit(y, dict(zip(names[:2], (p, 1 - p), strict=True))))
    assert legend(benefit)[2:] == names[:2]
    losses = cs.decision_loss(y, dict(zip(names[:2], (p, 1 - p), strict=True)), n_resamples=19, rng=1)
    assert legend(cs.plot(losses)) == names[:2]
    ax = cs.plot({name: interval(0.01, 0.03, 0.02) for name in names[:2]})
    assert [label.get_text() for label in ax.get_yticklabels()] == names[:2]
    for drawn in (benefit, ax):
        texts = [*drawn.get_legend().get_texts(), *drawn.get_yticklabels()]
        assert not any(text.get_parse_math() for text in texts if text.get_text() in names)
        drawn.figure.draw_without_rendering()


@pytest.mark.parametrize("name", ["test", "interval", "named intervals", "detail of ece"])
def test_only_a_reliability_diagram_has_deviations(name):
    with pytest.raises(ValueError, match="expected a reliability diagram with deviation=True, found"):
        cs.plot(made(name), deviation=True)
