"""A study of 1000 data sets of 1000 rows, each with a labels-only p-value of ECE from 1000 resamples: 1e9 draws.

Prints seconds on one and two threads beside a numpy loop, what a call costs outside compiled code, and an exact test
that p-values of calibrated data are uniform. Data are drawn before the clock starts.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import stats
from timing import in_turn

import calibstat as cs

ROWS = 1000
RESAMPLES = 1000
SETS = 1000
SHARE = 100  # the numpy loop runs this fraction of the data sets and its time is multiplied
UNIFORM_SETS = 4000


def p_values(data, threads=1, n_resamples=RESAMPLES):
    def p_value(i):
        return cs.calibration_test(*data[i], measure="ece", n_resamples=n_resamples, rng=i).pvalue

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(p_value, range(len(data))))


def loop(data):
    rng = np.random.default_rng(1)
    found = []
    for y, p in data:
        bins = np.clip(np.ceil(p * 15) - 1, 0, 14).astype(int)
        statistic = np.abs(np.bincount(bins, y - p)).sum()
        null = [np.abs(np.bincount(bins, (rng.random(p.size) < p) - p)).sum() for _ in range(RESAMPLES)]
        found.append((1 + np.count_nonzero(null >= statistic)) / (1 + RESAMPLES))
    return found


def main():
    data = [cs.generators.calibrated().sample(ROWS, rng=i) for i in range(UNIFORM_SETS)]
    study = data[:SETS]
    base, one, two = in_turn(
        lambda: loop(study[: SETS // SHARE]), lambda: p_values(study), lambda: p_values(study, threads=2)
    )
    base *= SHARE
    print(f"{SETS} data sets of {ROWS} rows, {RESAMPLES} resamples each: numpy loop {base:.2f} s")
    for threads, seconds in ((1, one), (2, two)):
        print(f"calibration_test on {threads} thread{'s' * (threads > 1)}: {seconds:.2f} s, ratio {base / seconds:.1f}")

    few = np.array([0, 1]), np.array([0.4, 0.6])  # nothing for compiled code to do
    calls = 1000
    (python,) = in_turn(lambda: [cs.calibration_test(*few, measure="ece", n_resamples=1, rng=1) for _ in range(calls)])
    print(f"Python in a call: {python / calls * 1e3:.3f} ms")

    pvalue = np.array(p_values(data, threads=2, n_resamples=999))  # without ties each of 1000 values is equally likely
    spread = pvalue - np.random.default_rng(2).random(pvalue.size) / 1000  # and this is uniform on (0, 1)
    print(f"uniform p-values in {UNIFORM_SETS} sets: p = {stats.kstest(spread, 'uniform', method='exact').pvalue:.3f}")


if __name__ == "__main__":
    main()
