"""The function `report`: everything the other functions find of one or several models on the same rows."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Never, cast

import numpy as np
from numpy.typing import ArrayLike

from calibstat.bounds.curves.curve_shapes import Shape, shape_of
from calibstat.data import lenses
from calibstat.data.checked_rows import Data, Models, Outcomes, as_data
from calibstat.data.checks import check_level, check_switch, short
from calibstat.data.clusters import clusters_in_words
from calibstat.data.folds_of_rows import folds_in_words
from calibstat.data.groups import GivenGroups
from calibstat.data.labels import check_row_names
from calibstat.data.lenses import AnyLens
from calibstat.data.models import Predicted, named_models
from calibstat.data.numbered_labels import as_labels
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.digits import settled
from calibstat.inference.auditing.audit import audit
from calibstat.inference.bands.reliability import reliability
from calibstat.inference.calibration_tests import calibration_test
from calibstat.inference.compare import compare
from calibstat.inference.comparison_results import Comparison
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.power.detectable_effect import detectable_effect
from calibstat.output.wording import describe_data, number_of
from calibstat.recalibration.recalibrator import Recalibrator
from calibstat.reporting.cross_fitted import CrossFitted, cross_fitted
from calibstat.reporting.judged_report import judged_report
from calibstat.reporting.report_fields import ClassesReport, ModelReport
from calibstat.reporting.report_measures import (
    COMPARED,
    affordable,
    beside,
    compared,
    measured,
    questions,
    questions_with_folds,
    shows_several,
)
from calibstat.reporting.report_results import Report
from calibstat.resampling import key_of
from calibstat.resampling.rng import Rng

ONE_MODEL = "model"  # its name, if it has none
ENOUGH = 20  # resamples at least as extreme, after which the test of a class stops, if it is detail
PANELS = 16  # classes that one picture shows; of more, bands are those that need no drawing
BY_ROWS = (
    "take rows as independent, whatever their clusters: with positive dependence within clusters p-values are too "
    "small and intervals too short."
)


def report(
    y_true: Outcomes,
    y_prob: Predicted = None,
    *,
    by: GivenGroups | None = None,
    cluster: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    recalibrate: bool | Recalibrator = False,
    shape: str | Shape | None = None,
    proxy: ArrayLike | None = None,
    lens: AnyLens = None,
    labels: ArrayLike | None = None,
    confidence_level: float = 0.95,
    rng: Rng = 0,
    n_jobs: int = 1,
    title: str | None = None,
    pos_label: object = None,
    **unknown: Never,
) -> Report:
    """Report on the calibration of one or several models on the same rows: a page to send.

    Parameters
    ----------
    y_true, lens, labels, pos_label
        As for `calibration_test`.
    y_prob : array_like, shape (n,) or (n, K), mapping from name to array_like, or data frame
        Predicted probabilities; or of several models for the same rows, as a mapping or as a data frame with a
        column for each.
    by : data frame, mapping or array_like, optional
        Features of the rows, or groups of them, for `audit`; one column may be an array or a series.
    cluster : array_like, shape (n,), optional
        The cluster of each row (a patient, a day), for the test, intervals, comparisons and folds; not with a lens that
        shows several classes. Single classes and groups take rows as independent all the same; the page says so.
    folds : array_like, shape (n,) or (n, R), optional
        The fold of each row, where `y_prob` are predictions out of the folds of cross-validation, as for
        `confidence_interval`: for the test, intervals and comparisons; not with `by` and `recalibrate`.
    sample_weight : array_like, shape (n,), optional
        Weights of the rows, as for `calibration_test`; not with `by`, `recalibrate`, or a lens that shows several
        classes. Of more than two classes scores are then of the most likely one.
    recalibrate : bool or Recalibrator
        Whether to recalibrate each model on held-out folds and compare before and after: by Platt scaling of two
        classes, temperature scaling of more, or by the given map.
    shape : {"nondecreasing"}, Variation or Slope, optional
        What is said of the calibration curve: then the error itself, `l1`, stands with its honest interval beside the
        error over bins; not with `cluster`, `folds`, `sample_weight`, or a lens that shows several classes.
    proxy : array_like, shape (n,), optional
        The answers of a judge for all rows, from 0 to 1, where few rows have an outcome, as for `confidence_interval`;
        without other arguments about rows. The intervals of `ece`, `kernel_ce` and `brier`, and the comparison by
        `brier`, then use them; the rest is about the labelled rows alone.
    confidence_level : float
        Between 0 and 1; of every interval by itself.
    rng : None, int, SeedSequence or Generator
        Seed or generator. With an int every part is what its function returns with the same `rng`.
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
        `Sample`, or `cluster` or `sample_weight` is given with an argument that does not support it.

    Notes
    -----
    The verdict comes from one test, ``calibration_test(y_true, y_prob)``, and one interval,
    ``confidence_interval(y_true, y_prob)``, both with the clusters if there are any: of the expected calibration error
    (through a lens that shows several classes, of the canonical calibration error; class-wise, of the mean over the
    classes). All other numbers are detail, and have no p-values of their own: measures of the same residuals agree too
    much to be counted as several findings. Comparisons of models are by `compare`, with the kernel calibration
    error, its default (through a lens that shows several classes, by the error of the verdict), and by the Brier score,
    groups are by `audit`, what could have been found by `detectable_effect`.

    With `folds` the primary interval is of the kernel calibration error, and comparisons are by the Brier score. There
    is neither a reliability diagram nor what could have been found: both take all predictions as of one model.

    Recalibration: each of five folds is predicted by a map fitted on the other four. Folds are dealt at random by `rng`
    and the position of the rows, and never by outcomes or predictions; so these numbers alone depend on the order of
    the rows. Of a binary outcome they are dealt three times, and the intervals are as of `confidence_interval` and
    `compare` with `folds`: of the error after recalibration by the mirror for Platt, isotonic and histogram maps and by
    the triangle for other maps. All rows of a cluster go to one fold. Of several classes, and of fewer than ten
    clusters, folds are dealt once, and intervals are approximate, as if rows were fresh. Measures that would take
    minutes on so many rows are left out and named; without the kernel calibration error models are compared by the
    error of the verdict.

    The result holds no rows. Cost: its parts; most of it is the smooth calibration error, and the drawing.

    Examples
    --------
    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2).sample(400, rng=1)
    >>> result = cs.report(y, p, title="A model that is too sure")
    >>> result.models["model"].test.answer == cs.calibration_test(y, p, rng=0).answer
    True
    >>> result.to_dict()["models.model.ece.low"] == cs.confidence_interval(y, p, rng=0).low
    True
    """
    check_level("confidence_level", confidence_level)
    recalibrate = _as_recalibrate(recalibrate)
    if shape is not None:
        shape_of(shape)
    seed = rng if isinstance(rng, int) and not isinstance(rng, bool) else int(key_of(rng))
    if proxy is not None:
        beside_rows = {"by": by, "cluster": cluster, "folds": folds, "sample_weight": sample_weight, "shape": shape}
        given_models = named_models(y_prob)
        named_rows = {"labels": labels, "pos_label": pos_label}
        settings: dict[str, Any] = {"confidence_level": confidence_level, "rng": seed, "n_jobs": n_jobs}
        of_one: dict[str, Any] = {ONE_MODEL: y_prob} if given_models is None else given_models
        rows_given = cast("ArrayLike", y_true)  # of any other kind there is an error
        return judged_report(report, rows_given, of_one, proxy, named_rows, settings, title)
    if isinstance(y_true, Predictions) and y_prob is None:
        names = np.array(y_true.names, dtype=object)
        labels, y_prob, y_true = list(y_true.names), y_true.prob, names[y_true.label]
    asked_of: dict[str, Any] = {"by": by, "cluster": cluster, "folds": folds, "sample_weight": sample_weight}
    asked_of |= {"recalibrate": recalibrate or None, "shape": shape}
    _check_given(asked_of, y_true, lens)
    rows: dict[str, Any] = {
        "lens": lens,
        "cluster": cluster,
        "folds": folds,
        "sample_weight": sample_weight,
        "labels": labels,
        "pos_label": pos_label,
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = as_data(report, y_true, y_prob, unknown, **rows)
    first = data.first if isinstance(data, Models) else data
    held = {"cluster": data.unit, "folds": data.fold, "sample_weight": first.rows.sample_weight}
    given = [name for name, each in (asked_of | held).items() if each is not None]
    _check_given(asked_of | held, first.rows.y_true, data.lens)
    check_row_names(first.rows.y_true, by, ("y_true", "by"))
    models = data if isinstance(data, Models) else {ONE_MODEL: data}
    asked = _Asked(first, confidence_level, seed, n_jobs, shape)
    features = _features(by)
    with warnings.catch_warnings(record=True) as more:
        warnings.simplefilter("always")
        of_models = {}
        for name, p in models.items():
            try:
                of_models[name] = asked.model(p, features, recalibrate)
            except ValueError as error:
                raise ValueError(f"{error} (of {short(name)})" if len(models) > 1 else str(error)) from error
        all_rows = _all_rows(first)
        comparisons = asked.comparisons(models, all_rows.n) if isinstance(models, Models) and len(models) > 1 else {}
    notes = [str(each.message) for each in [*caught, *more] if issubclass(each.category, UserWarning)]
    if left := [name for name in asked.questions if name not in affordable(asked.questions, all_rows.n)]:
        notes.append(f"Left out, because they are costly on {settled(all_rows.n):,.0f} rows: {', '.join(left)}.")
    if data.unit is not None:
        detail = {
            "The tests of single classes": asked.n_classes > 2,
            "The tests and intervals of groups": by is not None,
        }
        notes += [f"{what} {BY_ROWS}" for what, there in detail.items() if there]
    described = (
        describe_data(all_rows) if len(models) == 1 else f"{number_of('row', all_rows.n)}, {len(models)} models."
    )
    if data.unit is not None:
        described += f" Rows are in {clusters_in_words(data.unit, first.rows.weight(first.n)[0])}."
    if data.fold is not None:
        described += f" They were predicted out of {folds_in_words(data.fold, len(first.repeats))}."
    for name, each in of_models.items():
        of_weights = each.test.effective_n is not None  # which all models share
        prefix = f"{name}: " if len(models) > 1 and not of_weights else ""
        notes += [f"{prefix}{line}" for line in each.test.note.splitlines() if line not in described]
    notes += [line for each in comparisons.values() for line in each.note.splitlines() if line not in described]
    return Report(
        title=f"Calibration of {', '.join(of_models)}" if title is None else str(title),
        models=of_models,
        comparisons={name: replace(each, note="") for name, each in comparisons.items()},  # said once, in the notes
        data=described,
        n=int(all_rows.n),
        n_classes=asked.n_classes,
        confidence_level=confidence_level,
        seed=seed,
        version=sys.modules["calibstat"].__version__,  # the file of public names is above this one
        command=_call(given, recalibrate, shape, data.lens, confidence_level, seed),
        notes=tuple(dict.fromkeys(notes)),
        date=date.today().isoformat(),
        source="",
    )


@dataclass(frozen=True)
class _Asked:
    """The questions of a report, with the rows they are about."""

    data: Data  # of the first model; lens, clusters and weights are the same for all models
    confidence_level: float
    seed: int
    n_jobs: int
    shape: str | Shape | None

    @property
    def lens(self) -> Any:
        """The lens; if None, each function has its own default."""
        return self.data.lens

    @property
    def n_classes(self) -> int:
        """Number of classes, 2 of a binary outcome."""
        return self.data.rows.n_classes

    @property
    def draws(self) -> dict[str, Any]:
        """The arguments that all functions with draws take."""
        return {"rng": self.seed, "n_jobs": self.n_jobs}

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of all intervals and comparisons."""
        return {**self.draws, "confidence_level": self.confidence_level}

    @property
    def questions(self) -> dict[str, dict[str, Any]]:
        """The arguments of each measure, the primary one first."""
        if self.data.fold is not None:
            return questions_with_folds()
        return questions(self.n_classes, self.lens, jointly=self.data.rows.sample_weight is None)

    @property
    def without_bins(self) -> dict[str, dict[str, Any]]:
        """The arguments of the error without bins, if a shape of the curve is stated."""
        return {} if self.shape is None else {"l1": {"measure": "l1", "shape": self.shape, "lens": self.lens}}

    @property
    def binary_lens(self) -> Any:
        """The lens, if it shows one event; else the default one. Without a lens each function takes its own."""
        return None if shows_several(self.lens) else self.lens

    def model(self, data: Data, features: GivenGroups | None, recalibrate: bool | Recalibrator) -> ModelReport:
        """Ask everything about one model."""
        asked = self.questions
        one_model = data.fold is None
        test = calibration_test(data, **self.draws)
        primary = next(iter(asked))
        ece = confidence_interval(data.through(asked[primary]["lens"]), **beside(asked[primary]), **self.settings)
        diagram = None
        if one_model and not shows_several(self.lens):
            diagram = reliability(data, interval=False, **self.draws)
            if diagram.strategy == "uniform":  # the bins of the primary interval, which the picture states
                diagram = replace(diagram, interval=ece)
            else:  # bins of nearly equal numbers of rows, of rare events
                diagram = reliability(data, confidence_level=self.confidence_level, **self.draws)
        groups = None
        if features is not None:
            about = {"confidence_level": self.confidence_level, **self.draws}
            groups = audit(data.through(self.binary_lens).without_clusters(), groups=features, **about)
        return ModelReport(
            test=test,
            ece=ece,
            measures={
                name: measured(data, each, self.settings, ece if name == primary else None)
                for name, each in (affordable(asked, ece.n) | self.without_bins).items()
            },
            diagram=diagram,
            classes=self.classes(data.through(lenses.class_wise), test) if self.n_classes > 2 else None,
            detectable=detectable_effect(data, rng=0, n_jobs=self.n_jobs) if data.unit is None and one_model else None,
            groups=groups,
            recalibrated=self.recalibrated(data, ece, recalibrate) if recalibrate is not False else None,
        )

    def classes(self, data: Data, test: Any) -> ClassesReport:
        """Ask about each class; the test of each is at hand if it is the verdict."""
        band = "consistency" if self.n_classes <= PANELS else "confidence"
        by_rows, data = data.unit is None, data.without_clusters()  # intervals of classes take rows as independent
        if test.classes is None:
            test = calibration_test(data, stop_after=ENOUGH, **self.draws)
        return ClassesReport(test, reliability(data, band=band, interval=by_rows, **self.draws))

    def comparisons(self, models: Models, n: float) -> dict[str, Comparison]:
        """Compare all pairs of models as `compare` does by default, and by the Brier score."""
        if models.fold is not None:
            asked = [self.questions[COMPARED[1]]]
        else:
            asked = compared(self.questions if models.unit is None else affordable(self.questions, n))
        comparisons = (compare(models.through(each["lens"]), **beside(each), **self.settings) for each in asked)
        return {each.measure.name: each for each in comparisons}

    def recalibrated(self, data: Data, ece: ConfidenceInterval, recalibrate: bool | Recalibrator) -> CrossFitted:
        """Recalibrate on held-out folds, and measure before and after."""
        primary, score = next(iter(self.questions.values())), self.questions[COMPARED[1]]
        recalibrator = recalibrate if isinstance(recalibrate, Recalibrator) else None
        band = None if shows_several(self.lens) else self.draws
        return cross_fitted(data, recalibrator, ece, primary, score, self.settings, band)


def _all_rows(data: Data) -> Sample | Predictions:
    """Return all rows with all classes, without weights, for a sentence about them."""
    if isinstance(data.rows.y_true, Sample):
        return data.rows.y_true
    if data.rows.n_classes > 2:
        return data.predictions
    return data.rows.all_binary_rows


def _features(by: GivenGroups | None) -> Any:
    """Return features as `audit` takes them: one array or series is one column."""
    if by is None or isinstance(by, Mapping) or hasattr(by, "columns"):
        return by
    import pandas as pd

    if hasattr(by, "to_frame"):
        return by.to_frame()
    array = as_labels("group", by)
    return by if array.ndim == 2 or array.dtype == bool else pd.DataFrame({"group": array})


def _as_recalibrate(given: object) -> bool | Recalibrator:
    """Return whether to recalibrate, or by which map; raise for anything else."""
    if isinstance(given, Recalibrator):
        return given
    try:
        return check_switch("recalibrate", given)
    except ValueError as error:
        raise ValueError(f"{error}; a map is given as a recalibrator, such as PlattScaling()") from None


def _check_given(asked: Mapping[str, Any], y_true: Outcomes, lens: AnyLens) -> None:
    """Raise if arguments are given beside each other that have no meaning together."""
    given = [name for name, each in asked.items() if each is not None]
    if isinstance(y_true, Sample) and given:
        raise ValueError(f"expected rows of outcomes and predictions with {given[0]}=, found a Sample")
    rows = [name for name in ("cluster", "folds", "sample_weight") if name in given]
    if rows and shows_several(lens):
        raise ValueError(f"expected a lens that shows one event with {rows[0]}=, such as 'top_label', found {lens}")
    if "shape" in given and (rows or shows_several(lens)):
        what = rows[0] if rows else f"lens {lens}"
        raise ValueError(f"expected independent rows of equal weight and one event with shape=, found {what}")
    others = [name for name in ("by", "recalibrate") if name in given]
    if "sample_weight" in given and others:
        raise ValueError(f"expected {others[0]}= without sample_weight=, found both: it takes rows without weights")
    if "folds" in given and others:
        raise ValueError(f"expected {others[0]}= without folds=, found both: it takes predictions of one model")


def _call(
    given: list[str], recalibrate: object, shape: object, lens: AnyLens, confidence_level: float, seed: int
) -> str:
    """Write the call, data by their names."""
    given = ["y_true", "y_prob", *(f"{name}={name}" for name in given if name not in ("recalibrate", "shape"))]
    given += [f"recalibrate={recalibrate!r}"] if recalibrate is not False else []
    given += [f"shape={shape!r}"] if shape is not None else []
    given += [f"lens={lens if isinstance(lens, str) else str(lens)!r}"] if lens is not None else []
    given += [f"confidence_level={confidence_level:g}"] if confidence_level != 0.95 else []
    return f"calibstat.report({', '.join(given)}, rng={seed})"
