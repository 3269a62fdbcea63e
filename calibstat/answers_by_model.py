"""Answers about several models: a mapping that prints what was found of each under its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from calibstat.digits import settled
from calibstat.result import Result, answer_of, numbers_in, picture, plain_values, words_of

if TYPE_CHECKING:
    import pandas as pd

R = TypeVar("R", covariant=True)
MOST_COLUMNS = 12  # of a table of numbers


class Answers(Mapping[str, R]):
    """The answers of a function about several models: a read-only mapping from name to answer.

        >>> import calibstat as cs
        >>> result = cs.estimate([0, 1, 1], {"A": [0.2, 0.6, 0.9], "B": [0.4, 0.4, 0.4]})
        >>> print(result)
        A: 0.2333
        B: 0.2667
        >>> min(result, key=result.get)
        'A'

    Functions of one model return it when they are given several, as a mapping or as a data frame with a column for
    each. The answers are results, numbers, or arrays with a number for each class.

    Attributes
    ----------
    names : tuple of str
        The names of the models, in the order in which they were given.
    """

    def __init__(self, answers: Mapping[str, R]) -> None:
        self._answers = MappingProxyType(dict(answers))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self)

    def __getitem__(self, name: str) -> R:
        return self._answers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    def __getstate__(self) -> dict[str, R]:
        return dict(self._answers)

    def __setstate__(self, answers: dict[str, R]) -> None:
        self._answers = MappingProxyType(answers)

    def __str__(self) -> str:
        lines_of = {name: _words(answer).splitlines() for name, answer in self.items()}
        if all(len(lines) == 1 and not isinstance(self[name], Result) for name, lines in lines_of.items()):
            return "\n".join(f"{name}: {lines[0]}" for name, lines in lines_of.items())
        return "\n".join(f"{name}\n" + "\n".join(f"  {line}" for line in lines) for name, lines in lines_of.items())

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return all answers as plain Python values that JSON has: a flat dictionary.

        The fields of a result have the name of its model and a dot before theirs, such as "forest.pvalue".
        """
        return cast("dict[str, Any]", plain_values(dict(self)))

    def scalars(self) -> dict[str, float]:
        """Return the single numbers in all answers, as of a result, such as "forest.pvalue": a flat dictionary."""
        return numbers_in(self)

    def to_frame(self) -> pd.DataFrame:
        """Return one data frame: the rows of each answer, and as their index, "model", the name of its model."""
        import pandas as pd

        frames = {name: _frame(answer) for name, answer in self.items()}
        return pd.concat(frames, names=["model"]).droplevel(1)

    def _repr_html_(self) -> str:
        """Return the answer of each model, one picture and one table, the rest behind folds, for notebooks."""
        from calibstat.output.fragments import fold, page_of, sections_of_models, table_of_models

        told = {name: answer for name, answer in self.items() if isinstance(answer, Result)}
        if len(told) < len(self):
            return _page_of_numbers({name: np.asarray(answer).ravel() for name, answer in self.items()})
        rows = {name: _headline(answer) for name, answer in told.items()}
        answers = {name: next(iter(answer_of(answer)), words_of(answer)) for name, answer in told.items()}
        folded = [fold(name, words_of(answer), answer.to_frame()) for name, answer in told.items()]
        table = table_of_models(rows) if all(rows.values()) else None
        return page_of(sections_of_models(answers, folded, table, picture(told)))


def _page_of_numbers(numbers: Mapping[str, np.ndarray]) -> str:
    """Return a table of numbers with a row for each model; a line for each model if these are many."""
    from calibstat.output.fragments import Section, page_of, table_of_models

    most = max(each.size for each in numbers.values())
    if most > MOST_COLUMNS:
        return page_of([Section("", [f"{name}: {_words(each)}" for name, each in numbers.items()])])
    names = ["estimate"] if most == 1 else [str(k) for k in range(most)]
    rows = {name: dict(zip(names, each.tolist(), strict=False)) for name, each in numbers.items()}
    return page_of([Section("", tables=[table_of_models(rows)])])


def _headline(answer: Result) -> dict[str, float]:
    """Return the numbers that stand for an answer beside those of other models; none of most."""
    if not answer.headline:
        return {}
    known = answer.scalars()
    return {name.rpartition(".")[2]: known[name] for name in answer.headline if name in known}


def _words(answer: object) -> str:
    """Return what is printed of one answer: a result's own words, or numbers of four digits."""
    if isinstance(answer, Result):
        return words_of(answer)
    return ", ".join(f"{settled(number):.4g}" for number in np.asarray(answer).ravel().tolist())


def _frame(answer: object) -> pd.DataFrame:
    """Return one answer as a data frame: the rows of a result, or a row for each number."""
    import pandas as pd

    return answer.to_frame() if isinstance(answer, Result) else pd.DataFrame({"value": np.asarray(answer).ravel()})
