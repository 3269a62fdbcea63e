"""Pictures of questions about the estimates themselves: bias, rates of convergence, agreement on an order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.digits import settled
from calibstat.plots.style import PALETTE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vP*X<>hp"
SPREAD = 0.27  # how much of the room between neighbours the marks of one place take
AS_TEXT = ("generator", "model", "measure", "method", "against")  # columns that a file may give back as numbers
ORDER = 0.5  # at which most errors vanish
IN_WORDS = {"its truth": "its true values", "the target": "the target"}  # in column `against`: true values, in words
ERROR = "error_"  # how columns begin that hold the error at a number of rows
ERROR_IN_WORDS = {"rmse": "RMSE", "sd": "standard deviation", "bias": "bias without its sign"}
FILLS = ("full", "none", "left")  # of marks, for one method each
MOST_CURVES = 10  # of different colours
ERRORS = ("mean", "bias", "sd", "rmse")


def draw_bias(table: pd.DataFrame) -> Figure:
    """Draw bias and root mean squared error over n with 2 standard errors, two panels for each measure.

    Where the truth is not known, mean and standard deviation take their places.
    """
    table = _with_labels(table)
    measures, looks = list(table["measure"].unique()), _looks(table["generator"].unique())
    across = min(2, len(measures))
    down = -(-len(measures) // across)
    figure, grid = panels(down, 2 * across, 3.0, 2.2)
    for measure, bias, error in zip(measures, grid.flat[::2], grid.flat[1::2], strict=False):
        rows = table[table["measure"] == measure]
        known = rows["truth"].notna().all()
        for axes, column in zip((bias, error), ("bias", "rmse") if known else ("mean", "sd"), strict=True):
            _over_n(axes, rows, column, looks)
            axes.set_title(measure)
        bias.set_ylabel("bias" if known else "mean (truth unknown)")
        error.set_ylabel("RMSE" if known else "standard deviation")
        if known:
            bias.axhline(0, color="black", linewidth=1, zorder=1)
        if (rows["rmse" if known else "sd"] > 0).all():  # an estimate without any error has no logarithm
            _log_axis(error)
    _only(grid, 2 * len(measures))
    _legend(figure, grid.flat[0], across=2 * across)
    words = f"number of rows n\nRMSE: root mean squared error; bars: ± 2 standard errors, {_replicates(table)}"
    figure.supxlabel(words, fontsize="medium")
    return figure


def draw_orders(table: pd.DataFrame) -> Figure:
    """Draw the order of convergence of each error with 2 standard errors, a panel for each generator.

    Where the table has the errors, and curves of so many measures can be told apart, they stand beside the orders.
    """
    table = _with_labels(table)
    generators, measures = list(table["generator"].unique()), list(table["measure"].unique())
    if any(str(column).startswith(ERROR) for column in table) and len(measures) <= MOST_CURVES:
        return _draw_errors(table, generators, measures)
    looks = _looks(table["method"].unique())
    across = min(4, len(generators))
    down = -(-len(generators) // across)
    figure, grid = panels(down, across, 2.6, 1 + 0.3 * len(measures), sharex=True, sharey=True)
    for generator, axes in zip(generators, grid.flat, strict=False):
        axes.axvline(ORDER, color="black", linewidth=1, zorder=1)
        for (method, look), place in zip(looks.items(), _beside(len(looks)), strict=True):
            rows = table[(table["generator"] == generator) & (table["method"] == method)]
            y = positions(rows["measure"], measures) + place
            axes.errorbar(rows["order"], y, xerr=2 * rows["order_se"], linestyle="none", label=method, **look)
        axes.set_title(generator.replace(", ", ",\n"))
        _by_measure(axes, measures)
    _only(grid, len(generators))
    for axes in grid.flat[max(0, len(generators) - across) : len(generators)]:
        axes.tick_params(labelbottom=True)
    _legend(figure, grid.flat[0], across=3)
    _say_orders(figure, table)
    return figure


def _say_orders(figure: Figure, table: pd.DataFrame, more: str = "") -> None:
    rows = f"n from {table['n_from'].min()} to {table['n'].max()}"
    figure.supxlabel(
        f"order of convergence: the error falls like 1 / n to this power; vertical line: 1/2\n"
        f"± 2 standard errors, {rows}, {_replicates(table)}{more}\n"
        "no mark: at some n it cannot be told from noise, or its true value is not known",
        fontsize="medium",
    )


def _draw_errors(table: pd.DataFrame, generators: list[str], measures: list[str]) -> Figure:
    """Draw each error over n, with a line that falls at its order, and beside them the orders; of every generator."""
    methods, looks = list(table["method"].unique()), _looks(measures)
    across, height = len(methods) + 1, max(2.4, 1 + 0.3 * len(measures))
    beside = 1 if len(generators) <= 3 else max(1, 4 // across)  # generators in a row: of few, one, for narrow pages
    figure, grid = panels(-(-len(generators) // beside), beside * across, 3.1, height, sharex="col")
    grid = grid.reshape(-1, across)
    known: dict[str, Any] = {}
    for generator, row in zip(generators, grid, strict=False):
        here = table[table["generator"] == generator]
        for method, axes in zip(methods, row, strict=False):
            _errors_over_n(axes, here[here["method"] == method], looks)
            axes.set_ylabel(ERROR_IN_WORDS.get(method, method))
        row[-1].axvline(ORDER, color="black", linewidth=1, zorder=1)
        for k, (method, place) in enumerate(zip(methods, _beside(len(methods)), strict=True)):
            for measure, look in looks.items():
                these = here[(here["method"] == method) & (here["measure"] == measure)]
                style = {**look, "fillstyle": FILLS[k % len(FILLS)], "markerfacecoloralt": "white"}
                y = positions(these["measure"], measures) + place
                row[-1].errorbar(these["order"], y, xerr=2 * these["order_se"], linestyle="none", **style)
        _by_measure(row[-1], measures)
        for axes in row:
            axes.set_title(generator.replace(", ", ",\n"))
        for axes in row[:-1]:
            known |= dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    _only(grid[len(generators) :], 0)
    for row in grid[max(0, len(generators) - beside) : len(generators)]:
        for axes, words in zip(row, [*["number of rows n"] * len(methods), "order"], strict=True):
            axes.set_xlabel(words)
            axes.tick_params(labelbottom=True)
    handles, labels = [known[measure] for measure in measures], list(measures)
    if len(methods) > 1:
        marks = [
            grid[0, -1].plot([], [], "o", color="black", fillstyle=fill, markerfacecoloralt="white")[0]
            for fill in FILLS
        ]
        handles, labels = [*handles, *marks[: len(methods)]], [*labels, *methods]
    down = -(-len(labels) // (2 * across))
    figure.legend(handles, labels, loc="outside upper center", ncols=-(-len(labels) // down), frameon=False)
    _say_orders(figure, table, "; dashed: falls at its order")
    return figure


def _errors_over_n(axes: Axes, rows: pd.DataFrame, looks: dict[str, Any]) -> None:
    """Draw the errors of every measure over n on two logarithmic axes, on which equal orders are parallel lines.

    The axis of errors is long enough for an error of order 1/2, so that one that does not fall is seen not to fall.
    """
    numbers = sorted(int(each) for column in rows if (each := str(column).removeprefix(ERROR)).isdigit())
    n, shown = np.array(numbers, np.float64), []
    for row in rows.to_dict("records"):
        error, se = (np.array([row[f"{ERROR}{k}{part}"] for k in numbers], np.float64) for part in ("", "_se"))
        error[~(error > 0)] = np.nan  # no error at all has no logarithm
        axes.errorbar(numbers, error, yerr=2 * se, linewidth=0.9, label=row["measure"], **looks[row["measure"]])
        shown += error[~np.isnan(error)].tolist()
        falls = np.exp(np.log(error).mean() - row["order"] * (np.log(n) - np.log(n).mean()))
        axes.plot(n, falls, linestyle="--", linewidth=0.9, color=looks[row["measure"]]["color"])
    _rows_axis(axes, numbers)
    if shown:
        low, high = min(shown) / 1.4, max(shown) * 1.4
        longer = max(1.0, (numbers[-1] / numbers[0]) ** ORDER * low / high) ** 0.5
        axes.set_ylim(low / longer, high * longer)
        _log_axis(axes)


def draw_correlations(table: pd.DataFrame) -> Figure:
    """Draw rank correlations: a heat map of measures for each n, and each measure with its true values or the target.

    With two methods, the first is below the diagonal and the second above; with one, it is on both sides. Families of
    models follow each other.
    """
    table = _with_labels(table)
    families, measures, methods, numbers = (
        list(table[column].unique()) for column in ("generator", "measure", "method", "n")
    )
    held = table["against"].isin(IN_WORDS)
    maps = [] if held.all() else numbers
    shown = list(product(families, [*maps, None]))
    across = min(2, len(maps) + 1)
    down = -(-len(shown) // across)
    side = 1.2 + max(1.5, 0.45 * len(measures))
    figure, grid = panels(down, across, side + 0.4, side)
    for (family, n), axes in zip(shown, grid.flat, strict=False):
        of_family, rows = f"{family}, " * (len(families) > 1), table["generator"] == family
        if n is None:
            _true_value(axes, table[rows & held], measures, methods, of_family)
        else:
            _heat_map(axes, _matrix(table[rows & ~held & (table["n"] == n)], measures, methods), measures)
            axes.set_title(f"{of_family}n = {n}")
    _only(grid, len(shown))
    _legend(figure, grid.flat[len(maps)], across=len(methods))
    where = ""
    if len(methods) > 1:
        where = f": below the diagonal {_named(methods[0])}, above it {_named(methods[1])}"
    worst = 2 * table["correlation_se"].max()
    error = "" if np.isnan(worst) else f"2 standard errors are at most {settled(worst):.2g}; "
    models = " or ".join(str(k) for k in table["models"].unique())
    figure.supxlabel(
        f"mean rank correlation of {models} models{where}\n{error}{_replicates(table)}",
        fontsize="medium",
    )
    return figure


def _heat_map(axes: Axes, matrix: np.ndarray, labels: list[str]) -> None:
    """Colour and write out a matrix."""
    axes.imshow(matrix, cmap="RdBu", vmin=-1, vmax=1)
    for (row, column), value in np.ndenumerate(matrix):
        if not np.isnan(value):
            color = "white" if abs(value) > 0.65 else "black"
            style: dict[str, Any] = {"ha": "center", "va": "center", "size": 7, "color": color}
            axes.text(column, row, f"{settled(round(value, 2) + 0):.2f}", **style)  # + 0: no -0.00
    axes.set_facecolor("0.85")
    axes.grid(visible=False)
    axes.set_xticks(range(len(labels)), labels, rotation=90)
    axes.set_yticks(range(len(labels)), labels)


def _true_value(axes: Axes, rows: pd.DataFrame, measures: list[str], methods: list[str], of_family: str) -> None:
    looks = _looks(rows["n"].unique())
    marks = list(product(methods, looks))
    for (method, n), place in zip(marks, _beside(len(marks)), strict=True):
        these = rows[(rows["n"] == n) & (rows["method"] == method)]
        y = positions(these["measure"], measures) + place
        style = {"linestyle": "none", "label": f"{_named(method)}, n = {n}", **looks[n]}
        if method != methods[0]:
            style["markerfacecolor"] = "white"
        axes.errorbar(these["correlation"], y, xerr=2 * these["correlation_se"], **style)
    held = IN_WORDS[rows["against"].iloc[0]]
    axes.set(title=f"{of_family}with the order of {held}", xlabel="mean rank correlation, ± 2 standard errors")
    _by_measure(axes, measures)
    axes.axvline(1, color="black", linewidth=1, zorder=1)


def _matrix(rows: pd.DataFrame, measures: list[str], methods: list[str]) -> np.ndarray:
    """Arrange the correlations of pairs in a square, the first method below its diagonal and the last above."""
    matrix = np.full((len(measures), len(measures)), np.nan)
    for one, other, method, correlation in rows[["measure", "against", "method", "correlation"]].to_numpy():
        early, late = sorted((measures.index(one), measures.index(other)))
        if method == methods[0]:
            matrix[late, early] = correlation
        if method == methods[-1]:
            matrix[early, late] = correlation
    return matrix


def _over_n(axes: Axes, rows: pd.DataFrame, column: str, looks: dict[str, Any]) -> None:
    """Draw a column over n with 2 standard errors, the generators a little beside each other."""
    numbers = sorted(rows["n"].unique())
    for (generator, look), place in zip(looks.items(), _beside(len(looks)), strict=True):
        these = rows[rows["generator"] == generator].sort_values("n")
        x = these["n"] * np.exp(0.4 * place)
        axes.errorbar(x, these[column], yerr=2 * these[f"{column}_se"], linewidth=0.9, label=generator, **look)
    _rows_axis(axes, numbers)


def _rows_axis(axes: Axes, numbers: Sequence[int]) -> None:
    """Make a logarithmic axis of numbers of rows."""
    axes.set_xscale("log")
    axes.set_xticks(numbers, [_short(n) for n in numbers])
    axes.tick_params(labelsize="small")
    axes.set_xticks([], minor=True)
    axes.set_xlim(numbers[0] / 1.6, numbers[-1] * 1.6)


def _by_measure(axes: Axes, measures: list[str]) -> None:
    """Give each measure a row, every other one shaded, so that its marks are seen to belong together."""
    axes.set(yticks=range(len(measures)), yticklabels=measures, ylim=(len(measures) - 0.5, -0.5))
    axes.grid(visible=False, axis="y")
    for row in range(1, len(measures), 2):
        axes.axhspan(row - 0.5, row + 0.5, color="0.95", linewidth=0, zorder=0)


def _log_axis(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{settled(value):.3g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _with_labels(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose labels are text, and name each model of several behind its generator."""
    table = table.astype({column: str for column in AS_TEXT if column in table})
    if "model" not in table:
        return table
    several = table["model"] != table["generator"]
    named = table["generator"].where(~several, table["generator"] + ": " + table["model"])
    return table.assign(generator=named if table["generator"].nunique() > 1 else table["model"])


def _looks(labels: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Give every label its colour and marker."""
    colors = [PALETTE[i] for i in (0, 1, 2, 3, 4, 5, 7, 9, 6, 8)]  # the palest last
    shared = {"markersize": 5, "elinewidth": 1.3, "markeredgewidth": 1}
    return {
        label: {"color": colors[i % len(colors)], "marker": MARKERS[i % len(MARKERS)], **shared}
        for i, label in enumerate(labels)
    }


def positions(labels: Iterable[object], order: Sequence[object]) -> np.ndarray:
    """Return where each label stands in an order; numbers also where there is no label, unlike `Series.map`."""
    return np.array([order.index(label) for label in labels], np.float64)


def _beside(number: int) -> np.ndarray:
    """Return places around 0 for marks that would otherwise cover each other."""
    return np.linspace(-SPREAD, SPREAD, number) if number > 1 else np.zeros(1)


def panels(down: int, across: int, width: float, height: float, **shared: Any) -> tuple[Figure, np.ndarray]:
    """Return a figure and its panels, each of a width and height in inches, with room above and below for words."""
    import matplotlib.pyplot as plt

    size = (max(across * width, 6.5), down * height + 1.4)
    return plt.subplots(down, across, figsize=size, squeeze=False, layout="constrained", **shared)


def _only(grid: np.ndarray, number: int) -> None:
    for axes in grid.flat[number:]:
        axes.set_axis_off()


def _legend(figure: Figure, axes: Axes, across: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=across, frameon=False)


def _short(n: float) -> str:
    return f"{n / 1000:g}k" if n >= 1000 else f"{n:g}"


def _named(method: str) -> str:
    return {"spearman": "Spearman's", "kendall": "Kendall's"}.get(method, method)


def _replicates(table: pd.DataFrame) -> str:
    return "replicates: " + " or ".join(str(k) for k in table["replicates"].unique())
