"""The omnibus test beside one sort of the rows, and beside that by ECE: 999 draws on one thread, rows seen only once.

"prepared" is what does not depend on the labels. "stopped" is the test of a calibrated model with stop_after=20, on
average over data sets, and its share of the draws.
"""

import numpy as np
from timing import seconds

import calibstat as cs
from calibstat.measures import Omnibus

ROUNDS = 7


def rows(n, seed):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(np.int64), p


def main():
    heads = ["n", "sort ms", "ece ms", "omnibus ms", "omnibus / sort", "prepared ms", "stopped ms", "draws"]
    print("  ".join(heads))
    cs.calibration_test(*rows(5000, 0), rng=1)  # compiles
    for n in (1000, 10_000, 100_000, 1_000_000):
        times, drawn = [], []
        for seed in range(ROUNDS):
            (y, p), again = rows(n, seed), rows(n, 200 + seed)
            sample = cs.Sample.from_rows(*rows(n, 100 + seed))
            stopped = []
            times.append(
                [
                    seconds(lambda p=p: np.sort(p)),
                    seconds(lambda y=y, p=p: cs.calibration_test(y, p, measure="ece", rng=1)),
                    seconds(lambda y=y, p=p: cs.calibration_test(y, p, rng=1)),
                    seconds(lambda sample=sample: Omnibus().diagnose(sample)),
                    seconds(lambda a=again, s=stopped: s.append(cs.calibration_test(*a, rng=1, stop_after=20))),
                ]
            )
            drawn.append(stopped[0].n_resamples / 999)
        sort, ece, test, prepared = np.median(np.array(times)[:, :4], axis=0) * 1e3
        stop = np.mean(np.array(times)[:, 4]) * 1e3
        print(
            f"{n:>7} {sort:>8.2f} {ece:>8.1f} {test:>9.1f} {test / sort:>9.1f} {prepared:>9.1f} {stop:>9.1f} "
            f"{np.mean(drawn):>7.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
