"""Pictures as SVG inside HTML: text stays text, and colours follow the page, light or dark."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calibstat.output.visible_text import visible
from calibstat.plots.plot import PLOTS, plot
from calibstat.plots.settings import load_backend, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "calibstat"}
NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
ROLES = {  # colours of a white page, and what has their role on any page
    "#000000": "currentColor",
    "#262626": "currentColor",
    "#333333": "currentColor",
    "#4c4c4c": "var(--dim,#4c4c4c)",
    "#666666": "var(--dim,#666)",
    "#ebebeb": "var(--grid,#ebebeb)",
    "#ffffff": "var(--page,#fff)",
    "#d7efe9": "var(--curve-band,#d7efe9)",
    "#a6cee4": "var(--band,#a6cee4)",
    "#0173b2": "var(--blue,#0173b2)",
    "#029e73": "var(--green,#029e73)",
    "#d55e00": "var(--red,#d55e00)",
}
POSITIONS = re.compile(r'(?<= )(d|x|y|x1|y1|x2|y2|width|height|points|transform)="([^"]*)"')
NEEDLESS = re.compile(r' font-family: [^;"]*;?| transform="rotate\(-0 [^"]*"')
ELEMENT_ID = re.compile(r' id="([^"]*)"')
ID_USED = re.compile(r'(?:url\(|href=")#([^)"]+)')
TAG = re.compile(r"<[^>]+>")
DECIMALS = re.compile(r"(\d+\.\d\d)\d+")
TESTED_ONLY = ("CalibrationTestResult", "ConfidenceInterval", "MeasureDetail")  # words say all of them


def picture_of_result(result: object) -> str:
    """Return the picture of a result, or of a mapping of results, in a notebook: nothing where words say as much."""
    each = [*result.values()] if isinstance(result, Mapping) else [result]
    if any(type(one) not in PLOTS or type(one).__name__ in TESTED_ONLY for one in each):
        return ""
    try:
        return inline_svg(result)
    except ValueError:  # too many classes for a triangle or a tetrahedron
        return ""


def inline_svg(result: object, label: str = "", **options: Any) -> str:
    """Draw a result by `calibstat.plot`, and return it as an SVG element, described by `label` to who cannot see it."""
    import matplotlib.pyplot as plt

    load_backend()
    with settings({"interactive": False}), warnings.catch_warnings():  # no window, no second picture in a notebook
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # the browser has other fonts
        figure: Any = plot(result, **options).figure
        try:
            return svg_of_figure(figure, label or type(result).__name__)
        finally:
            plt.close(figure)


def svg_of_figure(figure: Figure, label: str) -> str:
    """Return a figure of matplotlib as an SVG element that is the same in every run."""
    written = io.StringIO()
    with settings(SETTINGS):
        figure.savefig(written, format="svg", metadata=NO_METADATA, transparent=True)
    return compact(written.getvalue(), label)


def compact(svg: str, label: str) -> str:
    """Return what matplotlib wrote without what a page does not need, its names unique on any page."""
    from html import escape

    body = svg[svg.index("<svg") :]
    for needless in (r"<metadata>.*?</metadata>", r"<defs>\s*<style.*?</style>\s*</defs>", r"<!--.*?-->"):
        body = re.sub(rf"\s*{needless}", "", body, flags=re.DOTALL)
    own = hashlib.sha1(body.encode(), usedforsecurity=False).hexdigest()[:8]
    used = {each: f"c{own}-{k}" for k, each in enumerate(dict.fromkeys(ID_USED.findall(body)))}
    body = TAG.sub(lambda tag: _tidy(tag[0], used), body)  # text has neither < nor >, and stays as it is
    opening = f'<svg class="picture" role="img" aria-label="{escape(label)}" fill="currentColor" '
    opening += 'stroke-linejoin="round" font-family="DejaVu Sans, Verdana, sans-serif" '
    return visible(re.sub(r">\s*\n\s*<", "><", body).replace("<svg ", opening, 1).strip())


def _tidy(tag: str, names: dict[str, str]) -> str:
    """Return a tag with short numbers, colours by their role, and a name only if something refers to it."""
    tag = POSITIONS.sub(lambda found: f'{found[1]}="{DECIMALS.sub(_cut, " ".join(found[2].split()))}"', tag)
    tag = NEEDLESS.sub("", tag)
    for color, role in ROLES.items():
        tag = tag.replace(color, role)
    tag = ELEMENT_ID.sub(lambda found: f' id="{names[found[1]]}"' if found[1] in names else "", tag)
    return ID_USED.sub(lambda found: found[0].replace(f"#{found[1]}", f"#{names[found[1]]}"), tag)


def _cut(number: re.Match[str]) -> str:
    return number[1]
