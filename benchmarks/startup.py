"""What the first calls of a fresh machine cost, in several checkouts.

``python benchmarks/startup.py [CHECKOUT ...]`` prints a row for each call: the processor seconds of a fresh process
and, in brackets, the functions that it compiles, with an empty cache of compiled code in each checkout, by default the
one of this file; then the seconds with a full cache; then how many times faster the last checkout is than the first.
"""

import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ROWS = """
    import numpy as np
    import calibstat as cs
    p = np.linspace(0.01, 0.99, 1000)
    y = (np.arange(1000) * 7919 % 1000 < 1000 * p).astype(int)
"""
COMMAND = "from typer.testing import CliRunner\nfrom calibstat.cli.app import app\nCliRunner().invoke(app, [{!r}])"
COUNT = """
    import atexit, sys, time
    def told():
        print("told", time.process_time(), len(compiled) // 2)
    compiled = []
    atexit.register(told)
    if {counts}:
        from numba.core import event
        class Counts(event.Listener):
            def on_start(self, event):
                compiled.append(event)
            on_end = on_start
        event.register("numba:compile", Counts())
"""


def readme() -> str:
    """Return the code of the first example of the README."""
    example = (HERE / "README.md").read_text(encoding="utf-8").split("```pycon")[1].split("```")[0]
    return "\n".join(line[4:] for line in example.splitlines() if line.startswith(">>> "))


CALLS = {
    "import calibstat": "import calibstat",
    "calibstat --help": COMMAND.format("--help"),
    "default test": textwrap.dedent(ROWS) + "cs.calibration_test(y, p, rng=1)",
    "test by ece": textwrap.dedent(ROWS) + "cs.calibration_test(y, p, measure='ece', rng=1)",
    "interval": textwrap.dedent(ROWS) + "cs.confidence_interval(y, p, rng=1)",
    "compare": textwrap.dedent(ROWS) + "cs.compare(y, {'A': p, 'B': p**1.1})",
    "audit": textwrap.dedent(ROWS)
    + "import pandas\ncs.audit(y, p, pandas.DataFrame({'age': np.arange(1000) % 5}), rng=1)",
    "diagram": textwrap.dedent(ROWS) + "cs.ReliabilityDisplay.from_predictions(y, p, rng=1)",
    "example of the README": readme(),
    "report": textwrap.dedent(ROWS) + "cs.report(y, p, rng=1)",
    "calibstat demo": COMMAND.format("demo"),
}


def run(checkout: Path, code: str, cache: Path, counts: bool) -> tuple[float, int]:
    """Return the processor seconds of a fresh process, and how many functions it compiles if it `counts` them."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(checkout), "MPLBACKEND": "agg"}
    made = [sys.executable, "-c", textwrap.dedent(COUNT).format(counts=counts) + code]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(made, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    seconds, compiled = done.stdout.split("told")[-1].split()
    return float(seconds), int(compiled)


def main() -> None:
    checkouts = [Path(each).resolve() for each in sys.argv[1:]] or [HERE]
    print("| call |" + " empty cache | full cache |" * len(checkouts) + " ratio |")
    for name, code in CALLS.items():
        cells, empty = [], []
        compiles = not name.startswith(("import", "calibstat --"))
        for checkout in checkouts:
            with tempfile.TemporaryDirectory() as cache:
                seconds, compiled = run(checkout, code, Path(cache), compiles)
                full = min(run(checkout, code, Path(cache), False)[0] for _ in range(2))
            with tempfile.TemporaryDirectory() as cache:
                seconds = min(seconds, run(checkout, code, Path(cache), False)[0])
            empty.append(seconds)
            cells += [f"{seconds:.2f} ({compiled})" if compiles else f"{seconds:.2f}", f"{full:.2f}"]
        print("| " + " | ".join([name, *cells, f"{empty[0] / empty[-1]:.2f}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
