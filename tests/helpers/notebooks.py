"""Notebooks: made from a script whose cells begin with "# %% Title", and run by a kernel with nobody's settings."""

import ast
import re

import nbclient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


def of_script(text):
    """The notebook of a script: its docstring, and for each cell its title as a heading, and its code."""
    head, *parts = re.split(r"^# %% (.+)\n", text, flags=re.MULTILINE)
    cells = [new_markdown_cell(ast.get_docstring(ast.parse(head)))]
    for title, code in zip(parts[::2], parts[1::2], strict=True):
        cells += [new_markdown_cell(f"## {title}"), new_code_cell(code.strip())]
    return new_notebook(cells=cells)


def executed(notebook, monkeypatch, settings, folder):
    """Run a notebook in a folder, its settings in another; an error in a cell raises."""
    monkeypatch.delenv("MPLBACKEND", raising=False)  # a kernel takes its own, unless one is given
    monkeypatch.setenv("IPYTHONDIR", str(settings))
    (settings / "matplotlibrc").touch()
    monkeypatch.setenv("MATPLOTLIBRC", str(settings / "matplotlibrc"))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    return nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()


def of_cells(cells):
    """The notebook of the code of some cells."""
    return new_notebook(cells=[new_code_cell(cell) for cell in cells])
