"""What all recalibrators promise: shapes, checked data, valid probabilities, and scikit-learn's manners."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibstat as cs
from calibstat.recalibration import RECALIBRATORS, Recalibrator
from calibstat.recalibration.recalibrator import normalised

QUICK = {"NeuralScaling": {"hidden_layer_sizes": (2,), "max_iter": 30, "random_state": 1}}
NO_ZEROS = {
    *("PlattScaling", "BetaCalibration", "QuadraticScaling", "VectorScaling", "MatrixScaling", "NeuralScaling"),
}
KEEPS_ZEROS = {"TemperatureScaling", "InterceptUpdate"}
BINARY = cs.generators.temperature(1.5).sample(200, rng=1)
TERNARY = cs.generators.dirichlet((1, 1, 1), temperature=1.5).sample(200, rng=1)
NAMES = [name for name in RECALIBRATORS if name != "PriorShift"]  # which is given shares of classes


def make(name):
    if name == "NeuralScaling":
        pytest.importorskip("sklearn")
    return RECALIBRATORS[name](**QUICK.get(name, {}))


def quietly(recalibrator, p, y, **keywords):
    """Fit, whether it converges or not; any other warning is still an error."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*has not converged")
        return recalibrator.fit(p, y, **keywords)


def faults(p, out):
    """What is wrong with recalibrated probabilities."""
    rows = np.column_stack((1 - out, out)) if out.ndim == 1 else out
    found = []
    if out.shape != np.shape(p):
        found.append("shape")
    if out.dtype != np.float64:
        found.append("type")
    if not (np.all(rows >= 0) and np.all(rows <= 1)):
        found.append("range")
    if not np.all(np.abs(rows.sum(axis=1) - 1) <= 1e-12):
        found.append("sum")
    return found


def test_they_are_listed_from_the_simplest_on():
    names = [
        *("Unchanged", "InterceptUpdate", "TemperatureScaling", "PlattScaling", "BetaCalibration", "QuadraticScaling"),
        *("VectorScaling", "MatrixScaling", "HistogramBinning", "IsotonicRegression", "CentredIsotonic", "VennAbers"),
        *("NeuralScaling", "MeanReplacement", "PriorShift"),
    ]
    assert names == list(RECALIBRATORS)[: len(names)]
    assert all(entry.__name__ == name for name, entry in RECALIBRATORS.items())


@pytest.mark.parametrize("name", NAMES)
def test_documented(name):
    text = inspect.getdoc(RECALIBRATORS[name])
    assert all(f"{section}\n---" in text for section in ("Attributes", "Notes", "References"))
    assert ">>> " in text.partition("---")[0]  # the example first
    assert "Cost:" in text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layout", ["vector", "column", "two columns", "list", "Series", "DataFrame"])
def test_two_classes_come_back_as_they_were_given(name, layout):
    y, p = BINARY
    given = {
        "vector": p,
        "column": p[:, None],
        "two columns": np.column_stack((1 - p, p)),
        "list": p.tolist(),
        "Series": pd.Series(p, index=np.arange(p.size) + 7),
        "DataFrame": pd.DataFrame({"no": 1 - p, "yes": p}),
    }[layout]
    fitted = quietly(make(name), given, y)
    out = fitted.predict_proba(given)
    assert out.shape == np.shape(given)
    expected = quietly(make(name), p, y).predict_proba(p)
    np.testing.assert_array_equal(out[:, -1] if out.ndim == 2 else out, expected)
    assert fitted.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_given_is_changed(name):
    y, p = TERNARY
    y_before, p_before = y.copy(), p.copy()
    fitted = quietly(make(name), p, y)
    first = fitted.predict_proba(p)
    np.testing.assert_array_equal(p, p_before)
    np.testing.assert_array_equal(y, y_before)
    first[:] = 9  # nor is what is remembered changed by writing to what was returned
    p, y = p.copy(), y.copy()
    again = quietly(make(name), p, y)
    p[:], y[:] = 1 / 3, 0
    np.testing.assert_array_equal(again.predict_proba(p_before), fitted.predict_proba(p_before))
    p_before.flags.writeable = False
    assert faults(p_before, quietly(make(name), p_before, y_before).predict_proba(p_before)) == []


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_is_computed_in_double(name):
    y, p = TERNARY
    single = p.astype(np.float32)
    fitted = quietly(make(name), single, y)
    assert faults(p, fitted.predict_proba(single)) == []
    # the same numbers as doubles, whose sums are then off by what single precision rounds
    double = quietly(make(name), single.astype(np.float64), y)
    np.testing.assert_array_equal(fitted.predict_proba(single), double.predict_proba(single.astype(np.float64)))


@st.composite
def vectors(draw, least):
    """Rows of K classes, whole numbers divided by their sums, and the classes that happened."""
    classes, n = draw(st.integers(2, 4)), draw(st.integers(1, 12))
    entry = st.integers(least, 4)
    row = st.lists(entry, min_size=classes, max_size=classes).filter(any)
    rows = draw(st.one_of(st.lists(row, min_size=n, max_size=n), row.map(lambda one: [one] * n)))
    p = np.array(rows, np.float64)
    y = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n)))
    new = np.array(draw(st.lists(row, min_size=1, max_size=5)), np.float64)
    return p / p.sum(axis=1, keepdims=True), y, new / new.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "NeuralScaling"])
@given(data=st.data())
@settings(max_examples=12)
def test_the_result_is_a_probability(name, data):
    p, y, new = data.draw(vectors(least=1 if name in NO_ZEROS else 0))
    if name in KEEPS_ZEROS:
        y = np.where(p[np.arange(y.size), y] > 0, y, p.argmax(axis=1))
    fitted = quietly(make(name), p, y)
    assert faults(p, fitted.predict_proba(p)) == []
    assert faults(new, fitted.predict_proba(new)) == []


@pytest.mark.parametrize("name", NAMES)
def test_one_row(name):
    assert faults([[0.2, 0.8]], quietly(make(name), [[0.2, 0.8]], [1]).predict_proba([[0.2, 0.8]])) == []


class Unnormalised(Recalibrator):
    """Forget to divide by the sums."""

    def _fit(self, prob, label):
        return None

    def _map(self, prob):
        return prob / 2


class Single(Unnormalised):
    """Return what single precision leaves, shifted below 0."""

    def _map(self, prob):
        return np.column_stack((prob[:, 0] + 1, -prob[:, 0], prob[:, 1] * 0)).astype(np.float32)


def test_faults_are_found():
    y, p = TERNARY
    assert faults(p, Unnormalised().fit(p, y).predict_proba(p)) == ["sum"]
    assert faults(p, Single().fit(p, y).predict_proba(p)) == ["type", "range", "sum"]
    assert "shape" in faults(p[:, :2], p)


@pytest.mark.parametrize("name", NAMES)
def test_swapped_arguments_raise(name):
    y, p = BINARY
    for classes, prob in [BINARY, TERNARY, (y.astype(bool), p), (["a", "b"], [[0.5, 0.5], [0.1, 0.9]])]:
        with pytest.raises(ValueError, match=r"expected \(p, y\).*swapped"):
            make(name).fit(classes, prob)
    with pytest.raises(ValueError, match=r"expected \(p, y\).*swapped"):
        make(name).fit(y[:, None], np.column_stack((1 - p, p)))
    with pytest.raises(ValueError, match=r"expected \(p, y\).*swapped"):
        make(name).score(y, p)


@pytest.mark.parametrize("y", [["a", "b"], [0, 2], [0.5, 1.5]])
def test_texts_are_no_predictions_and_not_swapped_beside_what_is_no_probability(y):
    with pytest.raises(ValueError, match="expected numbers in y_prob, found 'no' at row 0"):
        make("PlattScaling").fit(["no", "yes"], y)


def test_certain_predictions_are_not_taken_for_swapped():
    out = make("HistogramBinning").fit([0, 1, 1], [0, 1, 0]).predict_proba([0.0, 1.0])
    assert out.tolist() == [0.0, 0.5]
    assert make("MeanReplacement").fit([0.0, 1.0], [0, 1]).confidence_ == 1


@pytest.mark.parametrize(
    ("p", "y", "message"),
    [
        ([0.2, 1.5], [0, 1], "probability from 0 to 1, found 1.5 .* row 1"),
        ([[0.2, 0.7], [0.5, 0.5]], [0, 1], "sums to 1, found a sum of 0.9 at row 0"),
        ([0.2, np.nan], [0, 1], "row 1"),
        ([0.2, 0.3], [0, 2], "class from 0 to 1, found 2 in y_true at row 1"),
        ([0.2, 0.3], [0, 1, 1], "3 outcomes and 2 rows"),
        ([], [], "at least one row"),
        (0.5, [1], "expected y_prob, an array .* found float 0.5"),
        ([0.2, 0.3], ["a", "b"], "labels="),
    ],
)
def test_bad_data_raise_what_predictions_raise(p, y, message):
    with pytest.raises(ValueError, match=message):
        make("MeanReplacement").fit(p, y)


@pytest.mark.parametrize("name", NAMES)
def test_predicting_needs_fit_and_as_many_classes(name):
    with pytest.raises(ValueError, match=f"fitted {name}, found one of which fit has not been called"):
        make(name).predict_proba([0.5])
    fitted = quietly(make(name), *TERNARY[::-1])
    with pytest.raises(ValueError, match="3 classes as in fit, found 2"):
        fitted.predict_proba([0.5])
    with pytest.raises(ValueError, match=r"sums to 1, found a sum of 0\.6 at row 1"):
        fitted.predict_proba([[0.2, 0.3, 0.5], [0.2, 0.2, 0.2]])


@pytest.mark.parametrize("name", sorted(NO_ZEROS))
def test_a_zero_has_no_logarithm(name):
    y, p = TERNARY
    p = p.copy()
    p[4] = 0.25, 0, 0.75
    with pytest.raises(ValueError, match=f"above 0 for {name}, .*found 0 for class 1 at row 4; clip="):
        make(name).fit(p, y)
    fitted = quietly(make(name), TERNARY[1], y)
    with pytest.raises(ValueError, match="class 1 at row 4"):
        fitted.predict_proba(p)
    with pytest.raises(ValueError, match="class 0 at row 1"):
        make(name).fit([0.5, 1.0, 0.3], [0, 1, 1])


def test_names_of_classes():
    labels = ["hen", "cat", "dog"]
    y, p = TERNARY
    fitted = make("IsotonicRegression").fit(p, np.array(labels)[y], labels=labels)
    assert fitted.classes_.tolist() == labels
    np.testing.assert_array_equal(fitted.predict_proba(p), make("IsotonicRegression").fit(p, y).predict_proba(p))
    assert fitted.predict(p).tolist() == [labels[k] for k in fitted.predict_proba(p).argmax(axis=1)]
    assert make("MeanReplacement").fit([0.2, 0.5, 0.7], [0, 0, 1]).predict([0.5, 0.6]).tolist() == [0, 1]
    assert make("MeanReplacement").fit([[0.2], [0.7]], [0, 1]).predict([[0.4], [0.6]]).tolist() == [0, 1]


def test_a_row_without_any_score_is_uniform():
    assert normalised(np.array([[0, 0, 0, 0], [1, 0, 1, 2]])).tolist() == [[0.25] * 4, [0.25, 0, 0.25, 0.5]]


def test_parameters():
    entry = RECALIBRATORS["HistogramBinning"](n_bins=5)
    assert repr(entry) == "HistogramBinning(n_bins=5)"
    assert repr(entry.set_params(n_resamples=3)) == "HistogramBinning(n_bins=5, n_resamples=3)"
    assert entry.get_params()["n_bins"] == 5
    with pytest.raises(ValueError, match=r"parameter of HistogramBinning \(n_bins, .*\), found 'bins'"):
        entry.set_params(bins=3)
    with pytest.raises(ValueError, match=r"MeanReplacement \(none\), found 'bins'"):
        make("MeanReplacement").set_params(bins=3)


@pytest.mark.parametrize("name", NAMES)
def test_scikit_learn_clones_it(name):
    base = pytest.importorskip("sklearn.base")
    fitted = quietly(make(name), *TERNARY[::-1])
    copy = base.clone(fitted)
    assert type(copy) is type(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "classes_")
    assert base.is_classifier(fitted)


@pytest.mark.parametrize("name", NAMES)
def test_it_stands_at_the_end_of_a_pipeline(name):
    pytest.importorskip("sklearn")
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline

    class Predict(TransformerMixin, BaseEstimator):
        """A classifier that hands its predictions on."""

        def fit(self, X, y):
            self.model_ = LogisticRegression().fit(X, y)
            return self

        def transform(self, X):
            return self.model_.predict_proba(X)

    rng = np.random.default_rng(3)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 2)) + np.eye(3, 2)[y]
    pipeline = Pipeline([("model", Predict()), ("calibrate", make(name))])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*has not converged")
        pipeline.fit(X, y)
    assert name in repr(pipeline)
    assert name in pipeline._repr_html_()
    p = pipeline.named_steps["model"].transform(X)
    np.testing.assert_array_equal(pipeline.predict_proba(X), quietly(make(name), p, y).predict_proba(p))
    np.testing.assert_array_equal(pipeline.predict(X), pipeline.predict_proba(X).argmax(axis=1))
    assert pipeline.classes_.tolist() == [0, 1, 2]
    named = np.array(["x", "y", "z"])
    quietly(pipeline, X, named[y], calibrate__labels=["x", "y", "z"])
    assert set(pipeline.predict(X)) <= set(named)


def test_scikit_learn_scores_it():
    pytest.importorskip("sklearn")
    from sklearn.model_selection import cross_val_score

    y, p = TERNARY
    scores = cross_val_score(make("TemperatureScaling"), p, y, scoring="neg_log_loss", cv=2)
    parts = cross_val_score(make("TemperatureScaling"), p, y, scoring="accuracy", cv=2)
    assert np.isfinite(scores).all()
    assert parts.mean() == pytest.approx(np.mean(p.argmax(axis=1) == y))


def test_it_works_without_scikit_learn(monkeypatch):
    for module in ("sklearn", "sklearn.utils", "sklearn.neural_network"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    y, p = TERNARY
    for name in set(NAMES) - {"NeuralScaling"}:
        assert faults(p, make(name).fit(p, y).predict_proba(p)) == []
    with pytest.raises(ImportError, match=r"scikit-learn for NeuralScaling, found none; .*calibstat\[simulations\]"):
        RECALIBRATORS["NeuralScaling"]().fit(p, y)
