"""Studies: what they count, that the numbers do not depend on how they are computed, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import calibstat as cs
from calibstat import study

CALIBRATED = {"uniform": cs.generators.calibrated(), "five": cs.generators.calibrated([0.1, 0.3, 0.5, 0.7, 0.9])}
SHIFTED = {"shift": cs.generators.shift(1.0), "hidden": cs.generators.hidden()}
CELL = ["question", "generator", "n", "measure", "method", "level", "replicates"]
SIZE_COLUMNS = [*CELL, "rejections", "rate", "low", "high"]
COVERAGE_COLUMNS = [*CELL, "truth", "covered", "rate", "low", "high", "missed_below", "missed_above"]
COVERAGE_COLUMNS += ["mean_width", "mean_estimate"]


def sizes(**changes):
    arguments = {"replicates": 60, "seed": 5, "n_resamples": 19}
    return study.size(**{"generators": CALIBRATED, "n": [20, 40], "measures": ["ece", "ks"], **arguments, **changes})


def coverages(**changes):
    arguments = {"methods": ["honest", "basic"], "replicates": 55, "seed": 5, "n_resamples": 39}
    return study.coverage(**{"generators": SHIFTED, "n": 60, "measures": ["ece", "brier"], **arguments, **changes})


def test_columns_and_rows_of_size():
    table = sizes()
    assert list(table.columns) == SIZE_COLUMNS
    cells = [(g, n, m) for g in CALIBRATED for n in (20, 40) for m in ("ece", "ks")]
    assert list(table[["generator", "n", "measure"]].itertuples(index=False, name=None)) == cells
    assert set(table["question"]) == {"size"}
    assert set(table["method"]) == {"labels"}
    assert (table["rate"] == table["rejections"] / 60).all()


def test_columns_and_rows_of_coverage():
    table = coverages()
    assert list(table.columns) == COVERAGE_COLUMNS
    cells = [(g, m, method) for g in SHIFTED for m in ("ece", "brier") for method in ("honest", "basic")]
    assert list(table[["generator", "measure", "method"]].itertuples(index=False, name=None)) == cells
    assert (table["covered"] + table["missed_below"] + table["missed_above"] == 55).all()
    assert table["truth"].tolist() == [SHIFTED[g].truth(m) for g, m, _ in cells]


@pytest.mark.parametrize("ask", [sizes, coverages])
def test_processes_do_not_change_the_numbers(ask):
    pd.testing.assert_frame_equal(ask(n_jobs=1), ask(n_jobs=2), check_exact=True)


def test_a_cell_depends_on_the_seed_and_itself_alone():
    table = sizes().set_index(["generator", "n", "measure"])
    alone = sizes(generators={"five": CALIBRATED["five"]}, n=40, measures={"ks": ("ks", {})})
    assert alone.loc[0, "rejections"] == table.loc[("five", 40, "ks"), "rejections"]
    fewer = coverages(generators={"shift": SHIFTED["shift"]}, measures=["brier"], methods=["basic"])
    table = coverages().set_index(["generator", "measure", "method"])
    assert fewer.loc[0, "mean_estimate"] == table.loc[("shift", "brier", "basic"), "mean_estimate"]


def test_another_seed_label_or_n_draws_other_data():
    def estimates(**changes):
        return coverages(measures=["brier"], methods=["basic"], **changes)["mean_estimate"].tolist()

    first = estimates(generators={"a": SHIFTED["shift"], "b": SHIFTED["shift"]}, n=[60, 61])
    assert len(set(first + estimates(seed=6))) == 6


def test_all_methods_and_measures_see_the_same_data():
    table = coverages(measures={"one": ("ece", {}), "same": ("ece", {"n_bins": 15})})
    for _, part in table.groupby("generator"):
        assert part["mean_estimate"].nunique() == 1
        assert part.groupby("method")["mean_width"].nunique().tolist() == [1, 1]  # and the same resamples


def test_options_reach_the_measure():
    table = sizes(generators=SHIFTED, n=30, measures={"fine": ("ece", {"n_bins": 100}), "one": ("ece", {"n_bins": 1})})
    assert table.set_index(["generator", "measure"])["rejections"]["hidden"].is_monotonic_decreasing
    assert (
        table.set_index(["generator", "measure"])["rejections"]["hidden", "fine"] == 60
    )  # all rows are wrong or right


class Interval:
    """What a stub of confidence_interval returns."""

    def __init__(self, low, high):
        self.low, self.high, self.estimate = low, high, 0.5


@pytest.mark.parametrize(
    ("low", "high", "counts"),
    [
        (0.2, 0.3, (20, 0, 0)),
        (0.26, 0.3, (0, 20, 0)),  # the truth, 1/4, lies below the interval
        (0.2, 0.24, (0, 0, 20)),
        (0.25 + 1e-15, 0.3, (20, 0, 0)),  # rounding is no miss
    ],
)
def test_misses_are_counted_on_their_side(monkeypatch, low, high, counts):
    monkeypatch.setattr(study, "confidence_interval", lambda *_, **__: Interval(low, high))
    half = {"half": cs.generators.calibrated([0.5])}
    table = study.coverage(half, 10, ["brier"], ["basic"], replicates=20, seed=1)
    assert table.loc[0, "truth"] == 0.25
    assert tuple(table.loc[0, ["covered", "missed_below", "missed_above"]]) == counts
    assert table.loc[0, "mean_width"] == pytest.approx(high - low)


def test_limits_are_exact():
    table = sizes(generators=SHIFTED, n=25, measures=["ece"])
    for row in table.itertuples():
        limits = stats.binomtest(int(row.rejections), 60).proportion_ci(0.95, method="exact")
        assert (row.low, row.high) == pytest.approx((limits.low, limits.high), abs=1e-12)


def test_the_labels_test_keeps_its_level_and_a_liberal_one_is_found():
    uniform = {"uniform": CALIBRATED["uniform"]}
    arguments = {"generators": uniform, "n": 20, "measures": ["ece"], "n_resamples": 39, "replicates": 1500}
    limit = study.most_rejections(0.05, 1500, 1e-4)
    assert sizes(**arguments).loc[0, "rejections"] <= limit
    assert sizes(**arguments, resample="both").loc[0, "rejections"] > limit  # its size is about .1


def test_most_rejections_is_the_exact_limit():
    k = study.most_rejections(0.05, 400, 1e-3)
    assert stats.binom.sf(k, 400, 0.05) <= 1e-3 < stats.binom.sf(k - 1, 400, 0.05)


def test_a_table_is_written_under_a_line_of_facts(tmp_path):
    table = sizes(n=20, replicates=3)
    path = tmp_path / "results" / "size.csv"
    study.write_table(table, path, command="python size.py", seed=5)
    assert path.read_text().splitlines()[0] == "# command: python size.py; seed: 5"
    pd.testing.assert_frame_equal(pd.read_csv(path, comment="#"), table, rtol=1e-5, check_dtype=False)


@pytest.mark.parametrize(
    ("ask", "changes", "message"),
    [
        (sizes, {"measures": ["nothing"]}, "expected a measure"),
        (sizes, {"measures": "ece"}, "found the string"),
        (sizes, {"measures": {"a": ("ece", {"bins": 3})}}, "expected options of measure"),
        (sizes, {"resample": "rows"}, "expected resample"),
        (sizes, {"replicates": 0}, "at least 1 replicate"),
        (coverages, {"methods": ["exact"]}, "expected a method"),
        (coverages, {"measures": ["brier", "mcb"], "methods": ["basic", "honest"]}, "no honest interval"),
    ],
)
def test_what_cannot_be_asked_raises_before_the_run(ask, changes, message):
    with pytest.raises(ValueError, match=message):
        ask(**{"replicates": 10**9, **changes})  # so many would take days


def test_replicates_have_independent_data():
    first, second = (
        study._chunk(_rows, {"question": "q", "generator": "g", "n": 5}, CALIBRATED["uniform"], 1, range(k, k + 2))
        for k in (0, 1)
    )
    assert np.array_equal(first[1], second[0])
    assert not np.array_equal(first[0], first[1])


def _rows(sample, rng):
    return sample.value
