"""The function `report`: everything the other functions find of one or several models on the same rows."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, wraps
from typing import Any, TypeVar, Unpack, cast

from calibstat.bounds.curves.curve_shapes import Shape, shape_of
from calibstat.data import lenses
from calibstat.data.checked_rows import AboutRows, Data, Models, models_of, named
from calibstat.data.checks import check_level, check_switch
from calibstat.data.groups import GivenGroups, Groups, given_groups
from calibstat.data.labels import check_row_names
from calibstat.data.lenses import AnyLens
from calibstat.data.numbered_labels import as_labels
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.data.words.side import Side, check_side
from calibstat.digits import settled
from calibstat.inference.auditing.audit import audit
from calibstat.inference.auditing.audit_results import Audit
from calibstat.inference.auditing.learned_groups import need_no_clusters
from calibstat.inference.bands.reliability import reliability
from calibstat.inference.bands.reliability_diagrams import Reliability
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.calibration_tests import calibration_test
from calibstat.inference.compare import compare
from calibstat.inference.comparison_results import Comparison
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.design import Design
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.designs.question_of_rows import question_of_all
from calibstat.inference.power.detectable_effect import detectable_effect
from calibstat.output.wording import describe_data, number_of
from calibstat.recalibration.recalibrator import Recalibrator
from calibstat.reporting.cross_fitted import CrossFitted, cross_fitted
from calibstat.reporting.report_fields import ClassesReport, ModelReport
from calibstat.reporting.report_measures import (
    COMPARED,
    affordable,
    beside,
    compared,
    measured,
    questions,
    shows_several,
)
from calibstat.reporting.report_results import Report
from calibstat.resampling import key_of
from calibstat.resampling.rng import Rng

ONE_MODEL = "model"  # its name, if it has none
ENOUGH_EXTREME = 20  # resamples at least as extreme, after which the test of a class stops, if it is detail
PANELS = 16  # classes that one picture shows; of more, bands are those that need no drawing
WRITTEN = {"judge": "calibstat.Judge(answers)"}  # words about rows that are more than a name in the call
F = TypeVar("F", bound=Callable[..., Report])


def notes_warnings(ask: F) -> F:
    """Let a function put its warnings into the notes of its report, before the others."""

    @wraps(ask)
    def asked(*rows: Any, **arguments: Any) -> Report:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = ask(*rows, **arguments)
        warned = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
        return replace(found, notes=tuple(dict.fromkeys([*warned, *found.notes])))

    return cast("F", asked)


@notes_warnings
@question_of_all("sample_weight", "cluster", "folds", "judge")
def report(
    rows: Any,
    /,
    *,
    by: GivenGroups | None = None,
    lens: AnyLens = None,
    recalibrate: bool | Recalibrator = False,
    shape: str | Shape | None = None,
    side: Side | None = None,
    confidence_level: float = 0.95,
    rng: Rng = 0,
    n_jobs: int = 1,
    title: str | None = None,
    **about: Unpack[AboutRows],
) -> Report:
    """Report on the calibration of one or several models on the same rows: a page to send.

    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2).sample(400, rng=1)
    >>> result = cs.report(y, p, title="A model that is too sure")
    >>> result.models["model"].test.answer == cs.calibration_test(y, p, rng=0).answer
    True

    Parameters
    ----------
    y_true, y_prob, lens, **about
        As for `calibration_test`; of several models `y_prob` is a mapping, or a data frame with a column for each. Rows
        may have weights, clusters, folds or a judge.
    by : data frame, mapping, array_like or Groups, optional
        Groups of the rows, as the `groups` of `audit`: features, or masks; one column may be an array or a series.
    recalibrate : bool or Recalibrator
        Whether to recalibrate each model on held-out folds and compare before and after: by Platt scaling of two
        classes, temperature scaling of more, or by the given map.
    shape : {"nondecreasing"}, Variation or Slope, optional
        What is said of the calibration curve: then the error itself, `l1`, stands with its honest interval beside the
        error over bins. Of one event.
    side : {"over", "under"}, optional
        As for `calibration_test`, of the verdict and of groups; intervals have both sides, and single classes no tests.
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
        If the data are not as described (the first offending row is named), or these rows do not take an argument.

    Notes
    -----
    The verdict comes from one test, `calibration_test`, and one interval, `confidence_interval`: of the expected
    calibration error (through a lens that shows several classes, of the canonical calibration error; class-wise, of the
    mean over the classes). All other numbers are detail, and have no p-values of their own: measures of the same
    residuals agree too much to be counted as several findings. Models are compared by `compare` with its default
    measure (through a lens that shows several classes, by the error of the verdict), and by the Brier score; groups are
    by `audit`, and what could have been found by `detectable_effect`. The page "Designs" says which sections a report
    on other rows has, and the page "Reports" how maps are judged on held-out folds.

    The result holds no rows. Cost: its parts; most of it is the smooth calibration error, and the drawing.
    """
    check_level("confidence_level", confidence_level)
    recalibrate = _as_recalibrate(recalibrate)
    seed = rng if isinstance(rng, int) and not isinstance(rng, bool) else int(key_of(rng))
    models = rows if isinstance(rows, Models) else models_of({ONE_MODEL: rows})
    asked = _Asked(models, by, recalibrate, shape, check_side(side), confidence_level, seed, n_jobs)
    asked.check()
    of_models, comparisons = asked.of_models(), asked.comparisons()
    return Report(
        title=f"Calibration of {', '.join(of_models)}" if title is None else str(title),
        models=of_models,
        comparisons={name: replace(each, note="") for name, each in comparisons.items()},  # said once, in the notes
        data=asked.described,
        n=asked.design.n,
        n_classes=asked.n_classes,
        confidence_level=confidence_level,
        seed=seed,
        version=sys.modules["calibstat"].__version__,  # the file of public names is above this one
        command=asked.command,
        notes=tuple(dict.fromkeys(asked.notes(of_models, comparisons))),
        date=date.today().isoformat(),
        source="",
    )


@dataclass(frozen=True)
class _Asked:
    """The questions of a report, with the rows they are about."""

    rows: Models  # lens, clusters, folds and weights are the same for all models
    by: GivenGroups | None
    recalibrate: bool | Recalibrator
    shape: str | Shape | None
    side: Side | None
    confidence_level: float
    seed: int
    n_jobs: int

    @cached_property
    def design(self) -> Design:
        """The design of the rows."""
        return design_of(self.rows.first)

    @cached_property
    def labelled(self) -> Models:
        """The rows with an outcome; with a judge few, else all."""
        return self.design.with_outcomes(self.rows)

    @cached_property
    def alone(self) -> Design:
        """The design of the rows with an outcome."""
        return design_of(self.labelled.first)

    @property
    def lens(self) -> Any:
        """The lens; if None, each function has its own default."""
        return self.rows.lens

    @property
    def n_classes(self) -> int:
        """Number of classes, 2 of a binary outcome."""
        return self.rows.rows.n_classes

    @cached_property
    def all_rows(self) -> Sample | Predictions:
        """All rows with an outcome, with all classes, without weights, for a sentence about them."""
        given = self.labelled.rows
        if isinstance(given.y_true, Sample):
            return given.y_true
        return given.predictions if self.n_classes > 2 else given.all_binary_rows

    @property
    def draws(self) -> dict[str, Any]:
        """The arguments that all functions with draws take."""
        return {"rng": self.seed, "n_jobs": self.n_jobs}

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of all intervals and comparisons."""
        return {**self.draws, "confidence_level": self.confidence_level}

    @cached_property
    def questions(self) -> dict[str, dict[str, Any]]:
        """The arguments of each measure, the primary one first."""
        jointly = "sample_weight" not in self.rows.words
        return questions(self.n_classes, self.lens, self.design.sections.errors, jointly=jointly)

    @property
    def primary(self) -> str:
        """The measure of the verdict."""
        return next(iter(self.questions))

    @property
    def measures(self) -> dict[str, dict[str, Any]]:
        """The arguments of each measure that so many rows allow, and of the error without bins for a stated shape."""
        without_bins = {"l1": {"measure": "l1", "shape": self.shape, "lens": self.lens}}
        return affordable(self.questions, self.all_rows.n) | (without_bins if self.shape is not None else {})

    @property
    def given(self) -> dict[str, object]:
        """The arguments that ask for more, of those that are given."""
        asked = {"by": self.by, "recalibrate": self.recalibrate or None, "shape": self.shape, "side": self.side}
        return {name: each for name, each in asked.items() if each is not None}

    def check(self) -> None:
        """Raise if these rows do not take what is asked."""
        several = {"lens": str(self.lens)} if shows_several(self.lens) else {}
        self.design.need_report(self.given | several)
        if self.shape is not None:
            shape_of(self.shape)
        if several and self.shape is not None:
            raise ValueError(f"expected a lens that shows one event with shape=, found {self.lens}")
        if isinstance(self.rows.rows.y_true, Sample) and self.given:
            raise ValueError(
                f"expected rows of outcomes and predictions with {next(iter(self.given))}=, found a Sample"
            )
        if self.by is not None:
            asked = given_groups(self.by)
            check_row_names(self.rows.rows.y_true, asked.given, ("y_true", "by"))
            if asked.learner is not None:
                need_no_clusters(self.design)

    def of_models(self) -> dict[str, ModelReport]:
        """Ask everything about each model; an error names one of several."""
        both = {name: (rows, self.labelled[name]) for name, rows in self.rows.items()}
        return named(self.model, both) if len(both) > 1 else {name: self.model(each) for name, each in both.items()}

    def model(self, both: tuple[Data, Data]) -> ModelReport:
        """Ask everything about one model, of all rows and of those with an outcome."""
        _, rows = both
        both_sides = self.side is None
        test, ece = calibration_test(rows, side=self.side, **self.draws), self.interval(both)
        several = self.n_classes > 2 and both_sides
        has_diagram = self.alone.sections.has_diagram and not shows_several(self.lens)
        has_effect = self.alone.sections.has_detectable_effect and both_sides
        return ModelReport(
            test=test,
            ece=ece,
            measures={
                name: measured(both[self.is_alone(name)], each, self.settings, ece if name == self.primary else None)
                for name, each in self.measures.items()
            },
            diagram=self.diagram(rows, ece) if has_diagram else None,
            classes=self.classes(rows.through(lenses.class_wise), test) if several else None,
            detectable=detectable_effect(rows, rng=0, n_jobs=self.n_jobs) if has_effect else None,
            groups=self.groups(rows) if self.by is not None else None,
            recalibrated=self.recalibrated(rows, ece) if self.recalibrate is not False else None,
        )

    def is_alone(self, name: str) -> bool:
        """Whether a measure has its interval from rows with an outcome alone."""
        return name not in self.design.sections.with_judge

    def interval(self, both: tuple[Data, Data]) -> ConfidenceInterval:
        """Return the interval of the verdict."""
        asked = self.questions[self.primary]
        rows = both[self.is_alone(self.primary)]
        return confidence_interval(rows.through(asked["lens"]), **beside(asked), **self.settings)

    def diagram(self, rows: Data, ece: ConfidenceInterval) -> Reliability:
        """Return the reliability diagram, whose picture states the primary interval if it is of the same bins."""
        diagram = reliability(rows, interval=False, **self.draws)
        if diagram.strategy == "uniform" or not self.is_alone(self.primary):
            return replace(diagram, interval=ece)
        return reliability(rows, **self.settings)  # bins of nearly equal numbers of rows, of rare events

    def groups(self, rows: Data) -> Audit:
        """Audit the groups."""
        lens = None if shows_several(self.lens) else self.lens  # without one the audit takes its own
        alone = rows.through(lens)
        return audit(
            alone if self.alone.sections.audits_as_given else alone.as_independent(),
            groups=_features(self.by),
            side=self.side,
            **self.settings,
        )

    def classes(self, rows: Data, test: CalibrationTestResult) -> ClassesReport:
        """Ask about each class; the test of each is at hand if it is the verdict."""
        band = "consistency" if self.n_classes <= PANELS else "confidence"
        rows = rows.as_independent()
        if test.classes is None:
            test = calibration_test(rows, stop_after=ENOUGH_EXTREME, **self.draws)
        return ClassesReport(test, reliability(rows, band=band, interval=self.alone.unit is None, **self.draws))

    def comparisons(self) -> dict[str, Comparison]:
        """Compare all pairs of models as `compare` does by default, and by the Brier score."""
        if len(self.rows) < 2:
            return {}
        sections = self.alone.sections
        asked = self.questions if sections.compares_costly else affordable(self.questions, self.all_rows.n)
        *errors, score = compared(asked, sections.compares_errors)
        of_errors = (compare(self.labelled.through(each["lens"]), **beside(each), **self.settings) for each in errors)
        rows = self.rows
        of_score = compare(rows.through(score["lens"]), **beside(score), **self.settings)
        return {each.measure.name: each for each in (*of_errors, of_score)}

    def recalibrated(self, rows: Data, ece: ConfidenceInterval) -> CrossFitted:
        """Recalibrate on held-out folds, and measure before and after."""
        primary, score = self.questions[self.primary], self.questions[COMPARED[1]]
        recalibrator = self.recalibrate if isinstance(self.recalibrate, Recalibrator) else None
        band = None if shows_several(self.lens) else self.draws
        return cross_fitted(rows, recalibrator, ece, primary, score, self.settings, band)

    @cached_property
    def described(self) -> str:
        """The rows in one sentence."""
        models = len(self.rows)
        counted = f"{number_of('row', self.all_rows.n)}, {models} models."
        return self.design.introduced(describe_data(self.all_rows) if models == 1 else counted)

    @property
    def command(self) -> str:
        """The call, data by their names."""
        words = ["by"] if self.by is not None else []
        words += sorted({*self.rows.words} - {"lens"})  # which is written as it is, below
        given = ["y_true", "y_prob", *(f"{word}={WRITTEN.get(word, word)}" for word in words)]
        given += [f"{name}={each!r}" for name, each in self.given.items() if name != "by"]
        given += (
            [f"lens={self.lens if isinstance(self.lens, str) else str(self.lens)!r}"] if self.lens is not None else []
        )
        given += [f"confidence_level={self.confidence_level:g}"] if self.confidence_level != 0.95 else []
        return f"calibstat.report({', '.join(given)}, rng={self.seed})"

    def notes(self, of_models: Mapping[str, ModelReport], comparisons: Mapping[str, Comparison]) -> Iterator[str]:
        """Return what is left out, what takes rows as independent, and what is to be noted of rows and results."""
        costly = [name for name in self.questions if name not in affordable(self.questions, self.all_rows.n)]
        if costly:
            yield f"Left out, because they are costly on {settled(self.all_rows.n):,.0f} rows: {', '.join(costly)}."
        if by_rows := self.alone.sections.by_rows:
            yield from [f"The tests of single classes {by_rows}"] if self.n_classes > 2 else []
            of_groups = self.by is not None and not self.alone.sections.audits_as_given
            yield from [f"The tests and intervals of groups {by_rows}"] if of_groups else []
        for name, each in of_models.items():
            of_weights = each.test.effective_n is not None  # which all models share
            prefix = f"{name}: " if len(of_models) > 1 and not of_weights else ""
            yield from (f"{prefix}{line}" for line in self.beside_description(each.test.note))
        for comparison in comparisons.values():
            yield from self.beside_description(comparison.note)
        yield from self.design.notes_of_report([each.ece for each in of_models.values()])

    def beside_description(self, note: str) -> list[str]:
        """Return the lines of a note that the sentence about the rows does not say."""
        return [line for line in note.splitlines() if line not in self.described]


def _features(by: object) -> Groups:
    """Return features as `audit` takes them: one array or series is one column."""
    asked = given_groups(by)
    return replace(asked, given=_columns(asked.given))


def _columns(given: object) -> object:
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        return given
    import pandas as pd

    if hasattr(given, "to_frame"):
        return given.to_frame()
    array = as_labels("group", given)
    return pd.DataFrame({"group": array}) if array.ndim == 1 and array.dtype != bool else given


def _as_recalibrate(given: object) -> bool | Recalibrator:
    """Return whether to recalibrate, or by which map; raise for anything else."""
    if isinstance(given, Recalibrator):
        return given
    try:
        return check_switch("recalibrate", given)
    except ValueError as error:
        raise ValueError(f"{error}; a map is given as a recalibrator, such as PlattScaling()") from None
