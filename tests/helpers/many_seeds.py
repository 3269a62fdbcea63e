"""Statistical tests under many seeds: ``python tests/helpers/many_seeds.py 1 100 results.jsonl [pytest arguments]``.

Prints how often each test failed, and how often it may. Each seed adds a line to the file when it is done; a seed whose
line is there for the same arguments is not run again, so the command may be killed and started anew.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import other_seeds
import pytest
from scipy.special import bdtrc

PLAIN = ["-n", "0", "-q", "-p", "no:cacheprovider"]
RATE = 1e-3  # with which a right test may fail: CONTRIBUTING.md, "Tests"


def collected(arguments):
    """Names of the statistical tests, found in another process: this one imports no test and no data made there."""
    command = [sys.executable, "-m", "pytest", *PLAIN, "--collect-only", "-m", "not slow", *arguments]
    found = subprocess.run(
        command, env={**os.environ, other_seeds.NAME: "1"}, capture_output=True, text=True, check=False
    )
    names = [line for line in found.stdout.splitlines() if "::" in line]
    return names or sys.exit(f"expected statistical tests, found none\n{found.stdout}{found.stderr}")


class Failures(list):
    """A plugin that keeps the names of tests that fail."""

    def pytest_runtest_logreport(self, report):
        if report.failed and report.nodeid not in self:
            self.append(report.nodeid)


def run(seed, names, arguments, results):
    """Run the tests under one seed, in a process that is forked before any test is imported, and add the line."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    other_seeds.SEED = seed
    failures = Failures()
    status = pytest.main([*PLAIN, "--tb=line", "-m", "", *names], plugins=[failures])
    if status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        line = {"seed": seed, "arguments": arguments, "tests": len(names), "failures": failures}
        with results.open("a") as file:
            file.write(json.dumps(line) + "\n")
        status = 0
    os._exit(status)


def done(arguments, results):
    """Lines of seeds that were run with these arguments."""
    lines = map(json.loads, results.read_text().splitlines()) if results.exists() else ()
    return [line for line in lines if line["arguments"] == arguments]


def main(first, last, results, *arguments):
    results, arguments = Path(results), list(arguments)
    there = {line["seed"] for line in done(arguments, results)}
    names = collected(arguments)
    for seed in sorted({*range(int(first), int(last) + 1)} - there):
        if status := run(seed, names, arguments, results):
            sys.exit(status)
    lines = done(arguments, results)
    failures = Counter(name for line in lines for name in line["failures"])
    most = next(k for k in range(len(lines) + 1) if bdtrc(k, len(lines), RATE) <= RATE / len(names))
    print(f"{len(names)} tests, {len(lines)} seeds: each may fail {most} times")
    for name, count in failures.most_common():
        print(f"{count:8} {name}")
    sys.exit(any(count > most for count in failures.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
