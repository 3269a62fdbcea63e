"""The command line: `calibstat demo`, `measures`, `test`, `interval`, `report`, `studies` and `study`.

Whatever is slow to load is imported inside the command that needs it, so that help is quick.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeVar

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from calibstat import __version__

if TYPE_CHECKING:
    from calibstat.report import Finding

T = TypeVar("T")
PATIENCE = 1.0  # seconds before a progress bar is worth showing

app = typer.Typer(add_completion=False, no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]})

File = Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .parquet file, one row for each outcome.")]
Label = Annotated[str, typer.Option("--label", metavar="COLUMN", help="Column of outcomes, 0 or 1.")]
Prob = Annotated[str, typer.Option("--prob", metavar="COLUMN", help="Column of predicted probabilities of outcome 1.")]
Names = Annotated[
    list[str] | None,
    typer.Option("--measure", metavar="NAME", help="As in 'calibstat measures'; may be repeated. Default: ece."),
]
Method = Annotated[str, typer.Option("--method", help="honest, percentile, basic or bca.")]
Level = Annotated[float, typer.Option("--level", help="Confidence level, between 0 and 1.")]
Resamples = Annotated[int, typer.Option("--n-resamples", help="Number of resamples.")]
Seed = Annotated[int, typer.Option("--rng", metavar="SEED", help="The same seed gives the same numbers.")]
Folder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write to; made if it is not there.")]


def show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        typer.echo(f"calibstat {__version__}")
        raise typer.Exit


@app.callback(epilog="Begin with: calibstat demo")
def calibstat(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """Is this model calibrated? Measures, exact tests and honest intervals for predicted probabilities."""


@app.command("demo")
def show(out: Folder = Path("calibstat-demo"), rng: Seed = 0) -> None:
    """Show it all on a real model: who sees a doctor in a year?"""
    from calibstat import demo
    from calibstat.report import CAUTIONS, MEANING

    with one_line_errors():
        out.mkdir(parents=True, exist_ok=True)
        models = demo.judge(rng)
        saved = demo.draw(models, out)
        say(demo.introduction(models[0]), findings_table({m.name: list(m.findings.values()) for m in models}), MEANING)
        say(*map(demo.say_model, models), demo.say_difference(*models), written(saved))
        say(*CAUTIONS, style="dim")


@app.command("measures")
def list_measures() -> None:
    """List the measures there are."""
    from calibstat.measures import MEASURES

    grid = table("Name", "Measure", "Range", "Options, defaults", "Interval")
    for name, entry in MEASURES.items():
        low, high = entry.bounds
        options = "\n".join(f"{option}={default!r}" for option, default in entry.options.items()) or "–"
        grid.add_row(name, entry.title, f"{low:g} to {high:g}", options, "honest" if entry.bind({}).honest else "–")
    for column in grid.columns:
        column.no_wrap = column.header != "Measure"
    say(grid, "An honest interval covers what it says, also where a model is calibrated. For the others see --method.")


@app.command("test")
def check(
    file: File, label: Label, prob: Prob, measure: Names = None, n_resamples: Resamples = 999, rng: Seed = 0
) -> None:
    """Test whether the outcomes could have been drawn from the predictions."""
    with one_line_errors():
        from calibstat import report
        from calibstat.reading import read_sample

        sample = read_sample(file, label, prob)

        def ask(name: str) -> report.Finding:
            return report.assess(sample, name, n_resamples=n_resamples, rng=rng, interval=False)

        found = with_progress(measure or ["ece"], ask)
        grid = table("Measure", ">Value", ">If calibrated", "19 times in 20", ">p")
        for each in found:
            grid.add_row(each.title, report.number(each.estimate), *report.usual(each), report.p_text(each.test.pvalue))
        say(report.describe(sample), grid, f"Null hypothesis: {found[0].test.null_hypothesis}")
        say(*map(report.say_test, found), *([report.say_together(found)] if len(found) > 1 else []))
        say(*report.CAUTIONS, style="dim")


@app.command()
def interval(
    file: File,
    label: Label,
    prob: Prob,
    measure: Names = None,
    method: Method = "honest",
    level: Level = 0.95,
    n_resamples: Resamples = 999,
    rng: Seed = 0,
) -> None:
    """Say how large a calibration error is, give or take what."""
    with one_line_errors():
        from calibstat import MEASURES, confidence_interval, report
        from calibstat.reading import read_sample
        from calibstat.results import ConfidenceInterval

        sample = read_sample(file, label, prob)

        def ask(name: str) -> ConfidenceInterval:
            return confidence_interval(
                sample,
                measure=name,
                method=method,
                confidence_level=level,
                n_resamples=n_resamples,
                rng=rng,
                n_jobs=-1,
            )

        found = dict(zip(measure or ["ece"], with_progress(measure or ["ece"], ask), strict=True))
        grid = table("Measure", ">Estimate", f">{report.percent(level)} interval", "Method")
        for name, each in found.items():
            grid.add_row(MEASURES[name].title, report.number(each.estimate), report.interval_text(each), each.method)
        say(report.describe(sample), grid)
        for name, each in found.items():
            say(report.say_interval(MEASURES[name].title, each), f"What is estimated: {each.estimand}")
        say(*report.CAUTIONS[1:], style="dim")


@app.command("report")
def write_report(file: File, label: Label, prob: Prob, out: Folder, level: Level = 0.95, rng: Seed = 0) -> None:
    """Put all measures but the costly ones to the data; write a table, pictures and everything as JSON to a folder."""
    with one_line_errors():
        from calibstat import report
        from calibstat.measures.registry import everyday_measures
        from calibstat.reading import read_sample

        sample = read_sample(file, label, prob)
        out.mkdir(parents=True, exist_ok=True)
        found = with_progress(everyday_measures(), lambda name: report.assess(sample, name, level=level, rng=rng))
        about = {"calibstat": __version__, "file": file.name, "label": label, "prob": prob, "rng": rng}
        saved = report.save(sample, found, out, about=about, rng=rng)
        say(report.describe(sample), findings_table({file.name: found}, level), report.MEANING)
        say(report.say_together(found), written(saved))
        say(*report.CAUTIONS, style="dim")


@app.command("studies")
def list_studies() -> None:
    """List the studies behind the claims, which anyone can rerun."""
    from calibstat.studies import STUDIES

    grid = table("Name", "Question", ">Hours on two cores")
    for name, study in STUDIES.items():
        grid.add_row(name, study.asks, f"{study.hours:g}")
    say(grid, "Run one with: calibstat study NAME --out DIR. With --quick it takes seconds and shows how it works.")


@app.command("study")
def run_study(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As in 'calibstat studies'.")],
    out: Folder,
    quick: Annotated[bool, typer.Option("--quick", help="A small grid with few data sets.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    n_jobs: Annotated[int, typer.Option("--n-jobs", help="Processes; the numbers do not depend on it.")] = 1,
) -> None:
    """Run a study; write its table and pictures, and fail if a promise is broken."""
    with one_line_errors():
        from calibstat.studies import STUDIES

        if name not in STUDIES:
            raise ValueError(f"expected a study, one of {', '.join(STUDIES)}; found {name!r}")
        study = STUDIES[name]
        found, saved = study.carry_out(out, quick=quick, resume=resume, n_jobs=n_jobs)
        say(study.asks, f"Written to {out}: {', '.join(str(path.relative_to(out)) for path in saved)}.")
        if study.broken is not None:
            broken = study.broken(found)
            if len(broken):
                say(f"The promise is broken in {len(broken)} of {len(found)} rows:", broken.to_string(index=False))
                raise typer.Exit(1)
            say("The promise is kept in every row, up to the exact binomial limit.")


def main() -> None:
    """Run the command line."""
    app()


# --- printing --------------------------------------------------------------------------------------------------------


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what is wrong with the input into one line on standard error and exit code 2."""
    try:
        yield
    except OSError as error:
        fail(f"{error.strerror or error}: {str(error.filename)!r}")
    except (ValueError, NotImplementedError, ModuleNotFoundError) as error:
        fail(str(error))


def fail(text: str) -> NoReturn:
    """Print one line on standard error and leave with exit code 2."""
    typer.echo(f"calibstat: {' '.join(text.split())}", err=True)
    raise typer.Exit(2) from None


def console() -> Console:
    """Standard output, without colouring every number."""
    return Console(highlight=False)


def say(*parts: str | Table, style: str = "") -> None:
    """Print paragraphs and tables, each followed by an empty line."""
    out = console()
    for part in parts:
        out.print(part, style=style if isinstance(part, str) else None, markup=False)
        out.print()


def table(*columns: str) -> Table:
    """Make a plain table; a column whose name begins with > is aligned to the right."""
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        grid.add_column(name.lstrip(">"), justify="right" if name[0] == ">" else "left", overflow="fold")
    return grid


def findings_table(models: Mapping[str, Sequence[Finding]], level: float = 0.95) -> Table:
    """Make the table of findings: estimate, honest interval and p-value of each measure, model by model."""
    from calibstat import report

    grid = table("Measure", ">Estimate", f">{report.percent(level)} interval", ">p")
    for name, found in models.items():
        if len(models) > 1:
            grid.add_section()
            grid.add_row(Text(name, style="bold"))
        for each in found:
            row = (report.number(each.estimate), report.interval_text(each.interval), report.p_text(each.test.pvalue))
            grid.add_row(each.title, *row)
    if any(each.interval is None for found in models.values() for each in found):
        grid.caption = "–: no interval is known that covers what it says"
        grid.caption_justify = "left"
    return grid


def written(paths: Sequence[Path]) -> str:
    """Say what was written where."""
    return f"Written to {paths[0].parent}: {', '.join(path.name for path in paths)}."


def with_progress(names: Sequence[str], ask: Callable[[str], T]) -> list[T]:
    """Ask for each name in turn, with a progress bar once that has taken a second."""
    from rich.progress import Progress

    began, answers = time.monotonic(), []
    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=len(names))
    try:
        for done, name in enumerate(names):
            bar.update(task, description=name, completed=done)
            if time.monotonic() - began > PATIENCE and bar.console.is_terminal:
                bar.start()
            answers.append(ask(name))
    finally:
        if bar.live.is_started:
            bar.stop()
    return answers
