"""Paragraphs, errors of one line and progress on a terminal."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer
from rich.console import Console
from typer.core import TyperGroup

from calibstat.cli.option_names import in_options
from calibstat.output.visible_text import visible

if TYPE_CHECKING:
    from rich.table import Table

    from calibstat.data.checked_rows import Models
    from calibstat.data.predictions import Predictions
    from calibstat.data.sample import Sample
    from calibstat.output.wording import Brief

T = TypeVar("T")
INTERRUPTED = 130  # the exit code of a program that Ctrl-C ends, 128 and the number of the signal
ITEM = re.compile(r"  \S")
GRACE = 1.0  # seconds before a progress bar is worth showing


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what is wrong with the input into one line on standard error and exit code 2, and Ctrl-C into 130."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        named = "" if error.filename is None else f": {str(error.filename)!r}"
        fail(f"{error.strerror or error}{named}")
    except OverflowError as error:
        fail(f"a number is too large: {error}")
    except MemoryError as error:
        fail(f"there is not enough memory: {error}")
    except (ValueError, NotImplementedError, ModuleNotFoundError) as error:
        fail(in_options(str(error)))


def fail(text: str) -> NoReturn:
    """Print one line on standard error and leave with exit code 2."""
    typer.echo(f"calibstat: {visible(' '.join(text.split()))}", err=True)
    raise typer.Exit(2) from None


class Commands(TyperGroup):
    """Commands by their names; the name that Python or another package has for one is answered with the command."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; raise for a name that means another one, and write that out."""
        from calibstat.data.words.names_elsewhere import command_meant

        if self.get_command(ctx, args[0]) is None and (meant := command_meant(args[0], self.commands)):
            fail(f"expected a command, found {args[0]!r}; write calibstat {meant}")
        return super().resolve_command(ctx, args)


def console() -> Console:
    """Standard output, without colouring every number."""
    return Console(highlight=False)


def say(*parts: str | Table, style: str = "") -> None:
    """Print paragraphs and tables, each followed by an empty line."""
    out = console()
    for part in parts:
        if isinstance(part, str):
            out.print(_hanging(visible(part), out.width), style=style, markup=False)
        else:
            out.print(part, markup=False)
        out.print()


def _hanging(text: str, width: int) -> str:
    """Break the items of a list, which begin with two spaces, so that what follows stands below their words."""
    lines = text.split("\n")
    return "\n".join(
        fill(line, width, subsequent_indent="    ", break_on_hyphens=False) if ITEM.match(line) else line
        for line in lines
    )


def about(data: Sample | Predictions, how: str) -> Brief:
    """Describe the data, and how outcomes were read where there is a choice."""
    from calibstat.output.wording import Brief, describe_briefly, describe_data

    how = how.strip()
    return Brief(f"{describe_briefly(data)} {how}".strip(), (f"{describe_data(data)} {how}".strip(),))


def notes_beside(note: str, described: Brief) -> list[str]:
    """Return the lines of a note of a result that the description of the data does not say."""
    return [line for line in note.splitlines() if line not in described.short]


def about_models(models: Models, how: str) -> Brief:
    """Describe the data of several models likewise."""
    from calibstat.output.wording import Brief, number_of

    return Brief(f"{number_of('row', models.first.n)}, {number_of('model', len(models))}. {how.strip()}".strip())


def written(folder: Path, paths: Sequence[Path]) -> str:
    """Say what was written where: a path if it is one file."""
    if len(paths) == 1:
        return f"Written to {folder / paths[0].name}."
    return f"Written to {place(folder)}: {', '.join(path.name for path in paths)}."


def place(folder: Path) -> str:
    """Name a folder."""
    return "the current folder" if folder == Path() else str(folder)


@contextmanager
def late_bar(total: float | None) -> Iterator[Callable[[float, str], None]]:
    """Give a function that is told how much of the total is done, and what is next.

    It shows a bar, with the time that is left, on a terminal once a second has passed; None is a total not known.
    """
    from rich.progress import Progress

    began = time.monotonic()
    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=total)

    def show(done: float, what: str) -> None:
        bar.update(task, description=what, completed=done)
        if time.monotonic() - began > GRACE and bar.console.is_terminal:
            bar.start()

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()


def with_progress(names: Sequence[str], ask: Callable[[str], T]) -> list[T]:
    """Ask for each name in turn, with a progress bar once that has taken a second."""
    answers = []
    with late_bar(len(names)) as show:
        for done, name in enumerate(names):
            show(done, name)
            answers.append(ask(name))
    return answers
