"""Do the tables of papers show what is known, and is their order of recalibrations the same for other networks?

The installed study `tables` is asked about three kinds of models. Of models with 100
and 1000 classes whose truth is known, logits of a calibrated model times 1.5, the errors in the population are beside
the estimates, before temperature scaling and after it: after it the model is the calibrated one at 1.5 divided by the
temperature that was fitted. Ten networks with 25 to 400 neurons and other starts are fitted to half of the digits of
scikit-learn, and their predictions of the other half are ten files, so that agreement of the 32 general calibration
errors has an error over networks, which one network cannot have (Nixon et al. 2019, table 4, ten models). A file that
is given by --data is a third: what claims of Chidambaram and Ge say of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import generators
from calibstat.papers.parts.agreement import AGREEMENTS, PROPERTIES
from calibstat.papers.parts.prediction_files import PredictionFile
from calibstat.papers.parts.recalibrations import BEFORE, RECALIBRATIONS, option_name
from calibstat.papers.tables import EVERY, OPTIONS, Drawn, found_in
from calibstat.plots.studies.estimates import panels, positions
from calibstat.study import Study

from .parts.digit_networks import networks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEED = 20342
WARM = 1.5  # the temperature of models whose truth is known
WIDE: Mapping[int, float] = {100: 0.05, 1000: 0.02}  # alpha by the number of classes
NARROW: Mapping[int, float] = {30: 0.1}  # of a quick run
ROWS = 5000
SCALED = "temperature"
JUDGED = ("ece", "brier")  # whose population values are computed
KEPT = ("measure", "ceiling", "agreement", "claim", "fit", "left out")  # of the tables
PAPER = {  # Nixon et al. 2019, table 4, CIFAR-10: the mean rank correlation of measures with each property
    "even bins": 0.58,
    "adaptive bins": 0.51,
    "most likely class": 0.50,
    "all classes": 0.59,
    "class-conditional": 0.52,
    "class-unconditional": 0.62,
    "thresholded": 0.50,
    "unthresholded": 0.58,
    "L1": 0.43,
    "L2": 0.60,
}
OPPOSED = tuple(zip(list(PAPER)[::2], list(PAPER)[1::2], strict=True))


def wide(quick: bool) -> dict[str, Drawn]:
    """Return the models whose truth is known, by name."""
    alphas = NARROW if quick else WIDE
    return {f"{k} classes": Drawn(generators.dirichlet((a,) * k, temperature=WARM), ROWS) for k, a in alphas.items()}


def settings(quick: bool, **changes: Any) -> dict[str, Any]:
    """Return the options of the tables, all defaults but these."""
    fewer = {"splits": 2, "resamples": 19} if quick else {}
    return {name: option.default for name, option in OPTIONS.items()} | fewer | changes


def table(
    *, quick: bool, n_jobs: int | None = None, data: Sequence[Path] = (), store: Path | None = None
) -> pd.DataFrame:
    """Ask the tables of papers about networks, models whose truth is known, and given files."""
    import pandas as pd

    several = [name for name in RECALIBRATIONS if name not in ("matrix", "neural network")]
    every = tuple(option_name(name) for name in several)
    of_networks = found_in(networks(quick), settings(quick, recalibrations=every, splits=2), store, n_jobs)
    known = found_in(wide(quick), settings(quick, splits=2, agreement=False), store, n_jobs)
    parts = {"networks": of_networks, "known truth": with_truths(known, wide(quick))}
    if data:
        files = {path.stem: PredictionFile.of(path) for path in data}
        parts["given files"] = found_in(files, settings(quick, splits=2 if quick else 20), store, n_jobs)
    found = pd.concat([part.assign(models=kind) for kind, part in parts.items()], ignore_index=True)
    columns = ["question", "models", *(name for name in found if name not in ("question", "models", "at"))]
    return found.loc[found["question"].isin(KEPT), columns]


def with_truths(found: pd.DataFrame, models: Mapping[str, Drawn]) -> pd.DataFrame:
    """Add the errors in the population, before temperature scaling and at the mean fitted temperature."""
    asked = found["question"] == "measure"
    at = found[(found["question"] == "fit") & (found["measure"] == SCALED)].set_index("file")["mean"]
    truth = np.full(len(found), np.nan)
    for name, drawn in models.items():
        alpha = drawn.generator.alpha
        for model, temperature in ((BEFORE, WARM), (SCALED, WARM / at[name])):
            population = generators.dirichlet(alpha, temperature=float(temperature))
            for measure in JUDGED:
                own = asked & (found["file"] == name) & (found["model"] == model) & (found["measure"] == measure)
                lens = {"lens": "canonical"} if measure == "brier" else {}
                truth[own.to_numpy()] = population.truth(measure, **lens)
    return found.assign(truth=truth)


def contrasts(table: pd.DataFrame) -> pd.DataFrame:
    """Return by how much measures with one property agree more than measures with the opposite one, over networks."""
    import pandas as pd

    rows = table[(table["question"] == "agreement") & (table["models"] == "networks") & (table["file"] != EVERY)]
    mean = rows[rows["against"] == AGREEMENTS[0]].pivot(index="file", columns="measure", values="mean")
    lines = []
    for first, second in OPPOSED:
        d = mean[first] - mean[second]
        error = float(d.std() / np.sqrt(d.size))
        lines.append({"first": first, "second": second, "mean": float(d.mean()), "se": error,
                      "paper": PAPER[first] - PAPER[second]})  # fmt: skip
    return pd.DataFrame(lines)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the agreement of the 32 errors over networks beside the paper's."""
    import matplotlib.pyplot as plt

    from calibstat.plots.style import colors

    color: Mapping[str, Any] = colors()
    figure, ((left, right),) = panels(1, 2, 5.6, 4.4)
    _draw_agreement(left, table, color)
    found = contrasts(table)
    y = np.arange(len(found))
    right.axvline(0, color="black", linewidth=1, zorder=1)
    right.errorbar(found["mean"], y, xerr=2 * found["se"], fmt="o", color=color["blue"], label="networks, ± 2 se")
    right.plot(found["paper"], y, "D", color=color["red"], label="the paper, CIFAR-10")
    words = [f"{a}\nminus {b}" for a, b in zip(found["first"], found["second"], strict=True)]
    right.set(yticks=y, yticklabels=words, ylim=(len(found) - 0.5, -0.5))
    right.set_xlabel("difference of mean rank correlations")
    right.legend(loc="best", frameon=False, fontsize="small")
    plt.close(figure)
    return {"": figure}


def _draw_agreement(axes: Axes, table: pd.DataFrame, color: Mapping[str, Any]) -> None:
    rows = table[(table["question"] == "agreement") & (table["models"] == "networks") & (table["file"] == EVERY)]
    looks = zip(AGREEMENTS, ("blue", "green", "red", "grey"), "osD^", range(4), strict=True)
    for against, hue, marker, beside in looks:
        own = rows[rows["against"] == against]
        y = positions(own["measure"], list(PROPERTIES)) + (beside - 1.5) / 6
        error = 2 * own["sd"] / np.sqrt(own["files"])
        axes.errorbar(own["mean"], y, xerr=error, fmt=marker, color=color[hue], markersize=4, label=against)
    axes.set(yticks=range(len(PROPERTIES)), yticklabels=list(PROPERTIES), ylim=(len(PROPERTIES) - 0.5, -0.5))
    axes.set_xlabel("mean rank correlation (bars: ± 2 standard errors over networks)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False, fontsize="small")


study = Study(
    question="Do the tables of papers show what is known, and is their order the same for other networks?",
    seed=SEED,
    runtime_hours=0.05,
    table=table,
    takes_data=True,
    takes_store=True,
    figures=figures,
)
