"""The study of the choices behind a calibration error: what its findings say from its stored table."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from simulation_files import study_file

from calibstat.papers.error_choices import HALVES, LARGER_LOSS, SAME
from calibstat.papers.parts.error_choice_pages import judged
from calibstat.papers.parts.splits import EVERY

study = study_file("error_choices_of_networks")
STORED = pd.read_csv(PROJECT / "simulations" / "results" / "error_choices_of_networks.csv", comment="#")
FINDINGS = (PROJECT / "simulations" / "findings" / "error_choices_of_networks.md").read_text(encoding="utf-8")
TEXT = " ".join(FINDINGS.split())
GIVEN = "cifar10_vgg16"
BINNING = "histogram binning"
PAIRS_OVER_BINS, PAIRS_OF_TABLE_3 = (
    list(zip(list(values)[::2], list(values)[1::2], strict=True)) for values in (study.CORRELATIONS, study.FITTED_ECE)
)


def written(value, digits=3):
    """A number as the page writes it, with a minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def rows_of(file, question, table=None):
    table = STORED if table is None else table
    return table[(table["file"] == file) & (table["question"] == question)]


def row_of(file, question, **values):
    rows = rows_of(file, question)
    for name, value in values.items():
        rows = rows[rows[name] == value]
    (found,) = rows.to_dict("records")
    return found


def ten_numbers():
    """Section 5.3, line by line."""
    ways = [(SAME, "ties together"), (SAME, "ties split"), (HALVES, "ties split")]
    lines = []
    for name, paper in study.CORRELATIONS.items():
        cells = []
        for file in (EVERY, GIVEN):
            for against, way in ways:
                row = row_of(file, "bins", measure=name, against=against, way=way)
                error = f" ± {written(row['sd'] / np.sqrt(row['files']), 3)}" if file == EVERY else ""
                cells.append(written(row["mean"], 2 if file == GIVEN else 3) + error)
        lines.append(f"| {name} | {' | '.join(cells)} | {written(paper, 2)} |")
    return "\n".join(lines)


def claims_over_bins():
    """The five differences of section 5.3, with a verdict for each rule of ties."""
    lines = []
    for larger, smaller in PAIRS_OVER_BINS:
        name = f"{larger} − {smaller}"
        cells = []
        for way in ("ties together", "ties split"):
            row = row_of(EVERY, "claim", measure=name, against=SAME, way=way)
            cells.append(f"{written(row['mean'])} ± {written(row['sd'] / np.sqrt(row['files']))}, {judged(row, 2)}")
        for way in ("ties together", "ties split"):
            row = row_of(GIVEN, "claim", measure=name, against=SAME, way=way)
            cells.append(f"{written(row['mean'])}, {int(row['above'])} of 20")
        lines.append(f"| {name} | {' | '.join(cells)} | {written(study.printed(name, SAME), 2)} |")
    return "\n".join(lines)


def table_3():
    """Mean ECE of fitted temperatures, times 100."""
    lines = []
    for name, paper in study.FITTED_ECE.items():
        cells = []
        for file in (EVERY, GIVEN):
            for search in study.SEARCHES:
                row = row_of(file, "fitted temperature", measure=name, against="ECE", way=search)
                error = f" ± {100 * row['sd'] / np.sqrt(row['files']):.2f}" if file == EVERY else ""
                cells.append(f"{100 * row['mean']:.2f}{error}")
        lines.append(f"| {name} | {' | '.join(cells)} | {100 * paper:.2f} |")
    return "\n".join(lines)


def claims_of_temperatures():
    """The five differences of table 3."""
    lines = []
    for larger, smaller in PAIRS_OF_TABLE_3:
        name = f"{larger} − {smaller}"
        cells = [judged(row_of(EVERY, "claim", measure=name, against="ECE", way=way), 2) for way in study.SEARCHES]
        cells += [
            f"{int(row_of(GIVEN, 'claim', measure=name, against='ECE', way=way)['above'])} of 20"
            for way in study.SEARCHES
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def tables_1_and_2():
    """Errors of histogram binning, times 100."""
    lines = []
    for model in ("uncalibrated", "histogram", "histogram, by class"):
        cells = []
        for file in (EVERY, GIVEN):
            for measure in ("ECE", "class-conditional ECE"):
                for way in ("observed", "beyond calibrated"):
                    row = row_of(file, "histogram", model=model, measure=measure, way=way)
                    error = f" ± {100 * row['sd'] / np.sqrt(row['files']):.2f}" if file == EVERY else ""
                    cells.append(f"{100 * row['mean']:.2f}{error}".replace("-", "−"))
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return "\n".join(lines)


def claims_of_binning():
    lines = []
    rows = rows_of(EVERY, "claim")
    for row in rows[rows["against"] == BINNING].to_dict("records"):
        ours = f"{written(row['mean'], 4)} ± {written(row['sd'] / np.sqrt(row['files']), 4)}, {judged(row, 2)}"
        given = row_of(GIVEN, "claim", measure=row["measure"], against=BINNING, way=row["way"])
        lines.append(
            f"| {row['measure']}, {row['way']} | {ours} | {written(given['mean'], 4)}, {int(given['above'])} of 20 |"
        )
    return "\n".join(lines)


def sentences():
    """What the findings say in words."""
    found = []
    for file, who in ((EVERY, "of ten networks"), (GIVEN, "of the VGG16")):
        local, all_over = (
            row_of(file, "fitted temperature", measure="all", against=LARGER_LOSS, way=way)["mean"]
            for way in study.SEARCHES
        )
        found.append(f"{local:.1f} and {all_over:.1f} of the 32 {who}")
    row = row_of(EVERY, "claim", against="each class")
    found.append(f"is {written(row['mean'], 2)} ± {written(row['sd'] / np.sqrt(row['files']), 2)} for ten networks")
    found.append(f"and {written(row_of(GIVEN, 'claim', against='each class')['mean'], 2)} for the VGG16")
    classes = rows_of(GIVEN, "each class")
    observed, chance = (classes[classes["way"] == way]["mean"] for way in ("observed", "if calibrated"))
    found.append(f"from {written(observed.min(), 4)} to {written(observed.max(), 4)}")
    found.append(f"from {written(chance.min(), 4)} to {written(chance.max(), 4)} if calibrated")
    found += [*of_all_errors(), standard_errors()]
    large = temperatures_above(20)
    found.append(
        f"{large} of the 32 errors have a mean temperature above 20 by the global search, none by the local one"
    )
    return found


def of_all_errors():
    """What the mean ECE over all 32 errors is by both searches, and how far correlations fall on other rows."""
    means, falls = [], []
    for file, who in ((EVERY, "networks"), (GIVEN, "VGG16")):
        ece = [
            row_of(file, "fitted temperature", measure="all", against="ECE", way=way)["mean"] for way in study.SEARCHES
        ]
        means.append(f"{written(ece[0])} and {written(ece[1])} of the {who}")
        both = [row_of(file, "bins", measure="all", against=each, way="ties split")["mean"] for each in (SAME, HALVES)]
        falls.append(f"from {written(both[0], 2)} to {written(both[1], 2)} ({who})")
    return f"the mean ECE over all 32 is, local and global, {' and '.join(means)}", " and ".join(falls)


def standard_errors():
    """By how many standard errors adaptive bins are steadier in the networks, by both rules."""
    rows = [
        row_of(EVERY, "claim", measure="adaptive bins − even bins", against=SAME, way=f"ties {rule}")
        for rule in ("together", "split")
    ]
    together, split = (row["mean"] / row["sd"] * np.sqrt(row["files"]) for row in rows)
    return f"{together:.1f} standard errors with ties together, and {split:.1f} with ties split"


def temperatures_above(limit):
    rows = rows_of(GIVEN, "each error")
    assert (rows.loc[rows["way"] == "local", "mean"] < 3).all()
    return int((rows.loc[rows["way"] == "global", "mean"] > limit).sum())


TABLES = (ten_numbers, claims_over_bins, table_3, claims_of_temperatures, tables_1_and_2, claims_of_binning)


@pytest.mark.parametrize("made", TABLES)
def test_the_findings_have_the_stored_numbers(made):
    assert made() in FINDINGS


def test_the_findings_say_what_is_stored():
    assert [sentence for sentence in sentences() if sentence not in TEXT] == []


def test_other_pages_say_the_same():
    items = (PROJECT / "tests" / "papers" / "items.md").read_text(encoding="utf-8")
    local = [row_of(EVERY, "claim", measure=f"{a} − {b}", against="ECE", way="local") for a, b in PAIRS_OF_TABLE_3]
    given = [row_of(GIVEN, "claim", measure=f"{a} − {b}", against="ECE", way="local") for a, b in PAIRS_OF_TABLE_3]
    assert [judged(row, 2) for row in local].count("found") == 4
    assert sum(row["mean"] > 0 for row in given) == 3
    said = (
        "ten networks have four of the five differences with the sign of CIFAR-10 by the local one, and a VGG16 three"
    )
    assert said in items
    steadier = [
        judged(row_of(EVERY, "claim", measure="adaptive bins − even bins", against=SAME, way=f"ties {rule}"), 2)
        for rule in ("together", "split")
    ]
    assert steadier == ["found", "not settled"]
    assert "of the VGG16 they are steadier, of the networks by one rule alone" in items
    others = [f"{a} − {b}" for a, b in PAIRS_OVER_BINS[1:]]
    opposite = [
        name
        for name in others
        if row_of(EVERY, "claim", measure=name, against=SAME, way="ties split")["mean"]
        * row_of(GIVEN, "claim", measure=name, against=SAME, way="ties split")["mean"]
        < 0
        and abs(row_of(GIVEN, "claim", measure=name, against=SAME, way="ties split")["mean"]) > 0.01
    ]
    assert len(opposite) == 3
    page = (PROJECT / "simulations" / "findings" / "error_choices_of_networks.md").read_text(encoding="utf-8")
    assert "Of the other four differences three have opposite signs in the two, and one is near 0 for the VGG16" in page


def test_a_changed_number_is_found(monkeypatch):
    monkeypatch.setitem(globals(), "STORED", STORED.assign(mean=STORED["mean"] * 1.1))
    assert [made for made in TABLES if made() in FINDINGS] in ([], [claims_of_temperatures])  # verdicts alone may stay


def test_the_papers_numbers_are_differences_of_printed_ones():
    assert study.printed("adaptive bins − even bins", SAME) == pytest.approx(0.225)
    assert study.printed("L2 − L1", "ECE") == pytest.approx(0.0038)
    assert np.isnan(study.printed("adaptive bins − even bins", HALVES))


def test_pictures_are_drawn_from_the_stored_table():
    figures = study.figures(STORED)
    assert set(figures) == {"", "temperatures", "classes"}
    left, _ = figures[""].axes
    drawn = {tuple(line.get_xdata()) for line in left.lines}
    rows = rows_of(GIVEN, "claim")
    rows = rows[(rows["against"] == SAME) & (rows["way"] == "ties split")]
    assert tuple(rows["mean"]) in drawn
    for figure in figures.values():
        plt.close(figure)
