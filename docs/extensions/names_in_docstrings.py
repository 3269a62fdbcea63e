"""Single backquotes in docstrings: a link where they hold the name of something documented, code otherwise."""

from __future__ import annotations

from typing import Any

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
    """Show what is not the name of anything documented as code."""
    return contnode if node.get("or_code") else None


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_role("named", Named(innernodeclass=nodes.literal))
    app.connect("missing-reference", plain_code, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
