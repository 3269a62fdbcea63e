"""What the documentation takes from the code: a page for each measure, tables of study results, lists.

Pages of measures are made from the registry, and a line ``<!-- name -->`` in a page is replaced by what `MARKERS`
makes of it, so that nothing is written down twice. `made_pages` gives both to Sphinx.
"""

from __future__ import annotations

import inspect
import re
from functools import partial
from pathlib import Path
from typing import Any

from markdown_parts import linked, rows_of
from measure_advice import ADVICE
from result_sections import results_table
from study_pages import studies_table, studies_toctree

import calibstat as cs

PROJECT = Path(__file__).parents[2]
SIMULATIONS = PROJECT / "simulations"
RESULTS = SIMULATIONS / "results"
CLAIMS = {
    "complete": "zero in the population if the model is calibrated",
    "sound": "zero in the population only if the model is calibrated",
    "continuous": "a small change of the predictions changes it little",
    "symmetric": "unchanged when outcomes and predictions are both reversed",
}
MULTICLASS = {"symmetric": "unchanged when the classes are put in another order, but for ties"}
KINDS = {
    "Rows": "rows",
    "RisingRows": "rows, nondecreasing curve",
    "Clusters": "clusters",
    "Classes": "several classes",
    "Pair": "two models, same rows",
    "Samples": "two samples",
    "PairInClusters": "two models, clusters",
    "PairOfClasses": "two models, several classes",
    "WeightedClasses": "several classes, weights",
    "ClassesInClusters": "several classes, clusters",
    "PairOfClassesInClusters": "two models, several classes, clusters",
}
PENDING = "*No results are stored yet: run `calibstat study {study}` to make them.*"


def is_multiclass(entry: type[cs.Measure]) -> bool:
    """Whether a measure is for multiclass data."""
    return issubclass(entry, cs.measures.MulticlassMeasure)


def measure_page(name: str) -> str:
    """Write the page of one measure from its entry in the registry; a user-defined one may leave out what it knows."""
    entry = cs.MEASURES[name]
    info, (low, high) = entry.info, entry.info.bounds
    options = [[f"`{option}`", f"`{default!r}`"] for option, default in entry.defaults().items()]
    meanings = CLAIMS | (MULTICLASS if is_multiclass(entry) else {})
    claims = [[claim, "yes" if getattr(info, claim) else "no", meaning] for claim, meaning in meanings.items()]
    others = "`percentile`, `basic` and `bca` run too, for comparison; see [intervals](../guide/intervals.md)"
    why = f": {info.no_interval}" if info.no_interval else ""
    known = "`honest` with the default options." if entry().has_form else f"No honest interval is known{why}."
    kind = "multiclass" if is_multiclass(entry) else "binary"
    made = f", or `cs.measures.{entry.__name__}()`" if vars(cs.measures).get(entry.__name__) is entry else ""
    upper = "∞" if high == float("inf") else f"{high:g}"
    parts = [
        f"# {info.title}",
        f"`measure={name!r}`{made}, for {kind} data",
        *advice(name),
        *([f"$$\n{info.formula}\n$$"] if info.formula else []),
        inspect.getdoc(entry) or "It has no description.",
        "## Options and defaults",
        rows_of(["option", "default"], options) if options else "It has none.",
        "## Range",
        f"From {low:g} to {upper}. "
        + ("Large values are evidence against calibration." if info.tail == "greater" else "The test is two-sided.")
        + (" It takes long, so that it draws 99 times unless asked otherwise." if info.resamples < 999 else ""),
        "## Claims",
        "The test suite checks each of these.",
        rows_of(["claim", "holds", "meaning"], claims),
        "## Confidence intervals",
        known if info.for_tests_only else f"{known} {others}.",
        *(["## Reference", linked(info.reference)] if info.reference else []),
    ]
    return "\n\n".join(map(str, parts)) + "\n"


def advice(name: str) -> list[str]:
    """Say when to use a measure of calibstat and when not."""
    if name not in ADVICE:  # a user-defined one
        return []
    use, avoid = ADVICE[name]
    return [f"**When to use it:** {use}", f"**When not:** {avoid}"]


def measures_table() -> str:
    """List the measures."""
    rows = [
        [
            f"[{entry.info.title}]({name}.md)",
            f"`{name}`",
            "multiclass" if is_multiclass(entry) else "binary",
            "yes" if entry.info.sound and entry.info.complete else "no",
            "yes" if entry.info.continuous else "no",
            "yes" if entry().has_form else "no",
        ]
        for name, entry in cs.MEASURES.items()
    ]
    return rows_of(["measure", "name", "for", "zero exactly if calibrated", "continuous", "honest interval"], rows)


def sizes_table() -> str:
    """Show how often the tests reject calibrated models, the most of any predictions in the stored study."""
    path = RESULTS / "size.csv"
    if not path.exists():
        return PENDING.format(study="simulations/size.py")
    import pandas as pd

    found = pd.read_csv(path, comment="#")
    parts = [source(path)]
    for method, part in found[found["question"] == "size"].groupby("method", sort=False):
        wide = part.pivot_table(index="measure", columns="n", values="rate", aggfunc="max", sort=False)
        rows = [
            [name, *(f"{rate:.3f}" for rate in line)] for name, line in zip(wide.index, wide.to_numpy(), strict=True)
        ]
        promise = "exact" if method == "labels" else "approximate"
        columns = ["measure", *(f"n = {n}" for n in wide.columns)]
        parts.append(f'`resample="{method}"`, {promise}:\n\n{rows_of(columns, rows)}')
    return "\n\n".join(parts)


def approximate_tests_table() -> str:
    """Show how often the approximate tests reject what is true, from the stored study."""
    path = RESULTS / "approximate_tests.csv"
    if not path.exists():
        return PENDING.format(study="simulations/approximate_tests.py")
    import pandas as pd

    found = pd.read_csv(path, comment="#")
    parts = [source(path)]
    two = found["measure"].str.startswith("compare")
    for part in (found[~two], found[two]):
        rows = ", ".join(map(str, part["n"].unique()))
        wide = part.assign(shown=[shown(row) for row in part.itertuples()]).pivot_table(
            index="measure", columns="generator", values="shown", aggfunc=", ".join, sort=False
        )
        lines = [[test, *line] for test, line in zip(wide.index, wide.to_numpy(), strict=True)]
        parts.append(f"n = {rows}:\n\n{rows_of(['test', *wide.columns], lines)}")
    return "\n\n".join(parts)


def shown(row: Any) -> str:
    """Write a rate, and the share of data sets that the test refused."""
    rate = "–" if row.rate != row.rate else f"{row.rate:.3f}"
    refused = f"{row.refused / row.replicates:.0%}"
    return rate if refused == "0%" else f"{rate} ({refused} refused)"


def coverage_table() -> str:
    """Show how often the intervals cover the truth, from the stored study."""
    path = RESULTS / "coverage.csv"
    if not path.exists():
        return PENDING.format(study="simulations/coverage.py")
    import pandas as pd

    found = pd.read_csv(path, comment="#")
    rows = []
    for (measure, method, level), cells in found.groupby(["measure", "method", "level"], sort=False):
        worst = cells.loc[cells["rate"].idxmin()]
        error = ((cells["rate"] * (1 - cells["rate"]) / cells["replicates"]).sum() ** 0.5) / len(cells)
        coverage = [f"{worst['rate']:.3f} ({worst['low']:.3f} to {worst['high']:.3f})"]
        coverage += [f"{cells['rate'].mean():.3f} ± {error:.3f}", f"{cells['mean_width'].mean():.3f}"]
        rows.append([measure, method, f"{level:g}", *coverage, len(cells)])
    columns = ["measure", "method", "level", "worst coverage", "mean coverage", "mean width", "cells"]
    what = "Beside the worst coverage are its exact 95 % limits, beside the mean its standard error."
    return f"{source(path)} {what}\n\n{rows_of(columns, rows)}"


def widths_table() -> str:
    """Show how wide the intervals are where the truth is far from 0, from the stored study."""
    path = RESULTS / "coverage.csv"
    import pandas as pd

    from calibstat.study.study_file import load_module

    found = pd.read_csv(path, comment="#") if path.exists() else pd.DataFrame()
    if "sd_estimate" not in found:
        return PENDING.format(study="simulations/coverage.py")
    far = load_module(SIMULATIONS / "coverage.py").widths(found)
    rows = [
        [*names, f"{ratio.mean():.2f}", f"{ratio.max():.2f}", len(ratio)]
        for names, ratio in far.groupby(["measure", "method", "level"], sort=False)["relative_width"]
    ]
    columns = ["measure", "method", "level", "mean relative width", "largest", "cells"]
    return f"{source(path)}\n\n{rows_of(columns, rows)}"


def worst_case_table() -> str:
    """Show the worst that the search has found of every interval, from the stored study."""
    path = RESULTS / "worst_case.csv"
    if not path.exists():
        return PENDING.format(study="simulations/worst_case.py")
    import pandas as pd

    found = pd.read_csv(path, comment="#")
    rows = []
    for (kind, measure, level), cases in found.groupby(["kind", "measure", "level"], sort=False):
        worst = cases.loc[cases["rate"].idxmin()]
        sides = [f"{(cases[side] / cases['replicates']).max():.3f}" for side in ("missed_below", "missed_above")]
        coverage = f"{worst['rate']:.3f} ({worst['low']:.3f} to {worst['high']:.3f})"
        rows.append([KINDS[kind], measure, f"{level:g}", coverage, *sides, worst["replicates"], len(cases)])
    columns = ["data", "measure", "level", "least coverage", "most truths below", "most truths above"]
    columns += ["data sets", "cases"]
    return f"{source(path)} Beside the least coverage are its exact 95 % limits.\n\n{rows_of(columns, rows)}"


def equivalence_table() -> str:
    """Show how often margins are claimed, at the boundary and of calibrated models, from the stored study."""
    path = RESULTS / "equivalence.csv"
    if not path.exists():
        return PENDING.format(study="simulations/equivalence.py")
    import pandas as pd

    found = pd.read_csv(path, comment="#")
    parts = [source(path)]
    for question, title in (("size", "At the boundary"), ("power", "Of calibrated models, with their margins")):
        part = found[found["question"] == question]
        wide = part.pivot_table(index=["measure", "generator"], columns="n", values="rate", sort=False)
        rows = [
            [*names, *("–" if rate != rate else f"{rate:.3f}" for rate in line)]
            for names, line in zip(wide.index, wide.to_numpy(), strict=True)
        ]
        columns = ["by", "data", *(f"n = {n}" for n in wide.columns)]
        parts.append(f"{title}:\n\n{rows_of(columns, rows)}")
    return "\n\n".join(parts)


def planning_table() -> str:
    """Show the measured powers of detectable effects and sample sizes with a stated power of .8, from the study."""
    path = RESULTS / "planning.csv"
    if not path.exists():
        return PENDING.format(study="simulations/planning.py")
    import pandas as pd

    found = pd.read_csv(path, comment="#")
    measured = found[found["replicates"] > 0]
    titles = {"effect": "detectable effect", "size": "sample size"}
    rows = [
        [
            titles[str(question)],
            str(n),
            f"{len(part)}",
            *(f"{part['rate'].quantile(q):.3f}" for q in (0, 0.1, 0.5, 0.9, 1)),
        ]
        for (question, n), part in measured.groupby(["question", "n"])
    ]
    columns = ["of", "n", "sets and families", "least", "10 %", "median", "90 %", "most"]
    never = found[(found["replicates"] == 0) & (found["question"] == "effect")]
    names = "; ".join(f"{row.family} of {row.generator} (n = {row.n})" for row in never.itertuples())
    said = f"\n\nNo effect was found with that probability, however large: {names}." if names else ""
    return f"{source(path)}\n\n{rows_of(columns, rows)}{said}"


def distances_table() -> str:
    """Show which measure is continuous, complete, sound and estimable, from the stored study."""
    path = RESULTS / "distances.csv"
    if not path.exists():
        return PENDING.format(study="distances")
    import pandas as pd

    from calibstat.papers import distances

    found = distances.judge(pd.read_csv(path, comment="#"))
    cells = {
        (row.measure, row.property): f"{'✓' if row.holds else '✗'} {row.number:.2g} ({row.where})"
        if row.number == row.number  # not nan: there was something to see it in
        else "–"
        for row in found.itertuples()
    }
    rows = [[measure, *(cells[measure, name] for name in distances.LIMITS)] for measure in found["measure"].unique()]
    return f"{source(path)}\n\n{rows_of(['measure', *distances.LIMITS], rows)}"


def of_readme(heading: str) -> str:
    """Take what stands below a heading of the README up to the next one, with links from this folder.

    The title is left out, because the page that shows it has one; other headings are kept.
    """
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    found = readme[readme.index(f"{heading}\n") :].partition("\n## ")[0]
    return found.removeprefix("# calibstat\n").strip().replace("](docs/", "](")


def source(path: Path) -> str:
    """Say which command made a stored result: the comment in its first line."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return f"*Made by: {first.lstrip('# ')}.*"


MARKERS = {
    "measures": measures_table,
    "results": results_table,
    "studies": studies_table,
    "pages_of_studies": studies_toctree,
    "sizes": sizes_table,
    "approximate_tests": approximate_tests_table,
    "coverage": coverage_table,
    "widths": widths_table,
    "worst_case": worst_case_table,
    "equivalence": equivalence_table,
    "planning": planning_table,
    "distances": distances_table,
    **{
        name: partial(of_readme, heading)
        for name, heading in {
            "first_screen": "# calibstat",
            "first_example": "## Twelve lines, start to finish",
            "how_good": "## How good is a measure?",
            "more_questions": "## More questions",
            "guaranteed": "## What is guaranteed",
        }.items()
    },
}


def filled_in(markdown: str) -> str:
    """Replace the markers of a page."""
    return re.sub(r"^<!-- (\w+) -->$", lambda found: MARKERS[found[1]](), markdown, flags=re.MULTILINE)
