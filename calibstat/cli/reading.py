"""The options of all commands on how the columns of a file are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import typer

Positive = Annotated[
    str | None,
    typer.Option("--positive", metavar="VALUE", help="Which of two outcome values is the event (outcome 1)."),
]
Logits = Annotated[bool, typer.Option("--logits", help="The columns of --prob contain logits, not probabilities.")]
Clip = Annotated[
    float | None,
    typer.Option(
        "--clip",
        metavar="NUMBER",
        help="Move probabilities that far from 0 and 1, such as 1e-6, as they are read. Default: not at all.",
    ),
]
DivideBySums = Annotated[
    bool,
    typer.Option(
        "--divide-by-sums", help="Divide the probabilities of classes in each row by their sum, if they are rounded."
    ),
]


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

    positive: Positive = field(default=None, metadata={"needs": "label"})
    logits: Logits = False
    clip: Clip = None
    divide_by_sums: DivideBySums = False


AS_WRITTEN = Reading()
