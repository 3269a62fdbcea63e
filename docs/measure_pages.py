"""What the documentation takes from the code: a page for each measure, tables of study results, lists.

MkDocs runs this as a hook. Pages of measures are made from the registry, and a line ``<!-- name -->`` in a page is
replaced by what `MARKERS` makes of it, so that nothing is written down twice.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import calibstat as cs

DOCS = Path(__file__).parent
SIMULATIONS = DOCS.parent / "simulations"
RESULTS = SIMULATIONS / "results"
CLAIMS = {
    "complete": "zero in the population if the model is calibrated",
    "sound": "zero in the population only if the model is calibrated",
    "continuous": "a small change of the predictions changes it little",
    "symmetric": "unchanged when outcomes and predictions are both reversed",
}
MULTICLASS = {"symmetric": "unchanged when the classes are put in another order, but for ties"}
PENDING = "*No results are stored yet: run `calibstat study simulations/{name}.py` to make them.*"


def rows_of(header: list[str], rows: list[list[Any]]) -> str:
    """Write a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def mathml(latex: str) -> str:
    """Write a formula as MathML, which browsers draw without a script; as LaTeX where the converter is missing."""
    try:
        from latex2mathml.converter import convert
    except ModuleNotFoundError:
        return f"```latex\n{latex}\n```"
    return convert(latex, display="block")


def linked(reference: str) -> str:
    """Turn DOI and arXiv numbers into links."""
    reference = re.sub(r"doi:(\S*[^\s.;,])", r"[doi:\1](https://doi.org/\1)", reference)
    return re.sub(r"arXiv:([\d.]+\d)", r"[arXiv:\1](https://arxiv.org/abs/\1)", reference)


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
    others = (
        "`percentile`, `basic` and `bca` run too, for comparison; see [intervals](../intervals.md) for what they miss"
    )
    kind = "multiclass" if is_multiclass(entry) else "binary"
    made = f", or `cs.measures.{entry.__name__}()`" if vars(cs.measures).get(entry.__name__) is entry else ""
    upper = "∞" if high == float("inf") else f"{high:g}"
    parts = [
        f"# {info.title}",
        f"`measure={name!r}`{made}, for {kind} data",
        *([mathml(info.formula)] if info.formula else []),
        inspect.getdoc(entry) or "It has no description.",
        "## Options and defaults",
        rows_of(["option", "default"], options) if options else "It has none.",
        "## Range",
        f"From {low:g} to {upper}. "
        + ("Large values speak against calibration." if info.tail == "greater" else "The test is two-sided.")
        + (" It takes long, so that it draws 99 times unless asked otherwise." if info.resamples < 999 else ""),
        "## Claims",
        "The test suite checks each of these.",
        rows_of(["claim", "holds", "meaning"], claims),
        "## Confidence intervals",
        ("`honest` with the default options. " if entry().has_form else "No honest interval is known. ") + f"{others}.",
        *(["## Reference", linked(info.reference)] if info.reference else []),
    ]
    return "\n\n".join(map(str, parts)) + "\n"


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
        return PENDING.format(name="size")
    import pandas as pd

    found = pd.read_csv(path, comment="#")
    parts = [source(path)]
    for method, part in found.groupby("method", sort=False):
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
        return PENDING.format(name="approximate_tests")
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
        return PENDING.format(name="coverage")
    import pandas as pd

    found = pd.read_csv(path, comment="#")
    found = found.groupby(["measure", "method"], sort=False).agg(
        worst=("rate", "min"), mean=("rate", "mean"), width=("mean_width", "mean"), cells=("rate", "size")
    )
    rows = [
        [*names, f"{worst:.3f}", f"{mean:.3f}", f"{width:.3f}", int(cells)]
        for names, (worst, mean, width, cells) in zip(found.index, found.to_numpy(), strict=True)
    ]
    columns = ["measure", "method", "worst coverage", "mean coverage", "mean width", "cells"]
    return f"{source(path)}\n\n{rows_of(columns, rows)}"


def distances_table() -> str:
    """Show which measure is continuous, complete, sound and estimable, from the stored study."""
    path = RESULTS / "distances.csv"
    if not path.exists():
        return PENDING.format(name="distances")
    import pandas as pd

    from calibstat.study.study_file import load_module

    distances = load_module(SIMULATIONS / "distances.py")
    found = distances.judge(pd.read_csv(path, comment="#"))
    cells = {
        (row.measure, row.property): f"{'✓' if row.holds else '✗'} {row.number:.2g} ({row.where})"
        if row.number == row.number  # not nan: there was something to see it in
        else "–"
        for row in found.itertuples()
    }
    rows = [[measure, *(cells[measure, name] for name in distances.LIMITS)] for measure in found["measure"].unique()]
    return f"{source(path)}\n\n{rows_of(['measure', *distances.LIMITS], rows)}"


def source(path: Path) -> str:
    """Say which command made a stored result: the comment in its first line."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return f"*Made by: {first.lstrip('# ')}.*"


def decisions_list() -> str:
    """List the decision notes by their titles."""
    notes = sorted(path for path in (DOCS / "decisions").glob("*.md") if path.name != "index.md")
    return "\n".join(
        f"- [{path.read_text(encoding='utf-8').splitlines()[0].lstrip('# ')}]({path.name})" for path in notes
    )


def api_list() -> str:
    """Name every public function and class, for mkdocstrings to fill in."""
    entries = [(name, getattr(cs, name)) for name in cs.__all__]
    names = [name for name, entry in entries if callable(entry)]
    return "\n\n".join(f"::: calibstat.{name}" for name in names)


def kinds_list() -> str:
    """Name the kinds of measures, for mkdocstrings to fill in."""
    names = ["Statistic", "Seminorm", "Binned", "MeanLoss", "VectorStatistic", "VectorBinned", "Info"]
    return "\n\n".join(f"::: calibstat.measures.{name}" for name in names)


def study_list() -> str:
    """Name every public name of studies, for mkdocstrings to fill in."""
    return "\n\n".join(f"::: calibstat.study.{name}" for name in cs.study.__all__)


def generators_list() -> str:
    """Name every generator, for mkdocstrings to fill in."""
    names = ["Generator", "MulticlassGenerator", *cs.GENERATORS]
    return "\n\n".join(f"::: calibstat.generators.{name}" for name in names)


MARKERS = {
    "measures": measures_table,
    "sizes": sizes_table,
    "approximate_tests": approximate_tests_table,
    "coverage": coverage_table,
    "distances": distances_table,
    "decisions": decisions_list,
    "api": api_list,
    "kinds": kinds_list,
    "study": study_list,
    "generators": generators_list,
}


def on_config(config: Any) -> Any:
    """Put the pages of the measures into the navigation."""
    section = [{entry.info.title: f"measures/{name}.md"} for name, entry in cs.MEASURES.items()]
    for item in config.nav:
        if "Measures" in item:
            item["Measures"] = ["measures/index.md", *section]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the measures."""
    from mkdocs.structure.files import File

    for name in cs.MEASURES:
        files.append(File.generated(config, f"measures/{name}.md", content=measure_page(name)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the markers of a page."""
    return re.sub(r"^<!-- (\w+) -->$", lambda found: MARKERS[found[1]](), markdown, flags=re.MULTILINE)
