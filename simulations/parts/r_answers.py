"""Answers of R's rms::val.prob, from one process of R that reads a line of rows and writes a line of p-values."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import numpy as np

NAMES = ("U:p", "S:p")
LOOP = """
suppressMessages(library(rms))
rows <- file("stdin", "r")
while (length(line <- readLines(rows, 1))) {
  numbers <- scan(text = line, quiet = TRUE)
  n <- length(numbers) / 2
  found <- tryCatch(val.prob(numbers[-(1:n)], numbers[1:n], pl = FALSE)[c("U:p", "S:p")], error = function(e) c(NA, NA))
  cat(found, "\\n")
  flush(stdout())
}
"""


@cache
def version() -> str | None:
    """Return the version of rms; None without R or rms."""
    if shutil.which("Rscript") is None:
        return None
    asked = ["Rscript", "--vanilla", "-e", 'cat(as.character(packageVersion("rms")))']
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    return found.stdout if found.returncode == 0 else None


@cache
def _process() -> subprocess.Popen[str]:
    started = ["Rscript", "--vanilla", "-e", LOOP]
    return subprocess.Popen(
        started, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def val_prob(y: np.ndarray, p: np.ndarray, name: str) -> float:
    """Return one of the p-values of rms::val.prob; nan where it has none."""
    process = _process()
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("expected pipes to R")
    process.stdin.write(" ".join(f"{each:.17g}" for each in (*y, *p)) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("R has ended")
    return float(line.split()[NAMES.index(name)].replace("NA", "nan"))
