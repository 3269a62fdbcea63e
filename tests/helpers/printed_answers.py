"""What is printed about a model that is calibrated, about one that is wrong, and about few rows.

The models are a logistic regression and naive Bayes of breast tumours, fitted to every other row of the data.
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
FEW = 24


@cache
def models() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes, the predictions of the logistic regression and of naive Bayes, and the mean radius of the tumours."""
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
    return malignant[1::2], first, second, x[1::2, 0]


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
    "audit": lambda y, p, other, x: cs.audit(y, p, {"small": x < 14, "large": x >= 14}, min_rows=5, rng=1),
    "reliability": lambda y, p, other, x: cs.reliability(y, p, rng=1),
    "validate": lambda y, p, other, x: cs.validate(y, p),
    "decision_loss": lambda y, p, other, x: cs.decision_loss(y, p, gain=900, cost=100, rng=1),
    "detectable_effect": lambda y, p, other, x: cs.detectable_effect(y, p, rng=1),
    "summarize": lambda y, p, other, x: cs.summarize(y, {"A": p, "B": other}, rng=1),
    "choose": lambda y, p, other, x: cs.choose(y, {"A": p, "B": other}, subject_to="kernel_ce.high <= 0.1"),
    "Monitor": lambda y, p, other, x: _monitor(y, p),
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
        return str(FUNCTIONS[function](*cases()[case])).rstrip() + "\n"
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
    return [(function, case) for function in FUNCTIONS for case in cases()]


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
