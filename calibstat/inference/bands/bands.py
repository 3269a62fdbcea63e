"""The table of the bands of reliability diagrams: how each is made, and what it promises in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from calibstat.inference.bands.confidence_bands import pointwise_confidence, simultaneous_confidence
from calibstat.inference.bands.consistency_bands import binomial_bars, pointwise_consistency, simultaneous_consistency
from calibstat.inference.bands.monotone_band import monotone_confidence
from calibstat.inference.bands.reliability_bands import Band, Bins
from calibstat.output.wording import level_text, percent
from calibstat.resampling import Draws


@dataclass(frozen=True)
class BandKind:
    """A kind of band.

    Attributes
    ----------
    make : callable
        ``make(bins, level, draws)``.
    name : str
        What it is called in legends and in print.
    compared : {"frequency", "mean_prediction"} or None
        What in each bin is compared with it; None if it has no bars.
    promise : callable
        ``promise(level, n_bins, model)``, what it holds, and on what condition, in a sentence; `model` says in words
        where outcomes come from under the null hypothesis.
    boxes : bool
        Whether it is about the average over the rows of a bin, and so drawn across the bin.
    of_clusters : callable or None
        ``of_clusters(level, n_bins)``, what it says of rows in clusters; None if it takes none.
    why_no_clusters : str
        The reason if it takes none.
    why_no_map : str
        The reason if it takes no calibration map as the null hypothesis; empty if it takes one.
    """

    make: Callable[[Bins, float, Draws], Band]
    name: str
    compared: str | None
    promise: Callable[[float, int, str], str]
    boxes: bool = False
    of_clusters: Callable[[float, int], str] | None = None
    why_no_clusters: str = ""
    why_no_map: str = ""


CALIBRATED = "a calibrated model"
OF_OUTCOMES = "it is about the outcomes, whatever is predicted"


def _alone(what: str = "", more: str = "") -> Callable[[float, int, str], str]:
    return lambda level, bins, model: (
        f"Each bar stands alone: all {bins} hold {what or model} in only about {percent(level**bins)} of samples{more}."
    )


BANDS: Mapping[str, BandKind] = MappingProxyType(
    {
        "consistency": BandKind(
            simultaneous_consistency,
            "simultaneous consistency band",
            "frequency",
            lambda level, bins, model: (
                f"In at least {level_text(level)} of samples all points of {model} lie in the band, if outcomes are "
                "independent."
            ),
            of_clusters=lambda level, bins: (
                "The band allows for clusters. It is meant, not proven, to hold all points of a calibrated model in "
                f"{level_text(level)} of samples."
            ),
        ),
        "confidence": BandKind(
            simultaneous_confidence,
            "simultaneous confidence band",
            "mean_prediction",
            lambda level, bins, model: (
                f"In at least {level_text(level)} of samples the band holds the mean outcome probability of every bin, "
                "if outcomes are independent."
            ),
            boxes=True,
            of_clusters=lambda level, bins: (
                "The band allows for clusters. It is meant, not proven, to hold the mean outcome probability of every "
                f"bin in {level_text(level)} of samples."
            ),
            why_no_map=OF_OUTCOMES,
        ),
        "monotone": BandKind(
            monotone_confidence,
            "confidence band of a non-decreasing curve",
            None,
            lambda level, bins, model: (
                f"In at least {level_text(level)} of samples the band holds the whole curve, if the outcome "
                "probability never falls as the prediction rises and outcomes are independent. It is a picture, not a "
                "test of calibration."
            ),
            why_no_clusters="the limits of Clopper and Pearson take outcomes as independent",
            why_no_map=OF_OUTCOMES,
        ),
        "pointwise_consistency": BandKind(
            pointwise_consistency,
            "pointwise consistency bars",
            "frequency",
            _alone(more=", more if bins hold few rows"),
            why_no_clusters="it draws rows, and an outcome for each, one by one",
            why_no_map="it draws the rows too, and an outcome for each from its prediction",
        ),
        "binomial": BandKind(
            binomial_bars,
            "pointwise binomial bars",
            "frequency",
            _alone(more=", more if bins hold few rows or the predictions of a bin differ"),
            why_no_clusters="a binomial number has independent outcomes",
        ),
        "pointwise_confidence": BandKind(
            pointwise_confidence,
            "pointwise confidence bars",
            "mean_prediction",
            _alone("the true frequencies"),
            of_clusters=lambda level, bins: _alone("the true frequencies")(level, bins, CALIBRATED),
            why_no_map=OF_OUTCOMES,
        ),
    }
)
