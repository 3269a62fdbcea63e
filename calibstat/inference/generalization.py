"""How much of a calibration error comes from rows the model has not seen: the calibration generalization gap."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.inference.comparison import compare
from calibstat.inference.intervals import confidence_interval
from calibstat.inference.problems import subject
from calibstat.inference.reliability import reliability
from calibstat.predictions import Predictions, as_predictions
from calibstat.results import GeneralizationGap


def generalization_gap(
    train: Any,
    test: Any,
    *,
    measure: str = "ece",
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    rng: Any = None,
    n_jobs: int = 1,
    labels: Any = None,
    **options: Any,
) -> GeneralizationGap:
    """Part the calibration error on test rows into that on training rows and the gap between the two.

    Parameters
    ----------
    train, test : tuple of array_like (y_true, y_prob), or Predictions
        Classes from 0 to K - 1 (or outcomes 0 and 1), shape (n,), and predictions, shape (n,) or (n, K), of the rows
        that the model was fitted on, and of others.
    measure : str
        What is compared: `ece` (L1), `kernel_ce`, `ks`, `kuiper` or `smooth_ce`, of outcome 1 of two, or of the most
        likely of more classes.
    confidence_level : float
        Between 0 and 1.
    n_resamples : int
        Number of resamples, at least 1.
    rng : None, int, SeedSequence or Generator
        Where randomness comes from; the same int gives the same numbers on any number of threads.
    n_jobs : int
        Threads; -1 for one a core.
    labels : sequence, optional
        The names of the classes, in the order of the columns.
    **options
        Options of the measure.

    Returns
    -------
    GeneralizationGap

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), an argument is unknown, or the measure has
        no honest interval.

    Notes
    -----
    Error on test = error on train + gap. Nakkiran et al. claim that the gap is at most the gap of the classification
    error. For the unbinned ECE of the most likely class it follows if the model is over-confident on test at every
    confidence and has at least as much mean confidence on train: then the ECE on test is mean confidence minus
    accuracy there, the ECE on train is at least the same difference there, and the difference of the two is at most
    that of the errors. So it does for that of outcome 1 of two, where over-confident is a prediction that is further
    from 1/2 than the outcomes are. The result says whether both hold on these data, bin by bin, and whether the bound
    does.

    Intervals are `honest` ones, that of the gap the one of `compare`, that of the error gap Newcombe's. Those for
    training rows treat the fitted model as given. Cost: that of three intervals.

    References
    ----------
    Carrell, Mallinar, Lucas, Nakkiran 2022, The Calibration Generalization Gap, arXiv:2210.01964; Newcombe 1998,
    doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I.

    Examples
    --------
    >>> import calibstat as cs
    >>> train = cs.generators.dirichlet((0.2, 0.2, 0.2)).sample(1000, rng=1)
    >>> test = cs.generators.dirichlet((0.2, 0.2, 0.2), temperature=2).sample(1000, rng=2)
    >>> found = cs.generalization_gap(train, test, rng=1)
    >>> found.gap_low > 0, found.less_confident, found.bounded
    (True, False, False)
    """
    from statsmodels.stats.proportion import confint_proportions_2indep

    seen, unseen = _predictions(train, labels, "train"), _predictions(test, labels, "test")
    key = int(resampling.key_of(rng))
    settings: dict[str, Any] = {"measure": measure, "confidence_level": confidence_level}
    settings |= {"n_resamples": n_resamples, "n_jobs": n_jobs, **options}
    on_train, on_test = (confidence_interval(data, rng=key, **settings) for data in (seen, unseen))
    both = compare({"test": (unseen, None), "train": (seen, None)}, rng=key, **settings)
    errors = [int(np.count_nonzero(data.top != data.label)) for data in (unseen, seen)]
    error_low, error_high = confint_proportions_2indep(
        errors[0], unseen.n, errors[1], seen.n, compare="diff", method="newcomb", alpha=1 - confidence_level
    )
    diagram = reliability(unseen, band="confidence")
    assert diagram.low is not None
    assert diagram.high is not None
    mean, frequency = diagram.mean_prediction, diagram.frequency
    below_half = (unseen.n_classes == 2) & (mean <= 0.5)  # where confidence is that in outcome 0
    not_over = np.where(below_half, frequency < mean, frequency > mean)
    clearly = np.where(below_half, diagram.high < mean, diagram.low > mean)
    return GeneralizationGap(
        train=on_train,
        test=on_test,
        gap=both.difference.item(),
        gap_low=both.low.item(),
        gap_high=both.high.item(),
        error_train=errors[1] / seen.n,
        error_test=errors[0] / unseen.n,
        error_gap=errors[0] / unseen.n - errors[1] / seen.n,
        error_gap_low=float(error_low),
        error_gap_high=float(error_high),
        confidence_train=float(seen.largest.mean()),
        confidence_test=float(unseen.largest.mean()),
        n_bins=diagram.count.size,
        n_not_overconfident=int(np.count_nonzero(not_over)),
        n_clearly_not=int(np.count_nonzero(clearly)),
        confidence_level=confidence_level,
        measure=both.measure,
        subject=subject(both.lens),
        n_train=seen.n,
        n_test=unseen.n,
    )


def _predictions(data: Any, labels: Any, name: str) -> Predictions:
    """Return the rows of one set."""
    if isinstance(data, Predictions):
        return resampling.in_order(as_predictions(data, labels=labels))
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise ValueError(f"expected {name}, a pair (y_true, y_prob) or Predictions, found {type(data).__name__}")
    return resampling.in_order(as_predictions(data[0], data[1], labels))
