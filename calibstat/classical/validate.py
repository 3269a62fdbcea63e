"""The numbers that reports of clinical prediction models give, in one table."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from calibstat.bounds.number_of_events import smallest_mean
from calibstat.classical.area_interval import area_interval
from calibstat.classical.binary_input import between, binary_input, open_rows
from calibstat.classical.by_cluster import by_cluster, why_no_table
from calibstat.classical.by_cluster_result import ByCluster
from calibstat.classical.cox import Numbers, line_numbers, profile_ends
from calibstat.classical.flexible_curve import flexible_curve
from calibstat.classical.likelihood_indices import LikelihoodIndices
from calibstat.classical.local_regression import SMOOTHER, lowess
from calibstat.classical.robust_line import robust_line
from calibstat.classical.row_quantiles import row_quantiles
from calibstat.classical.shift_of_clusters import ends_of_shift
from calibstat.classical.spiegelhalter import spiegelhalter_z
from calibstat.classical.validation_result import OF_COUNTED_ROWS, OF_THE_LINE, Interval, Validation, reasons
from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import check_level
from calibstat.data.data_notes import auc
from calibstat.data.lenses import AnyLens
from calibstat.data.sample import Sample
from calibstat.data.single_precision import edges_for
from calibstat.data.views import BinaryView
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.designs.design import Design
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.designs.question_of_rows import question
from calibstat.inference.unit_rows import UnitRows
from calibstat.measures.losses import Brier

ERROR_SHARES = np.array([0.5, 0.9])  # of the rows, whose errors are below E50 and E90
BINS = 50  # of the histogram of predictions


@question("sample_weight", "cluster")
def validate(
    rows: Data,
    /,
    *,
    confidence_level: float = 0.95,
    clip: float | None = None,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> Validation:
    """Return the numbers that reports of clinical prediction models give.

    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2.0).sample(5000, rng=1)  # every logit twice too large
    >>> result = cs.validate(y, p)
    >>> round(result.slope, 1), [round(end, 2) for end in result.intervals["slope"]]
    (0.5, [0.44, 0.5])
    >>> round(result.ratio, 2), result.ici > 0.05
    (0.98, True)

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`, of rows on which the model was neither fitted nor chosen; they may have weights or clusters.
    confidence_level : float
        Of the intervals, between 0 and 1.
    clip : float, optional
        Where logits are taken, of intercept, slope, flexible curve, ECI, R², D, U and Q, predictions are moved into
        [clip, 1 - clip]. By default a prediction of exactly 0 or 1 raises; the message gives a value.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.

    Returns
    -------
    Validation
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), or an argument is wrong.

    Notes
    -----
    No null hypothesis: these are estimates; `calibration_test` tests, and `confidence_interval` bounds errors. Numbers
    that these rows do not have, such as an AUC of one outcome, are nan, and `missing` says why. ICI and its relatives
    have no intervals: they are never 0, and a bootstrap interval of them misses a calibrated model.

    The smoothed curve is the one of `rms::val.prob` in R, ``lowess(p, y, iter=0)``. The flexible curve is a logistic
    regression on a restricted cubic spline of the log-odds with 5 knots, with a pointwise band. With weights or
    clusters the intervals are for the population that the rows, or clusters, are an independent sample of. With
    clusters and without weights `by_cluster` has O/E, intercept and slope of each, such as a hospital. See the page
    "Clinical numbers". Cost: one sort and some 200 passes over the distinct predictions, or over 10,000 groups of them.

    References
    ----------
    Cox 1958, doi:10.1093/biomet/45.3-4.562; Cleveland 1979, doi:10.1080/01621459.1979.10481038; Fieller 1954 (ratios of
    means), doi:10.1111/j.2517-6161.1954.tb00159.x; Bell, McCaffrey 2002 (jackknife of clusters), Survey Methodology 28;
    Austin, Steyerberg 2019 (ICI, E50, E90), doi:10.1002/sim.8281; Van Hoorde et al. 2015 (ECI),
    doi:10.1016/j.jbi.2014.12.016; Steyerberg et al. 2010 (scaled Brier score), doi:10.1097/EDE.0b013e3181c30fb2;
    Harrell 2015, Regression modeling strategies (R², D, U, Q, splines); DeLong et al. 1988 (AUC), doi:10.2307/2531595.
    """
    check_level("confidence_level", confidence_level)
    seen, sample = binary_input(rows, "validation")
    design = design_of(rows)
    units = UnitRows.of(seen, design.unit, design.unseen)
    open_sample = between(seen, sample, clip, "validation")
    means = _means(sample)
    intervals, line = (
        _of_counts(sample, open_sample, means["auc"], confidence_level)
        if units is None
        else _of_units(seen, units, clip, confidence_level)
    )
    estimate = dict.fromkeys(OF_THE_LINE, np.nan) | {name: number for name, (number, _) in line.items()}
    flexible, frequency = flexible_curve(open_sample, confidence_level if units is None else None)
    indices = LikelihoodIndices.of(open_sample, estimate["intercept"], estimate["slope"])
    of_noise, pvalues = _of_noise(sample, indices) if units is None else (dict.fromkeys(OF_COUNTED_ROWS, np.nan), {})
    numbers: dict[str, Any] = {**means, **estimate, **_of_smoothed(sample), **of_noise}
    annotations = seen.annotations()
    if units is not None:
        annotations = units.annotated(seen, confidence_level, units.remark_on_ratio((1 - confidence_level) / 2))
    found = Validation(
        **numbers,
        eci=100 * float(open_sample.count @ (frequency - open_sample.value) ** 2) / float(sample.count.sum()),
        r2=indices.r2,
        intervals=intervals | {name: ends for name, (_, ends) in line.items()},
        pvalues=pvalues,
        confidence_level=confidence_level,
        smoother=SMOOTHER,
        flexible=flexible,
        histogram=_histogram(sample),
        lens=seen.lens,
        n=int(sample.n) if units is None else units.rows.n_rows,
        events=int(sample.positives.sum() if units is None else units.rows.outcome.sum()),
        drawn="rows" if units is None else units.drawn,
        cautions=() if units is None else units.cautions(seen, design.unit, design.unit_names),
        **annotations,
    )
    table, why = _by_cluster(design, seen, found, clip)
    missing = reasons(found, units is None, open_sample.value.size > 1) | why
    return replace(found, missing=missing, by_cluster=table)


def _means(sample: Sample) -> dict[str, float]:
    """Return the numbers that are made of means over the rows as they are, by name."""
    value, count, positives = sample.arrays
    total, positive = float(count.sum()), float(positives.sum())
    observed, predicted = positive / total, float(count @ value) / total
    if predicted == 0:
        raise ValueError("expected a prediction above 0 for validation, found 0 alone")
    brier = Brier().estimate(sample)
    return {
        "observed": observed,
        "predicted": predicted,
        "ratio": observed / predicted,
        "brier": brier,
        "scaled_brier": 1 - brier / (observed * (1 - observed)) if 0 < positive < total else float("nan"),
        "auc": auc(count, positives)[0],
    }


def _of_smoothed(sample: Sample) -> dict[str, Any]:
    """Return the smoothed curve, and how far it is from the predictions of the rows, by name."""
    value, count = sample.value, sample.count
    smoothed = lowess(sample)
    error = np.abs(np.interp(value, *smoothed) - value)
    order = np.argsort(error, kind="stable")
    e50, e90 = row_quantiles(error[order], count[order], ERROR_SHARES, sample.weighted is None).tolist()
    ici = float(count @ error) / float(count.sum())
    return {"ici": ici, "e50": e50, "e90": e90, "emax": float(error.max()), "lowess": np.stack(smoothed)}


def _of_counts(
    sample: Sample, open_sample: Sample, area: float, confidence_level: float
) -> tuple[dict[str, Interval], Numbers]:
    """Return the intervals of means and AUC of independent rows, and the numbers of Cox's recalibration."""
    events, n = sample.positives.sum(), sample.count.sum()
    predicted = float(sample.count @ sample.value) / float(n)
    low, rest = smallest_mean(np.array([events, n - events]), np.array([n, n]), (1 - confidence_level) / 2).tolist()
    brier = confidence_interval(sample, measure=Brier(), confidence_level=confidence_level)
    intervals = {
        "observed": (low, 1 - rest),
        "ratio": (low / predicted, (1 - rest) / predicted),
        "brier": (brier.low, brier.high),
    }
    of_area = area_interval(sample.count, sample.positives, area, confidence_level)
    intervals |= {} if of_area is None else {"auc": of_area}
    return intervals, line_numbers(open_sample, "validation", partial(profile_ends, confidence_level=confidence_level))


def _of_noise(sample: Sample, indices: LikelihoodIndices) -> tuple[dict[str, float], dict[str, float]]:
    """Return the numbers that know the noise of independent rows, and p-values, by name."""
    z, pvalue = spiegelhalter_z(sample)
    numbers = {
        "spiegelhalter_z": z,
        "discrimination": indices.discrimination,
        "unreliability": indices.unreliability,
        "quality": indices.discrimination - indices.unreliability,
    }
    pvalues = {"unreliability": indices.pvalue, "spiegelhalter_z": pvalue}
    return numbers, {name: each for name, each in pvalues.items() if not np.isnan(each)}


def _of_units(
    seen: BinaryView, units: UnitRows, clip: float | None, confidence_level: float
) -> tuple[dict[str, Interval], Numbers]:
    """Return the same of rows with weights or in clusters, of whose AUC there is no interval."""
    miss, rows = (1 - confidence_level) / 2, units.rows
    of_means = {
        "observed": units.ends("mean outcome", rows.outcome, (0.0, 1.0), miss),
        "ratio": units.ratio("O/E", miss),
        "brier": units.ends("brier", (rows.outcome - rows.prediction) ** 2, (0.0, 1.0), miss),
    }
    opened = open_rows(seen, rows, clip, "validation")
    line = robust_line(opened, units.unit, miss)
    if units.like_observed is not None and "in_the_large" in line:
        shift = line["in_the_large"][0]
        line["in_the_large"] = shift, ends_of_shift(opened, units.unit, units.like_observed.showing, shift, miss)
    return of_means, line


def _by_cluster(
    design: Design, seen: BinaryView, found: Validation, clip: float | None
) -> tuple[ByCluster | None, dict[str, str]]:
    """Return the table of clusters, or None; with clusters the reason for that is in the dictionary."""
    if design.unit is None:
        return None, {}
    if why := why_no_table(seen, design.unit):
        return None, {"by_cluster": why}
    has_line = not np.isnan(found.slope)
    line = (found.intercept, found.slope) if has_line else (found.in_the_large, 1.0)
    of_rows = found.ratio, found.intervals["ratio"]
    return by_cluster(seen, design.unit, design.unit_names, line, clip, of_rows, found.confidence_level), {}


def _histogram(sample: Sample) -> np.ndarray:
    """Return the rows with outcome 0 and with outcome 1 in bins of predictions of equal width, shape (2, BINS)."""
    edge = edges_for(sample.value, np.arange(1, BINS) / BINS)
    place = np.searchsorted(edge, sample.value, "right")
    return np.stack([np.bincount(place, w, BINS) for w in (sample.count - sample.positives, sample.positives)])
