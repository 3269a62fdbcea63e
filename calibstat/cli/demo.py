"""The demonstration: a calibrated model, an over-confident one, and what recalibration makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import calibstat as cs
from calibstat.cli.findings import save_side_by_side
from calibstat.cli.printed_tables import table
from calibstat.inference.bands.reliability_diagrams import Reliability
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.output.wording import number, p_text
from calibstat.reporting.sentences import ends

if TYPE_CHECKING:
    from rich.table import Table

N_FIT, N_RECALIBRATE = 4000, 1000
INTRODUCTION = (
    "Who has an affair? Of the {all:,} married women of a survey, one row each, {fit:,} were used to fit two models, "
    "{recalibrate:,} to recalibrate one of them, and the other {rest:,} judge all three."
)


@dataclass(frozen=True)
class Model:
    """A model and what was found on the held-out rows.

    Attributes
    ----------
    name : str
        Its name.
    test : CalibrationTestResult
        The test of calibration.
    diagram : Reliability
        Its reliability diagram, with the interval of the expected calibration error.
    brier : float
        Its Brier score.
    """

    name: str
    test: CalibrationTestResult
    diagram: Reliability
    brier: float

    @property
    def interval(self) -> ConfidenceInterval:
        """The honest interval of the expected calibration error."""
        assert self.diagram.interval is not None
        return self.diagram.interval


def survey() -> tuple[np.ndarray, np.ndarray]:
    """Return who had an affair, and eight answers of each of 6,366 women; the data come with statsmodels."""
    from statsmodels.datasets import fair

    data = fair.load_pandas().data
    return (data.pop("affairs") > 0).to_numpy(float), data.to_numpy(float)


def logistic_regression(y: np.ndarray, x: np.ndarray, fit: np.ndarray) -> np.ndarray:
    """Return predictions of a logistic regression on all answers, with a curve for the years married."""
    from statsmodels.discrete.discrete_model import Logit

    years = np.log(x[:, 2:3])
    columns = np.hstack((np.ones_like(years), np.delete(x, 2, axis=1), years, years**2))
    return Logit(y[fit], columns[fit]).fit(disp=False).predict(columns)


def naive_bayes(y: np.ndarray, x: np.ndarray, fit: np.ndarray) -> np.ndarray:
    """Return predictions that take all answers to be independent; they are not, so it counts the same thing often."""
    log_odds = np.log(y[fit].mean() / (1 - y[fit].mean()))
    for column in x.T:
        value, answer = np.unique(column, return_inverse=True)
        yes, no = (np.bincount(answer[fit], weights=w, minlength=value.size) + 1 for w in (y[fit], 1 - y[fit]))
        log_odds = log_odds + (np.log(yes / yes.sum()) - np.log(no / no.sum()))[answer]
    return 1 / (1 + np.exp(-log_odds))


def predictions(split: int = 0) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the outcomes of the rows held out by a random split, and the predictions of each model for them."""
    y, x = survey()
    order = np.random.default_rng(split).permutation(y.size)
    fit, recalibrate, rest = np.split(order, (N_FIT, N_FIT + N_RECALIBRATE))
    bayes = naive_bayes(y, x, fit)
    platt = cs.recalibration.PlattScaling().fit(bayes[recalibrate], y[recalibrate])
    return y[rest], {
        "Logistic regression": logistic_regression(y, x, fit)[rest],
        "Naive Bayes": bayes[rest],
        "Naive Bayes, recalibrated": platt.predict_proba(bayes[rest]),
    }


def judge(rng: int = 0, split: int = 0) -> list[Model]:
    """Assess the logistic regression, naive Bayes, and naive Bayes after recalibration on other rows."""
    y, models = predictions(split)
    return [
        Model(
            name=name,
            test=cs.calibration_test(y, p, rng=rng, n_jobs=-1),
            diagram=cs.reliability(y, p, rng=rng),
            brier=cs.estimate(y, p, measure="brier"),
        )
        for name, p in models.items()
    ]


def introduction(models: Sequence[Model]) -> str:
    """Introduce the data and the models."""
    rest = int(models[0].diagram.n)
    sizes = {"fit": N_FIT, "recalibrate": N_RECALIBRATE, "rest": rest, "all": N_FIT + N_RECALIBRATE + rest}
    return INTRODUCTION.format(**sizes)


def say_model(model: Model) -> str:
    """Report on one model: whether it is calibrated, and within which bounds its error is."""
    interval = model.interval
    where = f"between {number(interval.low)} and" if interval.low > 0 else "at most"
    answer, remark = " ".join(model.test.answer.split()), interval.remark(number)
    sentence = f"{model.name}. {answer} The calibration error is {where} {number(interval.high)}."
    return f"{sentence} {remark}" if remark else sentence


def table_of_models(models: Sequence[Model]) -> Table:
    """Make the table of models: the error with its interval, the p-value of the test, and the Brier score."""
    grid = table("Model", ">ECE", ">95 % interval", f">p ({models[0].test.measure})", ">Brier")
    for each in models:
        numbers = number(each.interval.estimate), ends(each.interval.low, each.interval.high), p_text(each.test.pvalue)
        grid.add_row(each.name, *numbers, number(each.brier))
    return grid


def save_pictures(models: Sequence[Model], folder: Path) -> list[Path]:
    """Write reliability diagrams, null distributions and intervals of all models to a folder; return the paths."""
    names = [model.name for model in models]
    return [
        save_side_by_side(folder / "reliability.png", [model.diagram for model in models], names),
        save_side_by_side(folder / "null.png", [model.test for model in models], names),
        save_side_by_side(folder / "intervals.png", [{model.name: model.interval for model in models}]),
    ]
