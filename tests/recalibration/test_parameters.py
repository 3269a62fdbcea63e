"""Parameters of constructors by their names."""

import pickle

import pytest

import calibstat as cs
from calibstat.recalibration.parameters import Parametrised, need_fitted


class Inner(Parametrised):
    def __init__(self, width=1):
        self.width = width


class Outer(Parametrised):
    def __init__(self, inner=None, *, height=2):
        self.inner, self.height = inner, height


def test_parameters_are_named_with_the_ones_within():
    made = Outer(Inner(5))
    assert made.get_params() == {"inner": made.inner, "height": 2, "inner__width": 5}
    assert made.get_params(deep=False) == {"inner": made.inner, "height": 2}
    assert repr(made) == "Outer(inner=Inner(width=5))"


def test_a_parameter_within_a_new_one_is_set_on_the_new_one():
    old = Inner(5)
    made = Outer(old).set_params(inner__width=7, inner=Inner(6))
    assert (made.inner.width, old.width) == (7, 5)


@pytest.mark.parametrize("name", ["depth", "inner__depth", "height__width"])
def test_unknown_parameters_are_refused(name):
    with pytest.raises(ValueError, match=r"expected a parameter of (Outer|Inner) \(.*\), found"):
        Outer(Inner()).set_params(**{name: 1})


def test_what_is_not_fitted_is_named():
    made = Inner()
    with pytest.raises(ValueError, match="expected a fitted Inner, found one of which fit has not been called"):
        need_fitted(made, "width_")
    made.width_ = 1
    need_fitted(made, "width_")


def test_the_repr_of_a_copy_is_the_same():
    for given in (cs.recalibration.TemperatureScaling(), cs.recalibration.TemperatureScaling(search="global")):
        assert repr(pickle.loads(pickle.dumps(given))) == repr(given)
    assert repr(cs.recalibration.TemperatureScaling(search="".join(["lo", "cal"]))) == "TemperatureScaling()"
