"""Functions that answer a question about rows: the decorators that make rows of what a user gives."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from calibstat.answers_by_model import Answers
from calibstat.data.checked_rows import AboutRows, Data, Models, OneModel, Outcomes, Samples, data_of_predictions, named
from calibstat.data.checks import UnknownOption, arguments_of, short, unknown_argument
from calibstat.data.lenses import AnyLens
from calibstat.data.models import Predicted, named_models
from calibstat.data.predictions import NAMED, Predictions
from calibstat.data.retired_words import RETIRED, refuse_retired

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
ROW_WORDS = frozenset(AboutRows.__annotations__)
TAKERS: Mapping[str, tuple[str, ...]] = {  # the functions to name where another does not take the word
    "sample_weight": ("estimate", "calibration_test", "confidence_interval", "compare", "reliability"),
    "cluster": ("calibration_test", "confidence_interval", "compare", "reliability", "report", "validate"),
    "folds": ("confidence_interval", "calibration_test", "compare", "report"),
    "judge": ("confidence_interval", "calibration_test", "compare", "report"),
}


class Reason(NamedTuple):
    """The reason for which a function does not take a word about rows, and the way out."""

    why: str
    instead: str


class Question(Protocol[P, R_co]):
    """A function that takes outcomes and predictions, `Data` or `Models`, and then arguments of its own."""

    @overload
    def __call__(  # type: ignore[overload-overlap]  # rows that have no predictions
        self, y_true: OneModel, y_prob: ArrayLike | None = None, *places: P.args, **arguments: P.kwargs
    ) -> R_co: ...
    @overload
    def __call__(
        self,
        y_true: Models | ArrayLike | Mapping[str, ArrayLike],
        y_prob: Mapping[str, Any] | None = None,
        *places: P.args,
        **arguments: P.kwargs,
    ) -> Answers[R_co]: ...


class QuestionOfAll(Protocol[P, R_co]):
    """A function that takes outcomes and predictions, `Data` or `Models`, and answers for all models at once."""

    def __call__(
        self,
        y_true: Outcomes | Mapping[str, Any],
        y_prob: Predicted = None,
        *places: P.args,
        **arguments: P.kwargs,
    ) -> R_co: ...


class Asked(Protocol):
    """A question, as its rows are checked: the words that it takes, and why it does not take others."""

    __name__: str
    takes: tuple[str, ...]
    because: Mapping[str, Reason]


NO_REASONS: Mapping[str, Reason] = {}


def question(
    *takes: str, because: Mapping[str, Reason] = NO_REASONS
) -> Callable[[Callable[Concatenate[Data, P], R]], Question[P, R]]:
    """Let a function of `Data` take outcomes and predictions too, of one model or of several.

    `takes` are the words about rows that it takes beside labels, and `because` says of others why it does not.
    """

    def decorated(ask: Callable[Concatenate[Data, P], R]) -> Question[P, R]:
        return _asked(ask, takes, because, each=True)

    return decorated


def question_of_all(
    *takes: str, because: Mapping[str, Reason] = NO_REASONS
) -> Callable[[Callable[Concatenate[Any, P], R]], QuestionOfAll[P, R]]:
    """Let a function of `Data`, `Models` or `Samples` take outcomes and predictions too; words as of `question`."""

    def decorated(ask: Callable[Concatenate[Any, P], R]) -> QuestionOfAll[P, R]:
        return _asked(ask, takes, because, each=False)

    return decorated


def _asked(ask: Callable[..., Any], takes: tuple[str, ...], because: Mapping[str, Reason], *, each: bool) -> Any:
    """Return the function of outcomes and predictions; `each` says that it is asked about each model by itself."""
    signature = inspect.signature(ask)
    own = [*signature.parameters.values()][1:]
    names = [one.name for one in own if one.kind is not one.VAR_KEYWORD]
    by_place = sum(one.kind is one.POSITIONAL_OR_KEYWORD for one in own)
    known = ["y_true", "y_prob", *names, *(word for word in takes if word in ROW_WORDS), "labels", "pos_label"]
    takes_options = "Options" in str(own[-1].annotation)

    @wraps(ask)
    def asked(y_true: Any, y_prob: Any = None, *places: Any, **arguments: Any) -> Any:
        if arguments and RETIRED.keys() & arguments.keys():
            refuse_retired(ask.__name__, arguments, names)
        if len(places) > by_place:
            raise _too_many_places(asked, by_place + 2, (y_true, y_prob, *places))
        if y_prob is None and arguments:
            _refuse_other_names(ask.__name__, arguments, names)
        about = {word: arguments.pop(word) for word in ROW_WORDS.intersection(arguments)} if arguments else {}
        rows = rows_of(cast(Asked, asked), y_true, y_prob, arguments.get("lens"), about)
        if not each and isinstance(rows, Models) and rows.own_outcomes and "own_outcomes" not in takes:
            raise ValueError(
                f"expected the same outcomes for all models of {ask.__name__}, found outcomes of each; ask about each "
                "model by itself, or calibstat.compare, which takes them"
            )
        if unknown := [name for name in arguments if name not in names and not takes_options]:
            raise unknown_argument(ask.__name__, unknown[0], known)
        try:
            if each and isinstance(rows, Models):
                return Answers(named(lambda data: ask(data, *places, **arguments), rows))
            return ask(rows, *places, **arguments)
        except UnknownOption as error:
            if error.name not in arguments:
                raise
            raise UnknownOption(error.what, error.name, error.known, known, ask.__name__) from None

    outcomes = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
                for name, default in (("y_true", inspect.Parameter.empty), ("y_prob", None))]  # fmt: skip
    takes = (*takes, "lens") if "lens" in names else takes
    vars(asked).update(__signature__=signature.replace(parameters=[*outcomes, *own]), takes=takes, because=because)
    return asked


def _refuse_other_names(function: str, arguments: Mapping[str, object], own: Sequence[str]) -> None:
    """Raise if the predictions were given by the name that another package has for them."""
    from calibstat.data.words.names_elsewhere import ROWS, arguments_meant

    for name in arguments:
        if name not in own and (meant := arguments_meant(name, ["y_prob"], ROWS)):
            raise TypeError(f"expected {meant[0]} of {function}, found {name!r}")


def _too_many_places(function: Callable[..., object], most: int, given: Sequence[Any]) -> TypeError:
    """Return the error for more arguments without a name than a function takes, with the call that was meant."""
    names, found = arguments_of(function), given[most]
    beside = f"expected arguments of {function.__name__} by name beside {', '.join(names[:most])}"
    if models := sum(hasattr(each, "predict_proba") for each in given):
        model = "model" if models == 1 else '{"A": model, "B": other}'
        meant = f"{function.__name__}(y, calibstat.predict({model}, X))"
    elif np.ndim(found) == 1 and np.shape(found) == np.shape(given[1]):
        meant = f"{function.__name__}(y, {NAMED}), with a name for each model"
    elif isinstance(found, str | int | float):
        meant = f"{names[most]}={short(found)}"
    else:
        return TypeError(f"{beside}: {', '.join(names[most:])}; found {short(found)} without a name")
    return TypeError(f"{beside}, found {short(found)} without a name; write {meant}")


def rows_of(
    function: Asked, y_true: Outcomes | Mapping[str, Any], y_prob: Predicted, lens: AnyLens, about: Mapping[str, Any]
) -> Data | Models | Samples:
    """Return the rows that a function was given, or make them of outcomes, predictions and words about them."""
    for word, given in about.items():
        if given is not None and word not in function.takes and word in TAKERS:
            raise not_taken(function, word)
    if not isinstance(y_true, Data | Models):
        if "samples" in function.takes and y_prob is None:
            return Samples(y_true, lens=lens, **about)
        if "predictions" in function.takes and y_prob is None and not isinstance(y_true, Predictions):
            return data_of_predictions(y_true, lens=lens, **about)
        is_one = isinstance(y_prob, np.ndarray) or named_models(y_prob) is None  # an array is of one, and most give it
        make: Callable[..., Data | Models] = Data if is_one else Models
        return make(y_true, y_prob, lens=lens, **about)
    need_alone(y_true, {"y_prob": y_prob, **about})
    for word in y_true.words:
        if word not in function.takes:
            raise not_taken(function, word)
    return y_true.asked_through(lens)


def need_alone(rows: Data | Models, beside: Mapping[str, object]) -> None:
    """Raise if anything is given beside rows that are described already."""
    kind = f"cs.{type(rows).__name__}"
    for name, given in beside.items():
        if given is not None:
            raise ValueError(f"expected {kind} alone, found {name}= beside it; give it to {kind}, which holds the rows")


def not_taken(function: Any, word: str) -> ValueError:
    """Return the error for rows with a word that a function does not take."""
    expected = f"expected rows without {word}= for {function.__name__}"
    if word in function.because:
        why, instead = function.because[word]
        return ValueError(f"{expected}, because {why}; found one: {instead}")
    takers = f"; {', '.join(TAKERS[word])} do" if word in TAKERS else ""
    return ValueError(f"{expected}, which takes none{takers}; found one")
