"""What Spark counted, stored with versions, beside other engines; and Spark itself, where it is installed.

`python -m pytest -n 0 -m spark tests/data/engines` runs it, in an environment with pyspark, pandas below 3 and Java.
"""

from pathlib import Path

import pandas as pd
import pytest
from compared_samples import same
from engine_frames import frame_of, quiet_about_dask, rows_of_every_kind

import calibstat as cs
from calibstat.data.engines.frame_cells import _query, columns_of

STORED = Path(__file__).parent / "cells_of_spark.csv"  # written by `write`; its first line says by which versions
SIZE, BY, NAMES = 300, ["site"], ("y", "p", "w")
KEYS = [*BY, "cell"]


def stored():
    ends = ["lowest", "highest"]  # as text, of which Python makes the very same doubles
    return pd.read_csv(STORED, comment="#", dtype=dict.fromkeys(ends, str)).astype(dict.fromkeys(ends, float))


def ordered(columns):
    return pd.DataFrame(columns)[[*stored().columns]].sort_values(KEYS, ignore_index=True)


def alike(answer):
    """All sums are the same whole numbers, and the lowest and highest predictions the same doubles."""
    pd.testing.assert_frame_equal(ordered(answer), stored(), check_exact=True, check_dtype=False)


@pytest.mark.parametrize("engine", ["pandas", "polars", "polars lazy", "pyarrow", "duckdb", "dask"])
def test_other_engines_count_what_spark_counted(engine):
    pytest.importorskip("narwhals")
    pytest.importorskip("dask.dataframe" if engine == "dask" else engine.partition(" ")[0])
    quiet_about_dask()
    alike(columns_of(_query(frame_of(engine, rows_of_every_kind(SIZE)), NAMES, BY, False)))


def test_the_query_for_duckdb_counts_what_spark_counted():
    database = pytest.importorskip("duckdb").connect()
    database.register("scored", rows_of_every_kind(SIZE))
    alike(database.sql(cs.sql("y", "p", by=BY, weight="w")).df())


def test_one_more_row_is_found():
    answer = stored()
    answer.loc[3, "fine_offsets"] += 1
    with pytest.raises(AssertionError):
        alike(answer)


@pytest.fixture(scope="module", name="spark")
def spark_fixture():
    sql = pytest.importorskip("pyspark.sql")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
    }
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.mark.spark
@pytest.mark.filterwarnings("default")  # those of Spark are not ours
@pytest.mark.parametrize("size", [SIZE, 3000])
def test_spark_gives_the_samples_of_pandas(spark, size):
    data = rows_of_every_kind(size)
    frame = spark.createDataFrame(data).repartition(3)
    frame.createOrReplaceTempView("scored")
    choices = [{}, {"by": "site"}, {"weight": "w"}, {"cells": "distinct"}, {"by": ["site", "w"]}]
    for choice in choices:
        expected = cs.Sample.from_frame(data, "y", "p", **choice)
        query = spark.sql(cs.sql("y", "p", dialect="spark", **choice))
        for found in (
            cs.Sample.from_frame(frame, "y", "p", **choice),
            cs.Sample.from_cells(query, by=choice.get("by")),
        ):
            if "by" not in choice:
                assert same(found, expected)
                continue
            assert list(found) == list(expected)
            assert all(same(found[key], expected[key]) for key in expected)


@pytest.mark.spark
@pytest.mark.filterwarnings("default")
def test_spark_counts_as_stored(spark):
    frame = spark.createDataFrame(rows_of_every_kind(SIZE)).repartition(3)
    frame.createOrReplaceTempView("scored")
    alike(columns_of(_query(frame, NAMES, BY, False)))
    alike(spark.sql(cs.sql("y", "p", by=BY, weight="w", dialect="spark")).toPandas())


@pytest.mark.spark
@pytest.mark.filterwarnings("default")
def test_spark_counts_bad_rows(spark):
    bad = pd.DataFrame({"y": [0.0, 1.0, 2.0, 0.5], "p": [0.1, float("nan"), 1.5, 0.5]})
    with pytest.raises(ValueError, match=r"'y', found 2 other values; .* in column 'p', found 1 missing and 1 other"):
        cs.Sample.from_frame(spark.createDataFrame(bad), "y", "p")


def write(session):
    """Store what a session of Spark counts."""
    import platform

    session.createDataFrame(rows_of_every_kind(SIZE)).createOrReplaceTempView("scored")
    answer = session.sql(cs.sql("y", "p", by=BY, weight="w", dialect="spark")).toPandas()
    java = session.sparkContext._jvm.System.getProperty("java.version")
    versions = (
        f"# PySpark {session.version}, Java {java}, Python {platform.python_version()}, pandas {pd.__version__}\n"
    )
    STORED.write_text(versions + answer.sort_values(KEYS).to_csv(index=False), encoding="utf-8")
