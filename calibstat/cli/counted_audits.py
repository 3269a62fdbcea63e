"""Audits of more rows than are kept: counted in two passes over the files, of features and then of all columns."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibstat.cli.features_and_periods import check_features, with_dates
from calibstat.cli.file_checks import readable
from calibstat.cli.formats.cell_format import format_of
from calibstat.cli.formats.chosen_columns import choose
from calibstat.cli.formats.text_files import CSV_FILES, kind_of
from calibstat.cli.input_files import add_batches, columns_of
from calibstat.cli.large.parts import check_columns, number_of_rows, parts_of
from calibstat.cli.large.rows_of_groups import FeatureLevels, GroupCounts, values_in
from calibstat.cli.large.rows_of_models import MOST_ROWS
from calibstat.cli.reading import Reading
from calibstat.digits import settled
from calibstat.inference.auditing.audit_counts import audit_counts
from calibstat.inference.auditing.audit_results import Audit
from calibstat.resampling import Draws

if TYPE_CHECKING:
    import pandas as pd


def audits_in_batches(
    file: Path,
    label: str,
    prob: Sequence[str],
    by: Sequence[str],
    reading: Reading,
    n_quantiles: int,
    n_resamples: int,
    rng: int,
    options: dict[str, Any],
) -> tuple[dict[str, Audit] | None, str]:
    """Return the audit of each model on many rows, and how predictions were counted; None of rows that are kept."""
    parts = parts_of(file)
    totals = [number_of_rows(part) for part in parts]
    if None in totals or sum(total or 0 for total in totals) <= MOST_ROWS:
        return None, ""
    there = columns_of(file)
    columns = [column for entry in prob for column in choose(there, label, [entry])[0]]
    if len(columns) != len(prob) or kind_of(parts[0]) not in (*CSV_FILES, ".parquet"):
        return None, ""
    check_features(file, by)
    check_columns(parts, map(columns_of, parts), by)
    with readable(file):
        values = values_in(parts, by)
    decimal = format_of(parts[0]).decimal if kind_of(parts[0]) in CSV_FILES else None
    features = {
        name: FeatureLevels(name, each, typed(name, each.index, decimal), n_quantiles) for name, each in values.items()
    }
    counts = GroupCounts(parts, features, len(columns))
    if not add_batches(counts, file, label, columns, reading):
        return None, ""
    audits, cells = dict[str, Audit](), list[str]()
    for k, name in enumerate(columns):
        levels, rows, n_cells, moved = counts.counts(k)
        draws = Draws.of(rng, n_resamples, -1)
        audits[name] = audit_counts(levels, **rows, draws=draws, **options)
        cells += [f"{name} in {n_cells:,} cells, which moved them by at most {settled(moved):.1e}"] * (n_cells > 0)
    exact = ". Rows, outcomes and mean predictions of groups are exact."
    return audits, f"Predictions were counted: {'; '.join(cells)}{exact}" if cells else ""


def typed(name: str, values: pd.Index, decimal: str | None) -> pd.Series:
    """Return values as what they mean: texts of a file of cells as pandas reads all of them, and dates as dates.

    `decimal` is the sign before decimals in a file of cells, None of another file.
    """
    import pandas as pd

    column = pd.Series(values, name=name)
    if decimal is not None:
        text = StringIO(column.to_frame().to_csv(index=False, sep=";"))
        column = pd.read_csv(text, skip_blank_lines=False, low_memory=False, decimal=decimal, sep=";")[name]
    return with_dates(column)
