"""The verb `report`: everything the other verbs say of one or several models on the same rows."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat.data import lenses
from calibstat.data.arguments import checks_arguments
from calibstat.data.checks import check_level, short
from calibstat.data.labels import takes_pos_label
from calibstat.data.models import named_models
from calibstat.data.predictions import Predictions, as_predictions
from calibstat.data.sample import Sample
from calibstat.inference.audit import audit
from calibstat.inference.bands.reliability import reliability
from calibstat.inference.calibration_test_results import ClassWiseTestResult
from calibstat.inference.calibration_tests import calibration_test
from calibstat.inference.comparing.compare import Comparison, compare
from calibstat.inference.confidence_interval import ConfidenceInterval, confidence_interval
from calibstat.inference.power.detectable_effect import DetectableEffect, detectable_effect
from calibstat.output.wording import describe_data
from calibstat.recalibration.recalibrator import Recalibrator
from calibstat.reporting.cross_fitted import CrossFitted, cross_fitted
from calibstat.reporting.report_fields import ClassesReport, ModelReport
from calibstat.reporting.report_measures import COMPARED, affordable, compared, measured, questions, shows_several
from calibstat.reporting.report_results import Report
from calibstat.reporting.sentences import name_of
from calibstat.resampling import key_of

ONE_MODEL = "model"  # its name, if it has none
ENOUGH = 20  # resamples at least as extreme, after which the test of a class stops, if it is detail
PANELS = 16  # classes that one picture shows; of more, bands are those that need no drawing
BY_ROWS = (
    "take rows as independent, whatever their clusters: with positive dependence within clusters p-values are too "
    "small and intervals too short."
)


@checks_arguments
@takes_pos_label
def report(
    y_true: Any,
    y_prob: Any = None,
    *,
    by: Any = None,
    cluster: Any = None,
    sample_weight: Any = None,
    recalibrate: bool | Recalibrator = False,
    lens: Any = None,
    labels: Any = None,
    confidence_level: float = 0.95,
    rng: Any = 0,
    n_jobs: int = 1,
    title: str | None = None,
) -> Report:
    """Report on the calibration of one or several models on the same rows: a page to send.

    Parameters
    ----------
    y_true, lens, labels
        As for `calibration_test`.
    y_prob : array_like, shape (n,) or (n, K), mapping from name to array_like, or data frame
        Predicted probabilities; or those of several models, for the same rows, as a mapping or as a data frame with a
        column for each.
    by : data frame, mapping or array_like, optional
        Features of the rows, or groups of them, for `audit`; one column may be an array or a series.
    cluster : array_like, shape (n,), optional
        The cluster of each row (a patient, a day), for the test, intervals, comparisons and folds; not with a lens that
        shows several classes. Single classes and groups take rows as independent all the same; the page says so.
    sample_weight : array_like, shape (n,), optional
        Weights of the rows, as for `calibration_test`; not with `by`, `recalibrate`, or a lens that shows several
        classes. Of more than two classes scores are then those of the most likely one.
    recalibrate : bool or Recalibrator
        Whether to recalibrate each model on held-out folds and compare before and after: by Platt scaling of two
        classes, temperature scaling of more, or by the given map.
    confidence_level : float
        Between 0 and 1; of every interval by itself.
    rng : None, int, SeedSequence or Generator
        Seed or generator. With an int every part is what its verb says with the same `rng`.
    n_jobs : int
        Number of threads; -1 for one per core.
    title : str, optional
        The heading.

    Returns
    -------
    Report
        ``save("report.html")`` writes one page that needs no other file and no network; also .json, .csv and .md. It
        shows itself in a notebook, and `print` gives the verdicts.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), rows are lacking because `y_true` is a
        `Sample`, or there are clusters or weights beside what takes none.

    Notes
    -----
    The verdict is that of one test, ``calibration_test(y_true, y_prob)``, and of one interval,
    ``confidence_interval(y_true, y_prob)``, both with the clusters if there are any: of the expected calibration error
    (through a lens that shows several classes, of the canonical calibration error; class-wise, of the mean over the
    classes). All other numbers are detail, and have no p-values of their own: measures of the same residuals agree too
    much to be counted as several findings. Comparisons of models are those of `compare` by the kernel calibration
    error, its default (through a lens that shows several classes, by the error of the verdict), and by the Brier score,
    groups those of `audit`, what could have been found that of `detectable_effect`.

    Recalibration: each of five folds is predicted by a map fitted on the other four. Folds are dealt at random by `rng`
    and the position of the rows, all rows of a cluster to one, and never by outcomes or predictions; so these numbers
    alone depend on the order of the rows. Intervals after recalibration are of the five maps together, and approximate,
    because rows share fitted maps, whose own errors partly cancel between folds. Measures that would take minutes on so
    many rows are left out and named; without the kernel calibration error models are compared by the error of the
    verdict.

    The result holds no rows. Cost: that of its parts; most of it is the smooth calibration error, and the drawing.

    Examples
    --------
    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2).sample(400, rng=1)
    >>> found = cs.report(y, p, title="A model that is too sure")
    >>> found.models["model"].test.answer == cs.calibration_test(y, p, rng=0).answer
    True
    >>> found.to_dict()["models.model.ece.low"] == cs.confidence_interval(y, p, rng=0).low
    True
    """
    check_level("confidence_level", confidence_level)
    y_true, y_prob, labels = _as_rows(y_true, y_prob, labels)
    given = {"by": by is not None, "cluster": cluster is not None, "sample_weight": sample_weight is not None}
    given["recalibrate"] = recalibrate is not False
    _check_given([name for name, there in given.items() if there], isinstance(y_true, Sample), lens)
    models = named_models(y_prob) or {ONE_MODEL: y_prob}
    seed = rng if isinstance(rng, int) and not isinstance(rng, bool) else int(key_of(rng))
    rows = {"cluster": cluster, "sample_weight": sample_weight}
    asked = _Asked(y_true, labels, lens, rows, confidence_level, seed, n_jobs, _classes(models))
    features = _features(by)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = {}
        for name, p in models.items():
            try:
                found[name] = asked.model(p, features, recalibrate)
            except ValueError as error:
                raise ValueError(f"{error} (of {short(name)})" if len(models) > 1 else str(error)) from error
        data = _data(y_true, next(iter(models.values())), labels)
        comparisons = asked.comparisons(models, data.n) if len(models) > 1 else {}
    notes = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
    if left := [name for name in asked.questions if name not in affordable(asked.questions, data.n)]:
        notes.append(f"Left out, because they are costly on {data.n:,.0f} rows: {', '.join(left)}.")
    if cluster is not None:
        detail = {
            "The tests of single classes": asked.n_classes > 2,
            "The tests and intervals of groups": by is not None,
        }
        notes += [f"{what} {BY_ROWS}" for what, there in detail.items() if there]
    described = describe_data(data) if len(models) == 1 else f"{data.n:,} rows, {len(models)} models."
    for name, each in found.items():
        of_weights = each.test.effective_n is not None  # which all models share
        prefix = f"{name}: " if len(models) > 1 and not of_weights else ""
        notes += [f"{prefix}{line}" for line in each.test.note.splitlines() if line not in described]
    return Report(
        title=f"Calibration of {', '.join(found)}" if title is None else str(title),
        models=found,
        comparisons=comparisons,
        data=described,
        n=int(data.n),
        n_classes=asked.n_classes,
        confidence_level=confidence_level,
        seed=seed,
        version=sys.modules["calibstat"].__version__,  # the file of public names is above this one
        command=_call([name for name in given if given[name]], recalibrate, lens, confidence_level, seed),
        notes=tuple(dict.fromkeys(notes)),
    )


@dataclass(frozen=True)
class _Asked:
    """The questions of a report, with the rows they are about."""

    y: Any
    labels: Any
    lens: Any
    rows: dict[str, Any]  # their clusters and weights
    confidence_level: float
    seed: int
    n_jobs: int
    n_classes: int

    @property
    def draws(self) -> dict[str, Any]:
        """The arguments that all verbs with draws take."""
        return {"labels": self.labels, "rng": self.seed, "n_jobs": self.n_jobs}

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of all intervals and comparisons."""
        return {**self.draws, **self.rows, "confidence_level": self.confidence_level}

    @property
    def weighted(self) -> dict[str, Any]:
        """The weights of the rows, and the arguments of verbs that draw rows one by one."""
        return {"sample_weight": self.rows["sample_weight"], **self.draws}

    @property
    def questions(self) -> dict[str, dict[str, Any]]:
        """The arguments of each measure, the primary one first."""
        return questions(self.n_classes, self.lens, jointly=self.rows["sample_weight"] is None)

    @property
    def binary_lens(self) -> Any:
        """The lens, if it shows one event; else the default one. None of a lens is that of each verb."""
        return None if shows_several(self.lens) else self.lens

    def model(self, p: Any, features: Any, recalibrate: bool | Recalibrator) -> ModelReport:
        """Ask everything about one model."""
        y, asked = self.y, self.questions
        several = shows_several(self.lens)
        test = calibration_test(y, p, lens=self.lens, **self.rows, **self.draws)
        primary = next(iter(asked))
        ece = confidence_interval(y, p, **asked[primary], **self.settings)
        diagram = None
        if not several:  # the picture states the primary interval
            diagram = replace(reliability(y, p, lens=self.lens, interval=False, **self.weighted), interval=ece)
        groups = None
        if features is not None:
            about = {"lens": self.binary_lens, "confidence_level": self.confidence_level, **self.draws}
            groups = audit(y, p, features, **about)
        return ModelReport(
            test=test,
            ece=ece,
            measures={
                name: measured(y, p, each, self.settings, ece if name == primary else None)
                for name, each in affordable(asked, ece.n).items()
            },
            diagram=diagram,
            classes=self.classes(p, test) if self.n_classes > 2 else None,
            detectable=self.detectable(p) if self.rows["cluster"] is None else None,
            groups=groups,
            recalibrated=self.recalibrated(p, ece, recalibrate) if recalibrate is not False else None,
        )

    def detectable(self, p: Any) -> DetectableEffect:
        """Return what the test of the verdict would have found."""
        rows = {"sample_weight": self.rows["sample_weight"], "labels": self.labels}
        return detectable_effect(self.y, p, lens=self.lens, **rows, rng=0, n_jobs=self.n_jobs)

    def classes(self, p: Any, test: Any) -> ClassesReport:
        """Ask about each class; the test of each is at hand if it is the verdict."""
        band = "consistency" if self.n_classes <= PANELS else "confidence"
        if not isinstance(test, ClassWiseTestResult):
            test = calibration_test(self.y, p, lens=lenses.class_wise, stop_after=ENOUGH, **self.weighted)
        by_rows = self.rows["cluster"] is None  # intervals of classes take rows as independent
        diagrams = reliability(self.y, p, lens=lenses.class_wise, band=band, interval=by_rows, **self.weighted)
        return ClassesReport(test, diagrams)

    def comparisons(self, models: dict[str, Any], n: float) -> dict[str, Comparison]:
        """Compare all pairs of models as `compare` does by default, and by the Brier score."""
        asked = compared(self.questions if self.rows["cluster"] is None else affordable(self.questions, n))
        found = (compare(self.y, models, **each, **self.settings) for each in asked)
        return {name_of(each.measure): replace(each, note="") for each in found}  # the page says the note once

    def recalibrated(self, p: Any, ece: ConfidenceInterval, recalibrate: bool | Recalibrator) -> CrossFitted:
        """Recalibrate on held-out folds, and measure before and after."""
        primary, score = next(iter(self.questions.values())), self.questions[COMPARED[1]]
        recalibrator = recalibrate if isinstance(recalibrate, Recalibrator) else None
        band = None if shows_several(self.lens) else {"lens": self.lens, **self.draws}
        return cross_fitted(self.y, p, self.labels, recalibrator, ece, primary, score, self.settings, band)


def _as_rows(y: Any, p: Any, labels: Any) -> tuple[Any, Any, Any]:
    """Return outcomes, predictions and labels; those of `Predictions` as rows."""
    if not isinstance(y, Predictions) or p is not None:
        return y, p, labels
    names = np.array(y.names, dtype=object)
    return names[y.label], y.prob, list(y.names)


def _classes(models: dict[str, Any]) -> int:
    """Return the number of classes, 2 for a binary outcome."""
    shape = np.shape(next(iter(models.values())))
    return shape[1] if len(shape) == 2 and shape[1] > 1 else 2


def _data(y: Any, p: Any, labels: Any) -> Sample | Predictions:
    """Return the rows of the first model, for a sentence about them."""
    if isinstance(y, Sample):
        return y
    data = as_predictions(y, p, labels)
    return data if data.n_classes > 2 else Sample.from_rows(data.label, data.prob[:, 1])


def _features(by: Any) -> Any:
    """Return features as `audit` takes them: one array or series is one column."""
    import pandas as pd

    if by is None or isinstance(by, Mapping) or hasattr(by, "columns"):
        return by
    if hasattr(by, "to_frame"):
        return by.to_frame()
    array = np.asarray(by)
    return by if array.ndim == 2 or array.dtype == bool else pd.DataFrame({"group": array})


def _check_given(given: list[str], is_summary: bool, lens: Any) -> None:
    """Raise if arguments are given beside each other that have no meaning together."""
    if is_summary and given:
        raise ValueError(f"expected rows of outcomes and predictions with {given[0]}=, found a Sample")
    rows = [name for name in ("cluster", "sample_weight") if name in given]
    if rows and shows_several(lens):
        raise ValueError(f"expected a lens that shows one event with {rows[0]}=, such as 'top_label', found {lens}")
    if "sample_weight" in given and (others := [name for name in ("by", "recalibrate") if name in given]):
        raise ValueError(f"expected {others[0]}= without sample_weight=, found both: it takes rows without weights")


def _call(given: list[str], recalibrate: Any, lens: Any, confidence_level: float, seed: int) -> str:
    """Write the call, data by their names."""
    given = ["y_true", "y_prob", *(f"{name}={name}" for name in given if name != "recalibrate")]
    given += [f"recalibrate={recalibrate!r}"] if recalibrate is not False else []
    given += [f"lens={lens if isinstance(lens, str) else str(lens)!r}"] if lens is not None else []
    given += [f"confidence_level={confidence_level:g}"] if confidence_level != 0.95 else []
    return f"calibstat.report({', '.join(given)}, rng={seed})"
