"""The query as text: run on SQLite and DuckDB it gives samples of `from_frame`; others are spelled right."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from compared_samples import same

import calibstat as cs
from calibstat.data.engines.sql import DIALECTS

CHOICES = [{}, {"by": "the site"}, {"weight": "w"}, {"cells": "distinct"}, {"by": ["year", "the site"], "weight": "w"}]


def table():
    rng = np.random.default_rng(5)
    p = np.concatenate([[0, 1, 1e-20], rng.integers(0, 1000, 500) / 1000, rng.beta(1, 3, 997) / 30])
    y = (rng.random(p.size) < p).astype(int)
    site, year = rng.choice(["a", "b"], p.size), rng.choice([2024, 2025], p.size)
    return pd.DataFrame({"y": y, 'the "p"': p, "the site": site, "year": year, "w": rng.integers(0, 3, p.size)})


def in_sqlite(data, query):
    with closing(sqlite3.connect(":memory:")) as database:
        data.to_sql("scored", database, index=False)
        answer = database.execute(query)
        names = [column[0] for column in answer.description]
        return dict(zip(names, zip(*answer.fetchall(), strict=True), strict=True))


def in_duckdb(data, query):
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    database.register("scored", data)
    return database.sql(query)


@pytest.mark.parametrize(("dialect", "run"), [("sqlite", in_sqlite), ("duckdb", in_duckdb)])
@pytest.mark.parametrize("choice", CHOICES)
def test_the_answer_gives_the_sample_of_the_frame(dialect, run, choice):
    pytest.importorskip("narwhals")
    data = table()
    names = "y", 'the "p"'
    found = cs.Sample.from_cells(run(data, cs.sql(*names, dialect=dialect, **choice)), by=choice.get("by"))
    expected = cs.Sample.from_frame(data, *names, **choice)
    if "by" not in choice:
        found, expected = {(): found}, {(): expected}
    assert list(found) == list(expected)
    assert all(same(found[key], expected[key]) for key in expected)
    assert all((found[key].moved, found[key].n_repeated) == (s.moved, s.n_repeated) for key, s in expected.items())


@pytest.mark.parametrize(("dialect", "run"), [("sqlite", in_sqlite), ("duckdb", in_duckdb)])
def test_bad_rows_come_with_the_answer_and_are_counted(dialect, run):
    pytest.importorskip("narwhals")
    data = pd.DataFrame({"y": [0, 1, 2, None], "p": [0.5, 1.5, 0.5, 0.1]})
    with pytest.raises(
        ValueError, match=r"'label', found 1 missing and 1 other values; .* 'prob', found 1 other value"
    ):
        cs.Sample.from_cells(run(data, cs.sql("y", "p", dialect=dialect)))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_all_dialects_quote_names_and_sum_whole_numbers(dialect):
    query = cs.sql("y", "p", by="site", dialect=dialect, table="a_table AS t")
    quote = "`" if dialect in ("spark", "bigquery") else '"'
    assert query.endswith(f"GROUP BY {quote}site{quote}, {quote}cell{quote}")
    assert "FROM a_table AS t)" in query
    assert f"AS {DIALECTS[dialect].integer}) AS {quote}offsets{quote}" in query
    odd = cs.sql('a"`b', "p", dialect=dialect)
    assert {'"': 'CAST("a""`b" AS', "`": 'CAST(`a"'}[quote] in odd


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dialect": "mysql"}, "expected dialect, one of duckdb, postgres"),
        ({"label": 1}, "expected label, a name, found 1"),
        ({"by": "offsets"}, "distinct names of columns"),
        ({"cells": 7}, "expected cells None"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        cs.sql(**({"label": "y", "prob": "p"} | arguments))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("place", ["label", "prob", "by", "weight", "table"])
def test_a_name_with_the_end_of_a_text_is_refused(dialect, place):
    names = {"label": "y", "prob": "p"} | {place: "a\0b"}
    with pytest.raises(ValueError, match=r"without the character U\+0000, found 'a\\x00b'"):
        cs.sql(**names, dialect=dialect)
