"""The recalibrations of the papers by name, fitted to some rows and applied to others."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from calibstat import compare
from calibstat.inference.summarize import question
from calibstat.recalibration import (
    HistogramBinning,
    IsotonicRegression,
    MatrixScaling,
    MeanReplacement,
    NeuralScaling,
    PlattScaling,
    Recalibrator,
    TemperatureScaling,
    VectorScaling,
)

Row = dict[str, Any]
Make = Callable[[int, float | None], Recalibrator]  # the arguments are a seed and `clip`

FIT_SHARE = 0.2  # share of the rows that recalibrations are fitted to
PASSES = 200  # of the neural network, whose loss falls for thousands
TOP_LABEL = {"lens": "top_label"}
BEFORE, REPLACED = "uncalibrated", "mean replacement"
RECALIBRATIONS: Mapping[str, Make] = {
    "temperature": lambda seed, clip: TemperatureScaling(clip=clip),
    "temperature, by ECE": lambda seed, clip: TemperatureScaling(objective="ece", options=TOP_LABEL, clip=clip),
    "Platt": lambda seed, clip: PlattScaling(clip=clip),
    "vector": lambda seed, clip: VectorScaling(clip=clip),
    "matrix": lambda seed, clip: MatrixScaling(clip=clip),
    "neural network": lambda seed, clip: NeuralScaling(max_iter=PASSES, random_state=seed, clip=clip),
    "isotonic": lambda seed, clip: IsotonicRegression(),
    "histogram": lambda seed, clip: HistogramBinning(),
    "histogram, by class": lambda seed, clip: HistogramBinning(class_conditional=True),
    "histogram, bootstrap": lambda seed, clip: HistogramBinning(n_resamples=20, random_state=seed),
    REPLACED: lambda seed, clip: MeanReplacement(),
}
RANKED = (  # the eight of Nixon et al. 2019, table 5, by their numbers in the paper
    "histogram, by class",
    "histogram, bootstrap",
    "isotonic",
    "temperature",
    "temperature, by ECE",
    "vector",
    "matrix",
    "neural network",
)
HARMLESS = (".* has not converged", ".* where the log loss")  # warnings of fits of which the tables tell


def fitted_to(n: int) -> int:
    """Return how many of n rows recalibrations are fitted to."""
    return round(FIT_SHARE * n)


def option_name(name: str) -> str:
    """Write the name of a recalibration as an option has it: "histogram, by class" is histogram_by_class."""
    return re.sub(r"[ ,]+", "_", name.lower())


def fitted(make: Make, y: np.ndarray, p: np.ndarray, seed: int, clip: float | None) -> Recalibrator:
    """Fit one recalibration; what a table tells of its fit is not warned of."""
    with warnings.catch_warnings():
        for message in HARMLESS:
            warnings.filterwarnings("ignore", message=message, category=RuntimeWarning)
        return make(seed, clip).fit(p, y)


def recalibrated(
    makes: Mapping[str, Make],
    y: np.ndarray,
    p: np.ndarray,
    others: np.ndarray,
    seed: int,
    clip: float | None = None,
) -> tuple[dict[str, np.ndarray], dict[str, bool]]:
    """Fit everything to some predictions, and return all predictions of others, and which fits converged."""
    models, converged = {BEFORE: others}, {}
    for name, make in makes.items():
        fit = fitted(make, y, p, seed, clip)
        models[name], converged[name] = fit.predict_proba(others), fit.converged_
    return models, converged


def infinite(y: np.ndarray, models: Mapping[str, np.ndarray]) -> list[str]:
    """Name the models whose log loss is infinite: they give an observed class the probability 0."""
    return [name for name, p in models.items() if not p[np.arange(y.size), y].all()]


def differences(
    y: np.ndarray,
    models: Mapping[str, np.ndarray],
    measures: Mapping[str, Mapping[str, Any]],
    reference: str,
    n_resamples: int,
    key: int,
) -> Iterator[Row]:
    """Return by how much each model exceeds the reference on the same rows, with the interval of `compare`.

    `measures` has the arguments of `compare` for each name. An infinite log loss makes the difference infinite.
    """
    without = infinite(y, models)
    for measure, arguments in measures.items():
        shared: Row = {"question": "difference", "measure": measure, "against": reference}
        unbounded = without if measure == "log_loss" else []
        finite = {name: p for name, p in models.items() if name not in unbounded}
        if reference in finite and len(finite) > 1:
            found = compare(y, finite, reference=reference, n_resamples=n_resamples, rng=key, **arguments)
            for (_, name), d, low, high in zip(found.pairs, found.difference, found.low, found.high, strict=True):
                yield {**shared, "model": name, "value": -d, "low": -high, "high": -low}
        for name in models:
            if name != reference and not (name in finite and reference in finite):
                size = np.nan if name not in finite and reference not in finite else np.inf
                value = -size if name in finite else size
                yield {**shared, "model": name, "value": value, "low": value, "high": value}


def questions(names: tuple[str, ...], n_classes: int) -> dict[str, dict[str, Any]]:
    """Return the arguments of functions for measures of `summarize`."""
    return {name: question(name, n_classes) for name in names}
