"""Families of models, each ranked by itself, in one table of question "ranking"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibstat.papers.parts.grid import Measures

if TYPE_CHECKING:
    import pandas as pd

IN = " | "  # between measure and family, because rows of question "ranking" do not name the family


def in_family(measures: Measures, family: str) -> Measures:
    """Label the measures with the family that they rank."""
    return {f"{label}{IN}{family}": measure for label, measure in measures.items()}


def by_family(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables of the families, with the labels as they were."""
    parts = table["measure"].str.split(IN, regex=False, expand=True)
    plain = table.assign(measure=parts[0], against=table["against"].str.split(IN, regex=False).str[0])
    return {str(family): plain[parts[1] == family] for family in parts[1].unique()}
