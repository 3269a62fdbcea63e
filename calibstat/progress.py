"""Lines about long calls: how long all will take, said once the first parts are done, and then how much is done.

They are warnings of the logger "calibstat", which Python writes to standard error unless a program handles its logs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
LONG_CALL = 5.0  # seconds; of a shorter call nothing is said
FORETOLD = 1.0  # seconds after which the rest can be foretold
OFTEN = 10.0  # seconds from one line to the next, at least
REPORTS = 10  # after the first, about as many as a call has at most, however long it takes

logger = logging.getLogger("calibstat")


def announced(parts: Iterable[T], sizes: Sequence[int], what: str) -> Iterator[T]:
    """Yield the parts, and say how long `what` takes if that is long; the time between parts counts too.

    `sizes` is how much there is to do for each part.
    """
    done = announcer(sum(sizes), what)
    for part, size in zip(parts, sizes, strict=True):
        yield part
        done(size)


def announcer(whole: int, what: str) -> Callable[[int], None]:
    """Return a function that is told of each part, when it is done, how large it was, and says how long `what` takes.

    The rest is foretold without the first part, in which kernels may be compiled.
    """
    began = time.monotonic()
    done, first = 0, 0
    warm: float | None = None
    said: float | None = None

    def part_done(size: int) -> None:
        nonlocal done, first, warm, said
        now = time.monotonic()
        if warm is None:
            first, warm = size, now
        done += size
        if now - warm < FORETOLD or done in (first, whole):
            return
        left = (now - warm) * (whole - done) / (done - first)
        foretold = now - began + left
        if said is None and foretold >= LONG_CALL:
            logger.warning("about %s for %s", in_words(foretold), what)
            said = now
        elif said is not None and now - said >= max(OFTEN, foretold / REPORTS):
            logger.warning("%.0f %% done, about %s left", 100 * done / whole, in_words(left))
            said = now

    return part_done


def in_words(seconds: float) -> str:
    """Write a time to two digits."""
    if seconds < 100:
        return f"{float(f'{seconds:.2g}'):.0f} s"
    if seconds < 100 * 60:
        return f"{float(f'{seconds / 60:.2g}'):g} min"
    return f"{float(f'{seconds / 3600:.2g}'):g} h"
