"""The page on what five papers say against each other: every question has an answer of each, and a study or none."""

import re

import pandas as pd
from documentation import DOCS, measure_pages
from project_folder import PROJECT

PAGE = (DOCS / "more" / "five-papers.md").read_text(encoding="utf-8")
PAPERS = ["Chidambaram and Ge", "Błasiok", "Nakkiran", "Nixon", "Vaicenavicius"]
STUDY = re.compile(r"\]\(\.\./evidence/studies/(\w+)\.md\)")


def rows(page):
    """The rows of the table, the first its columns."""
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def objections(page, studies):
    """Rows without an answer of each paper, and without a study that exists or the word that it is not settled."""
    columns, *questions = rows(page)
    found = [] if columns[1:-1] == PAPERS else [f"columns {columns}"]
    for question, *answers, settled in questions:
        named = STUDY.findall(settled)
        found += [question] * (len(answers) != len(PAPERS) or not all(answers))
        found += [f"{question} {settled}"] * (not named and "not settled" not in settled)
        found += [f"no study {name}" for name in named if name not in studies]
    return found


def studies():
    """The studies that have a page."""
    measure_pages()  # puts their folder on the path
    from study_pages import PAGES

    return set(PAGES)


def test_every_question_has_an_answer_of_each_paper_and_says_what_settles_it():
    assert objections(PAGE, studies()) == []
    assert len(rows(PAGE)) == 1 + 7


def test_a_gap_a_wrong_study_and_a_question_without_one_are_found():
    first = next(line for line in PAGE.splitlines() if line.startswith("| Is a binned"))
    without = first[: first.rindex("|", 0, -1)] + "| settled by thought |"
    assert objections(PAGE.replace("studies/bins.md", "studies/bims.md"), studies()) == ["no study bims"] * 2
    assert len(objections(PAGE.replace(first, without), studies())) == 1
    assert len(objections(PAGE.replace("| Not asked. | Both follow", "| | Both follow"), studies())) == 1
    assert len(objections(PAGE.replace("| Nakkiran | Nixon |", "| Nixon | Nakkiran |"), studies())) == 1


def largest_ratio():
    """The largest ratio of mean kernel error to mean binned error over the temperatures of the stored study."""
    found = pd.read_csv(PROJECT / "simulations" / "results" / "distances.csv", comment="#")
    mean = found[found["generator"].str.startswith("temperature")].pivot_table(
        index="generator", columns="measure", values="mean"
    )
    mean = mean.drop(index="temperature 1")  # calibrated: both are noise
    return (mean["kernel error"] / mean["binned ECE"]).max()


def test_the_kernel_error_is_about_half_of_the_binned_error_or_less():
    assert "The kernel error is about half of the binned error or less" in PAGE
    assert largest_ratio() < 0.6
