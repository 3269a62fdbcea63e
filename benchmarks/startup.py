"""Seconds to import, seconds to the first p-value of a fresh process, and memory of a 1000-resample test at n = 1e6."""

import subprocess
import sys

IMPORT = """
import time; start = time.perf_counter()
import calibstat as cs
print(time.perf_counter() - start)
"""
FIRST = """
import numpy as np, time, calibstat as cs
p = np.linspace(0.01, 0.99, 1000); y = np.arange(1000) % 2
start = time.perf_counter()
cs.calibration_test(y, p, measure={measure!r}, rng=1)
print(time.perf_counter() - start)
"""
MEMORY = """
import resource, numpy as np, calibstat as cs
def mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rng = np.random.default_rng(0)
p = rng.random(100); y = (rng.random(100) < p).astype(np.int64)
cs.calibration_test(y, p, measure={measure!r}, n_resamples=1000, rng=1)
before = mb()
n = 1_000_000
p = rng.random(n); y = np.zeros(n, np.int64); y[rng.random(n) < p] = 1
data = (p.nbytes + y.nbytes) / 2**20
cs.calibration_test(y, p, measure={measure!r}, n_resamples={n_resamples}, rng=1)
print(mb() - before - data)
"""


def run(code: str) -> float:
    """Run code in a fresh process and return the number it prints."""
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def median(code: str, times: int = 5) -> float:
    """Run code once to warm the cache, then several times."""
    run(code)
    return sorted(run(code) for _ in range(times))[times // 2]


def main():
    print(f"import calibstat: {median(IMPORT):.2f} s")
    for measure in ("ece", "ks", "kernel_ce", "smooth_ece"):
        print(f"first p-value of {measure}, warm cache: {median(FIRST.format(measure=measure)):.2f} s")
    for measure, n_resamples in (("ece", 1000), ("kernel_ce", 1000)):
        memory = run(MEMORY.format(measure=measure, n_resamples=n_resamples))
        print(f"peak memory of a {n_resamples}-resample test of {measure} at n = 1e6, above the data: {memory:.0f} MB")


if __name__ == "__main__":
    main()
