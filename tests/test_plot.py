"""Every plot: everything is labelled, nothing global changes, other things are refused."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from plotted_results import DETAILED, legend, results

import calibstat as cs
from calibstat.inference.estimate import MeasureDetail

pytestmark = pytest.mark.usefixtures("closed_figures")


@pytest.mark.parametrize("given_ax", [False, True])
@pytest.mark.parametrize("name", results())
def test_every_result_is_drawn_and_labelled(name, given_ax):
    result = results()[name]
    result, options = result if isinstance(result, tuple) else (result, {})
    ax = plt.subplots(layout="constrained")[1] if given_ax else None
    before = dict(mpl.rcParams), len(plt.get_fignums())
    drawn = cs.plot(result, ax, **options)
    drawn.figure.canvas.draw()
    assert drawn is ax or not given_ax
    assert len(plt.get_fignums()) == before[1] + (not given_ax)
    assert dict(mpl.rcParams) == before[0]
    assert all(legend(drawn))
    assert len(legend(drawn)) >= 1
    assert "Predicted probability" in [a.get_xlabel() for a in drawn.figure.axes] or drawn.get_xlabel()
    if "interval" not in name:  # the names of intervals are their axis
        assert drawn.get_ylabel()


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
    kinds = [{"strategy": "uniform"}, {"strategy": "quantile"}, {"band": "confidence"}, {"band": "monotone"}]
    found = [cs.reliability(y, p, rng=1, n_resamples=50, **kind) for kind in kinds]
    found += [cs.detail(y, p, measure=name) for name in DETAILED]
    found += [cs.calibration_test(y, p, rng=1, n_resamples=19, measure="brier")]
    for result in found:
        cs.plot(result).figure.canvas.draw()
        plt.close("all")
    cs.plot(found[1], deviation=True).figure.canvas.draw()


@pytest.mark.parametrize("name", ["test", "interval", "named intervals", "detail of ece"])
def test_only_a_reliability_diagram_has_deviations(name):
    with pytest.raises(ValueError, match="expected a reliability diagram with deviation=True, found"):
        cs.plot(results()[name], deviation=True)
