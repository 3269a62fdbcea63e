"""The study of levels, and that of sizes in few rows: what they count, and that they can fail."""

import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from simulation_files import study_file

import calibstat as cs
from simulations.size import LEVEL, TOO_SMALL, Asks, study, table


def test_it_counts_what_results_say():
    """Predictions that are the frequencies of these very rows have residuals that add up to 0; drawn ones do not."""
    value = np.repeat([0.2, 0.5, 0.8], 200)
    fitted = cs.Sample.from_rows(np.tile([1, 0, 0, 0, 0], 40).tolist() + [0, 1] * 100 + [1, 1, 1, 1, 0] * 40, value)
    drawn = cs.Sample.from_rows(np.random.default_rng(1).random(600) < value, value)
    asks = Asks(("omnibus", "ece"), 999)
    assert asks(fitted, np.random.SeedSequence(1)) == [1, 1]
    assert asks(drawn, np.random.SeedSequence(1)) == [0, 0]


def test_each_promise_is_judged_by_its_own_level():
    found = table(quick=True, n_jobs=1)
    assert set(found["question"]) == {TOO_SMALL}
    assert set(found["level"]) == {0.01}
    size = pd.DataFrame({**found, "question": "size", "level": LEVEL})
    both = pd.concat([size, found], ignore_index=True).assign(replicates=2000, rejections=90)
    assert set(study.violations(both)["question"]) == {TOO_SMALL}  # .045 is within .05, and not within .01
    assert study.violations(both.assign(rejections=20)).empty


few_rows = study_file("size_in_few_rows")


def test_what_the_study_of_few_rows_asks_is_what_a_verdict_says():
    for n, shown in ((300, True), (1000, False)):
        y, p = cs.generators.calibrated().sample(n, rng=1)
        *high, small, second = few_rows.said(y, p, np.random.default_rng(3))
        seed = int(np.random.default_rng(3).integers(2**32))
        size = cs.calibration_test(y, p, rng=seed).size
        assert high[0] == size.high
        assert (bool(small), bool(second)) == (size.is_small, shown) == (False, size.running is not None)
        assert size.running in (None, high[1])


def test_a_line_that_is_wrong_too_often_is_a_violation():
    rows = pd.DataFrame(few_rows.rows_of(300, "even", "too low", 20))
    assert set(few_rows.PROMISED) < set(rows["question"])
    promised = rows["question"] == "second line is wrong"
    usual = rows.assign(replicates=1000, count=np.where(promised, 40, 20))
    assert few_rows.violations(usual).empty
    assert few_rows.violations(usual.assign(count=np.where(promised, 60, 20)))["question"].tolist() == [
        "second line is wrong"
    ]


@pytest.mark.parametrize("question", few_rows.PROMISED)
def test_counts_of_few_rows_add_up(question):
    """What is wrong is shown, and of calibrated predictions nothing is wrong."""
    rows = pd.DataFrame(few_rows.rows_of(100, "four values", "calibrated", 20)).set_index("question")["count"]
    assert rows[question] == 0
    assert rows["second line is shown"] > 10


def test_the_pages_say_what_the_table_says():
    folder = PROJECT / "simulations"
    table = pd.read_csv(folder / "results" / "size_in_few_rows.csv", comment="#").set_index(
        ["question", "n", "generator"]
    )
    pages = [
        folder / "findings" / "size_in_few_rows.md",
        folder / "README.md",
        PROJECT / "docs" / "more" / "tiny-errors.md",
    ]
    found, overview, tiny = (" ".join(page.read_text(encoding="utf-8").split()) for page in pages)
    high = {m: f"high end of {m} is below 10 points" for m in ("ece", "ks", "kernel_ce")}
    for law in few_rows.LAWS:
        for measure, question in high.items():
            means = [f"{100 * table['mean_high'][question, n, f'calibrated, {law}']:.1f}" for n in few_rows.ROWS]
            assert f"| {law} | `{measure}` | {' | '.join(means)} |" in found
    even, rate = (300, "calibrated, even"), 100 * table["rate"]
    for question in high.values():
        assert f"{rate[(question, *even)]:.1f} %" in found
    ks, ece = (f"{100 * table['mean_high'][(high[m], *even)]:.1f}" for m in ("ks", "ece"))
    assert f"With 300 calibrated rows it says {ks} points, and ECE {ece}." in overview
    small = rate["called small"]
    assert small.loc[:900].max() == 0
    calibrated = [small[10_000, f"calibrated, {law}"] for law in few_rows.LAWS]
    wrong, shown = (table["count"][f"second line is {each}"] for each in ("wrong", "shown"))
    for text in (found, tiny):
        assert f"{min(calibrated):.1f} % to {max(calibrated):.1f} %" in text
        assert f"in at most {rate[few_rows.PROMISED[0]].max():.1f} %" in text
        assert f"wrong in at most {rate['second line is wrong'].max():.1f} %" in text
    assert f"in at most {rate['high end of ks misses'].max():.1f} %" in found
    lucky = f"{100 * (wrong / shown)[shown >= 20].max():.1f} % of those"
    assert lucky in found
    assert lucky in overview
