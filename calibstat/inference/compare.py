"""Comparisons of models on the same rows, and of samples of different rows."""

from __future__ import annotations

from typing import Unpack

from calibstat.data.checked_rows import Data, Models, Samples
from calibstat.data.lenses import AnyLens
from calibstat.inference.comparison_results import Comparison
from calibstat.inference.designs.design_of_models import design_of_models
from calibstat.inference.designs.question_of_rows import question_of_all
from calibstat.measures.kinds.base import Measure
from calibstat.measures.measure_options import RowsAndOptions
from calibstat.resampling import Draws
from calibstat.resampling.rng import Rng


@question_of_all("sample_weight", "cluster", "folds", "judge", "samples", "own_outcomes")
def compare(
    rows: Data | Models | Samples,
    /,
    *,
    measure: str | Measure | type[Measure] | None = None,
    lens: AnyLens = None,
    method: str | None = None,
    reference: str | None = None,
    adjust: str = "holm",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    **options: Unpack[RowsAndOptions],
) -> Comparison:
    """Compare a measure between models on the same rows, or between samples.

    >>> import calibstat as cs
    >>> y, p = cs.generators.calibrated().sample(2000, rng=1)
    >>> sharp = p**2 / (p**2 + (1 - p) ** 2)  # the same order, over-confident
    >>> result = cs.compare(y, {"model": p, "over-confident": sharp}, rng=1)
    >>> result.pvalue.item() < 0.01, result.high.item() < 0
    (True, True)

    Parameters
    ----------
    y_true : array_like, shape (n,), or mapping from name to array_like, shape (n,), or to (y_true, y_prob)
        Outcomes, the same for all models; a mapping with the outcomes of each model if each has its own (two language
        models on the same questions); or, of samples of different rows (two sites), both arrays of each sample.
    y_prob : mapping from name to array_like, shape (n,) or (n, K)
        The predictions of each of two models or more, for the same rows, with weights, clusters, folds or a judge.
    measure : str or Measure
        A name in `calibstat.MEASURES`, or a measure such as ``calibstat.measures.ECE(n_bins=10)``. Default:
        "kernel_ce_squared" with bandwidth 0.2; with folds or a judge "brier". "bootstrap" takes norms of residuals such
        as "ece" and "ks", and means of losses; "swap" any binary measure.
    lens, **options
        As for `estimate`. "bootstrap" needs one number of each model: "class_wise_mean" or "class_wise_max".
    method : {"bootstrap", "swap"}
        "bootstrap", the default, tests that two measures are equal, and gives an interval for their difference. "swap"
        is an exact permutation test of the stronger hypothesis that two models are exchangeable, without an interval,
        for the same rows, independent or in clusters. All other rows have one method.
    reference : str, optional
        The model with which all others are compared; by default all pairs are.
    adjust : {"holm", "bh"}
        How p-values are adjusted for the number of pairs: Holm, which bounds the chance of any false finding, or
        Benjamini and Hochberg, which bounds the share of false ones among the findings.
    confidence_level : float
        Between 0 and 1; of each interval by itself.
    n_resamples, rng, n_jobs
        As for `calibration_test`; 99 resamples for a slow measure. Squares and means of losses draw nothing.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), there are fewer than two models, or the
        measure has no such comparison; the message names those that have.

    Notes
    -----
    Null hypothesis of each pair: both models have the same measure in the population, whatever it is; of "swap", that
    the two can be exchanged. Two calibrated models of different sharpness cannot: a small p-value need not mean that
    one is better calibrated. A large one does not show that there is no difference. How intervals are made, and how
    often a difference is found where there is none, is on the pages "Behind comparisons" and "How squares are
    compared"; other rows are on "Designs". Cost: of squares a few sorts; else for each resample a pass over the rows of
    each model.

    References
    ----------
    Fang, Santos 2019, doi:10.1093/restud/rdy049; Hong, Li 2018, doi:10.1016/j.jeconom.2018.06.007; Holm 1979,
    www.jstor.org/stable/4615733; Benjamini, Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x.
    """
    design = design_of_models(rows)
    how = design.how_to_compare(method, reference, adjust, confidence_level)
    found = design.found_measure(measure, options)
    return design.compare(found, how, Draws.of(rng, found.draws(n_resamples), n_jobs))
