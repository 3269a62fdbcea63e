"""Several models on the same rows: rows, truths, and what is no model of the same rows."""

import pickle

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.generators import calibrated, dirichlet, distorted, domain, gaussian_mixture, groups, models, shift

UNIFORM = calibrated()
STEPS = {"as it is": {}, "steep": {"temperature": 2}, "high": {"shift": 0.5, "s_shape": 0.2}}
QUARTER, CHANCE = [0.25] * 4, [0.1, 0.4, 0.6, 0.9]
LOW = groups({"a": (0.8, UNIFORM), "b": (0.2, shift(-1))})


@pytest.mark.parametrize(
    ("base", "given"),
    [
        (UNIFORM, STEPS),
        (calibrated(stats.beta(5, 0.5)), STEPS),
        (LOW, {"low": {}, "high": groups({"a": (0.8, UNIFORM), "b": (0.2, shift(1))}), **STEPS}),
        (gaussian_mixture(0, -2), {"calibrated": {}, "falling": gaussian_mixture(1, 1)}),
        (domain(QUARTER, CHANCE, CHANCE), {"first": domain(QUARTER, CHANCE, [0.25, 0.25, 0.75, 0.75]), **STEPS}),
        (dirichlet((1, 2, 3)), {"as it is": {}, "steep": dirichlet((1, 2, 3), temperature=2)}),
    ],
)
def test_rows_are_those_of_the_base_with_the_predictions_of_each_model_alone(base, given):
    family = models(base, given)
    y, p = family.sample(200, 7)
    assert list(p) == list(given) == list(family.models)
    assert np.array_equal(y, base.sample(200, 7)[0])
    for name, model in family.models.items():
        alone = model.sample(200, 7)
        assert np.array_equal(alone[0], y)
        assert np.array_equal(alone[1], p[name])
    assert len({each.tobytes() for each in p.values()}) == len(dict.fromkeys(map(repr, family.models.values())))


def test_a_mapping_distorts_the_base():
    family = models(UNIFORM, STEPS)
    assert family.models["as it is"] == UNIFORM
    assert family.models["steep"] == distorted(UNIFORM, temperature=2)
    _, p = family.sample(100, 1)
    v = UNIFORM.sample(100, 1)[1]
    np.testing.assert_allclose(p["steep"], v**2 / (v**2 + (1 - v) ** 2), rtol=1e-12)  # odds squared


def test_truths_are_those_of_closed_forms():
    """Temperature 2 of uniform chances: two bins are off by ln(2) / 2 - 1/4, see `generators.temperature`."""
    family = models(UNIFORM, STEPS)
    assert family.models["as it is"].truth("ece") == 0
    assert family.models["steep"].truth("ece", n_bins=2) == pytest.approx(np.log(2) / 2 - 0.25, abs=1e-12)


def test_a_generator_moves_on_and_a_seed_does_not():
    family, random = models(UNIFORM, STEPS), np.random.default_rng(3)
    first, second = family.sample(50, random), family.sample(50, random)
    assert not np.array_equal(first[1]["steep"], second[1]["steep"])
    again = family.sample(50, 3)
    assert all(np.array_equal(again[1][name], first[1][name]) for name in STEPS)


def test_what_is_written_says_all():
    family = models(UNIFORM, {"T": {"temperature": 2}, 3: shift(0.5)})
    expected = "models(calibrated(distribution='uniform'), {'T': {'temperature': 2}, '3': shift(delta=0.5, distrib"
    assert repr(family).startswith(expected)
    assert eval(repr(family), vars(cs.generators)) == family
    copy = pickle.loads(pickle.dumps(family))
    assert np.array_equal(copy.sample(5, 1)[1]["T"], family.sample(5, 1)[1]["T"])
    assert (family.n_classes, models(dirichlet((1, 1, 1)), {"a": {}}).n_classes) == (None, 3)


@pytest.mark.parametrize(
    ("base", "given", "message"),
    [
        (UNIFORM, {"part": distorted(UNIFORM, temperature=2, subgroup=0.1)}, "found others of model 'part', distorted"),
        (UNIFORM, {"rare": cs.generators.prevalence(UNIFORM, 0.1)}, "found others of model 'rare'"),
        (
            UNIFORM,
            {"beta": calibrated(stats.beta(2, 2))},
            "the outcomes of the base, calibrated.*of model 'beta'",
        ),
        (UNIFORM, {"three": dirichlet((1, 1, 1))}, "found others of model 'three'"),
        (
            UNIFORM,
            {"a": {"temp": 2}},
            "some of temperature, shift, s_shape, or a generator, of model 'a'; found",
        ),
        (UNIFORM, {"a": {"temperature": -1}}, "temperature positive and finite, found -1, of model 'a'"),
        (UNIFORM, {"a": 2}, "or a generator, of model 'a'; found 2"),
        (UNIFORM, {}, r'such as {"T = 2": {"temperature": 2}}, found {}'),
        (UNIFORM, [UNIFORM], "expected a mapping from the name of each model"),
        (dirichlet((1, 1, 1)), {"a": {"temperature": 2}}, "distortions are of one event and the base has 3 classes"),
        ("uniform", STEPS, "expected a generator of covariates and outcomes, found 'uniform'"),
    ],
)
def test_what_is_no_model_of_the_same_rows(base, given, message):
    with pytest.raises(ValueError, match=message):
        models(base, given)
