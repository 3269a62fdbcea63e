"""Samples of the language model evaluation harness: outcomes and confidences of multiple choice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibstat.data.checks import quoted, short
from calibstat.readers.sample_rows import as_frame, field_at, from_json, need_file, need_outcome

if TYPE_CHECKING:
    import pandas as pd

VERSIONS = ("0.4.10", "0.4.11", "0.4.12", "0.4.13")
OUTCOMES = {0.0: 0, 1.0: 1}
TOLERANCE = 1e-6  # by which a logarithm of a probability may be above 0 by rounding


def lm_eval(path: str | Path, *, filter: str | None = None, cluster: str = "doc_hash") -> pd.DataFrame:
    """Read the samples of a multiple-choice task that the language model evaluation harness (lm_eval) wrote.

        >>> import calibstat as cs
        >>> cs.readers.lm_eval("answers.jsonl")
        Traceback (most recent call last):
            ...
        ValueError: expected a file of samples of lm_eval, with suffix .jsonl, found 'answers.jsonl'

    Parameters
    ----------
    path : str or Path
        A file ``samples_TASK_TIME.jsonl``, as ``lm_eval run --log_samples --output_path FOLDER`` writes it. The file
        ``results_TIME.json`` beside it says which version wrote it.
    filter : str, optional
        The name of the filter of answers whose samples are read; required if the file has samples of several.
    cluster : str
        The field of a sample whose value is the cluster of its row. By default "doc_hash", which is the same for the
        same question in several files; "doc.passage" is field "passage" of the data set.

    Returns
    -------
    DataFrame
        A row for each sample: "y_true", 1 if the chosen answer is right (`acc`), "y_prob", the confidence in it, and
        "cluster". The confidence is the largest of the probabilities of the answers, which are proportional to their
        likelihoods: exp(l) over the sum of exp(l), l the log-likelihood.

    Raises
    ------
    ValueError
        If the version is unknown, which the error names; the file or the one beside it is not there, the task is not
        multiple choice, or a sample lacks a field (its line is named).

    Notes
    -----
    Confidences are of answers as the harness compares them, without division by their length: the outcome is `acc`,
    and not `acc_norm`. Versions 0.4.10 to 0.4.13 are known. Cost: the file is held in memory.
    """
    file = need_file(path, (".jsonl",), "a file of samples of lm_eval")
    _need_version(file)
    numbered = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    samples = [(f"line {number} of {short(file.name)}", line) for number, line in numbered if line.strip()]
    parsed = [(where, from_json(line, where)) for where, line in samples]
    return as_frame(_rows(parsed, filter, cluster), short(file.name))


def _need_version(samples: Path) -> None:
    """Raise unless the file of results beside the samples is of a known version."""
    time = samples.stem.rpartition("_")[2]
    results = samples.with_name(f"results_{time}.json")
    if not results.is_file():
        raise ValueError(
            f"expected the file {short(results.name)} beside {short(samples.name)}, which says the version of lm_eval; "
            "found none"
        )
    version = from_json(results.read_text(encoding="utf-8"), short(results.name)).get("lm_eval_version")
    if version not in VERSIONS:
        raise ValueError(f"expected samples of lm_eval {', '.join(VERSIONS)}, found version {short(version, 40)}")


def _rows(samples: list[tuple[str, Any]], filter: str | None, cluster: str) -> Iterator[tuple[int, float, Any]]:
    """Yield outcome, confidence and cluster of the samples of one filter."""
    filters = list(dict.fromkeys(field_at(sample, "filter", where) for where, sample in samples))
    if filter is None and len(filters) > 1:
        raise ValueError(f"expected filter=, one of {quoted(filters)}, because the file has samples of several")
    if filter is not None and filter not in filters:
        raise ValueError(f"expected one of the filters {quoted(filters)}, found {short(filter)}")
    for where, sample in samples:
        if filter in (None, sample["filter"]):
            outcome = need_outcome(field_at(sample, "acc", where), OUTCOMES, where)
            yield outcome, _confidence(sample, where), field_at(sample, cluster, where)


def _confidence(sample: dict[str, Any], where: str) -> float:
    """Return the largest probability of an answer: its likelihood over the sum of all of them."""
    answers, likelihoods = field_at(sample, "arguments", where), field_at(sample, "filtered_resps", where)
    try:
        found = [float(log_likelihood) for log_likelihood, _ in likelihoods]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"expected a log-likelihood of each answer in {where}, found {short(likelihoods, 60)}: "
            "confidences are read of tasks with output_type multiple_choice"
        ) from error
    if len(found) != len(answers) or len(found) < 2 or "acc_mutual_info" in sample.get("metrics", ()):
        raise ValueError(
            f"expected one log-likelihood for each of at least two answers in {where}, found {len(found)} for "
            f"{len(answers)} requests with metrics {quoted(sample.get('metrics', ()))}"
        )
    most = max(found)
    if not -math.inf < most <= TOLERANCE:
        raise ValueError(f"expected a log-likelihood of at most 0 in {where}, found {most!r}")
    return 1 / sum(math.exp(each - most) for each in found)
