"""How measures are added to the registry, looked up, and refused."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from measure_claims import CLAIMS, rows

import calibstat as cs
from calibstat.measures import ECE, MEASURES, Binned, Info, MeanLoss, Seminorm, Statistic, VectorStatistic
from calibstat.measures.kinds import registry
from calibstat.measures.kinds.registry import binary_measures, everyday_measures, find_measure, multiclass_measures


@pytest.fixture
def users_measure():
    about = {"title": "Largest residual", "formula": r"\max_j |\mu_j|", "reference": "doi:0", "bounds": (0, 1)}

    @cs.measure("worst_cell", **about)
    def worst_cell(value, residual, *, power=1.0):
        """Return the largest absolute residual. Option: `power`."""
        if power <= 0:
            raise ValueError("expected power above 0")
        return max(abs(r) ** power for r in residual.tolist())

    yield MEASURES["worst_cell"]()
    registry._REGISTRY.pop("worst_cell")


@pytest.fixture
def name():
    """A name that is free again when the test ends."""
    yield "mine"
    registry._REGISTRY.pop("mine", None)


def test_users_measure_works_like_any_other(users_measure):
    y, p = rows(0)
    assert cs.estimate([1, 0], [0.5, 0.75], measure="worst_cell") == 0.375
    assert cs.estimate([1, 0], [0.5, 0.75], measure="worst_cell", power=2) == 0.140625
    result = cs.calibration_test(y, p, measure="worst_cell", n_resamples=99, rng=0)
    assert 0.01 <= result.pvalue < 0.3
    assert result.statistic == cs.estimate(y, p, measure="worst_cell")
    for claim in set(CLAIMS) - {"continuous"}:
        CLAIMS[claim](users_measure)


def test_exception_names_the_measure(users_measure):
    with pytest.raises(ValueError, match="power above 0") as error:
        cs.estimate([1, 0], [0.5, 0.75], measure="worst_cell", power=0)
    assert error.value.__notes__ == ["raised by calibstat measure 'worst_cell'"]


# --- what is registered ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda value, residual: abs(residual.sum()), Seminorm),
        (lambda value, count, positives: abs(positives.sum() / count.sum() - 0.5), Statistic),
        (lambda prob, label: (prob.argmax(axis=1) != label).mean(), VectorStatistic),
    ],
)
def test_what_a_function_takes_says_its_kind(name, function, kind):
    assert cs.measure(name)(function) is function
    assert issubclass(MEASURES[name], kind)
    assert MEASURES[name].info == Info(title=name)
    assert str(MEASURES[name]()) == "mine"


def test_a_class_becomes_frozen_and_its_fields_options(name):
    @cs.measure(name, bounds=(0, 1))
    class Mine(Statistic):
        power: float = 1.0

        def evaluate(self, value, count, positives):
            return abs(positives.sum() / count.sum() - 0.5) ** self.power

    assert MEASURES[name] is Mine
    assert Mine.defaults() == {"power": 1.0}
    assert Mine(power=2.0) == Mine(power=2.0) != Mine()
    assert str(Mine(power=2.0)) == "mine(power=2.0)"
    with pytest.raises(FrozenInstanceError):
        Mine().power = 2.0
    with pytest.raises(TypeError):
        Mine(2.0)
    found = [cs.estimate([1, 1], [0.5, 0.5], measure=m) for m in (name, Mine, Mine(power=1.0))]
    assert found == [0.5] * 3
    assert cs.estimate([1, 1], [0.5, 0.5], measure=Mine, power=2.0) == 0.25


def test_registering_again_replaces_the_entry(name):
    for scale in (1.0, 2.0):

        @cs.measure(name)
        def mine(value, residual, *, scale=scale):
            return scale * abs(residual.sum())

        assert cs.estimate([1], [0.75], measure=name) == 0.25 * scale


# --- what is refused -------------------------------------------------------------------------------------------------


def test_a_name_that_another_module_has_is_refused():
    with pytest.raises(ValueError, match=r"expected a new name, found 'ece', which calibstat.measures.binned has"):
        cs.measure("ece")(lambda value, residual: 0.0)
    assert MEASURES["ece"] is ECE


def needy(value, residual, *, width):
    return width


def strange(first, second):
    return first


class Lacking(Binned):
    def cells(self, value, count):
        return np.zeros(value.size, int)


class Shadowing(Seminorm):
    norm: str = "l1"


class Needy(MeanLoss):
    width: float

    def loss(self, value):
        return value, 1 - value


class Wrong(ECE):
    n_bins: int = 0


def starred(*rows):
    return 0.0


class NoKind:
    pass


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (needy, "expected a default for option 'width' of measure 'mine'"),
        (
            strange,
            r"take one of \(value, count, positives\), \(value, residual\), \(prob, label\), \(y, p\); found \(first",
        ),
        (Lacking, "expected measure 'mine' to define reduce, as its kind requires; found none"),
        (Shadowing, "expected another name for option 'norm' of measure 'mine', which its kind has"),
        (Needy, "expected a default for option 'width' of measure 'mine'"),
        (Wrong, "expected n_bins to be a whole number"),
        (NoKind, "expected a class of one of the kinds"),
        (3, "expected a function or a class for measure 'mine', found 3"),
        (lambda p, y: 0.0, r"\(y, p\); found \(p, y\)"),
        (starred, r"\(y, p\); found \(\)"),
        (
            max,
            r"a function that names its parameters for measure 'mine', found <built-in function max>; write lambda y",
        ),
    ],
)
def test_what_is_no_measure_is_refused(entry, message):
    with pytest.raises(ValueError, match=message):
        cs.measure("mine")(entry)
    assert "mine" not in MEASURES


def test_what_is_not_known_of_measures_is_refused():
    with pytest.raises(ValueError, match=r"options of cs.measure \(title, .*\), found 'costly'"):
        cs.measure("mine", costly=True)(lambda value, residual: 0.0)
    assert "mine" not in MEASURES


@pytest.mark.parametrize(
    ("entry", "said", "message"),
    [
        (lambda prob, label: 0.0, True, "expected plugs_in of a binary measure, found it of 'mine', a measure of K cl"),
        (lambda y, p: 0.0, "yes", "expected plugs_in True or False, found 'yes'"),
    ],
)
def test_what_plugs_in_cannot_say_is_refused(entry, said, message):
    with pytest.raises(ValueError, match=message):
        cs.measure("mine", plugs_in=said)(entry)
    assert "mine" not in MEASURES


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("found", [None, "0.5", [0.5], np.array([0.5]), (0.5, 0.1), 1j])
def test_a_function_that_returns_no_number_is_named(found):
    cs.measure("mine")(lambda value, residual: found)
    with pytest.raises(ValueError, match="expected a number from measure 'mine', found "):
        cs.estimate([1, 0], [0.5, 0.25], measure="mine")


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("found", [True, 1, np.float32(1), np.array(1.0)])
def test_a_number_may_be_of_any_type(found):
    cs.measure("mine")(lambda value, residual: found)
    assert cs.estimate([1, 0], [0.5, 0.25], measure="mine") == 1.0


def test_unknown_measure_and_option():
    for unknown in ("eec", int, 3, None):
        with pytest.raises(ValueError, match="expected a measure, one of ece,"):
            cs.estimate([1], [0.5], measure=unknown)
    with pytest.raises(ValueError, match=r"expected n_bins= of measure 'ece', found 'bins'"):
        cs.estimate([1], [0.5], measure="ece", bins=3)
    with pytest.raises(ValueError, match=r"no options beside the measure ece\(n_bins=3\), found {'norm': 'l2'}"):
        cs.estimate([1], [0.5], measure=ECE(n_bins=3), norm="l2")


@pytest.mark.parametrize(
    ("measure", "wrong"),
    [
        ("ece", {"n_bins": 0}),
        ("ece", {"strategy": "even"}),
        ("ece", {"strategy": (0.5, 0.2)}),
        ("ece", {"norm": 0.5}),
        ("ece", {"norm": "l3"}),
        ("ece_width", {"n_bins": 2.5}),
        ("average_ce", {"n_bins": "many"}),
        ("ece_debiased", {"variant": "none"}),
        ("ece_debiased", {"n_bins": -1}),
        ("kernel_ce", {"kernel": "box"}),
        ("kernel_ce_squared", {"bandwidth": 0}),
        ("smooth_ece", {"bandwidth": 2}),
        ("random_interval_ce", {"width": 0}),
        ("surrogate_interval_ce", {"precision": 2}),
        ("lower_distance", {"grid": 1}),
        ("regression_ce", {"divergence": "none"}),
        ("regression_ce", {"clip": 0.1}),
        ("regression_ce", {"estimator": "none"}),
        ("log_loss", {"clip": 0.5}),
        ("normalized_log_loss", {"clip": -1}),
        ("gce", {"binning": "none"}),
        ("gce", {"threshold": 1}),
        ("gce", {"norm": "max"}),
        ("gce", {"n_bins": 0}),
        ("skce", {"statistic": "none"}),
        ("skce", {"kernel": "gaussian"}),
        ("skce", {"block_size": 1}),
        ("canonical_ce", {"distance": "none"}),
        ("canonical_ce", {"strategy": "uniform", "threshold": "none"}),
        ("canonical_ce", {"min_size": 0}),
        ("canonical_ce", {"refit": 1}),
    ],
)
def test_a_wrong_option_is_refused_when_the_measure_is_made(measure, wrong):
    with pytest.raises(ValueError, match="expected"):
        MEASURES[measure](**wrong)


# --- what is found ---------------------------------------------------------------------------------------------------


def test_str_shows_what_was_chosen():
    assert str(find_measure("ece", {"n_bins": 15})) == "ece"
    assert str(find_measure("ece", {"n_bins": 10})) == "ece(n_bins=10)"
    assert str(find_measure("ece", {"strategy": np.array([0.25, 0.5])})) == "ece(strategy=(0.25, 0.5))"
    assert str(find_measure("brier", {}).multiclass()) == "brier"


def test_every_measure_is_binary_or_multiclass():
    assert set(binary_measures()) | set(multiclass_measures()) == set(MEASURES)
    assert set(binary_measures()) & set(multiclass_measures()) == {"brier", "log_loss", "omnibus"}
    assert set(everyday_measures()) < set(binary_measures())


def test_every_measure_says_what_it_is():
    """A user's measure need not; `documented` in test_base checks the options too."""
    for name, entry in MEASURES.items():
        if entry.__module__.startswith("calibstat."):
            info = entry.info
            assert entry.name == name
            assert info.title != name  # which is what a measure without a title is called
            assert info.formula
            assert "doi:" in info.reference or "arXiv:" in info.reference
            assert info.bounds != Info().bounds
            assert entry.__doc__
            assert all(f"`{option}" in entry.__doc__ for option in entry.defaults())


def test_an_option_of_another_measure_beside_a_measure_is_named():
    with pytest.raises(ValueError, match=r"expected options of measure 'ece' \(.*\), found 'kernel'"):
        find_measure(cs.measures.ECE(), {"kernel": "gaussian"})
