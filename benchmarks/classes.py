"""Many classes on one thread: estimates beside numpy, a class-wise test beside a numpy loop, and its memory."""

import subprocess
import sys

import numpy as np
from timing import in_turn

import calibstat as cs

BINS = 15
MEMORY = """
import resource, numpy as np, calibstat as cs
def mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rng = np.random.default_rng(0)
def data(n, classes):  # in place, so that making it needs no more memory than keeping it
    prob = rng.standard_exponential((n, classes))
    prob /= prob.sum(axis=1, keepdims=True)
    return rng.integers(0, classes, n), prob
run = lambda y, prob: cs.calibration_test(y, prob, measure={measure!r}, lens="class_wise", n_resamples={n}, rng=1)
run(*data(50, 5))
y, prob = data(50_000, 1000)
before = mb()
run(y, prob)
print(mb() - before)
"""


def data(n, classes, dtype=np.float64):
    """Draw vectors from the uniform law on the simplex, and classes from them."""
    rng = np.random.default_rng(0)
    prob = rng.standard_exponential((n, classes))
    prob /= prob.sum(axis=1, keepdims=True)
    y = (rng.random((n, 1)) > prob.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return y, prob.astype(dtype)


def bins(prob):
    return np.clip(np.ceil(prob * BINS) - 1, 0, BINS - 1).astype(np.int64)


def top_label(y, prob):
    """The least that a top-label error needs: the most likely class and its probability."""
    top = prob.argmax(1)
    return prob[np.arange(y.size), top], top == y


def class_by_class(y, prob):
    """Class-wise ECE, one column at a time."""
    found = np.empty(prob.shape[1])
    for k in range(prob.shape[1]):
        column = prob[:, k]
        found[k] = np.abs(np.bincount(bins(column), (y == k) - column, BINS)).sum() / y.size
    return found


def resampled_by_loop(prob, n_resamples):
    """Class-wise ECE of labels drawn by a search in cumulative sums, everything else done once."""
    n, classes = prob.shape
    rng = np.random.default_rng(1)
    rows, cumulative = np.arange(n), prob.cumsum(axis=1)[:, :-1]
    cell = bins(prob) + BINS * np.arange(classes)
    expected = np.bincount(cell.ravel(), prob.ravel(), classes * BINS)
    found = np.empty((n_resamples, classes))
    for r in range(n_resamples):
        label = (rng.random((n, 1)) > cumulative).sum(axis=1)
        hits = np.bincount(cell[rows, label], minlength=classes * BINS)
        found[r] = np.abs(hits - expected).reshape(classes, BINS).sum(axis=1) / n
    return found


def compare(what, other, ours, rounds=7):
    a, b = in_turn(other, ours, rounds=rounds)
    print(f"{what:>46} {a * 1e3:>9.2f} {b * 1e3:>8.2f} {a / b:>13.2f} {b / a:>13.2f}")


def compare_estimates(n, classes, dtype):
    y, prob = data(n, classes, dtype)
    size = f"({n:.0e}, {classes}) {np.dtype(dtype).name}"
    compare(
        f"top-label ECE, argmax, {size}", lambda: top_label(y, prob), lambda: cs.estimate(y, prob, lens="top_label")
    )
    ours = cs.estimate(y, prob, lens="class_wise")
    assert np.abs(ours - class_by_class(y, prob)).max() < (1e-12 if dtype == np.float64 else 1e-6)
    loop, once = (lambda: class_by_class(y, prob)), (lambda: cs.estimate(y, prob, lens="class_wise"))
    compare(f"class-wise ECE, {size}", loop, once, rounds=5)


def main():
    for measure, n in (
        ("ece", 1000),
        ("ks", 20),
    ):  # first, because a process begins with the peak of the one that made it
        code = MEMORY.format(measure=measure, n=n)
        memory = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        print(f"peak memory above the data, class-wise {measure}, {n} resamples, (5e+04, 1000): {memory:.0f} MB")
    print(f"{'what':>46} {'numpy ms':>9} {'ours ms':>8} {'numpy / ours':>13} {'ours / numpy':>13}")
    compare_estimates(50_000, 1000, np.float64)
    compare_estimates(50_000, 1000, np.float32)
    compare_estimates(1_000_000, 10, np.float64)
    y, prob = data(10_000, 10)
    compare(
        "1000 resamples of class-wise ECE, (1e+04, 10)",
        lambda: resampled_by_loop(prob, 1000),
        lambda: cs.calibration_test(y, prob, measure="ece", lens="class_wise", n_resamples=1000, rng=1),
    )


if __name__ == "__main__":
    main()
