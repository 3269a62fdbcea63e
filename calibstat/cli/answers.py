"""The printed output of a command: the answer, then its support; with --verbose cautions and all else at length.

With --format json it is all fields of the results behind the answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_args

import typer

from calibstat.cli.formats.before_reading import check_before_reading, column_options
from calibstat.cli.option_names import with_options
from calibstat.cli.standard_input import place_of
from calibstat.cli.terminal import one_line_errors, say
from calibstat.data.retired_words import RETIRED
from calibstat.output.visible_text import visible

if TYPE_CHECKING:
    from rich.table import Table

    from calibstat.output.wording import Brief

    Detail = str | Table | Callable[[], str]

T = TypeVar("T")
FAILED, CANNOT_TELL = 1, 3  # exit codes
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also print null hypotheses, what is estimated, and all cautions.")
]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="json", help="Print all numbers as JSON, in place of sentences and tables."),
]
ADDED: dict[str, tuple[object, Any]] = {"verbose": (False, Verbose), "format": (None, Format)}
GONE = {  # options that are gone, and the option of commands that had them
    "reduce": "lens",
    "by": "margin",
    "proxy_share": "judge_share",
    "proxy_rows": "judge_rows",
}


@dataclass(frozen=True)
class Answer:
    """The answer of a command.

    Attributes
    ----------
    said : sequence of str and Table
        The answer in a sentence, and what supports it.
    data : Brief or None
        What the rows are.
    caution : Brief or None
        What to keep in mind. It begins what --verbose adds, and ends it at length.
    details : sequence of str, Table and callable
        What is printed with --verbose only. A function, which returns a text, is called only then.
    failed : sequence of str
        Conditions on which the command ends with exit code 1, after printing.
    unclear : sequence of str
        Conditions that the rows can neither show nor refute, on which it ends with exit code 3 if none failed.
    results : mapping
        The results behind the answer, by the name of a measure or a model; their fields are the JSON. A function, which
        returns a result, is called only for JSON.
    next_step : str
        What to do next, in the JSON.
    seed : int or None
        The seed of the numbers, said behind what the rows are; None where nothing is drawn.
    """

    said: Sequence[str | Table] = ()
    data: Brief | None = None
    caution: Brief | None = None
    details: Sequence[Detail] = ()
    failed: Sequence[str] = ()
    unclear: Sequence[str] = ()
    results: Mapping[str, object] = field(default_factory=dict)
    next_step: str = ""
    seed: int | None = None

    def with_what_is_shown(self, verbose: bool, form: str | None) -> Answer:
        """Return the answer with what functions return, where it is shown, and without what is not."""
        details = [each() if callable(each) else each for each in self.details] if verbose else []
        asked = self.results.items() if form == "json" else ()
        return replace(
            self, details=details, results={name: each() if callable(each) else each for name, each in asked}
        )


def prints_answer(command: Callable[..., Answer]) -> Callable[..., None]:
    """Let a command print the answer that it returns, and have the options --verbose and --format, if it has none.

    A command of one file takes several, which are one place; what is cheap to check is checked before it is called.
    """
    known = inspect.signature(command, eval_str=True).parameters
    more = {name: option for name, option in ADDED.items() if name not in known}
    gone = {name: Annotated[str | None, typer.Option(hidden=True)] for name, beside in GONE.items() if beside in known}

    columns = column_options(known)

    @wraps(command)
    def run(*, verbose: bool, **given: Any) -> None:
        form = given.pop("format") if "format" in more else None
        with with_options(given), one_line_errors():
            refuse_gone({name: given.pop(name) for name in gone})
            if form not in (None, "json"):
                raise ValueError(f"expected --format json, or none for sentences and tables, found {form}")
            if "file" in given:
                given["file"] = place_of(given["file"])
                check_before_reading(given, columns)
            answer = command(**given).with_what_is_shown(verbose, form)
            answer = replace(answer, seed=given.get("rng"))
        if form is None:
            show(answer, verbose)
        else:
            typer.echo(as_json(answer))
            leave(answer)

    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (default, annotation) in [*more.items(), *((name, (None, option)) for name, option in gone.items())]
    ]
    return with_parameters(run, [*map(taking_several, known.values()), *added])


def taking_several(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter, the one of a file as one of files, as a shell writes them out of a pattern."""
    if parameter.name != "file":
        return parameter
    return parameter.replace(annotation=Annotated[list[Path], get_args(parameter.annotation)[1]])


def refuse_gone(given: Mapping[str, str | None]) -> None:
    """Raise for an option that is gone, and write out what takes its place."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"expected {RETIRED[name].written(value)}, found {name}={value!r}, which is gone")


def as_json(answer: Answer) -> str:
    """Return the sentences of an answer, the next step and the fields of its results as one flat JSON object.

    A field has the name of its result and a dot before its own, such as "ece.low".
    """
    from calibstat.output.json_text import json_text
    from calibstat.result import plain_values

    said: dict[str, object] = {"answer": " ".join(part for part in answer.said if isinstance(part, str))}
    said |= {"next_step": answer.next_step, "data": "" if answer.data is None else answer.data.short}
    return json_text(plain_values({**said, "seed": answer.seed, **answer.results}), indent=2)


def show(answer: Answer, verbose: bool) -> None:
    """Print an answer, and leave as conditions say."""
    say(*answer.said)
    if verbose:
        details = cast("Sequence[str | Table]", answer.details)  # no functions any more: `with_what_is_shown`
        say(*([answer.caution.short] if answer.caution else []), *details)
    say(*with_seed(answer, verbose))
    if verbose and answer.caution is not None:
        say(*answer.caution.full, style="dim")
    leave(answer)


def with_seed(answer: Answer, verbose: bool) -> list[str]:
    """Return what the rows are, with the seed of the numbers behind it; nothing if nothing was answered."""
    said = [] if answer.data is None else [*answer.data.at_length] if verbose else [answer.data.short]
    if answer.seed is None or not answer.said:
        return said
    *before, last = said or [""]
    return [*before, f"{last} Seed {answer.seed}.".strip()]


def leave(answer: Answer) -> None:
    """Say which conditions failed, and leave with exit code 1 if one did, or 3 if the rows cannot tell."""
    for sentence in answer.failed:
        typer.echo(f"calibstat: failed, because {visible(sentence)}", err=True)
    for sentence in answer.unclear:
        typer.echo(f"calibstat: not shown, because {visible(sentence)}", err=True)
    if answer.failed or answer.unclear:
        raise typer.Exit(FAILED if answer.failed else CANNOT_TELL)


def with_parameters(run: Callable[..., T], parameters: Sequence[inspect.Parameter]) -> Callable[..., T]:
    """Let a function that takes keywords have these parameters, from which the options of a command are made."""
    named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    run.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in named}
    return run
