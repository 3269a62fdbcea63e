"""The study of the choices behind a calibration error: what it computes, against slow code; and how it goes on."""

import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import calibstat as cs
from calibstat.papers import error_choices
from calibstat.papers.error_choices import HALVES, LARGER_LOSS, SAME
from calibstat.papers.parts.agreement import PROPERTIES
from calibstat.papers.parts.recalibrations import BEFORE
from calibstat.recalibration import HistogramBinning, TemperatureScaling
from calibstat.study import load_study
from calibstat.study.study_options import chosen

FAMILY = cs.generators.dirichlet((0.3,) * 4, temperature=1.5)
pytestmark = pytest.mark.usefixtures("closed_figures")


def frame(rows):
    return pd.DataFrame(rows).fillna({"way": "", "model": ""})


def of(rows, **values):
    """The only row with these values."""
    (found,) = [row for row in rows if all(row.get(name, "") == value for name, value in values.items())]
    return found["value"]


def models_of(n):
    """Three models of the same rows, one of few distinct predictions."""
    y, p = FAMILY.sample(n, rng=1)
    cooler = TemperatureScaling().fit(p, y).predict_proba(p)
    return y, {"raw": p, "scaled": cooler, "binned": HistogramBinning(n_bins=4).fit(p, y).predict_proba(p)}


# --- section 5.3 -----------------------------------------------------------------------------------------------------


def slow_steadiness(y, models, members, ties, halves):
    """The mean Spearman correlation over pairs of numbers of bins, of some of the 32 errors."""

    @cache
    def values(part, bins):
        rows = parts[part]
        return np.array([cs.gce_family(y[rows], p[rows], n_bins=bins, ties=ties).value for p in models.values()])

    parts = np.array_split(np.arange(y.size), 2) if halves else [np.arange(y.size)] * 2
    found = []
    for k in members:
        pairs = []
        for a, b in combinations((10, 20, 30, 40, 50), 2):
            for one, other in ((a, b), (b, a)):
                pairs.append(spearmanr(values(0, one)[:, k], values(1, other)[:, k]).statistic)
        found.append(np.mean(pairs))
    return np.mean(found)


@pytest.mark.parametrize(("ties", "against"), [("together", SAME), ("split", HALVES)])
def test_correlations_over_bins_are_those_of_slow_code(ties, against):
    y, models = models_of(80)
    rows = list(error_choices.over_bins(y, models))
    found = of(rows, question="bins", measure="L2", against=against, way=f"ties {ties}")
    family = cs.gce_family(y, models["raw"])
    members = np.flatnonzero(family.norm == "l2")[::5]
    whole = error_choices.steadiness(
        *[
            [error_choices.ranks({m: cs.gce_family(y[part], p[part], n_bins=b, ties=ties) for m, p in models.items()})
             for b in error_choices.BIN_NUMBERS]
            for part in (np.array_split(np.arange(80), 2) if against == HALVES else [np.arange(80)] * 2)
        ]
    )  # fmt: skip
    assert np.mean(whole[members]) == pytest.approx(slow_steadiness(y, models, members, ties, against == HALVES))
    assert found == pytest.approx(np.mean(whole[family.norm == "l2"]))
    claim = of(rows, question="claim", measure="L1 − L2", against=against, way=f"ties {ties}")
    assert claim == pytest.approx(of(rows, measure="L1", against=against, way=f"ties {ties}") - found)


def test_the_rule_for_ties_matters_to_adaptive_bins_alone():
    y, models = models_of(120)
    rows = list(error_choices.over_bins(y, models))
    even, adaptive = (
        [of(rows, question="bins", measure=name, against=SAME, way=f"ties {ties}") for ties in ("together", "split")]
        for name in ("even bins", "adaptive bins")
    )
    assert even[0] == even[1]
    assert adaptive[0] != adaptive[1]


def test_models_that_are_all_equal_have_no_correlation():
    y, p = FAMILY.sample(60, rng=1)
    rows = list(error_choices.over_bins(y, {"a": p, "b": p}))
    assert np.isnan(of(rows, question="bins", measure="all", against=SAME, way="ties split"))


def test_the_printed_formula_cannot_give_the_printed_numbers():
    """With absolute differences in place of squares no correlation of the ranks of eight models is below .62: of all
    permutations the reverse has the largest sum, 7 + 5 + 3 + 1 + 1 + 3 + 5 + 7 = 32, and 1 - 6 × 32 / 504 = .62."""
    order = np.arange(8)
    largest = np.abs(order - order[::-1]).sum()
    random = np.random.default_rng(1)
    assert all(np.abs(order - random.permutation(8)).sum() <= largest for _ in range(2000))
    assert largest == 32
    assert 1 - 6 * largest / (8 * 63) == pytest.approx(0.619, abs=0.001)


# --- table 3 ---------------------------------------------------------------------------------------------------------


def slow_temperatures(first, rest, members, search):
    """The temperature of each error, and the ECE that it leaves."""
    y, p = rest
    found = []
    for member in cs.gce_family(y, p).to_frame().to_dict("records"):
        if member["index"] in members:
            switches = {k: member[k] for k in ("binning", "max_prob", "class_conditional", "threshold", "norm")}
            fit = TemperatureScaling(objective="gce", options={**switches, "n_bins": 7}, search=search)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of minima with a larger log loss, or at an end
                q = fit.fit(first[1], first[0]).predict_proba(p)
            found.append((fit.temperature_, cs.estimate(y, q, measure="ece", lens="top_label", n_bins=7)))
    return np.array(found).T


def test_temperatures_are_fitted_to_each_error():
    first, rest = FAMILY.sample(80, rng=2), FAMILY.sample(100, rng=3)
    rows = list(error_choices.over_temperatures(first, rest, 7, ("local",), None))
    for k in (4, 21):
        (temperature,), _ = slow_temperatures(first, rest, [k], "local")
        assert of(rows, question="each error", measure=str(k), against="temperature", way="local") == temperature


@pytest.mark.slow
def test_table_3_is_that_of_slow_code():
    first, rest = FAMILY.sample(150, rng=2), FAMILY.sample(200, rng=3)
    rows = list(error_choices.over_temperatures(first, rest, 7, ("local", "global"), None))
    for search in ("local", "global"):
        temperatures, ece = slow_temperatures(first, rest, range(32), search)
        found = [of(rows, question="each error", measure=str(k), against="temperature", way=search) for k in range(32)]
        assert found == temperatures.tolist()
        even, adaptive = (
            of(rows, question="fitted temperature", measure=name, against="ECE", way=search)
            for name in ("even bins", "adaptive bins")
        )
        assert (even, adaptive) == pytest.approx((np.mean(ece[:16]), np.mean(ece[16:])))
        claim = of(rows, question="claim", measure="adaptive bins − even bins", against="ECE", way=search)
        assert claim == pytest.approx(adaptive - even)
    worse = [of(rows, question="fitted temperature", against=LARGER_LOSS, way=way) for way in ("local", "global")]
    assert 0 <= worse[0] < worse[1] < 32


# --- tables 1 and 2 --------------------------------------------------------------------------------------------------


def test_errors_of_histogram_binning():
    family = cs.generators.dirichlet((0.3,) * 4, temperature=4)
    first, (y, p) = family.sample(150, rng=2), family.sample(200, rng=3)
    rows = list(error_choices.histograms(first, (y, p), 7, 99, 1))
    for model, apart in (("histogram", False), ("histogram, by class", True)):
        q = HistogramBinning(class_conditional=apart).fit(first[1], first[0]).predict_proba(p)
        ece = of(rows, question="histogram", model=model, measure="ECE", way="observed")
        assert ece == pytest.approx(cs.estimate(y, q, measure="ece", lens="top_label", n_bins=7))
        by_class = of(rows, question="histogram", model=model, measure="class-conditional ECE", way="observed")
        top, error = q.argmax(axis=1), 0.0
        for k in range(4):
            own = top == k
            error += cs.estimate(y[own] == k, q[own, k], measure="ece", n_bins=7) / 4 if own.any() else 0.0
        assert by_class == pytest.approx(error)
    raw = of(rows, question="histogram", model=BEFORE, measure="ECE", way="observed")
    beyond = of(rows, question="histogram", model=BEFORE, measure="ECE", way="beyond calibrated")
    assert raw > beyond > 0  # calibrated predictions have an error, too


def test_claims_of_the_two_tables_by_hand():
    ece, by_class = "ECE", "class-conditional ECE"
    found = {
        (BEFORE, ece): 0.02447,
        (BEFORE, by_class): 0.03011,
        ("histogram", ece): 0.0070,
        ("histogram", by_class): 0.0212,
        ("histogram, by class", ece): 0.0132,
        ("histogram, by class", by_class): 0.0189,
    }  # table 1 of the paper
    values = [row["value"] for row in error_choices.binning_claims(found, "observed")]
    assert values == pytest.approx([0.0062, 0.0023, 0.02447 / 0.03011 - 0.0070 / 0.0212])
    assert len(list(error_choices.binning_claims(found, "beyond calibrated"))) == 2
    found["histogram", by_class] = 0.0
    assert np.isnan(list(error_choices.binning_claims(found, "observed"))[2]["value"])


# --- figure 1, left --------------------------------------------------------------------------------------------------


def with_one_wrong_class(n, seed):
    """Rows of a calibrated model of six classes, of which class 2 gets the double weight in predictions."""
    y, p = cs.generators.dirichlet((1.0,) * 6).sample(n, rng=seed)
    p = p.copy()
    p[:, 2] *= 4
    return y, p / p.sum(axis=1, keepdims=True)


def test_the_error_of_each_class_is_the_adaptive_one():
    y, p = with_one_wrong_class(600, 1)
    rows = list(error_choices.by_class(y, p, 7, 99, 1))
    for k in range(6):
        expected = cs.estimate(y == k, p[:, k], measure="ece", strategy="quantile", n_bins=7)
        assert of(rows, question="each class", way="observed", at=float(k)) == pytest.approx(expected)
    by_chance = of(rows, question="each class", way="if calibrated", at=2.0)
    assert of(rows, question="each class", way="observed", at=2.0) > 3 * by_chance


def test_halves_agree_on_the_classes_only_if_errors_differ():
    """A class with another error is found; of calibrated rows the correlation of six ranks is about 0, sd .45."""
    wrong = [list(error_choices.by_class(*with_one_wrong_class(3000, seed), 7, 19, 1))[-1]["value"] for seed in (1, 2)]
    family = cs.generators.dirichlet((1.0,) * 6)
    right = [list(error_choices.by_class(*family.sample(600, rng=s), 7, 19, 1))[-1]["value"] for s in range(10)]
    assert min(wrong) > 0.3
    assert abs(np.mean(right)) < 3.3 * 0.45 / np.sqrt(10)


# --- a run -----------------------------------------------------------------------------------------------------------


def asked(**given):
    return chosen(error_choices.OPTIONS, {"splits": 2, "resamples": 19, **given}, "error_choices")


def test_a_run_goes_on_by_file_and_split_and_bad_files_are_named(tmp_path, monkeypatch):
    y, p = FAMILY.sample(100, rng=1)
    np.savez(tmp_path / "good.npz", y=y, prob=p)
    np.savez(tmp_path / "bad.npz", y=y, prob=np.where(p == p.max(), np.nan, p))
    monkeypatch.setattr(error_choices, "over_temperatures", lambda *given: [])
    monkeypatch.setattr(error_choices, "RANKED", ("histogram, by class", "isotonic", "temperature"))
    paths, store = [tmp_path / "good.npz", tmp_path / "bad.npz"], tmp_path / "store"
    first = error_choices.table(quick=False, data=paths, store=store, options=asked())
    assert first.loc[first["file"] == "bad", "reason"].tolist()[0].startswith("expected a probability from 0 to 1")
    assert set(first.loc[first["file"] == "good", "question"]) == {"bins", "claim", "histogram", "each class"}
    made = []
    one_split = error_choices.one_split
    monkeypatch.setattr(error_choices, "one_split", lambda *given: made.append(given[1]) or one_split(*given))
    again = error_choices.table(quick=False, data=paths, store=store, options=asked())
    pd.testing.assert_frame_equal(again, first, check_exact=True)
    assert made == []
    error_choices.table(quick=False, data=paths[:1], store=store, options=asked(splits=3))
    assert made == [2]


def hard(name):
    y, p = FAMILY.sample(60, rng=1)
    return {
        "three rows": (y[:3], p[:3]),
        "one class": (np.zeros(60, int), np.ones((60, 1))),
        "one class observed": (np.zeros(60, int), p),
        "certain": (y, np.eye(4)[p.argmax(axis=1)]),
        "all the same": (y, np.full_like(p, 0.25)),
        "two classes": cs.generators.dirichlet((0.3, 0.3)).sample(60, rng=1),
    }[name]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["three rows", "one class", "one class observed", "certain", "all the same", "two classes"]
)
def test_a_hard_file_has_its_lines_and_pictures(name, tmp_path):
    y, p = hard(name)
    np.savez(tmp_path / "hard.npz", y=y, prob=p)
    table = error_choices.table(quick=True, data=[tmp_path / "hard.npz"], store=None, options=asked())
    assert {"bins", "fitted temperature", "histogram", "each class", "claim"} <= set(table["question"])
    texts = error_choices.pages(table, error_choices.draw(table))
    assert all("hard" in text for text in texts.values())


@pytest.mark.slow
def test_it_runs_without_files(tmp_path):
    table, written = load_study("error_choices").run(tmp_path, quick=True)
    assert sorted(path.suffix for path in written) == [".csv", ".html", ".md", ".png", ".png", ".png"]
    bins = table[(table["question"] == "bins") & (table["file"] == "all files")]
    assert set(bins["measure"]) == set(PROPERTIES)
    assert (bins["files"] == 2).all()
