"""Time two things in turn, so that a drifting machine is fair to both."""

import time
from collections.abc import Callable


def seconds(function: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def in_turn(*functions: Callable[[], object], rounds: int = 7) -> list[float]:
    """Return the median seconds of each function, called in turn after one warm-up call of each."""
    for function in functions:
        function()
    times = [[seconds(function) for function in functions] for _ in range(rounds)]
    return [sorted(column)[rounds // 2] for column in zip(*times, strict=True)]
