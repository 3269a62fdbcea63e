"""Skill scores: how much less predictions lose than the base rate, or than a reference forecast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from calibstat.bounds.mean_interval import need_finite
from calibstat.data.checked_rows import AboutRows, Data, named
from calibstat.data.checks import check_level, is_number
from calibstat.data.clipping import check_clip
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.data.views import BinaryView
from calibstat.digits import settled
from calibstat.inference.decomposing.losses_beside_reference import LossesBesideReference
from calibstat.inference.designs.design import Design
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.designs.question_of_rows import question
from calibstat.inference.honest_ends import need_events
from calibstat.inference.unit_rows import UnitRows
from calibstat.measures.bregman import Bregman, find_score
from calibstat.output.wording import level_text
from calibstat.result import NotedResult

SCORES_IN_WORDS = {"brier": "Brier", "log_loss": "log loss"}
BASE_RATE, FORECAST = "the base rate", "the reference forecast"
NOT_ABOVE_0 = "the mean loss of the reference is not shown to be above 0"


@dataclass(frozen=True, eq=False)
class SkillScore(NotedResult):
    """Result of `skill_score`.

    Attributes
    ----------
    skill, low, high : float
        1 - `score` / `reference_score`, and the ends of its interval: 1 for perfect predictions, 0 for predictions that
        are as good as the reference, below 0 for worse ones.
    score, reference_score : float
        The mean losses of the predictions and of the reference.
    loss : str
        The name of the score.
    reference : str
        The reference: "the base rate", "the rate 0.3" or "the reference forecast".
    base_rate : float
        The mean outcome.
    confidence_level : float
        The confidence level of the interval.
    lens : NamedLens
        The outcome whose probability was predicted.
    n : int
        Rows.
    drawn : str
        What the interval takes as independent: "rows", or clusters, with their number and sizes.
    why_infinite : str
        Why an end is minus infinity; empty if none is.
    """

    skill: float
    low: float
    high: float
    score: float
    reference_score: float
    loss: str
    reference: str
    base_rate: float
    confidence_level: float
    lens: NamedLens
    n: int
    drawn: str = "rows"
    why_infinite: str = ""

    @property
    def headline(self) -> tuple[str, ...]:
        """The skill and the ends of its interval."""
        return "skill", "low", "high"

    @property
    def answer(self) -> str:
        """The skill with its interval, and which is shown to be better."""
        skill, low, high = _percents(self.skill, self.low, self.high)
        shown = "better" if self.low > 0 else "worse" if self.high < 0 else ""
        verdict = f"The predictions are {shown} than {self.reference}." if shown else "Neither is shown to be better."
        return (
            f"The {SCORES_IN_WORDS.get(self.loss, self.loss)} skill over {self.reference} is {skill} "
            f"({level_text(self.confidence_level)} interval {low} to {high}).\n{verdict}"
        )

    @property
    def details(self) -> str:
        """The two mean losses, the lens and the number of rows."""
        of = "" if self.drawn == "rows" else f" in {self.drawn}"
        infinite = f" Infinite: {self.why_infinite}." if self.why_infinite else ""
        rate = f" ({settled(self.base_rate):.4g})" if self.reference == BASE_RATE else ""
        return (
            f"Mean loss ({self.loss}) {settled(self.score):.4g}, of {self.reference}{rate} "
            f"{settled(self.reference_score):.4g}; {self.lens}, n = {self.n}{of}.{infinite}"
        )

    def __str__(self) -> str:
        return f"{self.answer}\n{self.details}"


@question("sample_weight", "cluster")
def skill_score(
    rows: Data,
    /,
    reference: ArrayLike | None = None,
    *,
    score: str | Bregman = "brier",
    clip: float | None = None,
    confidence_level: float = 0.95,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> SkillScore:
    """Return by what share predictions lose less than the base rate, or than a reference forecast.

    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2).sample(2000, rng=1)  # over-confident
    >>> print(cs.skill_score(y, p))
    The Brier skill over the base rate is 27 % (95 % interval 22 % to 32 %).
    The predictions are better than the base rate.
    Mean loss (brier) 0.1824, of the base rate (0.5135) 0.2498; event: outcome 1, n = 2000.

    Parameters
    ----------
    y_true, y_prob
        As for `estimate`; rows may have weights or clusters.
    reference : array_like, shape (n,), or float, optional
        The forecasts of the reference for the same rows, such as a climatology or an earlier model; or one rate between
        0 and 1, such as the base rate of earlier years. Default: the mean outcome of these rows.
    score : {"brier", "log_loss", "spherical"} or Bregman
        The proper score, as of `decompose`.
    clip : float, optional
        For scores that can be infinite: predictions are moved into [clip, 1 - clip]. By default none is moved.
    confidence_level : float
        Of the interval, between 0 and 1.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.

    Returns
    -------
    SkillScore
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), the reference has no loss, as the mean of
        outcomes that are all the same, or an infinite one, or a score without a bound has fewer than ten events.

    Notes
    -----
    The skill is 1 - S / S_ref, S and S_ref mean losses. No null hypothesis is tested; the interval holds all skills s
    for which 0 is in the honest interval of the mean of loss - (1 - s) * loss of the reference, see
    `confidence_interval`. The base rate of the population may differ from the base rate of these rows; the interval
    allows for that. With weights rows count by them; with clusters the interval takes clusters as independent. Each
    model stands alone: to compare two, ask `compare` with the score as its measure. Cost: one sort, and some 500 passes
    over the distinct predictions, or with a reference forecast 100 over the rows.

    References
    ----------
    Murphy 1988, Skill scores based on the mean square error, doi:10.1175/1520-0493(1988)116<2417:SSBOTM>2.0.CO;2;
    Fieller 1954 (ratios of means), doi:10.1111/j.2517-6161.1954.tb00159.x; Bradley, Schwartz, Hashino 2008 (sampling
    uncertainty of the Brier skill score), doi:10.1175/2007WAF2007049.1.
    """
    check_level("confidence_level", confidence_level)
    phi = find_score(score)
    phi.takes(check_clip(clip))
    view, design = rows.view().one_event("a skill score"), design_of(rows)
    forecast = _reference(rows, view, reference, phi, clip)
    losses = LossesBesideReference.of(phi, clip, view, forecast, design)
    _need_loss(losses)
    low, high, why = _ends(losses, view, design, (1 - confidence_level) / 2)
    units = UnitRows.of(view, design.unit, design.unseen)
    mean_loss, mean_of_reference = losses.score_of_predictions, losses.score_of_reference
    return SkillScore(
        skill=1 - mean_loss / mean_of_reference,
        low=low,
        high=high,
        score=mean_loss,
        reference_score=mean_of_reference,
        loss=phi.name,
        reference=_in_words(forecast),
        base_rate=losses.base_rate,
        confidence_level=confidence_level,
        lens=view.lens,
        n=view.n_given if units is None else units.rows.n_rows,
        drawn="rows" if units is None else units.drawn,
        why_infinite=why,
        **(
            view.annotations()
            if units is None
            else units.annotated(view, confidence_level, *units.cautions(view, design.unit, design.unit_names))
        ),
    )


def _reference(
    rows: Data, view: BinaryView, reference: ArrayLike | None, score: Bregman, clip: float | None
) -> np.ndarray | float | None:
    """Return the reference, checked: a forecast of each row, one rate for all, or None for the base rate."""
    if reference is None:
        return None
    if isinstance(reference, str):
        raise ValueError(
            "expected reference=, forecasts of the same rows or one rate between 0 and 1, found "
            f"{reference!r}; give the forecasts, as in reference=models[{reference!r}]"
        )
    if is_number(reference):
        if not 0 < reference < 1:
            raise ValueError(f"expected a rate between 0 and 1 as reference=, found {reference!r}")
        return float(reference)
    if 1 in view.confidences:
        raise ValueError(
            "expected a lens that shows the same outcome of predictions and reference=, such as one_class(k), found "
            f"{view.lens}"
        )
    view.check_rows()

    def shown(forecast: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        data = Data(rows.rows.y_true, forecast, labels=rows.rows.labels, lens=rows.lens)
        return data.view().one_event().float_rows()

    y, forecasts = named(shown, {"reference": reference})["reference"]
    need_finite(f"{score.name} of reference=", score.loss(y, score.moved(forecasts, clip)), forecasts)
    return forecasts


def _need_loss(losses: LossesBesideReference) -> None:
    """Raise if the reference has no loss, of which no share can be taken."""
    if losses.score_of_reference > 0:
        return
    if losses.reference is not None:
        raise ValueError("expected a reference with a loss above 0, found one that is certain and right in every row")
    raise ValueError(
        f"expected both outcomes for a skill over the base rate, found outcome {losses.base_rate:g} alone, which the "
        "base rate predicts without a loss; give a rate known from other rows, as in reference=0.1"
    )


def _ends(losses: LossesBesideReference, view: BinaryView, design: Design, tail: float) -> tuple[float, float, str]:
    """Return the ends of the skill, and why they are infinite, if one is."""
    if math.isinf(losses.score_of_predictions):
        return -math.inf, -math.inf, view.impossible()
    if not losses.is_bounded:
        need_events(view.rarest(design.unit), f"the skill by {losses.score.name}{view.lens.with_comma}")
    low, high = losses.ends(tail)
    return 1 - high, 1 - low, "" if math.isfinite(high) else view.certain() or NOT_ABOVE_0


def _in_words(reference: np.ndarray | float | None) -> str:
    if reference is None:
        return BASE_RATE
    return FORECAST if isinstance(reference, np.ndarray) else f"the rate {reference:g}"


def _percents(skill: float, low: float, high: float) -> list[str]:
    """Write shares in per cent, with as many decimals as the length of the interval asks for."""
    length = 100 * (high - low) / 5
    decimals = max(0, -math.floor(math.log10(length))) if 0 < length < math.inf else 0
    shares = [round(settled(100 * each), decimals) + 0.0 for each in (skill, low, high)]  # 0.0 for -0.0
    return [f"{settled(each):.{decimals}f} %" if math.isfinite(each) else "-∞" for each in shares]
