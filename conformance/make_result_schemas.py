"""Write results-2.json: the JSON Schema of the dictionary of every result of calibstat, from the classes' fields.

Run ``python make_result_schemas.py`` in this folder. `to_dict` joins the fields of a result within a result to its own,
with dots between their names, and so do the schemas. What a dictionary names, such as models, may have any name.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterator
from dataclasses import fields
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

import calibstat as cs
from calibstat.in_words import InWords
from calibstat.reporting.report_fields import ReportFields
from calibstat.result import Result

HERE = Path(__file__).parent
Schema = dict[str, Any]
ANY_NAME = r"[\s\S]+"
DEFS: Schema = {
    "number": {
        "description": "nan is null",
        "anyOf": [{"type": ["number", "null"]}, {"enum": ["Infinity", "-Infinity"]}],
    },
    "array": {
        "type": "array",
        "items": {"anyOf": [{"$ref": "#/$defs/number"}, {"type": ["string", "boolean"]}, {"$ref": "#/$defs/array"}]},
    },
}
PLAIN: dict[object, Schema] = {
    float: {"$ref": "#/$defs/number"},
    int: {"type": "integer"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    np.ndarray: {"$ref": "#/$defs/array"},
    tuple: {"type": "array"},
    Any: {},
}


SAID: Schema = {
    "answer": {"type": "string"},
    "next_step": {"type": "string"},
    "data": {"type": "string"},
    "seed": {"type": "integer"},
}


class Field(NamedTuple):
    """A key of the dictionary, as a pattern, its schema, and whether it is always there."""

    key: str
    schema: Schema
    always: bool
    named: bool  # by the class alone, and by no name of a model or a measure


def result_classes(base: type[Result] = Result) -> list[type[Result]]:
    """Return all classes of results that have no further ones, or that are made themselves."""
    for name in cs.__all__:
        getattr(cs, name)  # loads its classes
    found = {base} | {kind for each in base.__subclasses__() for kind in result_classes(each)}
    inside = (kind for kind in found if kind.__module__.startswith("calibstat.") and kind is not Result)
    return sorted(inside, key=attrgetter("__name__"))


def types_of(kind: type[Result]) -> dict[str, Any]:
    """Return the type of each field."""
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def is_result(hint: object) -> bool:
    """Whether a type is a class of results."""
    return isinstance(hint, type) and issubclass(hint, Result)


def options_of(hint: object) -> list[Any]:
    """Return the types that a field may have, of a class of results also those made from it."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return [kind for part in parts for kind in (result_classes(part) if is_result(part) else [part])]


def any_of(schemas: list[Schema]) -> Schema:
    """Return the schema of what fits one of these."""
    different = [schema for i, schema in enumerate(schemas) if schema not in schemas[:i]]
    return different[0] if len(different) == 1 else {"anyOf": different}


def schema_of(hint: Any) -> Schema:
    """Return the schema of a value that is not a dictionary: a result is in a list of results."""
    return any_of([schema_of_one(option) for option in options_of(hint)])


def schema_of_one(hint: Any) -> Schema:
    """Return the schema of a value of one type."""
    if hint in PLAIN:
        return PLAIN[hint]
    if get_origin(hint) is Literal:
        return {"enum": [*get_args(hint)]}
    if is_result(hint):
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if isinstance(hint, type) and issubclass(hint, InWords):
        return PLAIN[str]
    if isinstance(hint, type) and issubclass(hint, tuple):
        hint = tuple[tuple(get_type_hints(hint).values())]
    if get_origin(hint) is tuple:
        items = get_args(hint)
        if items[-1] is Ellipsis:
            return {"type": "array", "items": schema_of(items[0])}
        return {"type": "array", "prefixItems": [schema_of(item) for item in items], "minItems": len(items)} | {
            "maxItems": len(items)
        }
    raise TypeError(f"no schema is known for {hint!r}")


def fields_of(
    key: str, hint: Any, within: tuple[type, ...], always: bool = True, named: bool = True
) -> Iterator[Field]:
    """Yield the keys that a field of this type makes within some classes."""
    several = options_of(hint)
    alone = [option for option in several if not is_result(option) and get_origin(option) is not dict]
    if alone:
        yield Field(
            key, any_of([schema_of_one(option) for option in alone]), always and len(alone) == len(several), named
        )
    made = [list(fields_of_one(key, option, within, named)) for option in several if option not in alone]
    in_all = set.intersection(*({each.key for each in one if each.always} for one in made)) if made else set()
    for each in chain.from_iterable(made):
        yield each._replace(always=always and not alone and each.key in in_all)
    if Any in several:
        yield Field(rf"{key}\.{ANY_NAME}", {}, False, False)


def fields_of_one(key: str, option: Any, within: tuple[type, ...], named: bool) -> Iterator[Field]:
    """Yield the keys that a result or a dictionary makes."""
    if option in within:  # a result may hold others of its class
        yield Field(rf"{key}\.{ANY_NAME}", {}, False, False)
    elif is_result(option):
        for name, inner in types_of(option).items():
            yield from fields_of(rf"{key}\.{name}", inner, (*within, option), named=named)
    else:
        yield Field(key, {"type": "object", "maxProperties": 0}, False, named)  # an empty one stays
        yield from fields_of(rf"{key}\.{ANY_NAME}", get_args(option)[1], within, False, False)


def object_of(kind: type[Result]) -> Schema:
    """Return the schema of the dictionary of a result."""
    found = [each for name, hint in types_of(kind).items() for each in fields_of(name, hint, (kind,))]
    found = [each for each in found if kind.writes(each.key)]
    # a result that may hold others of its class: any keys, also where another class has some of these names
    any_keys = tuple(each.key.removesuffix(ANY_NAME) for each in found if each.schema == {})
    found = [each for each in found if each.schema == {} or not each.key.startswith(any_keys)]
    schema: Schema = {"type": "object", "properties": {}, "patternProperties": {}, "additionalProperties": False}
    for key, group in groupby(sorted(found, key=attrgetter("key")), attrgetter("key")):
        same = list(group)
        one = any_of([each.schema for each in same])
        if same[0].named:
            schema["properties"][key.replace(r"\.", ".")] = one
        else:
            schema["patternProperties"][f"^{key}$"] = one
    if issubclass(kind, ReportFields):  # which is written with what it says
        schema["properties"] |= {name: SAID[name] for name in ("answer", "next_step")}
    # the JSON of commands has no field that is empty, which other types may be
    required = {
        each.key.replace(r"\.", ".") for each in found if each.always and each.schema in (PLAIN[int], PLAIN[bool])
    }
    return {**{name: part for name, part in schema.items() if part != {}}, "required": sorted(required)}


def text() -> str:
    """Return the file: a line for each result."""
    of_commands = {"description": "what commands write before the fields", "type": "object", "properties": SAID}
    required = ["answer", "next_step"]
    known = {
        **DEFS,
        "Said": {**of_commands, "required": required},
        **{kind.__name__: object_of(kind) for kind in result_classes()},
    }
    lines = ",\n".join(f'"{name}": {json.dumps(schema)}' for name, schema in known.items())
    head = '"$schema": "https://json-schema.org/draft/2020-12/schema",\n"title": "results of calibstat, version 2",\n'
    return f'{{\n{head}"$defs": {{\n{lines}\n}}\n}}\n'


if __name__ == "__main__":
    (HERE / "results-2.json").write_text(text(), encoding="utf-8")
