"""The command line: `calibstat demo`, `measures`, `test`, `interval`, `compare`, `report`, `study` and others.

Whatever is slow to load is imported inside the command that needs it, so that help is quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibstat import __version__
from calibstat.cli.answers import Answer, prints_answer
from calibstat.cli.audit_groups import audit_groups
from calibstat.cli.descriptions import (
    decompose_scores,
    show_net_benefit,
    show_risk_coverage,
    show_sharpness,
    show_skill,
    summarize_models,
    validate_models,
)
from calibstat.cli.listings import list_generators, list_measures
from calibstat.cli.monitoring import monitor_stream
from calibstat.cli.option_groups import takes_groups
from calibstat.cli.options import (
    File,
    Folder,
    Label,
    Labels,
    LensText,
    Level,
    Method,
    Models,
    Names,
    Prob,
    Resamples,
    Seed,
    SideOfTest,
)
from calibstat.cli.planning import find_power, find_sample_size
from calibstat.cli.printed_tables import (
    table,
    table_of_bins,
    table_of_models,
    table_of_pairs,
    table_of_studies,
)
from calibstat.cli.reading import Reading
from calibstat.cli.recalibrating import recalibrate_predictions
from calibstat.cli.report_command import write_report
from calibstat.cli.row_columns import RowColumns, read_models_with_columns, read_with_columns
from calibstat.cli.terminal import Commands, about, notes_beside, one_line_errors, place, say, with_progress, written
from calibstat.cli.testing import check
from calibstat.output.whole_folder import whole_folder

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(cls=Commands, no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]})


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
    """Is this model calibrated? How good is a measure of its error?

    Measures, exact tests and honest intervals for predicted probabilities, and studies of data whose truth is known.
    """


def show_models(out: Folder = Path("calibstat-demo"), rng: Seed = 0) -> Answer:
    """Judge a model before and after recalibration, with pictures."""
    from calibstat.cli import demo
    from calibstat.output.wording import NO_PROOF, ROWS

    with one_line_errors():
        with whole_folder(out) as draft:
            models = demo.judge(rng)
            saved = demo.save_pictures(models, draft)
        caution = NO_PROOF + ROWS
        sentences = [demo.introduction(models), *map(demo.say_model, models)]
        details = [f"{model.name}. {model.test.details}" for model in models]
        shown = demo.table_of_models(models)
        results = {model.name: model.test for model in models}
        said: list[str | Table] = [*sentences, shown, written(out, saved), caution.short]
        return Answer(
            said,
            details=[*details, *caution.full],
            results=results,
            next_step="Ask the same of your own rows: calibstat report rows.csv --label y --prob p --out report.html.",
        )


def warm() -> None:
    """Compile everything once, for container images."""
    with one_line_errors():
        from calibstat.cli.warming import warm_up
        from calibstat.compiled import HAS_NUMBA

        if not HAS_NUMBA:
            say("Nothing to compile: Numba is not installed.")
            return
        asked = sum(1 for _ in warm_up())
        say(f"Compiled, by {asked:,} questions. Later processes load it from NUMBA_CACHE_DIR or beside the sources.")


@takes_groups
def interval(
    file: File,
    label: Label,
    prob: Prob,
    reading: Reading,
    columns: RowColumns,
    measure: Names = None,
    lens: LensText = None,
    method: Method = None,
    level: Level = 0.95,
    n_resamples: Resamples = None,
    rng: Seed = 0,
) -> Answer:
    """Estimate a calibration error, with a confidence interval."""
    with one_line_errors():
        from calibstat import MEASURES, confidence_interval
        from calibstat.cli.lens_syntax import view
        from calibstat.inference.confidence_interval_results import ConfidenceInterval
        from calibstat.inference.designs.design_of import design_of
        from calibstat.output import wording as words
        from calibstat.reporting.sentences import ends, say_interval, says_more

        data, rows, how = read_with_columns(file, label, prob, reading, columns)
        names = measure or [design_of(rows).interval_measure]
        seen = view(data, one_number(lens), names)

        def ask(name: str) -> ConfidenceInterval:
            return confidence_interval(
                rows,
                **seen.settings(name),
                method=method,
                confidence_level=level,
                n_resamples=n_resamples,
                rng=rng,
                n_jobs=-1,
            )

        intervals = dict(zip(names, with_progress(names, ask), strict=True))
        sentences = {name: say_interval(MEASURES[name].info.title, each) for name, each in intervals.items()}
        estimands = [f"What is estimated: {each.estimand}" for each in intervals.values()]
        described = about(data, how)
        beside = [*dict.fromkeys(note for each in intervals.values() for note in notes_beside(each.note, described))]
        caution = words.units(columns.cluster is not None)
        if len(intervals) == 1:
            parts = [*sentences.values(), *beside]
            return Answer(parts, described, caution, estimands, results=intervals, next_step=IF_IT_MATTERS)
        grid = table("Measure", ">Estimate", f">{words.percent(level)} interval", "Method")
        for name, each in intervals.items():
            grid.add_row(MEASURES[name].info.title, words.number(each.estimate), ends(each.low, each.high), each.method)
        title = f"On these rows, and in the population they come from with {words.percent(level)} confidence each:"
        notes = [sentences.pop(name) for name, each in intervals.items() if says_more(each)]
        details = [*sentences.values(), *estimands]
        shown: list[str | Table] = [title, grid, *notes, *beside]
        return Answer(shown, described, caution, details, results=intervals, next_step=IF_IT_MATTERS)


@takes_groups
def show_margin(
    file: File,
    label: Label,
    prob: Prob,
    reading: Reading,
    margin: Annotated[float, typer.Option("--margin", help="The largest error that does not matter.")] = 0.05,
    measure: Annotated[
        str,
        typer.Option("--measure", metavar="BINS", help="bins, or a measure of calibration error such as ks."),
    ] = "bins",
    n_bins: Annotated[
        int | None, typer.Option("--n-bins", help="Number of bins, fixed beforehand. Default: 5; of a measure its own.")
    ] = None,
    side: SideOfTest = None,
    level: Level = 0.95,
    lens: LensText = None,
    n_resamples: Resamples = None,
    rng: Seed = 0,
) -> Answer:
    """Test whether outcomes are within a margin of the predictions."""
    with one_line_errors():
        from calibstat import equivalence_test
        from calibstat.cli.input_files import read_data
        from calibstat.cli.lens_syntax import view
        from calibstat.data.words.side import check_side
        from calibstat.output import wording as words

        data, how = read_data(file, label, prob, reading)
        options: dict[str, Any] = {} if n_bins is None else {"n_bins": n_bins}
        equivalence = equivalence_test(
            data,
            margin=margin,
            measure=measure,
            side=check_side(side),
            confidence_level=level,
            lens=view(data, lens).lens,
            n_resamples=n_resamples,
            rng=rng,
            n_jobs=-1,
            **options,
        )
        grid = [] if equivalence.count is None else [table_of_bins(equivalence)]
        found = {"equivalence": equivalence}
        return Answer(
            [equivalence.answer, *grid],
            about(data, how),
            words.ROWS,
            [equivalence.details],
            results=found,
            next_step=WITHIN if equivalence.claimed else NOT_SHOWN,
        )


@takes_groups
def compare_models(
    file: File,
    label: Labels,
    prob: Models,
    reading: Reading,
    columns: RowColumns,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="kernel_ce_squared, kernel_ce, ece, ks, kuiper, smooth_ce, brier or log_loss. Default: the first, "
            "with bandwidth 0.2.",
        ),
    ] = None,
    lens: LensText = None,
    method: Annotated[str, typer.Option("--method", help="bootstrap, or swap for a permutation test.")] = "bootstrap",
    reference: Annotated[
        str | None, typer.Option("--reference", metavar="MODEL", help="Compare all others with it. Default: all pairs.")
    ] = None,
    adjust: Annotated[str, typer.Option("--adjust", help="Adjustment of p for several pairs: holm or bh.")] = "holm",
    level: Level = 0.95,
    n_resamples: Resamples = None,
    rng: Seed = 0,
) -> Answer:
    """Compare the calibration of models on the same rows."""
    with one_line_errors():
        from calibstat import MEASURES, compare
        from calibstat.cli.input_files import models_in_batches
        from calibstat.cli.lens_syntax import view_of_models
        from calibstat.inference.designs.counted import FROM_CELLS
        from calibstat.inference.designs.design_of_models import design_of_models
        from calibstat.measures.kinds.registry import unknown_measure
        from calibstat.output import wording as words

        if len(prob) < 2:
            raise ValueError("expected --prob for two models or more, found one")
        if measure is not None and measure not in MEASURES:
            raise unknown_measure(measure)
        settings: dict[str, Any] = {"measure": measure}
        plain = method == "bootstrap" and measure in (None, *FROM_CELLS) and not (lens or columns or label[1:])
        rows, how = models_in_batches(file, label[0], prob, reading) if plain else None, ""
        if rows is None:
            rows, how = read_models_with_columns(file, label, prob, reading, columns)
            asked = measure or str(design_of_models(rows).default["measure"])
            seen = view_of_models(rows, lens, [asked])
            settings = settings if seen is None else seen.settings(asked) | settings
        comparison = compare(
            rows,
            **settings,
            method=method,
            reference=reference,
            adjust=adjust,
            confidence_level=level,
            n_resamples=n_resamples,
            rng=rng,
            n_jobs=-1,
        )
        answer = "\n".join([*comparison.rows.cautions, comparison.answer])
        parts: list[str | Table] = [answer, table_of_models(comparison), table_of_pairs(comparison)]
        parts += comparison.beside_tables()
        counts = f"{words.number_of('row', comparison.n[0])}, {len(comparison.names)} models"
        data = words.Brief(f"{counts}, {comparison.lens}. {how.strip()}".strip())
        caution = words.ABOUT_SCORES + words.units(columns.cluster is not None)
        null = f"Null hypothesis of each pair: {comparison.null_hypothesis}."
        return Answer(parts, data, caution, [null], results={"comparison": comparison}, next_step=CHOOSE)


IF_IT_MATTERS = (
    "Name the error that would not matter to you, and ask whether these rows show less: calibstat equivalence, with "
    "--margin."
)
WITHIN = "Use the predictions, and watch them: calibstat monitor."
NOT_SHOWN = (
    "Collect more rows, of which calibstat sample-size says how many, or recalibrate the predictions: calibstat "
    "recalibrate."
)
CHOOSE = "Take the better model if the difference matters to you, and look at it alone: calibstat report."


def one_number(lens: str | None) -> str | None:
    """Return the lens that gives one number of all classes, their mean, where one is needed."""
    return "class_wise_mean" if lens == "class_wise" else lens


LISTED = (
    "Run one with calibstat study NAME; with --quick, a small grid, each takes at most half a minute. Times are "
    "on two cores. Results are "
    "written to the current folder. Your own studies are files: calibstat study FILE.py."
)


def run_study(
    study: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY",
            help="The name of an installed study, or a Python file with study = Study(...). Without it: a list.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Folder to write to. Default: the folder of the file; of an installed study the current folder.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small grid with few data sets.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a stopped run.")] = False,
    n_jobs: Annotated[int, typer.Option("--n-jobs", help="Processes; the numbers do not depend on it.")] = 1,
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", help="A file of predictions and outcomes, for a study that takes some. Repeatable."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the study, such as splits=20. Repeatable."),
    ] = None,
) -> None:
    """Run a study of simulated data, or list installed ones.

    Write its table to the folder results and its pictures to the folder figures, and fail if a guarantee is violated.
    """
    with one_line_errors():
        from calibstat.progress import in_words
        from calibstat.study import load_study
        from calibstat.study.study_options import assignments

        if study is None:
            given = {"--out": out, "--quick": quick, "--resume": resume, "--data": data, "--set": settings}
            beside = [name for name, value in {**given, "--n-jobs": n_jobs != 1}.items() if value]
            if beside:
                raise ValueError(f"expected the name or the file of a study beside {beside[0]}, found none")
            say(table_of_studies(), LISTED)
            return
        chosen = load_study(study)
        out = chosen.home if out is None else out
        hours = chosen.runtime_hours
        how_long = "" if quick or data or hours is None else f" About {in_words(3600 * hours)} on two cores."
        say(chosen.question + how_long)
        asked = assignments(settings or [])
        frame, saved = chosen.run(out, quick=quick, resume=resume, n_jobs=n_jobs, data=data or [], options=asked)
        say(f"Written to {place(out)}: {', '.join(str(path.relative_to(out)) for path in saved)}.")
        if chosen.violations is not None:
            rows = chosen.violations(frame)
            if len(rows):
                say(f"The guarantee is violated in {len(rows)} of {len(frame)} rows:", rows.to_string(index=False))
                raise typer.Exit(1)
            say("The guarantee is kept in every row, up to the exact binomial limit.")


COMMANDS = {
    "demo": show_models,
    "report": write_report,
    "test": check,
    "interval": interval,
    "equivalence": show_margin,
    "compare": compare_models,
    "summarize": summarize_models,
    "skill": show_skill,
    "decompose": decompose_scores,
    "sharpness": show_sharpness,
    "validate": validate_models,
    "net-benefit": show_net_benefit,
    "risk-coverage": show_risk_coverage,
    "audit": audit_groups,
    "monitor": monitor_stream,
    "recalibrate": recalibrate_predictions,
    "power": find_power,
    "sample-size": find_sample_size,
    "measures": list_measures,
    "generators": list_generators,
}
for name, command in COMMANDS.items():
    app.command(name)(prints_answer(command))
app.command("study")(run_study)
app.command("warm")(warm)


def main() -> None:
    """Run the command line."""
    app()
