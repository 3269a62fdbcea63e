"""The printed output of a command: the answer, then its support; with --verbose cautions and all else at length."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from calibstat.cli.option_names import with_options
from calibstat.cli.terminal import say
from calibstat.output.visible_text import visible

if TYPE_CHECKING:
    from rich.table import Table

    from calibstat.output.wording import Brief

T = TypeVar("T")
FAILED, CANNOT_TELL = 1, 3  # exit codes
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also print null hypotheses, what is estimated, and all cautions.")
]


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
    details : sequence of str and Table
        What is printed with --verbose only.
    failed : sequence of str
        Conditions on which the command ends with exit code 1, after printing.
    unclear : sequence of str
        Conditions that the rows can neither show nor refute, on which it ends with exit code 3 if none failed.
    """

    said: Sequence[str | Table] = ()
    data: Brief | None = None
    caution: Brief | None = None
    details: Sequence[str | Table] = ()
    failed: Sequence[str] = ()
    unclear: Sequence[str] = ()


def prints_answer(command: Callable[..., Answer]) -> Callable[..., None]:
    """Let a command print the answer that it returns, and have the option --verbose."""

    @wraps(command)
    def run(*, verbose: bool, **given: Any) -> None:
        with with_options(given):
            answer = command(**given)
        show(answer, verbose)

    known = inspect.signature(command, eval_str=True).parameters.values()
    last = inspect.Parameter("verbose", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Verbose)
    return with_parameters(run, [*known, last])


def show(answer: Answer, verbose: bool) -> None:
    """Print an answer, and leave with exit code 1 if a condition failed, or 3 if the rows cannot tell."""
    say(*answer.said)
    if verbose:
        say(*([answer.caution.short] if answer.caution else []), *answer.details)
    if answer.data is not None:
        say(*(answer.data.at_length if verbose else (answer.data.short,)))
    if verbose and answer.caution is not None:
        say(*answer.caution.full, style="dim")
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
