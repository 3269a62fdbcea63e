"""Compiling: every question is asked once of few rows of every kind, so that all that is compiled is kept."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeAlias
from warnings import catch_warnings

import numpy as np

import calibstat as cs
from calibstat import compiled
from calibstat.recalibration import RECALIBRATORS

FEW: dict[str, Any] = {"n_resamples": 3, "rng": 1}
TIED = np.array([0.0, 0.05, 0.3, 0.5, 0.8, 1.0])
REFUSED = (ValueError, TypeError, ImportError)  # not for these rows, no such argument, or a package is not there
UNCOMPILED = {"lower_distance", "NeuralScaling"}  # a linear programme and a network, which take long
WARM_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("kernel_ce", {"kernel": "gaussian"}),
    ("regression_ce", {"kernel": "epanechnikov"}),
)
MEAN_ECE = {"measure": "ece", "lens": "class_wise_mean"}
WARM_ROWS = 20_000  # rows, of which some methods go another way
Kinds: TypeAlias = dict[str, tuple[tuple[Any, ...], dict[str, Any]]]  # rows, and further arguments about them
Question: TypeAlias = tuple[str, Callable[[], object]]


def warm_up() -> Iterator[str]:
    """Ask every question, and name each after it was answered or refused.

    Measures and rows are taken in all combinations. Some are refused: not every measure answers every question.
    """
    compiled.FIRST_SECONDS = 0.0  # nothing but compiled code answers
    for name, ask in questions():
        with suppress(*REFUSED), catch_warnings(action="ignore"):
            ask()
        yield name


def questions() -> Iterator[Question]:
    """Return questions by their names."""
    kinds = _rows()
    yield from _by_measure(kinds)
    for ask in _verbs():
        for kind, (rows, about) in kinds.items():
            yield f"{ask.__name__}, {kind}", _call(ask, *rows, **about)
    yield from _of_several(kinds)
    yield from _by_other_methods(kinds)
    yield from _of_maps(kinds)
    yield from _of_many_rows_and_classes()


def _rows() -> Kinds:
    """Return a few rows of each kind, with the arguments that say what they are."""
    y, p = cs.generators.temperature(1.5).sample(40, rng=1)
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(30, rng=1)
    tied = TIED[np.arange(200) % TIED.size]
    y_tied = (np.arange(200) // TIED.size % 20 < 20 * tied).astype(int)
    return {
        "rows": ((y, p), {}),
        "tied rows": ((y_tied, tied), {}),
        "rows with weights": ((y, p), {"sample_weight": 0.5 + p}),
        "tied rows with weights": ((y_tied, tied), {"sample_weight": 0.5 + np.arange(200) % 7}),
        "clusters": ((y, p), {"cluster": np.arange(40) // 4}),
        "classes": ((label, prob), {"lens": "class_wise_mean"}),
        "classes together": ((label, prob), {"lens": "canonical"}),
    }


def _by_measure(kinds: Kinds) -> Iterator[Question]:
    """Ask what depends on the measure, of each."""
    y, p = kinds["rows"][0]
    verbs: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
        "estimate": (cs.estimate, {}),
        "detail": (cs.detail, {}),
        "calibration_test": (cs.calibration_test, FEW),
        "test that draws rows": (cs.calibration_test, {"resample": "both", **FEW}),
        "confidence_interval": (cs.confidence_interval, FEW),
        "percentile interval": (cs.confidence_interval, {"method": "percentile", **FEW}),
    }
    for measure in sorted(set(cs.MEASURES) - UNCOMPILED):
        for verb, (ask, options) in verbs.items():
            for kind, (rows, about) in kinds.items():
                yield f"{verb} of {measure}, {kind}", _call(ask, *rows, measure=measure, **about, **options)
        for method in ("bootstrap", "swap"):
            for kind in ("rows", "rows with weights", "clusters"):
                about = kinds[kind][1]
                models = _call(cs.compare, y, {"A": p, "B": p**2}, measure=measure, method=method, **about, **FEW)
                yield f"compare by {measure}, {method}, {kind}", models


def _of_several(kinds: Kinds) -> Iterator[Question]:
    """Ask about several models, samples, groups or periods, and plan."""
    (y, p), tied = kinds["rows"][0], kinds["tied rows"][0]
    models = {"A": p, "B": p**2}
    yield "compare", _call(cs.compare, y, models)
    narrow = cs.measures.KernelCESquared(bandwidth=1e-3)
    yield "compare by a small bandwidth", _call(cs.compare, y, models, measure=narrow)
    yield "compare samples", _call(cs.compare, {"A": (y, p), "B": tied})
    yield "generalization_gap", _call(cs.generalization_gap, (y, p), tied, **FEW)
    yield "report", _call(cs.report, y, models, rng=1)
    yield "report of classes", _call(cs.report, *kinds["classes"][0], rng=1)
    yield "recalibrated report", _call(cs.report, y, p, recalibrate=True, rng=1)
    yield "audit", _call(cs.audit, y, p, {"a": p > 0.5, "b": np.arange(40) // 4 % 2 == 0}, **FEW)
    yield "monitor", _call(_monitor, cs.Monitor(), y, p)
    yield "monitor of two", _call(_monitor, cs.BrierMonitor(), y, p, p**2)
    yield "power", _call(cs.power, p, "shift=1", [40], test="ks", n_datasets=9, n_sets=3, **FEW)
    yield "sample_size", _call(cs.sample_size, p, width=0.2, of="o/e")
    yield "sum of samples", _call(lambda: cs.Sample.from_rows(y, p) + cs.Sample.from_rows(*tied))


def _by_other_methods(kinds: Kinds) -> Iterator[Question]:
    """Ask by measures with other options, by every kind of band, and of classes in clusters."""
    for name, option in WARM_OPTIONS:
        yield f"another {name}", _call(cs.calibration_test, *kinds["rows"][0], measure=name, **option, **FEW)
    for shape in ("nondecreasing", cs.Variation(0.5), cs.Slope(1.0)):
        of_shape = _call(cs.confidence_interval, *kinds["rows"][0], measure="l1", shape=shape, **FEW)
        yield f"confidence_interval of l1, {shape}", of_shape
    y, p = kinds["tied rows"][0]
    judged = cs.Data(np.where(np.arange(y.size) % 2, y, np.nan), p, judge=cs.Judge(0.8 * y + 0.1))
    yield "confidence_interval with a judge", _call(cs.confidence_interval, judged, **FEW)
    for band in ("consistency", "pointwise_consistency", "confidence", "monotone"):
        for kind in ("rows", "rows with weights", "classes"):
            rows, about = kinds[kind]
            yield f"reliability, {band}, {kind}", _call(cs.reliability, *rows, band=band, **about, **FEW)
    in_clusters = _call(cs.calibration_test, *kinds["classes"][0], cluster=np.arange(30) // 4, **MEAN_ECE, **FEW)
    yield "calibration_test of ece, classes in clusters", in_clusters


def _of_maps(kinds: Kinds) -> Iterator[Question]:
    """Fit every recalibrator."""
    (y, p), (label, prob) = kinds["rows"][0], kinds["classes"][0]
    for name in sorted(set(RECALIBRATORS) - UNCOMPILED):
        recalibrator = RECALIBRATORS[name]
        yield name, _call(_recalibrate, recalibrator, p, y)
        yield f"{name} of classes", _call(_recalibrate, recalibrator, prob, label)


def _of_many_rows_and_classes() -> Iterator[Question]:
    """Ask where numbers of rows or of classes are so large that methods go another way."""
    label, prob = np.arange(600), np.eye(600) / 2 + 1 / 1200
    interval = _call(cs.confidence_interval, label, prob, **MEAN_ECE, **FEW)
    yield "confidence_interval of ece, many classes", interval
    yield "VectorScaling of many classes", _call(_recalibrate, RECALIBRATORS["VectorScaling"], prob, label)
    y, p = cs.generators.temperature(1.5).sample(WARM_ROWS, rng=1)
    verbs: list[Any] = [cs.calibration_test, cs.reliability, cs.validate]
    for ask in [*verbs, cs.classical.cox, cs.classical.calibration_belt]:
        yield f"{ask.__name__}, many rows", _call(ask, y, p)


def _call(ask: Callable[..., object], *rows: Any, **options: Any) -> Callable[[], object]:
    return lambda: ask(*rows, **options)


def _verbs() -> list[Any]:
    """Return the public functions whose first arguments are outcomes and predictions."""
    public = [each for each in (getattr(cs, name) for name in cs.__all__) if inspect.isfunction(each)]
    return [each for each in public if [*inspect.signature(each).parameters][:2] == ["y_true", "y_prob"]]


def _recalibrate(recalibrator: Any, prob: np.ndarray, outcome: np.ndarray) -> None:
    recalibrator().fit(prob, outcome).predict_proba(prob)


def _monitor(monitor: Any, y: np.ndarray, *prob: np.ndarray) -> None:
    monitor.update(y, *prob, period=1)
    monitor.status()
