"""The result of `validate`: the numbers of clinical validation, with the curves that some of them are of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from calibstat.classical.by_cluster_result import ByCluster
from calibstat.classical.flexible_curve import FlexibleCurve
from calibstat.classical.validation_for_papers import CHECKLIST, answers_to_checklist, paragraph
from calibstat.data.named_lens import NamedLens
from calibstat.digits import settled, writer
from calibstat.result import NotedResult

if TYPE_CHECKING:
    import pandas as pd

Interval = tuple[float, float]
TITLES = {
    "observed": "mean outcome",
    "predicted": "mean prediction",
    "ratio": "O/E, observed / expected",
    "in_the_large": "calibration in the large",
    "intercept": "intercept",
    "slope": "slope",
    "ici": "ICI or Eavg, mean error",
    "e50": "E50, its median",
    "e90": "E90, its 90 % quantile",
    "emax": "Emax, its largest",
    "eci": "ECI, 100 × mean square",
    "brier": "Brier score",
    "scaled_brier": "scaled Brier score",
    "spiegelhalter_z": "S:z, Spiegelhalter's z",
    "auc": "AUC",
    "r2": "R², Nagelkerke's",
    "discrimination": "D, discrimination",
    "unreliability": "U, unreliability",
    "quality": "Q, quality, D − U",
}
PERFECT = {
    "ratio": 1.0,
    "in_the_large": 0.0,
    "intercept": 0.0,
    "slope": 1.0,
    "spiegelhalter_z": 0.0,
    "unreliability": 0.0,
}
OF_THE_LINE = ("in_the_large", "intercept", "slope")
OF_COUNTED_ROWS = ("spiegelhalter_z", "discrimination", "unreliability", "quality")


@dataclass(frozen=True, eq=False)
class Validation(NotedResult):
    """Result of `validate`.

    Attributes
    ----------
    observed, predicted : float
        Mean outcome and mean prediction.
    ratio : float
        Observed over expected number of events, O/E; 1 if calibrated.
    in_the_large, intercept, slope : float
        Of Cox's logistic recalibration: the intercept if the slope is 1, then both; 0, 0 and 1 if calibrated.
        nan where there is no line: of one outcome alone; and intercept and slope where all predictions are equal, or
        separate the outcomes.
    ici, e50, e90, emax : float
        Mean, median, 90 % quantile and maximum over the rows of the absolute difference of the smoothed frequency of
        events (`lowess`) and the prediction. They are above 0 by noise alone, also if calibrated.
    eci : float
        Estimated calibration index, 100 / n times the sum over the rows of (p - c(p))², p the prediction and c the
        flexible curve: from 0 to 100, and above 0 by noise alone; nan where there is no curve.
    brier, scaled_brier : float
        The Brier score b, and 1 - b / (o (1 - o)) with o the mean outcome: 0 for always predicting o, 1 for perfect
        predictions; nan if only one outcome was observed.
    spiegelhalter_z : float
        Spiegelhalter's z, as of `spiegelhalter`: about standard normal if calibrated; nan if every prediction is 0, 1/2
        or 1, and of rows with weights or in clusters.
    auc : float
        Probability that a row with outcome 1 has a larger prediction than one with outcome 0, ties counting half: 1/2
        if all predictions are equal, nan if only one outcome was observed. Of more than two classes outcome 1 is that
        the most likely class is observed.
    r2 : float
        Nagelkerke's R² of the predictions as they are: 0 for always predicting o, 1 for perfect predictions, below 0
        for worse ones than o.
    discrimination, unreliability, quality : float
        D = (x - 1) / n with x twice the gain of log-likelihood over always predicting o; U = (x - 2) / n with x twice
        the gain of intercept and slope over the predictions, about 0 if calibrated; Q = D - U. nan of rows with weights
        or in clusters: 1 and 2 are what noise adds to x where rows are independent and count once.
    intervals : dict
        The interval of each number that has one, by its name: `observed`, `ratio`, `in_the_large`, `intercept`,
        `slope`, `brier`, `auc`; without those that are nan, and without `auc` of rows with weights or in clusters, with
        fewer than two rows of an outcome, or if all predictions are equal. An interval of the line is infinite where
        double precision reaches none of its ends.
    pvalues : dict
        Approximate p-values, of `unreliability` (likelihood ratio, intercept 0 and slope 1, as of `cox`) and of
        `spiegelhalter_z`, two-sided; empty of rows with weights or in clusters.
    confidence_level : float
        The confidence level of the intervals, and of the band of the flexible curve.
    smoother : str
        How the curve was smoothed.
    lowess : ndarray, shape (2, m), m at most 202
        Predictions, ascending, and the smoothed frequency of events at each.
    flexible : FlexibleCurve
        The flexible curve, with its band.
    histogram : ndarray, shape (2, 50)
        The rows with outcome 0, and with outcome 1, in 50 bins of predictions of equal width; with weights the
        effective rows.
    lens : NamedLens
        The outcome whose probability was predicted.
    n, events : int
        Rows, and those with outcome 1, whatever their weights.
    drawn : str
        What the intervals take as independent: "rows", or clusters, with their number and sizes.
    cautions : tuple of str
        When to be careful with the intervals of clusters, a sentence each.
    missing : dict of str to str
        Why numbers are nan, by name: {"auc": "needs both outcomes"}; with clusters also why there is no `by_cluster`.
    by_cluster : ByCluster or None
        With clusters, O/E, observed - expected, intercept and slope of each, and the means over clusters. None without
        clusters, of rows with weights, of more than 1000 clusters and of fewer than 2 rows a cluster on average.
    """

    observed: float
    predicted: float
    ratio: float
    in_the_large: float
    intercept: float
    slope: float
    ici: float
    e50: float
    e90: float
    emax: float
    brier: float
    scaled_brier: float
    auc: float
    eci: float
    spiegelhalter_z: float
    r2: float
    discrimination: float
    unreliability: float
    quality: float
    intervals: dict[str, Interval]
    pvalues: dict[str, float]
    confidence_level: float
    smoother: str
    lowess: np.ndarray
    flexible: FlexibleCurve
    histogram: np.ndarray
    lens: NamedLens
    n: int
    events: int
    drawn: str = "rows"
    cautions: tuple[str, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)
    by_cluster: ByCluster | None = None

    @property
    def headline(self) -> tuple[str, ...]:
        """O/E, the intercept, the slope, the Brier score and the AUC."""
        return "ratio", "intercept", "slope", "brier", "auc"

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each number: its estimate, interval, value if calibrated and p-value."""
        import pandas as pd

        nothing = (np.nan, np.nan)
        rows = [
            (
                title,
                getattr(self, name),
                *self.intervals.get(name, nothing),
                PERFECT.get(name, np.nan),
                self.pvalues.get(name, np.nan),
            )
            for name, title in TITLES.items()
        ]
        columns = ["number", "estimate", "low", "high", "calibrated", "pvalue"]
        return pd.DataFrame(rows, columns=columns, index=list(TITLES))

    @property
    def methods(self) -> str:
        """A paragraph for a paper: what was computed how, with which version, on which rows, and the main numbers.

        The version is the one that is installed. The result does not know whether `clip` was given: name it if so.
        """
        return paragraph(self)

    def tripod(self) -> pd.DataFrame:
        """Return what the checklist TRIPOD+AI asks of the evaluation of a model, beside what this result says.

        A row for each item or range of items, with columns "item", "asks", in our words, and "says". Items on the
        development of models alone are left out. Answers are a draft, and do not show that a paper reports enough.

        References
        ----------
        Collins et al. 2024, doi:10.1136/bmj-2023-078378. Its items were read in a copy of the checklist: the file
        skills/check-reporting/references/checklists/TRIPOD_AI.md of github.com/Aperivue/medsci-skills.
        """
        import pandas as pd

        says = answers_to_checklist(self)
        rows = [(item, asks, says[item]) for item, asks in CHECKLIST.items()]
        return pd.DataFrame(rows, columns=["item", "asks", "says"])

    def __str__(self) -> str:
        of = "" if self.drawn == "rows" else f" in {self.drawn}"
        level = f"{settled(100 * self.confidence_level):.4g} % intervals"
        lines = [self.answer, f"{self.n} rows{of}, {self.events} events, {self.lens}; {level}."]
        for name, title in TITLES.items():
            value = getattr(self, name)
            beside = f"  {self.missing[name]}" if name in self.missing else self._beside(name)
            lines.append(f"{title:<25} {settled(value):8.4f}{beside}")
        lines += [f"Smoothed by {self.smoother}.", f"ECI is of the flexible curve: {self.flexible}."]
        each = [] if self.by_cluster is None else [self.by_cluster.answer, "Each cluster: print(result.by_cluster)."]
        return "\n".join([*lines, *self.cautions, *each])

    @property
    def answer(self) -> str:
        """The sentence on what the intervals of O/E and of the slope show."""
        of_ratio, ratio = self._side("ratio", "O/E")
        of_slope, slope = self._side("slope", "slope")
        mean = ("Outcomes are less frequent than predicted", "", "Outcomes are more frequent than predicted")[
            of_ratio + 1
        ]
        spread = ("predictions are too extreme", "", "predictions are not extreme enough")[of_slope + 1]
        if mean and spread:
            return f"{mean} ({ratio}), and {spread} ({slope})."
        if mean:
            return f"{mean} ({ratio}); the spread of predictions is not shown to be wrong ({slope})."
        if spread:
            return f"{spread[:1].upper()}{spread[1:]} ({slope}); their mean is not shown to be wrong ({ratio})."
        return f"Neither mean nor spread of the predictions is shown to be wrong ({ratio}, {slope})."

    def _side(self, name: str, title: str) -> tuple[int, str]:
        """Return on which side of 1 the interval of a number lies, 0 if it holds 1, and the interval in words."""
        if name not in self.intervals:
            return 0, f"{title} unknown"
        low, high = self.intervals[name]
        return int(low > 1) - int(high < 1), f"{title} {settled(low):.3g} to {settled(high):.3g}"

    def _beside(self, name: str) -> str:
        """Write what stands behind a number: its interval, its value if calibrated, its p-value."""
        ends = "  ({} to {})".format(*map(writer(".3g"), self.intervals[name])) if name in self.intervals else ""
        wished = f"  {PERFECT[name]:g} if calibrated" if name in PERFECT else ""
        return ends + wished + (f", p = {settled(self.pvalues[name]):.2g}" if name in self.pvalues else "")


def reasons(found: Validation, are_counted: bool, differ: bool) -> dict[str, str]:
    """Return why numbers are nan: of rows that count once or not, and of predictions that differ or not."""

    def needed(name: str) -> str:
        if name in OF_COUNTED_ROWS and not are_counted:
            return "needs rows that are independent and count once"
        if name == "spiegelhalter_z":
            return "needs a prediction other than 0, 1/2 and 1"
        if not 0 < found.events < found.n:
            return "needs both outcomes"
        return "needs predictions that do not separate the outcomes" if differ else "needs predictions that differ"

    return {name: needed(name) for name in TITLES if np.isnan(getattr(found, name))}
