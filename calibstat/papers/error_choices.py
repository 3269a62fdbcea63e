"""The choices behind a calibration error: Nixon et al. (2019), tables 1 to 3, section 5.3 and figure 1, left.

Each file of predictions is split at random into 20% of its rows, to which recalibrations are fitted, and 80%, on which
all are judged, again and again, as by the study `tables`, which has tables 4 and 5. Here are

- section 5.3: mean rank correlations of eight recalibrations by one error with 10, 20, 30, 40 and 50 bins, for errors
  with each property, with equal probabilities kept together or shared between adaptive bins, and on two halves of the
  rows: a ranking that is stable over bins on the same rows may come from their noise;
- table 3: ECE, RMSCE and log loss of a temperature that was fitted to each of the 32 errors, by a local and by a global
  search, means over the errors with each property;
- tables 1 and 2: ECE and class-conditional ECE before and after histogram binning, with bins of all classes together
  and by class, beside what they are on average if the predictions are calibrated;
- figure 1, left: the adaptive error of each class, and whether two halves of the rows agree on which classes have more
  of it than calibrated predictions would.

What the paper claims of these are differences, each with the sign that it should have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibstat import calibration_test, estimate, gce_family, generators
from calibstat.data.clipping import needed
from calibstat.inference.gce_family import GceFamily
from calibstat.papers.parts.agreement import PROPERTIES, correlation, mean_known, ranks
from calibstat.papers.parts.error_choice_pages import draw, pages
from calibstat.papers.parts.recalibrations import (
    BEFORE,
    RANKED,
    Make,
    Row,
    fitted,
    infinite,
    option_name,
)
from calibstat.papers.parts.splits import every_split, stored_split, table_of_splits
from calibstat.papers.tables import OPTIONS as OPTIONS_OF_TABLES
from calibstat.papers.tables import READING, Drawn, Source, check_rows, files_by_name, fits, left_out, parted
from calibstat.recalibration import HistogramBinning, TemperatureScaling
from calibstat.study import Study
from calibstat.study.study_options import Option

if TYPE_CHECKING:
    import pandas as pd

    from calibstat.inference.calibration_test_results import ClassTests

SEED = 20345
LARGER_LOSS = "errors with a larger log loss than before"
BIN_NUMBERS = (10, 20, 30, 40, 50)
TIES = ("together", "split")
SEARCHES = ("local", "global")
SAME, HALVES = "other bins", "other bins, other half"
LABELS = ["classes", "file", "question", "model", "measure", "against", "way", "at", "reason"]
NO_TEXT = dict.fromkeys(("model", "measure", "against", "way", "reason"), "")
OVER_FILES = ("bins", "fitted temperature", "histogram", "claim")
ECE: Mapping[str, Any] = {"measure": "gce", "max_prob": True, "class_conditional": False}
CLASS_ECE: Mapping[str, Any] = {"measure": "gce", "max_prob": True, "class_conditional": True}
RMSCE: Mapping[str, Any] = {**ECE, "binning": "adaptive", "norm": "l2"}
HISTOGRAMS = {"histogram": False, "histogram, by class": True}

# What the paper claims: the first is larger than the second
STEADIER = (
    ("adaptive bins", "even bins"),
    ("all classes", "most likely class"),
    ("class-conditional", "class-unconditional"),
    ("thresholded", "unthresholded"),
    ("L1", "L2"),
)
LARGER_ECE = (
    ("adaptive bins", "even bins"),
    ("all classes", "most likely class"),
    ("class-conditional", "class-unconditional"),
    ("unthresholded", "thresholded"),
    ("L2", "L1"),
)

OPTIONS: Mapping[str, Option] = {
    "splits": OPTIONS_OF_TABLES["splits"],
    "bins": Option(15, "bins, except of section 5.3"),
    "searches": Option(SEARCHES, "searches for temperatures", among=SEARCHES),
    "resamples": Option(99, "draws of labels of calibrated predictions"),
    **{name: OPTIONS_OF_TABLES[name] for name in READING},
}


EXAMPLES: Mapping[str, Source] = {
    f"temperature {t:g}": Drawn(generators.dirichlet((0.3,) * 10, temperature=t), 1000) for t in (1.5, 0.7)
}
QUICK = {"splits": 1, "resamples": 19, "searches": ("local",)}


def table(
    *, quick: bool, data: Sequence[Path], store: Path | None, options: Mapping[str, Any], n_jobs: int | None = None
) -> pd.DataFrame:
    """Split each file again and again, and average what is found over splits, and over files of a block."""
    if quick:
        options = {**options, **QUICK}
    return found_in(files_by_name(data, options) or EXAMPLES, options, store, n_jobs)


def found_in(
    sources: Mapping[str, Source], options: Mapping[str, Any], store: Path | None, n_jobs: int | None
) -> pd.DataFrame:
    """Return the table of named sources of rows, each split of which is kept in the store."""
    asked = {name: options[name] for name in ("bins", "resamples", "searches")}
    rows = every_split(sources, options["splits"], partial(stored_split, store, one_split, asked), n_jobs)
    return table_of_splits(rows, NO_TEXT, LABELS, OVER_FILES)


def one_split(source: Source, split: int, options: Mapping[str, Any]) -> list[Row]:
    """Fit to some rows, and judge on the others; a file that cannot be used is a row with the reason."""
    try:
        y, p = source.rows()
        check_rows(y.size)
    except ValueError as error:
        return [{"classes": 0, "n": 0, "value": np.nan, **left_out("", str(error))}]
    first, rest, key = parted(y.size, split)
    clip, to_fit, judged = needed(p), (y[first], p[first]), (y[rest], p[rest])
    rows, models = fits(*to_fit, judged[1], [option_name(name) for name in RANKED], key, clip)
    rows = [row for row in rows if row["question"] == "left out"]
    candidates = {name: models[name] for name in RANKED if name in models}
    rows += over_bins(judged[0], candidates) if len(candidates) > 1 else []
    rows += over_temperatures(to_fit, judged, options["bins"], options["searches"], clip)
    rows += histograms(to_fit, judged, options["bins"], options["resamples"], key)
    rows += by_class(*judged, options["bins"], options["resamples"], key)
    return [{"classes": p.shape[1], "n": rest.size, **row} for row in rows]


def claims(differences: Mapping[str, float], against: str, way: str) -> Iterator[Row]:
    """Return differences that the paper claims to be above 0."""
    for name, value in differences.items():
        yield {"question": "claim", "measure": name, "against": against, "way": way, "value": value, "low": value,
               "high": value}  # fmt: skip


def of_pairs(values: Mapping[str, float], pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Return the first of each pair of properties minus the second."""
    return {f"{larger} − {smaller}": values[larger] - values[smaller] for larger, smaller in pairs}


# --- section 5.3 -----------------------------------------------------------------------------------------------------


def over_bins(y: np.ndarray, models: Mapping[str, np.ndarray]) -> Iterator[Row]:
    """Return mean rank correlations of errors with other numbers of bins, by property, for both rules of ties."""
    parts = (np.arange(y.size), *np.array_split(np.arange(y.size), 2))
    for ties in TIES:
        families: list[list[dict[str, GceFamily]]] = [
            [
                {name: gce_family(y[part], p[part], n_bins=b, ties=ties) for name, p in models.items()}
                for b in BIN_NUMBERS
            ]
            for part in parts
        ]
        whole, first, second = ([ranks(each) for each in of_part] for of_part in families)
        index = families[0][0][next(iter(models))]
        for against, one, other in ((SAME, whole, whole), (HALVES, first, second)):
            steady = steadiness(one, other)
            values = {name: mean_known(steady[has(index)]) for name, has in PROPERTIES.items()}
            way = f"ties {ties}"
            for name, value in values.items():
                yield {"question": "bins", "measure": name, "against": against, "way": way, "value": value}
            yield from claims(of_pairs(values, STEADIER), against, way)


def steadiness(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> np.ndarray:
    """Return the mean rank correlation over pairs of numbers of bins, of each measure; nan if all models are equal."""
    pairs = [
        (np.diag(correlation(first[i], second[j])) + np.diag(correlation(first[j], second[i]))) / 2
        for i, j in combinations(range(len(first)), 2)
    ]
    found: np.ndarray = np.mean(pairs, axis=0)
    return found


# --- table 3 ---------------------------------------------------------------------------------------------------------


def over_temperatures(
    to_fit: tuple[np.ndarray, np.ndarray],
    judged: tuple[np.ndarray, np.ndarray],
    bins: int,
    searches: Sequence[str],
    clip: float | None,
) -> Iterator[Row]:
    """Return what temperatures fitted to each of the 32 errors are, and what ECE and RMSCE they leave, by property."""
    y, p = judged
    index = gce_family(y, p, n_bins=bins)
    before = log_loss(y, p)
    for search in searches:
        found: dict[str, list[float]] = {"temperature": [], "ECE": [], "RMSCE": [], "log loss": []}
        for k in index.index:
            fit: Any = fitted(scaling_by(index, int(k), bins, search), *to_fit, 0, clip)
            q = fit.predict_proba(p)
            found["temperature"].append(float(fit.temperature_))
            found["ECE"].append(float(estimate(y, q, n_bins=bins, **ECE)))
            found["RMSCE"].append(float(estimate(y, q, n_bins=bins, **RMSCE)))
            found["log loss"].append(log_loss(y, q))
        for against in ("temperature", "log loss"):
            for k, value in enumerate(found[against]):
                yield {"question": "each error", "measure": str(k), "against": against, "way": search, "value": value}
        worse = float(np.sum(np.array(found["log loss"]) > before))
        shared: Row = {"question": "fitted temperature", "way": search}
        yield {**shared, "measure": "all", "against": LARGER_LOSS, "value": worse}
        for against in ("ECE", "RMSCE"):
            means = {name: float(np.mean(np.array(found[against])[has(index)])) for name, has in PROPERTIES.items()}
            for name, value in means.items():
                yield {**shared, "measure": name, "against": against, "value": value}
            if against == "ECE":
                yield from claims(of_pairs(means, LARGER_ECE), against, search)


def scaling_by(index: GceFamily, k: int, bins: int, search: str) -> Make:
    """Return how to make a temperature that minimises one of the 32 errors."""
    switches = ("binning", "max_prob", "class_conditional", "threshold", "norm")
    options = {name: getattr(index, name)[k].item() for name in switches} | {"n_bins": bins}
    return lambda seed, clip: TemperatureScaling(objective="gce", options=options, search=search, clip=clip)


def log_loss(y: np.ndarray, p: np.ndarray) -> float:
    """Return the log loss of all classes."""
    return np.inf if infinite(y, {"": p}) else float(estimate(y, p, measure="log_loss", lens="canonical"))


# --- tables 1 and 2 --------------------------------------------------------------------------------------------------


def histograms(
    to_fit: tuple[np.ndarray, np.ndarray], judged: tuple[np.ndarray, np.ndarray], bins: int, resamples: int, key: int
) -> Iterator[Row]:
    """Return two errors of predictions before and after histogram binning, and what they are of calibrated ones."""
    y, p = judged
    models = {BEFORE: p} | {
        name: HistogramBinning(class_conditional=apart).fit(to_fit[1], to_fit[0]).predict_proba(p)
        for name, apart in HISTOGRAMS.items()
    }
    found: dict[str, dict[tuple[str, str], float]] = {"observed": {}, "beyond calibrated": {}}
    for model, q in models.items():
        for measure, options in (("ECE", ECE), ("class-conditional ECE", CLASS_ECE)):
            test = calibration_test(y, q, n_bins=bins, n_resamples=resamples, rng=key, **options)
            found["observed"][model, measure] = float(test.statistic)
            found["beyond calibrated"][model, measure] = float(test.statistic - test.null_distribution.mean())
    for way, values in found.items():
        for (model, measure), value in values.items():
            yield {"question": "histogram", "model": model, "measure": measure, "way": way, "value": value}
        yield from binning_claims(values, way)


def binning_claims(found: Mapping[tuple[str, str], float], way: str) -> Iterator[Row]:
    """Return the differences that the paper's two tables show, each above 0."""
    plain, apart = HISTOGRAMS
    ece, by_class = "ECE", "class-conditional ECE"
    differences = {
        f"{ece}: {apart} − {plain}": found[apart, ece] - found[plain, ece],
        f"{by_class}: {plain} − {apart}": found[plain, by_class] - found[apart, by_class],
    }
    if way == "observed":
        before, after = (found[model, ece] / (found[model, by_class] or np.nan) for model in (BEFORE, plain))
        differences[f"{ece} / {by_class}: {BEFORE} − {plain}"] = before - after
    yield from claims(differences, "histogram binning", way)


# --- figure 1, left --------------------------------------------------------------------------------------------------


def by_class(y: np.ndarray, p: np.ndarray, bins: int, resamples: int, key: int) -> Iterator[Row]:
    """Return the adaptive error of each class, what it is of calibrated predictions, and whether two halves agree."""
    parts = (np.arange(y.size), *np.array_split(np.arange(y.size), 2))
    beyond = []
    for part in parts:
        labels = np.arange(p.shape[1])
        test = calibration_test(
            y[part], p[part], labels=labels, measure="ece", strategy="quantile", n_bins=bins, lens="class_wise",
            n_resamples=resamples, rng=key,
        )  # fmt: skip
        each = cast("ClassTests", test.classes)
        by_chance = each.null_distribution.mean(axis=0)
        beyond.append(each.statistic - by_chance)
        if part is parts[0]:
            for way, values in (("observed", each.statistic), ("if calibrated", by_chance)):
                for k, value in enumerate(values):
                    yield {
                        "question": "each class",
                        "measure": "ACE",
                        "way": way,
                        "at": float(k),
                        "value": float(value),
                    }
    agreed = float(correlation(*map(column_of_ranks, beyond[1:]))[0, 0])
    yield from claims({"rank correlation of classes on two halves": agreed}, "each class", "beyond calibrated")


def column_of_ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks as a column."""
    from scipy.stats import rankdata

    found: np.ndarray = rankdata(values)[:, np.newaxis]
    return found


study = Study(
    question="What do the choices behind a calibration error change for these models?",
    seed=SEED,
    runtime_hours=0.02,
    table=table,
    takes_data=True,
    takes_store=True,
    options=OPTIONS,
    figures=draw,
    pages=pages,
)
