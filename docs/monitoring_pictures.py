"""Draw the picture of monitoring.md: ``python docs/monitoring_pictures.py``. It runs the code of that page."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import calibstat as cs

PAGE = Path(__file__).parent / "monitoring.md"


def main() -> None:
    """Run the examples up to the picture, and draw the monitor."""
    text = PAGE.read_text(encoding="utf-8").partition("![")[0]
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(text):
        exec(example.source, names)
    cs.plot(names["monitor"]).figure.savefig(PAGE.parent / "images" / "monitor.png", dpi=120)


if __name__ == "__main__":
    main()
