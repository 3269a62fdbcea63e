"""What became of a model: accuracy, calibration and proper scores of several versions of it side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.checks import check_level, cut, short
from calibstat.inference.comparison import compare
from calibstat.inference.intervals import confidence_interval
from calibstat.predictions import Predictions, as_predictions
from calibstat.results import Summary, read_only

CALIBRATION: dict[str, dict[str, Any]] = {
    "ece": {"measure": "ece", "lens": "top_label"},
    "ace": {"measure": "ece", "strategy": "quantile", "lens": "class_wise", "reduce": "mean"},
    "smooth_ece": {"measure": "smooth_ece", "lens": "top_label"},
}
SCORES: dict[str, dict[str, Any]] = {
    "log_loss": {"measure": "log_loss", "lens": "canonical"},
    "brier": {"measure": "brier", "lens": "canonical"},
}
MEASURES = ("accuracy", *CALIBRATION, *SCORES)


def summarize(
    y_true: Any,
    y_prob: Mapping[str, Any],
    *,
    reference: str | None = None,
    confidence_level: float = 0.95,
    clip: float | None = None,
    n_resamples: int = 999,
    rng: Any = None,
    n_jobs: int = 1,
    labels: Any = None,
) -> Summary:
    """Put accuracy, calibration errors and proper scores of several models side by side, and warn of bad bargains.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        Classes from 0 to K - 1, or outcomes 0 and 1.
    y_prob : mapping from name to array_like, shape (n,) or (n, K)
        The predictions of each model, or of one model after each recalibration, for the same rows.
    reference : str, optional
        The model with which the others are compared, by default the first.
    confidence_level : float
        Between 0 and 1; of each interval by itself.
    clip : float, optional
        For `log_loss`: predictions are moved into [clip, 1 - clip], `clip` below 1/2. By default none is moved, and a
        class of probability 0 that happened makes it infinite, which `warnings` says with the row.
    n_resamples : int
        Number of resamples, at least 1.
    rng : None, int, SeedSequence or Generator
        Where randomness comes from; the same int gives the same numbers on any number of threads.
    n_jobs : int
        Threads; -1 for one a core.
    labels : sequence, optional
        The names of the classes, in the order of the columns.

    Returns
    -------
    Summary

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), or the reference is none of the models.

    Notes
    -----
    Reported are the share of rows in which the most likely class happened, with Wilson's interval; the calibration
    error of the most likely class over 15 equal-width bins (`ece`) and without bins (`smooth_ece`); the adaptive error
    of all classes (`ace`: the mean over the classes of their errors over 15 bins of equal numbers of rows); the
    logarithmic loss and the Brier score of the whole vectors. All intervals are `honest` ones, see
    `confidence_interval`.

    A recalibration can lower a calibration error by throwing away what the model knows: predicting the accuracy for
    every row does. Proper scores notice. A warning is given for every model whose `ece` is below that of the reference
    while one of the two scores is higher, the interval of the paired difference (see `compare`) not holding 0. Cost:
    that of five intervals for each model, most of it for `smooth_ece`.

    References
    ----------
    Chidambaram, Ge 2024, Reassessing How to Compare and Improve the Calibration of Machine Learning Models,
    arXiv:2406.04068.

    Examples
    --------
    >>> import calibstat as cs
    >>> y, p = cs.generators.dirichlet((0.3, 0.3, 0.3), temperature=2).sample(1000, rng=1)
    >>> found = cs.summarize(y, {"model": p, "always the same": p * 0 + 1 / 3}, n_resamples=199, rng=1)
    >>> found.names, found.estimate.shape
    (('model', 'always the same'), (2, 6))
    >>> found.warnings[0].partition(" [")[0]
    'always the same: ece falls from 0.1008 to 0.0177, but log_loss rises by 0.4743'
    """
    check_level("confidence_level", confidence_level)
    if not isinstance(y_prob, Mapping) or not y_prob:
        raise ValueError(f"expected y_prob, a mapping from name to predictions, found {type(y_prob).__name__}")
    models = {str(name): as_predictions(y_true, p, labels) for name, p in y_prob.items()}
    names = tuple(models)
    reference = names[0] if reference is None else reference
    if reference not in models:
        raise ValueError(f"expected a reference, one of {cut(', '.join(names))}; found {short(reference)}")
    settings = {"confidence_level": confidence_level, "n_resamples": n_resamples, "n_jobs": n_jobs}
    settings["rng"] = int(resampling.key_of(rng))
    scores = {**SCORES, "log_loss": {**SCORES["log_loss"], "clip": clip}}
    found = {name: _row(predictions, scores, settings) for name, predictions in models.items()}
    table = np.array([[cell[:3] for cell in row] for row in found.values()])
    infinite = [f"{name}: log_loss is infinite: {cell[3]}." for name, row in found.items() for cell in row if cell[3]]
    return Summary(
        names=names,
        measures=MEASURES,
        estimate=read_only(table[..., 0].copy()),
        low=read_only(table[..., 1].copy()),
        high=read_only(table[..., 2].copy()),
        warnings=(
            *infinite,
            *_bad_bargains(y_true, y_prob, table[..., 0], names, reference, labels, scores, settings),
        ),
        reference=reference,
        confidence_level=confidence_level,
        n=models[reference].n,
    )


def _row(
    predictions: Predictions, scores: Mapping[str, dict[str, Any]], settings: dict[str, Any]
) -> list[tuple[float, float, float, str]]:
    """Return estimate and ends of every measure, and why it is infinite if it is."""
    from statsmodels.stats.proportion import proportion_confint

    right = int(np.count_nonzero(predictions.top == predictions.label))
    ends = proportion_confint(right, predictions.n, alpha=1 - settings["confidence_level"], method="wilson")
    row = [(right / predictions.n, float(ends[0]), float(ends[1]), "")]
    for asked in (*CALIBRATION.values(), *scores.values()):
        found = confidence_interval(predictions, **asked, **settings)
        row.append((found.estimate, found.low, found.high, found.why_infinite))
    return row


def _bad_bargains(
    y_true: Any,
    y_prob: Mapping[str, Any],
    estimate: np.ndarray,
    names: tuple[str, ...],
    reference: str,
    labels: Any,
    scores: Mapping[str, dict[str, Any]],
    settings: dict[str, Any],
) -> list[str]:
    """Name the models that bought calibration with a worse proper score."""
    base = estimate[names.index(reference)]
    ece = MEASURES.index("ece")
    found = []
    for name, row in zip(names, estimate, strict=True):
        if row[ece] >= base[ece]:
            continue
        for score, asked in scores.items():
            before, after = (values[MEASURES.index(score)] for values in (base, row))
            if not after > before:
                continue
            text = f"{name}: ece falls from {base[ece]:.4f} to {row[ece]:.4f}, but {score} rises"
            if np.isinf(after):
                found.append(f"{text} to infinity.")
                continue
            pair = {name: y_prob[name], reference: y_prob[reference]}
            difference = compare(y_true, pair, labels=labels, **asked, **settings)
            low, high = difference.low.item(), difference.high.item()
            if low > 0:
                found.append(f"{text} by {after - before:.4f} [{low:.4f}, {high:.4f}].")
    return found
