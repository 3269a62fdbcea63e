"""The display in the manner of scikit-learn."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from plotted_results import lines, rows
from sklearn.linear_model import LogisticRegression

import calibstat as cs

pytestmark = pytest.mark.usefixtures("closed_figures")


def test_display_from_predictions():
    y, p = rows(200)
    display = cs.ReliabilityDisplay.from_predictions(y, p, n_bins=5, band="confidence", name="forest")
    assert display.ax_.figure is display.figure_
    assert display.ax_.get_title().startswith("forest\nECE ")
    np.testing.assert_array_equal(display.reliability.low, cs.reliability(y, p, n_bins=5, band="confidence").low)
    ax = plt.subplots()[1]
    assert display.plot(ax, name="again") is display
    assert display.ax_ is ax
    assert ax.get_title().startswith("again\nECE ")


def test_a_display_of_weighted_rows():
    y, p = rows(200)
    weight = np.random.default_rng(1).integers(1, 4, 200)
    display = cs.ReliabilityDisplay.from_predictions(y, p, n_bins=5, band=None, sample_weight=weight)
    repeated = cs.reliability(np.repeat(y, weight), np.repeat(p, weight), n_bins=5, band=None)
    np.testing.assert_allclose(display.reliability.frequency, repeated.frequency)
    X = np.random.default_rng(2).normal(size=(200, 2))
    model = LogisticRegression().fit(X, y)
    fitted = cs.ReliabilityDisplay.from_estimator(model, X, y, n_bins=5, band=None, sample_weight=weight)
    given = cs.reliability(y, model.predict_proba(X), n_bins=5, band=None, sample_weight=weight)
    np.testing.assert_array_equal(fitted.reliability.frequency, given.frequency)
    assert not np.array_equal(given.frequency, cs.reliability(y, model.predict_proba(X), n_bins=5, band=None).frequency)


def test_its_repr_is_short():
    shown = repr(cs.ReliabilityDisplay.from_predictions(*rows(200), name="forest", rng=1))
    assert shown.startswith("ReliabilityDisplay(2 of 15 observed frequencies lie outside ")
    assert shown.endswith(", name='forest')")
    assert len(shown) < 2000


def test_a_display_of_deviations():
    display = cs.ReliabilityDisplay.from_predictions(*rows(200), n_bins=5, band=None, deviation=True)
    expected = display.reliability.frequency - display.reliability.mean_prediction
    np.testing.assert_array_equal(lines(display.ax_)["observed"][:, 1], expected)
    np.testing.assert_array_equal(lines(display.plot().ax_)["observed"][:, 1], display.reliability.frequency)


def test_display_from_estimator():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(rng.random(200) < 1 / (1 + np.exp(-X[:, 0])), "yes", "no")
    model = LogisticRegression().fit(X, y)
    display = cs.ReliabilityDisplay.from_estimator(model, X, y, rng=1)
    assert display.name == "LogisticRegression"
    expected = cs.reliability((y == "yes") * 1, model.predict_proba(X)[:, 1], rng=1)
    np.testing.assert_array_equal(display.reliability.frequency, expected.frequency)
    other = cs.ReliabilityDisplay.from_estimator(model, X, y, rng=1, pos_label="no", ax=plt.subplots()[1])
    expected = cs.reliability((y == "no") * 1, model.predict_proba(X)[:, 0], rng=1)
    np.testing.assert_array_equal(other.reliability.frequency, expected.frequency)
    with pytest.raises(ValueError, match="pos_label"):
        cs.ReliabilityDisplay.from_estimator(model, X, y, pos_label="maybe")
    with pytest.raises(ValueError, match="two classes, found 3"):
        cs.ReliabilityDisplay.from_estimator(LogisticRegression().fit(X, np.arange(200) % 3), X, y)
    with pytest.raises(ValueError, match="predict_proba, found object"):
        cs.ReliabilityDisplay.from_estimator(object(), X, y)


def test_predictions_out_of_folds_are_drawn_from_the_first_repeat():
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 2))
    y = np.where(random.random(200) < 1 / (1 + np.exp(-X[:, 0])), "yes", "no")
    found = cs.cross_validate(LogisticRegression(), X, y, rng=1)
    display = cs.ReliabilityDisplay.from_cross_validation(found, y, rng=1)
    expected = cs.reliability((y == "yes") * 1, found.predictions[:, 0], rng=1)
    np.testing.assert_array_equal(display.reliability.frequency, expected.frequency)
    title, *measured = display.ax_.get_title().splitlines()
    assert title == "LogisticRegression(), 5 models out of fold"
    assert "interval" not in "".join(measured)
    with pytest.raises(ValueError, match="expected 200 outcomes, as many as were predicted"):
        cs.ReliabilityDisplay.from_cross_validation(found, y[:-1])
    with pytest.raises(
        ValueError, match=r"expected the outcomes .*, yes and another one, found .* at row 0 and never yes"
    ):
        cs.ReliabilityDisplay.from_cross_validation(found, y == "yes")
