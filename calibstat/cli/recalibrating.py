"""The command `calibstat recalibrate`: a calibration map, fitted on one file and applied to it or to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calibstat.cli.answers import Answer
from calibstat.cli.large.parts import need_other_file
from calibstat.cli.large.several_files import SeveralFiles
from calibstat.cli.option_groups import takes_groups
from calibstat.cli.options import File, Label, Prob, Seed
from calibstat.cli.reading import AS_WRITTEN, Reading
from calibstat.cli.standard_input import kept
from calibstat.cli.terminal import about, one_line_errors, written
from calibstat.output.whole_folder import write_file

if TYPE_CHECKING:
    import numpy as np

    from calibstat.recalibration import Recalibrator

Table = Annotated[Path, typer.Option("--out", metavar="FILE", help="CSV file of old and new probabilities to write.")]
JSON, SQL = ".json", ".sql"
Saved = Annotated[
    Path | None,
    typer.Option(
        "--save",
        metavar="FILE",
        help="File to write the map to, fitted on all rows of the first file: .json for Recalibrator.from_dict in "
        "Python, or .sql for DuckDB and SQLite.",
    ),
]
TEST_THEM = "Test the new probabilities: calibstat test, of rows of --out with their outcomes, that fitted no map."
SAME_ROWS = (
    "Warning: the file of --to has the same predictions, row by row, as {}, on which the map was fitted, so do not "
    "judge the new probabilities by these rows. Without --to each row is recalibrated by a map fitted on other rows."
)


@takes_groups
def recalibrate_predictions(
    file: File,
    label: Label,
    prob: Prob,
    reading: Reading,
    out: Table,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="FILE",
            callback=kept,
            help="File with the same columns of probabilities, to recalibrate by a map fitted on all rows of the "
            "first. Default: the first file, each fifth of its rows, dealt at random, by a map fitted on the others.",
        ),
    ] = None,
    map_: Annotated[
        str | None,
        typer.Option(
            "--map",
            metavar="NAME",
            help="PlattScaling, TemperatureScaling, IsotonicRegression, ... Default: PlattScaling of outcome 1, "
            "TemperatureScaling of several classes.",
        ),
    ] = None,
    save: Saved = None,
    rng: Seed = 0,
) -> Answer:
    """Fit a calibration map, and write recalibrated probabilities."""
    with one_line_errors():
        import numpy as np

        from calibstat.cli.formats.chosen_columns import choose
        from calibstat.cli.input_files import columns_of, read_rows, read_rows_of_probabilities
        from calibstat.data.checks import cut
        from calibstat.data.predictions import Predictions
        from calibstat.data.sample import Sample
        from calibstat.output.wording import OTHER_ROWS, number_of
        from calibstat.recalibration.held_out import held_out_predictions
        from calibstat.reporting.cross_fitted import FOLDS, default_recalibrator
        from calibstat.resampling import key_of, repeated_folds

        _check_places(file, to, out, save, reading)
        rows, how = read_rows(file, label, prob, reading)
        data = rows if isinstance(rows, Predictions) else Predictions.from_rows(*rows)
        recalibrator = default_recalibrator(data) if map_ is None else named_map(map_)
        if to is not None or save is not None:
            recalibrator.fit(data.prob, data.label, labels=range(data.n_classes))
        if to is None:
            fold, warned = repeated_folds(key_of(rng), data.label, FOLDS, 1)[:, 0], []
            old, new = data.prob, held_out_predictions(data, fold, recalibrator)
            fitted = f"Each of {FOLDS} random parts of the rows is recalibrated by a map fitted on the others"
        else:
            given = read_rows_of_probabilities(to, prob, reading)
            old = (given if isinstance(given, Predictions) else Predictions.from_rows(*given)).prob
            new = recalibrator.predict_proba(old)
            fitted = f"Recalibrated by a map fitted on {number_of('row', data.n)} of {file.name}"
            warned = [SAME_ROWS.format(file.name)] if np.array_equal(old, data.prob) else []
        columns, _ = choose(columns_of(file if to is None else to), None, prob)
        texts = {out: _table_as_text(old, new, columns)}
        if save is not None:
            texts[save] = _map_as_text(save, recalibrator, columns)
        for path, text in texts.items():
            write_file(path, text)
        described = about(data if isinstance(rows, Predictions) else Sample.from_rows(*rows), how)
        files = [written(path.parent, [path]) for path in texts]
        sentences = [f"{fitted}: {cut(repr(recalibrator), 100)}.", *warned, *files]
        fitted_map = {"name": type(recalibrator).__name__} | recalibrator.get_params()
        return Answer(sentences, described, OTHER_ROWS, results={"map": fitted_map}, next_step=TEST_THEM)


def _table_as_text(old: np.ndarray, new: np.ndarray, columns: list[str]) -> str:
    """Return old and new probabilities as the text of a CSV file."""
    import pandas as pd

    from calibstat.output.csv_text import as_csv

    kept = slice(None) if len(columns) > 1 else slice(1, None)
    table = pd.DataFrame(old[:, kept], columns=columns)
    return as_csv(table.join(pd.DataFrame(new[:, kept], columns=[f"{name}_recalibrated" for name in columns])))


def _map_as_text(save: Path, fitted: Recalibrator, columns: Sequence[str]) -> str:
    """Return a fitted map as JSON, or as the SQL of the recalibrated columns, by the suffix of its file."""
    import json

    from calibstat.data.engines.sql import DIALECTS

    if save.suffix == JSON:
        return f"{json.dumps(fitted.to_dict())}\n"
    names = [*columns[-1:]] if fitted.classes_.size == 2 else [*columns]
    found = [fitted.to_sql(names[0])] if len(names) == 1 else fitted.to_sql(names)
    new = (DIALECTS["duckdb"].name(f"{name}_recalibrated") for name in names)
    return ",\n".join(f"{text} AS {name}" for text, name in zip(found, new, strict=True)) + "\n"


def _check_saved(save: Path | None, out: Path, reading: Reading) -> None:
    """Raise if --save names an unknown kind of file or the file of --out, or if SQL cannot read the columns so."""
    if save is None:
        return
    if save.suffix not in (JSON, SQL):
        raise ValueError(f"expected a file with suffix {JSON} or {SQL} behind --save, found {str(save)!r}")
    if save == out:
        raise ValueError(f"expected two files behind --out and --save, found {str(out)!r} for both")
    if save.suffix == SQL and reading != replace(AS_WRITTEN, positive=reading.positive):
        raise ValueError(
            "expected no --logits, --clip or --divide-by-sums beside --save of SQL, which reads columns as they are, "
            f"found one; write the probabilities to columns first, or save a {JSON} file"
        )


def _check_places(file: Path, to: Path | None, out: Path, save: Path | None, reading: Reading) -> None:
    """Raise if a file would be both read and written, or if files of FILE and of --to cannot be told apart."""
    _check_saved(save, out, reading)
    if to is not None and isinstance(file, SeveralFiles):  # some may be the rest of a pattern behind --to
        raise ValueError(
            f"expected one FILE beside --to, found {len(file.places)}; give several as a folder, or as a pattern in "
            "quotes"
        )
    for each in (file, *([] if to is None else [to])):
        need_other_file(each, *(place for place in (out, save) if place is not None))


def named_map(name: str) -> Recalibrator:
    """Return the calibration map of this name; capitals and underscores do not matter."""
    from calibstat.data.checks import unknown_name
    from calibstat.data.words.names_elsewhere import letters
    from calibstat.recalibration import RECALIBRATORS

    known = {letters(each): entry for each, entry in RECALIBRATORS.items()}
    if letters(name) not in known:
        raise unknown_name("a map", name, RECALIBRATORS)
    return known[letters(name)]()
