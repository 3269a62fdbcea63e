"""How often does the model that is chosen break the condition that it was chosen under? How often is a good one found?

The promise of `choose`: with a probability of at most 5 % the chosen model breaks its condition, here that `kernel_ce`
is at most a margin, however many candidates there are. It is asked where that is hardest: every candidate is just above
the margin. Candidates have signals of their own, or are the same, or are wrong in two opposite directions on the same
signal and tie in the Brier score. Among many that break the condition and have better scores there may be one whose
error is a third of the margin: it should be chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study, plot
from calibstat.study.engine import Cells, compute
from calibstat.study.question import rate_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20641
LEVEL = 0.05
ABOVE = 1 + 1e-6  # times the margin: such a model just breaks the condition
WEAK, STRONG = 1.5, 2.0  # distances between the means of the signals of both outcomes
GRID = np.linspace(-6, 6, 2001)
WIDE = 0.05  # a margin at which many candidates can be told apart
KINDS = ("own signals", "one model", "two directions", "one good model")
GOOD = "good"


@cache
def shift(distance: float, error: float, direction: int = 1) -> float:
    """Return the shift of the log-odds of a calibrated model that gives it this `kernel_ce`."""
    from scipy.optimize import brentq

    centre = np.array([[distance / 2], [-distance / 2]])
    density = np.exp(-0.5 * (GRID - centre) ** 2) / 2
    count = density.sum(axis=0)

    def excess(size: float) -> float:
        rows = cs.Sample.from_counts(predicted(GRID, distance, direction * size), count, density[0])
        return float(cs.estimate(rows, measure="kernel_ce")) - error

    return direction * float(brentq(excess, 0, 3, xtol=1e-10))


def predicted(signal: np.ndarray, distance: float, size: float) -> np.ndarray:
    """Return predictions from a signal: its log-odds of the outcome, shifted."""
    return 1 / (1 + np.exp(-(distance * signal + size)))


@dataclass(frozen=True)
class Candidates:
    """Outcomes and the predictions of several models for them."""

    kind: str
    number: int
    margin: float

    @property
    def label(self) -> str:
        """The candidates, in words."""
        return f"{self.kind}, {self.number} candidates, margin {self.margin:g}"

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Draw outcomes, with the predictions of each candidate."""
        _, random = drawing(n, rng)
        y = random.integers(2, size=n)

        def signal(distance: float) -> np.ndarray:
            return random.normal((y - 0.5) * distance)

        bad = shift(WEAK, self.margin * ABOVE)
        if self.kind == "one model":
            p = predicted(signal(WEAK), WEAK, bad)
            return y, {f"{k}": p for k in range(self.number)}
        if self.kind == "two directions":
            z, down = signal(WEAK), shift(WEAK, self.margin * ABOVE, -1)
            return y, {f"{k}": predicted(z, WEAK, down if k % 2 else bad) for k in range(self.number)}
        if self.kind == "own signals":
            return y, {f"{k}": predicted(signal(WEAK), WEAK, bad) for k in range(self.number)}
        wrong = shift(STRONG, self.margin * ABOVE)
        found = {f"{k}": predicted(signal(STRONG), STRONG, wrong) for k in range(self.number - 1)}
        return y, {**found, GOOD: predicted(signal(WEAK), WEAK, shift(WEAK, self.margin / 3))}


@dataclass(frozen=True)
class Asked:
    """Asks for the choice: whether a model was chosen that breaks the condition, and whether the good one was."""

    margin: float

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return two answers, 1 or 0."""
        y, models = data
        name = cs.choose(y, models, subject_to=f"kernel_ce.high <= {self.margin!r}", n_resamples=199, rng=rng).name
        return [name not in (None, GOOD), name == GOOD]


def cases(quick: bool) -> list[tuple[Candidates, int, int]]:
    """Return candidates, numbers of rows, and numbers of data sets."""
    sizes = ((500, 0.08), (5000, 0.03))
    if quick:
        return [(Candidates(kind, 3, 0.08), 500, 10) for kind in KINDS]
    replicates = {2: 2000, 20: 1000, 200: 200}
    found = [
        (Candidates(kind, number, margin), n, replicates[number])
        for kind, number, (n, margin) in product(KINDS, replicates, sizes)
        if kind != "one model" or number == 20
    ]
    return found + [(Candidates(KINDS[-1], number, WIDE), 5000, replicates[number] // 2) for number in replicates]


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Count the choices of each case."""
    import pandas as pd

    return pd.DataFrame([row for case in cases(quick) for row in counted(*case, n_jobs)])


def counted(candidates: Candidates, n: int, replicates: int, n_jobs: int | None) -> list[dict[str, Any]]:
    """Return the rows of one case: how often a model that breaks the condition was chosen, and the good one."""
    label = candidates.label
    cells = Cells([(label, n)], {label: candidates}, replicates, SEED, Asked(candidates.margin), ["broken", GOOD])
    answers = compute(cells, None, n_jobs, f"{label}, {n}").reshape(replicates, 2) == 1
    questions = {"size": answers[:, 0]} | ({"power": answers[:, 1]} if candidates.kind == KINDS[-1] else {})
    return [
        {
            "question": question,
            "generator": label,
            "n": n,
            "measure": "kernel_ce",
            "method": "choose",
            "candidates": candidates.number,
            "margin": candidates.margin,
            "level": LEVEL,
            "replicates": replicates,
            **rate_of("rejections", chosen),
        }
        for question, chosen in questions.items()
    ]


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cases in which a model that breaks the condition is chosen more often than the level allows."""
    broken = table[table["question"] == "size"]
    return more_often(broken, broken["rejections"], LEVEL)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often a model was chosen that breaks the condition, and how often the good one."""
    kind: pd.Series = table["generator"].str.split(", ").str[0] + np.where(
        table["margin"] == WIDE, f", margin {WIDE:g}", ""
    )
    found = table.assign(generator=kind, measure=table["candidates"].astype(str) + " candidates")
    return {name: plot(found[found["question"] == name]) for name in ("size", "power")}


study = Study(
    question="How often does the model that is chosen break its condition?",
    seed=SEED,
    runtime_hours=0.3,
    table=table,
    figures=figures,
    violations=violations,
)
