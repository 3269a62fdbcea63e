"""The pages of the papers' tables: cells, verdicts, notes, and pictures from the table alone."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.papers import tables
from calibstat.papers.parts.table_pages import draw_diagrams, pages, sections, verdict
from calibstat.study.study_options import chosen


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Of two files with four classes and one with two, one of them with a hostile name."""
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / name for name in ("first.npz", "<b>&_$.npz", "event.npz")]
    for k, path in enumerate(paths[:2]):
        y, p = cs.generators.dirichlet((0.3,) * 4, temperature=1.5).sample(300, rng=k)
        np.savez(path, y=y, prob=p)
    y, p = cs.generators.temperature(2).sample(300, rng=1)
    np.savez(paths[2], y=y, prob=p)
    options = chosen(tables.OPTIONS, {"splits": 2, "resamples": 19}, "tables")
    return tables.table(quick=False, data=paths, store=None, options=options)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_blocks_have_their_tables(table):
    titles = [section.title for section in sections(table)]
    kinds = ("Measures", "Differences", "Ranks", "Rank correlations of general calibration errors")
    expected = [f"{kind}, {k} classes" for k in (4, 2) for kind in (*kinds, "Claims of Chidambaram and Ge")]
    assert titles == [*expected, "Left out"]


def test_cells_are_numbers_of_the_table(table):
    first = next(iter(sections(table))).tables[0]
    rows = table[(table["question"] == "measure") & (table["file"] == "first")].set_index(["model", "measure"])["mean"]
    line = next(row for row in first.rows if row[:2] == ["first", "temperature"])
    assert line[first.header.index(">ECE")] == f"{100 * rows['temperature', 'ece']:.2f}"
    assert line[first.header.index(">NLL")] == f"{100 * rows['temperature', 'log_loss']:.2f}"
    line = next(row for row in first.rows if row[:2] == ["first", "isotonic"])
    assert line[first.header.index(">NLL")] == "∞"
    assert [row[1] for row in first.rows if row[0] == "all files"] == [row[1] for row in first.rows[:5]]


def test_stars_are_where_every_interval_is_on_one_side(table):
    shown = list(sections(table))[1].tables[0]
    rows = table[(table["question"] == "difference") & (table["file"] == "first") & table["low"].notna()]
    titles = {"ece": ">ECE", "brier": ">Brier", "accuracy": ">accuracy"}
    for row in rows[rows["measure"].isin(titles)].to_dict("records"):
        line = next(each for each in shown.rows if each[:2] == ["first", row["model"]])
        cell = line[shown.header.index(titles[row["measure"]])]
        assert cell.endswith("*") == (2 in (row["below"], row["above"]))
        assert "[" in cell


def test_verdicts():
    assert [verdict(share, 5) for share in (1.0, 0.0, 0.8, 0.2)] == [
        "yes",
        "no",
        "in 4 of 5 splits",
        "in 1 of 5 splits",
    ]
    assert verdict(1.0, 1) == "yes"


def test_texts_of_files_are_escaped(table):
    found = pages(table, draw_diagrams(table))
    assert set(found) == {".md", ".tex", ".html"}
    assert "<b>" not in found[".md"]
    assert "<b>&" not in found[".html"]
    assert r"\textless{}b\textgreater{}\&\_\$" in found[".tex"]
    assert found[".tex"].count(r"\begin{table}") == found[".tex"].count(r"\end{table}") == 10
    assert found[".html"].count("<figure") == 3


def test_lines_of_markdown_have_as_many_cells_as_their_header(table):
    blocks = [block.splitlines() for block in pages(table, {})[".md"].split("\n\n") if block.startswith("|")]
    assert len(blocks) == 10
    for lines in blocks:
        assert len({line.replace(r"\|", "").count("|") for line in lines}) == 1


def test_agreement_over_files_has_its_standard_error(table):
    shown = list(sections(table))[3].tables[0]
    rows = table[(table["question"] == "agreement") & (table["file"] == "all files")].set_index(["measure", "against"])
    row = rows.loc[("L2", "two measures, all test rows")]
    line = next(each for each in shown.rows if each[0] == "L2")
    assert line[1] == f"{row['mean']:.2f} ± {row['sd'] / np.sqrt(2):.2f}".replace("-", "−")
    assert "over files" in shown.note


def test_pages_and_pictures_are_made_from_a_saved_table(table):
    text = dict.fromkeys(("model", "measure", "against", "reason"), lambda cell: cell)  # empty, not missing
    saved = pd.read_csv(io.StringIO(table.to_csv(index=False)), converters=text)
    figures = draw_diagrams(saved)
    assert list(figures) == ["first", "b", "event"]
    assert pages(saved, {})[".tex"] == pages(table, {})[".tex"]
    assert len(figures["first"].axes) >= 5


def test_files_whose_names_differ_by_marks_alone_have_a_picture_each(table):
    twice = pd.concat([table, table.assign(file=table["file"] + "?")], ignore_index=True)
    assert list(draw_diagrams(twice)) == ["first", "b", "event", "first_2", "b_2", "event_2"]


def test_a_correlation_that_is_not_defined_says_so(table):
    rows = (table["question"] == "agreement") & (table["measure"] == "L2")
    none = table.assign(mean=table["mean"].where(~rows))
    line = next(each for each in list(sections(none))[3].tables[0].rows if each[0] == "L2")
    assert set(line[1:]) == {"undefined"}
