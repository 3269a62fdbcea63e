"""Results of confidence intervals, and what they print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from calibstat.data.named_lens import NamedLens
from calibstat.digits import settled, writer
from calibstat.inference.honest_ends import exceeds
from calibstat.inference.rows_of_results import Rows
from calibstat.measures.kinds.named_measure import NamedMeasure
from calibstat.output.wording import level_text
from calibstat.result import NotedResult

THREE_DIGITS, FOUR_DIGITS = writer(".3g"), writer(".4g")


@dataclass(frozen=True, eq=False)
class ConfidenceInterval(NotedResult):
    """Result of `confidence_interval`.

    Attributes
    ----------
    low, high : float
        The ends.
    estimate : float
        The measure on the data.
    confidence_level : float
        The nominal coverage probability.
    method : str
        The method of the interval: "honest", "proven", "bracket", "percentile", "basic" or "bca"; of folds "triangle",
        "mirror" or "variance within folds"; with a judge "rectified".
    estimand : str
        The quantity that it is meant to cover, in one sentence.
    measure : NamedMeasure
        The measure with its options.
    lens : NamedLens
        The outcome whose probability was predicted.
    n, n_resamples : int
        Rows and resamples.
    rows : Rows
        How the rows came about, in words, with what only such rows have: `ClustersOfRows`, `ModelsOfFolds`,
        `RectifiedLabels`.
    why_infinite : str
        The row that makes the high end infinite; empty if it is finite.
    few_events : str
        The outcome that was observed fewer than 10 times, in rows or clusters; empty if none was.
    if_calibrated : float or None
        The noise floor: the median of the estimate on these rows if every prediction were the true probability. Of the
        first 99 resamples, unless the high end needs all. None where `no_noise_floor` says why.
    condition : str
        The shape of the calibration curve for which the high end of `l1` holds, in words; else empty.
    void : str
        How the rows contradict that condition, so that the high end is the largest value of the measure; empty if they
        do not.
    high_of_calibrated : float or None
        The high end that these rows would have if every prediction were the true probability and the sum of its
        residuals an average one, of `l1` and `l2`; else None.
    """

    low: float
    high: float
    estimate: float
    confidence_level: float
    method: str
    estimand: str
    measure: NamedMeasure
    lens: NamedLens
    n: int
    n_resamples: int
    rows: Rows
    why_infinite: str = ""
    few_events: str = ""
    if_calibrated: float | None = None
    condition: str = ""
    void: str = ""
    high_of_calibrated: float | None = None

    @property
    def headline(self) -> tuple[str, ...]:
        """The estimate and the ends."""
        return "estimate", "low", "high"

    @property
    def scope(self) -> str:
        """The models that the interval is for, in words; empty of one model and fresh rows."""
        return self.rows.scope(self.method)

    @property
    def no_noise_floor(self) -> str:
        """The reason why `if_calibrated` is None; empty if it is not."""
        if self.if_calibrated is not None:
            return ""
        bracket = "a bracket is made of two other measures" if self.method == "bracket" else ""
        return self.rows.no_noise_floor or bracket or f"{self.measure.name} is not a calibration error"

    @property
    def noise(self) -> str:
        """The value that a calibrated model would show on these rows, in one sentence, where it is known."""
        if self.if_calibrated is None:
            return ""
        return f"A calibrated model would show about {settled(self.if_calibrated):.2g} on these rows."

    def remark(self, write: Callable[[float], str] = FOUR_DIGITS) -> str:
        """Say why the high end is not lower, and why the estimate lies outside the interval; nothing if neither is so.

        `write` writes numbers.
        """
        below, above = exceeds(self.low, self.estimate), exceeds(self.estimate, self.high)
        honest = self.method not in BOOTSTRAPS
        floor = "" if self.if_calibrated is None else f"would show {write(self.if_calibrated)} on these rows"
        if above and floor and honest:
            return f"The estimate lies above the interval because it is biased upwards: a calibrated model {floor}."
        sentence = ""
        if self.if_calibrated == self.high and honest:
            sentence = f"A calibrated model {floor}; the interval does not end below that."
        if below and self.method in ("honest", "proven"):
            sentence += (
                " The estimate lies below the interval because its bias is subtracted: it may be below 0, the error "
            )
            sentence += "is not."
        elif (below or above) and self.method in BOOTSTRAPS:
            values = "larger" if below != (self.method == "basic") else "smaller"
            side = "below" if below else "above"
            sentence = f"The estimate lies {side} the interval because resamples have {values} values."
        return sentence.strip()

    def of_curves(self, write: Callable[[float], str] = THREE_DIGITS) -> str:
        """Say what the high end is of an error without bins, and of a calibrated model; nothing of other errors.

        `write` writes numbers.
        """
        if self.high_of_calibrated is None:
            return ""
        calibrated = f"A calibrated model would get {write(self.high_of_calibrated)} with these rows."
        if self.void:
            return (
                f"No upper end is known: these rows contradict that {self.condition}, because {self.void}. {calibrated}"
            )
        confidence = f"{level_text((1 + self.confidence_level) / 2)} confidence"
        return (
            f"The calibration error itself, not over bins, is at most {write(self.high)} with {confidence}, if "
            f"{self.condition}. {calibrated}"
        )

    @property
    def reservations(self) -> str:
        """The reason for an infinite end, and that events were few, a line each; nothing if neither is so."""
        lines = f"Infinite: {self.why_infinite}.\n" if self.why_infinite else ""
        if self.few_events:
            lines += f"Few events: {self.few_events}; so few leave the error uncertain.\n"
        return lines

    def __str__(self) -> str:
        remark = self.remark()
        noise = "" if "calibrated model" in remark else self.noise
        remarks = "".join(f"{each}\n" for each in (noise, self.of_curves(), remark) if each)
        unseen = f"\n{self.rows.unseen}" if self.rows.unseen else ""
        bound = self.rows.bound(self.low, self.high, self.confidence_level, self.method)
        cautions = "".join(f"{each}\n" for each in self.rows.cautions)
        return (
            f"{self.measure} = {settled(self.estimate):.4g}, "
            f"{level_text(self.confidence_level)} confidence interval "
            f"[{settled(self.low):.4g}, {settled(self.high):.4g}] ({self.method}), {self.lens}{self.rows.beside}"
            f"{cautions}{self.reservations}{bound}{remarks}What is estimated: {self.estimand}{unseen}"
        )


BOOTSTRAPS = ("percentile", "basic", "bca")
