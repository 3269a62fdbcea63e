"""The command `calibstat audit`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibstat.cli.answers import Answer
from calibstat.cli.large.parts import need_other_file
from calibstat.cli.option_groups import takes_groups
from calibstat.cli.options import (
    ClusterColumn,
    File,
    Label,
    LensText,
    Level,
    Models,
    Resamples,
    Seed,
    SideOfTest,
    UnseenClusters,
)
from calibstat.cli.reading import Reading
from calibstat.cli.row_columns import RowColumns, read_models_with_columns
from calibstat.cli.terminal import one_line_errors, written
from calibstat.output.whole_folder import whole_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibstat.inference.auditing.audit_results import Audit

By = Annotated[
    list[str],
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Column of a feature: text as it is, numbers cut at quantiles, dates (2016-06-30) cut into days, months, "
        "quarters or years. May be repeated.",
    ),
]
OFF = "Fit the model again with the features of these groups, or recalibrate them by themselves, and audit new rows."
WATCH = "Watch the groups that matter to you: calibstat monitor, with --segment."
Picture = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder for a table, a picture and JSON.")]


@dataclass(frozen=True)
class GroupCuts:
    """The way in which groups are made of columns.

    Attributes
    ----------
    depth, min_rows, quantiles : int
        How many levels may intersect, the fewest rows of a group, and the parts that numbers are cut into.
    learner : str or None
        What looks for groups, in place of levels.
    split, leaves : float, int
        The share of the rows that it sees, and the most groups that it makes.
    """

    depth: Annotated[int, typer.Option("--depth", help="How many levels of columns may intersect.")] = 2
    min_rows: Annotated[int, typer.Option("--min-rows", help="Leave out groups with fewer rows.")] = 30
    quantiles: Annotated[int, typer.Option("--quantiles", help="Number of parts that numbers are cut into.")] = 4
    learner: Annotated[
        str | None, typer.Option("--learner", metavar="tree", help="Let a tree look for groups on a part of the rows.")
    ] = None
    split: Annotated[float, typer.Option("--split", help="Share of the rows that a learner sees.")] = 0.5
    leaves: Annotated[int, typer.Option("--leaves", help="The most groups that a learner makes.")] = 8

    @property
    def made(self) -> dict[str, Any]:
        """The arguments of `Groups`."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"n_quantiles": named.pop("quantiles"), **named}


@dataclass(frozen=True)
class InClusters:
    """The column of the clusters of rows.

    Attributes
    ----------
    cluster, unseen : str or None
        As in `RowColumns`.
    """

    cluster: ClusterColumn = None
    unseen: UnseenClusters = None


@takes_groups
def audit_groups(
    file: File,
    label: Label,
    prob: Models,
    by: By,
    reading: Reading,
    cuts: GroupCuts,
    clusters: InClusters,
    shape: Annotated[bool, typer.Option("--shape", help="Look for over-confidence within groups too.")] = False,
    side: SideOfTest = None,
    lens: LensText = None,
    level: Level = 0.95,
    n_resamples: Resamples = None,
    rng: Seed = 0,
    out: Picture = None,
) -> Answer:
    """Find groups for which the predictions are wrong.

    All groups are tested together.
    """
    with one_line_errors():
        from calibstat import Groups, audit
        from calibstat.cli.counted_audits import audits_in_batches
        from calibstat.cli.features_and_periods import read_features
        from calibstat.cli.lens_syntax import lens_of_models
        from calibstat.cli.saved_audits import save_audits
        from calibstat.inference.auditing.audit import side_of_audit
        from calibstat.output import wording as words

        options: dict[str, Any] = {"shape": shape, "side": side_of_audit(side, shape), "confidence_level": level}
        asked = Groups(by, **cuts.made)
        draws = 999 if n_resamples is None else n_resamples
        audits: Mapping[str, Audit] | None = None
        columns = RowColumns(cluster=clusters.cluster, unseen=clusters.unseen)
        if lens is None and not columns and cuts.learner is None:
            levels: dict[str, int] = {"depth": cuts.depth, "min_rows": cuts.min_rows}
            audits, how = audits_in_batches(
                file, label, prob, by, reading, cuts.quantiles, draws, rng, {**levels, **options}
            )
        if audits is None:
            models, how = read_models_with_columns(file, label, prob, reading, columns)
            audits = audit(
                models,
                groups=replace(asked, given=read_features(file, by)),
                lens=lens_of_models(models, lens),
                n_resamples=draws,
                rng=rng,
                n_jobs=-1,
                **options,
            )
        one = next(iter(audits.values()))
        where = "--format json has all" if out is None else "groups.csv has all"
        said = {name: each.groups_and(where) for name, each in audits.items()}
        sentences = [f"{name}. {groups}" if len(audits) > 1 else groups for name, groups in said.items()]
        if out is not None:
            with whole_folder(out) as draft:
                saved = save_audits(audits, draft)
                need_other_file(file, *(out / each.name for each in saved))
            sentences.append(written(out, saved))
        sentences += [f"Left out: {one.left_out}."] if one.left_out else []
        counts = f"{words.number_of('row', one.n)}, {words.number_of('group', len(one.names))}"
        about = f"{counts} by {', '.join(by)}, {one.lens}. {how}".strip()
        details = [one.promise, f"Null hypothesis: {one.null_hypothesis}"]
        step = OFF if any(each.found.size or each.beyond_found for each in audits.values()) else WATCH
        return Answer(
            sentences,
            words.Brief(about),
            words.ROWS if one.clusters is None else words.CLUSTERS,
            details,
            results=audits,
            next_step=step,
        )
