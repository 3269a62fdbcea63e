"""The arguments that type checkers see, in overloads, are those that a function has."""

import inspect
import typing
from typing import Any, TypedDict, Unpack, overload

import pytest

import calibstat as cs
from calibstat.measures.measure_options import MeasureOptions

FUNCTIONS = {name: getattr(cs, name) for name in cs.__all__ if inspect.isfunction(getattr(cs, name))}
SEVERAL = [name for name, each in FUNCTIONS.items() if "y_prob" in inspect.signature(each).parameters]
ONE_ANSWER = {"choose", "compare", "expected_calibration_error", "report", "summarize"}  # for any number of models


def written(function):
    """The arguments of a function and their types, and whether it has options."""
    types = typing.get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    return {each.name: types[each.name] for each in parameters if each.kind is not each.VAR_KEYWORD}


def declared(stub):
    """The arguments of an overload and their types; of its options those of the function beside the measures'."""
    types = typing.get_type_hints(stub)
    parameters = inspect.signature(stub).parameters.values()
    found = {each.name: types[each.name] for each in parameters if each.kind is not each.VAR_KEYWORD}
    options = typing.get_type_hints(typing.get_args(types["arguments"])[0])
    return found, options


def differing(function, stubs, narrowed=("y_true", "y_prob", "lens", "reduce", "groups")):
    """Arguments that only an overload or only the function has, or of another type."""
    own, found = written(function), []
    for stub in stubs:
        named, options = declared(stub)
        lacking = own.keys() ^ (named.keys() | (options.keys() - MeasureOptions.__annotations__.keys()))
        lacking -= {name for name in lacking if name in options}  # of a method, not of the function itself
        both = named | options
        other = {name for name in own.keys() & both.keys() if own[name] != both[name] and name not in narrowed}
        found += sorted(lacking | other)
    return found


@pytest.mark.parametrize("name", [name for name in SEVERAL if name not in ONE_ANSWER])
def test_overloads_have_the_arguments_of_the_function(name):
    assert differing(FUNCTIONS[name], typing.get_overloads(FUNCTIONS[name])) == []


def test_functions_of_one_model_say_what_several_give():
    for name in set(SEVERAL) - ONE_ANSWER:
        stubs = typing.get_overloads(FUNCTIONS[name])
        returns = [typing.get_type_hints(stub)["return"] for stub in stubs]
        assert any(typing.get_origin(each) is cs.Answers for each in returns), name
        assert any(typing.get_origin(each) is not cs.Answers for each in returns), name


def test_an_argument_of_one_side_is_found():
    class Options(TypedDict, total=False):
        level: int
        seed: Any

    @overload
    def ask(y_true: Any, y_prob: Any, **arguments: Unpack[Options]) -> int: ...
    @overload
    def ask(y_true: Any, y_prob: None = None, **arguments: Unpack[Options]) -> str: ...
    def ask(y_true: Any, y_prob: Any = None, *, level: float = 0.5, rng: Any = None) -> int | str:
        return 1

    stub = inspect.unwrap(typing.get_overloads(ask)[0])
    assert differing(ask, [stub]) == ["level", "rng"]
