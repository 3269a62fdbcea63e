"""Arguments that every verb takes, and those of other packages: a clear error or the right result."""

import numpy as np
import pandas as pd
import pytest
from verb_arguments import VERBS, P, Y

import calibstat as cs
from calibstat.data import checks
from calibstat.data.checks import check_level


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in ("test", "t_cal", "reliability")])
@pytest.mark.parametrize("bad", [None, "0.9", float("nan"), 0, 1, True, 1 - 1e-16, 95, [0.9]], ids=repr)
def test_confidence_levels(verb, bad):
    with pytest.raises(ValueError, match="expected confidence_level between 0 and 1, found"):
        VERBS[verb](confidence_level=bad)


def test_levels_near_the_ends_are_taken():
    for level in (1e-12, 0.5, 1 - 1e-12, np.float32(0.5)):
        check_level("level", level)
        found = cs.confidence_interval(Y, P, measure="brier", confidence_level=float(level))
        assert np.isfinite([found.low, found.high]).all()


def test_long_names_are_cut_short():
    name = "x" * 5000
    with pytest.raises(ValueError, match=r"^expected") as caught:
        cs.compare(Y, {name: [0.5, 2.0], "b": P})
    assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match=r"^expected a measure") as caught:
        cs.estimate(Y, P, measure=name)
    assert len(str(caught.value)) < 1000


def test_values_that_are_too_deep_or_too_long_to_write_are_named_by_their_type():
    """A whole number has at most 4,300 digits as a text, and a list some thousands of levels."""
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for value, kind in ((10**5000, "int"), (deep, "list")):
        with pytest.raises(ValueError, match=f"expected confidence_level .*, found {kind} that is too long to write"):
            cs.confidence_interval(Y, P, confidence_level=value)


FOREIGN = {"random_state": "rng=", "seed": "rng=", "bins": "n_bins=", "n_boot": "n_resamples=",
           "alpha": "confidence_level=", "weights": "sample_weight="}  # fmt: skip


@pytest.mark.parametrize("verb", ["test", "interval", "compare", "decompose", "gap"])
@pytest.mark.parametrize("name", FOREIGN)
def test_names_of_other_packages_say_what_to_use(verb, name):
    with pytest.raises(
        ValueError, match=f"^expected {FOREIGN[name]}.* of .*, found '{name}'$|found '{name}'; .*{FOREIGN[name]}"
    ):
        VERBS[verb](**{name: 3})


def test_weights_have_one_name():
    for verb in ("test", "interval", "compare"):
        with pytest.raises(ValueError, match=r"^expected sample_weight= of \w+, found 'weights'$"):
            VERBS[verb](weights=np.ones(60))
    with pytest.raises(TypeError, match=r"found 'weights'; .* take sample_weight=, .*Sample\.from_rows"):
        cs.audit(Y, P, {"a": Y}, weights=np.ones(60))


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: cs.estimate(Y, P, measure="ECE"), "ece"),
        (lambda: cs.estimate(Y, P, measure="smooth-ce"), "smooth_ce"),
        (lambda: cs.estimate(Y, P, measure="omnibas"), "omnibus"),
        (lambda: cs.estimate(Y, P, lens="classwise"), "class_wise"),
        (lambda: cs.estimate(Y, P, n_bin=3, measure="ks"), None),
        (lambda: cs.estimate(Y, P, stratgy="quantile"), "strategy"),
        (lambda: cs.confidence_interval(Y, P, method="percentiles"), "percentile"),
        (lambda: cs.decompose(Y, P, score="brior"), "brier"),
        (lambda: cs.compare(Y, {"forest": P, "line": P**2}, reference="Forrest"), "forest"),
        (lambda: cs.estimate(Y, P, measure="xyz"), None),
        (lambda: cs.estimate(Y, P, measure=3), None),
    ],
)
def test_the_nearest_name_is_asked_for(call, meant):
    with pytest.raises(ValueError, match=r"^expected") as caught:
        call()
    question = f"did you mean {meant!r}?" if meant else ""
    assert str(caught.value).endswith(question)
    assert ("did you mean" in str(caught.value)) == bool(meant)


def test_names_that_cannot_be_hashed_are_not_among_others():
    assert checks.is_among("a", {"a": 1})
    assert not checks.is_among("b", {"a": 1})
    assert not checks.is_among(["a"], {"a": 1})
    assert not checks.is_among(np.array(["a"]), ("a",))


@pytest.mark.parametrize("value", [1, 0, "yes", None, [True]])
def test_a_switch_is_true_or_false(value):
    assert checks.check_switch("shape", np.bool_(True)) is True
    with pytest.raises(ValueError, match="expected shape True or False, found"):
        checks.check_switch("shape", value)


STRANGE = [np.array(["a", "b"]), [1], ([1],), pd.NA, float("nan"), object(), {"a": 1}]


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_what_is_no_name_is_among_none(value):
    assert not checks.is_among(value, ("a", "b", 1, None))
    assert checks.is_among("a", {"a": 1})


@pytest.mark.parametrize("value", ["text", ["0.1"], [[1], [1, 2]], [1j], [10**400], {"a": 1}, object()])
def test_what_holds_no_numbers_is_empty(value):
    assert checks.as_numbers(value).size == 0


def test_numbers_are_floats():
    assert checks.as_numbers((0, 0.5)).tolist() == [0.0, 0.5]
    assert checks.as_numbers(np.array([1, None, 2], object)[[0, 2]]).tolist() == [1.0, 2.0]
    assert checks.as_numbers(3).shape == ()
