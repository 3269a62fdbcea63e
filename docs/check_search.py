"""Ask the search of the built site what users ask: ``python docs/check_search.py site``.

Each question has to bring one of its pages among the first three hits, and a page of each question has to be at most
two clicks from the landing page.
"""

from __future__ import annotations

import os
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
    "multi-label": ("many-labels",),
    "groups of repeated patients": ("clusters", "groups"),
    "CORP diagram": ("reliability", "gallery/plot_forecaster_corp"),
    "Monte Carlo study": ("studies", "gallery/plot_study"),
    "simulate data known truth": ("gallery/plot_generators", "studies"),
    "consistency resampling": ("tests", "from-uu-sml"),
    "papers disagree": ("five-papers",),
    "install": ("index",),
    "cite": ("index",),
    "find groups automatically": ("groups", "studies/learned_groups"),
    "grouping loss": ("sharpness", "studies/grouping"),
    "abstention": ("risk-coverage",),
    "AURC": ("risk-coverage",),
    "risk coverage": ("risk-coverage", "studies/risk_coverage"),
}

MOST_CLICKS = 2
DONE = re.compile("Search finished|did not match")


def misses(hits: dict[str, list[str]]) -> list[str]:
    """Return the questions of which no page is among the first three hits."""
    return [
        f"{words}: expected one of {', '.join(QUESTIONS[words])} among the first three hits, found {found}"
        for words, found in hits.items()
        if not set(found[:3]) & set(QUESTIONS[words])
    ]


def clicks(folder: Path) -> dict[str, int]:
    """Return for each page that links lead to from the landing page how many clicks away it is."""
    found, waiting = {"index": 0}, ["index"]
    while waiting:
        page = waiting.pop(0)
        text = (folder / f"{page}.html").read_text(encoding="utf-8")
        for link in re.findall(r'<a [^>]*href="([^"#:?]+\.html)', text):
            target = os.path.normpath(os.path.join(os.path.dirname(page), link)).removesuffix(".html")
            if target not in found and (folder / f"{target}.html").exists():
                found[target] = found[page] + 1
                waiting.append(target)
    return found


def far(found: dict[str, int]) -> list[str]:
    """Return the questions all of whose pages are more than two clicks from the landing page."""
    near = {page for page, number in found.items() if number <= MOST_CLICKS}
    return [
        f"{words}: expected one of {', '.join(pages)} at most {MOST_CLICKS} clicks from the landing page"
        for words, pages in QUESTIONS.items()
        if not near & set(pages)
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
    folder = Path(sys.argv[1]).resolve()
    missed, away = misses(ask(folder)), far(clicks(folder))
    print("\n".join([*missed, f"{len(QUESTIONS) - len(missed)} of {len(QUESTIONS)} questions find their page"]))
    print("\n".join([*away, f"{len(QUESTIONS) - len(away)} of {len(QUESTIONS)} have one within {MOST_CLICKS} clicks"]))
    return bool(missed or away)


if __name__ == "__main__":
    sys.exit(main())
