"""999 resamples of the squared kernel calibration error beside numpy, and the memory of the mean over all pairs.

numpy holds the kernel matrix in memory and multiplies it with the residuals of 37 resamples side by side, which is
faster than one at a time; its time includes no making of the matrix. One thread each: run with OMP_NUM_THREADS=1.
"""

import resource

import numpy as np
from timing import in_turn, seconds

from calibstat.classical.skce_tests import kernel_calibration_test
from calibstat.data.predictions import Predictions
from calibstat.measures import SKCE

RESAMPLES = 999
SQUARED = SKCE(statistic="U")
SHARE = 27  # numpy runs this fraction of the resamples and its time is multiplied


def simulated(n, classes, resamples=RESAMPLES):
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(classes), n)
    return prob, rng.integers(0, classes, (resamples, n))


def by_numpy(prob, labels):
    n, classes = prob.shape
    matrix = np.exp(-sum(np.abs(column[:, None] - column) for column in prob.T) / 2)
    np.fill_diagonal(matrix, 0)
    one_hot = np.eye(classes)

    def resamples():
        residual = one_hot[labels] - prob  # resample, row, class
        beside = residual.transpose(1, 0, 2).reshape(n, -1)
        products = (beside * (matrix @ beside)).reshape(n, -1, classes)
        return products.sum(axis=(0, 2)) / (n * (n - 1))

    return resamples


def beside_numpy():
    print(
        f"{'n':>6} {'K':>4} {'numpy s':>8} {'batch s':>8} {'ratio':>6} {'test by signs s':>16} {'one value ms':>13} "
        f"{'difference':>11}"
    )
    for n, classes in ((500, 10), (2000, 3), (2000, 10), (2000, 100)):
        prob, labels = simulated(n, classes)
        loop = by_numpy(prob, labels[::SHARE])
        data = Predictions.from_rows(labels[0], prob)
        base, batch, signs, one = in_turn(
            loop,
            lambda p=prob, y=labels: SQUARED.batch(p, y),
            lambda d=data: kernel_calibration_test(d, n_resamples=RESAMPLES, rng=1),
            lambda p=prob, y=labels[0]: SQUARED.evaluate(p, y),
            rounds=3,
        )
        base *= SHARE
        difference = np.abs(loop() - SQUARED.batch(prob, labels[::SHARE])).max()
        print(
            f"{n:>6} {classes:>4} {base:>8.2f} {batch:>8.3f} {base / batch:>6.1f} {signs:>16.3f} {one * 1e3:>13.1f} "
            f"{difference:>11.1e}",
            flush=True,
        )


def memory():
    n, classes = 20_000, 10
    prob, labels = simulated(n, classes, 1)
    SQUARED.evaluate(prob[:100], labels[0, :100])  # compiled before memory is looked at
    before = peak()
    spent = seconds(lambda: SQUARED.evaluate(prob, labels[0]))
    print(f"n = {n}, K = {classes}: one value {spent:.2f} s, peak of the process {before:.0f} to {peak():.0f} MiB")
    print(f"(predictions {prob.nbytes / 2**20:.1f} MiB, an n x n matrix {8 * n * n / 2**20:.0f} MiB)\n")


def peak():
    """Peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    memory()  # first: the peak never falls again
    beside_numpy()


if __name__ == "__main__":
    main()
