"""Open every page of the built site in Chromium, on a screen and on a phone: ``python docs/tools/check_site.py site``.

A page fails if it asks another host for anything or asks for a file that is not there, if it is wider than the
window, if something on it is cut off (what scrolls in its own box is not), if a table of the site scrolls on a phone,
or if a formula is not drawn. Chromium has to be installed (on Debian: ``apt-get install chromium``); without it nothing
is checked, so this fails too.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from pathlib import Path

from playwright.async_api import Browser, async_playwright

WIDTHS = {1280: 900, 400: 800}
TABS = 4
FOUND = """async () => {
  if (window.MathJax && window.MathJax.startup) await window.MathJax.startup.promise;
  const found = [];
  const edge = window.innerWidth + 1;
  const name = e => `${e.tagName.toLowerCase()} "${(e.textContent || e.src || '').trim().slice(0, 40)}"`;
  const wide = document.documentElement.scrollWidth;
  if (wide > edge) found.push(`the page is ${wide} px wide`);
  const boxOf = e => {
    for (let a = e.parentElement; a && a !== document.body; a = a.parentElement) {
      const flow = getComputedStyle(a).overflowX;
      if (flow !== 'visible') return [a, flow];
    }
    return [null, 'visible'];
  };
  const article = document.querySelector('article') || document.body;
  for (const e of document.querySelectorAll('.bd-article table')) {
    if (edge < 602 && e.scrollWidth > e.parentElement.clientWidth) found.push(`scrolls: ${name(e)}`);
  }
  for (const e of article.querySelectorAll('*')) {
    if (e.closest('mjx-container') && e.tagName !== 'MJX-CONTAINER') continue;
    if (e.ownerSVGElement) continue; // what is in a drawing grows and shrinks with it
    const place = e.getBoundingClientRect();
    if (!place.width || !e.checkVisibility()) continue;
    const [box, flow] = boxOf(e);
    const scrolls = flow === 'auto' || flow === 'scroll';
    const end = box ? Math.min(edge, box.getBoundingClientRect().right + 1) : edge;
    const cut = `cut off at ${Math.round(end)} px of ${Math.round(place.right)}: ${name(e)}`;
    if (!scrolls && place.right > end) found.push(cut);
  }
  for (const e of article.querySelectorAll('mjx-container, math')) {
    if (e.closest('mjx-assistive-mml') || !e.parentElement.checkVisibility()) continue;
    if (!e.getBoundingClientRect().width) found.push(`formula of width 0: ${name(e.parentElement)}`);
  }
  for (const e of article.querySelectorAll('.math')) {
    if (!e.querySelector('mjx-container, math')) found.push(`formula that is not drawn: ${name(e)}`);
  }
  const wrong = '[data-mjx-error], mjx-merror, merror, [data-mml-node="merror"]';
  for (const e of article.querySelectorAll(wrong)) found.push(`formula with an error: ${name(e)}`);
  return found;
}"""


def chromium() -> str:
    """Return the path of Chromium."""
    for name in ("chromium", "chromium-browser"):
        if path := shutil.which(name):
            return path
    raise FileNotFoundError("expected Chromium on the path, found none; on Debian: apt-get install chromium")


async def look(browser: Browser, waiting: list[Path], folder: Path, faults: list[str]) -> None:
    """Open the pages that wait, one after the other in one tab, and add what is wrong with them."""
    tab = await browser.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    missing: list[str] = []
    tab.on("requestfailed", lambda request: missing.append(request.url))
    while waiting:
        page = waiting.pop()
        asked.clear()
        missing.clear()
        found = []
        for width, height in WIDTHS.items():
            await tab.set_viewport_size({"width": width, "height": height})
            if width == next(iter(WIDTHS)):
                await tab.goto(page.as_uri())
            found += [f"{width} px: {fault}" for fault in await tab.evaluate(FOUND)]
        found += [f"asks another host: {url}" for url in asked if not url.startswith(("file:", "data:", "blob:"))]
        found += [f"asks for a file that is not there: {url}" for url in missing if url.startswith("file:")]
        faults += [f"{page.relative_to(folder)}: {fault}" for fault in dict.fromkeys(found)]
    await tab.close()


async def check(folder: Path) -> list[str]:
    """Return what is wrong with the pages of a folder."""
    waiting = sorted(folder.rglob("*.html"), reverse=True)
    waiting = [page for page in waiting if "_static" not in page.parts]
    if not waiting:
        raise FileNotFoundError(f"expected a built site, found no pages in {folder}")
    faults: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        await asyncio.gather(*(look(browser, waiting, folder, faults) for _ in range(TABS)))
        await browser.close()
    return sorted(faults)


def main() -> int:
    """Check the folder that is named, print what is wrong, and return 1 if anything is."""
    folder, start = Path(sys.argv[1]).resolve(), time.monotonic()
    faults = asyncio.run(check(folder))
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults, {time.monotonic() - start:.0f} s")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
