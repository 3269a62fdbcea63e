"""Room for what stands around given axes that are alone in their figure."""

from __future__ import annotations

import textwrap
import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibstat.plots.style import named_legend

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Text

WHOLE = 3.6  # inches of the shorter side of axes, below which letters get smaller
LEAST = 0.68  # how much smaller at most
READABLE = 6.0  # points
LETTERS_OF_A_NAME = 22  # letters in a line of a name beside small axes
FEW_NUMBERS = 1.6  # inches of axes that have room for few numbers below them
MOST_POINTS = 200_000  # of a line that is looked at for what a legend covers
PAD = 0.04  # inches around everything
UNEVEN = 0.08  # share of its width by which text may be wider at another resolution, because letters end at pixels
SIDES = ("left", "right", "bottom", "top")


def are_alone(ax: Axes) -> bool:
    """Whether axes are the only ones of a figure, which nobody has arranged, but perhaps lets matplotlib arrange."""
    import matplotlib as mpl
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = cast("Figure", ax.figure)
    usual = cast("Mapping[str, Any]", mpl.rcParams)
    default = all(getattr(figure.subplotpars, side) == usual[f"figure.subplot.{side}"] for side in SIDES)
    arranged = isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine | None)
    bare = figure.axes == [ax] and not figure.legends
    return bare and default and arranged and ax.get_subplotspec() is not None and ax.name != "3d"


def make_room(ax: Axes) -> float:
    """Make letters smaller in small axes, and move a legend that hides something; return the height that it takes."""
    figure = cast("Figure", ax.figure)
    share = min(ax.bbox.width, ax.bbox.height) / figure.dpi / WHOLE
    small = share < 1
    if small:
        _fold_names(ax)
        _smaller_letters(figure, max(share, LEAST))
    own = ax.get_legend()
    if own is None or not (small or _hides(own, ax)):
        return 0.0
    below = _legend_below(ax, own, max(share, LEAST) if small else 1.0)
    return float((below.get_window_extent().height / figure.dpi + PAD) / figure.get_size_inches()[1])


def arrange(ax: Axes, below: float) -> None:
    """Place axes so that what stands around them is in the figure, above a legend that takes this share of it."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = cast("Figure", ax.figure)
    engine = cast("ConstrainedLayoutEngine | None", figure.get_layout_engine())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names that leave no room at all
        _fold_title(ax)
        if engine is not None and below:
            engine.set(rect=(0, below, 1, 1 - below))
        if engine is None:
            place = ConstrainedLayoutEngine(w_pad=PAD, h_pad=PAD, rect=(0, below, 1, 1 - below))
            place.execute(figure)
            left, right = (max(UNEVEN * inches - PAD, 0) / figure.get_size_inches()[0] for inches in _beside(ax))
            if left + right > 0:
                place.set(rect=(left, below, 1 - left - right, 1 - below))
                place.execute(figure)
        figure.draw_without_rendering()
        if ax.get_window_extent().width < FEW_NUMBERS * figure.dpi:
            _fewer_numbers(ax)
        for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
            _shorten(text, figure)


def _beside(ax: Axes) -> tuple[float, float]:
    """Return the inches that the widest name to the left of the axes takes, and what stands to the right."""
    outer = ax.get_tightbbox(for_layout_only=True)
    left = max((name.get_window_extent().width for name in ax.get_yticklabels()), default=0.0)
    right = 0.0 if outer is None else outer.x1 - ax.get_window_extent().x1
    return left / ax.figure.dpi, right / ax.figure.dpi


def _smaller_letters(figure: Figure, by: float) -> None:
    """Make what is written in and around all axes smaller, but not too small to be read."""
    for axes in (one for each in figure.axes for one in (each, *each.child_axes)):
        for axis in (axes.xaxis, axes.yaxis):
            sizes = [_letters(label) for label in axis.get_ticklabels()]
            if sizes:
                axis.set_tick_params(labelsize=_smaller(min(sizes), by))
        for text in (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts):
            text.set_fontsize(_smaller(_letters(text), by))


def _letters(text: Text) -> float:
    return float(text.get_fontsize())


def _smaller(size: float, by: float) -> float:
    return max(by * size, min(size, READABLE))


def _fold_names(ax: Axes) -> None:
    """Write long names on the vertical axis in several lines; numbers, which may be formulas, stay."""
    from matplotlib.ticker import FixedLocator

    if not isinstance(ax.yaxis.get_major_locator(), FixedLocator):
        return
    names = [label.get_text() for label in ax.get_yticklabels()]
    if any(len(name) > LETTERS_OF_A_NAME for name in names):
        folded = ["\n".join(textwrap.fill(line, LETTERS_OF_A_NAME) for line in name.splitlines()) for name in names]
        ax.set_yticks(ax.get_yticks(), folded, parse_math=False)


def _fold_title(ax: Axes) -> None:
    """Write a title that is wider than the figure in several lines."""
    wide = ax.title.get_window_extent().width * (1 + UNEVEN) / ax.figure.bbox.width
    if wide > 1:
        lines = ax.get_title().splitlines()
        letters = max(int(max(map(len, lines)) / wide), 1)
        ax.title.set_text("\n".join(textwrap.fill(line, letters) for line in lines))


def _fewer_numbers(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    if isinstance(ax.xaxis.get_major_locator(), MaxNLocator):
        ax.locator_params(axis="x", nbins=2)


def _legend_below(ax: Axes, own: Legend, by: float) -> Legend:
    """Move a legend to the lower edge of the figure, in as many columns as there is room for."""
    figure = cast("Figure", ax.figure)
    handles, names = own.legend_handles, [text.get_text() for text in own.get_texts()]
    place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 0), "bbox_transform": figure.transFigure}
    place |= {"frameon": False, "borderaxespad": 0.2, "columnspacing": 1.0, "handlelength": 1.4, "labelspacing": 0.3}
    size = _smaller(_letters(own.get_texts()[0]), by)
    for columns in range(min(3, len(names)), 0, -1):
        named_legend(ax, handles, names, **place, fontsize=size, ncols=columns)
        made = cast("Legend", ax.get_legend())
        made.set_in_layout(False)
        if made.get_window_extent().width * (1 + UNEVEN) < figure.bbox.width:
            break
    return made


def _hides(own: Legend, ax: Axes) -> bool:
    """Whether a legend lies on something that is drawn, or is cut off."""
    figure = cast("Figure", ax.figure)
    figure.draw_without_rendering()
    box = own.get_window_extent()
    if not _is_inside(box, figure):
        return True
    paths = [(line.get_path(), line.get_transform()) for line in ax.lines]
    paths += [(patch.get_path(), patch.get_transform()) for patch in ax.patches]
    paths += [(path, each.get_transform()) for each in ax.collections for path in each.get_paths()]
    return any(_crosses(path, transform, box) for path, transform in paths)


def _crosses(path: Any, transform: Any, box: Any) -> bool:
    if len(path.vertices) > MOST_POINTS:
        return True
    drawn = transform.transform_path(path)
    return bool(np.isfinite(drawn.vertices).any() and drawn.intersects_bbox(box, filled=True))


def _shorten(text: Text, figure: Figure) -> None:
    """Make the letters of a title smaller until it is in the figure, while they can be read."""
    while text.get_text() and _letters(text) > READABLE and not _is_inside(_widest(text), figure):
        text.set_fontsize(max(_letters(text) - 0.5, READABLE))


def _widest(text: Text) -> Any:
    """Return the box of a text, which may be upright, at the resolution at which it is widest."""
    box = text.get_window_extent()
    return box.expanded(1, 1 + UNEVEN) if text.get_rotation() else box.expanded(1 + UNEVEN, 1)


def _is_inside(box: Any, figure: Figure) -> bool:
    return bool(min(box.x0, box.y0) >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1)
