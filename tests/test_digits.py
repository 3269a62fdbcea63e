"""Text rounds computed numbers after their last bits: halves fall the same way, and -0 is 0."""

import ast
import math
import re

import pytest
from package_sources import ROOT, sources

from calibstat.digits import settled, writer

PRECISE = re.compile(r"\.(\d+|\{.*\})[efg%]$")
LIKELY = re.compile(r"\.(\d+|\{[^{}]*\})[efg%]\}")  # in a file that is worth a look
IN_TEXT = re.compile(r"\{\w*:[^{}]*\.\d+[efg%]\}")  # for the method `format`
EXACT = {"digits.py", "progress.py"}  # where settled digits are made, and seconds that are left


@pytest.mark.parametrize("form", [".1f", ".3g", ".2e"])
@pytest.mark.parametrize("half", [169.55, 12.45, 0.0125, 2.675, 1e-5 * 1.25])
def test_a_half_is_rounded_the_same_way_from_either_side(half, form):
    below, above = half * (1 - 3e-14), half * (1 + 3e-14)
    assert f"{settled(below):{form}}" == f"{settled(above):{form}}"


def test_without_it_a_half_is_rounded_by_its_last_bit():
    assert f"{169.55 * (1 - 3e-14):.1f}" != f"{169.55 * (1 + 3e-14):.1f}"


def test_what_is_kept():
    assert settled(-1e-17) == 0
    assert f"{settled(-1e-17):.4f}" == "0.0000"
    assert settled(1e-20) == 1e-20  # a p-value
    assert settled(123_456_789_012_345) == 123_456_789_012_345  # a count
    assert settled(math.inf) == math.inf
    assert math.isnan(settled(math.nan))
    assert settled(0.1234567894) == 0.123456789


def test_a_writer_settles():
    assert writer(".1f")(169.55 * (1 - 3e-14)) == writer(".1f")(169.55 * (1 + 3e-14)) == f"{169.55:.1f}"


def bare(source):
    """The lines of a source on which a number is written with a precision, and not settled before."""
    found = []
    for node in ast.walk(ast.parse(source)) if LIKELY.search(source) else ():
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            parts = node.format_spec.values
            form = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in parts)
            found += [node.lineno] * bool(PRECISE.search(form) and not is_settled(node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
            found += [node.lineno] * bool(IN_TEXT.search(node.value))
    return found


def is_settled(value):
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "settled"


def test_every_number_with_a_precision_is_settled():
    files = sources()
    assert len(files) > 300
    assert {file: lines for file, text in files.items() if file not in EXACT and (lines := bare(text))} == {}
    assert ROOT.name == "calibstat"


@pytest.mark.parametrize(
    "text",
    ['f"{x:.3f}"', '"p = {p:.3g}".format(p=p)', 'f"{100 * x:+.{k}g} %"', "f\"{', '.join(f'{y:.2e}' for y in x)}\""],
)
def test_a_number_that_is_not_settled_is_found(text):
    assert bare(text)
    assert not bare('f"{settled(x):.3f} {n:,} {name:>5} {level:g}"')
