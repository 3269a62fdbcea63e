"""One picture for every question, drawn from its table alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from calibstat.plots.settings import load_backend, settings
from calibstat.study.pictures import estimates, rates

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LOOK = Path(__file__).with_name("studies.mplstyle")
DRAWN = {
    "size": rates.draw_rejections,
    "power": rates.draw_rejections,
    "coverage": rates.draw_coverage,
    "comparison": rates.draw_rejections,
    "bias": estimates.draw_bias,
    "consistency": estimates.draw_orders,
    "ranking": estimates.draw_correlations,
}


def plot(table: pd.DataFrame) -> Figure:
    """Draw the table of a study.

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
        If the table does not hold exactly one question that is known.

    Examples
    --------
    >>> import calibstat as cs
    >>> models = {f"temperature {beta}": cs.generators.temperature(beta) for beta in (1, 1.5, 2)}
    >>> result = cs.study.run("bias", models, [50, 100], ["ece", "ks"], replicates=20, seed=1)
    >>> len(cs.study.plot(result).axes) > 1
    True
    """
    questions = [] if "question" not in table else list(table["question"].unique())
    if len(questions) != 1 or questions[0] not in DRAWN:
        raise ValueError(f"expected the table of one question, one of {', '.join(DRAWN)}; found {questions}")
    load_backend()
    with settings(LOOK):
        return DRAWN[questions[0]](table)
