"""Accuracy, calibration errors and proper scores of several models side by side."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from calibstat import resampling
from calibstat.data.checked_rows import AboutRows, Data, Models, need_models, predictions_of
from calibstat.data.checks import check_level, is_among, quoted, short, unknown_name
from calibstat.data.clusters import clusters_in_words
from calibstat.data.data_notes import auc
from calibstat.data.lenses import top_label
from calibstat.data.predictions import Predictions
from calibstat.digits import settled, writer
from calibstat.inference.compare import compare
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.designs.design_of import independent
from calibstat.inference.designs.independent import mean_outcome
from calibstat.inference.designs.question_of_rows import question_of_all
from calibstat.inference.honest_ends import NoInterval
from calibstat.inference.problems.certain_rows import CertainRows
from calibstat.inference.problems.impossible_rows import first_row, impossible_in_words
from calibstat.inference.problems.pose import problem_of
from calibstat.inference.problems.problem import Problem
from calibstat.inference.size_of_error import SizeOfError
from calibstat.measures.kinds import registry
from calibstat.measures.kinds.base import Measure, MulticlassMeasure
from calibstat.output.wording import level_text, listed
from calibstat.progress import in_words
from calibstat.resampling.rng import Rng
from calibstat.result import NotedResult, read_only

if TYPE_CHECKING:
    import pandas as pd

Cell = tuple[float, float, float, str, str]  # an estimate, ends, why it is infinite, and what is said of its ends


@dataclass(frozen=True, eq=False)
class Summary(NotedResult):
    """Result of `summarize`: a table of models by measures, with intervals.

    Attributes
    ----------
    names : tuple of str, length M
        The models.
    measures : tuple of str, length Q
        Those asked for; by default "accuracy", "ece", "average_ce", "adaptive_calibration_error", "smooth_ece", "auc",
        "log_loss" and "brier", with weights only those that are not of all classes jointly.
    subjects : tuple of str, length Q
        What each is of: "outcome 1", "the most likely class" or "all classes jointly".
    estimate, low, high : ndarray, shape (M, Q)
        The measures and the ends of their intervals; the ends are nan for "average_ce" and "auc", which have none, for
        a logarithmic loss of few events, and for measures without an honest interval on rows with weights or in
        clusters. Both ends of an infinite one are infinite. The AUC is nan itself if one
        outcome alone was observed.
    remarks : tuple of str
        Why an estimate lies outside its interval, and why a high end is not lower.
    warnings : tuple of str
        The models whose predictions look reversed, the rows that make a logarithmic loss infinite, and the models with
        a lower ECE than the reference but a worse proper score.
    reference : str
        The model with which the others are compared.
    confidence_level : float
        Of every interval by itself.
    n : int
        Rows.
    left_out : dict of float
        The measures that were not asked for by name and would take more than a minute, with the seconds foretold.
    shown_small : tuple of str
        The models whose ECE is shown to be small, by the convention of `calibration_test`.
    """

    names: tuple[str, ...]
    measures: tuple[str, ...]
    subjects: tuple[str, ...]
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    remarks: tuple[str, ...]
    warnings: tuple[str, ...]
    reference: str
    confidence_level: float
    n: int
    left_out: dict[str, float] = field(default_factory=dict)
    shown_small: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        """A sentence on the models whose ECE is shown to be small; nothing where none has an interval."""
        if "ece" not in self.measures or np.isnan(self.low[:, self.measures.index("ece")]).all():
            return ""
        number, small = len(self.names), self.shown_small
        if number == 1:
            return f"The error is {'' if small else 'not shown to be '}small: {self._size.where}."
        if len(small) in (0, number):
            return f"{'Each' if small else 'No'} model's ECE is shown to be small."
        return f"The ECE is shown to be small for {len(small)} of {number} models: {listed(small, 5)}."

    @property
    def _size(self) -> SizeOfError:
        """The ECE of the first model with its interval."""
        k = self.measures.index("ece")
        estimate, low, high = (float(each[0, k]) for each in (self.estimate, self.low, self.high))
        return SizeOfError(estimate, low, high, confidence_level=self.confidence_level, rate=np.nan)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each model and measure."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"model": name, "measure": measure, "of": of, "estimate": e, "low": low, "high": high}
                for i, name in enumerate(self.names)
                for measure, of, e, low, high in zip(
                    self.measures, self.subjects, self.estimate[i], self.low[i], self.high[i], strict=True
                )
            ]
        )

    def _cells(self) -> list[list[str]]:
        """Return what is written of each measure of each model."""
        return [
            [
                f"{settled(e):.4f}".replace("nan", "undefined")
                if np.isnan(a)
                else f"{settled(e):.4f} [{settled(a):.4f}, {settled(b):.4f}]"
                for e, a, b in zip(*row, strict=True)
            ]
            for row in zip(self.estimate, self.low, self.high, strict=True)
        ]

    def _table_shown(self) -> pd.DataFrame:
        """Return one row for each model."""
        import pandas as pd

        cells = pd.DataFrame(self._cells(), columns=[f">{name}" for name in self.measures])
        cells.insert(0, "model", list(self.names))
        return cells

    def __str__(self) -> str:
        cells = self._cells()
        first = max(5, *map(len, self.names))
        width = [max(len(m), *(len(row[k]) for row in cells)) for k, m in enumerate(self.measures)]
        lines = [
            *([self.answer] if self.answer else []),
            f"Summary of {len(self.names)} model{'s' * (len(self.names) > 1)}, n = {self.n}, "
            f"{level_text(self.confidence_level)} confidence intervals:",
        ]
        lines.append(
            "  ".join([f"{'model':{first}}", *(f"{m:>{w}}" for m, w in zip(self.measures, width, strict=True))])
        )
        for name, row in zip(self.names, cells, strict=True):
            lines.append("  ".join([f"{name:{first}}", *(f"{c:>{w}}" for c, w in zip(row, width, strict=True))]))
        rest = [left_out_in_words(self.left_out, "measures={!r}")] if self.left_out else []
        return "\n".join(
            [*lines, *self._notes(), *rest, *self.remarks, *(f"Warning: {text}" for text in self.warnings)]
        )

    def _notes(self) -> list[str]:
        """Say what was predicted for each measure, and which measures have no interval."""
        parts = []
        for of in dict.fromkeys(self.subjects):
            names = [name for name, subject in zip(self.measures, self.subjects, strict=True) if subject == of]
            parts.append(f"{', '.join(names)} for {of}")
        lines = [f"What is measured: {'; '.join(parts)}."]
        missing = np.isnan(self.low).any(axis=0)
        alone = [name for name, gone in zip(self.measures, missing, strict=True) if gone]
        if alone:
            lines.append(f"No honest interval is known for {', '.join(alone)}.")
        return lines


CALIBRATION: dict[str, dict[str, Any]] = {
    "ece": {"measure": "ece"},
    "average_ce": {"measure": "average_ce"},
    "adaptive_calibration_error": {"measure": "gce", "binning": "adaptive"},
    "smooth_ece": {"measure": "smooth_ece"},
}
PROPER = ("log_loss", "brier")
APART = ("accuracy", "auc")  # which are no measures
SUMMARIZED = ("accuracy", *CALIBRATION, "auc", *PROPER)
# Of a million numbers of 10,000 rows, with 999 resamples on one core, and the power of the rows by which that grows:
# columns of many rows, which are sorted, are read from slower memory. The other measures take a tenth at most.
SECONDS = {"adaptive_calibration_error": (1.6, 0.55), "smooth_ece": (5.0, 0.0)}
PATIENCE = 60.0  # seconds for all models, above which a measure is left out unless it is asked for by name


def question(asked: str | Measure, n_classes: int, clip: float | None = None) -> dict[str, Any]:
    """Return the arguments of functions for a measure; for more than two classes the scores are canonical."""
    arguments = CALIBRATION.get(asked, {"measure": asked}) if isinstance(asked, str) else {"measure": asked}
    measure = registry.find_measure(arguments["measure"], {})
    if isinstance(asked, str) and "clip" in measure.defaults():
        arguments = {**arguments, "clip": clip}
    return {**arguments, "lens": "canonical"} if measure.honest == "mean" and n_classes > 2 else arguments


@question_of_all("sample_weight", "cluster")
def summarize(
    rows: Models,
    /,
    *,
    measures: str | Measure | Sequence[str | Measure] | None = None,
    reference: str | None = None,
    confidence_level: float = 0.95,
    clip: float | None = None,
    n_resamples: int = 999,
    rng: Rng = None,
    n_jobs: int = 1,
    **about: Unpack[AboutRows],
) -> Summary:
    """Tabulate accuracy, calibration errors and proper scores of several models.

    >>> import calibstat as cs
    >>> y, p = cs.generators.dirichlet((0.3, 0.3, 0.3), temperature=2).sample(1000, rng=1)
    >>> result = cs.summarize(y, {"model": p, "always the same": p * 0 + 1 / 3}, n_resamples=199, rng=1)
    >>> result.names, result.estimate.shape
    (('model', 'always the same'), (2, 8))
    >>> result.warnings[0].partition(" [")[0]
    'always the same: ece falls from 0.1008 to 0.0177, but log_loss rises by 0.4743'

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`; predictions of each model, or of one model after each recalibration, for the same rows, which
        may have weights or clusters. What is of all classes jointly takes no weights, and is left out with them.
    measures : str or Measure, or sequence of these, optional
        Names or measures, of `calibstat.MEASURES` or `Summary`. Default: all of `Summary` that take less than a minute.
    reference : str, optional
        The model that others are compared with, by default the first.
    confidence_level : float
        Between 0 and 1; of each interval by itself.
    clip : float, optional
        For `log_loss`: predictions are moved into [clip, 1 - clip]. By default none is, and a probability 0 of the
        observed class makes it infinite; `warnings` names the row.
    n_resamples : int
        Number of resamples, at least 1.
    rng, n_jobs
        As for `calibration_test`.

    Returns
    -------
    Summary

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), or a name of a model or measure is unknown.

    Notes
    -----
    Reported are the share of rows in which the most likely class is observed, with Wilson's interval; `ece`,
    `average_ce` (bins not weighed by their rows), `smooth_ece`; the adaptive error of Nixon et al.; the area under the
    ROC curve; the logarithmic loss and the Brier score. For two classes all are of outcome 1, except the accuracy and
    the canonical `adaptive_calibration_error`; for more the calibration errors are of the most likely class and the two
    scores canonical. All intervals are `honest`, see `confidence_interval`; `average_ce` and `auc` have none, nor has a
    logarithmic loss of fewer than ten events. With weights or clusters `smooth_ece` and `adaptive_calibration_error`
    have none.

    Proper scores get worse where a recalibration loses information. A warning is given for every model whose `ece` is
    below the reference's while one of the two scores is higher, if the interval of the paired difference (see
    `compare`) excludes 0.

    References
    ----------
    Chidambaram, Ge 2024, Reassessing How to Compare and Improve the Calibration of Machine Learning Models,
    arXiv:2406.04068.
    """
    check_level("confidence_level", confidence_level)
    models = predictions_of(need_models(rows))
    names = tuple(models)
    reference = names[0] if reference is None else reference
    if not is_among(reference, models):
        raise unknown_name("a reference", reference, names)
    settings = {"confidence_level": confidence_level, "n_resamples": n_resamples, "n_jobs": n_jobs}
    settings["rng"] = int(resampling.key_of(rng))
    n_classes = models[names[0]].n_classes
    there = _without_weights(n_classes) if rows.rows.sample_weight is not None else SUMMARIZED
    left_out = foretold(models, there, n_resamples) if measures is None else {}
    chosen = _chosen(measures, there) if measures is not None else {k: k for k in there if k not in left_out}
    questions = {k: question(each, n_classes, clip) for k, each in chosen.items() if k not in APART}
    measures = tuple(chosen)
    asked = {name: _asked(rows, predictions) for name, predictions in models.items()}
    cells = {name: _row(each, questions, measures, settings) for name, each in asked.items()}
    table = np.array([[cell[:3] for cell in row] for row in cells.values()])
    tradeoffs = _tradeoffs(rows, table[..., 0], measures, reference, questions, settings)
    return Summary(
        names=names,
        measures=measures,
        subjects=_subjects(asked[reference], questions, measures),
        estimate=read_only(table[..., 0].copy()),
        low=read_only(table[..., 1].copy()),
        high=read_only(table[..., 2].copy()),
        remarks=tuple(_remarks(cells, measures)),
        warnings=(*_infinite(cells, asked), *_doubts(asked), *tradeoffs),
        reference=reference,
        confidence_level=confidence_level,
        n=models[reference].n,
        left_out=left_out,
        shown_small=tuple(_shown_small(asked, table, measures, confidence_level)),
        note=_note(asked[reference]),
        effective_n=asked[reference].view().effective_n,
    )


def foretold(models: Mapping[str, Predictions], measures: Sequence[str], n_resamples: int) -> dict[str, float]:
    """Return the measures that would take more than a minute, with the seconds that they take for all models."""
    first = next(iter(models.values()))
    columns, seconds = {"adaptive_calibration_error": first.n_classes}, dict[str, float]()
    for name in SECONDS.keys() & {*measures}:
        per_million, power = SECONDS[name]
        millions = len(models) * first.n * columns.get(name, 1) / 1e6
        seconds[name] = per_million * (first.n / 1e4) ** power * millions * n_resamples / 999
    return {name: seconds[name] for name in measures if seconds.get(name, 0) > PATIENCE}


def left_out_in_words(left_out: Mapping[str, float], option: str) -> str:
    """Say which measures were left out, how long they take, and how to ask for them: by `option`, of the first."""
    each = " and ".join(f"{name} (about {in_words(seconds)} on one core)" for name, seconds in left_out.items())
    name = next(iter(left_out))
    return f"Left out, because it takes long: {each}. To have {name}, name it: {option.format(name)}."


def _chosen(measures: str | Measure | Sequence[str | Measure], there: Sequence[str]) -> dict[str, str | Measure]:
    """Return the requested measures by name, with the default ones first; raise if one is unknown or given twice."""
    if isinstance(measures, str | Measure) or inspect.isclass(measures):
        measures = [measures]
    if not isinstance(measures, Sequence):
        raise ValueError(f"expected measures or their names for measures=, found {short(measures)}")
    found: list[tuple[str, str | Measure]] = []
    for each in measures:
        if isinstance(each, str) and each not in (*SUMMARIZED, *registry.MEASURES):
            raise unknown_name("a measure of a summary", each, dict.fromkeys([*SUMMARIZED, *registry.MEASURES]))
        measure = each if is_among(each, SUMMARIZED) else registry.find_measure(each, {})
        name = str(measure)
        if name in SUMMARIZED and name not in there:
            raise ValueError(f"expected measures that take weights, found {name}, which is of all classes jointly")
        found.append((name, measure))
    chosen = dict(sorted(found, key=lambda pair: (*SUMMARIZED, pair[0]).index(pair[0])))
    if not chosen or len(chosen) < len(found):
        raise ValueError(
            f"expected one measure or more, each once, for measures=, found {quoted(name for name, _ in found)}"
        )
    return chosen


def _without_weights(n_classes: int) -> tuple[str, ...]:
    """Return the measures of the table that are not of all classes jointly."""
    return tuple(name for name in SUMMARIZED if name in APART or not _is_joint(question(name, n_classes)))


def _infinite(cells: Mapping[str, Sequence[Cell]], asked: Mapping[str, Data]) -> Iterator[str]:
    """Yield which models have an infinite loss, or one without an upper limit, and why."""
    for name, row in cells.items():
        for estimate, _, _, why, _ in row:
            if why and np.isinf(estimate):
                rows = CertainRows.of(asked[name].view(jointly=True))
                said = impossible_in_words(rows.number, first_row(rows.number, rows.first))
                yield f"{name}: log_loss is infinite: {said}."
            elif why:
                yield f"{name}: log_loss has no upper limit: {why}."


def _shown_small(
    asked: Mapping[str, Data], table: np.ndarray, measures: Sequence[str], confidence_level: float
) -> Iterator[str]:
    """Yield the models whose ECE is shown to be small."""
    if "ece" not in measures:
        return
    for (name, data), ends in zip(asked.items(), table[:, measures.index("ece")], strict=True):
        estimate, low, high = map(float, ends)
        if SizeOfError(estimate, low, high, confidence_level=confidence_level, rate=mean_outcome(data)).is_small:
            yield name


def _remarks(cells: Mapping[str, Sequence[Cell]], measures: tuple[str, ...]) -> Iterator[str]:
    """Yield what is to be said of the ends of each interval."""
    for name, row in cells.items():
        for measure, cell in zip(measures, row, strict=True):
            if cell[4]:
                yield f"{name}, {measure}: {cell[4]}"


def _asked(data: Models, predictions: Predictions) -> Data:
    """Return the predictions of all classes of one model, with the weights and clusters of the rows."""
    return Data(predictions, sample_weight=data.rows.sample_weight).in_clusters_of(data.first)


def _is_joint(arguments: Mapping[str, Any]) -> bool:
    """Whether a measure is of all classes jointly."""
    return "lens" in arguments or isinstance(registry.find_measure(arguments["measure"], {}), MulticlassMeasure)


def _note(data: Data) -> str:
    unit = independent(data).unit
    clusters = "" if unit is None else f"Intervals are of {clusters_in_words(unit)}, drawn whole."
    return "\n".join(part for part in (clusters, data.view().weights_note()) if part)


def _row(
    data: Data, questions: Mapping[str, dict[str, Any]], measures: tuple[str, ...], settings: dict[str, Any]
) -> list[Cell]:
    """Return estimate and ends of every measure, why it is infinite if it is, and what is to be said of its ends."""
    predictions, weight = data.predictions, data.rows.sample_weight
    row: list[Cell] = [(*_accuracy(data, settings), "", "")] if "accuracy" in measures else []
    # so that sums do not depend on the order of the rows; those with weights are sorted when they are added up
    ordered = data if weight is not None else Data(resampling.in_order(predictions))
    for arguments in questions.values():
        problem = _posed(ordered, arguments)
        interval = None
        if "honest" in problem.methods:
            of_rows = {name: given for name, given in arguments.items() if name != "lens"}
            with suppress(NoInterval):  # shown without an interval
                interval = confidence_interval(data.through(arguments.get("lens")), **of_rows, **settings)
        if interval is None:
            row.append((problem.estimate(), np.nan, np.nan, "", ""))
        else:
            numbers = interval.estimate, interval.low, interval.high
            row.append((*numbers, interval.why_infinite, interval.remark(writer(".4f"))))
    if "auc" in measures:
        sample = data.view().one_event("the AUC").sample
        row.insert(measures.index("auc"), (auc(sample.count, sample.positives)[0], np.nan, np.nan, "", ""))
    return row


def _accuracy(data: Data, settings: dict[str, Any]) -> tuple[float, float, float]:
    """Return the share of rows in which the most likely class is observed, with its interval."""
    from statsmodels.stats.proportion import proportion_confint

    predictions, weight = data.predictions, data.rows.sample_weight
    observed = predictions.top == predictions.label
    if weight is None and independent(data).unit is None:
        right = int(np.count_nonzero(observed))
        ends = proportion_confint(right, predictions.n, alpha=1 - settings["confidence_level"], method="wilson")
        return right / predictions.n, float(ends[0]), float(ends[1])
    rows = Data(observed, np.zeros(predictions.n), sample_weight=weight)  # whose Brier score is the mean outcome
    rows.in_clusters_of(data)
    interval = confidence_interval(rows, measure="brier", **settings)
    return interval.estimate, interval.low, interval.high


def _doubts(models: Mapping[str, Data]) -> list[str]:
    """Name the models whose predictions look reversed, or like labels, or miscounted."""
    notes = {name: data.view().data_note() for name, data in models.items()}
    return [f"{name}: {note[0].lower()}{note[1:]}" for name, note in notes.items() if note]


def _posed(data: Data, arguments: dict[str, Any]) -> Problem:
    options = {name: value for name, value in arguments.items() if name not in ("measure", "lens")}
    return problem_of(data.through(arguments.get("lens")), registry.find_measure(arguments["measure"], options))


def _subjects(data: Data, questions: Mapping[str, dict[str, Any]], measures: tuple[str, ...]) -> tuple[str, ...]:
    """Return what each measure is a measure of."""
    seen = {name: _posed(data, each).lens.subject for name, each in questions.items()}
    seen |= {"accuracy": top_label.subject, "auc": _posed(data, CALIBRATION["ece"]).lens.subject}
    return tuple(seen[name] for name in measures)


def _tradeoffs(
    data: Models,
    estimate: np.ndarray,
    measures: tuple[str, ...],
    reference: str,
    questions: Mapping[str, dict[str, Any]],
    settings: dict[str, Any],
) -> list[str]:
    """Describe the models with a lower ECE but a worse proper score than the reference."""
    names = tuple(data)
    if "ece" not in measures:
        return []
    base = estimate[names.index(reference)]
    ece = measures.index("ece")
    sentences = []
    for name, row in zip(names, estimate, strict=True):
        if row[ece] >= base[ece]:
            continue
        for score in (name for name in PROPER if name in measures):
            before, after = (values[measures.index(score)] for values in (base, row))
            if not after > before:
                continue
            text = f"{name}: ece falls from {settled(base[ece]):.4f} to {settled(row[ece]):.4f}, but {score} rises"
            if np.isinf(after):
                sentences.append(f"{text} to infinity.")
                continue
            asked = {key: value for key, value in questions[score].items() if key != "lens"}
            pair = data.some(name, reference).through(questions[score].get("lens"))
            difference = compare(pair, **asked, **settings)
            low, high = difference.low.item(), difference.high.item()
            if low > 0:
                sentences.append(f"{text} by {settled(after - before):.4f} [{settled(low):.4f}, {settled(high):.4f}].")
    return sentences
