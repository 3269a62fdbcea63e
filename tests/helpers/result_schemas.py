"""Whether a dictionary fits the stored JSON Schema of a class of results."""

import json
from functools import cache

import jsonschema
from project_folder import PROJECT


@cache
def validator(name):
    """The validator of a class of results, by its name."""
    schemas = json.loads((PROJECT / "conformance" / "results-2.json").read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schemas["$defs"]})


def misfits(kind, values):
    """The places where a dictionary does not fit, with what is wrong there."""
    read = json.loads(json.dumps(values, allow_nan=False))
    return [(list(each.absolute_path), each.message[:200]) for each in validator(kind.__name__).iter_errors(read)]
