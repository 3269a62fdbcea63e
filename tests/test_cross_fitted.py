"""Recalibration on held-out folds: no row is predicted by a map that has seen it."""

import numpy as np
import pandas as pd
import pytest
from quick_report import quick_report

import calibstat as cs
from calibstat.recalibration import HistogramBinning, IsotonicRegression
from calibstat.reporting.cross_fitted import FOLDS, default_recalibrator, folds_of, held_out_predictions

Y, P = cs.generators.temperature(2).sample(200, rng=1)
DATA = cs.Predictions.from_rows(Y, P)


def test_folds_are_balanced_and_do_not_depend_on_the_order_of_rows():
    fold = folds_of(DATA, None)
    order = np.random.default_rng(0).permutation(200)
    assert folds_of(cs.Predictions.from_rows(Y[order], P[order]), None).tolist() == fold[order].tolist()
    assert np.bincount(fold).tolist() == [40] * FOLDS
    events = np.bincount(fold, weights=Y)
    assert np.ptp(events) <= 1


def test_clusters_stay_together():
    unit = np.arange(200) // 8
    fold = folds_of(DATA, unit)
    assert all(len(set(fold[unit == u])) == 1 for u in range(25))
    assert np.bincount(fold).tolist() == [40] * FOLDS


def test_each_fold_is_predicted_by_the_others():
    fold = folds_of(DATA, None)
    found = held_out_predictions(DATA, fold, IsotonicRegression())
    for k in range(FOLDS):
        fitted = IsotonicRegression().fit(P[fold != k], Y[fold != k])
        assert found[fold == k, 1] == pytest.approx(fitted.predict_proba(P[fold == k]))
    changed = cs.Predictions.from_rows(np.where(fold == 2, 1 - Y, Y), P)
    assert (held_out_predictions(changed, fold, IsotonicRegression())[fold == 2] == found[fold == 2]).all()


def test_the_map_follows_the_classes_and_certain_predictions_are_moved():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(60, rng=2)
    assert repr(default_recalibrator(DATA)) == "PlattScaling()"
    assert repr(default_recalibrator(cs.Predictions.from_rows(label, prob))) == "TemperatureScaling()"
    assert "clip=" in repr(default_recalibrator(cs.Predictions.from_rows([0, 1], [0.0, 0.5])))


def test_the_report_is_before_and_after():
    y, p = cs.generators.temperature(2).sample(600, rng=1)
    model = quick_report(y, p, recalibrate=True).models["model"]
    found = model.recalibrated
    assert found.before.to_dict() == model.ece.to_dict()
    assert found.after.estimate < found.before.estimate
    assert found.brier.low[0] > 0  # before minus after
    assert f"after, a change of -{found.brier.difference[0]:.4f} [" in str(found)
    assert "PlattScaling(), fitted on 4 of 5 parts of the rows" in str(found)
    own = quick_report(y, p, recalibrate=HistogramBinning()).models["model"].recalibrated
    assert own.recalibrator == "HistogramBinning()"


@pytest.mark.parametrize("width", [2, 3])
def test_words_and_columns_with_their_names_are_as_numbers(width):
    names = ["hen", "cat", "dog"][:width]
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)[:width], temperature=2).sample(100, rng=1)
    words = np.array(names)[label]
    by_number = quick_report(label, prob, recalibrate=True).models["model"].recalibrated
    frame = pd.DataFrame(prob, columns=names)
    for given in (frame, frame[names[::-1]])[: 4 - width]:  # folds of more than two classes follow their order
        pos_label = {"pos_label": names[1]} if width == 2 else {}
        found = quick_report(words, given, recalibrate=True, **pos_label).models["model"].recalibrated
        assert found.after.high == pytest.approx(by_number.after.high, rel=1e-6)
        assert found.brier.high == pytest.approx(by_number.brier.high, rel=1e-6)


def test_predictions_of_zero_and_one_are_no_obstacle():
    p = np.repeat([0.0, 0.4, 1.0], [20, 20, 20])
    found = quick_report(np.arange(60) % 2, p, recalibrate=True).models["model"].recalibrated
    assert 0 <= found.after.estimate < found.before.estimate
