"""Fitted maps as SQL: DuckDB and SQLite return what `predict_proba` returns; others say why they have no formula."""

import inspect
import re
import sqlite3
import warnings
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.recalibration import RECALIBRATORS, PlattScaling, Recalibrator
from calibstat.recalibration.formula import Expression, as_expression, case, lines, power, shares, steps, total

DIFFERENCE = 1e-12
NO_FORMULA = {"NeuralScaling": "a network of scikit-learn; apply it in Python"}
OPTIONS = {
    "HistogramBinning": [
        {},
        {"strategy": "quantile"},
        {"class_conditional": True},
        {"n_bins": 5, "n_resamples": 7, "random_state": 1},
        {"n_bins": 5, "n_resamples": 7, "random_state": 1, "strategy": "quantile"},
    ],
    "PriorShift": [{"sampling_rate": [0.1, 1.0]}, {"train_prevalence": [0.5, 0.5]}],
    "TemperatureScaling": [{}, {"objective": "brier"}],
}
THREE = {"PriorShift": [{"sampling_rate": [0.1, 0.5, 1.0]}, {"train_prevalence": [0.2, 0.3, 0.5]}]}
HARD = [
    *(0.0, 1.0, 5e-324, 1e-310, 1e-300, 1e-16, 3e-16, 1e-4, 0.2, 0.25, 0.3, 0.5, np.nextafter(0.5, 0)),
    *(np.nextafter(0.5, 1), 1 / 3, 2 / 3, 1 - 1e-4, 1 - 1e-16),
]
ENDS = re.compile(r"WHEN \S+ <=? (\d[\d.e+-]*)")


def choices(options):
    """Every map with each of its options, and with clips where it takes one."""
    found = []
    for name, entry in RECALIBRATORS.items():
        if name not in NO_FORMULA:
            clips = [{"clip": 1e-3}, {"clip": 3e-16}] if "clip" in inspect.signature(entry).parameters else []
            found += [pytest.param(entry(**each), id=f"{name}-{each}") for each in options.get(name, [{}]) + clips]
    return found


def fitted(recalibrator, p, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return recalibrator.fit(p, y)


def answers(expressions, columns, engine):
    """What an engine makes of expressions of the columns p0, p1, ..."""
    data = pd.DataFrame({f"p{j}": column for j, column in enumerate(columns)})
    query = f"SELECT {', '.join(expressions)} FROM scored ORDER BY row"
    data["row"] = np.arange(len(data))
    if engine == "duckdb":
        database = pytest.importorskip("duckdb").connect()
        database.register("scored", data)
        return np.array(database.execute(query).fetchall(), np.float64)
    with closing(sqlite3.connect(":memory:")) as database:
        if not database.execute("SELECT sqlite_compileoption_used('ENABLE_MATH_FUNCTIONS')").fetchone()[0]:
            pytest.skip("this SQLite has no LN, EXP and POWER")
        data.to_sql("scored", database, index=False)
        return np.array(database.execute(query).fetchall(), np.float64)


def expected(recalibrator, p, inside):
    """What the map returns, and nan where it refuses a prediction that is not strictly inside."""
    try:
        return recalibrator.predict_proba(p)
    except ValueError:
        out = np.full(p.shape, np.nan)
        out[inside] = recalibrator.predict_proba(p[inside])
        return out


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("recalibrator", choices(OPTIONS))
def test_both_engines_return_what_the_map_returns(recalibrator, ties, engine):
    y, p = cs.generators.temperature(1.5).sample(300, rng=1)
    p = np.round(p, 1) * 0.98 + 0.01 if ties else p
    found = fitted(recalibrator, p, y)
    expression = found.to_sql("p0")
    ends = np.array([float(each) for each in ENDS.findall(expression)])
    ends = ends[(ends >= 0) & (ends <= 1)]
    at = np.concatenate((HARD, p, ends, np.nextafter(ends, 0), np.nextafter(ends, 1)))
    out = answers([expression], [at], engine)[:, 0]
    np.testing.assert_allclose(out, expected(found, at, (at > 0) & (at < 1)), rtol=0, atol=DIFFERENCE)
    assert np.all((out >= 0) & (out <= 1) | np.isnan(out))


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
@pytest.mark.parametrize("recalibrator", choices(OPTIONS | THREE))
def test_both_engines_return_the_same_for_each_of_three_classes(recalibrator, engine):
    y, p = cs.generators.dirichlet((1, 1, 1), temperature=1.5).sample(200, rng=1)
    found = fitted(recalibrator, p, y)
    hard = [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5], [1e-300, 0.5, 0.5], [1 - 1e-16, 1e-16, 1e-300]]
    at = np.concatenate((hard, [[1 / 3] * 3], p[:60], np.round(p[60:90], 1)[np.round(p[60:90], 1).sum(axis=1) == 1]))
    out = answers(found.to_sql(["p0", "p1", "p2"]), at.T, engine)
    np.testing.assert_allclose(out, expected(found, at, (at > 0).all(axis=1)), rtol=0, atol=DIFFERENCE)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_what_no_map_takes_is_null(engine):
    y, p = cs.generators.temperature(1.5).sample(100, rng=1)
    for name in ("Unchanged", "IsotonicRegression", "PlattScaling"):
        expression = RECALIBRATORS[name]().fit(p, y).to_sql("p0")
        assert np.isnan(answers([expression], [[None, -0.1, 1.1, np.inf]], engine)).all()
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(100, rng=1)
    several = RECALIBRATORS["Unchanged"]().fit(p, y).to_sql(("p0", "p1", "p2"))
    rows = np.array([[0.2, 0.3, 0.6], [0.5, 0.5, None], [1.2, -0.1, -0.1]], np.float64)
    assert np.isnan(answers(several, rows.T, engine)).all()


def test_a_fault_is_found():
    y, p = cs.generators.temperature(1.5).sample(100, rng=1)
    found = PlattScaling().fit(p, y)
    wrong = found.to_sql("p0").replace("LN(1.0e0 - ", "LN(1.000001e0 - ")
    assert np.abs(answers([wrong], [p], "sqlite")[:, 0] - found.predict_proba(p)).max() > DIFFERENCE


@pytest.mark.parametrize("name", NO_FORMULA)
def test_others_say_why_not(name):
    pytest.importorskip("sklearn")
    y, p = cs.generators.temperature(1.5).sample(50, rng=1)
    with pytest.raises(ValueError, match=f"a formula or steps, found {name}, {NO_FORMULA[name]}"):
        fitted(RECALIBRATORS[name](hidden_layer_sizes=(2,), max_iter=5, random_state=1), p, y).to_sql()


class Squared(Recalibrator):
    """A map of somebody else, without a formula."""

    def _fit(self, prob, label):
        return None


def test_a_map_of_somebody_else_has_none_by_default():
    with pytest.raises(ValueError, match="found Squared, whose class has no method _formula; apply it in Python"):
        Squared().fit([0.1, 0.9], [0, 1]).to_sql()


@pytest.mark.parametrize(
    ("p", "column", "message"),
    [
        ([0.1, 0.9], 3, "expected the name of the column of class 1, of the classes 0, 1, found 3"),
        ([0.1, 0.9], ["a", "b"], "expected the name of the column of class 1"),
        ([[0.1, 0.2, 0.7], [0.2, 0.6, 0.2]], "p", "expected the names of 3 columns, of the classes 0, 1, 2, found 'p'"),
        ([[0.1, 0.2, 0.7], [0.2, 0.6, 0.2]], ["a", "b", "a"], "names of 3 columns"),
        ([0.1, 0.9], "a\0", r"without the character U\+0000"),
    ],
)
def test_wrong_columns_raise(p, column, message):
    with pytest.raises(ValueError, match=message):
        RECALIBRATORS["Unchanged"]().fit(p, [0, 1]).to_sql(column)


def test_it_has_to_be_fitted():
    with pytest.raises(ValueError, match="fitted PlattScaling, found one of which fit has not been called"):
        PlattScaling().to_sql()


def test_names_are_quoted():
    assert '"my ""p"""' in RECALIBRATORS["Unchanged"]().fit([0.1, 0.9], [0, 1]).to_sql('my "p"')


def test_parentheses_stand_where_they_are_needed():
    a, b = Expression("a"), Expression("b")
    assert (a + b - (a - b)).text == "a + b - (a - b)"
    assert ((a + b) * 2.0 / (a * b)).text == "(a + b) * 2.0e0 / (a * b)"
    assert (1 - a * -b + -0.5).text == "1 - a * -b - 0.5e0"
    assert (-as_expression(-0.5)).text == "-(-0.5e0)"  # two signs in a row would begin a comment
    assert (-(a + b) / 2).text == "-(a + b) / 2"
    assert (1 + a).text == "1 + a"
    assert total([a, b, a]).text == "a + b + a"
    assert power(a, 0.5).text == "POWER(a, 0.5e0)"
    assert shares([a]) == [a]
    assert shares([a, b])[1].text == "COALESCE(b / NULLIF(a + b, 0), 0.5e0)"
    assert case([("a > 0", b)], None).text == "CASE WHEN a > 0 THEN b END"


def test_numbers_are_doubles_with_all_digits():
    written = {0.25: "0.25e0", 1.0: "1.0e0", 0.1 + 0.2: "0.30000000000000004e0", 1 / 3: "0.33333333333333331e0"}
    written |= {1e-300: "1e-300", -0.5: "-0.5e0", 5e-324: "5e-324"}
    assert {value: as_expression(value).text for value in written} == written
    value = np.random.default_rng(1).random(300)
    for engine in ("duckdb", "sqlite"):
        np.testing.assert_array_equal(answers([as_expression(each).text for each in value], [[0.5]], engine)[0], value)
    for bad in (np.inf, np.nan):
        with pytest.raises(ValueError, match="expected finite numbers in a fitted map"):
            as_expression(bad)


def test_equal_neighbours_among_steps_are_one():
    p, edges = Expression("p"), np.array([0.25, 0.5, 0.75])
    assert (
        steps(p, edges, lambda at: np.where(at <= 0.5, 0.1, 0.2)).text
        == "CASE WHEN p <= 0.5e0 THEN 0.1e0 ELSE 0.2e0 END"
    )
    assert (
        steps(p, edges, lambda at: np.where(at < 0.5, 0.1, 0.2)).text == "CASE WHEN p < 0.5e0 THEN 0.1e0 ELSE 0.2e0 END"
    )
    at_one = "CASE WHEN p < 0.5e0 THEN 0.0e0 WHEN p <= 0.5e0 THEN 1.0e0 ELSE 0.0e0 END"
    assert steps(p, edges, lambda at: 1.0 * (at == 0.5)).text == at_one
    assert steps(p, edges, lambda at: 0 * at).text == "0.0e0"


def test_lines_are_constant_beyond_their_knots():
    found = lines(Expression("p"), np.array([0.25, 0.5, 0.75]), np.array([0.0, 0.5, 0.5])).text
    assert found.split("\n") == [
        "CASE WHEN p <= 0.25e0 THEN 0.0e0 WHEN p <= 0.5e0 THEN 0.5e0 * ((p - 0.25e0) / 0.25e0) ELSE 0.5e0 END"
    ]
    assert lines(Expression("p"), np.array([0.25]), np.array([0.5])).text == "0.5e0"
    steep = lines(Expression("p"), np.array([0.0, 1e-320]), np.array([0.0, 1.0])).text
    assert steep == "CASE WHEN p <= 0.0e0 THEN 0.0e0 ELSE 1.0e0 END"
