"""Missing outcomes are refused before names of outcomes are looked at, however they are spelled."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import calibstat as cs
from calibstat.recalibration import RECALIBRATORS, choose

N = 50
P = np.linspace(0.05, 0.95, N)
HALF = ["yes", None] * (N // 2)

SPELLED = {
    "list": HALF,
    "tuple": tuple(HALF),
    "nan beside text": ["yes", np.nan] * (N // 2),
    "column of a list": [["yes"], [np.nan]] * (N // 2),
    "NA": ["yes", pd.NA] * (N // 2),
    "NaT": ["yes", pd.NaT] * (N // 2),
    "NaN of Decimal": ["yes", Decimal("NaN")] * (N // 2),
    "objects": np.array(HALF, object),
    "column": np.array(HALF, object)[:, None],
    "bytes": [b"yes", None] * (N // 2),
    "series": pd.Series(HALF),
    "objects of pandas": pd.Series(["yes", np.nan] * (N // 2), dtype=object),
    "string": pd.Series(HALF, dtype="string"),
    "string of Arrow": pd.Series(HALF, dtype="string[pyarrow]"),
    "category": pd.Series(HALF, dtype="category"),
    "frame": pd.DataFrame({"y": HALF}),
    "Polars": pl.Series(HALF),
    "category of Polars": pl.Series(HALF, dtype=pl.Categorical),
    "Arrow": pa.array(HALF),
    "chunks of Arrow": pa.chunked_array([HALF]),
    "dictionary of Arrow": pa.array(HALF).dictionary_encode(),
}
NUMBERS = {
    "floats": ([1.0, np.nan] * (N // 2), 1.0),
    "boolean": (pd.Series([True, None] * (N // 2), dtype="boolean"), True),
    "Int64": (pd.Series([1, None] * (N // 2), dtype="Int64"), 1),
    "dates": (np.array(["2026-01-01", "NaT"] * (N // 2), "M8[D]"), np.datetime64("2026-01-01")),
    "booleans of Polars": (pl.Series([True, None] * (N // 2)), True),
    "numbers of Polars": (pl.Series([1, None] * (N // 2)), 1),
}
CASES = {**{name: (y, "yes") for name, y in SPELLED.items()}, **NUMBERS}
MESSAGE = "expected no missing outcomes, found .* at row 1 in y_true"


@pytest.mark.parametrize("name", CASES)
def test_a_missing_outcome_is_named_before_names_are_looked_at(name):
    y, positive = CASES[name]
    for names in ({"pos_label": positive}, {"labels": ["no", positive]}, {"labels": [None, positive]}):
        with pytest.raises(ValueError, match=MESSAGE):
            cs.estimate(y, P, **names)


@pytest.mark.parametrize("name", SPELLED)
def test_a_missing_outcome_among_words_is_named_without_names(name):
    with pytest.raises(ValueError, match=MESSAGE):
        cs.estimate(SPELLED[name], P)
    with pytest.raises(ValueError, match=MESSAGE):
        cs.estimate(SPELLED[name], pd.DataFrame({"no": 1 - P, "yes": P}))


def test_a_missing_boolean_is_not_told_to_be_named():
    with pytest.raises(ValueError, match="at row 1 in y_true") as error:
        cs.estimate(NUMBERS["boolean"][0], P)
    assert "pos_label" not in str(error.value)


FUNCTIONS = [cs.calibration_test, cs.confidence_interval, cs.reliability, cs.validate, cs.report, cs.decompose]


@pytest.mark.parametrize("ask", [*FUNCTIONS, cs.net_benefit, cs.decision_loss, cs.risk_coverage, cs.sharpness, cs.Data])
def test_every_function_refuses_it(ask):
    for y in (HALF, SPELLED["nan beside text"]):
        with pytest.raises(ValueError, match=MESSAGE):
            ask(y, P, pos_label="yes")


def test_whatever_takes_names_refuses_it():
    models, two = {"a": P, "b": P**2}, np.column_stack([1 - P, P])
    for y in (HALF, SPELLED["nan beside text"]):
        for ask in (
            lambda y: cs.Models(y, models, pos_label="yes"),
            lambda y: cs.compare(y, models, pos_label="yes"),
            lambda y: cs.audit(y, P, {"a": P > 0.5}, pos_label="yes"),
            lambda y: cs.Predictions.from_rows(y, two, labels=[None, "yes"]),
            lambda y: cs.Sample.from_rows(y, P, pos_label="yes"),
            lambda y: choose(y, P, pos_label="yes"),
            lambda y: cs.Monitor().update(y, P, labels=["no", "yes"]),
        ):
            with pytest.raises(ValueError, match=MESSAGE):
                ask(y)


@pytest.mark.parametrize("name", RECALIBRATORS)
def test_no_recalibrator_is_fitted_or_judged_with_it(name):
    with pytest.raises(ValueError, match=MESSAGE):
        RECALIBRATORS[name]().fit(P, HALF, pos_label="yes")
    fitted = RECALIBRATORS["PlattScaling"]().fit(P, ["no", "yes"] * (N // 2), pos_label="yes")
    with pytest.raises(ValueError, match="expected no missing outcomes, found one in y at row 1"):
        fitted.score(P, HALF)


@pytest.mark.parametrize("y", [HALF, SPELLED["nan beside text"], NUMBERS["floats"][0], SPELLED["string"]])
def test_no_estimator_is_fitted_or_judged_with_it(y):
    for ask in (
        cs.CalibratedModel(LogisticRegression()).fit,
        lambda X, y: cs.cross_validate(LogisticRegression(), X, y),
    ):
        with pytest.raises(ValueError, match="expected no missing outcomes, found one in y at row 1"):
            ask(P[:, None], y)


def test_decimals_and_fractions_are_outcomes_as_they_are_predictions():
    y = np.arange(N) % 2
    for kind in (Decimal, Fraction):
        assert cs.estimate([kind(int(each)) for each in y], [kind(float(each)) for each in P]) == cs.estimate(y, P)
        assert cs.estimate(np.array([kind(int(each)) for each in y])[:, None], P) == cs.estimate(y, P)


UNFIT = [np.datetime64("2026-01-01"), np.timedelta64(0, "s"), np.timedelta64("NaT"), np.complex64(0.5), 0.5 + 0j]


@pytest.mark.parametrize("entry", [*UNFIT, np.complex128(0.5), "0.5", b"0.5", bytearray(b"0.5")])
def test_objects_that_are_no_numbers_are_refused_as_arrays_of_their_type_are(entry):
    objects = np.empty(N, object)
    objects[:] = [entry] * N
    y = np.arange(N) % 2
    for rows, name in (((y, objects), "y_prob"), ((y, P, objects), "sample_weight")):
        with pytest.raises(ValueError, match=f"expected numbers in {name}, found .* at row 0"):
            cs.estimate(*rows[:2], sample_weight=rows[2] if len(rows) > 2 else None)
    with pytest.raises(ValueError, match=r"expected (outcomes 0 and 1|no missing outcomes), found .* at row 0"):
        cs.estimate(objects, P)


def test_a_number_beyond_floats_is_infinite_without_a_warning():
    large = np.array(["1e4000"] * N, np.longdouble)
    for given in (large, large.astype(object)):
        with pytest.raises(ValueError, match="expected a probability from 0 to 1, found inf in y_prob at row 0"):
            cs.estimate(np.arange(N) % 2, given)
