"""Paired bootstrap of the ECE of two models, 15 bins, against a numpy loop that draws the same number of resamples.

The loop draws from default_rng, one resample a Python iteration, with bins and residuals of every row computed before;
both take the difference of the two errors in each resample.
"""

import numpy as np
from timing import in_turn

import calibstat as cs

RESAMPLES = 1000
SHARE = 10  # the numpy loop runs this fraction of the resamples and its time is multiplied
BINS = 15


def loop(y, models):
    bins = [np.clip(np.ceil(p * BINS) - 1, 0, BINS - 1).astype(int) for p in models.values()]
    residuals = [y - p for p in models.values()]
    rng = np.random.default_rng(1)

    def bootstrap():
        for _ in range(RESAMPLES // SHARE):
            i = rng.integers(0, y.size, y.size)
            one, other = (
                np.abs(np.bincount(b.take(i), r.take(i), BINS)).sum() / y.size
                for b, r in zip(bins, residuals, strict=True)
            )
            one - other

    return bootstrap


def main():
    print(f"{'n':>8} {'numpy ms':>9} {'1 thread ms':>12} {'ratio':>6} {'2 threads ms':>13} {'1 / 2':>6}")
    for n in (1000, 10_000, 100_000):
        rng = np.random.default_rng(0)
        p = rng.random(n)
        y = (rng.random(n) < p).astype(np.int64)
        models = {"A": p, "B": p**1.5 / (p**1.5 + (1 - p) ** 1.5)}

        def call(n_jobs, y=y, models=models):
            return lambda: cs.compare(y, models, measure="ece", n_resamples=RESAMPLES, rng=1, n_jobs=n_jobs)

        base, single, double = in_turn(loop(y, models), call(1), call(2), rounds=5)
        base *= SHARE
        print(
            f"{n:>8} {base * 1e3:>9.1f} {single * 1e3:>12.2f} {base / single:>6.1f} "
            f"{double * 1e3:>13.2f} {single / double:>6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
