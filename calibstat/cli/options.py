"""The arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from calibstat.data.lenses import spellings


def either(texts: Sequence[str]) -> str:
    """Write alternatives: a, b or c."""
    *first, last = texts
    return f"{', '.join(first)} or {last}" if first else last


File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A .csv, .tsv, .txt, .jsonl (all also .gz), .parquet, .npz or .npy file, one row for each outcome; or "
        "several, a folder of them, or a pattern such as rows/*.parquet; - is standard input.",
    ),
]
Label = Annotated[
    str,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Column of outcomes: 0 or 1, or two values (see --positive); of several classes their names, or their "
        "numbers from 0.",
    ),
]
Labels = Annotated[
    list[str],
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Column of outcomes: 0 or 1, or two values (see --positive); of several classes their names, or their "
        "numbers from 0. Once for each --prob if models have outcomes of their own, such as whether each was right.",
    ),
]
Prob = Annotated[
    list[str],
    typer.Option(
        "--prob",
        metavar="COLUMN",
        help="Column of predicted probabilities of outcome 1. Of several classes repeat it for every class, or give "
        'one pattern in quotes: "p_*" finds p_cat and p_dog, the classes cat and dog.',
    ),
]
Models = Annotated[
    list[str],
    typer.Option(
        "--prob",
        metavar="COLUMN",
        help="Once for each model: its column of predicted probabilities of outcome 1, or of several classes a "
        'pattern in quotes for its columns, such as "A_*".',
    ),
]
LensText = Annotated[
    str | None,
    typer.Option(
        "--lens",
        metavar="LENS",
        help=f"How to reduce several classes: {either(spellings())}, with the NAME of a class. Default for more than "
        "two: top_label.",
    ),
]
MEASURE_HELP = "As in 'calibstat measures'; may be repeated. Default: "
Tests = Annotated[
    list[str] | None,
    typer.Option("--measure", metavar="NAME", help=f"{MEASURE_HELP}one test that looks for deviations of every kind."),
]
Names = Annotated[list[str] | None, typer.Option("--measure", metavar="NAME", help=f"{MEASURE_HELP}ece.")]
Method = Annotated[
    str | None,
    typer.Option("--method", help="honest, bracket, percentile, basic or bca; with --folds triangle or mirror."),
]
Level = Annotated[float, typer.Option("--level", help="Confidence level, between 0 and 1.")]
Resamples = Annotated[
    int | None, typer.Option("--n-resamples", help="Number of resamples: 999, or 99 where they take long.")
]
StopAfter = Annotated[
    int | None,
    typer.Option(
        "--stop-after",
        metavar="NUMBER",
        help="Stop drawing after so many resamples at least as extreme as the data, such as 20. Default: draw all.",
    ),
]
SideOfTest = Annotated[
    str | None,
    typer.Option(
        "--side",
        metavar="over|under",
        help="Ask one side alone, fixed before the outcomes are seen: over (are predictions too high?) or under (too "
        "low?). Default: both.",
    ),
]
Seed = Annotated[int, typer.Option("--rng", metavar="SEED", help="The same seed gives the same numbers.")]
Folder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write to; made if it is not there.")]
WeightColumn = Annotated[
    str | None,
    typer.Option(
        "--weight", metavar="COLUMN", help="Column of weights of the rows, at least 0; not for counts of repeated rows."
    ),
]
ClusterColumn = Annotated[
    str | None,
    typer.Option("--cluster", metavar="COLUMN", help="Column of the cluster of each row (a patient, a day)."),
]
UnseenClusters = Annotated[
    str | None,
    typer.Option(
        "--unseen",
        metavar="WORD",
        help="With --cluster, how extreme absent clusters may be: observed (like the most extreme one here, the "
        "default), clusters (anything) or rows (they do not matter).",
    ),
]
RefusedClusters = Annotated[str | None, typer.Option("--cluster", metavar="COLUMN", hidden=True)]  # says what to do
FoldsColumn = Annotated[
    str | None,
    typer.Option(
        "--folds", metavar="COLUMN", help="Column of the fold of each row, if a model of the other folds predicted it."
    ),
]
