"""Formulas of fitted maps: expressions of predictions, written as SQL that DuckDB and SQLite both run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calibstat.data.clipping import check_clip

SUM, PRODUCT, ATOM = range(3)  # how tightly the last operator of an expression binds
SURE_DIGITS = 15  # up to which every parser of decimals finds the nearest double; more are written as 17
LONG_CASE = 2  # conditions up to which a CASE stands on one line
LARGEST_SLACK = 1e-5  # largest distance of the sum of a row from 1: columns of SQL may have single precision


@dataclass(frozen=True)
class Expression:
    """An expression of SQL.

    Attributes
    ----------
    text : str
        The SQL.
    binds : int
        How tightly its last operator binds.
    needs_positive : bool
        Whether it has a logarithm of predictions, so that none may be 0.
    """

    text: str
    binds: int = ATOM
    needs_positive: bool = False

    def __add__(self, other: Expression | float) -> Expression:
        if isinstance(other, float) and other < 0:
            return self - -other
        return self._joined("+", other, SUM, SUM)

    def __sub__(self, other: Expression | float) -> Expression:
        return self._joined("-", other, SUM, PRODUCT)

    def __mul__(self, other: Expression | float) -> Expression:
        return self._joined("*", other, PRODUCT, PRODUCT)

    def __truediv__(self, other: Expression | float) -> Expression:
        return self._joined("/", other, PRODUCT, ATOM)

    def __radd__(self, other: float) -> Expression:
        return as_expression(other) + self

    def __rsub__(self, other: float) -> Expression:
        return as_expression(other) - self

    def __rmul__(self, other: float) -> Expression:
        return as_expression(other) * self

    def __rtruediv__(self, other: float) -> Expression:
        return as_expression(other) / self

    def __neg__(self) -> Expression:
        return Expression(f"-{self._within(ATOM)}", PRODUCT, self.needs_positive)

    def _joined(self, sign: str, other: Expression | float, binds: int, right: int) -> Expression:
        second = as_expression(other)
        text = f"{self._within(binds)} {sign} {second._within(right)}"
        return Expression(text, binds, self.needs_positive or second.needs_positive)

    def _within(self, binds: int) -> str:
        """Return the text as an operand of what binds so tightly, in parentheses if it needs them."""
        return self.text if self.binds >= binds else f"({self.text})"


def as_expression(value: Expression | float) -> Expression:
    """Return a number as an expression: a whole number as it is, and a float with an exponent.

    A literal with an exponent is a double in DuckDB, where 0.5 is a decimal number.
    """
    if isinstance(value, Expression):
        return value
    if isinstance(value, int):
        return Expression(str(value))
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"expected finite numbers in a fitted map, found {number}; SQL has no literal for it")
    text = repr(number)
    if len(text.split("e")[0].lstrip("-0.").replace(".", "")) > SURE_DIGITS:
        text = format(number, ".17g")
    return Expression(text if "e" in text else f"{text}e0", PRODUCT if number < 0 else ATOM)


def log(p: Expression, clip: float | None) -> Expression:
    """Return the logarithm of a prediction moved by `clip`; without one it has to be above 0."""
    found = moved(p, clip)
    return Expression(f"LN({found.text})", needs_positive=found is p)


def moved(p: Expression, clip: float | None) -> Expression:
    """Return a prediction moved into [clip, 1 - clip], or itself if clip is None."""
    clip = check_clip(clip)
    if clip is None:
        return p
    ends = as_expression(clip), as_expression(1 - clip)
    return case([(f"{p.text} < {ends[0].text}", ends[0]), (f"{p.text} > {ends[1].text}", ends[1])], p)


def power(p: Expression, exponent: float) -> Expression:
    """Return a power of a prediction."""
    return Expression(f"POWER({p.text}, {as_expression(exponent).text})")


def logistic(x: Expression) -> Expression:
    """Return the probability of a logit; its exponential may overflow to infinity, and it is then 0."""
    return 1 / (1 + _exp(-x))


def softmax_of(logits: Sequence[Expression]) -> list[Expression]:
    """Return the probabilities of logits of all classes: of class 1 of two, or of each."""
    mapped = range(1, 2) if len(logits) == 2 else range(len(logits))
    return [
        1 / total([as_expression(1), *(_exp(other - logits[k]) for j, other in enumerate(logits) if j != k)])
        for k in mapped
    ]


def _exp(x: Expression) -> Expression:
    return Expression(f"EXP({x.text})", needs_positive=x.needs_positive)


def total(parts: Sequence[Expression]) -> Expression:
    """Return the sum of expressions, at least one."""
    first, *others = parts
    for each in others:
        first = first + each
    return first


def shares(scores: Sequence[Expression]) -> list[Expression]:
    """Return the probability of class 1 of two as it is, or scores of more classes divided by their sum."""
    if len(scores) == 1:
        return [*scores]
    return [quotient(each, total(scores), as_expression(1 / len(scores))) for each in scores]


def quotient(part: Expression, whole: Expression, otherwise: Expression) -> Expression:
    """Return a part divided by the whole, or something else if the whole is 0."""
    parts = part, whole, otherwise
    divided = part / Expression(f"NULLIF({whole.text}, 0)")
    return Expression(f"COALESCE({divided.text}, {otherwise.text})", ATOM, any(each.needs_positive for each in parts))


def case(branches: Sequence[tuple[str, Expression]], otherwise: Expression | None) -> Expression:
    """Return the value of the first condition that holds, or something else, which is NULL if it is None."""
    lines = [f"WHEN {condition} THEN {value.text}" for condition, value in branches]
    values = [value for _, value in branches]
    if otherwise is not None:
        lines.append(f"ELSE {otherwise.text}")
        values.append(otherwise)
    between, end = ("\n  ", "\nEND") if len(branches) > LONG_CASE else (" ", " END")
    return Expression(between.join(["CASE", *lines]) + end, ATOM, any(each.needs_positive for each in values))


def steps(p: Expression, edges: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> Expression:
    """Return a function that is constant between neighbours among the edges; it is computed at each edge and above."""
    edges = edges[(edges >= 0) & (edges <= 1)]
    at = np.unique(np.concatenate(([0.0, 1.0], edges, np.nextafter(edges, 2.0))))
    at = at[at <= 1]
    level, is_edge = function(at), np.isin(at, edges)
    last = np.flatnonzero(level[1:] != level[:-1])
    ends = [f"<= {as_expression(at[i]).text}" if is_edge[i] else f"< {as_expression(at[i + 1]).text}" for i in last]
    branches = [(f"{p.text} {end}", as_expression(level[i])) for end, i in zip(ends, last, strict=True)]
    return case(branches, as_expression(level[-1])) if branches else as_expression(level[-1])


def lines(p: Expression, knot: np.ndarray, level: np.ndarray) -> Expression:
    """Return the function that is linear between ascending knots and constant beyond the first and the last."""
    ends = [f"{p.text} <= {as_expression(high).text}" for high in knot]
    values = [as_expression(level[0])]
    for low, high, start, end in zip(knot[:-1], knot[1:], level[:-1], level[1:], strict=True):
        with np.errstate(over="ignore"):
            steep = not np.isfinite((end - start) / (high - low))
        if start == end or steep:  # between neighbours whose slope no double holds a map is the upper level
            values.append(as_expression(end))
        else:
            part = (p - float(low)) / float(high - low)
            rise = float(end - start) * Expression(f"({part.text})")
            values.append(rise if start == 0 else float(start) + rise)
    values.append(as_expression(level[-1]))
    kept = [i for i in range(len(ends)) if values[i] != values[i + 1]]
    branches = [(ends[i], values[i]) for i in kept]
    return case(branches, values[-1]) if branches else values[-1]


def within_range(columns: Sequence[str], value: Expression) -> Expression:
    """Return NULL instead of an expression where `predict_proba` raises; a single column is of class 1 of two.

    A comparison with NULL does not hold, nor does one of nan or of a text with both ends.
    """
    low, high = (">", "<") if value.needs_positive else (">=", "<=")
    if len(columns) == 1:
        conditions = [f"{columns[0]} {low} 0 AND {columns[0]} {high} 1"]
    else:
        conditions = [f"{each} {low} 0 AND {each} <= 1" for each in columns]
        conditions.append(f"ABS({' + '.join(columns)} - 1) <= {as_expression(LARGEST_SLACK).text}")
    return case([(" AND ".join(conditions), value)], None)
