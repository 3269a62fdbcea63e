"""Whether two checkouts give the same numbers to the last bit, for every combination of question, measure and rows.

``python benchmarks/paired_run.py OLD_CHECKOUT [NEW_CHECKOUT] [--n-jobs 2]`` prints nothing and exits with 0 if all
agree, else it prints which combinations differ and exits with 1. NEW_CHECKOUT is by default the one of this file.
Fields that stand elsewhere now are listed in `moved_fields`. New fields and errors in other words are printed apart,
and are no differences. How many calls are answered goes to standard error.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from moved_fields import MOVED, Fields, moved, new_field
from recorded import CLASS, REFUSED, WORDS, read_line

LEAST = 1115  # combinations that are known to have an answer
FOLDER = Path(__file__).resolve().parent
Answers = Mapping[str, Mapping[str, str]]  # of each combination, the entries of its result


def run(checkout: Path, asked: str, part: int, parts: int) -> str:
    """Return what a fresh process records of a list of calls that imports calibstat from this checkout."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    environment = os.environ | threads | {"PYTHONPATH": str(checkout)}
    command = [sys.executable, str(FOLDER / "recorded.py"), str(checkout), asked, str(part), str(parts)]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def answers(checkouts: list[Path], asked: str, n_jobs: int) -> list[dict[str, dict[str, str]]]:
    """Return the answers of each checkout, from this number of processes at a time."""
    jobs = [(checkout, part) for checkout in checkouts for part in range(n_jobs)]
    with ThreadPoolExecutor(n_jobs) as pool:
        texts = list(pool.map(lambda job: run(job[0], asked, job[1], n_jobs), jobs))
    lines = ["".join(texts[i : i + n_jobs]).splitlines() for i in range(0, len(texts), n_jobs)]
    return [dict(map(read_line, of_checkout)) for of_checkout in lines]


def readable(entry: str) -> str:
    """Write an entry, of a number in decimals beside its bits."""
    return f"{entry} ({float.fromhex(entry):.6g})" if entry.lstrip("-").startswith("0x") else entry


def compared(found: Mapping[str, str]) -> dict[str, str]:
    """Return the entries that have to be the same: all but classes of results and words of errors."""
    return {path: entry for path, entry in found.items() if not path.endswith((CLASS, WORDS))}


def difference(old: Mapping[str, str], new: Mapping[str, str], fields: Fields = MOVED) -> str:
    """Say in what two answers to one call differ; nothing if they are the same, up to new fields."""
    was, now = compared(moved(old, new, fields)), compared(new)
    both = [path for path in was if path in now and was[path] != now[path]]
    said = [f"{path} {readable(was[path])} is now {readable(now[path])}" for path in both[:1]]
    said += [f"and {len(both) - 1} more"] * (len(both) > 1)
    added = [path for path in now if path not in was and not new_field(path, old)]
    for paths, where in ((was.keys() - now.keys(), "old"), (added, "new")):
        some = f"{', '.join(sorted(paths)[:5])}{', ...' * (len(paths) > 5)}"
        said += [f"only in the {where} checkout: {some}"] * bool(paths)
    if said and REFUSED + WORDS in new:
        said.append(json.loads(new[REFUSED + WORDS]))
    return "; ".join(said)


def differences(old: Answers, new: Answers) -> list[str]:
    """Return a line for each combination whose answers differ, or that only one checkout was asked."""
    found = [f"{name}: {said}" for name in old if name in new and (said := difference(old[name], new[name]))]
    found += [f"{name}: only in the old checkout" for name in old if name not in new]
    return found + [f"{name}: only in the new checkout" for name in new if name not in old]


def other_words(old: Answers, new: Answers) -> list[str]:
    """Return a line for each call that raises an error of the same type in other words."""
    words = REFUSED + WORDS
    pairs = [(name, old[name], new[name]) for name in old if name in new]
    return [
        f"{name}: {a.get(words)} is now {b.get(words)}"
        for name, a, b in pairs
        if REFUSED in a and a[REFUSED] == b.get(REFUSED) and a.get(words) != b.get(words)
    ]


def new_fields(old: Answers, new: Answers) -> list[str]:
    """Return a line for each field that results of a class did not have before."""
    pairs = [(old[name], new[name]) for name in old if name in new]
    return sorted({field for a, b in pairs for path in b if path not in a and (field := new_field(path, a))})


def check_enough(found: Answers, least: int = LEAST) -> str:
    """Return how many calls have an answer; raise if they are fewer than this: else little would have been compared."""
    answered = sum(REFUSED not in entries for entries in found.values())
    if answered < least:
        raise SystemExit(f"expected answers to at least {least} combinations, found {answered}")
    return f"{answered} calls are answered, and {len(found) - answered} refused"


def main(asked: str = "combinations", least: int = LEAST) -> int:
    """Compare two checkouts by a list of calls, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?", default=FOLDER.parent)
    parser.add_argument("--n-jobs", type=int, default=1, help="processes at a time")
    given = parser.parse_args()
    old, new = answers([given.old.resolve(), given.new.resolve()], asked, given.n_jobs)
    lines = differences(old, new)
    print("\n".join(lines), end="\n" * bool(lines))
    for title, apart in (("Errors in other words", other_words(old, new)), ("New fields", new_fields(old, new))):
        if apart:
            print(f"\n{title}, which are no differences:", *apart, sep="\n")
    for found, where in ((old, "old"), (new, "new")):
        print(f"{where} checkout: {check_enough(found, least)}", file=sys.stderr)
    return min(len(lines), 1)


if __name__ == "__main__":
    sys.exit(main())
