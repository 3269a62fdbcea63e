"""Processor seconds of tests, intervals and comparisons of rows with weights, in clusters and with both.

``python benchmarks/kinds_of_rows.py [--write FILE]`` asks one event and three classes about 10,000 and 100,000 rows, of
which ten make a cluster, with the default number of draws and one thread, after a call that compiles. With ``--write``
the table goes between the marks "kinds of rows" of a page.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from tables import markdown, put_in_page

import calibstat as cs
from calibstat import compiled

compiled.FIRST_SECONDS = 0.0  # nothing but compiled code answers, as in a process that has asked often

SIZES = 10**4, 10**5
IN_A_CLUSTER = 10
LENSES: dict[str, dict[str, Any]] = {"one event": {}, "three classes": {"lens": "class_wise_mean"}}
MEASURES = {"one event": ("omnibus", "ks", "kernel_ce"), "three classes": ("ks", "kernel_ce")}
KINDS = {"rows": (), "weights": ("sample_weight",), "clusters": ("cluster",), "both": ("sample_weight", "cluster")}


def drawn(n: int, classes: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return outcomes, the predictions of two models, and what is known of the rows."""
    number = 2 if classes == "one event" else 3
    y, p = cs.generators.dirichlet([1] * number, temperature=1.5).sample(n, rng=1)
    other = p**1.2 / (p**1.2).sum(axis=1, keepdims=True)
    random = np.random.default_rng(2)
    known = {"sample_weight": random.gamma(2.0, 1.0, n), "cluster": random.integers(0, n // IN_A_CLUSTER, n)}
    return (y, p[:, 1], other[:, 1], known) if number == 2 else (y, p, other, known)


def seconds(question: str, measure: str, classes: str, kind: str, n: int) -> float | None:
    """Return the seconds of a call, None where it is refused."""

    def call(rows: int) -> float:
        y, p, other, known = drawn(rows, classes)
        given: dict[str, Any] = {name: known[name] for name in KINDS[kind]} | LENSES[classes] | {"rng": 1}
        ask = {"test": cs.calibration_test, "interval": cs.confidence_interval, "comparison": cs.compare}[question]
        about: Any = {"a": p, "b": other} if question == "comparison" else p
        start = time.process_time()
        ask(y, about, measure=measure, **given)  # type: ignore[operator]
        return time.process_time() - start

    try:
        call(500)  # compiles
        return call(n)
    except ValueError:
        return None


def table() -> str:
    """Return the table as Markdown."""
    rows = []
    for classes, measures in MEASURES.items():
        for question in ("test", "interval", "comparison"):
            for measure in measures:
                if measure == "omnibus" and question != "test":
                    continue
                found = [seconds(question, measure, classes, kind, n) for n in SIZES for kind in KINDS]
                figures = ["–" if each is None else f"{each:.2g}" for each in found]
                rows.append([f"{question}, {classes}", f"`{measure}`", *figures])
                print(*rows[-1], flush=True)
    return markdown(["question", "measure", *(f"{kind}, {n:,}" for n in SIZES for kind in KINDS)], rows)


def main() -> None:
    """Print the table, and write it."""
    warnings.simplefilter("ignore")
    found = table()
    if sys.argv[1:2] == ["--write"]:
        put_in_page(Path(sys.argv[2]), "kinds of rows", found)


if __name__ == "__main__":
    main()
