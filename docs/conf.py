"""The site: ``python -m sphinx -W -n -q -j 2 docs site`` from the root of the repository."""

from __future__ import annotations

import sys
from pathlib import Path

import calibstat

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "tools"), str(HERE / "extensions")]

from result_sections import result_sections  # noqa: E402  (in the folder of tools)

project = "calibstat"
author = "The calibstat developers"
copyright = author
version = release = calibstat.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "made_pages",
    "reference_pages",
    "docstring_links",
    "local_mathjax",
    "site_search",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["examples", "extensions", "templates", "inventories", "tools"]
templates_path = ["templates"]

# Pages
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "html_image"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
suppress_warnings = ["myst.header"]  # pages may leave out a level of headings

smartquotes = False  # quotation marks in code are to be copied

# Docstrings
default_role = "named"  # of docstring_links
autodoc_typehints = "none"  # docstrings say the types
autodoc_member_order = "bysource"
autosummary_generate = True
autosummary_context = {"result_sections": result_sections()}
autosummary_filename_map = {"calibstat.measure": "calibstat.measure-function"}  # beside Measure on any disk
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Gallery: each script is run, and one that fails stops the build
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "gallery_order.MostUsefulFirst",
    "abort_on_example_error": True,
    "capture_repr": (),
    "doc_module": ("calibstat",),
    "reference_url": {"calibstat": None},
    "backreferences_dir": "gallery/backreferences",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # that page asks other hosts for its table
    "min_reported_time": 60,
}

# Other projects: their lists of names are in this folder, so that nothing is fetched
INVENTORIES = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "pandas": "https://pandas.pydata.org/docs/",
    "matplotlib": "https://matplotlib.org/stable/",
    "sklearn": "https://scikit-learn.org/stable/",
}
intersphinx_mapping = {name: (url, f"inventories/{name}.inv") for name, url in INVENTORIES.items()}

# Search: pages for contributors are left out, evidence stands behind, and pages are found by what users call them
outside_of_search = ["evidence/decisions/*", "evidence/architecture", "genindex"]
evidence = ["evidence/*"]
with (HERE / "extensions" / "search_words.txt").open(
    encoding="utf-8"
) as lines:  # of each line, a page and what users call it
    search_words = dict(line.strip().split(": ", 1) for line in lines)

# Theme: no request to another host
html_theme = "pydata_sphinx_theme"
html_title = "calibstat"
html_static_path = ["images", "theme"]
html_css_files = ["site.css"]
html_js_files = ["narrow_tables.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_sidebars = {"index": []}
html_context = {"default_mode": "light"}
html_theme_options = {
    "logo": {"text": "calibstat"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_depth": 3,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
}
