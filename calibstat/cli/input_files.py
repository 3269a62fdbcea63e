"""Reads outcomes and predictions from a file of cells, JSON lines, a Parquet or a NumPy file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.cli.batches import BYTES, batches_of, parquet_columns
from calibstat.cli.file_checks import check_file, check_size, readable
from calibstat.cli.formats.array_files import NUMPY_FILES as OF_ARRAYS
from calibstat.cli.formats.array_files import read_arrays
from calibstat.cli.formats.arrow_files import ARROW_FILES as OF_ARROW
from calibstat.cli.formats.arrow_files import columns_of_table, names_of_table
from calibstat.cli.formats.cell_format import format_of
from calibstat.cli.formats.chosen_columns import WILD, choose, need_column
from calibstat.cli.formats.csv_rows import COUNTED, check_cells
from calibstat.cli.formats.text_files import (
    ARRAY,
    CSV_FILES,
    JSON_FILES,
    check_expanded,
    columns_of_lines,
    kind_of,
    names_of_lines,
)
from calibstat.cli.large.parts import check_columns, check_memory, naming, number_of_rows, parts_of
from calibstat.cli.large.rows_in_cells import MOST_ROWS, RowCounts
from calibstat.cli.large.rows_of_groups import GroupCounts
from calibstat.cli.large.rows_of_models import ModelCounts, TooManyKinds
from calibstat.cli.reading import AS_WRITTEN, Reading
from calibstat.cli.terminal import late_bar
from calibstat.data.checked_rows import Models
from calibstat.data.checks import short
from calibstat.data.clipping import clipped
from calibstat.data.logits import from_logits
from calibstat.data.models import are_classes
from calibstat.data.predictions import Predictions
from calibstat.data.rows_error import Entry, Given, RowsError
from calibstat.data.sample import Sample
from calibstat.data.validation import check_rows, ready, sums_are_rounded, vector_error
from calibstat.digits import settled
from calibstat.output.wording import listed

if TYPE_CHECKING:
    import pandas as pd

OF_JSON = (*JSON_FILES, ARRAY)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}($|[T ])")
REFUSED_DATA = {"c": "complex numbers", "V": "raw bytes"}  # of NumPy that no command takes
LONGEST_WHOLE = 1023  # bits of whole numbers that are floats
PER_CENT = [re.compile(rf"\s*[+-]?\d*{sign}?\d+\s*%\s*") for sign in (r"\.", ",")]
PER_CENT_SIGN = "% \t\u00a0\u202f"  # with blanks that do not break lines
SPELLED = {
    re.compile(r".*\d\s*%\s*"): "; write a per cent sign behind every number of the column, or behind none",
    re.compile(r"\s*[+-]?\d*,\d+\s*"): "; write decimals behind a point, or cells between semicolons",
}
MISSING = ("", "NA", "N/A", "nan", "NaN", "null")  # texts that say that nothing is there; a class may be called so


def read_data(
    file: Path, label: str, prob: Sequence[str], reading: Reading = AS_WRITTEN
) -> tuple[Sample | Predictions, str]:
    """Read outcomes and the columns that `prob` names; a ValueError or OSError says in one line what is wrong.

    Also return a sentence on how outcomes were understood, which of several columns is a choice.
    """
    sample = sample_in_batches(file, label, prob, reading)
    if sample is not None:
        return sample, ""
    data, how = read_rows(file, label, prob, reading)
    return data if isinstance(data, Predictions) else Sample.from_rows(*data), how


def models_of_many(file: Path, label: str, prob: Sequence[str], reading: Reading) -> Models | None:
    """Return the models of a column of probabilities each on more rows than are kept of one; else None.

    A file that does not say how many rows it has is read whole by commands that can. Columns whose first rows sum to 1
    are the classes of one model.
    """
    parts = parts_of(file)
    totals = [number_of_rows(part) for part in parts]
    if None in totals or sum(total or 0 for total in totals) <= MOST_ROWS:
        return None
    columns = [column for entry in prob for column in choose(columns_of(file), label, [entry])[0]]
    try:
        first = next(batches_of(parts[0], columns) or iter([]), None)
    except ValueError:
        return None
    if first is None or (len(columns) > 1 and are_classes(first)):
        return None
    return models_in_batches(file, label, prob, reading)


def sample_in_batches(file: Path, label: str, prob: Sequence[str], reading: Reading) -> Sample | None:
    """Return the sample of one column of probabilities, or None where all rows are needed."""
    if len(prob) != 1:
        return None
    columns, _ = choose(columns_of(file), label, prob)
    counts = RowCounts()
    return counts.sample() if len(columns) == 1 and add_batches(counts, file, label, columns, reading) else None


def models_in_batches(file: Path, label: str, prob: Sequence[str], reading: Reading) -> Models | None:
    """Return the models of a column of probabilities each on the same rows, or None where all rows are needed."""
    there = columns_of(file)
    columns = [column for entry in prob for column in choose(there, label, [entry])[0]]
    if not len(prob) == len(columns) == len(set(columns)):
        return None
    counts = ModelCounts(columns)
    return counts.models() if add_batches(counts, file, label, columns, reading) else None


def add_batches(
    counts: RowCounts | ModelCounts | GroupCounts, file: Path, label: str, columns: Sequence[str], reading: Reading
) -> bool:
    """Add up the rows of a file, or return False where all are needed: to read them, or to say what is wrong.

    Numbers 0 and 1 and probabilities mean the same in any batch; texts, logits and, of one file that fits into memory,
    errors are about all rows.
    """
    parts, wanted = parts_of(file), [label, *columns]
    as_written = reading.positive is None and not reading.logits and not reading.divide_by_sums
    if not as_written or batches_of(parts[0], wanted) is None:
        return False
    check_columns(parts, map(columns_of, parts), wanted)
    totals = [number_of_rows(part) for part in parts]
    with late_bar(None if None in totals else sum(total or 0 for total in totals)) as show:
        for part in parts:
            before = counts.n
            column = columns[0]
            try:
                for y, *prob in _read_batches(part, wanted):
                    for k, p in enumerate(prob):
                        column = columns[k]
                        check_rows(y, p)  # a bad row, which clipping would repair
                    counts.add(y, *(clipped(p, reading.clip) for p in prob))
                    show(counts.n, part.name)
            except TooManyKinds:
                raise
            except RowsError as error:
                if len(parts) == 1 and counts.n < MOST_ROWS:
                    return False
                with naming(part, parts):
                    raise ValueError(said_of_a_file(error, label, [column], counts.n - before)) from None
            except ValueError:
                return False
    return counts.n > 0


def _read_batches(file: Path, columns: Sequence[str]) -> Iterator[list[np.ndarray]]:
    """Yield batches of the columns of a file; a ValueError that is none of rows if it cannot be read as numbers."""
    with readable(file):
        yield from batches_of(file, columns) or ()


def read_rows(
    file: Path, label: str, prob: Sequence[str], reading: Reading = AS_WRITTEN
) -> tuple[tuple[np.ndarray, np.ndarray] | Predictions, str]:
    """Read the same row by row: outcomes 0 or 1 and predictions, or `Predictions` of several classes."""
    there = columns_of(file)
    columns, names = choose(there, label, prob)
    frame = read_columns(file, label, columns, text=len(columns) > 1 or reading.positive is not None)
    if frame.empty:
        raise ValueError(f"expected at least one row, found none in {str(file)!r}")
    if len(columns) == 1:
        return read_event(frame, label, columns[0], reading), ""
    return read_predictions(frame, label, columns, names, reading)


def read_models(
    file: Path, label: str, prob: Sequence[str], reading: Reading = AS_WRITTEN
) -> tuple[np.ndarray, dict[str, np.ndarray], str]:
    """Read outcomes and the predictions of several models for the same rows, one entry of `prob` for each.

    An entry names the column of a model for outcome 1, or is a pattern for the columns of its classes, which have to be
    the same for all models; the model is then called by what comes before the wildcard.
    """
    there = columns_of(file)
    models: dict[str, np.ndarray] = {}
    outcome, how = np.empty(0), ""
    classes: list[str] | None = None
    for entry in prob:
        columns, names = choose(there, label, [entry])
        frame = read_columns(file, label, columns, text=len(columns) > 1 or reading.positive is not None)
        if frame.empty:
            raise ValueError(f"expected at least one row, found none in {str(file)!r}")
        if classes is not None and sorted(classes) != sorted(names if len(columns) > 1 else []):
            raise ValueError(f"expected the same classes for all models, found others for --prob {entry!r}")
        name = columns[0] if len(columns) == 1 else WILD.split(entry)[0].strip("_-. ") or entry
        if name in models:
            raise ValueError(f"expected models of different names, found {name!r} twice for --prob")
        if len(columns) == 1:
            outcome, models[name] = read_event(frame, label, columns[0], reading)
            classes = []
        else:
            predictions, how = read_predictions(frame, label, columns, names, reading)
            classes = names if classes is None else classes  # in the order of the first model
            place = {name: k for k, name in enumerate(names)}
            order = [place[each] for each in classes]
            models[name] = np.ascontiguousarray(predictions.prob[:, order])
            outcome = np.argsort(order)[predictions.label]
    return outcome, models, how


def read_probabilities(file: Path, prob: Sequence[str], reading: Reading = AS_WRITTEN) -> Sample | Predictions:
    """Read the columns that `prob` names, without outcomes: the result has made-up ones."""
    data = read_rows_of_probabilities(file, prob, reading)
    return data if isinstance(data, Predictions) else Sample.from_rows(*data)


def read_rows_of_probabilities(
    file: Path, prob: Sequence[str], reading: Reading = AS_WRITTEN
) -> tuple[np.ndarray, np.ndarray] | Predictions:
    """Read the same row by row."""
    columns, names = choose(columns_of(file), None, prob)
    frame = read_columns(file, columns[0], columns[1:], text=False)
    if frame.empty:
        raise ValueError(f"expected at least one row, found none in {str(file)!r}")
    outcome = "".join(columns) + " "  # the name of no column of these
    if len(columns) == 1:
        return read_event(frame.assign(**{outcome: 0.0}), outcome, columns[0], reading)
    return read_predictions(frame.assign(**{outcome: names[0]}), outcome, columns, names, reading)[0]


def read_event(frame: pd.DataFrame, label: str, prob: str, reading: Reading) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes 0 or 1 and one column of predictions."""
    if reading.divide_by_sums:
        raise ValueError(f"expected columns of several classes with --divide-by-sums, found one, {prob!r}")
    y, p = as_outcomes(frame[label], label, reading.positive), as_numbers(frame[prob], prob)
    try:
        p = from_logits(p) if reading.logits else p
        check_rows(y, p)
        return y, clipped(p, reading.clip)
    except RowsError as error:
        raise ValueError(said_of_a_file(error, label, [prob])) from None


def said_of_a_file(error: RowsError, label: str, columns: Sequence[str], first: int = 0) -> str:
    """Return the message of an error about arrays in the words of the command line; `first` rows are before them."""
    names = {
        Given.OUTCOMES: repr(label),
        Given.PREDICTIONS: repr(columns[0]) if len(columns) == 1 else str(Given.PREDICTIONS),
        Given.ROW_OF_PREDICTIONS: f"a row of {len(columns)} probabilities",
        Given.FROM_LOGITS: "--logits",
        Given.DIVIDED: "--divide-by-sums",
        Given.SHARES: "; a file has one row for each outcome",
        Given.PROXY: "; every row needs an outcome",
    }

    def words(part: Given | Entry) -> str:
        if isinstance(part, Given):
            return names[part]
        of = names[part.of] if isinstance(part.of, Given) else part.of
        of = of if part.column is None else f"column {columns[part.column]!r}"
        return f"{of + ' ' if of else ''}at row {first + part.row} {COUNTED}"

    return error.said(words)


def read_predictions(
    frame: pd.DataFrame, label: str, columns: Sequence[str], names: Sequence[str], reading: Reading
) -> tuple[Predictions, str]:
    """Make predictions of several classes and say how the outcomes were understood."""
    if reading.positive is not None:
        raise ValueError(
            f"expected one column of probabilities with --positive, found {len(columns)}, which are named by classes"
        )
    single, half = (all(frame[column].dtype == kind for column in columns) for kind in (np.float32, np.float16))
    half = half and not reading.logits
    prob = np.column_stack([as_numbers(frame[column], column) for column in columns])
    if reading.divide_by_sums and not reading.logits:  # which make sums of 1
        prob = divided_by_sums(prob, label, columns)
    elif single or half:  # whose sums are less precise
        prob = prob.astype(np.float32 if single else np.float16)
    of_classes = reading.logits or half or are_classes([*prob.T]) or sums_are_rounded(prob)
    if not of_classes and np.all((prob >= 0) & (prob <= 1)):
        total = prob.sum(axis=1)
        row = int(np.abs(total - 1).argmax())
        raise ValueError(
            f"expected {len(columns)} probabilities of classes that sum to 1, found {settled(total[row]):.4g} at "
            f"row {row} "
            f"{COUNTED}; columns of several models are for calibstat compare"
        )
    outcome, how = as_classes(frame[label], label, names)
    try:
        predictions = Predictions.from_rows(outcome, from_logits(prob) if reading.logits else prob)
        if reading.clip is not None:
            inside = clipped(predictions.prob, reading.clip)
            predictions = Predictions.from_rows(outcome, inside / inside.sum(axis=1, keepdims=True))
        return replace(predictions, names=tuple(names)), how
    except RowsError as error:
        raise ValueError(said_of_a_file(error, label, columns)) from None


def divided_by_sums(prob: np.ndarray, label: str, columns: Sequence[str]) -> np.ndarray:
    """Return rows divided by their sums; raise unless they are probabilities, and each sum is above 0."""
    good = np.all((prob >= 0) & (prob <= 1), axis=1) & (prob.sum(axis=1) > 0)
    if not good.all():
        raise ValueError(said_of_a_file(vector_error(prob, int(good.argmin())), label, columns))
    return prob / prob.sum(axis=1, keepdims=True)


# --- outcomes --------------------------------------------------------------------------------------------------------


def as_outcomes(column: pd.Series, name: str, positive: str | None) -> np.ndarray:
    """Return outcomes 0 or 1: numbers, or whether they are the positive one of two values."""
    import pandas as pd

    if positive is None:
        return as_numbers(column, name, "; --positive names the value that is outcome 1")
    check_outcomes(column, name, [text for text in MISSING if text != positive])
    code, values = pd.factorize(column)
    is_positive = np.array([plain_spelling(value) == plain_spelling(positive) for value in values])
    if len({plain_spelling(value) for value in values[~is_positive]}) > 1:
        raise ValueError(
            f"expected two outcomes in column {name!r}, one of them {positive!r} as said by --positive; found "
            f"{listed(values.tolist())}"
        )
    return is_positive.astype(np.float64)[code]


def check_outcomes(column: pd.Series, name: str, spelled: Sequence[str] = ("",)) -> None:
    """Raise if an outcome is missing; `spelled` are texts that say so."""
    blank = (column.isna() | column.astype(str).isin(spelled)).to_numpy()
    if blank.any():
        row = int(blank.argmax())
        text = "" if column.isna().iloc[row] else str(column.iloc[row])
        found = f"{text!r}, which says that there is none," if text else "nothing"
        raise ValueError(f"expected an outcome in column {name!r}, found {found} at row {row} {COUNTED}")


def as_classes(column: pd.Series, name: str, names: Sequence[str]) -> tuple[np.ndarray, str]:
    """Return the number of the class in every row, and how that was found.

    Outcomes are names of classes if all of them are, and else numbers: of the columns, from 0.
    """
    import pandas as pd

    check_outcomes(column, name)
    code, values = pd.factorize(column)
    exact = len({plain_spelling(entry) for entry in names}) < len(names)  # classes such as 7 and 007
    spell = str if exact else plain_spelling
    number = {spell(entry): k for k, entry in enumerate(names)}
    position = {str(k): k for k in range(len(names))}
    texts = [spell(value) for value in values]
    if all(text in number for text in texts):
        return np.array([number[text] for text in texts])[code], "Outcomes are names of classes."
    if all(plain_spelling(value) in position for value in values):
        how = f"Outcomes are numbers of classes: 0 is {names[0]}, {len(names) - 1} is {names[-1]}."
        return np.array([position[plain_spelling(value)] for value in values])[code], how
    known = number if any(text in number for text in texts) else position
    bad = np.array([text not in known for text in texts])[code]
    row = int(bad.argmax())
    raise ValueError(
        f"expected names of classes ({listed(names)}) or numbers from 0 to {len(names) - 1} in column {name!r}, "
        f"found {plain_spelling(column.iloc[row])!r} at row {row} {COUNTED}"
    )


def plain_spelling(value: object) -> str:
    """Write an outcome as text, whole numbers without leading zeros or decimals, true and false as 1 and 0."""
    text = str(value)
    if text.lower() in ("true", "false"):
        return str(int(text.lower() == "true"))
    whole = re.fullmatch(r"0*(\d+)(\.0*)?", text)
    return whole[1] if whole else text


# --- files -----------------------------------------------------------------------------------------------------------


def columns_of(file: Path) -> list[str]:
    """Name the columns of a file of any kind, or of the first of several."""
    file = parts_of(file)[0]
    check_file(file)
    kind = kind_of(file)
    if kind not in (*CSV_FILES, *OF_JSON, ".parquet", *OF_ARROW, *OF_ARRAYS):
        raise ValueError(
            f"expected a .csv, .tsv, .txt, .json or .jsonl file, or one of these with .gz, or a .parquet, .feather, "
            f".arrow, .npz or .npy file, found {str(file)!r}; save it as CSV"
        )
    with readable(file):
        check_expanded(file)
        if kind in OF_ARRAYS:
            return [name for name, _ in read_arrays(file)]
        if kind in OF_JSON:
            return names_of_lines(file)
        if kind in OF_ARROW:
            return names_of_table(file)
        if kind in CSV_FILES:  # the first line as it is, since pandas gives new names to columns of the same name
            import pandas as pd

            first: dict[str, Any] = {"header": None, "nrows": 1, "dtype": str, "keep_default_na": False}
            try:
                return pd.read_csv(file, **first, **format_of(file).of_pandas).iloc[0].tolist()
            except pd.errors.EmptyDataError:
                raise ValueError("it is empty") from None
        return parquet_columns(file)[0]


def read_columns(file: Path, label: str, columns: Sequence[str], *, text: bool) -> pd.DataFrame:
    """Read outcomes, of a file of cells as they are written if `text`, and columns of probabilities; of several files
    one below the other.
    """
    parts = parts_of(file)
    if len(parts) > 1:
        import pandas as pd

        check_columns(parts, map(columns_of, parts), [label, *columns])
        check_memory(parts, 1 + len(columns))
        frames = [_read_part(part, label, columns, text) for part in parts]
        return pd.concat(frames, ignore_index=True)
    check_memory(parts, 1 + len(columns))
    return _read_part(parts[0], label, columns, text)


def _read_part(file: Path, label: str, columns: Sequence[str], text: bool) -> pd.DataFrame:
    """Read columns of one file."""
    import pandas as pd

    wanted, kind = [label, *columns], kind_of(file)
    with readable(file):
        check_expanded(file)
        if kind in OF_ARRAYS:
            arrays = {name: array for name, array in read_arrays(file) if name in wanted}
            if len({array.size for array in arrays.values()}) > 1:
                sizes = ", ".join(f"{array.size} in {name!r}" for name, array in arrays.items())
                raise ValueError(f"expected arrays of one length, found {sizes}")
            frame = pd.DataFrame(arrays)
        elif kind in OF_JSON:
            frame = pd.DataFrame(columns_of_lines(file, wanted))
        elif kind in OF_ARROW:
            frame = columns_of_table(file, wanted)
        elif kind == ".parquet":
            check_size(file, parquet_columns(file)[1] * len(wanted) * BYTES)
            frame = pd.read_parquet(file, columns=wanted)
            frame = frame.reset_index() if set(wanted) & set(frame.index.names) else frame  # as pandas wrote it
        else:
            written = format_of(file)
            check_cells(file, written)
            as_written: dict[str, Any] = {}
            if text:  # a class may be called NA
                missing = dict.fromkeys(columns, MISSING)
                as_written = {"dtype": {label: str}, "na_values": missing, "keep_default_na": False}
            frame = pd.read_csv(file, usecols=wanted, **as_written, **written.of_pandas)
        for name in wanted:
            check_values(frame[name], name)
        return frame


def check_values(column: pd.Series, name: str) -> None:
    """Raise if the values of a column are lists or other things that no command takes."""
    kind = REFUSED_DATA.get(getattr(column.dtype, "kind", "O"))
    if kind is None and column.dtype == object:
        nested = next((value for value in column if isinstance(value, list | tuple | dict | np.ndarray)), None)
        kind = None if nested is None else f"nested values ({type(nested).__name__})"
    if kind is not None:
        raise ValueError(f"expected numbers or text in column {name!r}, found {kind}")


def read_column(file: Path, name: str) -> pd.Series:
    """Read one column, as it is."""
    need_column(columns_of(file), name)
    return read_columns(file, name, [], text=False)[name]


def as_numbers(column: pd.Series, name: str, advice: str = "") -> Any:
    """Return a column as numbers; a ValueError names the first row that is none, and gives the advice."""
    import pandas as pd

    if column.dtype == np.float16:
        return ready(column.to_numpy(), np.float64)
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        return column.to_numpy("float64", na_value=float("nan"))
    values = shares_of_per_cent(column.astype(object))  # of dates and durations `to_numeric` would count nanoseconds
    values = values.mask(values.map(is_beyond_floats).astype(bool), "")
    numbers = pd.to_numeric(values, errors="coerce")
    bad = (numbers.isna() & column.notna()).to_numpy()
    if bad.any():
        row = int(bad.argmax())
        entry = column.iloc[row]
        spelled = next((said for sign, said in SPELLED.items() if isinstance(entry, str) and sign.fullmatch(entry)), "")
        raise ValueError(
            f"expected numbers in column {name!r}, found {short(entry)} at row {row} {COUNTED}{spelled or advice}"
        )
    return numbers.to_numpy("float64", na_value=float("nan"))


def shares_of_per_cent(values: pd.Series) -> pd.Series:
    """Return numbers in place of texts such as 79.28 % or 79,28 %, if all that are not missing are of one such kind."""
    import pandas as pd

    texts = values.dropna()
    for sign in PER_CENT:
        if texts.map(lambda text, sign=sign: isinstance(text, str) and sign.fullmatch(text) is not None).all():
            shares = texts.map(lambda text: float(f"{text.strip(PER_CENT_SIGN).replace(',', '.')}e-2"))
            return pd.Series(shares, values.index, object)
    return values


def is_beyond_floats(value: object) -> bool:
    """Whether a value is a complex number or a whole number beyond the largest float."""
    return isinstance(value, complex) or (isinstance(value, int) and value.bit_length() > LONGEST_WHOLE)
