"""Processor seconds of calls that people wait for, in several checkouts.

``python benchmarks/waiting.py [CHECKOUT ...]`` prints a row for each call: the seconds in each checkout, by default the
one of this file, and how many times faster the last is than the first. A process for each checkout makes the calls, in
turn with the others, with one thread; short calls count by the fastest of three. A whole run takes ten minutes.
"""

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
SHORT = 1.0  # seconds; a longer call is made once
Call = Callable[[Any, Any, int], object]
CALLS: dict[str, tuple[int, Call]] = {
    **{
        f"test {name} {n:.0e}": (n, lambda cs, d, n, name=name: cs.calibration_test(d.y, d.p, measure=name, rng=1))
        for n in (10**5, 10**6)
        for name in ("ks", "kernel_ce", "brier", "log_loss")
    },
    "test kernel_ce_squared 1e+05": (
        10**5,
        lambda cs, d, n: cs.calibration_test(d.y, d.p, measure="kernel_ce_squared", rng=1),
    ),
    "test ece, weights 1e+06": (
        10**6,
        lambda cs, d, n: cs.calibration_test(d.y, d.p, measure="ece", sample_weight=d.w, rng=1),
    ),
    "test, clusters of 20 1e+06": (10**6, lambda cs, d, n: cs.calibration_test(d.y, d.p, cluster=d.unit, rng=1)),
    "test ks, 58,958 values of 1e+07 rows": (58_958, lambda cs, d, n: cs.calibration_test(d.tied, measure="ks", rng=1)),
    "test ece, 58,958 values of 1e+07 rows": (
        58_958,
        lambda cs, d, n: cs.calibration_test(d.tied, measure="ece", rng=1),
    ),
    **{
        f"interval {name} 1e+06": (10**6, lambda cs, d, n, m=name: cs.confidence_interval(d.y, d.p, measure=m, rng=1))
        for name in ("ks", "kernel_ce", "smooth_ece", "smooth_ce")
    },
    **{
        f"compare {name} {n:.0e}": (n, lambda cs, d, n, m=name: cs.compare(d.y, d.models(2), measure=m, rng=1))
        for n in (10**4, 10**5)
        for name in ("ece", "ks", "kernel_ce")
    },
    "compare, five models 1e+04": (10**4, lambda cs, d, n: cs.compare(d.y, d.models(5), measure="kernel_ce", rng=1)),
    "detectable_effect 1e+06": (10**6, lambda cs, d, n: cs.detectable_effect(d.p, rng=1)),
    "net_benefit 1e+06": (10**6, lambda cs, d, n: cs.net_benefit(d.y, d.p)),
    "validate 1e+06": (10**6, lambda cs, d, n: cs.validate(d.y, d.p)),
    "t_cal 1e+05": (10**5, lambda cs, d, n: cs.classical.t_cal(d.y, d.p, n_resamples=199, rng=1)),
    "calibration_belt 1e+05": (10**5, lambda cs, d, n: cs.classical.calibration_belt(d.y, d.p, held_out=True)),
    "kernel_calibration_test 1e+04": (10**4, lambda cs, d, n: cs.classical.kernel_calibration_test(d.y, d.p, rng=1)),
    "test mcb 1e+06": (10**6, lambda cs, d, n: cs.calibration_test(d.y, d.p, measure="mcb", rng=1)),
    "interval mcb 1e+05": (10**5, lambda cs, d, n: cs.confidence_interval(d.y, d.p, measure="mcb", rng=1)),
    "interval class-wise (1e+04, 1000)": (10**4, lambda cs, d, n: cs.confidence_interval(*d.classes(1000), **MEAN)),
    "test class-wise (1e+04, 1000)": (10**4, lambda cs, d, n: cs.calibration_test(*d.classes(1000), **MEAN)),
    "interval class-wise, 25,000 x 1000 single": (
        25_000,
        lambda cs, d, n: cs.confidence_interval(*d.single(1000), **MEAN),
    ),
    "test of each class, 25,000 x 1000 single": (
        25_000,
        lambda cs, d, n: cs.calibration_test(*d.single(1000), lens="class_wise", rng=1),
    ),
    "summarize, 25,000 x 1000 single": (25_000, lambda cs, d, n: cs.summarize(*d.single(1000), rng=1)),
    "eight samples of 1e+06 added": (10**6, lambda cs, d, n: sum(d.samples(8)[1:], d.samples(8)[0])),
    "summarize 1e+05": (10**5, lambda cs, d, n: cs.summarize(d.y, d.models(2), rng=1)),
    "report, 3 models of 10 classes 1e+03": (10**3, lambda cs, d, n: d.report(10, 3)),
    "report, 100 classes 1e+03": (10**3, lambda cs, d, n: d.report(100, 1)),
}
MEAN = {"measure": "ece", "lens": "class_wise_mean", "rng": 1}


class Rows:
    """Rows of one size, made at their first use."""

    def __init__(self, cs: Any, n: int) -> None:
        import numpy as np

        self.cs, self.n, self.random = cs, n, np.random.default_rng(n)
        self.p = self.random.random(n)
        self.y = (self.random.random(n) < self.p).astype(np.int64)
        self.w = self.random.gamma(2.0, 1.0, n)
        self.unit = self.random.integers(0, max(n // 20, 1), n)

    @property
    def tied(self) -> Any:
        """Counts of some 10 million rows at n predictions."""
        count = self.random.poisson(1e7 / self.n, self.n) + 1.0
        return self.cs.Sample.from_counts(self.p, count, self.random.binomial(count.astype(int), self.p))

    def models(self, number: int) -> dict[str, Any]:
        """Predictions that differ by a power."""
        return {f"model {k}": self.p ** (1 + k / 10) for k in range(number)}

    def classes(self, number: int) -> tuple[Any, Any]:
        """Labels and probabilities of many classes."""
        return self.cs.generators.dirichlet([0.5] * number).sample(self.n, rng=1)

    @cache  # noqa: B019  few objects, which live as long as the process
    def single(self, number: int) -> tuple[Any, Any]:
        """The same in single precision; the first call that asks for them makes them, too."""
        label, prob = self.classes(number)
        return label, prob.astype("float32")

    @cache  # noqa: B019  few objects, which live as long as the process
    def samples(self, number: int) -> list[Any]:
        """Summaries of other rows."""
        from_rows = self.cs.Sample.from_rows
        return [from_rows(self.y, self.random.random(self.n)) for _ in range(number)]

    def report(self, classes: int, models: int) -> object:
        """The report of models of several classes."""
        y, prob = self.classes(classes)
        return self.cs.report(y, {f"model {k}": prob for k in range(models)} if models > 1 else prob, rng=1)


def answer() -> None:
    """Make the calls that are named on the standard input, and print the seconds of each."""
    warnings.simplefilter("ignore")
    import calibstat as cs

    rows = cache(lambda n: Rows(cs, n))
    for line in sys.stdin:
        n, call = CALLS[line.rstrip("\n")]
        few = min(n // 2, 500)
        call(cs, Rows(cs, few), few)  # compiles
        data, best = rows(n), float("inf")
        for _ in range(3):
            start = time.process_time()
            call(cs, data, n)
            best = min(best, time.process_time() - start)
            if best > SHORT:
                break
        print(best, flush=True)


def started(folder: Path) -> "subprocess.Popen[str]":
    """Start a process that imports calibstat from a checkout and answers."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, str(FOLDER / "waiting.py"), "--answer"],
        env=os.environ | threads | {"PYTHONPATH": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
    )


def ask(process: "subprocess.Popen[str]", name: str) -> float:
    """Return the seconds of one call."""
    assert process.stdin is not None
    assert process.stdout is not None
    print(name, file=process.stdin, flush=True)
    return float(process.stdout.readline())


def main() -> None:
    """Print the table."""
    folders = [Path(each).resolve() for each in sys.argv[1:]] or [FOLDER.parent]
    processes = [started(folder) for folder in folders]
    print(f"{'seconds':<44}" + "".join(f"{each.name:>12}" for each in folders))
    for name in CALLS:
        found = [ask(process, name) for process in processes]
        ratio = f"{found[0] / found[-1]:>10.1f} x" if len(found) > 1 else ""
        print(f"{name:<44}" + "".join(f"{each:>12.3f}" for each in found) + ratio, flush=True)


if __name__ == "__main__":
    answer() if sys.argv[1:] == ["--answer"] else main()
