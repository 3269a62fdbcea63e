"""Frozen numbers: what every verb gave for seeded data, to 1e-12, through public names alone.

``frozen.json`` holds the numbers; ``python tests/test_frozen.py --write`` makes it anew, which is right only where a
number was meant to change. A case is a function without arguments that returns a result, a number, an array or a dict
of those, parts of which may be the name of the type of error that was raised. Only what the file holds is compared, so
results may gain fields.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibstat as cs

FILE = Path(__file__).parent / "frozen.json"
TOLERANCE = 1e-12

MEASURES = (
    "ece", "ece_width", "ece_debiased", "ks", "kuiper", "lower_distance", "upper_distance", "interval_ce",
    "random_interval_ce", "surrogate_interval_ce", "brier", "log_loss", "normalized_log_loss", "mcb", "kernel_ce",
    "kernel_ce_squared", "average_ce", "smooth_ce", "post_processing_gap", "smooth_ece", "gce", "skce",
    "regression_ce", "canonical_ce",
)  # fmt: skip
SLOW = ("lower_distance", "upper_distance", "interval_ce")  # few resamples of little data
VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ece", {"n_bins": 7}),
    ("ece", {"n_bins": 7, "strategy": "quantile"}),
    ("ece", {"n_bins": 5, "norm": "l2"}),
    ("ece", {"n_bins": 5, "norm": "max"}),
    ("ece", {"n_bins": 6, "norm": 3.0}),
    ("ece", {"n_bins": None}),
    ("ece", {"n_bins": "cube_root"}),
    ("ece", {"strategy": (0.2, 0.45, 0.8)}),
    ("ece_width", {"n_bins": 7}),
    ("ece_debiased", {"n_bins": 7, "strategy": "quantile"}),
    ("ece_debiased", {"n_bins": 6, "variant": "kumar"}),
    ("average_ce", {"n_bins": 6}),
    ("lower_distance", {"grid": 40}),
    ("random_interval_ce", {"width": 0.25}),
    ("surrogate_interval_ce", {"precision": 0.01}),
    ("log_loss", {"clip": 0.01}),
    ("normalized_log_loss", {"clip": 0.01}),
    ("kernel_ce", {"kernel": "gaussian", "bandwidth": 0.3}),
    ("kernel_ce", {"bandwidth": 0.2}),
    ("kernel_ce_squared", {"kernel": "gaussian", "bandwidth": 0.3}),
    ("smooth_ece", {"bandwidth": 0.1}),
    ("gce", {"binning": "adaptive", "n_bins": 6}),
    ("gce", {"max_prob": True, "class_conditional": False, "norm": "l2", "n_bins": 7}),
    ("gce", {"threshold": 0.05, "norm": "l2"}),
    ("skce", {"statistic": "U"}),
    ("skce", {"statistic": "block", "block_size": 10}),
    ("skce", {"statistic": "block"}),
    ("skce", {"statistic": "linear"}),
    ("skce", {"kernel": "gaussian", "distance": "euclidean", "bandwidth": 0.5}),
    ("regression_ce", {"kernel": "epanechnikov", "bandwidth": 0.1}),
    ("regression_ce", {"divergence": "log_loss", "clip": 0.01, "bandwidth": 0.1}),
    ("regression_ce", {"estimator": "plug_in"}),
    ("canonical_ce", {"strategy": "uniform", "n_bins": 4}),
    ("canonical_ce", {"distance": "l1", "min_size": 20}),
    ("canonical_ce", {"distance": "squared_euclidean", "threshold": "median", "min_size": 25}),
    ("canonical_ce", {"refit": False, "min_size": 20}),
)


# --- data --------------------------------------------------------------------------------------------------------


def _draw(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(p.size) < p).astype(np.int64)


@cache
def ties() -> tuple[np.ndarray, np.ndarray]:
    """Ten distinct predictions, 0 and 1 among them, which are right whenever they are made."""
    rng = np.random.default_rng(11)
    p = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])[rng.integers(0, 10, 120)]
    return _draw(np.where((p == 0) | (p == 1), p, 0.1 + 0.7 * p), rng), p


@cache
def smooth(n: int = 150, seed: int = 12, power: float = 1.4) -> tuple[np.ndarray, np.ndarray]:
    """Predictions without ties that are wrong by a power."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return _draw(p**power, rng), p


@cache
def calibrated() -> tuple[np.ndarray, np.ndarray]:
    return smooth(90, 13, 1.0)


@cache
def impossible() -> tuple[np.ndarray, np.ndarray]:
    """Ties, and one prediction of 0 that fails."""
    y, p = ties()
    y = y.copy()
    y[np.flatnonzero(p == 0)[0]] = 1
    return y, p


@cache
def counts() -> tuple[cs.Sample]:
    value = [0.05, 0.15, 0.3, 0.4, 0.55, 0.65, 0.8, 0.95]
    return (cs.Sample.from_counts(value, [20, 31, 12, 40, 5, 22, 37, 18], [3, 4, 5, 13, 2, 17, 28, 18]),)


@cache
def weights() -> tuple[cs.Sample]:
    y, p = smooth(80, 14)
    return (cs.Sample.from_rows(y, p, 0.5 + np.random.default_rng(15).random(80)),)


@cache
def classes(n: int = 150, seed: int = 16, sharper: float = 1.3) -> tuple[np.ndarray, np.ndarray]:
    """Three classes with over-confident predictions."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=(n, 3)) + np.array([0.4, 0.0, -0.2])
    law, prob = np.exp(score), np.exp(sharper * score)
    law /= law.sum(axis=1, keepdims=True)
    prob /= prob.sum(axis=1, keepdims=True)
    return (rng.random(n)[:, None] > law.cumsum(axis=1)[:, :2]).sum(axis=1), prob


def few(of: Callable[..., Any], n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    y, p = of()
    return y[:n], p[:n]


def clusters(n: int, size: int = 4) -> np.ndarray:
    return np.arange(n) * 7 % n // size


def _odd_scores(prob: np.ndarray) -> np.ndarray:
    return prob[:, 0] + prob[:, 2]


def _odd_outcomes(prob: np.ndarray, label: np.ndarray) -> np.ndarray:
    return (label != 1).astype(np.int64)


def lenses() -> dict[str, dict[str, Any]]:
    """The ways to look at three classes."""
    own = cs.Lens("0 or 2", _odd_scores, _odd_outcomes, "given its probability, class 0 or 2 happens with it.")
    return {
        "default": {},
        "canonical": {"lens": "canonical"},
        "class_wise": {"lens": "class_wise"},
        "class_wise mean": {"lens": "class_wise", "reduce": "mean"},
        "class_wise max": {"lens": "class_wise", "reduce": "max"},
        "top_label": {"lens": "top_label"},
        "one_class": {"lens": cs.lenses.one_class(1)},
        "groups": {"lens": cs.lenses.groups([[0, 2], [1]])},
        "top_k": {"lens": cs.lenses.top_k(2)},
        "own": {"lens": own},
    }


# --- numbers of results ------------------------------------------------------------------------------------------


def attempt(function: Callable[[], Any]) -> Any:
    """Return a result, or the name of the error's type."""
    try:
        return function()
    except Exception as error:
        return f"raises {type(error).__name__}"


def numbers(found: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers in a result by name, and of a long array its mean and a weighted mean."""
    if isinstance(found, str):
        if found.startswith("raises "):
            yield name, found
    elif isinstance(found, bool | int | float | np.generic) and not isinstance(found, np.void | np.str_):
        yield name, float(found)
    elif isinstance(found, np.ndarray):
        if found.dtype.names:
            for field in found.dtype.names:
                yield from numbers(found[field], f"{name}.{field}")
        elif found.dtype.kind in "biuf":
            yield from _array(found.astype(np.float64), name)
    elif isinstance(found, dict):
        for key, value in found.items():
            yield from numbers(value, f"{name}.{key}" if name else str(key))
    elif isinstance(found, tuple | list):
        for i, value in enumerate(found):
            yield from numbers(value, f"{name}[{i}]")
    elif dataclasses.is_dataclass(found):
        for field in dataclasses.fields(found):
            if field.name not in ("confidence_level", "n_resamples"):
                yield from numbers(getattr(found, field.name), f"{name}.{field.name}" if name else field.name)
    elif callable(found):
        yield from numbers(attempt(lambda: np.asarray(found(np.linspace(0, 1, 11)))), f"{name}()")


def _array(array: np.ndarray, name: str) -> Iterator[tuple[str, float]]:
    if array.size <= 3:
        yield from ((f"{name}[{i}]", float(entry)) for i, entry in enumerate(array.ravel()))
        return
    flat = array.ravel()
    finite = np.isfinite(flat)
    flat = np.where(finite, flat, 0.0)
    if not finite.all():
        yield f"{name} finite", float(np.count_nonzero(finite))
    yield f"{name} mean", math.fsum(flat) / flat.size
    yield f"{name} dot", math.fsum(flat * np.sin(np.arange(1, flat.size + 1))) / flat.size
    if name.endswith("null_distribution"):
        for level, entry in zip((0.1, 0.5, 0.9), np.quantile(flat, (0.1, 0.5, 0.9)), strict=True):
            yield f"{name} quantile {level}", float(entry)


def compute(case: Callable[[], Any]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(numbers(attempt(case)))


def differs(found: Any, frozen: Any) -> bool:
    if isinstance(frozen, str) or isinstance(found, str):
        return found != frozen
    if not math.isfinite(frozen) or not math.isfinite(found):
        return not (found == frozen or (math.isnan(found) and math.isnan(frozen)))
    return abs(found - frozen) > TOLERANCE * max(1.0, abs(frozen))


# --- cases -------------------------------------------------------------------------------------------------------


def over(verb: Callable[..., Any], kinds: dict[str, tuple[tuple[Any, ...], dict[str, Any]]], **given: Any) -> Any:
    """Return what a verb says of several kinds of data, each with arguments of its own."""
    return {kind: attempt(partial(verb, *data, **{**given, **arguments})) for kind, (data, arguments) in kinds.items()}


def events(measure: str) -> dict[str, Any]:
    cut = (lambda of: few(of, 30)) if measure in SLOW else lambda of: of()
    return {
        "ties": (cut(ties), {}),
        "smooth": (cut(smooth), {}),
        "calibrated": (cut(calibrated), {}),
        "counts": (counts(), {}),
    }


def seen(measure: str) -> dict[str, Any]:
    data = few(classes, 30) if measure in SLOW else classes()
    return {name: (data, given) for name, given in lenses().items()}


def cheap(measure: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a verb that draws, with a coarse grid where a fine one takes long."""
    return {"grid": 20, **options} if measure == "lower_distance" else options


def draws(measure: str, usual: int) -> int:
    return 4 if measure in SLOW else usual


def estimates(measure: str, **options: Any) -> Any:
    kinds = {**events(measure), "weights": (weights(), {}), "impossible": (impossible(), {}), **seen(measure)}
    kinds["sample_weight"] = (calibrated(), {"sample_weight": 1 + np.arange(90) % 5})
    return over(cs.estimate, kinds, measure=measure, **options)


def details(measure: str, **options: Any) -> Any:
    kinds = {**events(measure), "weights": (weights(), {}), **seen(measure)}
    return over(cs.detail, {k: (d, {o: v for o, v in g.items() if o != "reduce"}) for k, (d, g) in kinds.items()},
                measure=measure, **options)  # fmt: skip


def event_tests(measure: str, **options: Any) -> Any:
    kinds = events(measure)
    kinds["ties both"] = (kinds["ties"][0], {"resample": "both", "rng": 2})
    kinds["smooth both"] = (kinds["smooth"][0], {"resample": "both", "rng": 3})
    kinds["impossible"] = (few(impossible), {})
    return over(cs.calibration_test, kinds, measure=measure, n_resamples=draws(measure, 39), rng=1, **options)


def class_tests(measure: str, **options: Any) -> Any:
    kinds = seen(measure)
    for name in ("canonical", "class_wise", "class_wise max", "top_label"):
        data, given = kinds[name]
        kinds[f"{name} both"] = (data, {**given, "resample": "both", "rng": 5})
    return over(cs.calibration_test, kinds, measure=measure, n_resamples=draws(measure, 19), rng=4, **options)


def intervals_of_events(measure: str, method: str, **options: Any) -> Any:
    kinds = events(measure)
    kinds["90 %"] = (kinds["ties"][0], {"confidence_level": 0.9, "rng": 7})
    for name in ("ties", "smooth"):
        data = kinds[name][0]
        kinds[f"{name} clusters"] = (data, {"cluster": clusters(data[0].size)})
    return over(
        cs.confidence_interval, kinds, measure=measure, method=method, n_resamples=draws(measure, 39), rng=6, **options
    )


def intervals_of_classes(measure: str, method: str, **options: Any) -> Any:
    kinds = seen(measure)
    for name in ("canonical", "class_wise mean", "top_label"):
        data, given = kinds[name]
        kinds[f"{name} clusters"] = (data, {**given, "cluster": clusters(data[0].size)})
    return over(
        cs.confidence_interval, kinds, measure=measure, method=method, n_resamples=draws(measure, 19), rng=8, **options
    )


def both_tests(measure: str, **options: Any) -> Any:
    options = cheap(measure, options)
    return {"events": event_tests(measure, **options), "classes": class_tests(measure, **options)}


def intervals(measure: str, methods: tuple[str, ...], **options: Any) -> Any:
    options = cheap(measure, options)
    return {
        f"{method} {name}": of(measure, method, **options)
        for method in methods
        for name, of in (("events", intervals_of_events), ("classes", intervals_of_classes))
        if (method, name) != ("bca", "classes") or measure == "ece"
    }


def models(n: int = 120) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    y, p = smooth()
    y, p = y[:n], p[:n]
    return y, {"plain": p, "sharp": p**2 / (p**2 + (1 - p) ** 2), "rounded": p.round(1)}


def class_models() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    y, p = classes()
    y, p = y[:120], p[:120]
    flat = np.sqrt(p) / np.sqrt(p).sum(axis=1, keepdims=True)
    return y, {"plain": p, "flat": flat}


def samples() -> tuple[dict[str, Any]]:
    return ({"a": smooth(100, 21), "b": smooth(80, 22, 1.0), "c": ties()},)


def comparisons(measure: str, method: str, **options: Any) -> Any:
    y, of = models(30 if measure in SLOW else 120)
    two = {name: of[name] for name in ("plain", "sharp")}
    labels, of_classes = class_models()
    both = (labels, of_classes)
    kinds: dict[str, Any] = {
        "paired": ((y, two), {}),
        "three": ((y, of), {}),
        "reference": ((y, of), {"reference": "sharp", "adjust": "bh", "confidence_level": 0.9}),
        "clusters": ((y, two), {"cluster": clusters(y.size, 3)}),
        "samples": (samples(), {}),
        "two samples": (({name: samples()[0][name] for name in "ab"},), {}),
        "default": (both, {}),
        **{
            name: (both, given)
            for name, given in lenses().items()
            if name in ("canonical", "class_wise", "top_label", "one_class", "groups", "own")
        },
        "top_label clusters": (both, {"lens": "top_label", "cluster": clusters(labels.size, 3)}),
    }
    if measure in SLOW:
        kinds = {name: kinds[name] for name in ("paired", "samples", "one_class")}
    given = {"n_resamples": draws(measure, 19), "rng": 9, **cheap(measure, options)}
    return over(cs.compare, kinds, measure=measure, method=method, **given)


def one_event(verb: Callable[..., Any], **given: Any) -> Any:
    """Return what a verb for one event says of everything."""
    kinds = {**events(""), "impossible": (impossible(), {}), "weights": (weights(), {}), **seen("")}
    return over(verb, {k: (d, {o: v for o, v in g.items() if o != "reduce"}) for k, (d, g) in kinds.items()}, **given)


def gaps(measure: str) -> Any:
    kinds = {
        "event": ((smooth(100, 23), smooth(90, 24, 1.2)), {}),
        "ties": ((ties(), calibrated()), {"rng": 3, "confidence_level": 0.9}),
        "classes": ((classes(), classes(100, 26, 1.6)), {}),
    }
    return over(cs.generalization_gap, kinds, measure=measure, n_resamples=29, rng=2)


def recalibrated(name: str, **options: Any) -> Any:
    """Return what a recalibrator fitted on some rows makes of others."""
    found = {}
    for kind, (y, p), (_, new) in (
        ("event", smooth(), calibrated()),
        ("ties", ties(), ties()),
        ("classes", classes(), classes(60, 27)),
    ):

        def fitted(p: Any = p, y: Any = y, new: Any = new) -> Any:
            return getattr(cs.recalibration, name)(**options).fit(p, y).predict_proba(new)

        found[kind] = attempt(fitted)
    return found


def family(make: Callable[[], Any]) -> Any:
    """Return rows of a family of one event, its population values and its curve."""
    generator = make()
    y, p = generator.sample(80, rng=3)
    found = {f"truth {m}": attempt(partial(generator.truth, m)) for m in MEASURES if m not in SLOW}
    for name, options in (
        ("ece", {"n_bins": 7}),
        ("ece", {"n_bins": 5, "strategy": "quantile"}),
        ("ece", {"n_bins": None}),
        ("ece", {"norm": "l2"}),
        ("kernel_ce", {"kernel": "gaussian", "bandwidth": 0.3}),
    ):
        found[f"truth {name}({text(options)})"] = attempt(partial(generator.truth, name, **options))
    found["curve"] = attempt(lambda: generator.curve([0.1, 0.25, 0.5, 0.8]))
    found["distance"] = attempt(generator.distance)
    return {"y": y, "p": p, "calibrated": attempt(lambda: generator.is_calibrated), **found}


def slow_truths(make: Callable[[], Any]) -> Any:
    generator = make()
    return {m: attempt(partial(generator.truth, m)) for m in SLOW}


def family_of_classes(make: Callable[[], Any]) -> Any:
    generator = make()
    y, p = generator.sample(80, rng=3)
    found: dict[str, Any] = {"y": y, "p": p, "calibrated": attempt(lambda: generator.is_calibrated)}
    for m in MEASURES:
        if m in ("ece", "brier", "log_loss", "canonical_ce", "ks", "kernel_ce", "smooth_ce", "mcb", "gce", "skce"):
            found[m] = attempt(partial(generator.truth, m))
    for m in ("ece", "brier", "log_loss", "ks"):
        for name, given in lenses().items():
            found[f"{m} {name}"] = attempt(partial(generator.truth, m, **given))
    found["canonical_ce uniform"] = attempt(partial(generator.truth, "canonical_ce", strategy="uniform", n_bins=4))
    found["conditional"] = attempt(lambda: generator.conditional(p[:5]))
    return found


def text(options: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in options.items())


def build() -> dict[str, Callable[[], Any]]:
    table: dict[str, Callable[[], Any]] = {}
    every = [(m, {}) for m in MEASURES] + list(VARIANTS)
    for measure, options in every:
        name = f"{measure}({text(options)})"
        table[f"estimate {name}"] = partial(estimates, measure, **options)
        table[f"test {name}"] = partial(both_tests, measure, **options)
    for measure in MEASURES:
        table[f"detail {measure}"] = partial(details, measure)
        for methods in (("honest",), ("percentile", "basic", "bca")):
            table[f"interval {measure} {' '.join(methods)}"] = partial(intervals, measure, methods)
        for method in ("bootstrap", "swap"):
            table[f"compare {measure} {method}"] = partial(comparisons, measure, method)
    for measure, options in VARIANTS:
        if measure in ("ece", "kernel_ce", "smooth_ece", "canonical_ce", "log_loss"):
            name = f"{measure}({text(options)})"
            table[f"interval {name} honest"] = partial(intervals, measure, ("honest",), **options)
            table[f"compare {name}"] = partial(comparisons, measure, "bootstrap", **options)
    for measure in ("ece", "kernel_ce", "ks", "kuiper", "smooth_ce", "brier"):
        table[f"gap {measure}"] = partial(gaps, measure)

    event: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "reliability": (cs.reliability, {"n_resamples": 49, "rng": 1}),
        "reliability quantile": (cs.reliability, {"n_bins": 7, "strategy": "quantile", "n_resamples": 49, "rng": 2}),
        "reliability cuts": (cs.reliability, {"strategy": (0.3, 0.6), "n_resamples": 49, "rng": 2}),
        "reliability confidence": (cs.reliability, {"n_bins": 8, "band": "confidence", "level": 0.9,
                                                    "n_resamples": 49, "rng": 4}),
        "reliability no band": (cs.reliability, {"n_bins": 8, "band": None}),
        "sharpness": (cs.sharpness, {}),
        "sharpness log_loss": (cs.sharpness, {"divergence": "log_loss", "clip": 0.01, "n_points": 31}),
        "sharpness epanechnikov": (cs.sharpness, {"kernel": "epanechnikov", "bandwidth": 0.1, "n_points": 31}),
        "belt": (cs.calibration_belt, {"held_out": True, "clip": 0.001}),
        "belt of one level": (cs.calibration_belt, {"held_out": True, "confidence_levels": (0.9,), "clip": 0.01}),
        "belt unclipped": (cs.calibration_belt, {"held_out": True}),
        "cox": (cs.cox, {"held_out": True}),
        "cox clipped": (cs.cox, {"held_out": True, "clip": 0.01, "confidence_level": 0.9}),
        "hosmer_lemeshow": (cs.hosmer_lemeshow, {"held_out": True}),
        "hosmer_lemeshow fitted": (cs.hosmer_lemeshow, {"held_out": False, "fitted_params": 2, "n_groups": 6}),
        "hosmer_lemeshow uniform": (cs.hosmer_lemeshow, {"held_out": True, "n_groups": 5, "strategy": "uniform"}),
        "kolmogorov_smirnov": (cs.kolmogorov_smirnov, {}),
        "kuiper": (cs.kuiper, {}),
        "spiegelhalter": (cs.spiegelhalter, {}),
        "t_cal": (cs.t_cal, {"n_resamples": 39, "rng": 5}),
        "t_cal scales": (cs.t_cal, {"n_bins": (2, 5, 11), "n_resamples": 39, "rng": 6, "n_jobs": 2}),
    }  # fmt: skip
    for score in ("brier", "log_loss", "spherical"):
        for method, options in (("corp", {}), ("sharpness", {"bandwidth": 0.1}), ("murphy", {"n_bins": 6})):
            clip = {"clip": 0.01} if score == "log_loss" else {}
            event[f"decompose {score} {method}"] = (
                cs.decompose, {"score": score, "method": method, "n_resamples": 19, "rng": 7, **options, **clip},
            )  # fmt: skip
    event["decompose murphy quantile"] = (cs.decompose, {"method": "murphy", "strategy": "quantile", "n_bins": 5})
    event["decompose log_loss unclipped"] = (cs.decompose, {"score": "log_loss"})
    for name, (verb, given) in event.items():
        table[name] = partial(one_event, verb, **given)

    outcome, of = models()
    labels, of_classes = class_models()
    fitted = cs.recalibration.PlattScaling().fit(*smooth()[::-1]).predict_proba(smooth()[1])
    table["belt fitted"] = lambda: cs.calibration_belt(
        smooth()[0], fitted, held_out=False, confidence_levels=(0.5, 0.9)
    )
    table["summarize events"] = lambda: cs.summarize(outcome, of, n_resamples=39, rng=1)
    table["summarize reference"] = lambda: cs.summarize(
        outcome, of, reference="sharp", confidence_level=0.9, clip=0.01, n_resamples=39, rng=2, n_jobs=2
    )
    table["summarize classes"] = lambda: cs.summarize(labels, of_classes, n_resamples=39, rng=3)
    for method, options in (("asymptotic", {"n_resamples": 99}), ("block", {}), ("block", {"block_size": 10}),
                            ("linear", {}), ("asymptotic", {"kernel": "gaussian", "distance": "euclidean",
                                                            "bandwidth": 0.5, "n_resamples": 39})):  # fmt: skip
        kinds = {"event": (smooth(), {}), "classes": (classes(), {}), "ties": (ties(), {}), "counts": (counts(), {})}
        table[f"kernel_calibration_test {method} {text(options)}"] = partial(
            over, cs.kernel_calibration_test, kinds, method=method, rng=4, **options
        )
    for scorer in (cs.gce_family, cs.expected_calibration_error):
        kinds = {"event": (smooth(), {}), "classes": (classes(), {}), "ties": (ties(), {}), "counts": (counts(), {}),
                 "bins": (classes(), {"n_bins": 7}), "bins of event": (ties(), {"n_bins": 7})}  # fmt: skip
        table[f"scorer {scorer.__name__}"] = partial(over, scorer, kinds)

    for jobs in (1, 2):
        given = {"n_jobs": jobs, "rng": 31}
        large, vectors = smooth(400, 32), classes(400, 33)
        for measure in ("ece", "kernel_ce", "smooth_ce", "ks", "brier"):
            table[f"n_jobs={jobs} {measure}"] = partial(
                lambda measure, given, large, vectors: {
                    "test": cs.calibration_test(*large, measure=measure, n_resamples=99, **given),
                    "interval": cs.confidence_interval(*large, measure=measure, n_resamples=99, **given),
                    "clusters": cs.confidence_interval(
                        *large, measure=measure, n_resamples=49, cluster=clusters(400), **given
                    ),
                    "class_wise": cs.calibration_test(
                        *vectors, measure=measure, lens="class_wise", n_resamples=49, **given
                    ),
                },
                measure, given, large, vectors,
            )  # fmt: skip
        table[f"n_jobs={jobs} canonical_ce"] = partial(
            cs.calibration_test, *vectors, measure="canonical_ce", n_resamples=49, **given
        )
        table[f"n_jobs={jobs} skce"] = partial(cs.calibration_test, *vectors, measure="skce", n_resamples=29, **given)
        table[f"n_jobs={jobs} honest canonical_ce"] = partial(
            cs.confidence_interval, *vectors, measure="canonical_ce", n_resamples=49, **given
        )
        table[f"n_jobs={jobs} compare"] = partial(cs.compare, outcome, of, n_resamples=49, **given)
        table[f"n_jobs={jobs} compare swap"] = partial(cs.compare, outcome, of, method="swap", n_resamples=49, **given)
        table[f"n_jobs={jobs} gap"] = partial(
            cs.generalization_gap, smooth(100, 23), smooth(90, 24, 1.2), n_resamples=49, **given
        )

    recalibrators: dict[str, tuple[str, dict[str, Any]]] = {
        "TemperatureScaling": ("TemperatureScaling", {"clip": 0.01}),
        "TemperatureScaling brier": ("TemperatureScaling", {"objective": "brier", "clip": 0.01}),
        "TemperatureScaling unclipped": ("TemperatureScaling", {}),
        "PlattScaling": ("PlattScaling", {"clip": 0.01}),
        "VectorScaling": ("VectorScaling", {"clip": 0.01}),
        "MatrixScaling": ("MatrixScaling", {"clip": 0.01}),
        "MatrixScaling regularised": ("MatrixScaling", {"regularisation": 0.1, "clip": 0.01}),
        "IsotonicRegression": ("IsotonicRegression", {}),
        "HistogramBinning": ("HistogramBinning", {}),
        "HistogramBinning quantile": ("HistogramBinning", {"n_bins": 6, "strategy": "quantile"}),
        "HistogramBinning classes": ("HistogramBinning", {"n_bins": 6, "class_conditional": True}),
        "HistogramBinning bootstrap": ("HistogramBinning", {"n_bins": 6, "bootstrap": 9, "rng": 1}),
        "NeuralScaling": (
            "NeuralScaling",
            {"hidden_layer_sizes": (4,), "max_iter": 15, "random_state": 1, "clip": 0.01},
        ),
        "MeanReplacement": ("MeanReplacement", {}),
    }
    for name, (kind, options) in recalibrators.items():
        table[f"recalibration {name}"] = partial(recalibrated, kind, **options)

    make = cs.generators
    finite = {
        "two_point": lambda: make.two_point(0.1),
        "domain": lambda: make.domain([0.2, 0.3, 0.1, 0.4], [0.1, 0.5, 0.4, 0.9], [0.2, 0.4, 0.4, 0.8]),
    }
    families = {
        **finite,
        "calibrated": lambda: make.calibrated(),
        "temperature": lambda: make.temperature(2.0),
        "shift": lambda: make.shift(0.4),
        "gaussian_mixture": lambda: make.gaussian_mixture(0.5, 1.5),
        "high_frequency": lambda: make.high_frequency(5),
        "hidden": lambda: make.hidden(),
        "quadratic_gap": lambda: make.quadratic_gap(0.1),
        "interval_gap": lambda: make.interval_gap(0.1, 0.05),
        "groups": lambda: make.groups({"a": (0.4, make.temperature(2.0)), "b": (0.6, make.calibrated())}),
        "distorted": lambda: make.distorted(make.calibrated(), temperature=1.5, shift=0.2, s_shape=0.3),
        "prevalence": lambda: make.prevalence(make.temperature(1.5), 0.2),
    }
    for name, of_family in families.items():
        table[f"family {name}"] = partial(family, of_family)
    for name, of_family in finite.items():
        table[f"family {name} slow"] = partial(slow_truths, of_family)
    for name, of_family in {
        "six_points": lambda: make.six_points(),
        "dirichlet": lambda: make.dirichlet([1.0, 2.0, 1.5], temperature=1.5),
        "label_noise": lambda: make.label_noise(make.six_points(), 0.2),
        "always_wrong": lambda: make.always_wrong(3, 0.1),
    }.items():
        table[f"family {name}"] = partial(family_of_classes, of_family)

    y, p = smooth()
    wrong: dict[str, Callable[[], Any]] = {
        "belt unsaid": lambda: cs.calibration_belt(y, p),
        "cox fitted": lambda: cs.cox(y, p, held_out=False),
        "belt not fitted": lambda: cs.calibration_belt(y, p, held_out=False),
        "unknown measure": lambda: cs.estimate(y, p, measure="nothing"),
        "unknown option": lambda: cs.estimate(y, p, measure="ks", n_bins=3),
        "unknown lens": lambda: cs.estimate(*classes(), lens="nothing"),
        "unknown method": lambda: cs.confidence_interval(y, p, method="nothing"),
        "unknown resample": lambda: cs.calibration_test(y, p, resample="nothing"),
        "cluster in a test": lambda: cs.calibration_test(y, p, cluster=clusters(150)),
        "bca with clusters": lambda: cs.confidence_interval(y, p, method="bca", cluster=clusters(150)),
        "short cluster": lambda: cs.confidence_interval(y, p, cluster=clusters(50)),
        "short": lambda: cs.estimate(y[:5], p),
        "empty": lambda: cs.estimate([], []),
        "beyond 1": lambda: cs.estimate([0, 1], [0.2, 1.5]),
        "missing": lambda: cs.estimate([0, 1], [0.2, np.nan]),
        "no outcome": lambda: cs.estimate([0, 3], [0.2, 0.5]),
        "no sum": lambda: cs.estimate([0, 1], [[0.2, 0.5, 0.5], [0.3, 0.3, 0.4]]),
        "level": lambda: cs.confidence_interval(y, p, confidence_level=1.5),
        "no resamples": lambda: cs.calibration_test(y, p, n_resamples=0),
        "no jobs": lambda: cs.calibration_test(y, p, n_jobs=0),
        "real weights": lambda: cs.calibration_test(*weights()),
        "Sample and lens": lambda: cs.estimate(*counts(), lens="top_label"),
        "one model": lambda: cs.compare(y, {"a": p}),
        "swap of samples": lambda: cs.compare(*samples(), method="swap"),
        "reference": lambda: cs.compare(y, {"a": p, "b": p**2}, reference="c"),
        "no bins": lambda: cs.estimate(y, p, n_bins=0),
        "swapped": lambda: cs.estimate(p, y),
    }
    table["errors"] = lambda: {name: attempt(each) for name, each in wrong.items()}
    words = np.where(y == 1, "yes", "no")
    table["labels"] = lambda: {
        "event": cs.estimate(words, p, labels=["no", "yes"]),
        "test": cs.calibration_test(words, p, labels=["no", "yes"], n_resamples=19, rng=1),
        "classes": cs.calibration_test(
            np.array(["a", "b", "c"])[classes()[0]], classes()[1], labels=["a", "b", "c"], n_resamples=19, rng=1,
            lens="class_wise",
        ),
        "Predictions": cs.estimate(cs.Predictions.from_rows(*classes()), lens="class_wise"),
        "two columns": cs.estimate(y, np.stack([1 - p, p], axis=1)),
        "sum of samples": cs.estimate(counts()[0] + cs.Sample.from_rows(y, p)),
        "Sample": {name: getattr(cs.Sample.from_rows(*ties()), name) for name in ("value", "count", "positives", "n")},
    }  # fmt: skip
    return table


CASES = build()


@cache
def frozen() -> dict[str, dict[str, Any]]:
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def test_every_case_is_frozen():
    assert set(frozen()) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_as_frozen(name):
    expected, found = frozen()[name], compute(CASES[name])
    wrong = {key: (found.get(key, "missing"), value) for key, value in expected.items()
             if differs(found.get(key, "missing"), value)}  # fmt: skip
    assert expected
    assert not wrong, (
        f"{len(wrong)} of {len(expected)} numbers differ, as (found, frozen): {dict(list(wrong.items())[:20])}"
    )


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/test_frozen.py --write")
    cases = {name: compute(case) for name, case in CASES.items()}
    FILE.write_text(json.dumps(cases, indent=0) + "\n")
    print(f"{len(cases)} cases, {sum(map(len, cases.values()))} numbers")
