"""Whether a model is worse calibrated on some rows than on others: at site B than at site A, this year than last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from numpy.typing import ArrayLike

from calibstat.data.checks import options_of
from calibstat.data.lenses import AnyLens
from calibstat.inference.comparing.compare import compare
from calibstat.inference.comparing.comparison_results import Comparison
from calibstat.measures.kinds.base import Measure
from calibstat.measures.measure_options import MeasureOptions
from calibstat.resampling.rng import Rng


def compare_samples(
    samples: Mapping[str, Any],
    *,
    measure: str | Measure | type[Measure] | None = None,
    lens: AnyLens = None,
    reduce: str | None = None,
    reference: str | None = None,
    adjust: str = "holm",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    labels: ArrayLike | None = None,
    pos_label: object = None,
    **options: Unpack[MeasureOptions],
) -> Comparison:
    """Compare calibration between independent samples of different rows, such as two sites or two years.

    Parameters
    ----------
    samples : mapping from name to (y_true, y_prob)
        Outcomes, shape (n,), and predictions in [0, 1], shape (n,) or (n, K), of each sample, two samples or more.
    measure, lens, reduce, reference, adjust, confidence_level, n_resamples, rng, n_jobs, labels, pos_label, **options
        As for `compare`.

    Returns
    -------
    Comparison
        The first minus the second sample of each pair.

    Raises
    ------
    ValueError
        As for `compare`.

    Notes
    -----
    It is ``compare(samples)``. Null hypothesis: both samples come from populations with the same calibration error.
    Rows are independent, and so are the samples: the variances of their estimates add. Rows that occur in both samples,
    or models on the same rows, are compared by ``compare(y, models)``, which finds more.

    Examples
    --------
    >>> import calibstat as cs
    >>> here = cs.generators.calibrated().sample(1000, rng=1)
    >>> there = cs.generators.temperature(2).sample(1000, rng=2)
    >>> result = cs.compare_samples({"here": here, "there": there})
    >>> result.pvalue.item() < 0.01, result.high.item() < 0
    (True, True)
    """
    settings: dict[str, Any] = {"lens": lens, "reduce": reduce, "reference": reference, "adjust": adjust, "rng": rng}
    settings |= {"confidence_level": confidence_level, "n_resamples": n_resamples, "n_jobs": n_jobs, "labels": labels}
    with options_of(compare_samples, options):
        return compare(samples, measure=measure, pos_label=pos_label, **settings, **options)
