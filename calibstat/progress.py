"""Lines about long calls: how long all will take, said once the first parts are done, and then how much is done.

They are warnings of the logger "calibstat", which Python writes to standard error unless a program handles its logs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
LONG = 5.0  # seconds; of a shorter call nothing is said
SURE = 1.0  # seconds after which the rest can be foretold
OFTEN = 10.0  # seconds from one line to the next

logger = logging.getLogger("calibstat")


def announced(parts: Iterable[T], sizes: Sequence[int], what: str) -> Iterator[T]:
    """Yield the parts, and say how long `what` takes if that is long; the time between parts counts too.

    `sizes` is how much there is to do for each part. The rest is foretold without the first part, in which kernels may
    be compiled.
    """
    began = time.monotonic()
    whole, done, warm, said = sum(sizes), 0, began, None
    for number, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        yield part
        done += size
        now = time.monotonic()
        if number == 0:
            warm = now
        if now - warm < SURE or done == whole:
            continue
        left = (now - warm) * (whole - done) / (done - sizes[0])
        if said is None and now - began + left >= LONG:
            logger.warning("about %s for %s", in_words(now - began + left), what)
            said = now
        elif said is not None and now - said >= OFTEN:
            logger.warning("%.0f %% done, about %s left", 100 * done / whole, in_words(left))
            said = now


def in_words(seconds: float) -> str:
    """Write a time to two digits."""
    if seconds < 100:
        return f"{float(f'{seconds:.2g}'):.0f} s"
    return f"{float(f'{seconds / 60:.2g}'):g} min"
