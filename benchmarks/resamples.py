"""Resamples of ECE against a numpy loop: labels, also with weights, rows and labels, bootstrap; one and two threads.

The loop draws float64 from default_rng, one replicate a Python iteration, with the bin of every row computed before.
"""

import numpy as np
from timing import in_turn

import calibstat as cs

RESAMPLES = 1000
SHARE = 10  # the numpy loop runs this fraction of the resamples and its time is multiplied


def loops(y, p, w):
    n, bins = p.size, np.clip(np.ceil(p * 15) - 1, 0, 14).astype(int)
    residual = y - p
    rng = np.random.default_rng(1)

    def labels():
        for _ in range(RESAMPLES // SHARE):
            np.bincount(bins, rng.random(n) < p, 15)

    def weights():
        for _ in range(RESAMPLES // SHARE):
            np.bincount(bins, w * (rng.random(n) < p), 15)

    def both():
        for _ in range(RESAMPLES // SHARE):
            i = rng.integers(0, n, n)
            v, b = p[i], bins[i]
            np.bincount(b, (rng.random(n) < v) - v, 15)

    def bootstrap():
        for _ in range(RESAMPLES // SHARE):
            i = rng.integers(0, n, n)
            np.bincount(bins[i], residual[i], 15)

    return {"labels": labels, "weights": weights, "both": both, "bootstrap": bootstrap}


def calls(y, p, w, n_jobs):
    def test(resample, weight=None):
        options = {"measure": "ece", "resample": resample, "n_resamples": RESAMPLES, "sample_weight": weight}
        return lambda: cs.calibration_test(y, p, **options, rng=1, n_jobs=n_jobs)

    def interval():
        cs.confidence_interval(y, p, method="basic", n_resamples=RESAMPLES, rng=1, n_jobs=n_jobs)

    return {"labels": test("labels"), "weights": test("labels", w), "both": test("both"), "bootstrap": interval}


def main():
    print(f"{'n':>8} {'what':>10} {'numpy ms':>9} {'1 thread ms':>12} {'ratio':>6} {'2 threads ms':>13} {'1 / 2':>6}")
    for n in (10_000, 100_000, 1_000_000):
        rng = np.random.default_rng(0)
        p = rng.random(n)
        y, w = (rng.random(n) < p).astype(np.int64), rng.lognormal(size=n)
        loop, one, two = loops(y, p, w), calls(y, p, w, 1), calls(y, p, w, 2)
        rounds = 3 if n == 1_000_000 else 7
        for what in loop:
            base, single, double = in_turn(loop[what], one[what], two[what], rounds=rounds)
            base *= SHARE
            print(
                f"{n:>8} {what:>10} {base * 1e3:>9.1f} {single * 1e3:>12.2f} {base / single:>6.1f} "
                f"{double * 1e3:>13.2f} {single / double:>6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
