"""The demonstration: a real model, and an over-confident version of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import calibstat as cs
from calibstat.cli.report import ENOUGH, Finding, assess, error_intervals, save_side_by_side, say_interval
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.reliability_diagrams import Reliability

N_FIT = 10_000
SHARPENING = 0.6  # log-odds are divided by this, which makes every prediction too extreme
MEASURES = ("ece", "mcb", "brier")


@dataclass(frozen=True)
class Model:
    """A model, the rows it was judged on and what was found.

    Attributes
    ----------
    name : str
        Its name.
    sample : Sample
        Held-out outcomes and its predictions.
    test : CalibrationTestResult
        The test of calibration.
    findings : dict of Finding
        One for each of `MEASURES`.
    diagram : Reliability
        Its reliability diagram.
    """

    name: str
    sample: cs.Sample
    test: CalibrationTestResult
    findings: dict[str, Finding]
    diagram: Reliability


def held_out() -> tuple[np.ndarray, np.ndarray]:
    """Fit who sees a doctor in a year to 10,000 rows; return outcomes and predictions for the other 10,190.

    The data are those of the RAND health insurance experiment, which come with statsmodels.
    """
    from statsmodels.datasets import randhie
    from statsmodels.discrete.discrete_model import Logit

    data = randhie.load_pandas().data
    seen = (data.pop("mdvis") > 0).to_numpy(float)
    columns = np.column_stack((np.ones(len(data)), data.to_numpy(float)))
    order = np.random.default_rng(0).permutation(len(data))
    fit, rest = order[:N_FIT], order[N_FIT:]
    return seen[rest], Logit(seen[fit], columns[fit]).fit(disp=False).predict(columns[rest])


def over_confident(p: np.ndarray) -> np.ndarray:
    """Divide the log-odds by `SHARPENING`."""
    return 1 / (1 + (1 / p - 1) ** (1 / SHARPENING))


def judge(rng: int = 0) -> list[Model]:
    """Assess the model and its over-confident version."""
    y, p = held_out()
    models = []
    for name, predictions in {"Logistic regression": p, "Over-confident version": over_confident(p)}.items():
        sample = cs.Sample.from_rows(y, predictions)
        test = cs.calibration_test(sample, rng=rng, n_jobs=-1)
        findings = {measure: assess(sample, measure, stop_after=ENOUGH, rng=rng) for measure in MEASURES}
        models.append(Model(name, sample, test, findings, cs.reliability(sample, rng=rng)))
    return models


def introduction(model: Model) -> str:
    """Introduce the data and the models."""
    return (
        "Who sees a doctor in a year? A logistic regression was fitted to "
        f"{N_FIT:,} rows of the RAND health insurance experiment and assessed on the other {model.sample.n:,}. The "
        f"over-confident version has the same log-odds divided by {SHARPENING}. People appear "
        "once for each year they took part, so the rows are less independent than they should be."
    )


def say_model(model: Model) -> str:
    """Report on one model: whether it is calibrated, and how large the error is."""
    ece = model.findings["ece"]
    assert ece.interval is not None
    return f"{model.name}. {model.test.answer}\n{say_interval(ece.title, ece.interval)}"


def say_difference(first: Model, second: Model) -> str:
    """Say whether the two intervals for the expected calibration error overlap."""
    a, b = first.findings["ece"].interval, second.findings["ece"].interval
    assert a is not None
    assert b is not None
    if b.low > a.high:
        return (
            "The second interval lies entirely above the first: the sharpened model is worse calibrated, beyond chance."
        )
    return "The two intervals overlap, so these rows do not show which model is better calibrated."


def save_pictures(models: Sequence[Model], folder: Path) -> list[Path]:
    """Write reliability diagrams, null distributions and intervals of all models to a folder; return the paths."""
    names = [model.name for model in models]
    intervals = {
        f"{title}\n{model.name.lower()}": interval
        for model in models
        for title, interval in error_intervals(model.findings.values()).items()
    }
    return [
        save_side_by_side(folder / "reliability.png", [model.diagram for model in models], names),
        save_side_by_side(folder / "null.png", [model.test for model in models], names),
        save_side_by_side(folder / "intervals.png", [intervals]),
    ]
