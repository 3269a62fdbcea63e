"""Confidence intervals for calibration measures."""

from __future__ import annotations

from typing import Unpack

from calibstat.data.checked_rows import Data
from calibstat.data.lenses import AnyLens
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.designs.question_of_rows import question
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.measure_options import RowsAndOptions
from calibstat.resampling import Draws
from calibstat.resampling.rng import Rng


@question("sample_weight", "cluster", "folds", "judge")
def confidence_interval(
    rows: Data,
    /,
    *,
    measure: str | Measure | type[Measure] | None = None,
    lens: AnyLens = None,
    method: str | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    **options: Unpack[RowsAndOptions],
) -> ConfidenceInterval:
    """Return a confidence interval for the population value of a measure.

    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2).sample(2000, rng=1)
    >>> result = cs.confidence_interval(y, p, measure="ks", rng=1)
    >>> result.low < cs.generators.temperature(2).truth("ks") < result.high
    True

    Parameters
    ----------
    y_true, y_prob, lens, **options
        As for `estimate`; rows may have weights, clusters, folds or a judge. A lens that shows one number.
    measure : str or Measure
        A name in `calibstat.MEASURES`, or a measure such as ``calibstat.measures.ECE(n_bins=10)``. Default: "ece"; with
        folds "kernel_ce".
    method : str, optional
        Default "honest", which keeps its coverage near calibration and with rare outcomes, where the bootstrap fails;
        measures have it if ``has_form``. "proven", for `l1` with a shape: its high end is a theorem. "bracket", for
        distances: from a measure that is never above to one that is never below. "percentile", "basic" and "bca" are
        the usual bootstrap intervals, for every measure: near calibration they miss the true value. Clusters have
        "honest", "percentile" and "basic"; folds "triangle", the default, and "mirror", shorter, for learners that
        correct at most fully; a judge "rectified".
    confidence_level : float
        Between 0 and 1.
    n_resamples : int, optional
        At least 1; "honest" draws as many again from the null hypothesis. Default: 999, or 99 for a slow measure.
    rng, n_jobs
        As for `calibration_test`.

    Returns
    -------
    ConfidenceInterval
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), or the measure has no such interval; the
        message names the methods that it has.

    Notes
    -----
    Rows are independent, or clusters, or as the page "Designs" says. "honest" has a high end that is a bound of the
    largest weighted sum of residuals, and a low end that is 0 unless the test of the same measure rejects at
    (1 - confidence_level) / 2. The high end of `ece` allows for the upward bias of the estimate and may lie below it.
    Bins that depend on the data are kept fixed. A mean of losses has score bounds; where a row has an infinite loss
    both ends are infinite. Statements, proofs and what is only asymptotic are on the pages of proofs, and
    how often intervals miss, in the studies `coverage` and `worst_case`. Cost: two passes of `n_resamples` over the
    data; "bca" one evaluation for each distinct row more.

    References
    ----------
    Fang, Santos 2019, doi:10.1093/restud/rdy049; Efron 1987, doi:10.2307/2289144; Bayle et al. 2020, arXiv:2007.12671;
    Angelopoulos et al. 2023, doi:10.1126/science.adi6000.
    """
    design = design_of(rows)
    way = design.interval_method(method, confidence_level)
    asked = find_measure(design.interval_measure if measure is None else measure, options)
    return design.interval(asked, way, confidence_level, Draws.of(rng, asked.draws(n_resamples), n_jobs))
