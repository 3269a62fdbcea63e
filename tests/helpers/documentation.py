"""The pages of the documentation that are written by hand, and the module that makes the others."""

import importlib.util
import sys

from project_folder import PROJECT

DOCS = PROJECT / "docs"
TOOLS = DOCS / "tools"
MADE = ("measures", "gallery", "studies")  # of which only an index is written by hand
PAGES = [page for page in sorted(DOCS.glob("**/*.md")) if page.parent.name not in MADE or page.name == "index.md"]


def measure_pages():
    """Load the module that makes pages and tables."""
    return load(TOOLS / "measure_pages.py")


def load(path):
    """Load a file of the documentation as a module."""
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # it imports what stands beside it
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
