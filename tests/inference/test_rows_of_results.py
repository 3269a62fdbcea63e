"""The field `rows` of results: how their rows came about, frozen, in words, and in dictionaries."""

from dataclasses import FrozenInstanceError, fields
from functools import cache

import numpy as np
import pytest
from held_objects import kinds

import calibstat as cs
from calibstat.inference.designs.folds.fold_interval import ModelsOfFolds
from calibstat.inference.designs.folds.folds_with_tests import FoldsWithTests
from calibstat.inference.designs.judged.guided_test import GuidedRows
from calibstat.inference.designs.judged.rectified_interval import RectifiedLabels
from calibstat.inference.rows_of_results import ClustersOfRows, Folds, LabelledRows, Rows
from calibstat.result import Result

Y, P = cs.generators.temperature(2).sample(240, rng=1)
UNIT, FOLD = np.arange(240) // 3, np.arange(240) // 3 % 4
TWICE = np.column_stack([FOLD, np.arange(240) % 4])
FEW, JUDGE = np.where(np.arange(240) % 3 == 0, Y, np.nan), cs.Judge(Y * 1.0, blind=True)
ROWS = {
    "independent": (Y, P, {}),
    "weights": (Y, P, {"sample_weight": np.tile([1.0, 2.5], 120)}),
    "clusters": (Y, P, {"cluster": UNIT}),
    "folds": (Y, P, {"folds": FOLD}),
    "folds of clusters": (Y, P, {"folds": FOLD, "cluster": UNIT}),
    "repeats": (Y, np.column_stack([P, P]), {"folds": TWICE}),
    "judge": (FEW, P, {"judge": JUDGE}),
}
SAID = {  # of tests, of intervals, and in words
    "independent": (Rows, Rows, "240 independent rows"),
    "weights": (Rows, Rows, "240 independent rows"),
    "clusters": (ClustersOfRows, ClustersOfRows, "80 clusters of 3 rows each"),
    "folds": (FoldsWithTests, ModelsOfFolds, "4 folds of 60 rows"),
    "folds of clusters": (FoldsWithTests, ModelsOfFolds, "4 folds of 60 rows, 80 clusters of 3 rows each"),
    "repeats": (FoldsWithTests, ModelsOfFolds, "4 folds of 60 rows, 2 repeats"),
    "judge": (GuidedRows, RectifiedLabels, "80 labelled rows among 240, with a judge"),
}


@cache
def asked(name, verb="calibration_test"):
    y, p, words = ROWS[name]
    return getattr(cs, verb)(y, p, measure="ks", n_resamples=19, rng=1, **words)


each = pytest.mark.parametrize("name", ROWS)


@each
def test_a_result_says_how_its_rows_came_about(name):
    test, interval, words = SAID[name]
    of_test, of_interval = asked(name).rows, asked(name, "confidence_interval").rows
    assert (type(of_test), type(of_interval)) == (test, interval)
    assert str(of_test) == str(of_interval) == words
    assert of_test.n == of_interval.n == asked(name).n == 240


@each
@pytest.mark.parametrize("verb", ["calibration_test", "confidence_interval"])
def test_rows_are_frozen(name, verb):
    rows = asked(name, verb).rows
    for field in fields(rows):
        with pytest.raises(FrozenInstanceError):
            setattr(rows, field.name, 1)
        value = getattr(rows, field.name)
        assert not isinstance(value, np.ndarray) or not value.flags.writeable


@each
@pytest.mark.parametrize("verb", ["calibration_test", "confidence_interval"])
def test_dictionaries_and_frames_have_them_behind_a_dot(name, verb):
    result = asked(name, verb)
    written, inner = result.to_dict(), result.rows.to_dict()
    assert {key: value for key, value in written.items() if key.startswith("rows.")} == {
        f"rows.{key}": value for key, value in inner.items()
    }
    assert {key.partition(".")[0] for key in inner} == {field.name for field in fields(result.rows)}
    assert inner["n"] == written["rows.n"] == 240
    assert result.to_frame()["rows.n"].item() == 240
    assert result.scalars()["rows.n"] == 240


@each
def test_the_line_of_a_result_counts_them(name):
    counted = {
        "folds": "n = 240 in 4 folds",
        "folds of clusters": "n = 240 in 4 folds",
        "repeats": "n = 240 in 4 folds, 2 repeats",
        "judge": "80 labelled rows among 240",
    }.get(name, "n = 240")
    assert asked(name).rows.counted == counted
    assert f"event: outcome 1, {counted}" in str(asked(name))
    of_interval = asked(name, "confidence_interval")
    assert (f"event: outcome 1: {of_interval.rows}." if name == "judge" else f"{counted}.") in str(of_interval)


def test_numbers_of_clusters():
    rows = ClustersOfRows.of(10, np.repeat([0, 1, 2], [1, 3, 6]), None)
    assert (rows.n, rows.clusters, rows.smallest, rows.largest) == (10, 3, 1, 6)
    assert rows.effective == pytest.approx(100 / 46)  # 10**2 / (1 + 9 + 36)
    assert str(rows) == "3 clusters of 1 to 6 rows (effective number 2)"
    weighted = ClustersOfRows.of(10, np.repeat([0, 1, 2], [1, 3, 6]), np.repeat([0.0, 2.0, 1.0], [1, 3, 6]))
    assert (weighted.clusters, weighted.effective) == (2, pytest.approx(2))  # 6 and 6, and one without weight


def test_one_row_is_no_rows():
    assert str(Rows(1)) == "1 independent row"
    assert str(Rows(12_345)) == "12,345 independent rows"
    assert (Rows(1).counted, Rows(1).how, Rows(1).unseen) == ("n = 1", "", "")


def test_only_rows_of_their_own_say_more():
    test, interval = asked("independent"), asked("independent", "confidence_interval")
    assert test.rows.answer(0.01) == test.rows.premises == interval.rows.scope("honest") == interval.scope == ""
    folds = asked("folds", "confidence_interval")
    assert folds.scope == folds.rows.scope(folds.method)
    assert folds.scope.startswith("This is the error of the 4 models on new rows, each predicted by one at random.")
    assert asked("folds").rows.answer(asked("folds").pvalue) in str(asked("folds"))
    judged = asked("judge", "confidence_interval")
    assert judged.rows.scope(judged.method).startswith("This rests on 80 labelled rows among 240, with a judge.")
    assert judged.rows.unseen in str(judged)
    assert asked("judge").rows.how == "guided by a judge, "
    assert "what these rows could have shown" not in str(asked("clusters")).lower()


def test_folds_in_words_have_their_clusters():
    assert Folds.words(FOLD, 1, None) == "4 folds of 60 rows"
    assert Folds.words(FOLD, 2, UNIT) == "4 folds of 60 rows, 2 repeats, 80 clusters of 3 rows each"


def beside_rows(results):
    """Results that say in fields of their own what `rows` is for: numbers of clusters, folds or labels."""
    own = {"clusters", "smallest", "largest", "effective", "folds", "repeats", "labelled", "n_clusters"}
    found = {kind.__name__: own & {each.name for each in fields(kind)} for kind in results}
    return {name: names for name, names in found.items() if names}


def test_no_result_with_rows_repeats_them():
    with_rows = [kind for kind in kinds() if ("rows", "Rows") in {(each.name, each.type) for each in fields(kind)}]
    assert {"CalibrationTestResult", "ConfidenceInterval"} <= {kind.__name__ for kind in with_rows}
    assert beside_rows(with_rows) == {}


def test_a_result_that_repeats_them_is_found():
    assert beside_rows([LabelledRows]) == {"LabelledRows": {"labelled"}}
    assert issubclass(LabelledRows, Result)
