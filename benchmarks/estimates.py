"""Estimates beside one np.argsort of the same predictions and beside relplot 1.0.3, on rows, sorting included."""

import warnings

import numpy as np
from timing import in_turn

import calibstat as cs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from relplot.metrics import binnedECE, smECE


def pairs(y, p):
    return (
        ("kernel_ce", "np.argsort", lambda: np.argsort(p), lambda: cs.estimate(y, p, measure="kernel_ce")),
        ("smooth_ece", "relplot.smECE", lambda: smECE(p, y), lambda: cs.estimate(y, p, measure="smooth_ece")),
        (
            "ece",
            "relplot.binnedECE",
            lambda: binnedECE(p, y, 10),
            lambda: cs.expected_calibration_error(y, p, n_bins=10),
        ),
    )


def main():
    print(
        f"{'n':>8} {'measure':>12} {'other':>18} {'other ms':>9} {'ours ms':>8} {'ours / other':>13} {'difference':>11}"
    )
    for n in (10_000, 1_000_000):
        rng = np.random.default_rng(0)
        p = rng.random(n)
        y = (rng.random(n) < p).astype(np.int64)
        for name, other_name, other, ours in pairs(y, p):
            a, b = in_turn(other, ours, rounds=11 if n == 10_000 else 5)
            difference = "" if name == "kernel_ce" else f"{abs(other() - ours()):.1e}"
            print(f"{n:>8} {name:>12} {other_name:>18} {a * 1e3:>9.3f} {b * 1e3:>8.3f} {b / a:>13.3f} {difference:>11}")


if __name__ == "__main__":
    main()
