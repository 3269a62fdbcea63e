"""One name, one number: whatever two verbs print under one name, of the same thing, on one data set is equal."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss

import calibstat as cs
from calibstat.cli.class_report import assess_classes
from calibstat.cli.findings import assess

FEW = {"n_resamples": 5, "rng": 1}
GRID = (0.0, 0.0, 0.1, 1 / 3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.0)
INTERVALS = ("ece", "ks", "kuiper", "kernel_ce", "smooth_ce", "smooth_ece", "brier", "log_loss")
TOP, VECTORS, OUTCOME = "the most likely class", "all classes jointly", "outcome 1"


@st.composite
def binary(draw):
    n = draw(st.integers(4, 25))
    p = np.array(draw(st.lists(st.sampled_from(GRID), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    form = draw(st.sampled_from([lambda p: p, lambda p: p[:, None], lambda p: np.column_stack((1 - p, p))]))
    return y, p, form(p)


@st.composite
def classes(draw):
    n, k = draw(st.integers(4, 15)), draw(st.integers(3, 5))
    rows = st.lists(st.sampled_from((0, 0, 1, 1, 2, 5)), min_size=k, max_size=k).filter(any)
    weight = np.array(draw(st.lists(rows, min_size=n, max_size=n)), float)
    return np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))), weight / weight.sum(
        axis=1, keepdims=True
    )


def numbers(y, p):
    """Every number with a name that the verbs find, under its name and what it is of."""
    found = {}

    def put(verb, name, of, value):
        found.setdefault((name, of), {})[verb] = float(value)

    several = np.ndim(p) == 2 and np.shape(p)[1] > 2
    default = TOP if several else OUTCOME
    summary = cs.summarize(y, {"m": p}, **FEW)
    for name, of, value in zip(summary.measures, summary.subjects, summary.estimate[0], strict=True):
        put("summarize", name, of, value)
    for lens, of in ((None, default), *([("canonical", VECTORS)] if several else [])):
        events = [*INTERVALS, "average_ce", "mcb"] if lens is None else ["brier", "log_loss"]
        for name in events:
            asked = {"measure": name, "lens": lens}
            value = cs.estimate(y, p, **asked)
            put("estimate", name, of, value)
            put("test", name, of, cs.calibration_test(y, p, **asked, **FEW).statistic)
            put("detail", name, of, cs.detail(y, p, **asked).estimate) if lens is None else None
            if name in INTERVALS and math.isfinite(value):
                method = "basic" if name == "log_loss" else "honest"  # which takes ten events of either kind
                put("interval", name, of, cs.confidence_interval(y, p, **asked, method=method, **FEW).estimate)
            if name in INTERVALS and name != "smooth_ece" and math.isfinite(value):
                compared = cs.compare(y, {"a": p, "b": p}, **asked, **FEW)
                put("compare", name, of, compared.estimates[0])
    for name in ("ece", "kernel_ce", "ks"):
        gap = cs.generalization_gap((y, p), (y, p), measure=name, **FEW)
        put("generalization_gap", name, gap.subject, gap.test.estimate)
    parts = cs.decompose(y, p)
    put("decompose", "brier", default, parts.score)
    put("decompose", "mcb", default, parts["mcb"])
    put("family", "adaptive_calibration_error", VECTORS, cs.gce_family(y, p)["ACE"])
    put("estimate", "adaptive_calibration_error", VECTORS, cs.estimate(y, p, measure="gce", binning="adaptive"))
    diagram = cs.reliability(y, p, n_bins=15, strategy="uniform", band=None)
    share = diagram.count / diagram.count.sum()
    put("reliability", "ece", default, share @ np.abs(diagram.frequency - diagram.mean_prediction))
    return found


def check(found):
    for key, values in found.items():
        expected = next(iter(values.values()))
        for verb, value in values.items():
            assert value == pytest.approx(expected, abs=1e-9, nan_ok=True), (key, verb, values)


@settings(max_examples=12)
@given(binary())
def test_of_two_outcomes(data):
    y, p, form = data
    found = numbers(y, form)
    check(found)
    brier, loss = found["brier", OUTCOME]["summarize"], found["log_loss", OUTCOME]["summarize"]
    assert brier == pytest.approx(brier_score_loss(y, p), abs=1e-12)
    if math.isfinite(loss):
        assert loss == pytest.approx(log_loss(y, p, labels=[0, 1]), abs=1e-9)
    assert len(found["ece", OUTCOME]) == 8  # so many verbs agreed


@settings(max_examples=12)
@given(classes())
def test_of_several_classes(data):
    found = numbers(*data)
    check(found)
    assert len(found["ece", TOP]) == 8
    assert {"summarize", "estimate", "compare", "test", "interval"} <= set(found["brier", VECTORS])


def test_a_second_definition_would_be_found():
    with pytest.raises(AssertionError, match="outcome 1"):
        check({("brier", OUTCOME): {"estimate": 0.2, "summarize": 0.4}})


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_the_tables_of_the_report(columns):
    """What the report prints is what the verbs say; two columns are those of outcome 1."""
    if columns == 3:
        y, p = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(120, rng=1)
    else:
        y, p = cs.generators.temperature(2).sample(120, rng=1)
    data = cs.Sample.from_rows(y, p) if columns == 1 else cs.Predictions.from_rows(y, p, labels=range(max(2, columns)))
    for name in ("ece", "average_ce", "smooth_ece", "brier", "log_loss"):
        assert assess(data, name).estimate == pytest.approx(cs.estimate(y, p, measure=name), abs=1e-12)
    if columns == 3:
        found = assess_classes(cs.Data(y, p, labels=range(3)), "ece").estimate
        assert found == pytest.approx(cs.estimate(y, p, lens="class_wise"), abs=1e-12)
