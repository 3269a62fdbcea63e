"""Whether two checkouts give the same numbers to the last bit, for every combination of question, measure and rows.

``python benchmarks/paired_run.py OLD_CHECKOUT [NEW_CHECKOUT] [--n-jobs 2]`` prints nothing and exits with 0 if all
agree, else it prints which combinations differ and exits with 1. NEW_CHECKOUT is by default the one of this file.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from recorded import REFUSED, read_line

LEAST = 1115  # combinations that are known to have an answer
FOLDER = Path(__file__).resolve().parent
Answers = Mapping[str, Mapping[str, str]]  # of each combination, the entries of its result


def run(checkout: Path, part: int, parts: int) -> str:
    """Return what a fresh process records that imports calibstat from this checkout."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    environment = os.environ | threads | {"PYTHONPATH": str(checkout)}
    command = [sys.executable, str(FOLDER / "recorded.py"), str(checkout), str(part), str(parts)]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def answers(checkouts: list[Path], n_jobs: int) -> list[dict[str, dict[str, str]]]:
    """Return the answers of each checkout, from this number of processes at a time."""
    jobs = [(checkout, part) for checkout in checkouts for part in range(n_jobs)]
    with ThreadPoolExecutor(n_jobs) as pool:
        texts = list(pool.map(lambda job: run(*job, n_jobs), jobs))
    lines = ["".join(texts[i : i + n_jobs]).splitlines() for i in range(0, len(texts), n_jobs)]
    return [dict(map(read_line, of_checkout)) for of_checkout in lines]


def readable(entry: str) -> str:
    """Write an entry, of a number in decimals beside its bits."""
    return f"{entry} ({float.fromhex(entry):.6g})" if entry.lstrip("-").startswith("0x") else entry


def difference(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Say in what two answers to one combination differ; nothing if they are the same."""
    both = [path for path in old if path in new and old[path] != new[path]]
    said = [f"{path} {readable(old[path])} is now {readable(new[path])}" for path in both[:1]]
    said += [f"and {len(both) - 1} more"] * (len(both) > 1)
    for paths, where in ((old.keys() - new.keys(), "old"), (new.keys() - old.keys(), "new")):
        said += [f"only in the {where} checkout: {', '.join(sorted(paths)[:5])}{', ...' * (len(paths) > 5)}"] * any(
            paths
        )
    return "; ".join(said)


def differences(old: Answers, new: Answers) -> list[str]:
    """Return a line for each combination whose answers differ, or that only one checkout was asked."""
    found = [f"{name}: {said}" for name in old if name in new and (said := difference(old[name], new[name]))]
    found += [f"{name}: only in the old checkout" for name in old if name not in new]
    return found + [f"{name}: only in the new checkout" for name in new if name not in old]


def check_enough(found: Answers, least: int = LEAST) -> None:
    """Raise unless so many combinations have an answer: else little would have been compared."""
    answered = sum(REFUSED not in entries for entries in found.values())
    if answered < least:
        raise SystemExit(f"expected answers to at least {least} combinations, found {answered}")


def main() -> int:
    """Compare two checkouts, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?", default=FOLDER.parent)
    parser.add_argument("--n-jobs", type=int, default=1, help="processes at a time")
    given = parser.parse_args()
    old, new = answers([given.old.resolve(), given.new.resolve()], given.n_jobs)
    for found in (old, new):
        check_enough(found)
    lines = differences(old, new)
    print("\n".join(lines), end="\n" * bool(lines))
    return min(len(lines), 1)


if __name__ == "__main__":
    sys.exit(main())
