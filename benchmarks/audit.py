"""Audits of groups with 999 draws: CPU seconds of one core, compiled before, for many rows and groups; and memory.

"one draw" is an audit with a single draw: what is prepared. "draws" is the rest, divided by rows times groups times
draws. The last lines are rows and groups as a study has them.
"""

import resource
import time

import numpy as np

import calibstat as cs

DRAWS = 999


def rows(n, groups):
    """Rows and groups of from 1 in 50 to half of them, made without needing much memory."""
    rng = np.random.default_rng(1)
    p = rng.beta(1, 3, n)
    masks = {str(g): rng.integers(0, 256, n, np.uint8) < size for g, size in enumerate(rng.integers(5, 128, groups))}
    return (rng.random(n) < p).astype(np.int64), p, masks


def cpu(call):
    """The least of three."""
    found = []
    for _ in range(3):
        begin = time.process_time()
        call()
        found.append(time.process_time() - begin)
    return min(found)


def largest_memory():
    """Peak of the process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    cs.audit(*rows(500, 3), rng=1, shape=True)  # compiles
    y, p, masks = rows(100_000, 200)
    before = largest_memory()
    cs.audit(y, p, masks, n_resamples=DRAWS, rng=1)
    print(f"1e5 rows, 200 groups: memory grew by {largest_memory() - before:.0f} MB beside the masks")
    print("      n  groups  audit s  shape s  one draw s  draws, ns")
    sizes = [(10_000, 200), (100_000, 200), (1_000_000, 200), (100_000, 20), (100_000, 2000), (5000, 1000), (2000, 67)]
    for n, groups in sizes:
        y, p, masks = rows(n, groups)
        times = [
            cpu(lambda y=y, p=p, m=masks: cs.audit(y, p, m, n_resamples=DRAWS, rng=1)),
            cpu(lambda y=y, p=p, m=masks: cs.audit(y, p, m, n_resamples=DRAWS, rng=1, shape=True)),
            cpu(lambda y=y, p=p, m=masks: cs.audit(y, p, m, n_resamples=1, rng=1)),
        ]
        each = (times[0] - times[2]) / (n * groups * DRAWS) * 1e9
        print(f"{n:>7} {groups:>7} " + " ".join(f"{t:>8.3f}" for t in times) + f" {each:>13.4f}", flush=True)


if __name__ == "__main__":
    main()
