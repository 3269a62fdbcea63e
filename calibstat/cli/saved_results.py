"""The files of `calibstat report`: JSON, tables and pictures."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from calibstat.cli.class_report import ClassFindings, assess_classes, classes_frame, save_alone
from calibstat.cli.lens_syntax import View
from calibstat.cli.report import (
    ENOUGH,
    Finding,
    assess,
    error_intervals,
    findings_frame,
    save_side_by_side,
    verdict_frame,
)
from calibstat.cli.wording import CAUTIONS
from calibstat.data import lenses
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.inference.audit_results import Audit
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.detectable_effect import DEFAULT
from calibstat.inference.reliability import Reliability, reliability
from calibstat.inference.reliability_diagrams import ClassWiseReliability, SimplexReliability
from calibstat.output.csv_text import as_csv

PANELS = 25  # classes that one picture shows; of more, bars are those that need no drawing


@dataclass(frozen=True)
class Classes:
    """The part of a report on the classes.

    Attributes
    ----------
    findings : ClassFindings
        The test of each class, and its expected calibration error.
    diagrams : ClassWiseReliability
        The reliability diagram of each class.
    simplex : SimplexReliability or None
        Canonical reliability, for three or four classes.
    """

    findings: ClassFindings
    diagrams: ClassWiseReliability
    simplex: SimplexReliability | None


def judge_classes(view: View, rng: int = 0) -> Classes | None:
    """Assess each class of the lens, or each class; None for binary data."""
    if not isinstance(view.data, Predictions):
        return None
    data = view.canonical or view.data
    band = "consistency" if data.n_classes <= PANELS else "confidence"
    diagrams = reliability(data, lens=lenses.class_wise, band=band, rng=rng, n_jobs=-1)
    few = data.n_classes in (3, 4)
    simplex = reliability(data, lens="canonical", band=None, strategy="tree") if few else None
    enough = None if view.each_class else ENOUGH  # the classes are the verdict, or detail
    return Classes(assess_classes(data, DEFAULT, stop_after=enough, rng=rng), diagrams, simplex)


def judge(view: View, classes: Classes | None, rng: int = 0) -> CalibrationTestResult:
    """Return the test of the data as the lens shows them: of all classes together, if it shows each."""
    if view.each_class and classes is not None:
        return classes.findings.overall.test
    return assess(view.data, **view.settings(DEFAULT), rng=rng, interval=False).test


def save(
    view: View,
    verdict: CalibrationTestResult,
    findings: Sequence[Finding],
    classes: Classes | None,
    folder: Path,
    *,
    about: Mapping[str, object],
    groups: Audit | None = None,
    rng: int = 0,
) -> list[Path]:
    """Write JSON, tables and pictures to a folder and return their paths."""
    binary = view.canonical is None and not view.each_class
    diagram = reliability(view.data, lens=view.settings("ece")["lens"], rng=rng) if binary else None
    text, answer, sheet = folder / "report.json", folder / "verdict.csv", folder / "table.csv"
    text.write_text(as_json(view, verdict, findings, classes, groups, diagram, about) + "\n", encoding="utf-8")
    answer.write_text(as_csv(verdict_frame(verdict)), encoding="utf-8", newline="")
    sheet.write_text(as_csv(findings_frame(findings)), encoding="utf-8", newline="")
    saved = [text, answer, sheet]
    if diagram:
        title = [diagram.lens] if classes else []  # which outcome it is, of several classes
        saved.append(save_side_by_side(folder / "reliability.png", [diagram], title))
    saved.append(save_side_by_side(folder / "null.png", [verdict]))
    if errors := error_intervals(findings):
        saved.append(save_side_by_side(folder / "intervals.png", [errors]))
    saved += save_groups({"": groups}, folder) if groups else []
    return saved + (save_classes(classes, folder) if classes else [])


def save_classes(classes: Classes, folder: Path) -> list[Path]:
    """Write the table and the pictures of the classes to a folder and return their paths."""
    sheet = folder / "classes.csv"
    sheet.write_text(as_csv(classes_frame(classes.findings)), encoding="utf-8", newline="")
    saved = [sheet, save_alone(folder / "classes.png", classes.diagrams)]
    return [*saved, save_alone(folder / "simplex.png", classes.simplex)] if classes.simplex else saved


def save_audits(found: Mapping[str, Audit], folder: Path) -> list[Path]:
    """Write the audits of one or more models to a folder, as table, picture and JSON, and return their paths."""
    path = folder / "groups.json"
    everything = strict({name: each.to_dict() for name, each in found.items()})
    path.write_text(json.dumps(everything, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return [*save_groups(found, folder), path]


def save_groups(found: Mapping[str, Audit], folder: Path) -> list[Path]:
    """Write the table, with a row for each group and model, and the picture."""
    frames = {name: each.to_frame() for name, each in found.items()}
    (name, frame), *others = frames.items()
    if others:
        import pandas as pd

        frame = pd.concat(frames, names=["model"]).reset_index("model")
    sheet = folder / "groups.csv"
    sheet.write_text(as_csv(frame), encoding="utf-8", newline="")
    return [sheet, save_alone(folder / "groups.png", found if others else found[name])]


def as_json(
    view: View,
    verdict: CalibrationTestResult,
    findings: Sequence[Finding],
    classes: Classes | None,
    groups: Audit | None,
    diagram: Reliability | None,
    about: Mapping[str, object],
) -> str:
    """Return everything that was found as strict JSON."""
    found = [
        {
            "measure": finding.bound.name,
            "title": finding.title,
            "options": finding.bound.options,
            "estimate": finding.estimate,
            "interval": finding.interval.to_dict() if finding.interval else None,
            "test": finding.test.to_dict(),
        }
        for finding in findings
    ]
    answer = {"test": verdict.to_dict(), "detectable_effect": verdict.detectable_effect(n_jobs=-1).to_dict()}
    everything = {**about, "data": summary(view.data), "verdict": answer, "findings": found}
    if diagram:
        everything["reliability"] = diagram.to_dict()
    if groups:
        everything["groups"] = groups.to_dict()
    if classes:
        of_each = classes.findings.test.to_dict()
        del of_each["null_distribution"]  # as many numbers as resamples times classes
        everything["classes"] = {
            "test": of_each,
            "reliability": classes.diagrams.to_dict(),
            "simplex": classes.simplex.to_dict() if classes.simplex else None,
        }
    return json.dumps(strict({**everything, "cautions": list(CAUTIONS)}), indent=1, allow_nan=False)


def summary(data: Sample | Predictions) -> dict[str, object]:
    """Describe the data in numbers."""
    if not isinstance(data, Predictions):
        return {"n": data.n, "positives": float(data.positives.sum()), "distinct_predictions": data.value.size}
    observed = np.bincount(data.label, minlength=data.n_classes).tolist()
    return {
        "n": data.n,
        "classes": list(data.names),
        "happened": observed,
        "accuracy": float((data.top == data.label).mean()),
        "mean_largest_probability": float(data.largest.mean()),
    }


def strict(value: object) -> object:
    """Replace what JSON has no literal for, infinite and missing numbers, by null."""
    if isinstance(value, dict):
        return {key: strict(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [strict(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
