"""The page of a report: what stands in which section, as HTML and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator

from calibstat.in_order import smallest_first
from calibstat.inference.auditing.audit_results import Audit
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.comparison_results import Comparison
from calibstat.output.fragments import Picture, Section, Table
from calibstat.output.html import render
from calibstat.output.said_once import said_once
from calibstat.output.wording import COMPARING, NO_PROOF, number, p_text, percent, units
from calibstat.plots.inline_svg import inline_svg
from calibstat.reporting.report_fields import ClassesReport, ModelReport, ReportFields
from calibstat.reporting.sentences import ends, titled, whose_p

_MOST_ROWS = 25  # classes, groups or pairs in a table


def page(report: ReportFields) -> str:
    """Return the report as one HTML page that needs no other file."""
    return render("page.html", report=report, about=about(report), sections=[*sections(report)])


def piece(report: ReportFields) -> str:
    """Return the report as a piece of HTML, for notebooks."""
    return render("fragment.html", sections=[Section(report.title, [about(report)]), *sections(report)])


def as_markdown(report: ReportFields) -> str:
    """Return the report as Markdown, without its pictures."""
    return render("page.md", report=report, about=about(report), sections=[*sections(report, pictures=False)])


def about(report: ReportFields) -> str:
    """Return the line below the heading: which data, and when the report was made."""
    source = f"{report.source}: " if report.source else ""
    return f"{source}{report.data} Made on {report.date} by calibstat {report.version}."


def sections(report: ReportFields, pictures: bool = True) -> Iterator[Section]:
    """Return the sections, the verdict first."""
    several = len(report.models) > 1
    if report.comparisons:
        sentences = [each.answer for each in report.comparisons.values()]
        yield Section("Which model is better calibrated?", sentences, kind="answer")
    for name, model in report.models.items():
        yield Section(name if several else "", model.verdict, kind="answer")
    advice = said_once({name: model.next_step for name, model in report.models.items()})
    yield Section("What to do next", advice, kind="next")
    yield from _diagrams(report, pictures)
    yield _measures(report)
    for name, model in report.models.items():
        of = f" of {name}" if several else ""
        if model.classes is not None:
            yield _classes(f"Classes{of}", model.classes, pictures)
    if report.comparisons:
        yield _comparisons(report, pictures)
    for name, model in report.models.items():
        of = f" of {name}" if several else ""
        if isinstance(model.groups, Audit):
            yield _groups(f"Groups{of}", model.groups, pictures)
    if any(model.recalibrated is not None for model in report.models.values()):
        yield from _recalibrated(report, pictures)
    if known := [(name, m.detectable) for name, m in report.models.items() if m.detectable is not None]:
        sentences = [f"{name}: {answer}" if several else str(answer) for name, answer in known]
        yield Section("What these rows could have shown", sentences)
    conditions = (NO_PROOF + units(report.is_of_clusters)).at_length
    yield Section("What this rests on", [*_details(report), *conditions, *report.notes], kind="detail")
    how = [f"calibstat {report.version}, seed {report.seed}: the same call gives the same numbers.", report.command]
    yield Section("How to make it again", how, kind="detail")


def _diagrams(report: ReportFields, pictures: bool) -> Iterator[Section]:
    """Return the reliability diagrams of all models, in one picture."""
    diagrams = {name: model.diagram for name, model in report.models.items() if model.diagram is not None}
    if not diagrams:
        return
    several = len(diagrams) > 1
    notes = said_once({name: str(diagram) for name, diagram in diagrams.items()})
    drawn = diagrams if several else next(iter(diagrams.values()))
    shown = [_drawn(drawn, f"Reliability diagram{'s of all models' * several}", wide=several)] if pictures else []
    lead = ["Observed frequency against predicted probability: points of a calibrated model lie close to the diagonal."]
    lead = lead if report.n_classes == 2 else []
    yield Section("Reliability diagram", lead, shown, notes=notes)


def _measures(report: ReportFields) -> Section:
    """Return the table of measures, a column for each model."""
    several = len(report.models) > 1
    first = next(iter(report.models.values()))
    level = percent(report.confidence_level)
    header = ["Measure", *(f">{name}" for name in report.models)]
    rows = []
    for key, entry in first.measures.items():
        title = f"{entry.title}{entry.lens.in_brackets}"
        each = [model.measures[key] for model in report.models.values()]
        floors = ["–" if m.if_calibrated is None else number(m.if_calibrated) for m in each]
        if several:
            rows.append([title, *(_with_interval(m.estimate, m.low, m.high) for m in each)])
            if any(m.if_calibrated is not None for m in each):
                rows.append(["… of a calibrated model", *floors])
        else:
            rows.append([title, number(entry.estimate), ends(entry.low, entry.high), *floors])
    header = header if several else ["Measure", ">Estimate", f">{level} interval", ">A calibrated model"]
    note = f"{level} intervals, each valid by itself; –: none is known to cover near calibration." if several else ""
    lead = ["These measures describe the size of the error. The conclusion is the verdict above."]
    remarks = [
        f"{f'{name}, ' if several else ''}{entry.title}: {entry.remark}"
        for name, model in report.models.items()
        for entry in model.measures.values()
        if entry.remark
    ]
    return Section("Measures", lead, tables=[Table(header, rows, note)], notes=remarks)


def _classes(title: str, classes: ClassesReport, pictures: bool) -> Section:
    """Return the classes: a small diagram of each, its error, and its test."""
    frame = classes.to_frame()
    order = smallest_first(frame["pvalue_holm"]) if len(frame) > _MOST_ROWS else range(len(frame))
    rows = [*zip(*(frame[name].tolist() for name in frame.columns), strict=True)]  # each of its own type
    p_of = f">p ({classes.test.measure})"
    header = ("Class", ">Share of rows", ">Mean prediction", ">ECE", p_of, ">p (Holm)")
    cells = [
        [str(row[0]), *map(number, row[1:4]), p_text(row[4]), p_text(row[5])]
        for row in (rows[k] for k in [*order][:_MOST_ROWS])
    ]
    left = len(frame) - _MOST_ROWS
    note = f"and {left:,} more classes with larger p. " if left > 0 else ""
    note += whose_p(str(classes.test.measure), "ECE")
    note += f"p (Holm) is p made larger because {len(frame):,} classes were tested."
    shown = [_drawn(classes.diagrams, "Reliability diagram of each class", wide=True)] if pictures else []
    rest = [str(classes.diagrams).splitlines()[-1], *classes.each.drivers]
    return Section(title, [classes.test.answer], shown, [Table(header, cells, note)], rest)


def _comparisons(report: ReportFields, pictures: bool) -> Section:
    """Return the differences between models, of the primary error and of the Brier score."""
    comparisons = [*report.comparisons.values()]
    null = f"Null hypothesis of each pair: {comparisons[0].null_hypothesis}."
    shown = [_drawn(each, f"Differences of {each.measure}", wide=True) for each in comparisons] if pictures else []
    return Section("Comparison of the models", COMPARING, shown, [_pairs(each) for each in comparisons], [null])


def _pairs(comparison: Comparison) -> Table:
    adjusted = (
        f">p ({comparison.adjust.replace('holm', 'Holm').replace('bh', 'BH')})" if len(comparison.pairs) > 1 else ""
    )
    header = [
        f"{comparison.measure.in_prose}{comparison.lens.in_brackets}",
        ">Difference",
        f">{percent(comparison.confidence_level)} interval",
        ">p",
    ]
    header += [adjusted] if adjusted else []
    rows = []
    for i, (a, b) in enumerate(comparison.pairs[:_MOST_ROWS]):
        interval = ends(comparison.low[i], comparison.high[i])
        row = [f"{a} − {b}", number(comparison.difference[i]), interval, p_text(comparison.pvalue[i])]
        rows.append(row + ([p_text(comparison.pvalue_adjusted[i])] if adjusted else []))
    rest = len(comparison.pairs) - _MOST_ROWS
    return Table(header, rows, f"and {rest:,} more pairs" if rest > 0 else "")


def _groups(title: str, audit: Audit, pictures: bool) -> Section:
    """Return the audit of the groups."""
    bounds = (">O/E", ">at least", ">at most") if audit.is_rare else (">Error at least", ">at most")
    header = ("Group", ">Rows", ">Predicted", ">Observed", *bounds, ">p (all groups)")
    rows = []
    for g in audit.order[:_MOST_ROWS]:
        limits = (audit.ratio_low, audit.ratio_high) if audit.is_rare else (audit.low, audit.high)
        digits, of_ends = (".3g", ".2f") if audit.is_rare else (".4f", ".4f")
        shares = [f"{value:{digits}}" for value in (audit.predicted[g], audit.observed[g])]
        shares += [f"{audit.ratio[g]:{of_ends}}"] if audit.is_rare else []
        shares += ["–" if limit is None else f"{limit[g]:{of_ends}}" for limit in limits]
        rows.append([audit.names[g], f"{audit.rows[g]:,}", *shares, p_text(audit.pvalue_adjusted[g])])
    rest = len(audit.names) - _MOST_ROWS
    note = f"and {rest:,} more groups with larger p. " if rest > 0 else ""
    quotient = "O/E is the observed frequency divided by the mean prediction; all bounds are valid simultaneously."
    difference = "The error is the observed frequency minus the mean prediction; all bounds are valid simultaneously."
    note += quotient if audit.is_rare else difference
    shown = [_drawn(audit, "Errors of the groups", wide=True)] if pictures else []
    sentences = [*audit.sentences, *audit.beyond_sentences]
    how = [line for line in str(audit).splitlines() if line.strip() not in (*sentences, *audit.on_impossible)]
    return Section(title, sentences, shown, [Table(header, rows, note)], how)


def _recalibrated(report: ReportFields, pictures: bool) -> Iterator[Section]:
    """Return each model before and after recalibration."""
    for name, model in report.models.items():
        recalibrated = model.recalibrated
        if recalibrated is None:
            continue
        shown = []
        if pictures and model.diagram is not None and recalibrated.diagram is not None:
            both = {"before": model.diagram, "after": recalibrated.diagram}
            shown = [_drawn(both, "Reliability before and after recalibration", wide=True)]
        brier, level = recalibrated.brier, percent(report.confidence_level)
        errors = [
            _with_interval(each.estimate, each.low, each.high) for each in (recalibrated.before, recalibrated.after)
        ]
        change = _with_interval(-brier.difference[0], -brier.high[0], -brier.low[0])
        rows = [[titled(recalibrated.before), *errors, ""]]
        rows.append([titled(brier), *map(number, brier.estimates), change])
        table = Table(("Measure", ">Before", ">After", ">Change"), rows, f"{level} intervals")
        title = f"Recalibration of {name}" if len(report.models) > 1 else "Recalibration"
        yield Section(title, [str(recalibrated)], shown, [table])


def _details(report: ReportFields) -> Iterator[str]:
    """Return how it was tested and what is estimated, once for all models if it is the same."""
    first: ModelReport = next(iter(report.models.values()))
    yield from said_once({name: _plain(model.test) for name, model in report.models.items()})
    yield f"What the interval is for: {first.ece.estimand}"


def _plain(test: CalibrationTestResult) -> str:
    return " ".join(test.details.splitlines())


def _drawn(result: object, label: str, wide: bool = False) -> Picture:
    return Picture(inline_svg(result, label), wide=wide)


def _with_interval(estimate: float, low: float, high: float) -> str:
    return (
        number(estimate)
        if math.isnan(low) or math.isinf(estimate)
        else f"{number(estimate)} [{number(low)}, {number(high)}]"
    )
