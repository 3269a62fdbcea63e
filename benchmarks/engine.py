"""The cost of the study engine: 10,000 cells of a millisecond each, durably stored, against a bare loop.

The loop is busy for the same time, and makes no data, keeps nothing and shows no progress.
"""

import tempfile
import time

import numpy as np
from timing import in_turn

from calibstat.study.engine import Cells, compute
from calibstat.study.store import Store

CELLS = 10_000
MILLISECOND = 1e-3


class Pair:
    """A generator whose data sets cost nothing."""

    def sample(self, n, rng):
        """Return two rows."""
        return np.array([0, 1]), np.array([0.2, 0.6])


def busy(sample, rng):
    """Keep the processor busy for a millisecond."""
    end = time.perf_counter() + MILLISECOND
    while time.perf_counter() < end:
        pass
    return [0.0]


def cells():
    return Cells([("a", 2), ("b", 2)], {"a": Pair(), "b": Pair()}, CELLS // 2, 1, busy, ["answer"])


def engine(n_jobs):
    with tempfile.TemporaryDirectory() as folder:
        compute(cells(), Store(folder, {}, ["answer"]), n_jobs, "busy")


def main():
    def loop():
        for _ in range(CELLS):
            busy(None, None)

    bare, one, two = in_turn(loop, lambda: engine(1), lambda: engine(2), rounds=5)
    print(f"bare loop {bare:.2f} s; engine {one:.2f} s on one process, {two:.2f} s on two")
    print(f"overhead {100 * (one / bare - 1):.1f} %; speed-up by the second process {one / two:.2f}")


if __name__ == "__main__":
    main()
