"""The formats of a report: HTML, JSON, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from calibstat.data.checks import is_among, unknown_name
from calibstat.output.csv_text import as_csv
from calibstat.output.json_text import json_text
from calibstat.reporting.pages import as_markdown, page
from calibstat.reporting.report_fields import ReportFields


def said(report: ReportFields) -> dict[str, str]:
    """Return the answers of a report in sentences, and what to do next, of several models under their names."""
    several = len(report.models) > 1
    answers = [each.answer for each in report.comparisons.values()]
    steps = []
    for name, model in report.models.items():
        before = f"{name}. " if several else ""
        answers.append(before + " ".join(model.verdict))
        steps.append(before + model.next_step)
    return {"answer": " ".join(answers), "next_step": " ".join(steps)}


FORMATS: dict[str, Callable[[ReportFields], str]] = {
    "html": page,
    "json": lambda report: json_text({**said(report), **report.to_dict()}, indent=1) + "\n",
    "csv": lambda report: as_csv(report.to_frame()),
    "md": as_markdown,
}
SUFFIXES = {"htm": "html", "markdown": "md"}


def format_of(path: Path, format: str | None = None) -> str:
    """Return the given format, or the format of a file's suffix."""
    if format is not None:
        if not is_among(format, FORMATS):
            raise unknown_name("a format", format, FORMATS)
        return format
    suffix = path.suffix.lower().removeprefix(".")
    form = SUFFIXES.get(suffix, suffix)
    if form not in FORMATS:
        raise ValueError(f"expected a file that ends in .html, .json, .csv or .md, found {str(path)!r}")
    return form


def as_text(report: ReportFields, format: str) -> str:
    """Return a report in a format."""
    return FORMATS[format](report)
