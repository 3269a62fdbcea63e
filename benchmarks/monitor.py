"""A monitor: milliseconds of an update, with and without segments, of a status, and of saving and loading a long state.

Rows are seen only once, as in use; m distinct predictions in a period. The state is given in bytes for each period, or
for each segment in it.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from timing import seconds

import calibstat as cs

PERIODS = 300


def period(m, seed):
    rng = np.random.default_rng(seed)
    p = rng.random(m)
    return (rng.random(m) < p).astype(np.int64), p


def fed(m, segments):
    """The median seconds of an update, and the monitor."""
    monitor = cs.Monitor(segments=[str(k) for k in range(segments)] if segments else None)
    names = np.arange(m) % segments if segments else None
    times = []
    for t in range(PERIODS):
        y, p = period(m, t)
        times.append(seconds(lambda y=y, p=p: monitor.update(y, p, segment=names)))
    return np.median(times), monitor


def main():
    print("     m  segments  update ms  status ms  save ms  load ms  bytes")
    fed(100, 2)  # compiles
    for m, segments in ((1, 0), (100, 0), (1000, 0), (1000, 10), (10_000, 0), (10_000, 10)):
        update, monitor = fed(m, segments)
        status = 1e3 * seconds(monitor.status)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.json"
            save, load = 1e3 * seconds(partial(monitor.save, path)), 1e3 * seconds(partial(cs.Monitor.load, path))
            size = path.stat().st_size / PERIODS / max(segments, 1)
        print(f"{m:>6} {segments:>9} {1e3 * update:>10.3f} {status:>10.1f} {save:>8.1f} {load:>8.1f} {size:>6.0f}")


if __name__ == "__main__":
    main()
