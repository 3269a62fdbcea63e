"""Recalibration on held-out folds: no row is predicted by a map that has seen it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from quick_report import quick_report

import calibstat as cs
from calibstat.recalibration import HistogramBinning, IsotonicRegression
from calibstat.reporting.cross_fitted import FOLDS, default_recalibrator, folds_of, held_out_predictions

Y, P = cs.generators.temperature(2).sample(200, rng=1)
DATA = cs.Predictions.from_rows(Y, P)


def test_clusters_stay_together_whatever_their_names():
    unit = np.arange(200) // 8
    fold = folds_of(200, unit, 1)
    assert all(len(set(fold[unit == u])) == 1 for u in range(25))
    assert np.bincount(fold).tolist() == [40] * FOLDS
    renamed = np.random.default_rng(0).permutation(25)[unit]
    assert folds_of(200, renamed, 1).tolist() == fold.tolist()
    assert folds_of(200, np.arange(200), 1).tolist() == folds_of(200, None, 1).tolist()


@pytest.mark.parametrize("made", [None, np.arange(200) // 4])
def test_a_held_out_prediction_does_not_depend_on_its_own_outcome(made):
    """Folds that follow outcomes tell a flexible map those that it is to predict."""
    rows = {"recalibrate": HistogramBinning(), "cluster": made}

    def held_out(y):
        return recorded(lambda: quick_report(y, P, **rows))

    before, changed = held_out(Y), Y.copy()
    changed[17] = 1 - Y[17]
    after = held_out(changed)
    assert after[17] == before[17]
    assert (after != before).any()  # rows of other folds are predicted by a map that has seen it


def recorded(ask):
    """The held-out predictions of outcome 1 that a report makes."""
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "calibstat.reporting.cross_fitted.held_out_predictions",
            lambda *given: seen.append(held_out_predictions(*given)) or seen[-1],
        )
        ask()
    return seen[0][:, 1]


def sorted_folds(y, p):
    """Folds as they must not be dealt: rows sorted by outcome and prediction, in turn."""
    fold = np.empty(y.size, np.int64)
    fold[np.lexsort((p, y))] = np.arange(y.size) % FOLDS
    return fold


POPULATION = (np.arange(4000) + 0.5) / 4000  # predictions of the generator are uniform


def misses(recalibrator, n, n_datasets, dealt):
    """How often the mean error of the maps lies above the interval, and how often the rows show too small an error.

    That is where the interval has to be raised to what a calibrated model would show on them.
    """
    model = cs.generators.temperature(1)
    chance, above, small = model.curve(POPULATION), 0, 0
    for seed in range(n_datasets):
        y, p = model.sample(n, rng=seed)
        fold = dealt(y, p, seed)
        after = held_out_predictions(cs.Predictions.from_rows(y, p), fold, recalibrator)[:, 1]
        found, error = cs.confidence_interval(y, after, rng=seed), []
        for k in range(FOLDS):
            new = type(recalibrator)().fit(p[fold != k], y[fold != k]).predict_proba(POPULATION)
            cell = np.minimum((new * 15).astype(int), 14)
            error.append(np.abs(np.bincount(cell, chance - new)).sum() / chance.size)
        above, small = above + (np.mean(error) > found.high), small + (found.high == found.if_calibrated)
    return above, small


def at_random(y, p, seed):
    return folds_of(y.size, None, seed)


def by_outcome(y, p, seed):
    return sorted_folds(y, p)


@pytest.mark.parametrize("recalibrator", [IsotonicRegression(), HistogramBinning()])
def test_the_interval_after_recalibration_holds_the_mean_error_of_the_maps(recalibrator):
    limit = cs.study.most_rejections(0.05, 30, 1e-3)
    assert max(misses(recalibrator, 1000, 30, at_random)) <= limit
    assert misses(recalibrator, 1000, limit + 1, by_outcome)[1] > limit  # the limit can be passed


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("recalibrator", [IsotonicRegression(), HistogramBinning()])
def test_the_interval_after_recalibration_in_many_data_sets(recalibrator, n):
    limit = cs.study.most_rejections(0.05, 400, 1e-4)
    assert misses(recalibrator, n, 400, at_random)[0] <= limit
    assert misses(recalibrator, n, 400, by_outcome)[0] > limit


def test_each_fold_is_predicted_by_the_others():
    fold = folds_of(200, None, 1)
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
    assert "PlattScaling(), fitted on 4 of 5 random parts of the rows" in str(found)
    raised = replace(found, after=replace(found.after, if_calibrated=found.after.high))
    assert str(raised).startswith(str(found))
    assert f" After: A calibrated model would show {found.after.high:.4f} on these rows" in str(raised)
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


def test_predictions_of_three_classes_are_recalibrated_as_rows_are():
    rng = np.random.default_rng(3)
    p = rng.dirichlet([1, 1, 1], 60)
    y = np.array([rng.choice(3, p=row) for row in p])
    of_rows, of_predictions = (
        cs.report(data, rng=0, recalibrate=True).to_dict()
        for data in (cs.Data(y, p), cs.Data(cs.Predictions.from_rows(y, p)))
    )
    name = "models.model.recalibrated.after.estimate"
    assert of_predictions[name] == of_rows[name]
