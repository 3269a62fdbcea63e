"""A seeded search for cases in which an interval misses too often: random cases, small changes of the worst, reruns.

The numbers depend on the seed and the recipe alone.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat import MEASURES, compare, confidence_interval
from calibstat.generators.simulator import drawing
from calibstat.measures.kinds.base import MulticlassMeasure
from calibstat.measures.kinds.registry import binary_measures, find_measure, measures_by_rows
from calibstat.papers.parts.promises import PROMISED

from .cases import Case
from .kinds_of_cases import GROUPED, KINDS

ROUNDING = 1e-12  # a truth of 0 may come out as 1e-17
NO_DIFFERENCE = 1e-9  # of two measures that are equal
MORE_ON_ONE_SIDE = 1.4  # times half of the nominal probability: .035 at 95 %
SUSPECT = 1.1, 1.2  # a rerun goes on while it misses more often than these multiples of the nominal probability,
BEYOND_DOUBT = 10  # until that is so many standard errors
LEVELS = 0.8, 0.9, 0.99  # beside 95 %
SLOWEST = ("smooth_ece", "skce", "gce")  # not asked at other levels, or of several classes
MOST_ASKED = ("ece", "ks", "kernel_ce", "brier")  # also asked of clusters at other levels, and of two samples
Options = tuple[tuple[str, Any], ...]
Row = dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """An interval: a kind of data, a measure with its options, and the level of confidence."""

    kind: str
    name: str
    options: Options = ()
    level: float = PROMISED
    method: str = "honest"

    @property
    def label(self) -> str:
        """The measure with its options."""
        return ", ".join([self.name, *(f"{option} {value}" for option, value in self.options)])

    @property
    def measure_options(self) -> dict[str, Any]:
        """The options of the measure and of the verb."""
        return dict(self.options)

    @property
    def unbounded(self) -> bool:
        """Whether the measure may be infinite, so that a row never seen may have any loss."""
        return not np.isfinite(MEASURES[self.name].info.bounds[1])

    def answer(self, data: Any, n_resamples: int, rng: int) -> tuple[float, float, float]:
        """Return the ends and, of a comparison, the p-value; nan where the verb refuses the data."""
        arguments, more = data
        given: dict[str, Any] = {"confidence_level": self.level, "n_resamples": n_resamples, "rng": rng}
        given |= {"measure": self.name, **self.measure_options, **more}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there are few events or clusters, which is what is asked about
            try:
                if KINDS[self.kind].compares:
                    found: Any = compare(*arguments, **given)
                    # beside the interval of an error that has squares, p is that of the squares
                    own = found.errors is None or self.name not in measures_by_rows()
                    return found.low.item(), found.high.item(), found.pvalue.item() if own else np.nan
                found = confidence_interval(*arguments, method=self.method, **given)
                return found.low, found.high, np.nan
            except ValueError:
                return np.nan, np.nan, np.nan

    @property
    def is_offered(self) -> bool:
        """Whether there is such an interval, and the true value is known."""
        case = KINDS[self.kind].trial()
        data = next(case.draws(drawing(1, 1)[1], 1))
        try:
            case.truth(self.name, self.measure_options, data)
        except (NotImplementedError, ValueError):
            return False
        return not np.isnan(self.answer(data, 19, 1)[0])


@dataclass(frozen=True)
class Effort:
    """How many cases are tried and how long.

    `populations` random cases with `look` data sets each; `rounds` times the worst `parents` with `children` changes of
    each; the `worst` of all again, with `fresh` data sets and, those which still miss too often, up to `most`.
    """

    populations: int
    look: int
    rounds: int
    parents: int
    children: int
    worst: int
    fresh: int
    most: int
    n_resamples: int

    def share(self, part: float) -> Effort:
        """Return a part of this effort, with not too few cases to rerun, and not too few to choose them from."""
        least = min(part, 1.0)
        worst = max(min(self.worst, 6), round(self.worst * min(5 * part, 1)))
        fresh = max(min(self.fresh, 100), round(self.fresh * least))
        return replace(
            self,
            populations=max(2 * worst, round(self.populations * part)),
            look=max(min(self.look, 20), round(self.look * least)),
            parents=max(4, round(self.parents * part)),
            worst=worst,
            fresh=fresh,
            most=max(fresh, round(self.most * min(2.5 * least**2, least))),
        )


def asked_measures() -> Iterator[tuple[str, Options]]:
    """Yield every binary measure with its defaults, and the cells that `ece` may have."""
    for name in binary_measures():
        yield name, ()
    for options in (("strategy", "quantile"), ("n_bins", 2), ("n_bins", 5), ("n_bins", 50), ("norm", "l2")):
        yield "ece", (options,)
    yield "ece", (("norm", "max"),)


def recipes(measures: list[str] | None = None) -> list[Recipe]:
    """Return every interval that is offered and whose true value is known, of these measures or of all."""
    asked = [(name, options) for name, options in asked_measures() if measures is None or name in measures]
    honest = [(name, options) for name, options in asked if find_measure(name, dict(options)).has_form]
    plain = [(name, options) for name, options in honest if not options]
    found = [Recipe("Rows", name, options) for name, options in honest]
    if measures is None or "l1" in measures:
        found.append(Recipe("RisingRows", "l1", (("shape", "nondecreasing"),)))
    fast = [name for name, _ in plain if name not in SLOWEST]
    few = fast if measures is not None else [name for name in fast if name in MOST_ASKED]
    found += [Recipe("Rows", name, level=level) for name in fast for level in LEVELS]
    found += [Recipe("Clusters", name) for name in fast]
    found += [Recipe("Clusters", name, level=level) for name in few for level in LEVELS]
    found += [Recipe("Pair", name) for name in fast]
    found += [Recipe(kind, name) for kind in ("Samples", "PairInClusters") for name in few]
    of_classes: list[tuple[str, Options]] = []
    for name, _ in plain:
        of_classes += [(name, (("lens", f"class_wise_{how}"),)) for how in ("mean", "max")]
        of_classes += [(name, (("lens", "canonical"),))]
    for name, measure in MEASURES.items():
        wanted = name not in SLOWEST if measures is None else name in measures
        if issubclass(measure, MulticlassMeasure) and wanted:
            bins = (("strategy", "uniform"), ("n_bins", 3)) if "strategy" in measure.defaults() else ()
            of_classes += [(name, bins)]
    found += [Recipe(kind, *each) for kind in ("Classes", "PairOfClasses") for each in of_classes]
    grouped = [each for each in of_classes if each[0] in (*few, "canonical_ce")]
    found += [Recipe(kind.__name__, *each) for kind in GROUPED for each in grouped]
    return [recipe for recipe in found if recipe.is_offered]


@dataclass
class Counts:
    """What was observed in the data sets of a case."""

    case: Case
    asked: int = 0
    refused: int = 0
    below: int = 0
    above: int = 0
    rejections: int = 0
    disagreements: int = 0
    width: float = 0.0
    truth: float = 0.0

    def add(self, recipe: Recipe, count: int, n_resamples: int, key: list[int]) -> Counts:
        """Ask about more data sets."""
        _, random = drawing(count, np.random.SeedSequence(key))
        alpha = 1 - recipe.level
        for data in self.case.draws(random, count):
            low, high, pvalue = recipe.answer(data, n_resamples, int(random.integers(2**31)))
            truth = self.case.truth(recipe.name, recipe.measure_options, data)
            self.asked += 1
            self.truth += truth
            if np.isnan(low) or np.isnan(high):
                self.refused += 1
                continue
            self.below += truth < low - ROUNDING
            self.above += truth > high + ROUNDING
            rejects = pvalue <= alpha + ROUNDING
            self.rejections += rejects
            self.disagreements += bool(not np.isnan(pvalue) and rejects != (low > ROUNDING or high < -ROUNDING))
            self.width += high - low
        return self

    def excess(self, recipe: Recipe) -> float:
        """Return by how many standard errors misses, on one side or on both, are above their nominal number."""
        alpha = 1 - recipe.level
        pairs = ((self.below, alpha / 2), (self.above, alpha / 2), (self.below + self.above, alpha))
        return max((seen - self.asked * p) / np.sqrt(self.asked * p * (1 - p)) for seen, p in pairs)

    def is_open(self, recipe: Recipe) -> bool:
        """Whether there are so many misses that more data sets are needed, and not so many that no more are."""
        both, one = ((1 - recipe.level) * part for part in (SUSPECT[0], SUSPECT[1] / 2))
        suspect = self.below + self.above > both * self.asked or max(self.below, self.above) > one * self.asked
        return suspect and self.excess(recipe) < BEYOND_DOUBT

    def row(self, recipe: Recipe, looked: Counts) -> Row:
        """Return the counts as a row of the table."""
        answered = self.asked - self.refused
        return {
            "question": "worst_case",
            "kind": recipe.kind,
            "measure": recipe.label,
            "level": recipe.level,
            "n": self.case.n,
            "replicates": self.asked,
            "refused": self.refused,
            "covered": self.asked - self.below - self.above,
            **figures_of("", 1 - (self.below + self.above) / self.asked, self.below + self.above, self.asked),
            "missed_below": self.below,
            "missed_above": self.above,
            **figures_of("below_", self.below / self.asked, self.below, self.asked),
            **figures_of("above_", self.above / self.asked, self.above, self.asked),
            "rejections": self.rejections if KINDS[recipe.kind].compares else np.nan,
            "disagreements": self.disagreements if KINDS[recipe.kind].compares else np.nan,
            "truth": self.truth / self.asked,
            "mean_width": self.width / answered if answered else np.nan,
            "looked_covered": 1 - (looked.below + looked.above) / looked.asked,
            "case": self.case.text,
        }


def figures_of(prefix: str, rate: float, misses: int, asked: int) -> Row:
    """Return a rate of coverage (no prefix) or of misses, with its exact 95 % limits."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = (float(end) for end in proportion_confint(misses, asked, method="beta"))
    low, high = (low, high) if prefix else (1 - high, 1 - low)
    return {f"{prefix}rate": rate, f"{prefix}low": low, f"{prefix}high": high}


def search(recipe: Recipe, effort: Effort, seed: int) -> list[Row]:
    """Return the worst cases that were found, with what fresh data sets say of them."""
    digest = hashlib.blake2b(repr(recipe).encode(), digest_size=8).digest()
    keys = Keys([seed, int.from_bytes(digest, "little")])
    _, random = drawing(effort.populations, np.random.SeedSequence(keys.next()))
    kind, n_resamples = KINDS[recipe.kind], effort.n_resamples

    def look(case: Case) -> Counts:
        return Counts(case).add(recipe, effort.look, n_resamples, keys.next())

    tried = [look(kind.random(random, recipe.unbounded)) for _ in range(effort.populations)]
    for _ in range(effort.rounds):
        parents = worst_of(tried, recipe, effort.parents)
        tried += [look(each.case.moved(random)) for each in parents for _ in range(effort.children)]
    rows = []
    for looked in worst_of(tried, recipe, effort.worst):
        found = Counts(looked.case).add(recipe, effort.fresh, n_resamples, keys.next())
        while found.asked < effort.most and found.is_open(recipe):
            found.add(recipe, min(found.asked, effort.most - found.asked), n_resamples, keys.next())
        rows.append(found.row(recipe, looked))
    return rows


def worst_of(tried: list[Counts], recipe: Recipe, number: int) -> list[Counts]:
    """Return the counts of the cases that miss most often."""
    return sorted(tried, key=lambda counts: -counts.excess(recipe))[:number]


@dataclass
class Keys:
    """Keys of random streams, none of which occurs twice."""

    start: list[int]
    used: int = 0

    def next(self) -> list[int]:
        """Return a key that was not used."""
        self.used += 1
        return [*self.start, self.used]
