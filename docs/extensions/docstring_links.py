"""Links in docstrings: names in single backquotes where they are documented (code otherwise), DOI and arXiv numbers."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from docutils import nodes
from sphinx.roles import XRefRole


class Named(XRefRole):
    """A reference to a Python object that may be the name of an argument, or any other code, as well."""

    def process_link(self, env: Any, refnode: Any, has_explicit_title: bool, title: str, target: str) -> Any:
        """Look the text up as a Python object, from the module of the page."""
        refnode["refdomain"] = "py"
        refnode["reftype"] = "obj"
        refnode["or_code"] = True
        refnode["py:module"] = env.ref_context.get("py:module")
        return title, target


def plain_code(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Set names that have no page as code, not as links. Pages of a module may name what stands in the package."""
    if not node.get("or_code"):
        return None
    names, page = env.get_domain("py"), node.get("refdoc")
    node["py:module"] = "calibstat"
    return names.resolve_xref(env, page, app.builder, "obj", node["reftarget"], node, contnode) or contnode


def doi_link(found: re.Match[str]) -> str:
    """Return the link to a paper; some old numbers have angle brackets."""
    shown = found[1].replace("<", "\\<")
    return f"`doi:{shown} <https://doi.org/{quote(found[1], safe='/:;()')}>`__"


def link_papers(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Turn the DOI and arXiv numbers of a docstring into links."""
    for place, line in enumerate(lines):
        line = re.sub(r"(?<![/\w])doi:(10\.\S*[^\s.;,)])", doi_link, line)
        lines[place] = re.sub(r"\barXiv:([\d.]+\d)", r"`arXiv:\1 <https://arxiv.org/abs/\1>`__", line)


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_role("named", Named(innernodeclass=nodes.literal))
    app.connect("autodoc-process-docstring", link_papers)
    app.connect("missing-reference", plain_code, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
