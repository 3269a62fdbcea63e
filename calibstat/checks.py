"""What numbers among the arguments have to be."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_whole(value: Any, least: int = 1) -> bool:
    """Whether this is a whole number, of an integer type, of at least `least`; True and 2.0 are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)


def short(value: Any, most: int = 80) -> str:
    """Write a value as in code, cut short if it is long."""
    return cut(repr(value), most)


def cut(text: str, most: int = 1000) -> str:
    """Cut a text short if it is long."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


def check_whole(name: str, value: Any, least: int = 1) -> None:
    """Raise unless an argument is a whole number of at least `least`."""
    if not is_whole(value, least):
        raise ValueError(f"expected {name} to be a whole number of at least {least}, found {short(value)}")


def check_level(name: str, value: Any) -> None:
    """Raise unless an argument is a number between 0 and 1, as far from 1 as a two-sided quantile needs."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not 0 < value < 1 or 1 - (1 - value) / 2 == 1:
        raise ValueError(f"expected {name} between 0 and 1, found {short(value)}")


def check_jobs(n_jobs: Any) -> None:
    """Raise unless this is how many threads or processes to use: a whole number of at least 1, or -1."""
    if not is_whole(n_jobs) and not (is_whole(n_jobs, -1) and n_jobs == -1):
        raise ValueError(
            f"expected n_jobs to be a whole number of at least 1, or -1 for all cores; found {short(n_jobs)}"
        )
