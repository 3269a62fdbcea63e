"""Logs of inspect: scored answers and the confidences that their files hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from calibstat.data.checks import described, quoted, short
from calibstat.readers.sample_rows import as_frame, field_at, from_json, need_file, need_outcome, need_probability

if TYPE_CHECKING:
    import pandas as pd

LOG_VERSIONS = (2,)  # the version that a log gives of itself
GRADES = {"C": 1, "I": 0, "N": 0, 1: 1, 0: 0}  # correct, incorrect, no answer


def inspect_ai(
    path: str | Path,
    *,
    confidence: str | Callable[[dict[str, Any]], float],
    scorer: str | None = None,
    cluster: str = "id",
) -> pd.DataFrame:
    """Read the scored samples of a log that inspect (inspect_ai) wrote.

        >>> import calibstat as cs
        >>> cs.readers.inspect_ai("log.json", confidence="metadata.confidence")
        Traceback (most recent call last):
            ...
        ValueError: expected a log of inspect, with suffix .json or .eval, found 'log.json'

    Parameters
    ----------
    path : str or Path
        A log, ``.json`` or ``.eval``.
    confidence : str or callable
        Where the confidence in the answer is, from 0 to 1: inspect defines no place for it. A path of names with dots,
        such as "scores.stated.metadata.confidence" for what scorer "stated" kept of an answer, or
        "metadata.confidence"; or a function that takes a sample, a dictionary, and returns the number, such as one
        that takes "Confidence: 80 %" from ``sample["output"]["completion"]``.
    scorer : str, optional
        The scorer whose values are the outcomes; required if the log has several.
    cluster : str
        The field of a sample whose value is the cluster of its row: by default "id", the question, which several epochs
        share.

    Returns
    -------
    DataFrame
        A row for each sample and epoch: "y_true", 1 if the answer is correct, "y_prob", the confidence in it, and
        "cluster".

    Raises
    ------
    ValueError
        If the version of the log is unknown, which the error names; the evaluation did not end with success, a sample
        was not scored, a value is not correct, incorrect or no answer, or a confidence is missing or not from 0 to 1
        (the sample is named).

    Notes
    -----
    Outcomes are "C", 1 or True for a correct answer, and "I", 0, False or "N" (no answer) for all others; a partly
    correct answer ("P") raises. Logs say the version of their format, of which 2 is known; files of inspect_ai 0.3.200
    and 0.3.285 were tested. ``.eval`` files of the latter are packed by Zstandard, which takes Python 3.14 or the
    package zipfile-zstd, which inspect_ai brings. Cost: the log is held in memory.
    """
    if not (isinstance(confidence, str) or callable(confidence)):
        raise ValueError(f"expected confidence to be a path of names or a function, found {described(confidence)}")
    file = need_file(path, (".json", ".eval"), "a log of inspect")
    where = short(file.name)
    log = _unpacked(file) if file.suffix == ".eval" else from_json(file.read_text(encoding="utf-8"), where)
    if log.get("version") not in LOG_VERSIONS or isinstance(log["version"], bool):
        known = " or ".join(map(str, LOG_VERSIONS))
        raise ValueError(f"expected version {known} of logs of inspect, found version {short(log.get('version'), 40)}")
    if log.get("status") != "success":
        raise ValueError(f"expected an evaluation that ended with success, found status {short(log.get('status'))}")
    return as_frame(_rows(log.get("samples") or [], confidence, scorer, cluster), where)


def _unpacked(file: Path) -> dict[str, Any]:
    """Return the header of a packed log, with its samples."""
    where = short(file.name)
    with suppress(ModuleNotFoundError):
        import_module("zipfile_zstd")  # comes with inspect_ai, and lets ZipFile read Zstandard
    try:
        with ZipFile(file) as packed:
            names = [name for name in packed.namelist() if name.startswith("samples/")]
            header = from_json(packed.read("header.json"), f"'header.json' of {where}")
            return {**header, "samples": [from_json(packed.read(name), f"{short(name)} of {where}") for name in names]}
    except NotImplementedError as error:
        raise ValueError(
            f"expected a log that this Python can unpack, found {where}, which is packed by Zstandard: install "
            "zipfile-zstd, or write another by inspect log convert --to json --output-dir FOLDER LOG"
        ) from error
    except (BadZipFile, KeyError) as error:
        raise ValueError(f"expected a packed log of inspect with a header, found {where}: {error}") from error


def _rows(
    samples: list[dict[str, Any]],
    confidence: str | Callable[[dict[str, Any]], float],
    scorer: str | None,
    cluster: str,
) -> Iterator[tuple[int, float, Any]]:
    """Yield outcome, confidence and cluster of each sample."""
    for sample in samples:
        where = f"sample {short(sample.get('id'), 40)}, epoch {short(sample.get('epoch'))}"
        scores = sample.get("scores") or {}
        if not scores:
            raise ValueError(f"expected scores in {where}, found none")
        if scorer is None and len(scores) > 1:
            raise ValueError(f"expected scorer=, one of {quoted(scores)}, because the log has several")
        name = next(iter(scores)) if scorer is None else scorer
        if name not in scores:
            raise ValueError(f"expected one of the scorers {quoted(scores)}, found {short(name)}")
        outcome = need_outcome(field_at(scores[name], "value", where), GRADES, where)
        stated = confidence(sample) if callable(confidence) else field_at(sample, confidence, where)
        yield outcome, need_probability(stated, where), field_at(sample, cluster, where)
