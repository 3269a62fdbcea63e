"""Calls that benchmarks/bounds.py makes in a process of each checkout: it reads their names, and prints a number each.

Of a call it is the seconds of processor time that it takes, of one with "memory" before its name its peak memory as a
multiple of `prob`.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import calibstat as cs

ROWS, CLASSES = 20_000, 20  # of calls whose memory is measured
DRAWN = {"n_resamples": 199, "rng": 1}
FEW_DRAWN = {"n_resamples": 19, "rng": 1}  # so that what is kept of resamples is the smaller part
MEAN = {"lens": "class_wise_mean"}
Call = Callable[[], Any]


@cache
def binary(n: int) -> dict[str, Any]:
    """Return binary rows, two models of them, and the arguments that say what kind of rows they are."""
    random = np.random.default_rng(1)
    p, noise = random.random((2, n))
    y = (random.random(n) < p**1.2).astype(np.int64)
    return {
        "y": y,
        "prob": p,
        "models": {"a": p, "b": np.clip(p + (noise - 0.5) / 10, 0, 1)},
        "plain": {},
        "weights": {"sample_weight": random.gamma(2.0, 1.0, n)},
        "clusters": {"cluster": random.integers(0, n // 10, n)},
    }


@cache
def vectors(n: int, classes: int) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return labels and predictions of so many classes, and two models."""
    random = np.random.default_rng(2)
    chance = random.dirichlet(np.ones(classes), n)
    label = (random.random((n, 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=1)
    sharp = chance**1.2 / (chance**1.2).sum(axis=1, keepdims=True)
    return label, sharp, {"a": sharp, "b": chance}


def interval(measure: str, kind: str = "plain", n: int = 10_000) -> Call:
    rows = binary(n)
    return partial(cs.confidence_interval, rows["y"], rows["prob"], measure=measure, **rows[kind], **DRAWN)


def comparison(measure: str, kind: str) -> Call:
    rows = binary(10_000)
    return partial(cs.compare, rows["y"], rows["models"], measure=measure, **rows[kind], **DRAWN)


def of_classes(**asked: Any) -> Call:
    label, prob, _ = vectors(10_000, 3)
    return partial(cs.confidence_interval, label, prob, **asked, **DRAWN)


def of_many_classes(verb: str, **asked: Any) -> Call:
    label, prob, models = vectors(ROWS, CLASSES)
    return partial(getattr(cs, verb), label, models if verb == "compare" else prob, **asked, **FEW_DRAWN)


CALLS: dict[str, Callable[[], Call]] = {  # a function that makes each call, so that only rows that are asked for are
    **{f"{m} {kind}": partial(interval, m, kind) for m in ("ks", "ece") for kind in ("plain", "weights", "clusters")},
    "kernel_ce plain": partial(interval, "kernel_ce"),
    "smooth_ce plain": partial(interval, "smooth_ce"),
    "ece class-wise": partial(of_classes, measure="ece", **MEAN),
    "ks class-wise": partial(of_classes, measure="ks", **MEAN),
    "canonical_ce": partial(of_classes, measure="canonical_ce"),
    **{f"compare ks {kind}": partial(comparison, "ks", kind) for kind in ("plain", "weights", "clusters")},
    "ks plain, n = 1e5": partial(interval, "ks", n=100_000),
    "ece plain, n = 1e5": partial(interval, "ece", n=100_000),
}
MEMORY: dict[str, Callable[[], Call]] = {
    "memory ece test": partial(of_many_classes, "calibration_test", measure="ece", lens="class_wise"),
    "memory ece mean": partial(of_many_classes, "confidence_interval", measure="ece", **MEAN),
    "memory ks mean": partial(of_many_classes, "confidence_interval", measure="ks", **MEAN),
    "memory canonical_ce": partial(of_many_classes, "confidence_interval", measure="canonical_ce"),
    "memory compare ece": partial(of_many_classes, "compare", measure="ece", **MEAN),
}


def seconds(call: Call) -> float:
    """Return the processor time of a call, which other processes disturb less than the time on the wall."""
    start = time.process_time()
    call()
    return time.process_time() - start


def peak(call: Call) -> float:
    """Return the peak memory of a call, beside what there was before, as a multiple of the predictions of one model.

    Arrays that a kernel makes for itself are not seen.
    """
    call()
    tracemalloc.start()
    call()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / vectors(ROWS, CLASSES)[1].nbytes


def main() -> None:
    """Answer each line of the standard input with a number."""
    if Path(cs.__file__).resolve().parent.parent != Path(sys.argv[1]).resolve():
        raise SystemExit(f"expected calibstat of {sys.argv[1]}, found {cs.__file__}")
    for line in sys.stdin:
        name = line.strip()
        print(peak(MEMORY[name]()) if name in MEMORY else seconds(CALLS[name]()), flush=True)


if __name__ == "__main__":
    main()
