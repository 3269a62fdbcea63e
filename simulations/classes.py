"""Do labels-only tests and honest intervals of many classes keep their promises through lenses?

As for binary outcomes: with resample="labels", P(p <= 0.05) <= 0.05 for every lens, measure, n and number of classes;
of a test of each class by itself, what is counted is that any class is rejected after Holm's adjustment. And in the
cells of this grid method="honest" at 95% covers in at least 94% of samples, at and away from calibration. The bootstrap
intervals promise nothing; their rates are here to be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import generators, lenses
from calibstat.generators import MulticlassGenerator
from calibstat.papers.parts.grid import Grid, Measures
from calibstat.papers.parts.promises import COVERAGE, FALSE_ALARM, PROMISED
from calibstat.study import Study, most_rejections, plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LEVEL = 0.05
LENSES = ("top_label", "one_class", "class_wise", "groups", "top_k", "canonical")
COMPARED = ("calibrated", "temperature 1.2", "temperature 2")  # models of which bootstrap intervals are seen as well


def single_precision(p: np.ndarray) -> np.ndarray:
    """Return the vectors as most networks report them; their sums are 1 up to the rounding of float32."""
    return p.astype(np.float32)


def quarters(p: np.ndarray) -> np.ndarray:
    """Return vectors of whole quarters: many are equal, many entries are 0, and some 1."""
    return np.diff(np.round(4 * p.cumsum(axis=1)) / 4, axis=1, prepend=0)


ROUNDED: Mapping[str, Callable[[np.ndarray], np.ndarray]] = MappingProxyType(
    {"single precision": single_precision, "quarters": quarters}
)


@dataclass(frozen=True, repr=False)
class rounded(MulticlassGenerator):
    """Vectors of another family, rounded; the class is drawn from what is reported, which is thus calibrated.

    A vector whose sum is not quite 1 stands for the distribution that is proportional to it.
    """

    base: MulticlassGenerator
    to: str
    is_calibrated = True

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        """Number of classes, K."""
        return self.base.n_classes

    def _rows(self, n: int, random: Any) -> tuple[np.ndarray, np.ndarray]:
        p = ROUNDED[self.to](self.base.sample(n, random)[1])
        below = p.cumsum(axis=1, dtype=np.float64)
        return (below / below[:, -1:] <= random.random((n, 1))).sum(axis=1), p


def dirichlets(classes: int) -> dict[str, Any]:
    """Return calibrated vectors that are anywhere on the simplex, and vectors near its corners."""
    return {
        f"{classes} classes, uniform": generators.dirichlet([1] * classes),
        f"{classes} classes, near corners": generators.dirichlet([0.05] * classes),
    }


def hostile() -> dict[str, Any]:
    """Return calibrated vectors of many classes, of float32, and with ties and exact 0 and 1."""
    three, ten, hundred = (list(dirichlets(classes).values()) for classes in (3, 10, 100))
    return {
        "100 classes, near corners": hundred[1],
        "100 classes, near corners, float32": rounded(hundred[1], "single precision"),
        "10 classes, uniform, float32": rounded(ten[0], "single precision"),
        "10 classes, quarters": rounded(ten[0], "quarters"),
        "3 classes, quarters": rounded(three[0], "quarters"),
    }


def wrong(classes: int) -> dict[str, Any]:
    """Return models whose truth is known, calibrated and not."""
    uniform = generators.dirichlet([1] * classes)
    scale, shift = (np.linspace(*ends, classes).round(4).tolist() for ends in ((1.4, 0.8), (0.3, -0.3)))
    found = {
        "calibrated": uniform,
        "temperature 1.2": generators.dirichlet([1] * classes, temperature=1.2),
        "temperature 2": generators.dirichlet([1] * classes, temperature=2),
        "vector scaling": generators.dirichlet([1] * classes, scale=scale, shift=shift),
        "label noise 0.2": generators.label_noise(uniform, 0.2),
        "always wrong": generators.always_wrong(classes, 0.3),
    }
    several = {f"{classes} classes, {label}": model for label, model in found.items()}
    return several | ({"six points": generators.six_points()} if classes == 3 else {})


def through(lens: Any, measures: Measures, reduce: str | None = None) -> Measures:
    """Return measures as they are seen through a lens."""
    seen = {"lens": lens if reduce is None else f"{lens}_{reduce}"}
    words = str(lens).split("(")[0] + (f", {reduce}" if reduce else "")
    return {f"{words}: {label}": (name, {**options, **seen}) for label, (name, options) in measures.items()}


EVENTS: Measures = {
    "ece": ("ece", {}),
    "ece, quantile": ("ece", {"strategy": "quantile"}),
    "ks": ("ks", {}),
    "brier": ("brier", {}),
}
KERNEL: Measures = {"kernel_ce": ("kernel_ce", {})}
SLOW: Measures = {"mcb": ("mcb", {})}
SLOWEST: Measures = {"smooth_ece": ("smooth_ece", {})}
GCE: Measures = {  # by the names they have in the literature
    "SCE": ("gce", {}),
    "ACE": ("gce", {"binning": "adaptive"}),
    "ECE": ("gce", {"max_prob": True, "class_conditional": False}),
}
VECTORS: Measures = {
    "canonical_ce, tree": ("canonical_ce", {"min_size": 20}),
    "canonical_ce, grid": ("canonical_ce", {"strategy": "uniform", "n_bins": 3}),
    "skce, blocks": ("skce", {"statistic": "block"}),  # of all pairs it is too slow for 2000 rows
    **GCE,
    "brier": ("brier", {}),
    "log_loss": ("log_loss", {}),
}
PAIRS: Measures = {"skce, V": ("skce", {}), "skce, U": ("skce", {"statistic": "U"})}


def some(measures: Measures, *labels: str) -> Measures:
    """Return those of the measures."""
    return {label: measures[label] for label in labels}


def sizes(quick: bool) -> list[Grid]:
    """Return the grids of tests: 3 and 10 classes, few rows and many; each class by itself; and hostile predictions."""
    effort: Grid = {"question": "size", "level": LEVEL, "replicates": 10 if quick else 2000}
    found: list[Grid] = []
    for classes in (3,) if quick else (3, 10):
        halves = lenses.groups([part.tolist() for part in np.array_split(np.arange(classes), 2)])
        everywhere = (
            through(lenses.top_label, EVENTS | KERNEL)
            | through(lenses.one_class(0), EVENTS | KERNEL)
            | through(lenses.class_wise, some(EVENTS, "ece", "ks"), "mean")
            | through(lenses.class_wise, some(EVENTS, "ece", "ece, quantile"), "max")
            | through(halves, some(VECTORS, "canonical_ce, tree", "canonical_ce, grid", "SCE", "brier"))
            | through(lenses.top_k(2), some(VECTORS, "canonical_ce, tree", "canonical_ce, grid", "SCE", "brier"))
            | through(lenses.canonical, VECTORS)
        )
        few_rows = (
            through(lenses.top_label, SLOW | SLOWEST)
            | through(lenses.one_class(0), SLOW)
            | through(lenses.class_wise, some(EVENTS, "ece, quantile", "brier"), "mean")
            | through(lenses.class_wise, some(EVENTS, "ks", "brier"), "max")
            | through(halves, PAIRS)
            | through(lenses.top_k(2), PAIRS)
            | through(lenses.canonical, PAIRS)
        )
        shared: Grid = {**effort, "generators": dirichlets(classes), "n_resamples": 39 if quick else 99}
        found += [{**shared, "n": [200], "measures": everywhere | few_rows}]
        found += [] if quick else [{**shared, "n": [2000], "measures": everywhere}]
        # of K tests the smallest p-value that can be is K / (n_resamples + 1) after Holm's adjustment
        each: Grid = {**shared, "n_resamples": 59 if quick else 399}
        found += [{**each, "n": [200], "measures": through(lenses.class_wise, EVENTS)}]
        found += [] if quick else [{**each, "n": [2000], "measures": through(lenses.class_wise, some(EVENTS, "ece"))}]
    measures = (
        through(lenses.top_label, EVENTS | KERNEL | SLOW)
        | through(lenses.class_wise, some(EVENTS, "ece", "brier"), "mean")
        | through(lenses.class_wise, some(EVENTS, "ece", "ece, quantile"), "max")
        | through(lenses.top_k(2), some(VECTORS, "canonical_ce, grid", "SCE"))
        | through(lenses.canonical, VECTORS | PAIRS)
    )
    models = hostile()
    if quick:
        models = {label: models[label] for label in ("10 classes, uniform, float32", "3 classes, quarters")}
    found += [{**effort, "generators": models, "n": [200], "n_resamples": 39 if quick else 99, "measures": measures}]
    if not quick:
        one: Grid = {**effort, "generators": some(models, "100 classes, near corners"), "n": [200]}
        found += [{**one, "n_resamples": 1999, "measures": through(lenses.class_wise, some(EVENTS, "ece"))}]
    return found


def coverages(quick: bool) -> list[Grid]:
    """Return the grids of intervals. Of 10 classes a grid of fewer bins has enough cells.

    The bootstrap intervals take most time and promise nothing: they are computed for few rows and few models.
    """
    found: list[Grid] = []
    for classes, few, more in ((3, 4, 7),) if quick else ((3, 4, 7), (10, 2, 3)):
        bins: dict[str, Any] = {"strategy": "uniform", "n_bins": few}
        of_vectors: Measures = {
            f"canonical_ce, {few} bins": ("canonical_ce", bins),
            f"canonical_ce, {more} bins, l1": ("canonical_ce", {**bins, "n_bins": more, "distance": "l1"}),
            **some(VECTORS, "brier", "log_loss"),
        }
        models = wrong(classes)
        shared: Grid = {
            "question": "coverage",
            "measures": through(lenses.top_label, some(EVENTS, "ece"))
            | through(lenses.class_wise, some(EVENTS, "ece"), "mean")
            | through(lenses.class_wise, some(EVENTS, "ece"), "max")
            | through(lenses.canonical, of_vectors),
            "n_resamples": 99 if quick else 299,
            "level": PROMISED,
        }
        compared = {label: model for label, model in models.items() if label.split(", ")[-1] in COMPARED}
        honest: Grid = {**shared, "generators": compared if quick else models, "methods": ["honest"]}
        found += [{**honest, "n": [200] if quick else [200, 2000], "replicates": 10 if quick else 1000}]
        bootstrap: Grid = {**shared, "generators": compared, "methods": ["percentile", "basic"]}
        found += [{**bootstrap, "n": [200], "replicates": 10 if quick else 400}]
    return found


def grids(quick: bool) -> list[Grid]:
    """Return the grids of both promises."""
    return sizes(quick) + coverages(quick)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the tests of one class, of each class and of several classes, the hostile cases and the intervals."""
    lens = table["measure"].str.split("[:,]", regex=True).str[0]
    table = table.iloc[lens.map(LENSES.index).argsort(kind="stable")]  # what a lens shows stands together
    lens = lens.loc[table.index]
    size, coverage = table["question"] == "size", table["question"] == "coverage"
    strange, ten = table["generator"].isin(hostile()), table["generator"].str.startswith("10 ")
    parts = {
        "events": table[size & ~strange & lens.isin(LENSES[:2])],
        "class_wise": table[size & ~strange & lens.isin(LENSES[2:3])],
        "vectors": table[size & ~strange & lens.isin(LENSES[3:])],
        "hostile": table[size & strange],
        "intervals_3_classes": table[coverage & ~ten].sort_values("n", kind="stable"),
        "intervals_10_classes": table[coverage & ten].sort_values("n", kind="stable"),
    }
    for ending in ("intervals_3_classes", "intervals_10_classes"):  # names of measures are titles there
        titles = parts[ending]["measure"].str.replace(": ", ":\n").str.replace("canonical_ce, ", "canonical_ce,\n")
        parts[ending] = parts[ending].assign(measure=titles)
    return {ending: plot(part) for ending, part in parts.items() if len(part)}


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of tests that reject too often, and of honest intervals that miss too often."""
    promised = table[(table["question"] == "size") | (table["method"] == "honest")]
    of_tests = promised["question"] == "size"
    observed = promised["rejections"].where(of_tests, promised["replicates"] - promised["covered"])
    limit = [
        most_rejections(LEVEL if test else 1 - COVERAGE, int(replicates), FALSE_ALARM / len(promised))
        for test, replicates in zip(of_tests, promised["replicates"], strict=True)
    ]
    return promised[observed > limit]


study = Study(
    question="Do labels-only tests and honest intervals keep their guarantees through lenses?",
    seed=20270,
    runtime_hours=0.5,
    grids=grids,
    figures=figures,
    violations=violations,
)
