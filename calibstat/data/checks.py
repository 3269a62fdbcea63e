"""Checks of scalar arguments: whole numbers, levels, numbers of jobs, unknown options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def is_whole(value: Any, least: int = 1) -> bool:
    """Whether a value is of an integer type and at least `least`; True and 2.0 are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)


def short(value: Any, most: int = 80) -> str:
    """Return the repr of a value, cut if it is long."""
    return cut(repr(value), most)


def cut(text: str, most: int = 1000) -> str:
    """Cut a long text."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


def check_whole(name: str, value: Any, least: int = 1) -> None:
    """Raise unless an argument is a whole number of at least `least`."""
    if not is_whole(value, least):
        raise ValueError(f"expected {name} to be a whole number of at least {least}, found {short(value)}")


def check_level(name: str, value: Any) -> None:
    """Raise unless an argument is a number between 0 and 1; not one so near to 1 that (1 + value) / 2 is 1."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not 0 < value < 1 or 1 - (1 - value) / 2 == 1:
        raise ValueError(f"expected {name} between 0 and 1, found {short(value)}")


def check_jobs(n_jobs: Any) -> None:
    """Raise unless the number of threads or processes is a whole number of at least 1, or -1."""
    if not is_whole(n_jobs) and not (is_whole(n_jobs, -1) and n_jobs == -1):
        raise ValueError(
            f"expected n_jobs to be a whole number of at least 1, or -1 for all cores; found {short(n_jobs)}"
        )


ELSEWHERE = {  # names of options in other packages, and what to use here
    **dict.fromkeys(("random_state", "seed", "random_seed"), "use rng="),
    **dict.fromkeys(("bins", "num_bins", "n_bin"), "use n_bins="),
    **dict.fromkeys(("n_boot", "n_bootstrap", "n_bootstraps", "n_permutations", "B"), "use n_resamples="),
    **dict.fromkeys(("n_threads", "num_threads", "n_workers"), "use n_jobs="),
    **dict.fromkeys(("ci", "level", "conf_level", "confidence"), "use confidence_level=, where there is an interval"),
    "alpha": "an interval takes confidence_level=, 1 - alpha; compare the p-value of a test with alpha",
    **dict.fromkeys(
        ("sample_weight", "weights", "weight"),
        "tests and intervals draw rows and labels, which weights do not have; whole-number weights that stand for "
        "repeated rows go into Sample.from_rows(y_true, y_prob, sample_weight), real-valued ones into estimate alone",
    ),
}


def unknown_option(what: str, name: str, known: Iterable[str]) -> ValueError:
    """Return the error that lists the known options; for an option of other packages it says what to use instead."""
    advice = f"; {ELSEWHERE[name]}" if name in ELSEWHERE else ""
    return ValueError(f"expected options of {what} ({', '.join(known) or 'none'}), found {short(name)}{advice}")
