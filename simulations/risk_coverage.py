"""How often does the interval of the area under risk and coverage miss, and how often is a shown threshold wrong?

`risk_coverage` promises that each end of the interval of the area misses in about 2.5 % of data sets, and that the
threshold that it shows has a larger error than was asked for in at most 5 %: given the predictions whatever the
probabilities (a theorem), and in the population if its error rises above the one asked for only once (a theorem) or
more often (not proven). So random populations are searched whose error goes up and down about the one asked for, with
equal confidences, and most of all among the few first answers. The worst of them are asked again with other data sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.promises import more_often
from calibstat.plots.studies.estimates import panels
from calibstat.study import Study

from .parts.other_thresholds import RULES, area_ends
from .parts.populations_by_confidence import Answers, answers, changed, random_answers

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20977
MISS = 0.05
ROUNDING = 1e-9
ROWS = (50, 200, 1000, 5000)
ASKED = (0.05, 0.1, 0.2)
WORST = 8  # populations of the search that are asked again
MORE = 1.2  # times the nominal share of misses of an end
SHAPES: Mapping[str, Answers] = {
    **{f"alike, {e}": answers((1, e, e)) for e in (0.01, 0.05, 0.2, 0.5)},
    **{f"rising to {e}": answers((1, 0, e)) for e in (0.02, 0.1, 0.4, 1.0)},
    **{f"perfect order, {e}": answers((1 - e, 0, 0), (e, 1, 1)) for e in (0.05, 0.2, 0.5)},
    **{f"most confident wrong, {e}": answers((e, 1, 1), (1 - e, 0, 0)) for e in (0.01, 0.05, 0.2, 0.5)},
    "four levels": answers(*((0.25, e, e, True) for e in (0.01, 0.05, 0.15, 0.4))),
    "half equal": answers((0.5, 0.02, 0.02, True), (0.5, 0.05, 0.4)),
}
TO_FIND: Mapping[str, Any] = {  # for each error that is asked for
    "a fifth of it everywhere": lambda most: answers((1, most / 5, most / 5)),
    "half of it everywhere": lambda most: answers((1, most / 2, most / 2)),
    "rising to 0.4": lambda most: answers((1, 0, 0.4)),
    "a third of it, then rising": lambda most: answers((0.4, most / 3, most / 3), (0.6, most / 3, 0.5)),
    "a quarter of it, then 0.4": lambda most: answers((0.3, most / 4, most / 4), (0.7, 0.4, 0.4)),
}

EDGE: Mapping[str, Any] = {  # for an error just above the one that is asked for
    "alike": lambda above: answers((1, above, above)),
    "alike, in eight equal levels": lambda above: answers(*((0.125, above, above, True) for _ in range(8))),
    "alike, then rising": lambda above: answers(
        (0.5, above / 2, above / 2), (0.25, 2 * above, 2 * above), (0.25, 1, 1)
    ),
    "none, then too many": lambda above: answers((0.5, 0, 0), (0.5, 2 * above, 2 * above, True)),
    "wrong, then none, then all": lambda above: answers((0.02, 2 * above, 2 * above), (0.48, 0, 0), (0.5, 1, 1)),
}


def _seeds(of: str, count: int) -> list[np.random.SeedSequence]:
    return np.random.SeedSequence([SEED, *of.encode()]).spawn(count)


def areas_of(name: str, n: int, replicates: int, resamples: int) -> list[dict[str, Any]]:
    """Return how often each end of each interval of the area misses, and the mean widths."""
    population = SHAPES[name]
    found: dict[str, list[tuple[float, float]]] = {}
    is_tied = any(piece.tied for piece in population.pieces)
    for seed in _seeds(f"area {name} {n}", replicates):
        random = drawing(n, seed)[1]
        confidence, wrong, _ = population.draw(random, n)
        curve = cs.risk_coverage(1 - wrong, confidence, decide_at=0)
        ends = {"calibstat": (curve.low, curve.high)}
        if not is_tied:
            ends |= area_ends(wrong[np.argsort(-confidence)], random, resamples)
        for method, pair in ends.items():
            found.setdefault(method, []).append(pair)
    return [_missed(pairs, population, name, n) | {"method": method} for method, pairs in found.items()]


def _missed(pairs: Sequence[tuple[float, float]], population: Answers, name: str, n: int) -> dict[str, Any]:
    low, high = np.array(pairs).T
    truth = population.area
    facts = {"question": "area", "generator": name, "n": n, "replicates": len(pairs), "truth": truth}
    facts |= {"missed_below": int((high < truth - ROUNDING).sum()), "missed_above": int((low > truth + ROUNDING).sum())}
    return facts | {"mean_width": float(np.mean(high - low))}


def thresholds_of(name: str, population: Answers, n: int, most: float, replicates: int) -> dict[str, Any]:
    """Return how often a threshold is wrong in the population and given the predictions, and how often the area is."""
    pairs, broken, given, share = [], 0, 0, []
    for seed in _seeds(f"threshold {name} {n} {most}", replicates):
        confidence, wrong, chance = population.draw(drawing(n, seed)[1], n)
        curve = cs.risk_coverage(1 - wrong, confidence, decide_at=0, max_error=most)
        pairs.append((curve.low, curve.high))
        share.append(curve.answered or 0.0)
        if curve.threshold is not None:
            broken += float(population.error(np.array(1 - curve.threshold))) > most + ROUNDING
            given += chance[confidence >= curve.threshold].mean() > most + ROUNDING
    facts = _missed(pairs, population, name, n) | {"method": "calibstat", "max_error": most, "level": MISS}
    facts |= {"broken": int(broken), "broken_given": int(given), "answered": float(np.mean(share))}
    return facts | {"none": float(np.mean(np.array(share) == 0)), "possible": population.largest_share(most)}


def found_by(rule: str, name: str, n: int, most: float, replicates: int) -> dict[str, Any]:
    """Return how often another rule breaks what was asked for, and how much it answers."""
    population, broken, given, share = TO_FIND[name](most), 0, 0, []
    rows = np.arange(1, n + 1)
    for seed in _seeds(f"threshold {name} {n} {most}", replicates):
        confidence, wrong, chance = population.draw(drawing(n, seed)[1], n)
        order = np.argsort(-confidence)
        place = RULES[rule](np.cumsum(wrong[order]), rows, most)
        share.append((place + 1) / n)
        if place >= 0:
            broken += float(population.error(np.array(1 - confidence[order[place]]))) > most + ROUNDING
            given += chance[order[: place + 1]].mean() > most + ROUNDING
    facts = {"question": "thresholds", "generator": name, "n": n, "method": rule, "max_error": most, "level": MISS}
    facts |= {"replicates": replicates, "broken": int(broken), "broken_given": int(given)}
    facts |= {"answered": float(np.mean(share)), "none": float(np.mean(np.array(share) == 0))}
    return facts | {"possible": population.largest_share(most)}


def searched(tried: int, replicates: int, again: int) -> Iterator[dict[str, Any]]:
    """Yield the worst of random populations and of ones like these, by thresholds and by ends, with other data sets."""
    found = []
    for k, seed in enumerate(_seeds("search", tried)):
        random = drawing(1, seed)[1]
        n, most = int(random.choice([40, 100, 300, 1000])), float(random.choice([0.02, 0.05, 0.1, 0.3, 0.6]))
        population = random_answers(random, n, most)
        found.append((thresholds_of(f"random {k}", population, n, most, replicates), population))
    by = ("broken", "broken_given", "missed_below", "missed_above")
    for name in by:
        for k, (facts, population) in enumerate(_worst(found, name)):
            for m, seed in enumerate(_seeds(f"changed {name} {k}", tried // 100)):
                other, label = changed(population, drawing(1, seed)[1]), f"{facts['generator']}, {name}, {m}"
                found.append((thresholds_of(label, other, facts["n"], facts["max_error"], replicates), other))
    largest = {name: max(facts[name] for facts, _ in found) for name in by}
    facts = {"question": "search", "generator": "all", "method": "calibstat", "replicates": replicates}
    yield facts | {"tried": len(found)} | largest
    for name in by:
        for facts, population in _worst(found, name):
            label = f"{facts['generator']}: worst by {name}"
            yield thresholds_of(label, population, facts["n"], facts["max_error"], again) | {"question": "worst"}


def _worst(found: list[tuple[dict[str, Any], Answers]], name: str) -> list[tuple[dict[str, Any], Answers]]:
    return sorted(found, key=lambda each: -each[0][name])[:WORST]


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Ask for areas, for thresholds beside those of other rules, and search for the worst."""
    import pandas as pd
    from joblib import Parallel, delayed

    rows, replicates = (ROWS[:1], 20) if quick else (ROWS, 2000)
    jobs = [
        partial(areas_of, name, n, replicates if n < 1000 else replicates // 2, 100 if n < 1000 else 0)
        for name in SHAPES
        for n in rows
    ]
    asked = [(name, n, most) for name in TO_FIND for n in (100, *rows[2:]) for most in ASKED]
    jobs += [partial(_beside, *each, 5 if quick else 500) for each in asked]
    edge = [(n, most, parts) for n in rows for most in ASKED for parts in EDGE]
    jobs += [partial(_at_edge, *each, replicates if each[0] < 5000 else replicates // 2) for each in edge]
    jobs += [partial(_all_searched, *((20, 5, 10) if quick else (1500, 100, 2000)))]
    parts = Parallel(n_jobs=n_jobs)(delayed(job)() for job in jobs)
    return pd.DataFrame([row for part in parts for row in part])


def _beside(name: str, n: int, most: float, replicates: int) -> list[dict[str, Any]]:
    ours = thresholds_of(name, TO_FIND[name](most), n, most, replicates) | {"question": "thresholds"}
    return [ours, *(found_by(rule, name, n, most, replicates) for rule in RULES)]


def _at_edge(n: int, most: float, parts: str, replicates: int) -> list[dict[str, Any]]:
    return [thresholds_of(parts, EDGE[parts](most * (1 + 1e-6)), n, most, replicates) | {"question": "edge"}]


def _all_searched(tried: int, replicates: int, again: int) -> list[dict[str, Any]]:
    return list(searched(tried, replicates, again))


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells in which calibstat shows thresholds that are wrong, or its interval misses, too often."""
    import pandas as pd

    ours = table[(table["method"] == "calibstat") & (table["question"] != "search")]
    shown, with_area = ours[ours["broken"].notna()], ours[ours["missed_below"].notna()]
    rows = 2 * (len(shown) + len(with_area))
    parts = [more_often(shown, shown[name], MISS, rows) for name in ("broken", "broken_given")]
    parts += [
        more_often(with_area, with_area[name], MORE * MISS / 2, rows) for name in ("missed_below", "missed_above")
    ]
    return pd.concat(parts).drop_duplicates()


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the misses of the ends of areas, and broken thresholds over what is answered, by method."""
    import seaborn as sns

    from calibstat.plots.style import PALETTE

    with sns.axes_style("whitegrid"):
        figure, grid = panels(1, 2, 5, 4.4)
    misses, rules = grid[0]
    areas = table[table["question"] == "area"]
    methods = ["calibstat", "gamma", "normal", "bootstrap"]
    for color, (k, method) in zip(PALETTE, enumerate(methods), strict=False):
        rows = areas[areas["method"] == method]
        for name, marker in (("missed_above", "v"), ("missed_below", "^")):
            x = rows["n"] * 1.1 ** (k - 1.5)
            misses.plot(x, rows[name] / rows["replicates"], marker, color=color, ms=4, alpha=0.7)
        misses.plot([], [], "s", color=color, label=method)
    misses.axhline(MISS / 2, color="black", lw=1)
    misses.set(xscale="log", xlabel="number of rows", ylabel="share of data sets whose area is missed")
    misses.set_yscale("symlog", linthresh=0.05)
    misses.set_ylim(-0.003, 1)
    misses.set_yticks([0, 0.01, 0.025, 0.05, 0.1, 0.5], ["0", ".01", ".025", ".05", ".1", ".5"])
    misses.set_title("▼ low end too high, ▲ high end too low", fontsize="small")
    misses.legend(fontsize="small", loc="upper right")
    found = table[table["question"] == "thresholds"]
    for color, method in zip(PALETTE, ["calibstat", *RULES], strict=False):
        rows = found[found["method"] == method]
        part = (rows["answered"] / rows["possible"]).groupby(rows["n"]).mean()
        rules.plot(part.index, part, "o-", color=color, label=_with_worst(method, rows))
    rules.set(xscale="log", xlabel="number of rows", ylabel="share of what could be answered, mean", ylim=(0, None))
    rules.legend(fontsize="small", title="and most often wrong", loc="best")
    return {"": figure}


def _with_worst(method: str, rows: pd.DataFrame) -> str:
    return f"{method}: {100 * (rows['broken'] / rows['replicates']).max():.0f} %"


study = Study(
    question="How often does the interval of the area under risk and coverage miss, and is a shown threshold wrong?",
    seed=SEED,
    runtime_hours=0.15,
    table=table,
    figures=figures,
    violations=violations,
)
