"""What do estimates and diagrams say of networks for digits? Figures 1, 4 and 15 to 18 of Vaicenavicius et al. 2019.

Three networks, with digits of 8 by 8 pixels in place of CIFAR-10: a narrow one, a wide one that is stopped early, and
the wide one trained to the end. The estimates of their confidence errors over several kinds of bins, and p-values by
them, are drawn again for other halves of the digits. Judged: does the kind of bins change the order of the networks,
and do p-values reverse it (section 4.3)?
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.generators.simulator import drawing
from calibstat.study import Study
from calibstat.study.engine import Cells, compute

from .parts.digits import HELD_OUT, digits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20440
LEVEL = 0.05
NETWORKS = {"narrow": (12, 150), "stopped early": (100, 50), "trained": (100, 150)}  # neurons, passes
BINS: dict[str, dict[str, Any]] = {f"{b} bins": {"n_bins": b} for b in (5, 10, 20, 50)} | {"tree": {"strategy": "tree"}}
GROUPS = [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]


@dataclass(frozen=True)
class Networks:
    """Digits that are held out, and their predictions by each network that was fitted to the others."""

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Hold out n digits, and fit."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.neural_network import MLPClassifier

        n, random = drawing(n, rng)
        pixels, label = digits()
        order, start = random.permutation(label.size), int(random.integers(2**31))
        held_out, rest = order[:n], order[n:]
        predictions = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for name, (neurons, passes) in NETWORKS.items():
                network = MLPClassifier((neurons,), random_state=start, max_iter=passes).fit(pixels[rest], label[rest])
                predictions[name] = network.predict_proba(pixels[held_out])
        return label[held_out], predictions


@dataclass(frozen=True)
class Asks:
    """Asks for the estimate and the p-value of each network over each kind of bins."""

    n_resamples: int

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return both in turn, network by network."""
        label, predictions = data
        tests = [
            cs.calibration_test(label, prob, measure="ece", n_resamples=self.n_resamples, rng=rng, **options)
            for prob in predictions.values()
            for options in BINS.values()
        ]
        return [number for test in tests for number in (test.statistic, test.pvalue)]


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Average the estimates over halves of the digits, and count reversed orders."""
    import pandas as pd

    replicates, n_resamples = (2, 19) if quick else (40, 199)
    names = [f"{network}, {bins}, {what}" for network in NETWORKS for bins in BINS for what in ("ece", "p")]
    cells = Cells([("digits", HELD_OUT)], {"digits": Networks()}, replicates, SEED, Asks(n_resamples), names)
    found = compute(cells, None, n_jobs, "networks").reshape(replicates, len(NETWORKS), len(BINS), 2)
    ece, p = found[..., 0], found[..., 1]
    rows = []
    for b, bins in enumerate(BINS):
        pairs = [(ece[:, [i, j], b], p[:, [i, j], b]) for i, j in combinations(range(len(NETWORKS)), 2)]
        reversed_pairs = np.mean([_is_reversed(*pair).mean() for pair in pairs])
        other_order = (ece[:, :, b].argsort(axis=1) != ece[:, :, -1].argsort(axis=1)).any(axis=1).mean()
        for k, network in enumerate(NETWORKS):
            each = ece[:, k, b]
            error = each.std(ddof=1) / replicates**0.5
            what = {"question": "networks", "generator": network, "n": HELD_OUT, "measure": f"ece, {bins}"}
            rejected = (p[:, k, b] <= LEVEL).mean()
            numbers = {"mean": each.mean(), "mean_se": error, "rejected": rejected, "level": LEVEL}
            orders = {"pairs_reversed_by_p": reversed_pairs, "other_order_than_tree": other_order}
            rows.append({**what, "replicates": replicates, **numbers, **orders})
    return pd.DataFrame(rows)


def _is_reversed(ece: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Whether the one with the smaller estimate is rejected and the other is not."""
    smaller = ece.argmin(axis=1)[:, None]
    low, high = np.take_along_axis(p, smaller, 1), np.take_along_axis(p, 1 - smaller, 1)
    return ((low <= LEVEL) & (high > LEVEL))[:, 0]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw deviation diagrams in equal bins and in bins of a tree, and triangles of three groups of classes."""
    from matplotlib.figure import Figure

    label, predictions = Networks().sample(HELD_OUT, SEED)
    figure, triangles = (Figure(figsize=(12, 8), layout="constrained") for _ in range(2))
    bars: dict[str, Any] = {"band": "pointwise_consistency", "confidence_level": 0.9, "interval": False, "rng": SEED}
    entries: dict[str, Any] = {}
    axes, places = figure.subplots(2, len(NETWORKS)), triangles.subplots(2, len(NETWORKS))
    for k, (name, prob) in enumerate(predictions.items()):
        for ax, strategy in zip(axes[:, k], ("uniform", "tree"), strict=True):
            cs.plot(cs.reliability(label, prob, strategy=strategy, **bars), ax, deviation=True)
            ax.set_title(f"{name}, {'equal bins' if strategy == 'uniform' else 'bins of a tree'}", fontsize="medium")
        for ax, n_bins in zip(places[:, k], (5, 10), strict=True):
            seen = cs.reliability(label, prob, lens=cs.lenses.groups(GROUPS), n_bins=n_bins, band="confidence")
            legend: Any = cs.plot(seen, ax).get_legend()
            entries |= {text.get_text(): mark for mark, text in zip(legend.legend_handles, legend.texts, strict=True)}
            legend.remove()
            ax.set_title(f"{name}, {n_bins**2} triangles", fontsize="medium", pad=14)
    triangles.legend(list(entries.values()), list(entries), loc="outside upper center", ncols=3, frameon=False)
    return {"": figure, "triangles": triangles}


study = Study(
    question="What do estimates and diagrams say of networks for digits?",
    seed=SEED,
    runtime_hours=0.05,
    table=table,
    figures=figures,
)
