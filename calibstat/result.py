"""Base class of all results, with conversion to a dictionary, to a data frame and to HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.data.checks import short
from calibstat.digits import settled
from calibstat.in_words import InWords
from calibstat.output.visible_text import is_aligned

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 60  # characters of a field in a repr
MOST_LINES, PRINT = 5, "... (print shows all)"  # of a repr


def plain_values(value: object) -> Any:
    """Convert results, words, arrays, tuples and NumPy scalars, also nested ones, to what JSON has a literal for.

    A missing number (nan) becomes None, an infinite one the text "Infinity" or "-Infinity", of which ``float`` makes
    the number again. Results and dictionaries within dictionaries are joined to them, with dots in their keys.
    """
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, InWords):
        return str(value)
    if isinstance(value, np.ndarray | np.generic):
        return plain_values(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
    if isinstance(value, dict):
        return _joined({str(key): plain_values(entry) for key, entry in value.items()})
    if isinstance(value, tuple | list):
        return [plain_values(entry) for entry in value]
    return value


def _joined(values: dict[str, Any]) -> dict[str, Any]:
    """Return a dictionary in which no value is a dictionary: their entries are its own, named ``key.inner_key``."""
    joined: dict[str, Any] = {}
    for key, value in values.items():
        inner = {f"{key}.{name}": entry for name, entry in value.items()} if isinstance(value, dict) else {}
        joined |= inner or {key: value}  # an empty one stays
    return joined


def numbers_in(value: object, name: str = "") -> dict[str, float]:
    """Return the numbers in results and mappings, also nested ones, by their names with dots between.

    What is true or false is 1 or 0. None, texts, arrays and tuples are left out.
    """
    if isinstance(value, Result):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        inside = [numbers_in(part, f"{name}.{key}" if name else str(key)) for key, part in value.items()]
        return {key: number for numbers in inside for key, number in numbers.items()}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        value = int(value)
    return {name: value} if isinstance(value, int | float) else {}


def _short(value: object) -> str:
    """Return the repr of a field: a number with six digits, and what is long by its kind and size.

    Several parts in words are shown by their different words.
    """
    if isinstance(value, np.ndarray):
        return f"<array of shape {value.shape}>"
    if isinstance(value, Result):
        return f"<{type(value).__name__}>"
    if isinstance(value, tuple) and value and all(isinstance(each, InWords) for each in value):
        return short("; ".join(dict.fromkeys(map(str, value))), LONGEST)
    if isinstance(value, dict | tuple | list) and len(repr(value)) > LONGEST:
        return f"<{type(value).__name__} of {len(value)}>"
    if isinstance(value, float | np.floating):
        return f"{settled(value):.6g}"
    return short(str(value) if isinstance(value, InWords) else value, LONGEST)


def read_only(array: np.ndarray) -> np.ndarray:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Result:
    """A frozen result of a function of calibstat."""

    def __init_subclass__(cls, **settings: Any) -> None:
        """Give every result the repr of this class: a dataclass writes its own, with all arrays."""
        super().__init_subclass__(**settings)
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    @property
    def headline(self) -> tuple[str, ...]:
        """The fields that stand for the result beside those of other models; none of most."""
        return ()

    def __repr__(self) -> str:
        """Return the answer, in at most five lines; of what prints nothing the fields, long ones by kind and size."""
        if type(self).__str__ is not object.__str__:
            lines = str(self).splitlines()
            return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], PRINT])
        return f"{type(self).__name__}({', '.join(f'{f.name}={_short(getattr(self, f.name))}' for f in fields(self))})"

    def __getattr__(self, name: str) -> Any:
        """Say what is written for the name of another package, or of earlier results, which kept their rows."""
        if name == "detectable_effect":
            raise AttributeError(
                "results hold no rows: ask calibstat.detectable_effect(y, p), with the arguments of the test"
            )
        from calibstat.data.words.names_elsewhere import member_meant

        meant = member_meant(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{meant}", name=name, obj=self)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python values that JSON has: a flat dictionary.

        The fields of a result within it have its name and a dot before theirs, such as "slope_test.pvalue"; several
        results are a list of dictionaries. nan becomes None, infinity the text "Infinity" or "-Infinity".
        """
        joined = _joined({each.name: plain_values(getattr(self, each.name)) for each in fields(self)})
        return {key: value for key, value in joined.items() if self.writes(key)}

    @classmethod
    def writes(cls, key: str) -> bool:
        """Whether `to_dict` has this key."""
        return True

    def scalars(self) -> dict[str, float]:
        """Return the fields that are single numbers, also of results within it: a flat dictionary for logs.

        Names are as in `to_dict`, such as "slope_test.pvalue". What is true or false is 1 or 0, and nan and infinite
        numbers stay. None, texts, arrays and tuples are left out.

        Examples
        --------
        >>> import calibstat as cs
        >>> result = cs.classical.spiegelhalter([1, 0, 1], [0.75, 0.25, 0.25])
        >>> {name: round(number, 3) for name, number in result.scalars().items()}
        {'statistic': 0.333, 'pvalue': 0.739, 'n': 3, 'n_resamples': 0}
        """
        return numbers_in(self)

    def to_frame(self) -> pd.DataFrame:
        """Return the scalar fields as a data frame of one row, also the fields of results within it."""
        import pandas as pd

        return pd.DataFrame([_scalars(self)])

    def _repr_html_(self) -> str:
        """Return the answer, the picture, the table of its rows, and behind a fold all else, for notebooks."""
        from calibstat.output.fragments import page_of, sections_of

        return page_of(sections_of("", answer_of(self), words_of(self), self._table_shown(), picture(self)))

    def _table_shown(self) -> pd.DataFrame:
        """Return the table that a notebook shows."""
        return self.to_frame()


def _scalars(result: Result) -> dict[str, Any]:
    """Return the scalar fields of a result and of those within it, infinite and missing numbers as they are."""
    scalars: dict[str, Any] = {}
    for each in fields(result):
        value = getattr(result, each.name)
        if isinstance(value, Result):
            scalars |= {f"{each.name}.{name}": entry for name, entry in _scalars(value).items()}
        elif not isinstance(value, np.ndarray | dict | list | tuple):
            scalars[each.name] = str(value) if isinstance(value, InWords) else value
    return scalars


def answer_of(result: Result) -> list[str]:
    """Return the lines of the answer of a result, or what it prints without tables; none of what prints nothing."""
    if type(result).__str__ is object.__str__:
        return []
    told = {name: getattr(result, name) for name in ("answer", "next_step") if _is_property(result, name)}
    step = [f"Next: {told['next_step']}"] if told.get("next_step") else []
    if told.get("answer"):
        return [*map(_ended, str(told["answer"]).splitlines()), *step]
    return [_ended(line) for line in str(result).splitlines() if not is_aligned(line)]


def _ended(line: str) -> str:
    """End a line with a full stop that in print goes on with lines which are left out."""
    return f"{line[:-1]}." if line.endswith(":") else line


def _is_property(result: Result, name: str) -> bool:
    return isinstance(getattr(type(result), name, None), property)


def words_of(result: Result) -> str:
    """Return what `print` says of a result, or the name of its kind if it says nothing."""
    return str(result) if type(result).__str__ is not object.__str__ else type(result).__name__


def picture(result: Result | Mapping[str, object]) -> str:
    """Return the picture of a result, or of several by their names, as SVG, or nothing."""
    return _DRAW[0](result)


def drawn_by(draw: Callable[[Any], str]) -> None:
    """Let this function make the pictures of results: plots know results, and not the other way round."""
    _DRAW[:] = [draw]


_DRAW: list[Callable[[Any], str]] = [lambda result: ""]


@dataclass(frozen=True, eq=False)
class NotedResult(Result):
    """A result on outcomes and predictions, with what is to be said of these.

    Attributes
    ----------
    note : str
        What looks like a mistake, such as reversed predictions, labels in place of probabilities or weights that tell
        the outcomes apart, and how rows with weights were taken; a line each. It is printed after the result.
    effective_n : float or None
        Of rows with weights w the number (sum of w)**2 / (sum of w**2) of rows of equal weight that say about as much;
        None without weights.
    """

    note: str = field(default="", kw_only=True)
    effective_n: float | None = field(default=None, kw_only=True)

    def __init_subclass__(cls, **settings: Any) -> None:
        """Let what every such result prints end with its note."""
        super().__init_subclass__(**settings)
        if "__str__" not in vars(cls):
            return
        own = cls.__str__

        def with_note(self: NotedResult) -> str:
            return f"{own(self)}\n{self.note}" if self.note else own(self)

        cls.__str__ = with_note  # type: ignore[assignment, method-assign]
