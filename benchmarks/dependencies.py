"""What each dependency of calibstat takes on disk, and what its import costs.

``python benchmarks/dependencies.py`` in a fresh environment with calibstat and nothing else writes
benchmarks/dependencies.csv, which docs/start/installing.md shows. Sizes are of all files that an installed distribution
lists, compiled ones of Python too, in megabytes of a million bytes. What a dependency brings is counted once, for the
first dependency that needs it, in the order of sizes. Seconds are of a processor, for all modules of the dependency
that files of calibstat import: the least of nine fresh interpreters, less the least of nine that import nothing.
"""

import ast
import csv
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

TABLE = Path(__file__).with_suffix(".csv")
REPEATS = 9


def plain(name: str) -> str:
    """Return the name of a distribution as the package index compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name: str) -> list[str]:
    """Return the installed distributions that one asks for, without its extras."""
    found = []
    for line in distribution(name).requires or []:
        asked = re.match(r"[\w.-]+", line)
        if asked and "extra ==" not in line:
            try:
                found.append(plain(distribution(asked[0]).name))
            except PackageNotFoundError:
                continue  # another system or another Python needs it
    return found


def brought(name: str, taken: set[str]) -> list[str]:
    """Return what a distribution brings, directly or not, beyond those that are taken."""
    found: list[str] = []
    for each in needed(name):
        if each not in taken and each not in found:
            found += [each, *brought(each, taken | {*found, each})]
    return found


def megabytes(name: str) -> float:
    """Return the size of all files of a distribution."""
    own = distribution(name)
    paths = (Path(str(own.locate_file(file))) for file in own.files or [])
    return sum(path.stat().st_size for path in paths if path.exists()) / 1e6


def at_run_time(node: ast.AST) -> Iterator[ast.AST]:
    """Return the parts of some code, without what only type checkers read."""
    yield node
    if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
        for child in ast.iter_child_nodes(node):
            yield from at_run_time(child)


def imported(name: str) -> tuple[list[str], int]:
    """Return the modules of a library that files of calibstat import, and how many files do."""
    modules, files = {name}, 0
    for file in distribution("calibstat").files or []:
        if file.suffix != ".py":
            continue
        found = set()
        for node in at_run_time(ast.parse(Path(str(file.locate())).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(node.module or "")
        own = {each for each in found if each.partition(".")[0] == name}
        modules, files = modules | own, files + bool(own)
    return sorted(modules), files


def seconds(code: str) -> float:
    """Return the seconds of a processor that a fresh interpreter takes for some code: the least of nine."""
    taken = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def main() -> None:
    """Measure all dependencies, and calibstat itself."""
    names = sorted(needed("calibstat"), key=megabytes, reverse=True)
    taken, nothing = {*names, "calibstat"}, seconds("pass")
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["library", "version", "own MB", "brings", "brought MB", "seconds", "files"])
        for name in names:
            more = brought(name, taken)
            taken |= set(more)
            own, others = megabytes(name), sum(megabytes(each) for each in more)
            modules, files = imported(name)
            cost = seconds(f"import {', '.join(modules)}") - nothing
            sizes = [f"{own:.1f}", " ".join(more), f"{others:.1f}"]
            writer.writerow([name, distribution(name).version, *sizes, f"{cost:.2f}", files])
        cost = seconds("import calibstat") - nothing
        writer.writerow(
            ["calibstat", distribution("calibstat").version, f"{megabytes('calibstat'):.1f}", "", 0, f"{cost:.2f}", ""]
        )


if __name__ == "__main__":
    main()
