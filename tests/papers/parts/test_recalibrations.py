"""The recalibrations of the papers by name, and differences of models on the same rows."""

import warnings

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.papers.parts.recalibrations import (
    BEFORE,
    RECALIBRATIONS,
    REPLACED,
    differences,
    fitted_to,
    infinite,
    option_name,
    questions,
    recalibrated,
)
from calibstat.recalibration import MeanReplacement, TemperatureScaling

FAMILY = cs.generators.dirichlet((0.3,) * 4, temperature=2)


def test_fits_that_do_not_converge_are_counted():
    made = {"temperature": lambda seed, clip: TemperatureScaling(), REPLACED: lambda seed, clip: MeanReplacement()}
    p = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models, converged = recalibrated(made, np.array([0, 0, 1]), p, p, 0)  # the colder the better
    assert converged == {"temperature": False, REPLACED: True}
    assert np.array_equal(models[BEFORE], p)
    assert models[REPLACED].tolist() == [[1, 0], [1, 0], [0, 1]]


def test_differences_are_those_of_the_scores():
    y, p = FAMILY.sample(300, rng=3)
    models = {BEFORE: p, "sure": np.eye(4)[p.argmax(axis=1)], REPLACED: MeanReplacement().fit(p, y).predict_proba(p)}
    asked = questions(("ece", "log_loss", "brier"), 4)
    found = pd.DataFrame(differences(y, models, asked, REPLACED, 39, 1)).set_index(["measure", "model"])
    brier = {name: ((np.eye(4)[y] - each) ** 2).sum(axis=1).mean() for name, each in models.items()}
    for name in (BEFORE, "sure"):
        row = found.loc["brier", name]
        assert row["value"] == pytest.approx(brier[name] - brier[REPLACED], abs=1e-12)
        assert row["low"] < row["value"] < row["high"]
    rows = np.arange(300)
    log_loss = -np.log(p[rows, y]).mean() + np.log(models[REPLACED][rows, y]).mean()
    assert found.loc[("log_loss", BEFORE), "value"] == pytest.approx(log_loss, abs=1e-12)
    assert found.loc[("log_loss", "sure"), "value"] == np.inf
    assert found.loc[("log_loss", "sure"), "low"] == np.inf
    assert found.loc[("ece", BEFORE), "value"] == pytest.approx(
        cs.estimate(y, p, lens="top_label") - cs.estimate(y, models[REPLACED], lens="top_label"), abs=1e-12
    )


def test_where_both_are_infinite_there_is_no_difference():
    y = np.array([0, 1, 1])
    sure = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    models = {"a": sure, "b": sure, "c": np.full((3, 2), 0.5)}
    assert infinite(y, models) == ["a", "b"]
    found = {row["model"]: row["value"] for row in differences(y, models, questions(("log_loss",), 2), "a", 19, 1)}
    assert np.isnan(found["b"])
    assert found["c"] == -np.inf


def test_every_recalibration_has_a_name_without_blanks_and_can_be_fitted():
    names = [option_name(name) for name in RECALIBRATIONS]
    assert len(set(names)) == len(names)
    assert {"histogram_by_class", "temperature_by_ece", "mean_replacement"} <= set(names)
    y, p = FAMILY.sample(60, rng=1)
    models, converged = recalibrated(RECALIBRATIONS, y, p, p, 1)
    assert list(models) == [BEFORE, *RECALIBRATIONS]
    assert set(converged) == set(RECALIBRATIONS)
    assert all(np.allclose(each.sum(axis=1), 1) for each in models.values())
    assert fitted_to(10_000) == 2000
