"""CPU seconds of ten everyday calls for 1000 to 10,000,000 rows, and the slopes of log time by log rows.

``python benchmarks/cost_curves.py [--most 10000000] [--budget 20] [--write docs/evidence/speed.md]``; a call stops at
the size for which the two sizes before foretell more seconds than the budget.
"""

import argparse
import math
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")  # before NumPy is imported

import numpy as np
from tables import markdown, put_in_page

import calibstat as cs
from calibstat import compiled

compiled.FIRST_SECONDS = 0.0  # nothing but compiled code answers, as in a process that has asked often

REPEATED = 1.0  # seconds; a call that takes longer is timed once
Call = Callable[[np.ndarray, np.ndarray, np.ndarray], object]
CALLS: dict[str, Call] = {
    "`calibration_test`": lambda y, p, q: cs.calibration_test(y, p, rng=1),
    "`calibration_test`, `ece`": lambda y, p, q: cs.calibration_test(y, p, measure="ece", rng=1),
    "`calibration_test`, `ks`": lambda y, p, q: cs.calibration_test(y, p, measure="ks", rng=1),
    "`calibration_test`, `kernel_ce`": lambda y, p, q: cs.calibration_test(y, p, measure="kernel_ce", rng=1),
    "`confidence_interval`, `ece`": lambda y, p, q: cs.confidence_interval(y, p, measure="ece", rng=1),
    "`confidence_interval`, `ks`": lambda y, p, q: cs.confidence_interval(y, p, measure="ks", rng=1),
    "`confidence_interval`, `kernel_ce`": lambda y, p, q: cs.confidence_interval(y, p, measure="kernel_ce", rng=1),
    "`confidence_interval`, `smooth_ece`": lambda y, p, q: cs.confidence_interval(y, p, measure="smooth_ece", rng=1),
    "`compare`, `ece`": lambda y, p, q: cs.compare(y, {"A": p, "B": q}, measure="ece", rng=1),
    "`reliability`": lambda y, p, q: cs.reliability(y, p, rng=1),
}


def rows_of(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return outcomes and the predictions of two models."""
    rng = np.random.default_rng(n)
    p = rng.beta(1, 3, n)
    y = (rng.random(n) < p).astype(np.int64)
    return y, p, p**1.5 / (p**1.5 + (1 - p) ** 1.5)


def cpu(call: Callable[[], object]) -> float:
    """Return CPU seconds of a call, of a short one the least of three."""
    best = math.inf
    for _ in range(3):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
        if best > REPEATED:
            break
    return best


def slope(seconds: list[float]) -> float:
    """Return the least-squares slope of log time by log rows, each size ten times the one before."""
    return float(np.polyfit(np.arange(len(seconds)), np.log10(seconds), 1)[0]) if len(seconds) > 1 else math.nan


def curves(sizes: list[int], budget: float) -> dict[str, list[float]]:
    """Return the seconds of each call at each size, up to the first that would take more than the budget."""
    seconds: dict[str, list[float]] = {name: [] for name in CALLS}
    small = rows_of(sizes[0])
    for call in CALLS.values():
        call(*small)  # compiles
    for i, n in enumerate(sizes):
        rows = rows_of(n)
        for name, call in CALLS.items():
            past = seconds[name]
            if len(past) < i:
                continue
            growth = max(10.0, past[-1] / past[-2]) if len(past) > 1 else 10.0
            if past and past[-1] * growth > budget:
                continue
            past.append(cpu(lambda call=call, rows=rows: call(*rows)))
            print(f"{n:>10,} {name:40} {past[-1]:.4g}", flush=True)
    return seconds


def table(sizes: list[int], seconds: dict[str, list[float]]) -> str:
    """Return the table of seconds and slopes."""
    head = ["call", *(f"{n:,}" for n in sizes), "slope", "slope of the last two"]
    lines = []
    for name, found in seconds.items():
        shown = [f"{one:.2g}" if one < 10 else f"{one:.0f}" for one in found]
        lines.append(
            [name, *shown, *["–"] * (len(sizes) - len(found)), f"{slope(found):.2f}", f"{slope(found[-2:]):.2f}"]
        )
    return markdown(head, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=10_000_000, help="rows of the largest size")
    parser.add_argument("--budget", type=float, default=20.0, help="CPU seconds that a call may take")
    parser.add_argument("--write", type=Path, help="put the table into this page")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    sizes = [10**k for k in range(3, 1 + int(math.log10(arguments.most)))]
    found = table(sizes, curves(sizes, arguments.budget))
    print(found)
    if arguments.write:
        put_in_page(arguments.write, "cost curves", found)


if __name__ == "__main__":
    main()
