"""The study of the tables of papers: its models, its truths, and what pages say from its stored table."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from scipy.stats import rankdata
from simulation_files import study_file, study_part

import calibstat as cs
from calibstat.papers.parts.agreement import AGREEMENTS
from calibstat.papers.parts.claims import LOWEST, SAME_ACCURACY, UNBOUNDED, WORSE

study = study_file("paper_tables")
STORED = pd.read_csv(PROJECT / "simulations" / "results" / "paper_tables.csv", comment="#")
FINDINGS = (PROJECT / "simulations" / "findings" / "paper_tables.md").read_text(encoding="utf-8")
PAGE = (PROJECT / "docs" / "evidence" / "behind" / "paper-tables.md").read_text(encoding="utf-8")
MODELS = ("uncalibrated", "temperature", "histogram, by class", "isotonic", "mean replacement")
COLUMNS = {
    "accuracy": "accuracy",
    "ece": "ECE",
    "average_ce": "average CE, ACE",
    "smooth_ece": "SmoothECE",
    "log_loss": "NLL",
    "brier": "Brier",
}
TABLE_5 = """93.46 4.15 16.01 3.94 29.21 10.87
             93.46 0.72 5.79 0.88 21.86 10.00
             93.12 1.45 15.17 1.46 inf 11.75
             93.29 1.33 5.11 1.34 inf 10.18
             93.46 0.34 0.34 0.34 38.52 12.60"""


def of(models, question):
    return STORED[(STORED["models"] == models) & (STORED["question"] == question)]


def written(value, digits=3):
    """A number as the page writes it, with a minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def test_networks_are_fitted_to_other_rows_than_they_are_judged_on():
    network = study_part("digit_networks").Network
    y, p = network(25, 1).rows()
    assert y.size == 897
    assert p.shape == (y.size, 10)
    other, q = network(25, 2).rows()
    assert np.array_equal(y, other)
    assert not np.allclose(p, q)
    assert 0.85 < np.mean(p.argmax(axis=1) == y) < 1


def test_truths_are_population_values():
    drawn = study.Drawn(cs.generators.dirichlet((0.3,) * 3, temperature=study.WARM), 100)
    rows = [
        ("measure", model, measure, 0.1) for model in ("uncalibrated", "temperature") for measure in ("ece", "brier")
    ]
    rows += [("fit", "temperature", "temperature", 1.5), ("measure", "isotonic", "ece", 0.1)]
    found = pd.DataFrame(rows, columns=["question", "model", "measure", "mean"]).assign(file="a")
    truth = study.with_truths(found, {"a": drawn}).set_index(["question", "model", "measure"])["truth"]
    assert truth["measure", "uncalibrated", "ece"] == drawn.generator.truth("ece")
    assert truth["measure", "uncalibrated", "brier"] == drawn.generator.truth("brier", lens="canonical")
    assert truth["measure", "temperature", "ece"] == pytest.approx(0, abs=1e-12)  # 1.5 / 1.5 is calibrated
    assert np.isnan(truth["measure", "isotonic", "ece"])
    assert np.isnan(truth["fit", "temperature", "temperature"])


def test_contrasts_by_hand():
    properties = [name for pair in study.OPPOSED for name in pair]
    rows = [
        {"file": file, "measure": name, "mean": value + shift * (name == "L1")}
        for file, value, shift in (("a", 0.1, 0.2), ("b", 0.5, 0.4))
        for name in properties
    ]
    shared = {"question": "agreement", "models": "networks", "against": AGREEMENTS[0]}
    found = study.contrasts(pd.DataFrame(rows).assign(**shared)).set_index("first")
    assert found["mean"]["L1"] == pytest.approx(0.3)
    assert found["se"]["L1"] == pytest.approx(np.std([0.2, 0.4], ddof=1) / np.sqrt(2))
    assert found["mean"]["even bins"] == 0
    assert found["paper"]["L1"] == pytest.approx(0.43 - 0.60)


def test_the_picture_is_drawn_from_the_stored_table():
    (figure,) = study.figures(STORED).values()
    left, right = figure.axes
    points = left.lines[0].get_xdata()
    every = of("networks", "agreement")
    every = every[(every["file"] == study.EVERY) & (every["against"] == AGREEMENTS[0])]
    assert sorted(points) == pytest.approx(sorted(every["mean"]))
    assert len(right.get_yticks()) == 5
    plt.close(figure)


# --- texts -----------------------------------------------------------------------------------------------------------


def judged(row):
    if abs(row["mean"]) <= 2 * row["se"]:
        return "not settled"
    return "the same" if row["mean"] * row["paper"] > 0 else "reversed"


def lines_of_contrasts():
    lines = []
    for row in study.contrasts(STORED).to_dict("records"):
        ours, paper = f"{written(row['mean'])} ± {written(row['se'])}", written(row["paper"], 2)
        lines.append(f"| {row['first']} − {row['second']} | {ours} | {paper} | {judged(row)} |")
    return lines


def sentences():
    """What the findings say, from the stored table."""
    known = of("known truth", "measure").set_index(["file", "model", "measure"])
    fits = of("known truth", "fit").set_index(["file", "measure"])["mean"]
    files = ("100 classes", "1000 classes")

    def both(model, measure, column, digits=3):
        return " and ".join(written(known[column][file, model, measure], digits) for file in files)

    temperature = " and ".join(f"{fits[file, 'temperature']:.2f}" for file in files)
    every = of("networks", "agreement")
    every = every[(every["file"] == study.EVERY) & (every["measure"] == "all")].set_index("against")

    def agreed(against):
        row = every.loc[against]
        return f"{written(row['mean'], 2)} ± {written(row['sd'] / np.sqrt(row['files']), 2)}"

    claims = of("networks", "claim")
    claims = claims[claims["file"] == study.EVERY].set_index("measure")["mean"]
    replaced = of("networks", "measure").set_index(["file", "model", "measure"])["mean"]
    assert claims[[SAME_ACCURACY, WORSE, UNBOUNDED]].tolist() == [1, 1, 1]
    return [
        f"The temperature is found as {temperature}.",
        f"the ECE is {both('uncalibrated', 'ece', 'mean')}, in the population {both('uncalibrated', 'ece', 'truth')}",
        f"{both('uncalibrated', 'brier', 'mean')}, in the population {both('uncalibrated', 'brier', 'truth')}",
        f"the ECE is {both('temperature', 'ece', 'mean')}, in the population {both('temperature', 'ece', 'truth')}",
        f"{both('temperature', 'brier', 'mean')} ({both('temperature', 'brier', 'truth')})",
        f"is so in {20 * claims[LOWEST]:.0f} of 20 splits only",
        f"its ECE is {written(replaced[study.EVERY, 'mean replacement', 'ece'])} in the mean",
        f"All 32 agree by {agreed(AGREEMENTS[0])}",
        f"of the rows by {agreed(AGREEMENTS[2])} only, two measures on two halves by {agreed(AGREEMENTS[3])}.",
    ]


def beside_the_paper():
    """The table of the page."""
    found = of("given files", "measure").set_index(["model", "measure"])["mean"]
    paper = np.array(TABLE_5.split(), float).reshape(len(MODELS), len(COLUMNS))
    lines = [f"| | {' | '.join(COLUMNS.values())} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for model, row in zip(MODELS, paper, strict=True):
        ours = [100 * found[model, measure] for measure in COLUMNS]
        cells = [f"{a:.2f} / {b:.2f}".replace("inf", "∞") for a, b in zip(ours, row, strict=True)]
        lines.append(f"| {model}, VGG16 / ResNet-32 | {' | '.join(cells)} |")
    return "\n".join(lines)


def claims_of_the_page():
    rows = of("given files", "claim")
    lines = ["| claim | VGG16 |", "|---|---|"]
    for row in rows.to_dict("records"):
        held = round(row["mean"] * row["splits"])
        shown = "yes" if held == row["splits"] else f"in {held} of {row['splits']:.0f} splits"
        lines.append(f"| {row['measure']} | {shown} |")
    return "\n".join(lines)


def test_the_findings_are_those_of_the_stored_table():
    text = " ".join(FINDINGS.split())
    assert [line for line in lines_of_contrasts() if line not in FINDINGS] == []
    assert [sentence for sentence in sentences() if sentence not in text] == []


def test_the_page_has_the_stored_numbers():
    assert beside_the_paper() in PAGE
    assert claims_of_the_page() in PAGE
    verdicts = [judged(row) for row in study.contrasts(STORED).to_dict("records")]
    assert [verdicts.count(each) for each in ("the same", "reversed", "not settled")] == [2, 2, 1]
    items = (PROJECT / "tests" / "papers" / "items.md").read_text(encoding="utf-8")
    assert "by ten networks for digits two are found again, two are reversed, one is not settled" in items
    assert (
        f"found again in {20 * of('given files', 'claim').set_index('measure')['mean'][LOWEST]:.0f} of 20 splits"
        in items
    )


def test_the_order_is_the_papers_by_three_measures():
    found = of("given files", "measure").set_index(["model", "measure"])["mean"]
    paper = np.array(TABLE_5.split(), float).reshape(len(MODELS), len(COLUMNS))
    same = [
        measure
        for measure, row in zip(COLUMNS, paper.T, strict=True)
        if np.array_equal(rankdata(row), rankdata([found[model, measure] for model in MODELS]))
    ]
    assert same == ["accuracy", "log_loss", "brier"]
    assert "The order of the models is the paper's by accuracy, NLL and Brier score." in PAGE


def test_a_changed_number_is_found(monkeypatch):
    moved = STORED.assign(mean=STORED["mean"] + 0.01)
    monkeypatch.setitem(globals(), "STORED", moved)
    assert [line for line in lines_of_contrasts() if line not in FINDINGS] == []  # differences stay
    assert beside_the_paper() not in PAGE
