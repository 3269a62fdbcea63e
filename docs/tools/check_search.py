"""Ask the search of the built site what users type: ``python docs/tools/check_search.py site``.

searches.csv has the words, and the page that has to come first. That page has to be at most two clicks from the
landing page, and so has a page that each row of questions.md links to. The site is opened as files, where each hit
has to say in a line what its page is about.
"""

from __future__ import annotations

import csv
import os
import re
import sys
from pathlib import Path
from urllib.parse import quote

from check_site import chromium
from playwright.sync_api import sync_playwright

with (Path(__file__).parent / "searches.csv").open(encoding="utf-8", newline="") as stored:
    FIRST = {row["words"]: row["first"] for row in csv.DictReader(stored)}

MOST_CLICKS = 2
DONE = re.compile("Search finished|did not match")


def misses(hits: dict[str, list[str]]) -> list[str]:
    """Return the words whose first hit is another page."""
    return [
        f"{words}: expected {FIRST[words]} first, found {', '.join(found[:3]) or 'nothing'}"
        for words, found in hits.items()
        if found[:1] != [FIRST[words]]
    ]


def targets(folder: Path, page: str, text: str) -> list[str]:
    """Return the pages of the site to which a part of a page links."""
    links = re.findall(r'<a [^>]*href="([^"#:?]+\.html)', text)
    found = [os.path.normpath(os.path.join(os.path.dirname(page), link)).removesuffix(".html") for link in links]
    return [target for target in found if (folder / f"{target}.html").exists()]


def clicks(folder: Path) -> dict[str, int]:
    """Return for each page that links lead to from the landing page how many clicks away it is."""
    found, waiting = {"index": 0}, ["index"]
    while waiting:
        page = waiting.pop(0)
        for target in targets(folder, page, (folder / f"{page}.html").read_text(encoding="utf-8")):
            if target not in found:
                found[target] = found[page] + 1
                waiting.append(target)
    return found


def wanted(folder: Path) -> dict[str, list[str]]:
    """Return by question the pages of which one has to be near: of each search, and of each row of questions.md."""
    text = (folder / "start" / "questions.html").read_text(encoding="utf-8")
    rows = re.findall(r"<tr.*?</tr>", re.sub(r"<thead.*?</thead>", "", text, flags=re.DOTALL), flags=re.DOTALL)
    asked = {re.sub(r"<.*?>", "", row.partition("</td>")[0]).strip(): row for row in rows}
    links = {question: targets(folder, "start/questions", row) for question, row in asked.items()}
    return {words: [page] for words, page in FIRST.items()} | links


def far(found: dict[str, int], pages_of: dict[str, list[str]]) -> list[str]:
    """Return the questions none of whose pages is at most two clicks from the landing page."""
    near = {page for page, number in found.items() if number <= MOST_CLICKS}
    return [
        f"{words}: expected one of {pages or 'no links'} at most {MOST_CLICKS} clicks from the landing page"
        for words, pages in pages_of.items()
        if not near & set(pages)
    ]


def ask(folder: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Return the pages that the search finds, by the words typed, and the hits that say nothing of their page."""
    hits, silent = {}, set()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        tab = browser.new_page()
        for words in FIRST:
            tab.goto(f"{(folder / 'search.html').as_uri()}?q={quote(words)}")
            tab.get_by_text(DONE).first.wait_for()
            links = tab.eval_on_selector_all("#search-results li > a", "links => links.map(link => link.href)")
            hits[words] = [link.partition(folder.as_uri() + "/")[2].partition(".html")[0] for link in links]
            silent |= set(tab.locator("#search-results li:not(:has(> p.context:not(:empty))) > a").all_text_contents())
        browser.close()
    return hits, sorted(silent)


def main() -> int:
    """Ask all questions, print what misses, and return 1 if anything does."""
    folder = Path(sys.argv[1]).resolve()
    hits, silent = ask(folder)
    pages_of = wanted(folder)
    missed, away = misses(hits), far(clicks(folder), pages_of)
    print("\n".join([*missed, f"{len(FIRST) - len(missed)} of {len(FIRST)} searches find their page first"]))
    print("\n".join([*away, f"{len(pages_of) - len(away)} of {len(pages_of)} have one within {MOST_CLICKS} clicks"]))
    print("\n".join([*silent, f"{len(silent)} hits say nothing of their page"]))
    return bool(missed or away or silent)


if __name__ == "__main__":
    sys.exit(main())
