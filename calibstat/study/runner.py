"""Runs a question on a grid: checks the grid, computes its cells, makes the table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.data.checks import check_jobs, check_level, check_whole, is_whole, short
from calibstat.data.sample import Sample
from calibstat.study.asked_measures import Asked, Measures, asked_measures, check_classes, descriptions
from calibstat.study.engine import Cells, Data, compute, draw_data, models_of
from calibstat.study.estimate_questions import DISTANCE
from calibstat.study.plain_function import PlainFunction
from calibstat.study.question import Entry, Question
from calibstat.study.questions import QUESTIONS
from calibstat.study.store import Store

if TYPE_CHECKING:
    import pandas as pd


def run(
    question: str,
    generators: Mapping[str, Any],
    n: int | Sequence[int],
    measures: Measures,
    methods: Sequence[str] | None = None,
    *,
    replicates: int,
    seed: int,
    n_resamples: int = 199,
    level: float | None = None,
    target: Asked | tuple[Asked, Mapping[str, Any]] | None = None,
    same_rows: bool = True,
    store: str | Path | None = None,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Answer a question for every cell of a grid of generators, numbers of rows, measures and methods.

        >>> import calibstat as cs
        >>> models = {"uniform": cs.generators.calibrated()}
        >>> result = cs.study.run("size", models, 50, ["ece"], replicates=20, seed=1)
        >>> print(result[["generator", "n", "measure", "method", "replicates"]].to_string(index=False))
        generator  n measure method  replicates
          uniform 50     ece labels          20

    Parameters
    ----------
    question : {"size", "power", "coverage", "comparison", "bias", "consistency", "ranking"}
        How often `calibration_test` rejects calibrated predictions, or any; how often `confidence_interval` covers the
        true value; how often `compare` finds a difference; bias and sd of an estimate; at which order in n an error
        vanishes; how far measures agree on the order of models.
    generators : mapping from label to generator
        Entries of `calibstat.generators`; objects with ``sample(n, rng)``, ``truth(measure, **options)``,
        ``is_calibrated`` and a `repr` that says all; or, where no true values are needed, functions of n and a
        `numpy.random.Generator`, that return outcomes and predictions. "comparison" and "ranking" need several models.
    n : int or sequence of int
        Rows in each data set.
    measures : sequence, or mapping from label
        Names, (name, options), measures, or functions of (y, p), of (prob, label) for several classes. All of them and
        all methods see the same data sets and the same resampling seeds.
    methods : sequence of str, optional
        Default: the first of the question.
    replicates : int
        Data sets for each generator and n.
    seed : int
        With the generator's label, n and the number of the replicate, and nothing else, it fixes the data.
    n_resamples : int
        As for `calibration_test` and `confidence_interval`.
    level : float, optional
        Of tests, by default 0.05, or of confidence, by default 0.95.
    target : as one of `measures`, or "distance", optional
        Of "bias", "consistency" and "ranking": the one true value against which all estimates are held.
    same_rows : bool
        Of "ranking": False for generators of one model each, with rows of its own.
    store : path, optional
        A folder for finished data sets, with which the same call goes on where it was stopped. Needs pyarrow.
    n_jobs : int, optional
        Processes; by default 1, or what ``joblib.parallel_config`` says. The numbers do not depend on it.

    Returns
    -------
    pandas.DataFrame
        One row for each generator, n, measure and method. The page on studies says which columns a question has.

    Raises
    ------
    ValueError
        If an argument is not as above, or the store holds another study. Nothing has then been run.
    NotImplementedError
        If a generator has no true value of a measure, for "coverage" and "comparison".
    """

    import pandas as pd

    if not isinstance(question, str) or question not in QUESTIONS:
        raise ValueError(f"expected a question, one of {', '.join(QUESTIONS)}; found {short(question)}")
    kind = QUESTIONS[question]
    chosen, rows = _chosen_methods(kind, methods), _numbers_of_rows(n)
    _check_numbers(seed, replicates, n_resamples, level, n_jobs)
    if not isinstance(generators, Mapping):
        raise ValueError(f"expected generators, a mapping from label to generator, found {short(generators)}")
    generators = {label: _as_generator(label, generator, store) for label, generator in generators.items()}
    named = asked_measures(measures)
    given = _further(question, target, same_rows)
    for what, entries in (("generator", generators), ("n", rows), ("measure", named), ("method", chosen)):
        if not len(entries):
            raise ValueError(f"expected at least one {what}, found none")
    query = kind(
        generators=generators,
        n=rows,
        measures=named,
        methods=chosen,
        replicates=int(replicates),
        n_resamples=n_resamples,
        level=kind.default_level if level is None else level,
        **given,
    )
    check_classes(named, generators)
    query.check()
    if query.note:
        warnings.warn(query.note, RuntimeWarning, stacklevel=2)
    for trial in _trials(query.generators):
        query.attempt(trial)  # raises before the run if the question cannot be answered
    return pd.DataFrame(query.rows(_answers(query, seed, store, n_jobs)))


def _chosen_methods(kind: type[Question], methods: object) -> list[str]:
    """Return the methods asked for, by default the first that a question has."""
    if methods is None:
        return list(kind.method_choices[:1])
    if isinstance(methods, str) or not isinstance(methods, Sequence):
        raise ValueError(f"expected a sequence of methods, found {short(methods)}")
    for method in methods:
        if method not in kind.method_choices:
            allowed = ", ".join(map(repr, kind.method_choices))
            raise ValueError(f"expected a method of question {kind.name!r}, one of {allowed}; found {method!r}")
    return list(methods)


def _numbers_of_rows(n: Any) -> list[int]:
    """Return the numbers of rows as a list."""
    several = isinstance(n, Sequence | np.ndarray) and not isinstance(n, str | bytes) and np.ndim(n) > 0
    rows = list(n) if several else [n]
    for k in rows:
        check_whole("n", k)
    return [int(k) for k in rows]


def _check_numbers(seed: object, replicates: object, n_resamples: object, level: Any, n_jobs: int | None) -> None:
    """Raise unless the numbers of a study are what they have to be."""
    check_whole("seed", seed, 0)
    if not is_whole(replicates):
        raise ValueError(f"expected at least 1 replicate, found {short(replicates)}")
    check_whole("n_resamples", n_resamples)
    if level is not None:
        check_level("level", level)
    if n_jobs is not None:
        check_jobs(n_jobs)


def _further(question: str, target: object, same_rows: object) -> dict[str, Any]:
    """Return the arguments that only some questions take; raise if this one does not take those that are given."""
    given: dict[str, Any] = {} if target is None else {"target": _target(target)}
    if not isinstance(same_rows, bool):
        raise ValueError(f"expected same_rows True or False, found {short(same_rows)}")
    given |= {} if same_rows else {"same_rows": False}
    for name in given:
        takes = [each for each, asked in QUESTIONS.items() if name in {field.name for field in fields(asked)}]
        if question not in takes:
            raise ValueError(f"expected {name} only of question {', '.join(takes)}; found it of {question!r}")
    return given


def _answers(query: Question, seed: int, store: str | Path | None, n_jobs: int | None) -> Any:
    """Return the answers of all cells of a grid, those that the store has from there."""
    kept = None if store is None else Store(store, _description(query, seed), query.columns)
    cells = Cells(
        query.groups,
        query.generators,
        query.replicates,
        seed,
        query.ask,
        query.columns,
        query.truths_of,
        query.modules,
    )
    with nullcontext() if kept is None else kept.locked():
        return compute(cells, kept, n_jobs, query.name)


def _as_generator(label: str, generator: Any, store: Any) -> Any:
    """Return a generator, made of a plain function if it is one."""
    if callable(getattr(generator, "sample", None)) and not isinstance(generator, type):
        return generator
    if not callable(generator) or isinstance(generator, type):
        raise ValueError(
            "expected generators with sample(n, rng), truth(measure, **options) and is_calibrated, such as those "
            f"of calibstat.generators, or functions of (n, rng); found {short(generator)} for {short(label)}"
        )
    if store is not None:
        raise ValueError(
            "expected generators with sample(n, rng) and a repr that says all, which a store has to know; found the "
            f"function {short(generator)} for {short(label)}"
        )
    return PlainFunction(generator)


TRIAL = Sample.from_counts([0.2, 0.4, 0.7], [6, 7, 7], [1, 3, 5])


def _trials(generators: Mapping[str, Any]) -> Iterator[Data]:
    """Yield a small data set for every number of classes, of one model and of several."""
    kinds = {(getattr(each, "n_classes", None), models_of(each) is not None): each for each in generators.values()}
    for kind, generator in kinds.items():
        yield TRIAL if kind == (None, False) else draw_data(generator, 20, np.random.SeedSequence(0))


def _target(target: object) -> Entry:
    """Return the name and the options of what all estimates are held against."""
    if isinstance(target, str) and target == DISTANCE:
        return target, {}
    return asked_measures({"target": target})["target"]


def _description(query: Question, seed: int) -> dict[str, str]:
    """Describe all that the answers depend on, so that a store of another study is recognised."""
    from importlib.metadata import version

    plain = {"question": query.name, "seed": seed, "n": query.n, "replicates": query.replicates}
    plain |= {"n_resamples": query.n_resamples, "level": query.level, "methods": query.methods}
    plain |= {f"generator {label!r}": generator for label, generator in query.generators.items()}
    of_measures = {f"measure {label!r}": text for label, text in descriptions(query.measures)}
    return {key: repr(value) for key, value in plain.items()} | of_measures | {"version": repr(version("calibstat"))}
