"""Columns of NumPy files: the arrays of .npz by their names, the columns of a matrix by name and number."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

KINDS = (".npz", ".npy")


def read_arrays(file: Path) -> list[tuple[str, np.ndarray]]:
    """Return the columns of a NumPy file with their names; a ValueError or OSError says what is wrong.

    The columns of a matrix `p` are p_0, p_1 and so on; those of the only matrix of an .npy file 0, 1 and so on. A
    structured array has columns of its own. Arrays of three dimensions or more have none.
    """
    try:
        loaded = np.load(file, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return _columns("", loaded)
        with loaded:
            return [column for name in loaded.files for column in _columns(name, loaded[name])]
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(str(error)) from None
    except ValueError as error:
        if "allow_pickle" in str(error):  # text in an array of objects, as pandas gives it
            raise ValueError(
                "expected arrays of numbers or text, found Python objects; save text by .astype(str)"
            ) from None
        raise


def _columns(name: str, array: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return the columns of an array; `name` is empty for that of an .npy file."""
    if not isinstance(array, np.ndarray):  # another file in the archive
        return []
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
