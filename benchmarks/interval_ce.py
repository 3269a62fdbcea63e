"""The interval errors: the best of all partitions in milliseconds, and random intervals beside one np.argsort.

Best intervals are timed on the sorted summary; random ones on the summary, beside a sort of the same predictions.
"""

from functools import partial

import numpy as np
from timing import seconds

import calibstat as cs


def predictions(kind, n, rng):
    """Return predictions and the probabilities of outcome 1."""
    u = rng.random(n)
    if kind == "calibrated":
        return u, u
    if kind == "distorted":
        return u**1.5 / (u**1.5 + (1 - u) ** 1.5), u
    clustered = (rng.integers(0, 10, n) + 0.5) / 10 + 1e-9 * u
    return clustered, clustered


def least(function, rounds=5):
    """Return the least milliseconds of some calls, after one to warm up: what else runs only adds to them."""
    function()
    return 1e3 * min(seconds(function) for _ in range(rounds))


def main():
    names = ("interval_ce", "random_interval_ce", "surrogate_interval_ce")
    print(f"{'n':>8} {'input':>11} {'argsort ms':>11} {'interval_ce ms':>15}   / argsort: {', '.join(names)}")
    for n in (20_000, 1_000_000):
        for kind in ("calibrated", "distorted", "clustered"):
            rng = np.random.default_rng(0)
            p, truth = predictions(kind, n, rng)
            sample = cs.Sample.from_rows(rng.random(n) < truth, p)
            sort = least(partial(np.argsort, p))
            times = [least(partial(cs.estimate, sample, measure=name)) for name in names]
            ratios = "".join(f"{t / sort:>8.2f}" for t in times)
            print(f"{n:>8} {kind:>11} {sort:>11.1f} {times[0]:>15.1f}   {ratios}")


if __name__ == "__main__":
    main()
