"""Tests of calibration."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from calibstat.data.checked_rows import Data
from calibstat.data.checks import check_level
from calibstat.data.lenses import AnyLens
from calibstat.data.words.side import Side
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.designs.design import HowToTest
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.designs.question_of_rows import question
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.measure_options import RowsAndOptions
from calibstat.resampling import Draws
from calibstat.resampling.rng import Rng


@question("sample_weight", "cluster", "folds", "judge")
def calibration_test(
    rows: Data,
    /,
    *,
    measure: str | Measure | type[Measure] | None = None,
    lens: AnyLens = None,
    null: object = None,
    resample: str = "labels",
    method: str | None = None,
    n_resamples: int | None = None,
    stop_after: int | None = None,
    side: Side | None = None,
    margin: float | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    **options: Unpack[RowsAndOptions],
) -> CalibrationTestResult:
    """Test that the predictions are perfectly calibrated.

    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2).sample(2000, rng=1)
    >>> result = cs.calibration_test(y, p, rng=1)
    >>> result.pvalue, result.deviation.claims
    (0.001, ('too far apart',))

    Parameters
    ----------
    y_true, y_prob, lens, **options
        As for `estimate`; rows may have weights, clusters, folds or a judge.
    measure : str or Measure
        The statistic: a name in `calibstat.MEASURES`, or a measure such as ``calibstat.measures.ECE(n_bins=10)``.
        Default: "omnibus", for errors of any shape; with folds "kernel_ce", with a judge "ks".
    null : None, fitted recalibrator or callable
        None tests calibration. A calibration map, fitted on other rows, tests that outcomes come from the
        probabilities to which it maps the predictions. For independent rows.
    resample : {"labels", "both"}
        "labels" draws outcomes from the predictions: exact for every n and measure. "both" draws rows too, as the
        literature does: approximate, and it rejects too often where bins hold few rows. For independent rows.
    method : str, optional
        With a judge "direction", the default, or "noise". All other rows have one method.
    n_resamples : int, optional
        At least 1; with `stop_after` the largest number. Default: 999, or 99 for a slow measure.
    stop_after : int, optional
        Stop drawing after so many resamples at least as extreme as the data; 20 is usual. For independent rows.
    side : {"over", "under"}, optional
        Whether any predictions are too high, or too low; fix it before the outcomes are seen. By "omnibus", "mean",
        "ks", "kuiper" or "ece"; with clusters by "mean". Default: both sides.
    margin : float, optional
        The largest error (ECE) that the verdict calls small. Default: 0.02, and at most a fifth of the smaller of the
        mean outcome and 1 minus it. It does not change the p-value. Only with the default measure and both sides.
    rng, n_jobs
        Seed or generator, and number of threads (-1: one per core). The same int gives the same numbers for any number.

    Returns
    -------
    CalibrationTestResult
        With lens "class_wise" `.classes` has each. `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), or these rows do not take an argument.

    Notes
    -----
    Null hypothesis: given the predictions, every outcome is 1 independently with its predicted probability; of `side`
    "over" with at least this probability. The p-value is the probability of a statistic at least as extreme if that
    holds; it is at most a with probability of at most a. A large one means that this statistic finds no evidence, not
    that the model is calibrated; a small one does not say how large the error is. So with the default measure the
    verdict states the ECE with its 95 % interval, in points of a percentage, in `size`. Rows the model was fitted to
    make the p-value too large, and rows that depend on each other too small, unless `cluster` names them. See the pages
    "Designs", "One side" and "Tests". Cost: one sort, and `n_resamples` values of the measure.

    References
    ----------
    Bröcker, Smith 2007, doi:10.1175/WAF993.1; Vaicenavicius et al. 2019, arXiv:1902.06977.
    """
    design = design_of(rows)
    way, how = design.test_method(method), design.how_to_test(HowToTest(null, resample, stop_after, side))
    asked = find_measure(design.usual_measure(how.side) if measure is None else measure, options)
    of_calibration = null is None and side is None
    states_ece = of_calibration and asked.info.for_tests_only  # the verdict of another measure states this one
    if margin is not None:
        check_level("margin", margin)
        if not states_ece:
            other = f"measure={asked.name!r}" if of_calibration else "null=" if side is None else f"side={side!r}"
            of_side = "" if side is None else f", side={side!r}"
            raise ValueError(
                f"expected no margin= beside {other}, whose verdict does not state the ECE, found margin={margin}; "
                f"write calibstat.equivalence_test(y, p, margin={margin}{of_side})"
            )
    draws = Draws.of(rng, asked.draws(n_resamples), n_jobs)
    found = design.beside_impossible_rows(design.test(asked, way, how, draws), asked, way, how, draws)
    return replace(found, size=design.size_of_error(margin, draws)) if states_ece else found
