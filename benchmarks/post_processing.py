"""The post-processing gap beside one np.argsort of the same predictions, sorting included, and on its worst case."""

import numpy as np
from timing import in_turn, seconds

import calibstat as cs


def predictions(kind, n):
    rng = np.random.default_rng(0)
    p = rng.random(n)
    if kind == "clustered":
        p = (rng.integers(0, 10, n) + 0.5) / 10 + rng.random(n) * 1e-9
    y = (rng.random(n) < p).astype(np.int64)
    return y, p**2 / (p**2 + (1 - p) ** 2) if kind == "distorted" else p


def adversary(m):
    """Half of the cells leave breakpoints on one side of the zero; then it crosses them all with every row."""
    j = np.arange(m)
    first = j < m // 2
    return cs.Sample.from_counts(0.5 + 1e-9 * j, np.where(first, 2, 1), np.where(first, 1, j % 2))


def main():
    def gap(*data):
        return cs.estimate(*data, measure="post_processing_gap")

    print(f"{'n':>8} {'data':>12} {'np.argsort ms':>14} {'gap ms':>9} {'gap / np.argsort':>17}")
    for n in (1_000, 100_000, 1_000_000):
        for kind in ("calibrated", "distorted", "clustered"):
            y, p = predictions(kind, n)
            a, b = in_turn(lambda p=p: np.argsort(p), lambda y=y, p=p: gap(y, p), rounds=5)
            print(f"{n:>8} {kind:>12} {a * 1e3:>14.3f} {b * 1e3:>9.3f} {b / a:>17.2f}")
    for m in (100_000, 1_000_000):
        sample = adversary(m)
        print(f"{m:>8} {'adversary':>12} {'':>14} {1e3 * seconds(lambda s=sample: gap(s)):>9.3f}")


if __name__ == "__main__":
    main()
