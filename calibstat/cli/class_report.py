"""Findings for each class: in words, as a data frame and in a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.cli.input_files import listed
from calibstat.cli.report import Finding
from calibstat.data import lenses
from calibstat.data.predictions import Predictions
from calibstat.inference.calibration_tests import ClassWiseTestResult, calibration_test
from calibstat.measures import Measure
from calibstat.measures.registry import find_measure
from calibstat.plots import plot

if TYPE_CHECKING:
    import pandas as pd

MOST = 20  # classes in a printed table
LOW = 0.05  # adjusted p-values that are pointed out


@dataclass(frozen=True)
class ClassFindings:
    """The estimate and the test of one measure for each class, and for all together.

    Attributes
    ----------
    bound : Measure
        The measure, its options fixed.
    happened : ndarray, shape (K,)
        Number of rows of each class.
    test : ClassWiseTestResult
        The test of each class, and of the mean over all.
    """

    bound: Measure
    happened: np.ndarray
    test: ClassWiseTestResult

    @property
    def title(self) -> str:
        """The measure's name in prose."""
        return self.bound.info.title

    @property
    def estimate(self) -> np.ndarray:
        """The measure of each class."""
        return np.asarray(self.test.statistic, np.float64)

    @property
    def overall(self) -> Finding:
        """The finding for the mean over all classes."""
        test = self.test.overall
        return Finding(self.bound, test.statistic, test, None)

    def shown(self) -> np.ndarray:
        """Return the classes that fit into a printed table: all, or those with the smallest p-values first."""
        k = len(self.test.names)
        return np.arange(k) if k <= MOST else np.argsort(self.test.pvalue, kind="stable")[:MOST]


def assess_classes(data: Predictions, measure: str, *, n_resamples: int | None = None, rng: int = 0) -> ClassFindings:
    """Estimate and test a measure for each class and for the mean over all."""
    test = calibration_test(data, measure=measure, lens=lenses.class_wise, n_resamples=n_resamples, rng=rng, n_jobs=-1)
    return ClassFindings(find_measure(measure, {}), np.bincount(data.label, minlength=data.n_classes), test)


def say_classes(found: ClassFindings) -> str:
    """Say how many classes the table leaves out, and for which the adjusted p-value is small."""
    names, holm = found.test.names, found.test.pvalue_holm
    k, shown = len(names), found.shown()
    left_out = k - shown.size
    said = ""
    if left_out:
        least = found.test.pvalue[shown[-1]]
        said = f"The {shown.size} classes with the smallest p; {left_out:,} more have p of at least {least:.3g}. "
    said += f"p (Holm) is p made larger because {k:,} classes were tested; it is "
    low = [names[i] for i in np.argsort(holm, kind="stable") if holm[i] <= LOW]
    if not low:
        return f"{said}above {LOW} for every class."
    if len(low) == k:
        return f"{said}at most {LOW} for every class."
    return f"{said}at most {LOW} for {len(low):,} of them: {listed(low)}."


def say_null(found: ClassFindings) -> str:
    """State the null hypothesis for each class."""
    return f"Null hypothesis for each class: {found.test.null_hypothesis}"


def classes_frame(found: ClassFindings) -> pd.DataFrame:
    """Return one row for each class."""
    import pandas as pd

    return pd.DataFrame(
        {
            "class": [*found.test.names],
            "happened": found.happened,
            "estimate": found.estimate,
            "pvalue": found.test.pvalue,
            "pvalue_holm": found.test.pvalue_holm,
        }
    )


def save_alone(path: Path, result: object) -> Path:
    """Draw a result, in its usual size, into a PNG and return its path."""
    import matplotlib.pyplot as plt

    figure: Any = plot(result).figure
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return path
