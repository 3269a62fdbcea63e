"""The items of the five papers: rows, calls that answer, studies and files that exist, and the page."""

import re
from collections import Counter
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from sklearn.linear_model import LogisticRegression

import calibstat as cs

PAGE = (PROJECT / "docs" / "evidence" / "papers.md").read_text(encoding="utf-8")
LIST = (PROJECT / "tests" / "papers" / "items.md").read_text(encoding="utf-8")
ITEMS = {"Chidambaram and Ge": 45, "Błasiok, Gopalan": 50, "Nixon": 37, "Nakkiran": 36, "Vaicenavicius": 46}
VERDICTS = ("whole", "partly", "differs", "not built", "beyond")
NEEDS_A_REASON = {"partly": ": ", "differs": ": ", "not built": ", because "}
PATH = re.compile(r"\w[\w./-]*/[\w.-]*|[A-Z]+\.md")


def tables(page):
    """The rows below the heading of each paper: numbers of items, what, code, verdict."""
    papers = {}
    for section in page.split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        rows = [line[1:-1].split("|") for line in text.splitlines() if re.match(r"\| \d", line)]
        papers[heading] = [
            ([int(item) for item in numbers.split(",")], *(cell.strip() for cell in cells)) for numbers, *cells in rows
        ]
    return papers


def verdict_of(row):
    return next((verdict for verdict in VERDICTS if row[-1].startswith(verdict)), "none")


def counted(page):
    """How many items of each paper have each verdict."""
    return {paper: Counter(verdict_of(row) for row in rows for _ in row[0]) for paper, rows in tables(page).items()}


def objections_to_rows(page):
    """Papers whose items are not 1, 2, 3, ... once each, and rows without a verdict, or a reason where one is due."""
    found = []
    for (name, size), (heading, rows) in zip(ITEMS.items(), tables(page).items(), strict=True):
        numbers = sorted(number for row in rows for number in row[0])
        found += [heading] * (not heading.startswith(name) or numbers != list(range(1, size + 1)))
        for row in rows:
            verdict = verdict_of(row)
            begins = row[-1].startswith(verdict + NEEDS_A_REASON.get(verdict, ""))
            found += [row[-1]] * (not begins)
            found += [f"no code: {row[-1]}"] * ("`" not in row[2] and verdict != "not built")
    return found


def verdicts(count):
    """The numbers of a paper as its row says them, such as "3: 2 whole, 1 partly"."""
    return f"{count.total()}: " + ", ".join(f"{count[each]} {each}" for each in VERDICTS if count[each])


def miscounted(page, items):
    """Papers whose rows of the page have other numbers than their items, and a sentence on all that has others."""
    by_paper = counted(items)
    rows = {paper: [line for line in page.splitlines() if line.startswith(f"| {paper}")] for paper in ITEMS}
    found = [
        paper
        for paper, count in zip(ITEMS, by_paper.values(), strict=True)
        if len(rows[paper]) != 1 or not rows[paper][0].endswith(f"| {verdicts(count)} |")
    ]
    whole, partly, differs, missing, beyond = (sum(by_paper.values(), Counter())[each] for each in VERDICTS)
    sentence = (
        f"Of the {sum(ITEMS.values())} items {whole} are whole, {partly} are here in part, "
        f"{differs} differ on purpose, {missing} are not built, and {beyond} go beyond the paper."
    )
    return found + [sentence] * (sentence not in page)


@cache
def examples():
    """What the names in the calls of the page stand for."""
    y, p = cs.generators.temperature(2).sample(200, rng=1)
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(200, rng=1)
    other = np.sqrt(prob) / np.sqrt(prob).sum(axis=1, keepdims=True)
    return {
        "LogisticRegression": LogisticRegression,
        "cs": cs,
        "np": np,
        "y": y,
        "p": p,
        "label": label,
        "prob": prob,
        "other": other,
    }


def spans(page):
    """The code on a page, each once."""
    return sorted(set(re.findall(r"`([^`\n]+)`", page)) - set(examples()) - {"--data"})


def objection(span):
    """What is wrong with a piece of code on the page: a call that raises, or a path or a name that does not exist."""
    if PATH.fullmatch(span):
        return "" if (PROJECT / span).exists() else f"{span} does not exist"
    if not span.startswith("cs."):
        return "" if span in cs.MEASURES or span == "simulations" else f"{span} is neither a measure, a path nor a call"
    try:
        found = eval(span, dict(examples()))
    except Exception as error:
        return f"{span}: {type(error).__name__}: {error}"
    if found is None or (isinstance(found, float) and not np.isfinite(found)):
        return f"{span} is {found!r}"
    return ""


def test_every_item_has_one_row_and_a_verdict_with_its_reason():
    assert objections_to_rows(LIST) == []
    assert sum(ITEMS.values()) == 214


def test_the_page_has_the_numbers_of_the_items():
    assert miscounted(PAGE, LIST) == []
    assert miscounted(PAGE, LIST.replace("| whole |\n", "| partly: all |\n", 1)) != []
    assert miscounted(PAGE.replace("46: 40", "46: 41"), LIST) == ["Vaicenavicius"]


def test_every_call_answers_and_every_study_exists(closed_figures):
    plt.switch_backend("Agg")
    found = []
    for span in spans(LIST):
        found.append(objection(span))
        plt.close("all")
    assert set(found) == {""}


def test_the_items_name_every_kind_of_code():
    calls = [span for span in spans(LIST) if span.startswith("cs.")]
    studies = [span for span in spans(LIST) if span.startswith("simulations/")]
    measures = {name for call in calls for name in re.findall(r'measure="(\w+)"', call)}
    assert len(calls) >= 100
    assert len(studies) >= 9
    assert len(measures) >= 18
    assert measures <= set(cs.MEASURES)


def judged():
    """What the items say of claims of the slides, from the stored tables of studies."""
    folder = PROJECT / "simulations" / "results"
    distances = pd.read_csv(folder / "distances.csv", comment="#")
    models = distances[distances["generator"].str.startswith("temperature")]
    mean = models.pivot_table(index="generator", columns="measure", values="mean")
    ratio = (mean["kernel error"] / mean["binned ECE"]).loc[["temperature 0.1", "temperature 10"]]
    gaps = pd.read_csv(folder / "generalization_gap.csv", comment="#")
    claimed = gaps[gaps["claimed"] & (gaps["measure"] == "ece")]
    late = claimed[claimed["passes"] >= 16]
    within = [f"{(rows['test'] <= rows['error_gap'].abs()).sum()} of {len(rows)}" for rows in (claimed, late)]
    return [
        f"kernel error is {ratio.iloc[0]:.2f} to {ratio.iloc[1]:.2f} of the binned one",
        f"in {within[0]} settings, from 16 passes on in {within[1]}",
    ]


def test_claims_are_judged_by_the_stored_tables():
    assert [text for text in judged() if text not in LIST] == []


FAULTS = {
    'cs.estimate(y, p, measure="smoth_ce")': "did you mean 'smooth_ce'",
    "cs.estimates(y, p)": "AttributeError",
    "cs.estimate(y, p, bins=3)": "UnknownOption",
    "simulations/distance.py": "does not exist",
    "smoth_ce": "neither",
    'cs.estimate([1], [0.0], measure="log_loss")': "is inf",
}


@pytest.mark.parametrize("span", FAULTS)
def test_faults_of_code_are_found(span):
    assert FAULTS[span] in objection(span)


def test_faults_of_rows_are_found():
    first = next(line for line in LIST.splitlines() if line.startswith("| 1, 2 |"))
    assert objections_to_rows(LIST.replace(first, first.replace("| 1, 2 |", "| 1, 1 |"))) != []
    assert objections_to_rows(LIST.replace(first + "\n", "")) != []
    assert objections_to_rows(LIST.replace("| whole |\n", "| done |\n", 1)) == ["done"]
    assert objections_to_rows(LIST.replace(first, re.sub("`.*`", "", first))) == ["no code: whole"]
    assert objections_to_rows(LIST.replace(", because there is nothing", ": there is nothing")) != []
