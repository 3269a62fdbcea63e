"""smooth_ce beside HiGHS, beside one np.argsort of the same predictions, and under 1000 resamples: one thread.

HiGHS solves the definition as a sparse linear programme, given the sorted summary, by interior points: its default, the
simplex method, takes three times as long at n = 1e4 and nine times at 1e5. `kernel` is the measure on that
summary, `estimate` the whole call on rows, with its own sort. The worst case has tiny residuals in its first half and
then alternating outcomes at predictions 1e-9 apart near 1/2, which ruins methods that move their breakpoints.
"""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import diags_array, vstack
from timing import in_turn, seconds

import calibstat as cs

SMOOTH_CE = cs.measures.SmoothCE()


def predictions(rng, n):
    """Predictions and outcomes of each kind, in random order."""
    v, b = rng.random(n), rng.beta(0.1, 0.1, n)
    cluster = rng.integers(0, 10, n) / 10 + 0.05 + 1e-9 * rng.random(n)
    half = n // 2
    worst = np.concatenate([1e-9 * np.arange(1, half + 1), 0.5 + 1e-9 * np.arange(half)])
    order = rng.permutation(n)
    return {
        "calibrated": (rng.random(n) < v, v),
        "distorted": (rng.random(n) < v, v**2 / (v**2 + (1 - v) ** 2)),
        "clustered": (rng.random(n) < cluster, cluster),
        "beta(.1, .1)": (rng.random(n) < b, b),
        "worst case": (np.concatenate([np.zeros(half), np.arange(half) % 2])[order] == 1, worst[order]),
    }


def by_highs(value, residual):
    m = value.size
    step = diags_array([-np.ones(m - 1), np.ones(m - 1)], offsets=[0, 1], shape=(m - 1, m))
    limits = np.tile(np.diff(value), 2)
    constraints = vstack([step, -step]).tocsr()
    return -linprog(-residual, A_ub=constraints, b_ub=limits, bounds=(-1, 1), method="highs-ipm").fun


def beside_highs():
    print(f"{'n':>8} {'HiGHS s':>9} {'kernel ms':>10} {'HiGHS / kernel':>15} {'difference':>11}")
    for n in (10_000, 100_000):
        y, p = predictions(np.random.default_rng(0), n)["calibrated"]
        sample = cs.Sample.from_rows(y, p)
        value, residual = sample.value, sample.residual
        ours = in_turn(lambda v=value, r=residual: SMOOTH_CE.norm(v, r))[0]
        found = []
        highs = seconds(lambda v=value, r=residual, out=found: out.append(by_highs(v, r)))
        difference = abs(found[0] - SMOOTH_CE.norm(value, residual))
        print(f"{n:>8} {highs:>9.2f} {ours * 1e3:>10.3f} {highs / ours:>15.0f} {difference:>11.1e}", flush=True)


def beside_argsort():
    """The mean over seeds: how far the sum of the residuals wanders decides how much of it the heap sees."""
    print(
        f"\n{'n':>8} {'input':>13} {'argsort ms':>11} {'kernel ms':>10} {'ratio':>6} {'estimate ms':>12} {'ratio':>6}"
    )
    for n, seeds, rounds in ((100_000, 10, 5), (1_000_000, 5, 3)):
        times = {}
        for seed in range(seeds):
            for name, (y, p) in predictions(np.random.default_rng(seed), n).items():
                sample = cs.Sample.from_rows(y, p)
                times.setdefault(name, []).append(
                    in_turn(
                        lambda p=p: np.argsort(p),
                        lambda v=sample.value, r=sample.residual: SMOOTH_CE.norm(v, r),
                        lambda y=y, p=p: cs.estimate(y, p, measure="smooth_ce"),
                        rounds=rounds,
                    )
                )
        for name, found in times.items():
            sort, kernel, whole = np.mean(found, axis=0) * 1e3
            print(
                f"{n:>8} {name:>13} {sort:>11.2f} {kernel:>10.2f} {kernel / sort:>6.2f} {whole:>12.2f} "
                f"{whole / sort:>6.2f}",
                flush=True,
            )


def resamples():
    print(f"\n{'n':>8} {'input':>13} {'1000 resamples s':>17}")
    for name, (y, p) in predictions(np.random.default_rng(0), 10_000).items():
        sample = cs.Sample.from_rows(y, p)
        (test,) = in_turn(
            lambda s=sample: cs.calibration_test(s, measure="smooth_ce", n_resamples=1000, rng=1), rounds=3
        )
        print(f"{10_000:>8} {name:>13} {test:>17.3f}", flush=True)


def main():
    beside_highs()
    beside_argsort()
    resamples()


if __name__ == "__main__":
    main()
