"""A validation for a paper: a paragraph of methods and results, and answers to a checklist of reporting."""

from __future__ import annotations

import sys

from calibstat.digits import writer
from calibstat.output.wording import level_text, number_of
from calibstat.result import NotedResult

AUTHORS = "to be written by the authors"
CHECKLIST = {  # what each item of TRIPOD+AI asks, in a few words
    "1 to 9": "title, abstract, aims, data, participants, outcome, predictors",
    "10": "how the study size was arrived at, and whether it suffices",
    "11": "how missing data were handled, and why data were omitted",
    "12d": "how heterogeneity across clusters was handled",
    "12e": "measures and plots of performance, and how models are compared",
    "12f, 12g": "model updating, and how predictions were calculated",
    "13, 14": "methods for class imbalance, and for fairness",
    "16 to 19": "differences from the development data, ethics, open science, involvement of patients",
    "20a, 21": "flow of participants, numbers with and without the outcome",
    "20b, 20c": "characteristics of participants, and how they differ from the development data",
    "23a": "performance with confidence intervals, also in key subgroups",
    "23b": "heterogeneity of performance across clusters",
    "24": "results of model updating",
    "25 to 27": "interpretation, limitations, usability",
}
SHORT_TITLES = {  # of the numbers of the paragraph, in its order
    "observed": "mean outcome",
    "predicted": "mean prediction",
    "ratio": "O/E",
    "intercept": "intercept",
    "slope": "slope",
    "brier": "Brier score",
    "auc": "AUC",
    "ici": "ICI",
}
INTERVALS_OF_ROWS = {
    "ratio": "mean outcome and O/E by Clopper and Pearson",
    "slope": "intercept and slope by profile likelihood",
    "brier": "Brier score by a score bound",
    "auc": "AUC by DeLong",
}
INTERVALS_OF_UNITS = {
    "ratio": "mean outcome and Brier score by a bound of means over {unit}, O/E as all ratios that this bound does not "
    "exclude (Fieller 1954)",
    "slope": "intercept and slope by a jackknife over {unit}",
}


def paragraph(found: NotedResult) -> str:
    """Return the methods and the main results of a `Validation`."""
    version = sys.modules["calibstat"].__version__  # the file of public names is above this one
    sentences = [
        f"Predictions were validated with calibstat {version} (function validate) on {_rows(found)} ({found.lens}).",
        _measured(found),
        _intervals(found),
        _estimates(found),
        found.answer,
        *([] if found.by_cluster is None else [found.by_cluster.answer]),
        *found.cautions,
        found.note,
    ]
    return _one_line(*filter(None, sentences))


def answers_to_checklist(found: NotedResult) -> dict[str, str]:
    """Return what a `Validation` says to each item of the checklist."""
    said = {
        "10": f"{_rows(found)}. Reasons for this number: {AUTHORS}.",
        "11": "Each of these rows has an outcome and a prediction; validate refuses missing ones. "
        f"Rows left out before, and missing predictors: {AUTHORS}.",
        "12d": _taken_as_independent(found),
        "12e": f"{_measured(found)} {_intervals(found)} Plots, comparisons: {AUTHORS}.",
        "20a, 21": f"{found.events:,} with and {found.n - found.events:,} without the outcome. Flow: {AUTHORS}.",
        "23a": f"{_estimates(found)} Subgroups: {AUTHORS}, by validate on the rows of each.",
        "23b": _between_clusters(found),
    }
    return {item: said.get(item, f"{AUTHORS[:1].upper()}{AUTHORS[1:]}.") for item in CHECKLIST}


def _rows(found: NotedResult) -> str:
    of = "" if found.drawn == "rows" else f" in {found.drawn}"
    return f"{number_of('row', found.n)}{of} with {number_of('event', found.events)}"


def _measured(found: NotedResult) -> str:
    return (
        "Calibration was measured by O/E (observed over expected number of events), by intercept and slope of a "
        "logistic regression of outcomes on the log-odds of predictions (Cox 1958), and by ICI, the mean absolute "
        f"difference of predictions and smoothed frequency of events ({found.smoother}); discrimination by AUC, and "
        "overall performance by the Brier score."
    )


def _taken_as_independent(found: NotedResult) -> str:
    means = "" if found.by_cluster is None else " The mean over clusters of O/E is a random-effects mean."
    return f"Intervals take {found.drawn} as independent.{means}"


def _intervals(found: NotedResult) -> str:
    unit = "rows" if found.drawn == "rows" else "clusters"
    are_counted = unit == "rows" and found.effective_n is None
    ways = INTERVALS_OF_ROWS if are_counted else INTERVALS_OF_UNITS
    made = ", ".join(way.format(unit=unit) for name, way in ways.items() if name in found.intervals)
    return f"Confidence intervals of {level_text(found.confidence_level)} take {unit} as independent: {made}."


def _estimates(found: NotedResult) -> str:
    level = level_text(found.confidence_level)
    numbers = [f"{title} {_number(found, name)}" for name, title in SHORT_TITLES.items()]
    return f"Estimates ({level} confidence interval): {'; '.join(numbers)}."


def _number(found: NotedResult, name: str) -> str:
    """Write a number with its interval, or why there is none."""
    if name in found.missing:
        return f"not available ({found.missing[name]})"
    write = writer(".3g")
    ends = " ({} to {})".format(*map(write, found.intervals[name])) if name in found.intervals else ""
    return f"{write(getattr(found, name))}{ends.replace('inf', '∞')}"


def _between_clusters(found: NotedResult) -> str:
    if found.by_cluster is not None:
        return _one_line(found.by_cluster.answer)
    if "by_cluster" in found.missing:
        return f"Not available ({found.missing['by_cluster']})."
    return "Not examined: no clusters were given."


def _one_line(*texts: str) -> str:
    return " ".join(texts).replace("\n", " ")
