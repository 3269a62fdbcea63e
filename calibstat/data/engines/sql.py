"""The GROUP BY of `Sample.from_frame` as text in the SQL of a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calibstat.data.checks import is_among, short, unknown_name
from calibstat.data.engines.cell_table import COARSE, FINE, LARGEST_WEIGHT, STATES, TABLE_CELLS, by_columns, check_cells


@dataclass(frozen=True)
class Dialect:
    """The spelling that a database has for quotes, a double, a 64-bit integer, and the floor of a number from 0.

    `single` is the type of single precision, or a double where there is none: rounding to it then changes nothing.
    """

    quote: str = '"'
    double: str = "DOUBLE"
    integer: str = "BIGINT"
    single: str = "REAL"
    floor: str = "CAST(FLOOR({}) AS {double})"  # FLOOR alone may return a whole number, whose quotients are decimal

    def name(self, column: str) -> str:
        """Return the name of a column in quotes; no database takes one with U+0000, which ends a text."""
        if "\0" in column:
            raise ValueError(f"expected names of columns without the character U+0000, found {short(column)}")
        escaped = column.replace("\\", "\\\\") if self.integer == "INT64" else column
        doubled = escaped.replace(self.quote, "\\`" if self.integer == "INT64" else self.quote * 2)
        return f"{self.quote}{doubled}{self.quote}"

    def whole(self, expression: str) -> str:
        """Return the floor of a number from 0, as a double."""
        return self.floor.format(expression, double=self.double)


DIALECTS = {
    "duckdb": Dialect(),
    "postgres": Dialect(double="DOUBLE PRECISION"),
    "spark": Dialect(quote="`"),
    "bigquery": Dialect(quote="`", double="FLOAT64", integer="INT64", single="FLOAT64"),
    "snowflake": Dialect(),
    "sqlite": Dialect(double="REAL", integer="INTEGER", floor="CAST(CAST({} AS INTEGER) AS REAL)"),
}


def sql(
    label: str,
    prob: str,
    by: str | Sequence[str] | None = None,
    dialect: str = "duckdb",
    *,
    table: str = "scored",
    weight: str | None = None,
    cells: str | None = None,
) -> str:
    """Return the query that sums up outcomes and predictions in a database, for `Sample.from_cells`.

        >>> import calibstat as cs
        >>> query = cs.sql("y", "p", by="site", dialect="postgres", table="scored")
        >>> print(query.splitlines()[-1])
        GROUP BY "site", "cell"

    Parameters
    ----------
    label, prob : str
        The numeric columns of outcomes 0 and 1, and of predicted probabilities. Names are put in quotes.
    by : str or sequence of str, optional
        Columns of groups.
    dialect : {"duckdb", "postgres", "spark", "bigquery", "snowflake", "sqlite"}
        The database. The queries of DuckDB and SQLite and, apart, of Spark are run by tests, the others are not.
    table : str
        What stands behind FROM: the name of a table, or a query in parentheses with an alias. It is used as it is.
    weight, cells
        As for `Sample.from_frame`.

    Returns
    -------
    str
        The query. Its answer has a row for each cell and group: counts, and exact sums of predictions as whole numbers.
        Bad rows are in cells below 0, so that `Sample.from_cells` counts them and raises.

    Raises
    ------
    ValueError
        If the dialect or an option is not known, a name is not a text, or it has the character U+0000.
    """
    _check(dialect, label, prob, table, weight)
    d = DIALECTS[dialect]
    groups = "".join(f"{d.name(key)}, " for key in by_columns(by))
    given = {"y": label, "p": prob} | ({} if weight is None else {"w": weight})
    exact = ", p" * check_cells(cells)
    lines = [
        *_stages(d, groups, given, table),
        f"SELECT {groups}{d.name('cell')},",
        "  " + ",\n  ".join(_sums(d, weight is not None)),
        "FROM cells",
        f"GROUP BY {groups}{d.name('cell')}{exact}",
    ]
    return "\n".join(lines)


def _check(dialect: str, label: str, prob: str, table: str, weight: str | None) -> None:
    """Raise unless the dialect is known, and names are texts."""
    if not is_among(dialect, DIALECTS):
        raise unknown_name("dialect", dialect, DIALECTS)
    for argument, name in {"label": label, "prob": prob, "table": table, "weight": weight}.items():
        if not isinstance(name, str) and not (name is None and argument == "weight"):
            raise ValueError(f"expected {argument}, a name, found {short(name)}")
    if "\0" in table:
        raise ValueError(f"expected table without the character U+0000, found {short(table)}")


def _stages(d: Dialect, groups: str, given: Mapping[str, str], table: str) -> list[str]:
    """Return the queries of which each computes columns from those of the one before: rows with their cells.

    `given` are the columns of outcomes y, predictions p and weights w.
    """
    numbers = ", ".join(f"CAST({d.name(name)} AS {d.double}) AS {each}" for each, name in given.items())
    kept = ", ".join(f"CASE WHEN code = 0 THEN {each} ELSE 0.0 END AS {each}" for each in given)
    edge, above = d.whole(f"p * {TABLE_CELLS}.0 + 0.5"), f"(p - b / {TABLE_CELLS}.0) * {COARSE}.0"
    fine = d.whole(f"(above - coarse) * {FINE}.0")
    w = ", w" * ("w" in given)
    rounded = (
        f"CAST(CAST(edge / {TABLE_CELLS}.0 AS {d.single}) AS {d.double})"  # to which single precision rounds an edge
    )
    bins = (
        f"CASE WHEN p > edge / {TABLE_CELLS}.0 AND p <> {rounded} THEN edge WHEN edge > 0 THEN edge - 1.0 ELSE 0.0 END"
    )
    cell = f"CASE WHEN code = 0 THEN CAST(b AS {d.integer}) ELSE -code END AS {d.name('cell')}"
    return [
        f"WITH given AS (SELECT {groups}{numbers} FROM {table}),",
        f"coded AS (SELECT {groups}y, p{w}, {_code(d, given)} AS code FROM given),",
        f"kept AS (SELECT {groups}code, {kept} FROM coded),",
        f"edged AS (SELECT {groups}code, y, p{w}, {edge} AS edge FROM kept),",
        f"placed AS (SELECT {groups}code, y, p{w}, {bins} AS b FROM edged),",
        f"measured AS (SELECT {groups}code, y, p{w}, b, {above} AS above FROM placed),",
        f"cut AS (SELECT {groups}code, y, p{w}, b, above, {d.whole('above')} AS coarse FROM measured),",
        f"cells AS (SELECT {groups}{cell}, y, p{w}, coarse, {fine} AS fine FROM cut)",
    ]


def _code(d: Dialect, given: Mapping[str, str]) -> str:
    """Return the expression that says which columns of a row are missing or bad, 0 if none is."""
    good = {
        "y": "y = 0 OR y = 1",
        "p": "p >= 0 AND p <= 1",
        "w": f"w >= 0 AND w <= {LARGEST_WEIGHT} AND w = {d.whole('w')}",
    }
    return " + ".join(
        f"CASE WHEN {each} IS NULL THEN {STATES**k} WHEN {good[each]} THEN 0 ELSE {2 * STATES**k} END"
        for k, each in enumerate(given)
    )


def _sums(d: Dialect, weighted: bool) -> list[str]:
    """Return the columns of the answer behind those of groups and cells."""

    def total(expression: str, name: str) -> str:
        return f"CAST(SUM({expression}) AS {d.integer}) AS {d.name(name)}"

    def whole(name: str) -> str:
        return f"CAST({name} AS {d.integer})"

    times = f" * {whole('w')}" * weighted
    return [
        f"COUNT(*) AS {d.name('n_rows')}",
        total(whole("w"), "count") if weighted else f"COUNT(*) AS {d.name('count')}",
        total(whole("y") + times, "positives"),
        f"MIN(p) AS {d.name('lowest')}",
        f"MAX(p) AS {d.name('highest')}",
        total(whole("coarse") + times, "offsets"),
        total(whole("fine") + times, "fine_offsets"),
        *([total("CASE WHEN w > 0 THEN 1 ELSE 0 END", "n_weighted")] if weighted else []),
    ]
