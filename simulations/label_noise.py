"""What does label noise do to a model and to its errors? Section 3.1 and appendix B of Nixon et al. (2019).

Appendix B of arXiv:1904.01685 fits softmax regression to MNIST at 40 levels of noise from 0 to 5% and draws ECE, SCE
and ACE over the noise, the share of important predictions that ECE omits (those above a threshold that are not the
largest of their row), accuracy and mean confidence. Its claims: the omitted share rises, accuracy and confidence fall,
and ECE becomes a worse approximation of the error of all predictions. Here the data are the 1797 digits that come with
scikit-learn, each data set is a new split with a model fitted to it, and the errors stand beside those that the same
predictions would show if they were calibrated, which the paper does not look at.

The paper assigns labels of the data at random and does not say that those held out are spared, so by default they are
not; a second family keeps them clean, which asks how the model does on what it should have learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.generators.simulator import drawing
from calibstat.papers.parts.grid import Grid, Measures
from calibstat.plots.studies.estimates import panels
from calibstat.study import Study

from .parts.digits import CLASSES, HELD_OUT, NoisyDigits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEVELS = (*(i / 200 for i in range(11)), 0.1, 0.2, 0.5)
PAPER = 0.05  # where the levels of the paper end
BINNED: Measures = {  # by the names they have in the paper
    "ECE": ("ece", {}),
    "SCE": ("gce", {}),
    "ACE": ("gce", {"binning": "adaptive"}),
    "TACE": ("gce", {"binning": "adaptive", "threshold": 0.01}),
    "ECE, worst class": ("ece", {"lens": "class_wise_max"}),
}
UNBIASED: Measures = {  # squares of kernel errors, 0 on average if calibrated
    "kernel_ce_squared": ("kernel_ce_squared", {}),
    "skce, U": ("skce", {"statistic": "U"}),
}
CLEAN, CALIBRATED = ", held out clean", ", if calibrated"  # endings of labels


@dataclass(frozen=True)
class IfCalibrated:
    """The predictions of another model, with classes drawn from them: what its errors would be if it had none."""

    model: NoisyDigits
    n_classes = CLASSES
    is_calibrated = True

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw the data of the model, and then classes."""
        n, random = drawing(n, rng)
        _, p = self.model.sample(n, random)
        below = p.cumsum(axis=1)
        return (below / below[:, -1:] <= random.random((n, 1))).sum(axis=1), p

    def truth(self, measure: Any = "ece", **options: Any) -> float:
        """Return what a calibrated model has by each of the errors here."""
        return 0.0


def omitted(p: np.ndarray, threshold: float) -> np.ndarray:
    """Return for each prediction above a threshold whether it is not the largest of its row."""
    largest = np.arange(p.shape[1]) == p.argmax(axis=1)[:, np.newaxis]
    return ~largest[p > threshold]


SEEN: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = MappingProxyType(
    {
        "accuracy": lambda y, p: p.argmax(axis=1) == y,
        "mean confidence": lambda y, p: p.max(axis=1),
        "omitted above 0.01": lambda y, p: omitted(p, 0.01),
        "omitted above 0.1": lambda y, p: omitted(p, 0.1),
    }
)
MEAN = ("ece", {"n_bins": 1})


@dataclass(frozen=True)
class Seen:
    """Numbers from 0 to 1 seen in the data of a model, given as predictions of an outcome that is never observed.

    Their error in a single bin is their mean: a study of errors can so put it into its table.
    """

    model: NoisyDigits
    what: str
    is_calibrated = False

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw the data of the model and look."""
        numbers = SEEN[self.what](*self.model.sample(n, rng)).astype(np.float64)
        return np.zeros(numbers.size), numbers

    def truth(self, measure: Any = "ece", **options: Any) -> float:
        """Raise as the model does."""
        return self.model.truth(measure)


def grids(quick: bool) -> list[Grid]:
    """Return grids of the errors, of the same if calibrated, and of everything else that is seen.

    Labels of the generators are the same in all, so that they are of the same data sets: the first of them.
    """
    levels = (0.0, 0.05, 0.5) if quick else LEVELS
    noisy = {f"{level:g}": NoisyDigits(level) for level in levels}
    every = noisy | {f"{label}{CLEAN}": replace(model, clean=True) for label, model in noisy.items()}
    shared: Grid = {"question": "bias", "n": HELD_OUT}
    calibrated = {label: IfCalibrated(model) for label, model in noisy.items()}
    if_calibrated = {f"{label}{CALIBRATED}": measure for label, measure in BINNED.items()}
    errors = {**BINNED, **UNBIASED, "Brier score": ("brier", {"lens": "canonical"})}
    return [
        {**shared, "generators": every, "measures": errors, "replicates": 2 if quick else 100},
        {**shared, "generators": calibrated, "measures": if_calibrated, "replicates": 2 if quick else 50},
        *(
            {
                **shared,
                "generators": {
                    label: Seen(model, what) for label, model in (every if what == "accuracy" else noisy).items()
                },
                "measures": {what: MEAN},
                "replicates": 2 if quick else 25,
            }
            for what in SEEN
        ),
    ]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw what the paper draws, over its levels and over all."""
    table = with_levels(table)
    return {"": draw(table[table["noise"] <= PAPER]), "far": draw(table)}


def with_levels(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the level of noise in a separate column, and whether held-out labels are clean."""
    noise = table["generator"].str.removesuffix(CLEAN).astype(float)
    return table.assign(noise=noise, clean=table["generator"].str.endswith(CLEAN)).sort_values("noise")


def above_calibrated(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return by how much mean errors are above those of the same predictions if calibrated."""
    own = table[table["measure"] == measure].set_index("noise")
    base = table[table["measure"] == f"{measure}{CALIBRATED}"].set_index("noise").loc[own.index]
    error = np.hypot(own["mean_se"], base["mean_se"])  # as if of different data sets, which is too large
    return own.assign(mean=own["mean"] - base["mean"], mean_se=error).reset_index()


def draw(table: pd.DataFrame) -> Figure:
    """Draw errors, those of calibrated models, omitted predictions, accuracy and confidence over the noise."""
    import seaborn as sns

    color = sns.color_palette("colorblind")
    clean, named = table["clean"], table.groupby("measure").get_group
    of_clean: dict[str, Any] = {"linestyle": ":", "markerfacecolor": "white"}
    with sns.axes_style("whitegrid"):
        figure, ((errors, spared, above), (kernel, shares, model)) = panels(2, 3, 3.9, 3.1)
    for label, hue, marker in zip(list(BINNED)[:4], color, "osD^", strict=False):
        look = {"color": hue, "marker": marker, "label": label}
        for axes, rows in ((errors, table[~clean]), (spared, table[clean])):
            _over_noise(axes, rows[rows["measure"] == label], **look)
            _over_noise(axes, named(f"{label}{CALIBRATED}"), color=hue, linestyle="--")
        _over_noise(above, above_calibrated(table[~clean], label), **look)
    for label, hue, marker, name in zip(UNBIASED, color, "os", ("top label", "all classes"), strict=False):
        for rows, what, look in ((table[~clean], "all labels noisy", {}), (table[clean], "held out clean", of_clean)):
            look = {"color": hue, "marker": marker, "label": f"{name}, {what}", **look}
            _over_noise(kernel, rows[rows["measure"] == label], **look)
    for threshold, hue, marker in zip(("0.01", "0.1"), color, "os", strict=False):
        look = {"color": hue, "marker": marker, "label": f"of predictions above {threshold}"}
        _over_noise(shares, named(f"omitted above {threshold}"), **look)
    accuracy = named("accuracy")
    _over_noise(model, named("mean confidence"), color=color[0], marker="o", label="mean confidence")
    _over_noise(model, accuracy[~accuracy["clean"]], color=color[1], marker="s", label="accuracy, all labels noisy")
    look = {"color": color[1], "marker": "s", "label": "accuracy, held out clean", **of_clean}
    _over_noise(model, accuracy[accuracy["clean"]], **look)
    most = table["noise"].max()
    ticks = (0, 0.01, 0.02, 0.03, 0.04, PAPER) if most <= PAPER else (0, 0.02, PAPER, 0.1, 0.2, 0.5)
    kernel.set_yscale("log")
    kernel.set_ylim(top=5 * kernel.get_ylim()[1])
    for axes in (errors, spared):
        axes.plot([], [], "--", color="black", label="if calibrated")
        axes.set_ylim(0, 1.4 * axes.get_ylim()[1])  # with room for the legend
    for axes, title in (
        (errors, "errors, all labels noisy"),
        (spared, "errors, held-out labels clean"),
        (above, "errors above those if calibrated,\nall labels noisy"),
        (kernel, "squared kernel errors, unbiased"),
        (shares, "share that ECE omits"),
        (model, "accuracy and confidence"),
    ):
        axes.set_title(title, fontsize="medium")
        axes.legend(loc="best" if axes in (above, shares, model) else "upper left", fontsize="small")
        axes.set_xscale("symlog", linthresh=PAPER)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xlim(-0.002, 1.1 * most)
    figure.supxlabel("share of labels replaced at random (bars: ± 2 standard errors)", fontsize="medium")
    return figure


def _over_noise(axes: Axes, rows: pd.DataFrame, **look: Any) -> None:
    """Draw means over the noise with 2 standard errors."""
    axes.errorbar(rows["noise"], rows["mean"], 2 * rows["mean_se"], markersize=4, linewidth=1.2, **look)


study = Study(
    question="What does label noise do to a model and to its errors?",
    seed=20281,
    runtime_hours=0.15,
    grids=grids,
    figures=figures,
)
