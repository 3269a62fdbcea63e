"""Are calibration errors made on training rows, or on other rows? The claims of Carrell et al. and of Nakkiran.

The error on test rows is the error on training rows plus the gap between the two (Carrell et al. 2022,
arXiv:2210.01964). Nakkiran's slides on that paper (Calibration in Deep Learning: Theory & Practice, Aspen Center for
Physics, 28 February 2023) claim of almost all deep networks, by their list of two layers or more, 100 neurons wide or
more, trained by a proper score, hardly regularised, after ten steps, that the first part is nearly nothing, and that
the gap is in absolute value at most the absolute gap of the classification error. Their theorem 2 is one-sided: the
error without bins of the most likely class rises from training to test rows by at most as much as the classification
error, for models that are over-confident on test rows at every confidence and at least as confident on training rows.
With the same bins everywhere it follows in every sample. That is the promise of this study.

Small networks are fitted to digits of scikit-learn, and judged from the first pass over the training rows to the last.
A penalty that is not weak, a model of a single layer and one of 10 neurons are there to leave what the claims are made
for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import calibration_test, generalization_gap
from calibstat.generators.simulator import drawing
from calibstat.plots.studies.estimates import panels
from calibstat.study import Study

from .parts.digits import CLASSES, HELD_OUT, digits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEED = 20300
LAYERS: Mapping[str, tuple[int, ...]] = {
    "one layer": (),
    "10 neurons": (10,),
    "100 neurons": (100,),
    "2 x 100": (100, 100),
}
WEAK, STRONG = 1e-4, 3.0
PASSES = (1, 2, 4, 8, 16, 32, 64)
BATCH = 32
RATE = 0.005  # five times scikit-learn's, so that 64 passes are many
STEPS = 10  # before which nothing is claimed
WIDTH = 100  # of layers narrower than which nothing is claimed
CLAIMED = [name for name, layers in LAYERS.items() if layers and min(layers) >= WIDTH]
MEASURES = ("ece", "kernel_ce")
ROUNDING = 1e-12
SETTING = ["network", "n", "noise", "penalty", "passes", "measure"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """A network and what it is fitted to.

    Attributes
    ----------
    network : str
        Its hidden layers, one of `LAYERS`; "one layer" is a softmax regression.
    n : int
        Training rows.
    noise : float
        Share of all labels, of training and test rows, that are replaced by any class.
    penalty : float
        Strength of the quadratic penalty, scikit-learn's ``alpha``.
    """

    network: str
    n: int
    noise: float
    penalty: float


def settings(quick: bool) -> list[Setting]:
    """Return every network with a weak penalty, and one with a strong one."""
    rows, noises = ((100,), (0.2,)) if quick else ((100, 300, 900), (0.0, 0.2))
    networks = [("100 neurons", STRONG), *((name, WEAK) for name in LAYERS)]
    return [Setting(name, n, noise, penalty) for (name, penalty), n, noise in product(networks, rows, noises)]


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Fit every network again and again, and summarise what is found after each number of passes."""
    import pandas as pd
    from joblib import Parallel, delayed

    every = settings(quick)
    passes, replicates, n_resamples = ((1, 8), 2, 19) if quick else (PASSES, 3, 199)
    seeds = np.random.SeedSequence(SEED).spawn(replicates)  # all settings of a replicate are fitted to the same rows
    found = Parallel(n_jobs=n_jobs)(
        delayed(one_fit)(setting, seed, passes, n_resamples) for setting, seed in product(every, seeds)
    )
    return summarised(pd.DataFrame([row for rows in found for row in rows]))


def one_fit(setting: Setting, seed: np.random.SeedSequence, passes: tuple[int, ...], n_resamples: int) -> list[Row]:
    """Return what is found of one network after each number of passes."""
    rows = []
    for done, train, test in fits(setting, seed, max(passes)):
        if done in passes:
            rows += [
                {**asdict(setting), "passes": done, **gaps(train, test, measure, n_resamples)} for measure in MEASURES
            ]
    return rows


def fits(setting: Setting, seed: np.random.SeedSequence, last: int) -> Iterator[tuple[int, Any, Any]]:
    """Return classes and predictions of training rows and of test rows after each pass over the training rows."""
    from sklearn.neural_network import MLPClassifier

    pixels, label = digits()
    _, random = drawing(label.size, seed)
    order = random.permutation(label.size)
    replaced, other = random.random(label.size) < setting.noise, random.integers(CLASSES, size=label.size)
    y = np.where(replaced, other, label)
    test, train = order[:HELD_OUT], order[HELD_OUT : HELD_OUT + setting.n]
    network = MLPClassifier(
        LAYERS[setting.network],
        alpha=setting.penalty,
        batch_size=BATCH,
        learning_rate_init=RATE,
        random_state=int(random.integers(2**31)),
    )
    for done in range(1, last + 1):
        network.partial_fit(pixels[train], y[train], classes=np.arange(CLASSES))
        on_train, on_test = ((y[part], network.predict_proba(pixels[part])) for part in (train, test))
        yield done, on_train, on_test


def gaps(train: Any, test: Any, measure: str, n_resamples: int) -> Row:
    """Return both errors and their gap, whether the claims hold, and what the training error is if calibrated."""
    found = generalization_gap(train, test, measure=measure, n_resamples=n_resamples, rng=0)
    null = calibration_test(*train, measure=measure, lens="top_label", n_resamples=n_resamples, rng=0)
    assumed = found.overconfident and found.less_confident
    return {
        "measure": measure,
        "train": found.train.estimate,
        "if_calibrated": float(null.null_distribution.mean()),
        "test": found.test.estimate,
        "gap": found.gap,
        "error_train": found.error_train,
        "error_test": found.error_test,
        "error_gap": found.error_gap,
        "miscalibrated": null.pvalue <= 0.05,
        "within": abs(found.gap) <= abs(found.error_gap) + ROUNDING,
        "clearly_above": found.gap_low > max(abs(found.error_gap_low), abs(found.error_gap_high)),
        "not_overconfident": found.n_not_overconfident > 0,
        "clearly_not_overconfident": found.n_clearly_not > 0,
        "less_confident": found.less_confident,
        "assumed": assumed,
        "assumed_not_bounded": assumed and found.gap > found.error_gap + ROUNDING,
    }


def summarised(rows: pd.DataFrame) -> pd.DataFrame:
    """Return means, the standard deviations of gaps, and the number of replicates of which a thing is true."""
    parts = rows.groupby(SETTING, sort=False)
    counted = [name for name in rows if rows[name].dtype == bool]
    numbers = [name for name in rows if name not in (*SETTING, *counted)]
    found = parts[numbers].mean()
    found["gap_sd"], found["error_gap_sd"] = parts["gap"].std(), parts["error_gap"].std()
    found = found.join(parts[counted].sum()).reset_index()
    found.insert(0, "question", "generalization gap")
    found.insert(len(SETTING) + 1, "replicates", parts.size().to_numpy())
    steps = found["passes"] * -(-found["n"] // BATCH)
    return found.assign(claimed=found["network"].isin(CLAIMED) & (found["penalty"] == WEAK) & (steps >= STEPS))


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the settings in which a gap was not bounded although what implies it held."""
    return table[(table["measure"] == "ece") & (table["assumed_not_bounded"] > 0)]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw gaps over gaps, and errors during training."""
    return {"": draw_gaps(table), "training": draw_training(table)}


def looks(table: pd.DataFrame) -> list[tuple[str, pd.Series, Row]]:
    """Return kinds of settings, their rows, and how they are drawn: open marks where nothing is claimed."""
    import seaborn as sns

    color = sns.color_palette("colorblind")
    weak, claimed = table["penalty"] == WEAK, table["claimed"]
    kinds = [
        (name, (table["network"] == name) & claimed, {"color": color[k], "marker": marker})
        for k, (name, marker) in enumerate(zip(CLAIMED, "sD", strict=True), 1)
    ]
    hollow = {"markerfacecolor": "none", "markeredgewidth": 1}
    return [
        *kinds,
        (
            f"before {STEPS} steps",
            weak & ~claimed & table["network"].isin(CLAIMED),
            {**hollow, "color": "gray", "marker": "o"},
        ),
        *(
            (name, weak & (table["network"] == name), {**hollow, "color": color[k], "marker": marker})
            for name, k, marker in (("10 neurons", 0, "o"), ("one layer", 3, "^"))
        ),
        ("strong penalty", ~weak, {**hollow, "color": color[4], "marker": "v"}),
    ]


def draw_gaps(table: pd.DataFrame) -> Figure:
    """Draw training errors over those of calibrated models, and gaps of calibration over those of classification."""
    import seaborn as sns

    with sns.axes_style("whitegrid"):
        figure, grid = panels(len(MEASURES), 2, 4.6, 3.9)
    for measure, (train, gap) in zip(MEASURES, grid, strict=True):
        rows = table[table["measure"] == measure]
        for label, some, look in looks(rows):
            shared: Row = {"linestyle": "none", "markersize": 4, "label": label, **look}
            train.plot(rows["if_calibrated"][some], rows["train"][some], **shared)
            gap.plot(rows["error_gap"][some], rows["gap"][some], **shared)
        train.set(xscale="log", yscale="log")
        train.set(xlabel=f"{measure} on training rows, if calibrated", ylabel=f"{measure} on training rows")
        gap.set(xlabel="gap of the classification error", ylabel=f"gap of {measure}")
        _diagonal(train)
        _diagonal(gap)
        _diagonal(gap, -1)
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    words = f"each mark: means over {table['replicates'].iloc[0]} fits; diagonals: equal but for the sign"
    figure.supxlabel(words, fontsize="medium")
    return figure


def _diagonal(axes: Axes, sign: int = 1) -> None:
    """Draw the line of equal coordinates, or of opposite ones, without changing what is shown."""
    limits = axes.get_xlim(), axes.get_ylim()
    x = limits[0][1]
    axes.axline((x, sign * x), (x / 2, sign * x / 2), color="black", linewidth=1, zorder=1)
    axes.set(xlim=limits[0], ylim=limits[1])


def draw_training(table: pd.DataFrame) -> Figure:
    """Draw errors over the passes, a panel for each network and number of training rows, with the most noise."""
    import seaborn as sns

    rows = table[(table["measure"] == "ece") & (table["noise"] == table["noise"].max())]
    kinds = [(name, WEAK) for name in LAYERS] + [("100 neurons", STRONG)]
    numbers = sorted(rows["n"].unique())
    color = sns.color_palette("colorblind")
    with sns.axes_style("whitegrid"):
        figure, grid = panels(len(numbers), len(kinds), 2.6, 2.3, sharex=True, sharey=True)
    for (n, (name, penalty)), axes in zip(product(numbers, kinds), grid.flat, strict=True):
        own = rows[(rows["n"] == n) & (rows["network"] == name) & (rows["penalty"] == penalty)]
        for what, hue, line in (
            ("error_test", color[0], "-"),
            ("error_train", color[0], "--"),
            ("test", color[1], "-"),
            ("train", color[1], "--"),
            ("if_calibrated", "black", ":"),
        ):
            axes.plot(own["passes"], own[what], line, color=hue, label=WORDS[what])
        axes.set_title(f"{name}{', strong penalty' * (penalty == STRONG)}\n{n} rows", fontsize="small")
        axes.set_xscale("log", base=2)
        axes.set_xticks(own["passes"], own["passes"])
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    figure.supxlabel(f"passes over the training rows; {rows['noise'].iloc[0]:.0%} of labels random", fontsize="medium")
    return figure


WORDS = {
    "error_test": "classification error, test",
    "error_train": "classification error, train",
    "test": "ECE, test",
    "train": "ECE, train",
    "if_calibrated": "ECE, train, if calibrated",
}

study = Study(
    question="Are calibration errors made on training rows, or on other rows?",
    seed=SEED,
    runtime_hours=0.1,
    table=table,
    figures=figures,
    violations=violations,
)
