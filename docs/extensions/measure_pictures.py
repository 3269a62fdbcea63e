"""A picture for the page of each measure: its details if they can be drawn, otherwise its test.

The binary rows are the first ones of naive Bayes in ``calibstat demo``, the rows of several classes are noisy digits.
Pictures are drawn again once a source file is newer.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import calibstat as cs
from calibstat.cli.demo import predictions

DETAILS = "What the measure looks at, for {rows}."
TEST = "The value for {rows}, beside values that a calibrated model with the same predictions would have."
N_BINARY = 1500
BINARY, CLASSES = f"naive Bayes on {N_BINARY:,} patients", "a classifier of 597 noisy digits"


@cache
def binary_rows() -> tuple[Any, Any]:
    """Return outcomes and predictions of naive Bayes for patients."""
    y, models = predictions()
    return y[:N_BINARY], models["Naive Bayes"][:N_BINARY]


@cache
def rows_of_classes() -> tuple[Any, Any]:
    """Return digits and predicted probabilities of a linear discriminant analysis."""
    from sklearn.datasets import load_digits
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    pixels, digit = load_digits(return_X_y=True)
    pixels = pixels + np.random.default_rng(1).normal(0, 4, pixels.shape)
    model = LinearDiscriminantAnalysis().fit(pixels[:1200], digit[:1200])
    return digit[1200:], model.predict_proba(pixels[1200:])


def draw(name: str) -> tuple[Any, str]:
    """Draw a measure; return the axes and what they show."""
    is_multiclass = issubclass(cs.MEASURES[name], cs.measures.MulticlassMeasure)
    y, p = rows_of_classes() if is_multiclass else binary_rows()
    rows = CLASSES if is_multiclass else BINARY
    try:
        return cs.plot(cs.detail(y, p, measure=name)), DETAILS.format(rows=rows)
    except TypeError:  # its details have no picture
        test = cs.calibration_test(y, p, measure=name, n_resamples=999 if not is_multiclass else 99, rng=1)
        return cs.plot(test), TEST.format(rows=rows)


def picture(name: str, folder: Path) -> str:
    """Draw the picture of a measure unless it is newer than all sources; return the lines that show it."""
    file, caption = folder / f"{name}.png", folder / f"{name}.txt"
    newest = max(path.stat().st_mtime for path in Path(cs.__file__).parent.rglob("*.py"))
    if not caption.exists() or caption.stat().st_mtime < newest:
        folder.mkdir(exist_ok=True)
        plt.switch_backend("Agg")
        axes, said = draw(name)
        axes.figure.savefig(file, dpi=100)
        plt.close(axes.figure)
        caption.write_text(said, encoding="utf-8")
    said = caption.read_text(encoding="utf-8")
    return f"![{said}](images/{name}.png)\n\n*{said}*"
