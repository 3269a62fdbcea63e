"""Recalibration on held-out folds: no row is predicted by a map that has seen it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from quick_report import quick_report

import calibstat as cs
from calibstat.recalibration import HistogramBinning, IsotonicRegression, PlattScaling, TemperatureScaling
from calibstat.reporting.cross_fitted import FOLDS, REPEATS, default_recalibrator, held_out_predictions
from calibstat.resampling import folds, key_of, repeated_folds

Y, P = cs.generators.temperature(2).sample(200, rng=1)
DATA = cs.Predictions.from_rows(Y, P)


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
    """The held-out predictions of outcome 1 that a report makes, by the folds that were dealt first."""
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "calibstat.reporting.cross_fitted.held_out_predictions",
            lambda *given: seen.append(held_out_predictions(*given)) or seen[-1],
        )
        ask()
    return seen[0][:, 1]


CHANCES = (np.arange(2000) + 0.5) / 2000  # of outcome 1, as the generators have them
SURE = CHANCES**2 / (CHANCES**2 + (1 - CHANCES) ** 2)  # predictions of temperature 2 where these are the chances
POPULATION = cs.generators.temperature(2)


def true_error(maps, measure):
    """The error of predicting each new row by one of the maps, drawn at random."""
    predicted = np.concatenate([fitted.predict_proba(SURE) for fitted in maps])
    chances = np.tile(CHANCES, len(maps))
    return cs.estimate(cs.Sample.from_counts(predicted, np.ones(predicted.size), chances), measure=measure)


def true_change(maps):
    """The change of the Brier score by the maps, each for its share of new rows."""
    after = np.mean([np.mean((fitted.predict_proba(SURE) - CHANCES) ** 2) for fitted in maps])
    return after - np.mean((SURE - CHANCES) ** 2)


def misses(recalibrator, n, n_datasets, measure="ece", as_if_fresh=False):
    """How often the error after recalibration lies above its interval, and the change of the score outside of its own.

    With `as_if_fresh` intervals are those of new rows, which these rows are not.
    """
    above = outside = 0
    for seed in range(n_datasets):
        y, p = POPULATION.sample(n, rng=seed)
        fold = repeated_folds(key_of(seed), y, FOLDS, REPEATS)
        rows = cs.Predictions.from_rows(y, p)
        after = np.column_stack([held_out_predictions(rows, column, recalibrator)[:, 1] for column in fold.T])
        maps = [[type(recalibrator)().fit(p[column != k], y[column != k]) for k in range(FOLDS)] for column in fold.T]
        folds = {} if as_if_fresh else {"folds": fold, "method": recalibrator.interval_method}
        found = cs.confidence_interval(y, after[:, 0] if as_if_fresh else after, measure=measure, rng=seed, **folds)
        maps = maps[:1] if as_if_fresh else maps
        above += np.mean([true_error(each, measure) for each in maps]) > found.high
        models = {"before": np.repeat(p[:, None], REPEATS, axis=1), "after": after}
        change = cs.compare(y, models, measure="brier", folds=fold, rng=seed)
        outside += not change.low[0] <= -np.mean([true_change(each) for each in maps]) <= change.high[0]
    return above, outside


MAPS = [PlattScaling(), IsotonicRegression(), HistogramBinning()]


def test_predictions_have_the_errors_of_the_generator():
    """Without maps: the population of the tests below is the one from which rows are drawn."""

    class Unchanged:
        def predict_proba(self, p):
            return p

    for measure in ("ece", "kernel_ce"):
        assert true_error([Unchanged()], measure) == pytest.approx(POPULATION.truth(measure), rel=0.01)
    assert true_change([Unchanged()]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("recalibrator", MAPS, ids=repr)
@pytest.mark.parametrize(("n", "n_datasets"), [(200, 100), (1000, 100), (5000, 40)])
def test_the_interval_after_recalibration_holds_the_mean_error_of_the_maps(recalibrator, n, n_datasets):
    limit = cs.study.most_rejections(0.05, n_datasets, 1e-5)
    above, outside = misses(recalibrator, n, n_datasets)
    assert above <= limit
    assert outside <= cs.study.most_rejections(0.05, n_datasets, 1e-5)
    assert misses(recalibrator, n, n_datasets, "kernel_ce")[0] <= limit


@pytest.mark.slow
def test_intervals_as_if_rows_were_fresh_miss():
    """Histogram binning fits all that `ece` sees, so that with many rows the error is as large as its noise."""
    assert misses(HistogramBinning(), 60_000, 30, as_if_fresh=True)[0] > cs.study.most_rejections(0.05, 30, 1e-5)


def test_each_fold_is_predicted_by_the_others():
    fold = folds(key_of(1), 200, FOLDS)
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
    assert f", a change of -{found.brier.difference[0]:.4f} [" in str(found)
    assert str(found).startswith("PlattScaling() takes ece from ")
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


@pytest.mark.parametrize(
    ("recalibrator", "method"),
    [*((each, "mirror") for each in MAPS), (TemperatureScaling(), "triangle")],
    ids=lambda each: each if isinstance(each, str) else repr(each),
)
def test_the_high_end_is_for_the_kind_of_map(recalibrator, method):
    found = quick_report(Y, P, recalibrate=recalibrator).models["model"].recalibrated
    assert (found.after.method, found.after.rows.repeats, found.after.rows.folds) == (method, 3, 5)
    assert "for the 5 fitted maps on new rows; there is no guarantee for a map refitted" in str(found)
    assert found.brier.difference[0] == pytest.approx(found.brier.estimates[0] - found.brier.estimates[1])


def test_the_numbers_are_of_the_verbs_with_these_folds():
    found = quick_report(Y, P, recalibrate=IsotonicRegression(), rng=4).models["model"].recalibrated
    fold = repeated_folds(key_of(4), Y, FOLDS, REPEATS)
    after = np.column_stack([held_out_predictions(DATA, column, IsotonicRegression())[:, 1] for column in fold.T])
    expected = cs.confidence_interval(Y, after, measure="ece", folds=fold, method="mirror", rng=4)
    assert found.after.to_dict() == expected.to_dict()
    models = {"before": np.repeat(P[:, None], REPEATS, axis=1), "after": after}
    change = cs.compare(Y, models, measure="brier", folds=fold, rng=4)
    assert found.brier.to_dict() == change.to_dict()


def test_clusters_are_dealt_whole_three_times():
    unit = np.arange(200) // 5
    found = quick_report(Y, P, recalibrate=True, cluster=unit).models["model"].recalibrated
    assert found.repeats == 3
    assert found.after.method == "mirror"
    assert "40 clusters of 5 rows each" in found.after.estimand


@pytest.mark.filterwarnings("ignore:8 clusters are few")
@pytest.mark.parametrize("rows", ["few clusters", "classes"])
def test_what_no_study_has_with_folds_is_approximate_and_says_so(rows):
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(200, rng=2)
    given = {"few clusters": (Y, P, {"cluster": np.arange(200) // 25}), "classes": (label, prob, {})}
    *data, beside = given[rows]
    found = quick_report(*data, recalibrate=True, **beside).models["model"].recalibrated
    assert found.repeats == 1
    assert found.after.method == "honest"
    assert "for the 5 fitted maps together. It is approximate, because rows share fitted maps" in str(found)


def test_remarks_on_both_intervals_are_added():
    found = quick_report(Y, P, recalibrate=True, cluster=np.arange(200) // 5).models["model"].recalibrated
    raised = replace(found, after=replace(found.after, if_calibrated=found.after.high))
    assert f" After: A calibrated model would show {found.after.high:.4f} on these rows" in str(raised)
