"""Predictions of exactly 0 or 1, of which there is no logarithm: refused with a value for `clip`, or moved by it."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from simulation_files import study_file

import calibstat as cs
from calibstat.data import clipping as certain
from calibstat.papers.parts import recalibrations
from calibstat.recalibration import MatrixScaling, NeuralScaling, PlattScaling, TemperatureScaling, VectorScaling

Y, P = cs.generators.temperature(1.5).sample(200, rng=1)
P = P.round(2).clip(0.01, 0.99)
P[[7, 30]] = 0, 1
Y[[7, 30]] = 0, 1
VECTORS = cs.generators.dirichlet((0.5, 0.5, 0.5)).sample(300, rng=2)
VECTORS[1][11] = 0, 0.25, 0.75
VECTORS[0][11] = 1

VERBS = {  # each takes outcomes and predictions of one event, and `clip`
    "cox": lambda y, p, clip=None: cs.classical.cox(y, p, held_out=True, clip=clip).slope,
    "belt": lambda y, p, clip=None: cs.classical.calibration_belt(y, p, held_out=True, clip=clip).statistic,
    "Platt": lambda y, p, clip=None: PlattScaling(clip=clip).fit(p, y).slope_[0],
    "vector": lambda y, p, clip=None: VectorScaling(clip=clip).fit(p, y).predict_proba(p)[1],
    "matrix": lambda y, p, clip=None: MatrixScaling(clip=clip, regularisation=0.1).fit(p, y).predict_proba(p)[1],
    "regression": lambda y, p, clip=None: cs.estimate(y, p, measure="regression_ce", divergence="log_loss", clip=clip),
    "sharpness": lambda y, p, clip=None: cs.sharpness(y, p, divergence="log_loss", clip=clip).total_divergence,
    "decompose": lambda y, p, clip=None: cs.decompose(y, p, score="log_loss", method="sharpness", clip=clip).score,
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_certain_prediction_is_refused_with_its_row_and_a_value_that_helps(verb):
    with pytest.raises(ValueError, match=r"row 7; clip=\S+ moves") as caught:
        VERBS[verb](Y, P)
    clip = float(re.search(r"clip=(\S+)", str(caught.value))[1])
    assert clip == 0.005  # half of 0.01
    assert np.isfinite(VERBS[verb](Y, P, clip))


@pytest.mark.parametrize("verb", VERBS)
def test_clip_is_the_same_as_moving_predictions_before(verb):
    """But for the kernel of the regression, which sees the predictions where they were."""
    tolerance = 0.05 if verb in ("regression", "sharpness") else 1e-9
    assert VERBS[verb](Y, P, 0.02) == pytest.approx(VERBS[verb](Y, P.clip(0.02, 0.98)), rel=tolerance)


@pytest.mark.parametrize("verb", VERBS)
def test_predictions_between_are_not_moved(verb):
    kept = (P > 0) & (P < 1)
    assert VERBS[verb](Y[kept], P[kept], 0.005) == VERBS[verb](Y[kept], P[kept])


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("clip", [0, 0.5, -0.1, 1e-17, float("nan"), float("inf"), True, "0.1", [0.1]])
def test_what_clip_may_be(verb, clip):
    with pytest.raises(ValueError, match=r"expected clip None or a number from 2\*\*-53 to below 1/2, found"):
        VERBS[verb](Y, P, clip)


def test_summaries_are_refused_too():
    for verb in ("cox", "belt", "regression", "sharpness", "decompose"):
        with pytest.raises(ValueError, match=r"found 0 for row 0; clip=0\.005"):
            VERBS[verb](cs.Sample.from_rows(Y, P), None)


@pytest.mark.parametrize("kind", [PlattScaling, VectorScaling, MatrixScaling, NeuralScaling])
def test_vectors(kind):
    y, p = VECTORS
    fixed = {"random_state": 1, "max_iter": 20} if kind is NeuralScaling else {}
    with pytest.raises(ValueError, match="found 0 for class 0 at row 11; clip="):
        kind(**fixed).fit(p, y)
    moved = np.clip(p, 0.001, 0.999)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the network stops early
        one = kind(clip=0.001, **fixed).fit(p, y)
        other = kind(**fixed).fit(moved / moved.sum(axis=1, keepdims=True), y)
    assert one.predict_proba(p) == pytest.approx(
        other.predict_proba(moved / moved.sum(axis=1, keepdims=True)), abs=0.01
    )
    assert one.get_params()["clip"] == 0.001


def test_temperature_keeps_zeros_unless_they_are_observed():
    y, p = VECTORS
    assert TemperatureScaling().fit(p, y).predict_proba(p)[11, 0] == 0
    y = np.where(np.arange(y.size) == 11, 0, y)
    with pytest.raises(ValueError, match="class 0 at row 11; the log loss is infinite whatever is fitted; clip="):
        TemperatureScaling().fit(p, y)
    assert TemperatureScaling(clip=0.01).fit(p, y).predict_proba(p)[11, 0] > 0


# --- the value that is named -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        ([0, 0.3, 1], 0.15),
        ([0, 0.3, 0.99], 0.005),
        ([0, 1e-12, 0.5], 2.0**-24),
        ([0, 1, 1], 1 / 8),  # no other: 1 / (2 n + 2)
        ([[1, 0], [0.25, 0.75]], 0.125),
    ],
)
def test_suggested(p, expected):
    assert certain.suggested(np.array(p, np.float64)) == pytest.approx(expected)


@given(st.lists(st.sampled_from([0.0, 1.0, 0.5, 0.01, 1e-9, 1 - 2.0**-53, 5e-324]), min_size=1, max_size=6))
def test_suggested_may_be_given(p):
    p = np.array(p)
    clip = float(f"{certain.suggested(p):.2g}")
    out = certain.uncertain(p, clip, "a test")
    assert out.min() >= clip
    assert out.max() <= 1 - clip


# --- infinite means --------------------------------------------------------------------------------------------------

FAILED = [0, 1, 1, 0], [0.2, 0.9, 0.0, 0.3]  # row 2


def test_an_infinite_mean_is_infinite_and_names_its_row():
    for predictions in (FAILED[1], np.column_stack([1 - np.array(FAILED[1]), FAILED[1]])):
        found = cs.confidence_interval(FAILED[0], predictions, measure="log_loss", lens=None)
        assert (found.low, found.high, found.estimate) == (np.inf,) * 3
        assert found.why_infinite == "the observed outcome at row 2 had probability 0"
        test = cs.calibration_test(FAILED[0], predictions, measure="log_loss", n_resamples=19, rng=1)
        assert test.statistic == np.inf
        assert "row 2" in str(test)
    y, p = VECTORS
    y = np.where(np.arange(y.size) == 11, 0, y)
    for method in ("honest", "percentile", "basic"):
        found = cs.confidence_interval(y, p, measure="log_loss", lens="canonical", method=method, n_resamples=9)
        assert (found.low, found.high) == (np.inf, np.inf)
        assert "row 11" in str(found)
    clustered = cs.confidence_interval(*FAILED, measure="log_loss", cluster=[0, 0, 1, 1], n_resamples=9)
    assert (clustered.low, clustered.high) == (np.inf, np.inf)


def test_the_interval_of_a_moved_loss_knows_the_largest_loss():
    """It is that of the losses themselves, which are at most -log(.01)."""
    y, p = Y[:60], P[:60]
    found = cs.confidence_interval(y, 1 - p, measure="log_loss", clip=0.01)
    exact = stats.ttest_1samp(-np.log(np.clip(np.where(y == 1, 1 - p, p), 0.01, 0.99)), 0).confidence_interval(0.95)
    assert exact.high < found.high < 2 * exact.high - exact.low
    assert not found.why_infinite
    assert cs.confidence_interval(y, np.round(p), measure="log_loss", clip=0.01).high < -np.log(0.01)


def test_the_moved_loss_of_every_verb_is_one_number():
    y, p = VECTORS
    y = np.where(np.arange(y.size) == 11, 0, y)
    expected = -np.log(np.clip(p[np.arange(y.size), y], 0.01, 0.99)).mean()
    loss = {"measure": "log_loss", "lens": "canonical", "clip": 0.01}
    assert cs.estimate(y, p, **loss) == pytest.approx(expected)
    assert cs.calibration_test(y, p, **loss, n_resamples=9, rng=1).statistic == pytest.approx(expected)
    assert cs.compare(y, {"a": p, "b": p[:, ::-1]}, **loss, n_resamples=9, rng=1).estimates[0] == pytest.approx(
        expected
    )
    assert cs.summarize(y, {"a": p}, clip=0.01, n_resamples=9, rng=1).estimate[0, -2] == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"finite log_loss; it is infinite at row 11, .*; clip="):
        cs.compare(y, {"a": p, "b": p[:, ::-1]}, measure="log_loss", lens="canonical", n_resamples=9)


@pytest.mark.parametrize("clip", [0.05, 0.2])
def test_the_truth_of_the_moved_loss(clip):
    family = cs.generators.temperature(2)
    y, p = family.sample(200_000, rng=3)
    truth = family.truth("log_loss", clip=clip)
    loss = -np.log(np.clip(np.where(y == 1, p, 1 - p), clip, 1 - clip))
    assert truth == pytest.approx(loss.mean(), abs=4 * loss.std() / np.sqrt(y.size))
    family = cs.generators.dirichlet((0.5, 0.5, 0.5), temperature=2)
    y, p = family.sample(200_000, rng=3)
    loss = -np.log(np.clip(p[np.arange(y.size), y], clip, 1 - clip))
    truth = family.truth("log_loss", lens="canonical", clip=clip)
    assert truth == pytest.approx(loss.mean(), abs=4 * loss.std() / np.sqrt(y.size) + 1e-4)


# --- the study of recalibrations -------------------------------------------------------------------------------------


@pytest.mark.parametrize("absent", [False, True])
def test_the_study_takes_certain_predictions_and_absent_classes(absent, tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    recalibration = study_file("recalibration")
    y, p = cs.generators.dirichlet((0.5, 0.5, 0.5, 0.5)).sample(300, rng=1)
    if absent:
        y = np.where(y == 3, 0, y)
    else:
        p[0], y[0] = (1, 0, 0, 0), 1
    np.savez(tmp_path / "given.npz", prob=p, y=y)
    monkeypatch.setattr(recalibrations, "PASSES", 5)
    found = recalibration.table(quick=True, data=[tmp_path / "given.npz"])
    moved = found[found["measure"] == "clip"]["mean"].tolist()
    assert moved == ([] if absent else [pytest.approx(certain.suggested(p))])
    summary = found[(found["question"] == "summary") & (found["measure"] == "log_loss")].set_index("model")
    assert not summary[["mean", "low", "high"]].isna().any(axis=None)
    assert np.isfinite(summary.loc[["temperature", "Platt", "vector", "matrix"], "mean"]).all()
    assert set(recalibration.figures(found)) == {"", "ranks", "agreement"}
