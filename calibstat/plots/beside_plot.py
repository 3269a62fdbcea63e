"""Pictures of any results beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from calibstat.inference.bands.reliability_diagrams import Reliability, SimplexReliability
from calibstat.inference.estimate import MeasureDetail
from calibstat.inference.sharpness import CalibrationSharpness
from calibstat.plots.style import as_text, entitle, named_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

ACROSS = 4  # pictures beside each other
SHARED_WIDTH = 12.0  # inches that they share at most
SMALLEST = (3.0, 3.0)  # inches of the axes of one, whatever stands around them
SIMPLEX = (6.6, 4.6)  # of a triangle or a tetrahedron, with the names at its corners
LINE = 0.24  # inches of a name on the vertical axis
LINE_OF_NAME = 36  # letters in a line of a name
SQUARE = (CalibrationSharpness, Reliability, MeasureDetail)  # frequencies over predictions, on the same ends

Drawn = tuple[object, "Axes"]  # a result, and where it is drawn


def plot_beside(
    results: Sequence[object], names: Sequence[str], ax: Axes | None, draw: Callable[[object, Axes], Axes]
) -> Axes:
    """A picture of each result, in the first row the leading ones of one kind; returns the axes of the first."""
    import matplotlib.pyplot as plt

    if ax is not None:
        raise ValueError("expected no axes for several diagrams, found axes: draw one result in them")
    figure = plt.figure(figsize=(1.4 * SMALLEST[0] * len(results), 1.4 * SMALLEST[1]), layout="constrained")
    drawn: list[Drawn] = []
    for k, one in enumerate(results):
        panel = figure.add_subplot(1, len(results), k + 1, projection=_projection(one))
        draw(one, panel)
        drawn.append((one, panel))
    _share_vertical_ends([panel for one, panel in drawn if isinstance(one, SQUARE)])
    shared = _shared_legend(drawn)
    for (_, panel), name in zip(drawn, names, strict=True):
        entitle(panel, as_text(name, LINE_OF_NAME), new=False)
    _arrange(figure, drawn)
    if shared:
        place: dict[str, Any] = {"loc": "outside upper center", "ncols": 2, "fontsize": "small", "frameon": False}
        named_legend(figure, [*shared.values()], [*shared], **place)
    return drawn[0][1]


def _projection(result: object) -> str | None:
    """The kind of axes that the picture of a result needs."""
    return "3d" if isinstance(result, SimplexReliability) and len(result.names) == 4 else None


def _share_vertical_ends(panels: Sequence[Axes]) -> None:
    """Give these axes the same ends of their vertical axes."""
    if not panels:
        return
    low, high = (end(panel.get_ylim()[k] for panel in panels) for k, end in enumerate((min, max)))
    for panel in panels:
        panel.set_ylim(low, high)
        panel.set_aspect("auto")  # else a square diagram is narrower than the others


def _shared_legend(drawn: Sequence[Drawn]) -> dict[str, Any]:
    """Take away the legends that say the same in each picture of a kind, and return what they say."""
    shared: dict[str, Any] = {}
    for kind in dict.fromkeys(type(one) for one, _ in drawn):
        legends = [panel.get_legend() for one, panel in drawn if type(one) is kind]
        entries = [_entries(each) for each in legends if each is not None]
        every = {name: handle for one in entries for name, handle in one.items()}
        if kind is not Reliability and all(set(one) != set(every) for one in entries):
            continue  # an entry is about one picture alone
        shared |= every
        for each in legends:
            if each is not None:
                each.remove()
    return shared


def _entries(shown: Legend) -> dict[str, Any]:
    """The entries of a legend by their names."""
    return dict(zip((text.get_text() for text in shown.get_texts()), shown.legend_handles, strict=True))


def _arrange(figure: Figure, drawn: Sequence[Drawn]) -> None:
    """Give all axes the same place in a grid, of which the axes have room beside what stands around them."""
    results, panels = zip(*drawn, strict=True)
    simplex = any(isinstance(one, SimplexReliability) for one in results)
    least = SIMPLEX if simplex else (SMALLEST[0], max(SMALLEST[1], LINE * max(len(ax.get_yticks()) for ax in panels)))
    figure.set_size_inches(1.4 * least[0] * len(panels), 1.4 * least[1])
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    around = [(panel.get_tightbbox(renderer), panel.get_window_extent(renderer)) for panel in panels]
    width = max((whole.width - inner.width) / figure.dpi for whole, inner in around) + least[0]
    height = max((whole.height - inner.height) / figure.dpi for whole, inner in around) + least[1]
    alike = len(list(takewhile(lambda one: type(one) is type(results[0]), results)))
    fitting = max(1, min(ACROSS, int(SHARED_WIDTH / width)))
    across = min(alike if 1 < alike < len(results) else len(results), fitting)
    down = -(-len(results) // across)
    grid = figure.add_gridspec(down, across)
    for k, panel in enumerate(panels):
        panel.set_subplotspec(grid[divmod(k, across)])
    figure.set_size_inches(across * width, down * height + 0.5)
    if simplex:  # one pass of the layout, which the first drawing makes, leaves the label of a colour bar cut off
        figure.draw_without_rendering()
