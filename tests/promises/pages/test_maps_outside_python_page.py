"""The page of maps outside Python: both engines run the SQL that it prints, and return what its maps return."""

import doctest
import re
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT

PAGE = (PROJECT / "docs" / "more" / "maps-outside-python.md").read_text(encoding="utf-8")
MOST_WORDS = 500


def maps_and_texts():
    """The six maps of the page, made by its code, and the expressions that it prints."""
    examples, names = doctest.DocTestParser().get_examples(PAGE), {}
    for example in examples[:-1]:
        exec(example.source, names)
    printed = dict(re.findall(r"^([a-z ]+): (CASE(?:.|\n(?! *\n))*? END)$", examples[-1].want, re.M | re.I))
    return names["maps"], printed


def answers(query, data, engine):
    if engine == "duckdb":
        database = pytest.importorskip("duckdb").connect()
        database.register("scored", data)
        return np.array(database.execute(query).fetchall(), np.float64)
    with closing(sqlite3.connect(":memory:")) as database:
        data.to_sql("scored", database, index=False)
        return np.array(database.execute(query).fetchall(), np.float64)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_both_engines_run_what_the_page_prints(engine):
    maps, printed = maps_and_texts()
    assert [*printed] == [*maps]
    assert len(maps) == 6
    p = np.concatenate((np.arange(1, 1000) / 1000, [0.25, 0.4625, 1e-300, 1 - 1e-16]))
    out = answers(f"SELECT {', '.join(printed.values())} FROM scored", pd.DataFrame({"p": p}), engine)
    expected = np.column_stack([each.predict_proba(p) for each in maps.values()])
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-12)


def test_the_page_is_short():
    assert len(re.sub(r"```.*?```", "", PAGE, flags=re.S).split()) <= MOST_WORDS
