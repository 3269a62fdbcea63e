"""Names of outcomes: labels, the positive one of two, and the columns of frames."""

import inspect
import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from public_functions import public_functions

import calibstat as cs
from calibstat.data.checked_rows import AboutRows
from calibstat.data.labels import Positive, advice_of_outcomes, column_names, with_labels
from calibstat.data.rows_error import Given

P = np.array([0.125, 0.5, 0.75, 0.875])
Y = np.array([0, 1, 0, 1])
WORDS = np.array(["benign", "malignant"])[Y]
FRAME = pd.DataFrame({"benign": 1 - P, "malignant": P})
KINDS = {
    "words": (WORDS, "malignant"),
    "objects": (WORDS.astype(object), "malignant"),
    "series": (pd.Series(WORDS), "malignant"),
    "category": (pd.Series(WORDS, dtype="category"), "malignant"),
    "-1 and 1": (2 * Y - 1, 1),
    "1 and 2": (Y + 1, 2),
    "nullable": (pd.Series(Y + 1, dtype="Int64"), 2),
    "booleans": (Y == 1, True),
    "column": ((Y + 1)[:, None], 2),
}


@pytest.fixture(scope="module")
def ece():
    return cs.estimate(Y, P)


@pytest.mark.parametrize("kind", KINDS)
def test_pos_label_names_outcome_1(kind, ece):
    y, positive = KINDS[kind]
    assert cs.estimate(y, P, pos_label=positive) == ece
    assert cs.estimate(y, np.column_stack((1 - P, P)), pos_label=positive) == ece
    assert cs.Sample.from_rows(y, P, pos_label=positive).positives.tolist() == [0, 1, 0, 1]
    assert cs.Predictions.from_rows(y, P, pos_label=positive).label.tolist() == Y.tolist()
    other = next(value for value in np.ravel(y) if value != positive)
    assert cs.estimate(y, 1 - P, pos_label=other) == pytest.approx(cs.estimate(1 - Y, 1 - P))


def words_of(verb):
    """The arguments of a function, and the words about rows if it takes these beside them."""
    parameters = inspect.signature(verb).parameters.values()
    takes_words = any("AboutRows" in str(each.annotation) or "RowsAnd" in str(each.annotation) for each in parameters)
    return {each.name for each in parameters} | {*(AboutRows.__annotations__ if takes_words else ())}


def test_every_verb_with_labels_takes_pos_label():
    verbs = public_functions()
    verbs |= {"Sample": cs.Sample.from_rows, "Predictions": cs.Predictions.from_rows}
    verbs |= {"Recalibrator": cs.recalibration.PlattScaling.fit}
    for monitor in (cs.Monitor, cs.BrierMonitor):
        verbs |= {f"{monitor.__name__}.{name}": getattr(monitor, name) for name in ("update", "summarize")}
    having = {name: words_of(verb) & {"labels", "pos_label"} for name, verb in verbs.items()}
    of_estimators = {"cross_validate", "scorer"}  # whose classes have names
    found = [name for name, names in having.items() if names and name not in of_estimators]
    assert len(found) >= 34
    assert [name for name in found if len(having[name]) == 1] == []


def test_verbs_of_several_models_take_pos_label():
    models = {"a": P, "b": P**2}
    few = {"n_resamples": 19, "rng": 1}
    by_number, by_name = (
        [cs.compare(y, models, **few, **named), cs.summarize(y, models, **few, **named)]
        for y, named in ((Y, {}), (WORDS, {"pos_label": "malignant"}))
    )
    assert [str(each) for each in by_name] == [str(each) for each in by_number]
    gaps = [cs.generalization_gap((y, P), (y, P), **few, **o) for y, o in ((Y, {}), (Y + 1, {"pos_label": 2}))]
    assert str(gaps[0]) == str(gaps[1])


def test_columns_name_their_classes(ece):
    assert cs.estimate(WORDS, FRAME) == ece
    assert cs.estimate(WORDS, FRAME[["malignant", "benign"]]) == cs.estimate(1 - Y, 1 - P)
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(50, rng=1)
    names = np.array(["cat", "dog", "hen"])
    frame = pd.DataFrame(prob, columns=names)
    for order in ([0, 1, 2], [2, 0, 1]):  # the order of the columns is no matter
        found = cs.Predictions.from_rows(names[label], frame.iloc[:, order])
        assert found.names == tuple(names[order])
        assert np.array_equal(np.array(found.names)[found.label], names[label])
    numbered = pd.DataFrame(prob, columns=[1, 2, 3])
    assert cs.Predictions.from_rows(label + 1, numbered).label.tolist() == label.tolist()
    as_text = pd.DataFrame(prob, columns=["3", "1", "2"])
    assert cs.Predictions.from_rows(label + 1, as_text).label.tolist() == ((label + 1) % 3).tolist()
    assert cs.Predictions.from_rows(label, pd.DataFrame(prob, columns=["p_a", "p_b", "p_c"])).names == (0, 1, 2)


def test_pos_label_picks_the_column_of_its_name(ece):
    for columns in (["benign", "malignant"], ["malignant", "benign"]):
        assert cs.estimate(WORDS, FRAME[columns], pos_label="malignant") == ece
        assert cs.estimate(WORDS, FRAME[columns], pos_label="benign") == cs.estimate(1 - Y, 1 - P)
    assert cs.estimate(["malignant"] * 4, FRAME, pos_label="malignant") == cs.estimate([1] * 4, P)
    assert cs.estimate(["benign"] * 4, FRAME["malignant"], pos_label="malignant") == cs.estimate([0] * 4, P)


@pytest.mark.parametrize(
    ("y", "prob", "options", "message"),
    [
        (WORDS, P, {}, "name the positive one with pos_label="),
        (2 * Y - 1, P, {}, r"expected 0 or 1, found -1 in y_true .*, -1 and 1, name .*, as in pos_label=1$"),
        (Y + 1, P, {}, r"found 2 in y_true at row 1; of the two, 1 and 2, name .* pos_label=2$"),
        (Y + 1, P, {"pos_label": 3}, "expected pos_label to be one of 1, 2, found 3"),
        (WORDS, P, {"pos_label": "Benign"}, "one of 'benign', 'malignant', found 'Benign'"),
        ([0, 1, 2, 3], P, {"pos_label": 1}, "expected two outcomes for pos_label, found 4: 0, 1, 2, 3"),
        (WORDS, P, {"pos_label": "benign", "labels": ["benign", "malignant"]}, "labels or pos_label, found both"),
        (WORDS, FRAME, {"labels": ["malignant", "benign"]}, "expected labels in the order of the columns"),
        (
            ["benign", "bengn", "x", "y"],
            FRAME,
            {},
            "names of columns .* found 'bengn' in y_true at row 1",
        ),
        (
            [1, 2, 2, 0],
            FRAME.set_axis([1, 2], axis=1),
            {},
            "names of columns .* found 0 in y_true at row 3",
        ),
        (["a", "b", "c", "a"], np.full((4, 3), 1 / 3), {}, "name them with labels=, or by the columns of a frame"),
    ],
)
def test_what_names_outcomes_wrongly_is_refused(y, prob, options, message):
    with pytest.raises(ValueError, match=message):
        cs.estimate(y, prob, **options)


def test_labels_are_found_once_for_all():
    y = np.array(["b", "a"])
    assert with_labels(y, P, None)[1] is None
    assert with_labels(y, P, Positive("b"))[1] == ["a", "b"]
    assert column_names(FRAME) == ["benign", "malignant"]
    assert column_names(pd.DataFrame(np.eye(2))) is None  # numbers from 0 name nothing
    assert column_names(pd.DataFrame(np.eye(2), columns=["a", "a"])) is None
    assert column_names(FRAME[["benign"]]) is None
    assert advice_of_outcomes(np.array([0, 1, 2])) == ()
    assert advice_of_outcomes(np.array([1.0, np.nan])) == (Given.PROXY,)


def test_models_of_another_order_of_classes_are_refused():
    with pytest.raises(ValueError, match="expected the same order of classes in the columns of all models"):
        cs.compare(WORDS, {"a": FRAME, "b": FRAME[["malignant", "benign"]]})


def test_polars_frames_are_frames(ece):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"benign": 1 - P, "malignant": P})
    assert cs.estimate(pl.Series(WORDS), frame) == ece
    assert cs.estimate(pl.Series(WORDS), frame, pos_label="benign") == cs.estimate(1 - Y, 1 - P)
    assert cs.estimate(pl.Series(Y), pl.Series(P)) == ece
    several = cs.estimate(Y, pl.DataFrame({"a": P, "b": P**2}))
    assert several == cs.estimate(Y, {"a": P, "b": P**2})


@pytest.mark.parametrize("there", [[], ["Series"], ["DataFrame"]])
def test_pandas_of_which_another_thread_has_imported_a_part_has_no_series_yet(there, monkeypatch):
    part = ModuleType("pandas")
    for name in there:
        setattr(part, name, getattr(pd, name))
    monkeypatch.setitem(sys.modules, "pandas", part)
    assert cs.estimate(Y, P) == cs.estimate(Y.tolist(), P.tolist())
    assert cs.BrierMonitor().update(Y, P, P**2).rows == 4
    assert cs.audit(Y, P, {"first": P < 0.6}, n_resamples=9, rng=1).n == 4
