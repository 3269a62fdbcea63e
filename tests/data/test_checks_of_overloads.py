"""The arguments that type checkers see, in overloads, are those that a function has."""

import inspect
import typing
from types import SimpleNamespace
from typing import Any, TypedDict, Unpack, overload

import pytest
from public_functions import public_functions

import calibstat as cs
from calibstat.data.checked_rows import AboutRows
from calibstat.inference.designs.question_of_rows import Question
from calibstat.inference.estimate import Estimate
from calibstat.measures.measure_options import MeasureOptions

FUNCTIONS = public_functions()
OPTIONS = MeasureOptions.__annotations__.keys() | AboutRows.__annotations__.keys()


def of_calls(protocol):
    """The overloads of what an object of this protocol is called with."""
    place = {"__module__": protocol.__module__, "__qualname__": f"{protocol.__qualname__}.__call__"}
    return typing.get_overloads(SimpleNamespace(**place))


STUBS = {name: typing.get_overloads(each) for name, each in FUNCTIONS.items() if name != "predict"}  # of any arguments
STUBS = {name: stubs for name, stubs in STUBS.items() if stubs} | {"estimate": of_calls(Estimate)}


def named(function, types):
    """The arguments of a function and their types, without its options and what it is called of."""
    parameters = inspect.signature(function).parameters.values()
    return {each.name: types.get(each.name) for each in parameters
            if each.kind is not each.VAR_KEYWORD and each.name != "self"}  # fmt: skip


def declared(stub):
    """The arguments of an overload and their types; of its options those of the function beside the measures'."""
    types = typing.get_type_hints(stub)
    (options,) = (each.name for each in inspect.signature(stub).parameters.values() if each.kind is each.VAR_KEYWORD)
    return named(stub, types), typing.get_type_hints(typing.get_args(types[options])[0])


def differing(function, stubs, narrowed=("y_true", "y_prob", "lens", "groups", "alternative", "n", "train", "test")):
    """Arguments that only an overload or only the function has, or of another type."""
    own, found = named(function, typing.get_type_hints(function)), []
    for stub in stubs:
        written, options = declared(stub)
        lacking = own.keys() ^ (written.keys() | (options.keys() - OPTIONS))
        lacking -= {name for name in lacking if name in options}  # of a method, not of the function itself
        both = written | options
        other = {name for name in own.keys() & both.keys() if own[name] != both[name] and name not in narrowed}
        found += sorted(lacking | other)
    return found


@pytest.mark.parametrize("name", STUBS)
def test_overloads_have_the_arguments_of_the_function(name):
    assert differing(FUNCTIONS[name], STUBS[name]) == []


def test_a_question_of_one_model_says_what_several_give():
    for protocol in (Question, Estimate):
        returns = [typing.get_type_hints(stub)["return"] for stub in of_calls(protocol)]
        of_several = [typing.get_origin(each) is cs.Answers for each in returns]
        assert of_several.count(True) == of_several.count(False) > 0


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
