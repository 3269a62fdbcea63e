"""Columns of NumPy files: the arrays of .npz by their names, the columns of a matrix by name and number."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from calibstat.cli.file_checks import check_size

NUMPY_FILES = (".npz", ".npy")
ARCHIVE = b"PK"  # how an .npz file begins


def read_arrays(file: Path) -> list[tuple[str, np.ndarray]]:
    """Return the columns of a NumPy file with their names; a ValueError or OSError says what is wrong.

    The columns of a matrix `p` are p_0, p_1 and so on; the only matrix of an .npy file has 0, 1 and so on. A
    structured array has columns of its own. Arrays of three dimensions or more have none.
    """
    with file.open("rb") as stream:
        if stream.read(len(ARCHIVE)) != ARCHIVE:
            stream.seek(0)
            return _columns("", _read(stream, file.stat().st_size))
    columns = []
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        check_size(file, sum(member.file_size for member in members))
        for member in members:
            with archive.open(member) as part:
                if part.read(len(npy.MAGIC_PREFIX)) != npy.MAGIC_PREFIX:  # another file in the archive
                    continue
                part.seek(0)
                columns += _columns(member.filename.removesuffix(".npy"), _read(part, member.file_size))
    return columns


def _read(stream: IO[bytes], size: int) -> np.ndarray:
    """Read the only array of a stream of so many bytes, once its header has been held against them."""
    header = npy.read_array_header_1_0 if npy.read_magic(stream) == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = header(stream)
    if dtype.hasobject:  # text in an array of objects, as pandas gives it
        raise ValueError("expected arrays of numbers or text, found Python objects; save text by .astype(str)")
    if min(shape, default=0) < 0:
        raise ValueError(f"expected a shape of lengths from 0, found {shape}")
    declared = math.prod(max(length, 1) for length in shape) * max(dtype.itemsize, 1)
    if declared > size:
        raise ValueError(f"expected at most {size:,} bytes of data, found {declared:,} declared for shape {shape}")
    stream.seek(0)
    array = npy.read_array(stream, allow_pickle=False)
    if stream.read(1):  # an archive compares its checksum here
        raise ValueError(f"expected the end of the file after an array of shape {shape}, found more bytes")
    return array


def _columns(name: str, array: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return the columns of an array; `name` is empty for an .npy file."""
    if array.dtype.names is not None:
        return [(field, _plain(array[field])) for field in array.dtype.names if array.ndim == 1]
    if array.ndim == 1:
        return [(name or "0", _plain(array))]
    if array.ndim != 2:
        return []
    if array.shape[1] == 1:
        return [(name or "0", _plain(array[:, 0]))]
    return [(f"{name}_{k}" if name else f"{k}", _plain(array[:, k])) for k in range(array.shape[1])]


def _plain(array: np.ndarray) -> np.ndarray:
    """Return numbers in the order of bytes of this machine, and bytes as text."""
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    return array.astype(array.dtype.newbyteorder("="))
