"""Processor time of intervals and comparisons, and peak memory of five calls of 20 classes, in several checkouts.

``python benchmarks/bounds.py [CHECKOUT ...]`` prints the figures of the first checkout, by default that of this file,
and of the others as ratios to them. Runs of the checkouts alternate, and the fastest of each counts.
"""

import os
import subprocess
import sys
from pathlib import Path

from bounds_calls import CALLS, MEMORY

ROUNDS = 7
FOLDER = Path(__file__).resolve().parent


class Checkout:
    """A process that imports calibstat from a checkout and makes the calls that it is told."""

    def __init__(self, folder: Path) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, str(FOLDER / "bounds_calls.py"), str(folder)],
            env=os.environ | threads | {"PYTHONPATH": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, name: str) -> float:
        """Return the number of one call."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(name, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def row(name: str, found: list[float], unit: float) -> str:
    """Write the figure of the first checkout in a unit, and those of the others as ratios to it."""
    ratios = "".join(f"{each / found[0]:>12.3f}" for each in found[1:])
    return f"{name:<22}{found[0] / unit:>12.2f}{ratios}"


def main() -> None:
    """Print the table."""
    folders = [Path(each).resolve() for each in sys.argv[1:]] or [FOLDER.parent]
    checkouts = [Checkout(folder) for folder in folders]
    print(f"{'milliseconds':<22}{folders[0].name:>12}" + "".join(f"{each.name:>12}" for each in folders[1:]))
    for name in CALLS:
        for checkout in checkouts:
            checkout.ask(name)  # compiled and warm
        times = [[checkout.ask(name) for checkout in checkouts] for _ in range(ROUNDS)]
        print(row(name, [min(column) for column in zip(*times, strict=True)], 1e-3), flush=True)
    print("peak memory / prob")
    for name in MEMORY:
        print(row(name.removeprefix("memory "), [checkout.ask(name) for checkout in checkouts], 1), flush=True)


if __name__ == "__main__":
    main()
