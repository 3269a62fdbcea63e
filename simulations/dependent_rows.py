"""How often do intervals of means over clusters miss, if clusters that were not observed are like those observed?

This is what `cluster=` supposes where nothing is said. The rule is searched in the class that is stated for it, with
populations of kinds of clusters, none of which adds more than kinds do that are expected 3.7 times: laws on both sides
and few kinds, at random and by changes of the worst. The worst are asked again with fresh data sets. Cells of normal
sums, of outcomes, O/E and differences of Brier scores are beside them, with Student's t, CR2, a bootstrap of clusters
and what else may be supposed of absent clusters. Then populations outside of the class, in which it fails. Norms,
comparisons by squares and scores with folds are asked through the functions of the package.

Promised are, in the class and for normal sums, misses of at most .025 on each side and .05 in all, up to the exact
binomial limit; and in every data set no miss that Student's interval has not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.generators.distributions import Random
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study
from calibstat.study.stored_rows import Row, stored

from .parts import cells_of_clusters as cells
from .parts import norms_of_clusters as norms
from .parts.kept_means import LEVEL, TAIL, Asked, Kinds, absent, ask, width_of_t
from .parts.kinds_of_clusters import LEAST, MAKERS, worst

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20953
GROUPS = (10, 12, 30, 60, 200, 730)
PROMISED = ("class", "normal sums")
RULE, STUDENT = "observed", "t"
POPULATIONS, KEEP, AGAIN = 3000, 8, 40_000  # for each number of clusters and way to make them
OUTSIDE_POPULATIONS, TOO_RARE = 600, (1.0, 2.0, 3.0)  # expected numbers of the most extreme kind
PREVALENCES, CORRELATIONS = (0.3, 0.05, 0.01), (0.0, 0.1, 0.5, 1.0)
ROWS, RESAMPLES, BOOTSTRAPS = 20, 499, 200
SHRUNK: dict[tuple[int, int], tuple[tuple[float, ...], ...]] = {  # by clusters and rows: of common and rare events
    (12, 1200): ((0.7, 0.5, 0.3), ()),
    (30, 400): ((0.7, 0.5, 0.4, 0.3), (0.7, 0.5, 0.3)),
    (60, 300): ((0.8, 0.7, 0.6, 0.5), (0.8, 0.6, 0.5)),
    (200, 150): ((0.85, 0.8, 0.75), (0.9, 0.8, 0.7)),
    (730, 60): ((0.92, 0.9, 0.88), ()),
}
BRIER_SIZES: dict[str, Callable[[int], np.ndarray]] = {
    "equal": cells.equal,
    "log-normal .5": partial(cells.log_normal, 0.5),
}
DATA_SETS_OF_NORMS, DATA_SETS_OF_FOLDS = 300, 200
Counts = tuple[int, int]


def row(
    question: str, case: str, groups: int, method: str, replicates: int, missed: Counts, **more: float | str
) -> Row:
    """Return a row of the table: in how many data sets the truth lies below the interval, and above it."""
    told: Row = {"question": question, "case": case, "clusters": groups, "n": np.nan, "measure": "mean"}
    told |= {"method": method, "level": LEVEL, "tried": 1, "replicates": replicates}
    told |= {"missed_below": missed[0], "missed_above": missed[1], "rate": sum(missed) / replicates}
    told |= {"found": np.nan, "median_width": np.nan, "median_high": np.nan}
    return told | more


def counted(truth: float, ends: np.ndarray) -> Counts:
    """Return in how many data sets the truth lies below the interval, and above it."""
    return int((truth < ends[:, 0]).sum()), int((truth > ends[:, 1]).sum())


# --- the class, and kinds that are too rare for it -------------------------------------------------------------------


def of_class(groups: int, way: str, random: Random, quick: bool) -> list[Row]:
    """Search populations of the class and ask the worst again."""
    tried, keep, again = (12, 2, 200) if quick else (POPULATIONS, KEEP, AGAIN)
    found, number = worst(random, way, groups, LEAST, tried, looks(groups, quick), keep)
    return [each for kinds in found for each in asked_again("class", way, kinds, groups, number, again, random)]


def of_rare_kinds(groups: int, least: float, random: Random, quick: bool) -> list[Row]:
    """Search populations in which the most extreme kind is expected less often than the class asks for."""
    tried, keep, again = (12, 1, 200) if quick else (OUTSIDE_POPULATIONS, 3, AGAIN)
    found, number = worst(random, "few kinds", groups, least, tried, looks(groups, quick), keep)
    way = f"a kind expected {least:g} times"
    return [each for kinds in found for each in asked_again("outside", way, kinds, groups, number, again, random)]


def looks(groups: int, quick: bool) -> int:
    """Return with how many data sets a population is looked at."""
    return 50 if quick else 1000 if groups <= 60 else 500


def asked_again(
    question: str, way: str, kinds: Kinds, groups: int, tried: int, replicates: int, random: Random
) -> list[Row]:
    """Ask a population again."""
    missed = kinds.misses(random, replicates, groups).tolist()
    told: Any = {"tried": tried}
    pairs = zip((RULE, STUDENT), missed, strict=True)
    return [row(question, f"{way}: {kinds}", groups, name, replicates, tuple(each), **told) for name, each in pairs]


# --- cells ------------------------------------------------------------------------------------------------------------


def of_normal_sums(groups: int, name: str, random: Random, quick: bool) -> list[Row]:
    """Ask sums that are normal, with a standard deviation that is a power of the size."""
    rows = []
    for power in (0.0, 0.5, 1.0)[: 1 if name == "equal" else 3]:
        size = cells.SIZES[name](groups)
        replicates = 200 if quick else AGAIN
        missed, widths = np.zeros((2, 2), int), []
        for sets in cells.chunks(replicates, groups):
            total = random.standard_normal((sets, groups)) * size**power
            found = ask(total, size, with_ends=True)
            missed += [found.counts(0, method) for method in (0, 1)]
            widths.append(np.stack([np.diff(found.ends, axis=1)[:, 0], width_of_t(total, size)]))
        median = np.median(np.concatenate(widths, axis=1), axis=1)
        case = name if name == "equal" else f"{name}, sd by size^{power:g}"
        for method, each, width in zip((RULE, STUDENT), missed.tolist(), median.tolist(), strict=True):
            rows.append(row("normal sums", case, groups, method, replicates, tuple(each), median_width=width))
    return rows


def of_outcomes(groups: int, name: str, random: Random, quick: bool) -> list[Row]:
    """Ask mean outcomes and O/E of clusters."""
    rows = []
    size = cells.whole_rows(cells.SIZES[name](groups), ROWS)
    replicates = 40 if quick else 4000
    for prevalence in PREVALENCES:
        for correlation in CORRELATIONS[: 2 if quick else None]:
            case = f"prevalence {prevalence:g}, correlation {correlation:g}, {name}"
            events = drawn_events(random, np.full(groups, prevalence), correlation, replicates, size)
            told: Any = {"n": int(size.sum())}
            found = of_mean(events, size, prevalence)
            ends = absent(events, size.astype(np.float64), (0.0, 1.0))
            missed = {name: found.counts(0, k) for k, name in enumerate((RULE, STUDENT, "CR2"))}
            missed["clusters"] = counted(prevalence, ends.clip(0, 1))
            rows += [row("outcomes", case, groups, how, replicates, each, **told) for how, each in missed.items()]
            if groups <= 60:
                some = 10 if quick else BOOTSTRAPS
                ends = bootstrap(random, events[:some], size)
                rows.append(row("outcomes", case, groups, "bootstrap", some, counted(prevalence, ends), **told))
            value = cells.predicted(prevalence, groups)
            events = drawn_events(random, value, correlation, replicates, size)
            found = of_ratio(events, size, value)
            for k, how in enumerate((RULE, STUDENT)):
                rows.append(row("outcomes", case, groups, how, replicates, found.counts(0, k), measure="O/E", **told))
    return rows


def drawn_events(random: Random, mean: np.ndarray, correlation: float, replicates: int, size: np.ndarray) -> np.ndarray:
    """Draw events of clusters with these mean risks."""
    risk = cells.risks(random, mean, correlation, (replicates, size.size))
    return random.binomial(size, risk).astype(np.float64)


def of_mean(events: np.ndarray, rows: np.ndarray, truth: float) -> Asked:
    """Ask whether a mean outcome is kept."""
    mean = events.sum(axis=1) / np.broadcast_to(rows, events.shape).sum(axis=1)
    given: Any = {"showing": cells.showing(events, rows), "rooms": np.stack([mean, 1 - mean], axis=1)}
    return ask(events, rows, (truth,), far=np.array([[0.0, 1.0]]), **given)


def of_ratio(events: np.ndarray, rows: np.ndarray, value: np.ndarray) -> Asked:
    """Ask whether O/E of 1 is kept, of clusters with these mean predictions."""
    rate = events.sum(axis=1) / rows.sum()
    given: Any = {"showing": cells.showing(events, rows), "rooms": np.stack([rate, 1 - rate], axis=1)}
    return ask(events, rows * value, (1.0,), rows=rows, far=np.array([[0.0, 1e9]]), **given)


def bootstrap(random: Random, events: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return percentile intervals by resamples of clusters."""
    found = np.empty((len(events), 2))
    for b, own in enumerate(events):
        which = random.integers(rows.size, size=(RESAMPLES, rows.size))
        found[b] = np.quantile(own[which].sum(axis=1) / rows[which].sum(axis=1), [TAIL, 1 - TAIL])
    return found


def of_differences(groups: int, name: str, random: Random, quick: bool) -> list[Row]:
    """Ask differences of Brier scores: misses at the truth, and how often 0 is left out."""
    rows = []
    mean = next(each for of, each in SHRUNK if of == groups)
    for intercept, spread, shrunk in zip((-1.3, -2.5), (0.4, 0.6), SHRUNK[groups, mean], strict=True):
        for s in shrunk[: 1 if quick else None]:
            model = cells.Brier(intercept, spread, 0.4 if groups == 730 else 0.5, s)
            size = cells.whole_rows(BRIER_SIZES[name](groups), 20 if quick else mean)
            rows += of_scores(model, groups, size, name, random, 20 if quick else 2000 if groups <= 60 else 1000)
    return rows


def of_scores(
    model: cells.Brier, groups: int, size: np.ndarray, name: str, random: Random, replicates: int
) -> list[Row]:
    """Ask one pair of models."""
    truth, methods = model.truth, (RULE, STUDENT, "rows", "clusters")
    missed, left_out = np.zeros((4, 2), int), np.zeros(4, int)
    widths: list[np.ndarray] = []
    for sets in cells.chunks(replicates, float(size.sum())):
        total, showing, far = model.draw(random, sets, size)
        middle = total.sum(axis=1) / size.sum()
        rooms = np.stack([middle - far[:, 0], far[:, 1] - middle], axis=1)
        found = ask(total, size, (truth, 0.0), showing=showing, rooms=rooms, far=far, with_ends=True)
        as_floats = size.astype(np.float64)
        other = [absent(total, as_floats, (-1.0, 1.0), hides) for hides in (np.ones(int(size.sum())), None)]
        missed += [found.counts(0, 0), found.counts(0, 1), *(counted(truth, ends) for ends in other)]
        left_out += [sum(each) for each in (found.counts(1, 0), found.counts(1, 1), *(counted(0, e) for e in other))]
        spans = [np.diff(ends, axis=1)[:, 0] for ends in (found.ends, *other)]
        widths.append(np.stack([spans[0], width_of_t(total, as_floats), *spans[1:]]))
    median = np.median(np.concatenate(widths, axis=1), axis=1)
    case = f"{name}, prevalence about {0.25 if model.intercept > -2 else 0.1:g}, slope {model.shrunk:g}"
    told: Any = {"n": int(size.sum()), "measure": "difference of brier"}
    return [
        row("differences", case, groups, method, replicates, tuple(missed[k].tolist()), **told)
        | {"found": int(left_out[k]), "median_width": float(median[k])}
        for k, method in enumerate(methods)
    ]


def of_pools(groups: int, name: str, random: Random, quick: bool) -> list[Row]:
    """Ask mean outcomes of clusters of a pool outside of the class."""
    pool = cells.outside(groups)[name]
    replicates, some = (100, 20) if quick else (20_000, 2000)
    events, rows = pool.draw(random, replicates, groups)
    found = of_mean(events, rows, pool.mean)
    ends = np.concatenate([absent(e[None], r, (0.0, 1.0)) for e, r in zip(events[:some], rows[:some], strict=True)])
    asked = [(RULE, replicates, found.counts(0, 0)), (STUDENT, replicates, found.counts(0, 1))]
    asked += [("clusters", some, counted(pool.mean, ends.clip(0, 1)))]
    told: Any = {"n": int(pool.rows.mean() * groups)}
    return [row("outside", name, groups, *each, **told) for each in asked]


def of_laws(groups: int, name: str, random: Random, quick: bool) -> list[Row]:
    """Ask sums with a smooth skewed law."""
    replicates = 200 if quick else AGAIN
    missed = np.zeros((2, 2), int)
    for sets in cells.chunks(replicates, groups):
        found = ask(cells.LAWS[name](random.random((sets, groups))), np.ones(groups))
        missed += [found.counts(0, method) for method in (0, 1)]
    pairs = zip((RULE, STUDENT), missed.tolist(), strict=True)
    return [row("outside", f"law: {name}", groups, how, replicates, tuple(each)) for how, each in pairs]


# --- by the functions of the package ----------------------------------------------------------------------------------


def of_norms(groups: int, model: str, alike: float, random: Random, quick: bool) -> list[Row]:
    """Ask the intervals of errors."""
    replicates = 5 if quick else DATA_SETS_OF_NORMS
    found = [norms.ends_of_norms(random, model, groups, alike) for _ in range(replicates)]
    rows = []
    for measure, word in found[0]:
        ends = np.array([each[measure, word] for each in found])
        truth = float(norms.MODELS[model].truth(measure))
        missed = counted(truth if truth > 1e-9 else 0.0, ends)
        told: Any = {"n": groups * norms.ROWS_OF[groups], "measure": measure}
        told |= {"median_high": float(np.median(ends[:, 1])), "found": int((ends[:, 0] > 0).sum())}
        rows.append(row("norms", f"{model}, {alike:.0%} alike", groups, word, replicates, missed, **told))
    return rows


def of_squares(groups: int, alike: float, random: Random, quick: bool) -> list[Row]:
    """Ask comparisons by squares at equal errors."""
    replicates = 5 if quick else DATA_SETS_OF_NORMS
    found = [norms.ends_of_squares(random, groups, alike) for _ in range(replicates)]
    told: Any = {"n": groups * norms.ROWS_OF[groups], "measure": "difference of kernel_ce_squared"}
    rows = []
    for word in norms.WORDS:
        ends = np.array([each[word] for each in found])
        width = float(np.median(np.diff(ends, axis=1)))
        missed = counted(0.0, ends)
        case = f"equal errors, {alike:.0%} alike"
        rows.append(row("norms", case, groups, word, replicates, missed, median_width=width, **told))
    return rows


def of_folds(groups: int, repeats: int, random: Random, quick: bool) -> list[Row]:
    """Ask differences of Brier scores out of folds."""
    replicates = 5 if quick else DATA_SETS_OF_FOLDS
    found = [norms.ends_of_folds(random, groups, repeats) for _ in range(replicates)]
    rows = []
    for k, method in enumerate((RULE, STUDENT)):
        beyond = [counted(truth, np.array([ends])) for *both, truth in found for ends in (both[k],)]
        missed = int(sum(each[0] for each in beyond)), int(sum(each[1] for each in beyond))
        ends = np.array([each[k] for each in found])
        told: Any = {"n": groups * norms.ROWS_OF[groups], "measure": "difference of brier"}
        told |= {"median_width": float(np.median(np.diff(ends, axis=1))), "found": sum(counted(0.0, ends))}
        case = "one repeat" if repeats == 1 else f"{repeats} repeats"
        rows.append(row("folds", case, groups, method, replicates, missed, **told))
    return rows


# --- the study --------------------------------------------------------------------------------------------------------

PARTS: dict[str, Callable[..., list[Row]]] = {
    "class": of_class,
    "normal sums": of_normal_sums,
    "outcomes": of_outcomes,
    "differences": of_differences,
    "rare kinds": of_rare_kinds,
    "pools": of_pools,
    "laws": of_laws,
    "norms": of_norms,
    "squares": of_squares,
    "folds": of_folds,
}


def tasks(quick: bool) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the parts of the table, each with its arguments; a few of each if quick."""
    groups = GROUPS[1:4:2] if quick else GROUPS
    of_few = (12,) if quick else tuple(norms.ROWS_OF)
    found: dict[str, list[tuple[Any, ...]]] = {
        "class": [(each, way) for each in groups for way in MAKERS],
        "normal sums": [(each, name) for each in groups for name in cells.SIZES],
        "outcomes": [(each, name) for each in groups for name in cells.SIZES],
        "differences": [(each, name) for each, _ in SHRUNK if each in groups for name in BRIER_SIZES],
        "rare kinds": [(each, least) for each in groups if 10 < each < 730 for least in TOO_RARE],
        "pools": [(each, name) for each in groups for name in cells.outside(each)],
        "laws": [(each, name) for each in groups for name in cells.LAWS],
        "norms": [(each, model, alike) for each in of_few for model in norms.MODELS for alike in norms.ALIKE],
        "squares": [(each, alike) for each in of_few for alike in norms.ALIKE],
        "folds": [(each, repeats) for each in ((60,) if quick else (60, 200)) for repeats in (1, 3)],
    }
    return [(part, each) for part, listed in found.items() for each in listed]


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Ask all parts; those that the store has are not asked again."""
    import pandas as pd
    from joblib import Parallel, delayed

    found = Parallel(n_jobs=n_jobs)(
        delayed(stored)(store, ("dependent_rows", part, each, quick, SEED), partial(rows_of, part, each, quick))
        for part, each in tasks(quick)
    )
    return pd.DataFrame([row for rows in found for row in rows])


def rows_of(part: str, arguments: tuple[Any, ...], quick: bool) -> list[Row]:
    """Return the rows of a part, whose draws are its own."""
    every = [each for each in tasks(quick) if each[0] == part]
    key = [SEED, list(PARTS).index(part), every.index((part, arguments)), quick]
    return PARTS[part](*arguments, drawing(1, np.random.SeedSequence(key))[1], quick)


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return where the rule misses more often than is promised, or more often than Student's interval."""
    import pandas as pd

    promised = table[table["question"].isin(PROMISED) & (table["method"] == RULE)]
    parts = [more_often(promised, promised[side], TAIL) for side in ("missed_below", "missed_above")]
    parts.append(more_often(promised, promised["missed_below"] + promised["missed_above"], 1 - LEVEL))
    place = ["question", "case", "clusters", "measure", "again"]
    beside = table[table["question"] != "folds"]  # Student's is there of rows taken as if there were no folds
    beside = beside.assign(again=beside.groupby([*place[:-1], "method"]).cumcount())  # cases of the same words
    both = beside[beside["method"] == RULE].merge(beside[beside["method"] == STUDENT], on=place, suffixes=("", "_of_t"))
    worse = (both["missed_below"] > both["missed_below_of_t"]) | (both["missed_above"] > both["missed_above_of_t"])
    parts.append(both.loc[worse, table.columns])
    return pd.concat(parts).drop_duplicates()


def power_lost(table: pd.DataFrame) -> pd.DataFrame:
    """Return the largest loss of power beside Student's t over pairs of models, by clusters and sizes."""
    rows = table[table["question"] == "differences"].copy()
    rows["power"] = rows["found"] / rows["replicates"]
    rows["sizes"] = rows["case"].str.partition(",")[0]
    wide = rows.pivot(index=["sizes", "clusters", "case"], columns="method", values="power")
    lost = wide.rsub(wide[STUDENT], axis=0)
    return lost.groupby(level=["sizes", "clusters"]).max()


def width_over_t(table: pd.DataFrame) -> pd.DataFrame:
    """Return the median widths of normal sums over Student's, by case and clusters."""
    rows = table[table["question"] == "normal sums"]
    wide = rows.pivot(index=["case", "clusters"], columns="method", values="median_width")
    return (wide[RULE] / wide[STUDENT]).unstack()


def worst_side(table: pd.DataFrame) -> pd.Series:
    """Return the larger share of misses on one side of each row."""
    return table[["missed_below", "missed_above"]].max(axis=1) / table["replicates"]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the worst misses of a side by clusters, in the class and outside, and what it costs beside Student's t."""
    return {"misses": figure_of_misses(table), "costs": figure_of_costs(table)}


def figure_of_misses(table: pd.DataFrame) -> Figure:
    """Draw the worst side of rule and Student's t, by the number of clusters."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    hue = list(colors().values())
    laws = table["case"].str.startswith("law: ")
    shown = {
        "in the class: worst found": table["question"] == "class",
        "smooth skewed laws": laws,
        "outside of the class: worst found": (table["question"] == "outside") & ~laws,
    }
    figure = Figure(figsize=(5.6, 7.2), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    for ax, (title, which) in zip(axes, shown.items(), strict=True):
        for k, (method, label) in enumerate(((RULE, "unseen clusters like those observed"), (STUDENT, "Student's t"))):
            rows = table[which & (table["method"] == method)]
            side = worst_side(rows).groupby(rows["clusters"]).max()
            place = [GROUPS.index(each) for each in side.index]
            ax.plot(place, 100 * side, "os"[k] + "-", color=hue[k], label=label)
        ax.axhline(100 * TAIL, color="black", ls="--", lw=1, label="nominal")
        ax.set_ylim(0, None)
        ax.set_title(title, fontsize="medium")
    axes[-1].set_xticks(range(len(GROUPS)), [str(each) for each in GROUPS])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=1, frameon=False)
    figure.supylabel("misses on the worse side, %", fontsize="medium")
    figure.supxlabel("clusters", fontsize="medium")
    return figure


def figure_of_costs(table: pd.DataFrame) -> Figure:
    """Draw widths over Student's, and the power that is lost beside it, by the number of clusters."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    hue = list(colors().values())
    figure = Figure(figsize=(5.6, 6.8), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    styles = {"0": ":", "0.5": "--", "1": "-"}
    for case, widths in width_over_t(table).iterrows():
        name, _, power = str(case).partition(", sd by size^")
        place = [GROUPS.index(each) for each in widths.index]
        k = list(cells.SIZES).index(name)
        above.plot(place, widths, "o", ls=styles[power or "1"], ms=4, color=hue[k])
    for k, name in enumerate(cells.SIZES):
        above.plot([], [], "o-", color=hue[k], label=f"sizes {name}")
    for power, style in styles.items():
        above.plot([], [], ls=style, color="black", label=f"sd of a cluster by size^{power}")
    above.set_yscale("log")
    above.set_yticks([1, 1.2, 1.5, 2, 3, 4], ["1", "1.2", "1.5", "2", "3", "4"])
    above.minorticks_off()
    above.set_title("normal sums: median width over Student's", fontsize="medium")
    figure.legend(loc="outside upper center", frameon=False, ncols=2, handles=above.get_legend_handles_labels()[0])
    lost = power_lost(table)[RULE].unstack("sizes")
    for k, sizes in enumerate(lost):
        place = [GROUPS.index(each) for each in lost.index]
        below.plot(place, 100 * lost[sizes], "os"[k] + "-", color=hue[k], label=f"sizes {sizes}")
    below.set_ylim(0, None)
    below.set_title("differences of Brier scores: most power lost, points", fontsize="medium")
    below.legend(frameon=False)
    below.set_xticks(range(len(GROUPS)), [str(each) for each in GROUPS])
    below.set_xlabel("clusters")
    return figure


study = Study(
    question="How often do intervals of means over clusters miss, if unseen clusters are like those observed?",
    seed=SEED,
    runtime_hours=0.2,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
