"""Ask the search of the built site what users ask: ``python docs/check_search.py site``.

Each question has to bring one of its pages among the first three hits.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import quote

from check_site import chromium
from playwright.sync_api import sync_playwright

QUESTIONS = {  # words of a question, and the pages of which one has to be found
    "compute ECE classifier": ("index", "gallery/plot_classifier_to_report", "measures/ece"),
    "error bars calibration curve": ("reliability",),
    "sample weights": ("weights", "gallery/plot_class_weights"),
    "cross-validation": ("cross-validation", "gallery/plot_cross_validated"),
    "binary ECE netcal torchmetrics": ("from-netcal", "from-torchmetrics", "from-reliably"),
    "confidence exactly 1 extra bin": ("from-torchmetrics",),
    "how many bins": ("gallery/plot_how_many_bins",),
    "Hosmer Lemeshow 100,000 rows": ("gallery/plot_hosmer_lemeshow",),
    "degrees of freedom Hosmer": ("classical-tests",),
    "calibration slope": ("clinical", "classical-tests", "gallery/plot_external_validation"),
    "val.prob": ("from-r", "clinical", "gallery/plot_external_validation"),
    "several classes": ("many-classes",),
    "LLM confidences": ("language-models", "gallery/plot_llm_confidences"),
    "undersampling class weights": ("gallery/plot_class_weights",),
    "new hospital": ("gallery/plot_new_hospital",),
    "sample size validation": ("planning",),
    "choose a margin": ("gallery/plot_choosing_a_margin", "equivalence"),
    "compare two models": ("comparing",),
    "repeated patients": ("clusters",),
    "CORP diagram": ("reliability", "gallery/plot_forecaster_corp"),
    "install": ("index",),
    "cite": ("index",),
}

DONE = re.compile("Search finished|did not match")


def misses(hits: dict[str, list[str]]) -> list[str]:
    """Return the questions of which no page is among the first three hits."""
    return [
        f"{words}: expected one of {', '.join(QUESTIONS[words])} among the first three hits, found {found}"
        for words, found in hits.items()
        if not set(found[:3]) & set(QUESTIONS[words])
    ]


def ask(folder: Path) -> dict[str, list[str]]:
    """Return the pages that the search finds, by question."""
    hits = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        tab = browser.new_page()
        for words in QUESTIONS:
            tab.goto(f"{(folder / 'search.html').as_uri()}?q={quote(words)}")
            tab.get_by_text(DONE).first.wait_for()
            links = tab.eval_on_selector_all("#search-results li > a", "links => links.map(link => link.href)")
            hits[words] = [link.partition(folder.as_uri() + "/")[2].partition(".html")[0] for link in links]
        browser.close()
    return hits


def main() -> int:
    """Ask all questions, print those that miss, and return 1 if any does."""
    missed = misses(ask(Path(sys.argv[1]).resolve()))
    print("\n".join([*missed, f"{len(QUESTIONS) - len(missed)} of {len(QUESTIONS)} questions find their page"]))
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
