"""The demonstration: an over-confident model, and what recalibration on other rows makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

import calibstat as cs
from calibstat.cli.findings import save_side_by_side
from calibstat.cli.printed_tables import table
from calibstat.inference.bands.reliability_diagrams import Reliability
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.size_of_error import points
from calibstat.output.wording import number, p_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

N_FIT, N_RECALIBRATE, N_JUDGE = 10_000, 10_000, 20_000
INTRODUCTION = (
    "Who is ill? Two blood tests err together, but naive Bayes takes them to be independent, so it is too sure. "
    "{fit:,} patients were used to fit it, {recalibrate:,} others to recalibrate it, and the other {rest:,} judge both."
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


def patients(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return who is ill, about half of the patients, and the results of two blood tests that err together."""
    n = N_FIT + N_RECALIBRATE + N_JUDGE
    rng = np.random.default_rng(seed)
    y = rng.binomial(1, 0.5, n)
    return y, 1.5 * y[:, None] + rng.normal(size=(n, 1)) + rng.normal(size=(n, 2))


def naive_bayes(y: np.ndarray, x: np.ndarray, fit: slice) -> np.ndarray:
    """Return predictions that take both tests to be independent; they are not, so it counts the same thing twice."""
    log_odds = np.log(y[fit].mean() / (1 - y[fit].mean()))
    for outcome, sign in ((1, 1), (0, -1)):
        of_these = x[fit][y[fit] == outcome]
        mean, variance = of_these.mean(0), of_these.var(0)
        log_odds = log_odds - sign * ((x - mean) ** 2 / variance + np.log(variance)).sum(1) / 2
    return 1 / (1 + np.exp(-log_odds))


def predictions(seed: int = 0) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the outcomes of the patients who judge, and the predictions for them before and after recalibration."""
    y, x = patients(seed)
    fit, other, rest = slice(N_FIT), slice(N_FIT, N_FIT + N_RECALIBRATE), slice(N_FIT + N_RECALIBRATE, None)
    p = naive_bayes(y, x, fit)
    platt = cs.recalibration.PlattScaling().fit(p[other], y[other])
    return y[rest], {"Naive Bayes": p[rest], "Naive Bayes, recalibrated": platt.predict_proba(p[rest])}


def judge(rng: int = 0, seed: int = 0) -> list[Model]:
    """Assess naive Bayes before and after recalibration on other rows."""
    y, models = predictions(seed)
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
    return INTRODUCTION.format(fit=N_FIT, recalibrate=N_RECALIBRATE, rest=int(models[0].diagram.n))


def say_model(model: Model) -> str:
    """Report on one model: whether it is calibrated, how large its error is, and what to do next."""
    return f"{model.name}. {' '.join(model.test.answer.split())} Next: {model.test.next_step}"


def table_of_models(models: Sequence[Model]) -> Table:
    """Make the table of models: the error with its interval, the p-value of the test, and the Brier score."""
    grid = table("Model", ">ECE in points", ">95 % interval", f">p ({models[0].test.measure})", ">Brier")
    for each in models:
        size = each.test.size
        assert size is not None
        ends = f"{points(size.low, math.floor)} to {points(size.high, math.ceil)}"
        grid.add_row(each.name, points(size.estimate), ends, p_text(each.test.pvalue), number(each.brier))
    return grid


def before_and_after(models: Sequence[Model]) -> Figure:
    """Draw the reliability diagrams of all models beside each other."""
    drawn = cs.plot({model.name: model.diagram for model in models}, title="Before and after recalibration")
    return cast("Figure", drawn.figure)


def save_pictures(models: Sequence[Model], folder: Path) -> list[Path]:
    """Write reliability diagrams, null distributions and intervals of all models to a folder; return the paths."""
    import matplotlib.pyplot as plt

    names = [model.name for model in models]
    figure, reliability = before_and_after(models), folder / "reliability.png"
    figure.savefig(reliability, dpi=100)
    plt.close(figure)
    return [
        reliability,
        save_side_by_side(folder / "null.png", [model.test for model in models], names),
        save_side_by_side(folder / "intervals.png", [{model.name: model.interval for model in models}]),
    ]
