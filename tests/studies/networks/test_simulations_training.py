"""The study of training: what it looks at, and what its findings say from its stored table."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from simulation_files import study_file

import calibstat as cs

study = study_file("training")
STORED = pd.read_csv(PROJECT / "simulations" / "results" / "training.csv", comment="#")
FINDINGS = (PROJECT / "simulations" / "findings" / "training.md").read_text(encoding="utf-8")
TEXT = " ".join(FINDINGS.split())
BEST, DURING, RECIPES = (STORED[STORED["question"] == name] for name in ("best", "during", "recipe"))


def written(value, digits=3):
    """A number as the page writes it, with a minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def recipes():
    """The rows of the table of recipes."""
    rows = RECIPES.assign(se=RECIPES["sd"] / np.sqrt(RECIPES["networks"])).set_index(["recipe", "measure"])
    lines = []
    for name in study.RECIPES:
        cells = [rows.loc[(name, kind)] for kind in ("train", "train as changed", "test", "gap", "error gap")]
        lines.append(f"| {name} | " + " | ".join(f"{written(c['value'])} ± {written(c['se'])}" for c in cells) + " |")
    return "\n".join(lines)


def test_training_rows_and_test_rows_are_apart():
    for seed in (1, 2):
        _, (rows, y), (others, label) = study.rows_for(np.random.SeedSequence([study.SEED, seed]), 900)
        assert (len(y), len(label)) == (900, study.HELD_OUT)
        assert not {row.tobytes() for row in rows} & {row.tobytes() for row in others}


def test_a_run_stops_when_the_log_loss_has_turned(monkeypatch):
    losses = iter([1.0, 0.5, 0.52, 0.53, 9.0])

    class Fixed:
        def predict(self, rows):
            loss = next(losses) if len(rows) == study.HELD_OUT else 0.3
            return np.column_stack([np.full(len(rows), np.exp(-loss)), np.full(len(rows), 1 - np.exp(-loss))])

    rows = (np.zeros((4, 64)), np.zeros(4, int)), (np.zeros((study.HELD_OUT, 64)), np.zeros(study.HELD_OUT, int))
    monkeypatch.setattr(study, "rows_for", lambda seed, n: (None, *rows))
    monkeypatch.setattr(study, "passes", lambda *given: iter([Fixed()] * 5))
    found = pd.DataFrame(study.during(2, 600, 19))
    assert found.loc[found["question"] == "best", "passes"].unique().tolist() == [2]
    assert found.loc[found["question"] == "during", "passes"].max() == 4  # .53 > 1.05 × .5
    best = found[found["question"] == "best"].set_index("measure")["value"]
    assert best["log loss, test"] == pytest.approx(0.5)
    assert best["log loss, train"] == pytest.approx(0.3)


def test_ranges_are_ends_of_adaptive_bins():
    y, p = cs.generators.dirichlet((0.5,) * 3).sample(300, rng=1)
    found = pd.DataFrame(study.ranges(1, 5, y, p)).set_index(["measure", "at"])["value"]
    ends = np.sort(p[:, 0])[:: 300 // 15]
    assert found["15 bins, all"].to_numpy() == pytest.approx(ends)
    assert found["15 bins, above .01"].min() > study.THRESHOLD
    assert len(found["100 bins, all"]) == study.SHOWN


def test_pictures_are_drawn_from_the_stored_table():
    figures = study.figures(STORED)
    assert set(figures) == {"", "bins", "recipes"}
    for figure in figures.values():
        figure.draw_without_rendering()
        plt.close(figure)


def test_the_findings_have_the_table_of_recipes():
    assert recipes() in FINDINGS


def test_what_is_said_of_training_is_in_the_table():
    p = BEST[BEST["measure"].isin(["p by ECE", "p by omnibus"])].assign(rejected=lambda rows: rows["value"] <= 0.05)
    count = p.groupby("measure")["rejected"].sum()
    assert f"the test by ECE rejects {count['p by ECE']} at 5 %, and the omnibus test {count['p by omnibus']}. " in TEXT
    last = DURING.groupby("start")["passes"].max()
    assert f"after {last.min():.0f} to {last.max():.0f} passes" in TEXT
    early = DURING[DURING["measure"].str.startswith("p ") & (DURING["passes"] <= 40)]
    assert (early["value"] <= 0.05).all()
    at_50 = DURING[DURING["measure"].str.startswith("p ") & (DURING["passes"] == 50)]
    assert (at_50["value"] <= 0.05).mean() > 0.5
    least = STORED[STORED["question"] == "temperature"]
    least = least.loc[least.groupby(["start", "measure"])["value"].idxmin()].pivot(
        index="start", columns="measure", values="at"
    )
    one = [written(least.loc[1, name], 2) for name in ("log loss", "ECE", "ACE")]
    assert f"smallest at temperature {one[0]}, ECE at {one[1]} and ACE at {one[2]}" in TEXT
    assert (least.nunique(axis=1) == 3).sum() == 4
    ranges = STORED[(STORED["question"] == "range") & (STORED["passes"] == last[1])]
    low = ranges[ranges["measure"] == "15 bins, all"]["value"]
    assert f"{(low < 0.01).sum()} of {low.size} bins begin below 0.01" in TEXT
    assert (ranges[ranges["measure"] == "15 bins, above .01"]["value"] > 0.99).mean() > 0.5


def test_what_is_said_of_recipes_is_in_the_table():
    mean = RECIPES.pivot(index="recipe", columns="measure", values="value").loc[list(study.RECIPES)]
    assert set(mean.index[mean["train"] < 0.01]) == {"two layers", "log loss, SGD"}
    assert (mean["gap"].abs() <= mean["error gap"].abs()).all()
    decays = mean.loc[["log loss, Adam", *(name for name in mean.index if name.startswith("decay"))]]
    assert decays["train"].is_monotonic_increasing
    se = RECIPES.assign(se=RECIPES["sd"] / np.sqrt(RECIPES["networks"])).pivot(
        index="recipe", columns="measure", values="se"
    )
    assert mean["gap"]["decay 0.1"] < mean["gap"]["log loss, Adam"] - 2 * se["gap"]["decay 0.1"]
    assert mean["train as changed"]["shifts"] > mean["train"]["shifts"] > mean["train"]["log loss, Adam"]
    ratio = mean.loc[["mixup", "smoothing"], "train"] / mean["train"]["log loss, Adam"]
    assert ratio.between(2, 3).all()
    low, high = (written(getattr(mean["error gap"], name)()) for name in ("min", "max"))
    assert f"the gap of the error is {low} to {high} in all twelve" in TEXT
    low, high = (written(getattr(mean["test"], name)()) for name in ("min", "max"))
    assert f"ECE on test rows {low} to {high}" in TEXT
    others = mean.loc[["MSE, Adam", "MSE, SGD", "log loss, Adam"], "train"]
    right = 1 - mean.loc[others.index, "error train"]
    assert right.min() > 0.996
    assert f"an error of {written(others.min())} to {written(others.max())} cannot be over-confidence" in TEXT
    assert f"{written(others.min())} to {written(others.max())} for the other losses and optimisers" in TEXT
    items = (PROJECT / "tests" / "papers" / "items.md").read_text(encoding="utf-8")
    assert "2 of 5 are by ECE, 1 by the omnibus test" in items
