"""In a notebook each cell shows its own picture, whatever was shown before, and leaves no figure open."""

import notebooks
import pytest
from project_folder import PROJECT

DATA = "y, p = [0, 0, 1, 1] * 9, [.1, .3, .6, .9] * 9"
FOUND = "found = cs.reliability(y, p, band=None, interval=False)"
START = f"import matplotlib.pyplot as plt\nimport calibstat as cs\n{DATA}\n{FOUND}"
OWN = "fig, ax = plt.subplots()\nax.plot([1, 2]);"
OPEN = "print(plt.get_fignums(), plt.isinteractive())"
ORDERS = {  # cells with one picture each; the first of them loads the backend, unless %matplotlib did
    "a result": ["", START, "found", "ax = cs.plot(found)", "ax = cs.plot(found, deviation=True)", OWN],
    "a plot": ["", START, "ax = cs.plot(found)", "found", "ax = cs.ReliabilityDisplay(found).plot()", OWN],
    "inline": ["%matplotlib inline", START, "found", "ax = cs.plot(cs.net_benefit(y, p))", "found", OWN],
}


def shown(cells, monkeypatch, folder):
    """Run each cell in a new notebook; return how many pictures it shows, and what the last one prints."""
    notebook = notebooks.executed(notebooks.of_cells(cells), monkeypatch, folder, PROJECT)
    return [sum(map(pictures, cell.outputs)) for cell in notebook.cells], notebook.cells[-1].outputs[0].text


def pictures(output):
    """How many pictures an output is: one as PNG, and those within HTML."""
    data = output.get("data", {})
    return ("image/png" in data) + data.get("text/html", "").count("<svg")


@pytest.mark.parametrize("first", ["a result", pytest.param("a plot", marks=pytest.mark.slow), "inline"])
def test_each_cell_shows_its_picture_and_leaves_no_figure_open(first, monkeypatch, tmp_path):
    found, printed = shown([*ORDERS[first], OPEN], monkeypatch, tmp_path)
    assert found == [0, 0, 1, 1, 1, 1, 0]
    assert printed.split() == ["[]", "True"]
