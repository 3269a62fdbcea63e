"""Cells of the predictions in a frame of any engine, which does the GROUP BY, through narwhals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from calibstat.data.checks import described, quoted, short
from calibstat.data.engines.cell_table import (
    COARSE,
    FINE,
    LARGEST_WEIGHT,
    STATES,
    TABLE_CELLS,
    GroupCells,
    by_columns,
    check_cells,
    groups_of_table,
)


def groups_of_frame(
    frame: object, names: Sequence[str | None], by: str | Sequence[str] | None, cells: object
) -> dict[Any, GroupCells]:
    """Return the cells of each group of a frame; `names` are its columns of outcomes, predictions and weights."""
    keys = by_columns(by)
    query = _query(frame, names, keys, check_cells(cells))
    return groups_of_table(columns_of(query), by, names)


def columns_of(frame: object) -> dict[str, Any]:
    """Return the columns of a frame of any engine as arrays, keys of groups as lists."""
    table = _lazy(frame).collect()
    return {
        name: table[name].to_numpy() if table[name].dtype.is_numeric() else table[name].to_list()
        for name in table.columns
    }


def _lazy(frame: object) -> Any:
    """Return a frame of any engine as one of narwhals that runs a query only when it is collected."""
    nw = _narwhals()
    try:
        return nw.from_native(frame).lazy()
    except TypeError:
        raise ValueError(
            f"expected a frame of pandas, Polars, PyArrow, DuckDB, Dask or another engine, found {described(frame)}"
        ) from None


def _narwhals() -> Any:
    """Return narwhals; raise an ImportError that names the extra."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        raise ImportError(
            "expected narwhals, which reads frames of any engine, found none; pip install calibstat[frames] brings it"
        ) from None
    return nw


def _query(frame: object, names: Sequence[str | None], keys: list[str], distinct: bool) -> Any:
    """Return the frame of sums in cells, not yet run.

    Columns are computed first, one stage after another, and then plain columns are added up, which every engine can do.
    """
    nw, data = _narwhals(), _lazy(frame)
    _check_columns(nw, data.collect_schema(), names, keys)
    given = {short_name: name for short_name, name in zip("ypw", names, strict=True) if name is not None}
    data = data.select(
        *(nw.col(key).alias(f"by_{i}") for i, key in enumerate(keys)),
        *(nw.col(name).cast(nw.Float64).alias(each) for each, name in given.items()),
    )
    data = _with_cells(nw, _with_codes(nw, data, given))
    groups = [*(f"by_{i}" for i in range(len(keys))), "cell", *["exact"] * distinct]
    table = _sums(nw, data, groups, weighted="w" in given)
    return table.rename({f"by_{i}": key for i, key in enumerate(keys)})


def _with_codes(nw: ModuleType, data: Any, given: Iterable[str]) -> Any:
    """Add the code of what is missing or bad in a row, 0 if nothing is; numbers of other rows become 0."""
    col, lit, when = nw.col, nw.lit, nw.when
    good = {
        "y": (col("y") == 0) | (col("y") == 1),
        "p": (col("p") >= 0) & (col("p") <= 1),
        "w": (col("w") >= 0) & (col("w") <= LARGEST_WEIGHT) & (col("w") == col("w").floor()),
    }
    for k, each in enumerate(given):
        data = data.with_columns(col(each).is_null().alias("null"), col(each).fill_null(0.0).alias(each))
        data = data.with_columns((col("null") | col(each).is_nan()).alias("null"))
        state = when(col("null")).then(lit(1)).otherwise(when(good[each]).then(lit(0)).otherwise(lit(2)))
        data = data.with_columns((state * STATES**k).alias(f"state_{each}"))
    first, *others = (col(f"state_{each}") for each in given)
    data = data.with_columns(sum(others, first).alias("code"))
    return data.with_columns(
        *(when(col("code") == 0).then(col(each)).otherwise(lit(0.0)).alias(each) for each in given)
    )


def _with_cells(nw: ModuleType, data: Any) -> Any:
    """Add the cell of each row, and how far its prediction lies above the edge below it, in coarse and fine steps."""
    col, lit, when = nw.col, nw.lit, nw.when
    # Polars divides by a constant as it multiplies by the rounded inverse, so that the number of cells is a column.
    data = data.with_columns(
        (col("p") * TABLE_CELLS + 0.5).floor().alias("edge"),  # the rule of bin_of
        (col("p") * 0.0 + TABLE_CELLS).alias("n_cells"),
    )
    data = data.with_columns((col("edge") / col("n_cells")).alias("end"))
    data = data.with_columns(col("end").cast(nw.Float32).cast(nw.Float64).alias("single"))
    above = (col("p") > col("end")) & (col("p") != col("single"))  # single precision rounded the edge up to p
    data = data.with_columns(when(above).then(col("edge")).otherwise(col("edge") - 1).alias("b"))
    data = data.with_columns(when(col("b") < 0).then(lit(0.0)).otherwise(col("b")).alias("b"))
    data = data.with_columns(((col("p") - col("b") / col("n_cells")) * COARSE).alias("above"))
    data = data.with_columns(col("above").floor().alias("coarse"))
    data = data.with_columns(((col("above") - col("coarse")) * FINE).floor().alias("fine"))
    return data.with_columns(
        when(col("code") == 0).then(col("b")).otherwise(col("code") * -1.0).cast(nw.Int64).alias("cell"),
        *(col(each).cast(nw.Int64).alias(each) for each in ("y", "coarse", "fine")),
    )


def _sums(nw: ModuleType, data: Any, groups: list[str], *, weighted: bool) -> Any:
    """Return what the rows of each group add up to."""
    col, lit, when = nw.col, nw.lit, nw.when
    of_weights = []
    if weighted:
        data = data.with_columns(
            col("w").cast(nw.Int64).alias("w"), when(col("w") > 0).then(lit(1)).otherwise(lit(0)).alias("n_weighted")
        )
        data = data.with_columns(*((col(each) * col("w")).alias(each) for each in ("y", "coarse", "fine")))
        of_weights = [col("w").sum().alias("count"), col("n_weighted").sum().alias("n_weighted")]
    table = data.with_columns(col("p").alias("exact")).group_by(*groups)
    table = table.agg(
        nw.len().alias("n_rows"),
        col("y").sum().alias("positives"),
        col("p").min().alias("lowest"),
        col("p").max().alias("highest"),
        col("coarse").sum().alias("offsets"),
        col("fine").sum().alias("fine_offsets"),
        *of_weights,
    )
    whole = ["n_rows", "positives", "offsets", "fine_offsets", *(["count", "n_weighted"] if weighted else [])]
    table = table.with_columns(*(col(name).cast(nw.Int64).alias(name) for name in whole))
    return table if weighted else table.with_columns(col("n_rows").alias("count"))


def _check_columns(nw: ModuleType, schema: Mapping[str, Any], names: Sequence[str | None], keys: list[str]) -> None:
    """Raise unless the columns are there, and outcomes, predictions and weights are numbers or booleans."""
    missing = [name for name in (*names, *keys) if name is not None and name not in schema]
    if missing:
        raise ValueError(f"expected columns {quoted(missing)}, found {quoted(schema)}")
    for name in names:
        if name is not None and not (schema[name].is_numeric() or schema[name] == nw.Boolean):
            raise ValueError(f"expected numbers or booleans in column {name!r}, found {short(schema[name])}")
