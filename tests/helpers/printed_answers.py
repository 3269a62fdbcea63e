"""What is printed about a model that is calibrated, about one that is wrong, about few rows, and about ties.

The models are a logistic regression and naive Bayes of breast tumours, fitted to every other row of the data. Their
predictions are stored, because another processor would fit others in the last digits. Of tied rows groups, classes and
calibration maps are equal on paper, and residuals add up to 0: only rounding tells them apart.
``python tests/helpers/printed_answers.py`` writes the files of `tests/promises/printed` anew: read them aloud before
they are committed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import calibstat as cs

FOLDER = Path(__file__).resolve().parent.parent / "promises" / "printed"
ROWS = FOLDER / "rows.csv"  # made by `fitted_rows`
FEW = 24
TIED = 120


@cache
def models() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes, the predictions of the logistic regression and of naive Bayes, and the mean radius of the tumours."""
    outcome, first, second, radius = np.loadtxt(ROWS, delimiter=",", skiprows=1).T
    return outcome.astype(int), first, second, radius


def cases() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Outcomes, predictions, another model's predictions and a feature, by what is to be said of them."""
    y, logistic, bayes, radius = models()
    calibrated = (np.random.default_rng(3).random(y.size) < logistic).astype(int)
    few = slice(0, FEW)
    return {
        "calibrated": (calibrated, logistic, bayes, radius),
        "off": (y, bayes, logistic, radius),
        "few rows": (y[few], logistic[few], bayes[few], radius[few]),
    }


def ties() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """The same where only rounding tells groups, maps or models apart; predictions have two digits."""
    y, p, other, _ = (each[:TIED] for each in cases()["off"])
    p, other = p.round(2).clip(0.05, 0.95), other.round(2).clip(0.05, 0.95)
    halves = np.repeat([10.0, 20.0], TIED)  # small, and large
    two = np.repeat([0.3, 0.7], 100)
    events = np.tile(np.arange(10), 20) < np.repeat([3, 7], 100)  # as many as predicted: residuals add up to 0
    return {
        "each row twice": (np.tile(y, 2), np.tile(p, 2), np.tile(other, 2), halves),
        "mirrored": (np.r_[y, 1 - y], np.r_[p, 1 - p], np.r_[other, 1 - other], halves),
        "as many as predicted": (events.astype(int), two, two[::-1], np.tile([10.0, 20.0], 100)),
    }


def _monitor(y: np.ndarray, p: np.ndarray) -> Any:
    monitor = cs.Monitor()
    for period, rows in enumerate(np.array_split(np.arange(y.size), 4), 1):
        monitor.update(y[rows], p[rows], period=period)
    return monitor


Ask = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], Any]
FUNCTIONS: dict[str, Ask] = {
    "calibration_test": lambda y, p, other, x: cs.calibration_test(y, p, rng=1),
    "confidence_interval": lambda y, p, other, x: cs.confidence_interval(y, p, rng=1),
    "equivalence_test": lambda y, p, other, x: cs.equivalence_test(y, p, margin=0.1),
    "compare": lambda y, p, other, x: cs.compare(y, {"A": p, "B": other}, rng=1),
    "audit": lambda y, p, other, x: cs.audit(y, p, {"small": x < 14, "large": x >= 14}, rng=1),
    "reliability": lambda y, p, other, x: cs.reliability(y, p, rng=1),
    "validate": lambda y, p, other, x: cs.validate(y, p),
    "decision_loss": lambda y, p, other, x: cs.decision_loss(y, p, gain=900, cost=100, rng=1),
    "detectable_effect": lambda y, p, other, x: cs.detectable_effect(y, p, rng=1),
    "summarize": lambda y, p, other, x: cs.summarize(y, {"A": p, "B": other}, rng=1),
    "choose": lambda y, p, other, x: cs.choose(y, {"A": p, "B": other}, subject_to="kernel_ce.high <= 0.1"),
    "Monitor": lambda y, p, other, x: _monitor(y, p),
}
TIES: dict[str, Ask] = {
    name: FUNCTIONS[name] for name in ("calibration_test", "confidence_interval", "compare", "audit")
} | {
    "audit with slopes": lambda y, p, other, x: cs.audit(
        y, p, {"large": x >= 14, "small": x < 14, "low": p < 0.4, "high": p >= 0.4}, shape=True, rng=1
    ),
    "equivalence of errors": lambda y, p, other, x: cs.equivalence_test(y, p, measure="ece", margin=0.05, rng=1),
    "choose": FUNCTIONS["choose"],
    "recalibration": lambda y, p, other, x: cs.recalibration.choose(y, p, repeats=2, rng=1),
    "validate": FUNCTIONS["validate"],
    "Monitor": FUNCTIONS["Monitor"],
}
COMMANDS = {
    "test": ("test",),
    "interval": ("interval", "--measure", "ece"),
    "equivalence": ("equivalence", "--margin", "0.1"),
    "audit": ("audit", "--by", "size", "--min-rows", "5"),
}


def printed(function: str, case: str) -> str:
    """What is printed of a case, or the error."""
    try:
        ask, rows = (TIES[function], ties()[case]) if case in ties() else (FUNCTIONS[function], cases()[case])
        return str(ask(*rows)).rstrip() + "\n"
    except ValueError as error:
        return f"ValueError: {error}\n"


def shown(command: str, folder: Path) -> str:
    """What a command prints of the model that is off."""
    from typer.testing import CliRunner

    from calibstat.cli.app import app

    y, p, _, x = cases()["off"]
    lines = [f"{a},{b},{'large' if c >= 14 else 'small'}" for a, b, c in zip(y, p, x, strict=True)]
    rows = folder / "rows.csv"
    rows.write_text("\n".join(["y,p,size", *lines]) + "\n", encoding="utf-8")
    asked = [COMMANDS[command][0], str(rows), "--label", "y", "--prob", "p", *COMMANDS[command][1:]]
    result = CliRunner().invoke(app, asked, env={"COLUMNS": "80"})
    return result.output.replace(str(rows), "rows.csv").rstrip() + "\n"


def file_of(name: str) -> Path:
    """The file of an answer."""
    return FOLDER / f"{name.replace(', ', '-').replace(' ', '_')}.txt"


def names() -> list[tuple[str, str]]:
    """All functions with all cases."""
    return [
        *((function, case) for function in FUNCTIONS for case in cases()),
        *((function, case) for function in TIES for case in ties()),
    ]


def fitted_rows() -> str:
    """The rows of both models, with all digits."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, benign = load_breast_cancer(return_X_y=True)
    x, malignant = x[:, :4], 1 - benign
    learners = make_pipeline(StandardScaler(), LogisticRegression()), GaussianNB()
    fitted = (each.fit(x[::2], malignant[::2]) for each in learners)
    first, second = (each.predict_proba(x[1::2])[:, 1].clip(0.001, 0.999) for each in fitted)
    rows = zip(malignant[1::2].tolist(), first.tolist(), second.tolist(), x[1::2, 0].tolist(), strict=True)
    return "malignant,logistic,bayes,radius\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows)


def main() -> None:
    import tempfile
    import warnings

    warnings.simplefilter("ignore")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for function, case in names():
        file_of(f"{function}, {case}").write_text(printed(function, case), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            file_of(f"command {command}").write_text(shown(command, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
