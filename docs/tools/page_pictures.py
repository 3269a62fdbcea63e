"""Draw pictures of pages: ``python docs/tools/page_pictures.py``.

A picture is the last one that the examples of its page draw above it.
"""

from __future__ import annotations

import doctest
import warnings
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from calibstat.cli import demo

DOCS = Path(__file__).parents[1]
DRAWN = {
    "../README": "how_good",
    "guide/monitoring": "monitor",
    "more/groups-in-detail": "survey_groups",
    "more/sea-off-peru": "sea_off_peru",
    "more/clinical": "by_hospital",
    **{
        page: page.partition("/")[2].replace("-", "_")
        for page in (
            "guide/comparing",
            "guide/cross-validation",
            "guide/groups",
            "guide/intervals",
            "guide/recalibration",
            "guide/reliability",
            "guide/studies",
            "guide/tests",
            "guide/which-measure",
            "more/choosing",
            "more/clusters",
            "more/equivalence",
            "more/few-labels",
            "more/language-models",
            "more/planning",
            "more/risk-coverage",
            "more/sharpness",
            "more/weights",
            "more/without-bins",
        )
    },
}


def drawn_by_examples(page: str, picture: str) -> plt.Figure:
    """Run the examples of a page up to its picture, and return the last figure that they draw."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8").partition(f"images/{picture}.png)")[0]
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # examples show some
        for example in doctest.DocTestParser().get_examples(text):
            exec(example.source, names)
    return plt.figure(plt.get_fignums()[-1])


def main() -> None:
    """Draw and save all."""
    demo.before_and_after(demo.judge()).savefig(DOCS / "images" / "demo.png", dpi=100)
    for page, picture in DRAWN.items():
        drawn_by_examples(page, picture).savefig(DOCS / "images" / f"{picture}.png", dpi=100)


if __name__ == "__main__":
    main()
