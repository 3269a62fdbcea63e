"""Draw pictures of pages: ``python docs/page_pictures.py``."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import calibstat as cs
from calibstat.cli.demo import predictions

DOCS = Path(__file__).parent


def monitor() -> plt.Figure:
    """Run the examples of monitoring.md up to its picture, and draw the monitor."""
    text = (DOCS / "monitoring.md").read_text(encoding="utf-8").partition("![")[0]
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(text):
        exec(example.source, names)
    return cs.plot(names["monitor"]).figure


def first_picture() -> plt.Figure:
    """Draw naive Bayes of ``calibstat demo``, for the landing page."""
    y, models = predictions()
    return cs.plot(cs.reliability(y, models["Naive Bayes"], rng=0), title="Naive Bayes, a survey").figure


def main() -> None:
    """Draw and save all."""
    for name, draw in {"monitor": monitor, "first_picture": first_picture}.items():
        draw().savefig(DOCS / "images" / f"{name}.png", dpi=120)


if __name__ == "__main__":
    main()
