"""The tables of papers, of a user's own models: Chidambaram and Ge (2024), 1 to 6; Nixon et al. (2019), 4 and 5.

Each file of predictions, probabilities or logits of 2 to 1000 classes, is split at random into 20% of its rows, to
which recalibrations are fitted, and 80%, on which all are judged, again and again. Files with as many classes as each
other are one block, of which means over the files are shown too. Without a file two models are drawn whose truth is
known: a calibrated one of ten classes, at temperatures 1.5 and 0.7.

Tables: the measures of the papers; by how much each model exceeds the reference on the same rows, with the mean ends of
95% intervals where an honest one is known; ranks, with the rank correlation of two halves of the rows, above which
no agreement of measures can be expected; rank correlations of the 32 general calibration errors by property; four
claims of Chidambaram and Ge; and what was left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from calibstat import compare, estimate, gce_family, generators, sharpness
from calibstat.data.clipping import needed
from calibstat.data.data_notes import auc
from calibstat.data.sample import Sample
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.agreement import agreement_rows, correlation, gce_rows
from calibstat.papers.parts.claims import claims
from calibstat.papers.parts.prediction_files import PredictionFile
from calibstat.papers.parts.recalibrations import (
    BEFORE,
    RECALIBRATIONS,
    REPLACED,
    Row,
    differences,
    fitted,
    fitted_to,
    infinite,
    option_name,
)
from calibstat.papers.parts.splits import EVERY, every_split, stored_split, table_of_splits
from calibstat.papers.parts.table_pages import draw_diagrams, pages
from calibstat.study import Study
from calibstat.study.study_options import Option

if TYPE_CHECKING:
    import pandas as pd

SEED = 20341
BY_OPTION = {option_name(name): name for name in RECALIBRATIONS}
MOST_CLASSES = {"matrix": 100, "vector": 300, "neural network": 100}  # beyond which a fit takes minutes, or hours
HIT_MEASURES = ("ece", "average_ce", "smooth_ece")  # of the most likely class
TABLED = ("accuracy", "ece", "average_ce", "adaptive_calibration_error", "smooth_ece", "auc", "log_loss", "brier")
LARGER_IS_BETTER = ("accuracy", "auc")
DIFFERED = ("ece", "log_loss", "brier")  # with an honest interval of the difference, beside the accuracy
POINTS = 41  # of a diagram: half a bandwidth apart
LABELS = ["classes", "file", "question", "model", "measure", "against", "at", "reason"]
NO_TEXT = dict.fromkeys(("model", "measure", "against", "reason"), "")
OVER_FILES = ("measure", "difference", "rank", "ceiling", "gce", "agreement", "sharpness", "claim")

OPTIONS: Mapping[str, Option] = {
    "recalibrations": Option(
        ("temperature", "histogram_by_class", "isotonic", "mean_replacement"),
        "what is fitted",
        among=tuple(BY_OPTION),
    ),
    "splits": Option(5, "random splits into 20% and 80% of each file"),
    "bins": Option(15, "bins of the measures"),
    "reference": Option(option_name(BEFORE), "with which others are compared", among=(option_name(BEFORE), *BY_OPTION)),
    "resamples": Option(199, "resamples of each interval"),
    "agreement": Option(True, "whether the 32 general calibration errors are computed"),
    "label": Option("", "the column of outcomes; by default y, label, labels, y_true or target"),
    "prob": Option("", "the pattern of the columns of predictions; by default prob* or p_*, or of logits logit*"),
    "logits": Option(False, "whether the columns of prob are logits"),
}
READING = ("label", "prob", "logits")  # options of how files are read


class Source(Protocol):
    """Rows of one model: a file, or anything whose `repr` says which rows it has."""

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return classes, and predictions of all classes."""


@dataclass(frozen=True)
class Drawn:
    """Rows of a generator."""

    generator: Any
    n: int

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return classes and predictions."""
        y, p = self.generator.sample(self.n, SEED)
        return y, p


EXAMPLES: Mapping[str, Source] = {
    f"temperature {t:g}": Drawn(generators.dirichlet((0.3,) * 10, temperature=t), 3000) for t in (1.5, 0.7)
}


def table(
    *, quick: bool, data: Sequence[Path], store: Path, options: Mapping[str, Any], n_jobs: int | None = None
) -> pd.DataFrame:
    """Split each file again and again, and average what is found over splits, and over files of a block."""
    if quick:
        options = {**options, "splits": min(options["splits"], 2), "resamples": 19}
    return found_in(files_by_name(data, options) or EXAMPLES, options, store, n_jobs)


def files_by_name(data: Sequence[Path], options: Mapping[str, Any]) -> Mapping[str, Source]:
    """Return given files by their names, to be read as the options say."""
    reading = {name: options[name] for name in READING}
    return {name: PredictionFile.of(path, **reading) for name, path in names_of(data).items()}


def found_in(
    sources: Mapping[str, Source], options: Mapping[str, Any], store: Path | None, n_jobs: int | None
) -> pd.DataFrame:
    """Return the table of named sources of rows, each split of which is kept in the store."""
    asked = {name: value for name, value in options.items() if name not in (*READING, "splits")}
    rows = every_split(sources, options["splits"], partial(stored_split, store, one_split, asked), n_jobs)
    return table_of_splits(rows, NO_TEXT, LABELS, OVER_FILES)


def names_of(paths: Sequence[Path]) -> dict[str, Path]:
    """Return files by their names without ending, or as they were given where several have one name."""
    stems = [path.stem for path in paths]
    names = [
        stem if stems.count(stem) == 1 and stem != EVERY else str(path) for stem, path in zip(stems, paths, strict=True)
    ]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"expected every file once, found {name} {names.count(name)} times")
    return dict(zip(names, paths, strict=True))


def one_split(source: Source, split: int, options: Mapping[str, Any]) -> list[Row]:
    """Recalibrate on some rows, and judge on the others; a file that cannot be used is a row with the reason."""
    try:
        y, p = source.rows()
        check_rows(y.size)
    except ValueError as error:
        return [{"classes": 0, "n": 0, "value": np.nan, **left_out("", str(error))}]
    first, rest, key = parted(y.size, split)
    clip = needed(p)
    rows, models = fits(y[first], p[first], p[rest], options["recalibrations"], key, clip)
    if clip is not None:
        rows.append({"question": "fit", "model": BEFORE, "measure": "clip", "value": clip})
    y = y[rest]
    values = {name: measured(y, each, options["bins"]) for name, each in models.items()}
    for name, own in values.items():
        rows += [{"question": "measure", "model": name, "measure": each, "value": own[each]} for each in TABLED]
    rows += paired(y, models, values, options, key)
    rows += ranked(y, models, values, options["bins"])
    if options["agreement"]:
        rows += agreed(y, models, options["bins"])
    rows += diagrams(y, models, curves=split == 0)
    rows += [{"question": "claim", "measure": claim, "value": float(holds)} for claim, holds in claims(values).items()]
    return [{"classes": p.shape[1], "n": rest.size, "value": np.nan, **row} for row in rows]


def parted(n: int, split: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the rows to fit to, the others in random order, and a seed: the same of all files with as many rows."""
    _, random = drawing(n, np.random.SeedSequence([SEED, split]))
    first, rest = np.split(random.permutation(n), [fitted_to(n)])
    return first, rest, int(random.integers(2**31))


def check_rows(n: int) -> None:
    """Raise if so few rows cannot be split."""
    if fitted_to(n) < 1 or n - fitted_to(n) < 2:
        raise ValueError(f"expected at least 3 rows, of which 20% are fitted to, found {n}")


def left_out(model: str, reason: str, measure: str = "") -> Row:
    """Return the row that names what has no line, and why."""
    return {"question": "left out", "model": model, "measure": measure, "reason": " ".join(reason.split())}


def fits(
    y: np.ndarray, p: np.ndarray, others: np.ndarray, names: Sequence[str], key: int, clip: float | None
) -> tuple[list[Row], dict[str, np.ndarray]]:
    """Return whether each recalibration converged, or why it was left out, and all predictions of the other rows."""
    rows: list[Row] = []
    models = {BEFORE: others}
    for name in (BY_OPTION[each] for each in names):
        try:
            check_classes(name, p.shape[1])
            fit = fitted(RECALIBRATIONS[name], y, p, key, clip)
            models[name] = fit.predict_proba(others)
        except ValueError as error:
            rows.append(left_out(name, str(error)))
            continue
        rows.append({"question": "fit", "model": name, "measure": "converged", "value": float(fit.converged_)})
        if hasattr(fit, "temperature_"):
            rows.append({"question": "fit", "model": name, "measure": "temperature", "value": fit.temperature_})
    return rows, models


def check_classes(name: str, n_classes: int) -> None:
    """Raise if a recalibration would take minutes with so many classes."""
    most = MOST_CLASSES.get(name, n_classes)
    if n_classes > most:
        raise ValueError(f"expected at most {most} classes for {name}, whose fit takes too long with {n_classes}")


def arguments(measure: str, bins: int) -> dict[str, Any]:
    """Return the arguments of `estimate` for a measure, the same for 2 classes as for more."""
    if measure == "adaptive_calibration_error":
        return {"measure": "gce", "binning": "adaptive", "n_bins": bins}
    if measure in HIT_MEASURES:
        return {"measure": measure, "lens": "top_label", **({} if measure == "smooth_ece" else {"n_bins": bins})}
    return {"measure": measure, "lens": "canonical"}


def measured(y: np.ndarray, p: np.ndarray, bins: int) -> dict[str, float]:
    """Return every measure of one model."""
    hit = p.argmax(axis=1) == y
    sample = Sample.from_rows(hit, p.max(axis=1).clip(0, 1))
    found = {"accuracy": float(hit.mean()), "auc": auc(sample.count, sample.positives)[0]}
    if infinite(y, {"": p}):
        found["log_loss"] = np.inf
    asked: Callable[..., Any] = estimate
    return {name: found[name] if name in found else float(asked(y, p, **arguments(name, bins))) for name in TABLED}


def paired(
    y: np.ndarray,
    models: Mapping[str, np.ndarray],
    values: Mapping[str, Mapping[str, float]],
    options: Mapping[str, Any],
    key: int,
) -> Iterator[Row]:
    """Return by how much each model exceeds the reference, with an interval where an honest one is known."""
    reference = {option_name(BEFORE): BEFORE, **BY_OPTION}[options["reference"]]
    if reference not in models:
        yield left_out(reference, "expected the reference among what is fitted, found it left out", "differences")
        return
    for measure in TABLED:
        try:
            if measure == "accuracy":
                yield from in_accuracy(y, models, reference, options["resamples"], key)
            elif measure in DIFFERED:
                asked = {measure: arguments(measure, options["bins"])}
                yield from differences(y, models, asked, reference, options["resamples"], key)
            else:
                yield from without_interval(values, measure, reference)
        except ValueError as error:
            yield left_out("", str(error), f"intervals of differences of {measure}")
            yield from without_interval(values, measure, reference)


def without_interval(values: Mapping[str, Mapping[str, float]], measure: str, reference: str) -> Iterator[Row]:
    """Return the differences of a measure from the reference."""
    for name, own in values.items():
        if name != reference:
            row: Row = {"question": "difference", "model": name, "measure": measure, "against": reference}
            yield {**row, "value": own[measure] - values[reference][measure]}


def in_accuracy(
    y: np.ndarray, models: Mapping[str, np.ndarray], reference: str, n_resamples: int, key: int
) -> Iterator[Row]:
    """Return the differences of the accuracy: of mean losses, 1 where the most likely class is not observed.

    Where a model leaves the most likely class of every row as it is, nothing is estimated and there is no interval.
    """
    top = {name: p.argmax(axis=1) for name, p in models.items()}
    missed = {name: (each != y).astype(np.float64) for name, each in top.items()}
    if len(missed) < 2:
        return
    of_losses: Any = {"measure": "brier", "reference": reference, "n_resamples": n_resamples, "rng": key}
    found = compare(np.zeros(y.size), missed, **of_losses)  # the squared distance from 0 is the loss
    for (_, name), d, low, high in zip(found.pairs, found.difference, found.low, found.high, strict=True):
        row: Row = {"question": "difference", "model": name, "measure": "accuracy", "against": reference}
        ends = {} if np.array_equal(top[name], top[reference]) else {"low": float(low), "high": float(high)}
        yield {**row, "value": float(d), **ends}


def ranked(
    y: np.ndarray, models: Mapping[str, np.ndarray], values: Mapping[str, Mapping[str, float]], bins: int
) -> Iterator[Row]:
    """Return the rank of each model, 1 for the best, and the rank correlation of each measure on two halves."""
    halves = np.array_split(np.arange(y.size), 2)  # they are in random order
    parts = [{name: measured(y[half], p[half], bins) for name, p in models.items()} for half in halves]
    whole, first, second = (order(each) for each in (values, *parts))
    for name, own in zip(models, whole, strict=True):
        for measure, rank in zip(TABLED, own, strict=True):
            yield {"question": "rank", "model": name, "measure": measure, "value": float(rank)}
    if len(models) > 1:
        for measure, value in zip(TABLED, np.diag(correlation(first, second)), strict=True):
            yield {"question": "ceiling", "measure": measure, "value": float(value)}


def order(values: Mapping[str, Mapping[str, float]]) -> np.ndarray:
    """Return the ranks of models by every measure, 1 for the best; shape (models, measures)."""
    from scipy.stats import rankdata

    signs = np.array([-1 if measure in LARGER_IS_BETTER else 1 for measure in TABLED])
    numbers = np.array([[own[measure] for measure in TABLED] for own in values.values()])
    ranks: np.ndarray = rankdata(numbers * signs, axis=0, nan_policy="omit")
    return ranks


def agreed(y: np.ndarray, models: Mapping[str, np.ndarray], bins: int) -> Iterator[Row]:
    """Return the 32 general calibration errors and how far they agree on the order of models.

    Mean replacement is no candidate: it has one prediction, and is the best by most of them.
    """
    candidates = {name: p for name, p in models.items() if name != REPLACED}
    every = np.arange(y.size)
    parts = (every, *np.array_split(every, 2))
    families = [{name: gce_family(y[part], p[part], n_bins=bins) for name, p in candidates.items()} for part in parts]
    yield from gce_rows(families[0])
    if len(candidates) > 1:
        yield from agreement_rows(*families)


def diagrams(y: np.ndarray, models: Mapping[str, np.ndarray], *, curves: bool) -> Iterator[Row]:
    """Return the numbers of calibration-sharpness diagrams, and what is drawn if `curves`."""
    for name, p in models.items():
        found = sharpness(y, p, lens="canonical", n_points=POINTS)
        for measure in ("calibration_error", "sharpness_gap", "total_divergence"):
            yield {"question": "sharpness", "model": name, "measure": measure, "value": getattr(found, measure)}
        for measure in ("curve", "gap", "density") if curves else ():
            for at, value in zip(found.grid, getattr(found, measure), strict=True):
                yield {
                    "question": "diagram",
                    "model": name,
                    "measure": measure,
                    "at": float(at),
                    "value": float(value),
                }


study = Study(
    question="What do the papers' tables say of these models?",
    seed=SEED,
    runtime_hours=0.01,
    table=table,
    takes_data=True,
    takes_store=True,
    options=OPTIONS,
    figures=draw_diagrams,
    pages=pages,
)
