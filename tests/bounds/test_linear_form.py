"""Measures in linear form: the same numbers as from summaries, and witnesses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows

import calibstat as cs
from calibstat.inference.problems.pose import pose

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
    found = pose(y, p, measure, options, **settings)
    return found.row_form() if found.contents() else None


@given(rows(), st.sampled_from(OFFERED))
def test_the_measure_is_its_norm_and_its_witness(data, offered):
    """<theta, w> = ||theta||, and no step leads below <theta + step, w>: the witness is of norm 1 in the dual."""
    y, p = data
    measure, options = offered
    model = model_of(y, p, measure, options)
    expected = cs.estimate(y, p, measure=measure, **options)
    assert model.estimate == pytest.approx(expected, abs=1e-12)
    witness = model.witness(model.theta)
    assert witness @ model.theta == pytest.approx(expected, abs=1e-12)
    random = np.random.default_rng(y.size)
    for other in random.normal(size=(5, model.theta.size)):
        assert other @ witness <= model.norm(other) + 1e-12


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
    step, (value,) = model.moves(drawn).flat[0], model.norm(drawn)
    if options.get("strategy") != "quantile":
        assert value == pytest.approx(cs.estimate(y[i], p[i], measure=measure, **options), abs=1e-12)
    change = sums / 40 - model.theta
    moved = model.norm(model.theta + model.step * change)
    assert step == pytest.approx((moved - model.estimate) / model.step, abs=1e-12)
    assert step >= model.witness(model.theta) @ change - 1e-12


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
def test_canonical_losses(measure):
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


def test_classes_one_by_one_have_no_form_by_rows():
    y, p = cs.generators.six_points().sample(20, rng=1)
    assert model_of(y, p, "ece", {}, lens="class_wise") is None
    assert model_of(y, p, "canonical_ce", {"distance": "squared_euclidean"}) is None


def test_an_infinite_loss_names_its_row():
    with pytest.raises(ValueError, match="infinite at row 2"):
        model_of([0, 1, 1], [0.2, 0.5, 0.0], "log_loss", {})


def test_a_summary_has_no_rows():
    with pytest.raises(ValueError, match=r"expected rows.*found a Sample"):
        model_of(cs.Sample.from_counts([0.2], [5], [2]), None, "ks", {})
