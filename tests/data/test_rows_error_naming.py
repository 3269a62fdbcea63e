"""Errors name no argument that a function lacks, and shapes of other packages are told what to write instead."""

import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

import calibstat as cs

P = np.linspace(0.05, 0.95, 20)
WORDS = ["bad", "ok"] * 10


@pytest.mark.parametrize("y", [WORDS, [1, 2] * 10])
def test_monitors_name_pos_label_as_all_functions(y):
    for ask in (
        lambda: cs.Monitor().update(y, P, period=1),
        lambda: cs.Monitor().summarize(y, P),
        lambda: cs.BrierMonitor().update(y, P, P, period=1),
        lambda: cs.Monitor().update(y, {"a": P, "b": P}, period=1),
        lambda: cs.estimate(y, P),
    ):
        with pytest.raises(ValueError, match=r"name the positive one.*pos_label="):
            ask()
    assert cs.Monitor().update(y, P, labels=y[:2]).rows == 20
    assert cs.Monitor().update(y, P, pos_label=y[1]).rows == 20


class Booster:
    def predict(self, X):
        return X


def test_models_without_probabilities_are_told_apart():
    with pytest.raises(ValueError, match="give what its predict returns as y_prob, if these are probabilities"):
        cs.predict(Booster(), P[:, None])
    with pytest.raises(ValueError, match="within CalibratedClassifierCV"):
        cs.predict(LinearSVC(), P[:, None])
    for ask in (cs.predict, lambda model, X: cs.cross_validate(model, X, [0, 1] * 10)):
        with pytest.raises(ValueError, match="a regression predicts no probabilities") as error:
            ask(LinearRegression(), P[:, None])
        assert "CalibratedClassifierCV" not in str(error.value)
    assert cs.predict(LogisticRegression().fit(P[:, None], [0, 1] * 10), P[:, None]).shape == (20, 2)


IMAGES = np.moveaxis(np.random.default_rng(0).dirichlet([1, 1, 1], (2, 4, 5)), -1, 1)
PIXELS = np.zeros(40, int)
SHAPES = {
    "one-hot": (np.eye(5, dtype=int), np.full((5, 5), 0.2), r"one-hot rows: give y_true\.argmax\(axis=1\)"),
    "several questions": ([[1, 1], [0, 1]], np.full((2, 2), 0.5), r"y_true\[:, k\] and y_prob\[:, k\]"),
    "one row": ([[0, 1, 0]], [0.5] * 3, r"give y_true\[0\]"),
    "classes from -1": ([-1, 0, 1], np.full((3, 3), 1 / 3), r"name them with labels=\[-1, 0, 1\]"),
    "margins": ([0, 1], [0.2, 8.0], r"if they are logits or raw margins, give calibstat\.from_logits\(y_prob\)"),
    "images of outcomes": (np.zeros((2, 4, 5), int), IMAGES, r"y_true\.reshape\(-1\)"),
    "images": (PIXELS, IMAGES, r"numpy\.moveaxis\(y_prob, 1, -1\)\.reshape\(-1, 3\), and y_true\.reshape\(-1\)"),
    "classes last": (
        PIXELS,
        np.moveaxis(IMAGES, 1, -1),
        r"as a row: y_prob\.reshape\(-1, 3\)",
    ),
    "masks": (PIXELS, IMAGES[:, 0], r"y_prob\.reshape\(-1\) and y_true\.reshape\(-1\)"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_of_other_packages_are_told_what_to_write(name):
    y, p, message = SHAPES[name]
    with pytest.raises(ValueError, match=message):
        cs.estimate(y, p)


def test_what_is_told_works():
    y = np.random.default_rng(1).integers(0, 3, (2, 4, 5))
    assert cs.estimate(y.reshape(-1), np.moveaxis(IMAGES, 1, -1).reshape(-1, 3)) > 0
    assert cs.estimate([-1, 0, 1], np.full((3, 3), 1 / 3), labels=[-1, 0, 1]) >= 0


def test_lazy_frames_are_told_to_be_collected():
    lazy = pl.LazyFrame({"no": 1 - P, "yes": P})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ask in (
            lambda: cs.estimate(WORDS, lazy),
            lambda: cs.estimate(lazy, P),
            lambda: cs.compare([0, 1] * 10, {"a": lazy, "b": P}),
            lambda: cs.audit([0, 1] * 10, P, lazy),
            lambda: cs.from_logits(lazy),
        ):
            with pytest.raises(ValueError, match=r"found a LazyFrame, which has none yet; give \w+\.collect\(\)"):
                ask()


def test_intervals_and_bands_call_the_level_alike():
    with pytest.raises(ValueError, match=r"expected confidence_level=0\.9 for reliability, found level=0\.9"):
        cs.reliability([0, 1] * 10, P, level=0.9)
    with pytest.raises(ValueError, match=r"expected confidence_level= of .*, found 'level'"):
        cs.confidence_interval([0, 1] * 10, P, level=0.9)


def test_half_of_a_character_is_no_name():
    half = "\ud800"
    y = [0, 1] * 10
    for ask in (
        lambda: cs.compare(y, {half: P, "b": P}),
        lambda: cs.audit(y, P, {half: P > 0.5}),
        lambda: cs.Monitor().update(y, P, segment=half),
        lambda: cs.Predictions.from_rows(y, np.column_stack([1 - P, P]), labels=[0, half]),
    ):
        with pytest.raises(ValueError, match=r"found .*ud800', which holds half of a character"):
            ask()
