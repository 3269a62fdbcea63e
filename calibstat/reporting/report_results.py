"""The report as a result, which saves and shows itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from calibstat.output.whole_folder import write_file
from calibstat.reporting.formats import as_text, format_of
from calibstat.reporting.pages import piece
from calibstat.reporting.report_fields import ReportFields


@dataclass(frozen=True, eq=False)
class Report(ReportFields):
    """Result of `report`: results only, and no rows.

    Attributes
    ----------
    title : str
        The heading.
    models : dict of ModelReport
        What was found of each model, by its name.
    comparisons : dict of Comparison
        The squared kernel calibration error (or the primary one, see `report`) and the Brier score of all pairs of
        models, by the name of the measure; empty for one model.
    data : str
        The rows in one sentence.
    n : int
        Rows.
    n_classes : int
        Classes; 2 for a binary outcome.
    confidence_level : float
        Of every interval by itself.
    seed : int
        Gives the same numbers again, as `rng`.
    version : str
        The version of calibstat.
    command : str
        The call that made it.
    notes : tuple of str
        Warnings, and which measures so many rows left out.
    date : str
        The day on which it was made, as in "2026-11-27".
    source : str
        The file that was read; empty if none is known.
    """

    def save(self, path: str | Path, format: str | None = None) -> Path:
        """Write the report to a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            The file.
        format : {"html", "json", "csv", "md"}, optional
            By default the suffix of `path`. "html": one page that needs no other file and no network; "json": every
            field; "csv": the table of `to_frame`, safe to open in a spreadsheet; "md": the page without pictures.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            If the format is none of these.
        """
        path = Path(path)
        text = as_text(self, format_of(path, format))
        write_file(path, text)
        return path

    def _repr_html_(self) -> str:
        """Return the page of the report, for notebooks."""
        return piece(self)
