"""Tests of calibrated models with `stop_after=20` against 999 resamples: draws that are needed, and CPU time."""

import time

import numpy as np

import calibstat as cs

SETS = 40  # of data, each with draws of its own
SIZES = {"ece": (1000, 100_000), "ks": (1000, 100_000), "brier": (1000, 100_000), "mcb": (1000, 10_000)}
SIZES |= {"smooth_ece": (1000, 10_000)}


def cpu(sample, measure, seed, stop_after):
    """Return the seconds of CPU of a test, and its resamples."""
    start = time.process_time()
    found = cs.calibration_test(sample, measure=measure, rng=seed, stop_after=stop_after)
    return time.process_time() - start, found.n_resamples


def main():
    print(f"{'n':>8} {'measure':>11} {'draws':>6} {'999, ms':>9} {'stopped, ms':>12} {'ratio':>6}")
    for measure, sizes in SIZES.items():
        for n in sizes:
            found = []
            for seed in range(SETS):
                sample = cs.Sample.from_rows(*cs.generators.calibrated().sample(n, rng=seed))
                if seed == 0:
                    cpu(sample, measure, seed, 20)  # compiles
                found.append([*cpu(sample, measure, seed, None), *cpu(sample, measure, seed, 20)])
            fixed, _, stopped, draws = np.mean(found, axis=0)
            times = f"{fixed * 1e3:>9.2f} {stopped * 1e3:>12.2f} {stopped / fixed:>6.2f}"
            print(f"{n:>8} {measure:>11} {draws:>6.0f} {times}", flush=True)


if __name__ == "__main__":
    main()
