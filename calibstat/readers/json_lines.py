"""Logs of one JSON object a line, such as of agents, judges and routers: a confidence and whether it was right."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from calibstat.data.checks import described, is_number, short
from calibstat.readers.sample_rows import as_frame, field_at, from_json, need_file, need_outcome, need_probability

if TYPE_CHECKING:
    import pandas as pd

Field: TypeAlias = str | Callable[[dict[str, Any]], Any]
LOG_SUFFIXES = (".jsonl", ".ndjson", ".gz")
RIGHT = {"correct", "c", "right", "yes", "true", "pass", "1"}
WRONG = {"incorrect", "i", "wrong", "no", "false", "fail", "0"}
RIGHT_OR_WRONG: dict[Any, int] = {1: 1, 0: 0, **dict.fromkeys(sorted(RIGHT), 1), **dict.fromkeys(sorted(WRONG), 0)}


def json_lines(path: str | Path, *, confidence: Field, correct: Field, cluster: Field | None = None) -> pd.DataFrame:
    """Read confidences and whether they were right from a file of one JSON object a line.

        >>> import calibstat as cs
        >>> cs.readers.json_lines("answers.txt", confidence="confidence", correct="correct")
        Traceback (most recent call last):
            ...
        ValueError: expected a file of JSON lines, with suffix .jsonl or .ndjson or .gz, found 'answers.txt'

    Parameters
    ----------
    path : str or Path
        A file, ``.jsonl`` or ``.ndjson``, or one of these packed as ``.gz``.
    confidence : str or callable
        Where the confidence is: a path of names with dots, such as "judge.confidence", or a function that takes an
        object, a dictionary, and returns it. A number from 0 to 1, or from 0 to 100 if any in the file is above 1; or a
        text of either, or with a per cent sign.
    correct : str or callable
        Where it says whether it was right: True or False, 1 or 0, or a text such as "correct", "yes" or "pass".
    cluster : str or callable, optional
        Where the cluster is, such as the question of several samples.

    Returns
    -------
    DataFrame
        A row for each line: "y_true", 1 if it was right, "y_prob", the confidence, and "cluster", by default the number
        of the line.

    Raises
    ------
    ValueError
        If a line is no JSON object, a field is missing or not as described, or numbers are of both units: "1" beside 90
        may be 1 % or 100 %. The line is named.

    Notes
    -----
    Blank lines are passed over. Cost: the file is held in memory.
    """
    for name, given in (("confidence", confidence), ("correct", correct), ("cluster", cluster or "line")):
        if not (isinstance(given, str) or callable(given)):
            raise ValueError(f"expected {name} to be a path of names or a function, found {described(given)}")
    file = need_file(path, LOG_SUFFIXES, "a file of JSON lines")
    rows = list(_rows(file, confidence, correct, cluster))
    per_cent = any(not is_share and number > 1 for _, number, is_share, _, _ in rows)
    return as_frame(
        ((y, _probability(number, is_share, per_cent, where), c) for y, number, is_share, c, where in rows),
        short(file.name),
    )


def _rows(
    file: Path, confidence: Field, correct: Field, cluster: Field | None
) -> Iterator[tuple[int, float, bool, Any, str]]:
    """Yield outcome, confidence, whether that is certainly from 0 to 1, cluster and place of each line."""
    with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            where = f"line {number} of {short(file.name)}"
            found = from_json(line, where)
            stated, right = (_at(found, each, where) for each in (confidence, correct))
            known = right.strip().lower() if isinstance(right, str) else right
            group = number if cluster is None else _at(found, cluster, where)
            yield need_outcome(known, RIGHT_OR_WRONG, where), *_as_number(stated, where), group, where


def _at(found: dict[str, Any], field: Field, where: str) -> Any:
    return field(found) if callable(field) else field_at(found, field, where)


def _as_number(stated: object, where: str) -> tuple[float, bool]:
    """Return a number, also of a text, and whether it is certainly from 0 to 1, as after a per cent sign."""
    text = stated.strip() if isinstance(stated, str) else None
    try:
        if text is not None and text.endswith("%"):
            return float(text[:-1]) / 100, True
        number = stated if text is None else float(text)
    except ValueError:
        number = None
    if not is_number(number):
        raise ValueError(f"expected a confidence, a number or a text of one, in {where}, found {short(stated, 40)}")
    return float(number), False


def _probability(number: float, is_share: bool, per_cent: bool, where: str) -> float:
    """Return the probability that a number stands for; raise for one that may be of either unit."""
    if is_share or not per_cent or number == 0:
        return need_probability(number, where)
    if 0 < number <= 1:
        raise ValueError(
            f"expected confidences in one unit, found {number:g} in {where} beside some above 1: is it {number:g} % or "
            f"{100 * number:g} %? Write per cent signs, or give a function as confidence="
        )
    return need_probability(number / 100, where)
