"""What generalization gaps are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibstat.results.base import Result
from calibstat.results.intervals import ConfidenceInterval


@dataclass(frozen=True)
class GeneralizationGap(Result):
    """What `generalization_gap` found.

    Attributes
    ----------
    train, test : ConfidenceInterval
        The calibration error on either set, of outcome 1 of two, or of the most likely of more classes.
    gap, gap_low, gap_high : float
        The error on test rows minus that on training rows, and the ends of its interval.
    error_train, error_test : float
        Share of the rows in which the most likely class did not happen.
    error_gap, error_gap_low, error_gap_high : float
        Their difference, test minus train, and the ends of its interval.
    confidence_train, confidence_test : float
        Mean probability of the most likely class.
    n_bins, n_not_overconfident, n_clearly_not : int
        Bins of the test rows; those in which the model is not over-confident, since the most likely class (of two
        outcomes, that of the bin's mean prediction) happened more often than predicted; and those in which chance does
        not explain it (the 95 % Wilson interval lies on that side of the mean prediction).
    confidence_level : float
        Of every interval.
    measure : str
        The measure with its options.
    subject : str
        What it is of: "outcome 1" or "the most likely class".
    n_train, n_test : int
        Rows.
    """

    train: ConfidenceInterval
    test: ConfidenceInterval
    gap: float
    gap_low: float
    gap_high: float
    error_train: float
    error_test: float
    error_gap: float
    error_gap_low: float
    error_gap_high: float
    confidence_train: float
    confidence_test: float
    n_bins: int
    n_not_overconfident: int
    n_clearly_not: int
    confidence_level: float
    measure: str
    subject: str
    n_train: int
    n_test: int

    @property
    def overconfident(self) -> bool:
        """Whether the model is over-confident on test rows in every bin, the first assumption of the bound."""
        return self.n_not_overconfident == 0

    @property
    def less_confident(self) -> bool:
        """Whether the mean confidence on test rows is at most that on training rows, the second assumption."""
        return self.confidence_test <= self.confidence_train

    @property
    def bounded(self) -> bool:
        """Whether the gap is at most the error gap, as the two assumptions imply for the unbinned error."""
        return self.gap <= self.error_gap

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python values, ready for JSON; the two intervals as dictionaries."""
        return {**super().to_dict(), "train": self.train.to_dict(), "test": self.test.to_dict()}

    def __str__(self) -> str:
        level = f"{self.confidence_level:.4g} confidence interval"
        holds = {True: "holds", False: "does not hold"}
        clearly = f", {self.n_clearly_not} of them beyond chance" if self.n_not_overconfident else ""
        return (
            f"{self.measure} of {self.subject}: {self.test.estimate:.4g} [{self.test.low:.4g}, "
            f"{self.test.high:.4g}] on n = {self.n_test} test rows, {self.train.estimate:.4g} [{self.train.low:.4g}, "
            f"{self.train.high:.4g}] on n = {self.n_train} training rows ({level}s).\n"
            f"Calibration generalization gap {self.gap:.4g} [{self.gap_low:.4g}, {self.gap_high:.4g}]; error gap "
            f"{self.error_gap:.4g} [{self.error_gap_low:.4g}, {self.error_gap_high:.4g}], from errors "
            f"{self.error_test:.4g} and {self.error_train:.4g}: the bound {holds[self.bounded]} here.\n"
            "For the error without bins it follows if the model is over-confident on test rows at every confidence, "
            f"which {holds[self.overconfident]} here (not so in {self.n_not_overconfident} of {self.n_bins} "
            f"bins{clearly}), and if it is at most as confident there as on training rows, which "
            f"{holds[self.less_confident]} (mean confidence {self.confidence_test:.4g} and "
            f"{self.confidence_train:.4g})."
        )
