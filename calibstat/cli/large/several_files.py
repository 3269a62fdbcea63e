"""Several files as one place: what a shell makes of a pattern without quotes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class SeveralFiles(type(Path())):  # type: ignore[misc]
    """A place of several files, folders or patterns; as a path it is their description, which no file has.

    Attributes
    ----------
    places : tuple of Path
        What it is made of.
    """

    places: tuple[Path, ...] = ()

    @classmethod
    def of(cls, places: Sequence[Path]) -> SeveralFiles:
        """Return the place of several."""
        place = cls(f"{places[0]} and {len(places) - 1} more")
        place.places = tuple(places)
        return place
