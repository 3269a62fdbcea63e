"""The options of all commands on how the columns of a file are read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any

import typer

from calibstat.cli.answers import Answer, with_parameters


@dataclass(frozen=True)
class Reading:
    """The options by which the columns of a file are read.

    Attributes
    ----------
    positive : str or None
        The one of two values in the column of outcomes that is outcome 1; None for outcomes 0 and 1, or classes.
    logits : bool
        Whether the columns of probabilities hold logits.
    clip : float or None
        Probabilities are moved into [clip, 1 - clip]; of several classes they are then divided by their sum.
    divide_by_sums : bool
        Whether the probabilities of several classes are divided by their sum as they are read.
    """

    positive: str | None = None
    logits: bool = False
    clip: float | None = None
    divide_by_sums: bool = False


AS_WRITTEN = Reading()
OF_READING = {
    "positive": Annotated[
        str | None,
        typer.Option("--positive", metavar="VALUE", help="Which of two outcome values is the event (outcome 1)."),
    ],
    "logits": Annotated[
        bool, typer.Option("--logits", help="The columns of --prob contain logits, not probabilities.")
    ],
    "clip": Annotated[
        float | None,
        typer.Option(
            "--clip",
            metavar="NUMBER",
            help="Move probabilities that far from 0 and 1, such as 1e-6, as they are read. Default: not at all.",
        ),
    ],
    "divide_by_sums": Annotated[
        bool,
        typer.Option(
            "--divide-by-sums",
            help="Divide the probabilities of classes in each row by their sum, if they are rounded.",
        ),
    ],
}


def takes_reading(command: Callable[..., Answer]) -> Callable[..., Answer]:
    """Let a command with a parameter `reading` have the options of `Reading`; without --label none on outcomes."""
    known = inspect.signature(command, eval_str=True).parameters
    names = [name for name in OF_READING if name != "positive" or "label" in known]

    @wraps(command)
    def run(**given: Any) -> Answer:
        reading = Reading(**{name: given.pop(name) for name in names})
        return command(**given, reading=reading)

    added = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=getattr(AS_WRITTEN, name), annotation=OF_READING[name]
        )
        for name in names
    ]
    place = [*known].index("reading")
    kept = [*known.values()]
    return with_parameters(run, [*kept[:place], *added, *kept[place + 1 :]])
