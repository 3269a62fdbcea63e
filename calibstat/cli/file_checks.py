"""Checks of a file before and while it is read: it is a regular one, not too large, and not damaged."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calibstat.data.checks import cut

FILE_LIMIT = 2 * 1024**3  # bytes in memory that any file may ask for
NOT_UTF8 = "expected text in UTF-8, or in UTF-16 with a byte order mark, found other bytes; save it as UTF-8"
UNPAIRED = "expected quotation marks in pairs around cells, found one that is never closed"
LARGER = 20  # times its own size that a compressed file may ask for, if that is more
LARGEST_TEXT = 2**28  # bytes that compressed text may expand to, which takes several times as much to read
LARGER_TEXT = 100  # times its own size, if that is more: rows of text compress by 10 to 50


def check_file(file: Path) -> None:
    """Raise unless there is a regular file: a device cannot be read twice."""
    if not file.exists():
        raise ValueError(f"no such file: {str(file)!r}")
    if not file.is_file():
        raise ValueError(f"expected a regular file, found {str(file)!r}, a device")


def check_size(file: Path, declared: int) -> None:
    """Raise if what a file says that it holds is far more than fits its size: a small file may claim any number."""
    most = max(FILE_LIMIT, LARGER * file.stat().st_size)
    if declared > most:
        raise ValueError(f"expected at most {most:,} bytes of data in a file of this size, found {declared:,} declared")


def check_text(file: Path, expanded: int) -> None:
    """Raise if the text in a compressed file is far more than fits its size: a small file may hold one endless cell."""
    most = max(min(LARGEST_TEXT, FILE_LIMIT), LARGER_TEXT * file.stat().st_size)
    if expanded > most:
        raise ValueError(
            f"expected at most {most:,} bytes of text in a compressed file of this size, found more; if that is right, "
            "unpack it first, as by gzip -dk"
        )


@contextmanager
def readable(file: Path) -> Iterator[None]:
    """Turn all that a reader raises into a ValueError that names the file.

    On damaged bytes the readers of NumPy, zip and Parquet files raise errors of nearly every kind.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)  # a header that is not one
            yield
    except UnicodeError:
        raise ValueError(f"cannot read {str(file)!r}: {NOT_UTF8}") from None
    except (ValueError, OSError) as error:
        what = UNPAIRED if type(error).__name__ == "ParserError" else cut(str(error), 300)  # of pandas
        raise ValueError(f"cannot read {str(file)!r}: {what}") from None
    except MemoryError:
        raise ValueError(f"cannot read {str(file)!r}: that takes more memory than there is") from None
    except Exception as error:
        raise ValueError(f"cannot read {str(file)!r}: {type(error).__name__}: {cut(str(error), 300)}") from None
