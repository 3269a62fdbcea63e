"""Predictions of rows that are held out."""

import numpy as np

import calibstat as cs
from calibstat.recalibration import IsotonicRegression, PlattScaling
from calibstat.recalibration.held_out import held_out_predictions


def test_each_fold_is_predicted_by_a_map_of_the_others():
    y, p = cs.generators.temperature(2).sample(60, rng=1)
    fold = np.arange(60) % 3
    found = held_out_predictions(cs.Predictions.from_rows(y, p), fold, PlattScaling())
    for k in range(3):
        fitted = PlattScaling().fit(p[fold != k], y[fold != k])
        np.testing.assert_array_equal(found[fold == k, 1], fitted.predict_proba(p[fold == k]))


def test_the_map_that_was_given_stays_unfitted():
    y, p = cs.generators.temperature(2).sample(60, rng=1)
    given = IsotonicRegression()
    held_out_predictions(cs.Predictions.from_rows(y, p), np.arange(60) % 3, given)
    assert not hasattr(given, "classes_")


def test_fits_that_take_long_are_announced(monkeypatch, caplog):
    monkeypatch.setattr("calibstat.progress.LONG_CALL", 0.0)
    monkeypatch.setattr("calibstat.progress.FORETOLD", 1e-9)
    y, p = cs.generators.temperature(2).sample(60, rng=1)
    held_out_predictions(cs.Predictions.from_rows(y, p), np.arange(60) % 4, PlattScaling())
    assert "for 4 fits of PlattScaling()" in caplog.messages[0]
