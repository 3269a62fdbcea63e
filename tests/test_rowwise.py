"""Measures by rows: the same numbers as from summaries, witnesses, biases, clusters."""

import numpy as np
import pandas as pd
import pytest
from conftest import rows
from hypothesis import given
from hypothesis import strategies as st
from oracles import bin_number
from scipy.stats import norm

import calibstat as cs
from calibstat.data.clusters import as_clusters
from calibstat.inference.problem import pose

OFFERED = [
    ("kernel_ce", {}),
    ("kernel_ce", {"kernel": "gaussian", "bandwidth": 0.2}),
    ("ece", {}),
    ("ece", {"strategy": "quantile", "n_bins": 4}),
    ("ks", {}),
    ("kuiper", {}),
    ("smooth_ce", {}),
    ("brier", {}),
]


def model_of(y, p, measure, options, **settings):
    found = pose(y, p, measure, options, **settings).by_rows()
    return found and found[1]


@given(rows(), st.sampled_from(OFFERED))
def test_the_measure_is_its_norm_and_its_witness(data, offered):
    """<theta, w> = ||theta||, and no step leads below <theta + step, w>: the witness is of norm 1 in the dual."""
    y, p = data
    measure, options = offered
    model = model_of(y, p, measure, options)
    expected = cs.estimate(y, p, measure=measure, **options)
    assert model.estimate == pytest.approx(expected, abs=1e-12)
    assert model.witness @ model.theta == pytest.approx(expected, abs=1e-12)
    random = np.random.default_rng(y.size)
    for other in random.normal(size=(5, model.theta.size)):
        assert other @ model.witness <= model.norm(other) + 1e-12


@pytest.mark.parametrize(("measure", "options"), OFFERED)
def test_sums_of_drawn_rows_give_the_measure_of_drawn_rows(measure, options):
    """Except that cells stay where they are, which matters to quantile bins alone."""
    random = np.random.default_rng(1)
    p = random.random(40).round(1)
    y = (random.random(40) < p**2).astype(int)
    model = model_of(y, p, measure, options)
    i = random.integers(0, 40, 40)
    sums = np.bincount(model.cell[i], model.residual[i], model.theta.size)
    drawn = sums[None] / 40
    ((step, linear),), (value,) = model.moves(drawn), model.norm(drawn)
    if options.get("strategy") != "quantile":
        assert value == pytest.approx(cs.estimate(y[i], p[i], measure=measure, **options), abs=1e-12)
    change = sums / 40 - model.theta
    assert linear == pytest.approx(model.witness @ change, abs=1e-12)
    moved = model.norm(model.theta + model.step * change)
    assert step == pytest.approx((moved - model.estimate) / model.step, abs=1e-12)
    assert step >= linear - 1e-12


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
def test_losses_of_whole_vectors(measure):
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(50, rng=1)
    model = model_of(y, p, measure, {}, lens="canonical")
    chosen = p[np.arange(50), y]
    each = -np.log(chosen) if measure == "log_loss" else ((p - np.eye(3)[y]) ** 2).sum(axis=1)
    assert model.estimate == pytest.approx(cs.estimate(y, p, measure=measure, lens="canonical"), abs=1e-12)
    ratio = model.residual / each  # a score of two classes may count both, or one
    assert ratio == pytest.approx(np.full(50, ratio[0]), rel=1e-9)
    assert model.is_mean


@pytest.mark.parametrize(
    ("measure", "options"),
    [("ece", {"norm": "l2"}), ("kernel_ce_squared", {}), ("mcb", {}), ("smooth_ece", {})],
)
def test_measures_without_a_form_by_rows(measure, options):
    assert model_of([0, 1, 1], [0.2, 0.5, 0.9], measure, options) is None


def test_classes_together_have_no_form_by_rows():
    y, p = cs.generators.six_points().sample(20, rng=1)
    assert model_of(y, p, "ece", {}, lens="class_wise") is None
    assert model_of(y, p, "canonical_ce", {}) is None


def test_an_infinite_loss_names_its_row():
    with pytest.raises(ValueError, match="infinite at row 2"):
        model_of([0, 1, 1], [0.2, 0.5, 0.0], "log_loss", {})


def test_a_summary_has_no_rows():
    with pytest.raises(ValueError, match=r"expected rows.*found a Sample"):
        model_of(cs.Sample.from_counts([0.2], [5], [2]), None, "ks", {})


def bias_by_hand(y, p, cell, cluster):
    """The rule cell by cell: a gap one spread nearer to zero, and what absolute values add to it on average."""
    total, n = 0.0, y.size
    for b in np.unique(cell):
        here = cell == b
        theta = (y - p)[here].sum() / n
        parts = [((y - p)[here & (cluster == c)].sum() - (cluster == c).sum() * theta) for c in np.unique(cluster)]
        variance = np.square(parts).sum() / n**2
        if here.sum() < 30:
            variance = max(variance, (p * (1 - p))[here].sum() / n**2)
        if variance > 0:
            t = max(abs(theta) / np.sqrt(variance) - 1, 0)
            # E|Z + t| - t, integrated numerically
            z = np.linspace(-9, 9, 180_001)
            total += np.sqrt(variance) * ((np.abs(z + t) * norm.pdf(z)).sum() * (z[1] - z[0]) - t)
    return total


@pytest.mark.parametrize("members", [1, 5])
def test_the_largest_bias_by_hand(members):
    random = np.random.default_rng(2)
    p = random.random(200)
    y = (random.random(200) < p**2).astype(int)
    cluster = np.arange(200) // members
    model = model_of(y, p, "ece", {"n_bins": 5})
    cell = bin_number(p, 5)
    unit = None if members == 1 else cluster
    model = model.for_comparison(unit)
    assert model.missing_bias(np.zeros(1)) == pytest.approx(bias_by_hand(y, p, cell, cluster), abs=1e-8)


@pytest.mark.parametrize(
    "names",
    [
        np.repeat([7, 3, 5], 20),
        np.repeat(["b", "a", "c"], 20),
        pd.Series(np.repeat(["b", "a", "c"], 20)),
        pd.Categorical(np.repeat(["b", "a", "c"], 20)),
        np.array(["b", 1, 2.5], object).repeat(20),
        np.repeat(np.array(["2026-03-01", "2026-01-01", "2026-02-01"], "datetime64[D]"), 20),
    ],
)
def test_clusters_are_numbered_in_the_order_of_their_rows(names):
    with pytest.warns(UserWarning, match="3 clusters are few"):
        found = as_clusters(names, 60)
    assert found.tolist() == [0] * 20 + [1] * 20 + [2] * 20
    assert found.dtype == np.int64


def test_enough_clusters_do_not_warn():
    assert as_clusters(np.arange(30), 30).tolist() == list(range(30))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([1.0, 2.0, np.nan], "missing clusters, found one at row 2"),
        (["a", None, "b"], "missing clusters, found one at row 1"),
        (pd.Series(["a", "b", pd.NA]), "missing clusters, found one at row 2"),
        (np.array(["2026-01-01", "NaT", "2026-01-02"], "datetime64[D]"), "missing clusters, found one at row 1"),
        ([1, 2], r"shape \(3,\), found shape \(2,\)"),
        ([[1], [2], [3]], r"found shape \(3, 1\)"),
        ([4, 4, 4], "at least 2 clusters, found 1"),
    ],
)
def test_bad_clusters(names, message):
    with pytest.raises(ValueError, match=message):
        as_clusters(names, 3)
