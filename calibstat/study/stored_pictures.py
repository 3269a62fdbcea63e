"""Pictures of studies as files, each of which says which table it shows."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEY = "Table"  # of the text in a picture that names its table


def name_of_table(path: Path) -> str:
    """Name the table in a file of `write_table` with a digest of its rows, without the line of facts above them."""
    _, rows = path.read_text(encoding="utf-8").split("\n", 1)
    return f"{path.name} {hashlib.blake2b(rows.encode(), digest_size=12).hexdigest()}"


def save_picture(figure: Figure, path: Path, table: Path) -> None:
    """Save a picture of a table in a file, with the name of the table, in 256 colours.

    In so few a large picture takes a third of the bytes. They are chosen to cover all that occur: by default they
    follow the most frequent, and rare marks change colour.
    """
    from PIL import Image  # matplotlib's own requirement

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    Image.open(path).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE).save(path)
    write_table_shown(path, table)


def write_table_shown(path: Path, table: Path) -> None:
    """Write into a picture the name of the table that it shows; nothing else of it changes."""
    from PIL import Image, PngImagePlugin

    text = PngImagePlugin.PngInfo()
    text.add_text(KEY, name_of_table(table))
    with Image.open(path) as picture:
        picture.load()
    picture.save(path, optimize=True, pnginfo=text)


def table_shown(path: Path) -> str | None:
    """Return the name of the table that a picture shows; None if it does not say."""
    from PIL import Image

    with Image.open(path) as picture:
        shown: str | None = picture.info.get(KEY)
    return shown
