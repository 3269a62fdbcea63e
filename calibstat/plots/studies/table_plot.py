"""One picture for the table of every question of a study, drawn from the table alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from calibstat.data.checks import quoted
from calibstat.plots.settings import load_backend, settings
from calibstat.plots.studies import estimates, rates

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STUDY_STYLE = Path(__file__).with_name("studies.mplstyle")
CELL = ("generator", "n", "measure", "method", "replicates")
PICTURES = {
    "size": (rates.draw_rejections, ("level", "rate", "low", "high")),
    "power": (rates.draw_rejections, ("level", "rate", "low", "high")),
    "coverage": (rates.draw_coverage, ("level", "rate", "low", "high")),
    "comparison": (rates.draw_rejections, ("level", "rate", "low", "high")),
    "bias": (estimates.draw_bias, ("truth", *(f"{each}{se}" for each in estimates.ERRORS for se in ("", "_se")))),
    "consistency": (estimates.draw_orders, ("n_from", "order", "order_se")),
    "ranking": (estimates.draw_correlations, ("against", "correlation", "correlation_se")),
}


def plot(table: pd.DataFrame) -> Figure:
    """Draw the table of a study, as `calibstat.plot` does too, and return the figure.

        >>> import calibstat as cs
        >>> models = {f"temperature {beta}": cs.generators.temperature(beta) for beta in (1, 1.5, 2)}
        >>> result = cs.study.run("bias", models, [50, 100], ["ece", "ks"], replicates=20, seed=1)
        >>> len(cs.study.plot(result).axes) > 1
        True

    Parameters
    ----------
    table : pandas.DataFrame
        What `run` returned, or a part of its rows, or the same read back from a file. One question only.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the table does not hold exactly one question that is known, or lacks a column of it.

    Notes
    -----
    The picture of "consistency" has the errors over n on two logarithmic axes, each with a line that falls at its
    order, and beside them the orders. An error that does not vanish is a curve that does not fall. With more than 10
    measures, whose curves nobody could tell apart, or of a table without the errors, it has the orders alone.
    """
    found = list(table["question"].unique()) if "question" in table else []
    if len(found) != 1 or found[0] not in PICTURES:
        has = f"the questions {quoted(found)}" if found else f"{len(table)} rows with columns {quoted(table.columns)}"
        raise ValueError(
            f"expected the table of one question, one of {', '.join(PICTURES)}, as calibstat.study.run returns it; "
            f"found {has}"
        )
    draw, columns = PICTURES[found[0]]
    lacking = [column for column in (*CELL, *columns) if column not in table]
    if lacking:
        raise ValueError(f"expected the table of question {found[0]!r} with column {lacking[0]!r}, found none")
    load_backend()
    with settings(STUDY_STYLE):
        return draw(table)


def is_table(result: object) -> TypeGuard[pd.DataFrame]:
    """Whether this is a data frame, as tables of studies are; without loading pandas."""
    return "pandas" in sys.modules and isinstance(result, sys.modules["pandas"].DataFrame)


def plot_table(table: pd.DataFrame, ax: Axes | None) -> Axes:
    """Draw the table of a study in a figure of its own, and return its first axes."""
    if ax is not None:
        raise ValueError("expected no axes for the table of a study, which has several panels, found some")
    return plot(table).axes[0]
