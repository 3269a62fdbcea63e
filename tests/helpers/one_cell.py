"""One cell of a stored table, made again by the code of today: of a grid, of tasks, or of a call of a function."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import pandas as pd
from simulation_files import FOLDER, STORED, study_file

import calibstat as cs
from calibstat.study import engine

DIGITS = 1e-5  # a table keeps six


@dataclass(frozen=True)
class OfGrid:
    """A generator, a number of rows and a measure of the grid of this place in the list of a study."""

    generator: str
    n: Any  # all of them, if None
    measure: Any
    grid: int = 0

    def rows(self, study):
        """The rows of the cell: data sets and seeds do not depend on what else a grid has."""
        grid = dict(study.grids(False)[self.grid])
        grid["generators"] = {self.generator: grid["generators"][self.generator]}
        grid["n"] = grid["n"] if self.n is None else [self.n]
        measures = [self.measure] if isinstance(self.measure, str) else self.measure
        grid["measures"] = {each: grid["measures"][each] for each in measures}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the true value of .* is not known")
            return cs.study.run(**grid, seed=study.seed)


class OfTasks:
    """The rows of a table of which these tasks are all, by their numbers among those that a study hands to joblib."""

    def __init__(self, *numbers):
        self.numbers = numbers

    def rows(self, study):
        """The rows that the study makes of what the tasks return."""

        first = [True]

        class SomeTasks(joblib.Parallel):
            def __call__(_, tasks):  # `self` is the cell
                if not first:  # what a task hands to joblib
                    return super().__call__(tasks)
                first.clear()
                some = list(tasks)
                return [function(*given, **named) for function, given, named in (some[k] for k in self.numbers)]

        with Swapped(joblib, "Parallel", SomeTasks):
            return study.table(quick=False, n_jobs=1)


@dataclass(frozen=True)
class OfFunction:
    """The rows that a call of a function of the study's file returns."""

    call: Callable

    def rows(self, study):
        """Its rows."""
        return pd.DataFrame(self.call(study_file(study.name)))


@dataclass(frozen=True)
class OfCompute:
    """A group of data sets in a call of `compute`, both by their numbers."""

    call: int
    group: int = 0
    function: str = "table"  # of the study's file, that calls it

    def rows(self, study):
        """The rows that stay the same whatever the answers of all other data sets are."""
        kept = {}
        every = [self.table(study, ends, kept) for ends in ((0.0, 0.0), (1.0, 1.0), (0.5, 1.0))]
        return every[0][[len(set(same)) == 1 for same in zip(*map(texts, every), strict=True)]]

    def table(self, study, ends, kept):
        """The table with numbers between two ends as the answers of all data sets but those of the group."""
        calls = iter(range(10**6))

        def run(cells, missing, n_jobs):
            answers = np.linspace(*ends, len(cells) * len(cells.columns)).reshape(len(cells), -1)
            if next(calls) == self.call:
                own = range(self.group, len(cells), len(cells.groups))
                if not kept:
                    kept.update({cell: cells.answer(cell) for cell in own})
                answers[own] = [kept[cell] for cell in own]
            yield missing, answers[missing]

        with Swapped(engine, "_run", run), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of means and limits of what is filled in
            made = getattr(study_file(study.name), self.function)(quick=False, n_jobs=1)
        return pd.DataFrame(made)


class Swapped:
    """Another value of a name in a module, for a while."""

    def __init__(self, module, name, value):
        self.module, self.name, self.value = module, name, value

    def __enter__(self):
        self.old = getattr(self.module, self.name)
        setattr(self.module, self.name, self.value)

    def __exit__(self, *_):
        setattr(self.module, self.name, self.old)


def texts(table):
    """Every row as one text of six digits."""
    return [repr([f"{each:.6g}" if isinstance(each, float) else str(each) for each in row]) for row in table.to_numpy()]


def stored_table(name):
    """The table as it is stored."""
    return pd.read_csv(FOLDER / "results" / f"{name}.csv", comment="#")


def missing(rows, table):
    """The rows that are not in a table: texts have to be the same, and numbers to five digits.

    Columns are compared that both have: a study may add some to what a cell returns, or write more today.
    """
    rows = rows.reset_index(drop=True).replace("", np.nan)  # a file does not tell them apart
    same = np.ones((len(rows), len(table)), bool)
    for column in rows.columns.intersection(table.columns):
        new, old = rows[column].to_numpy(), table[column].to_numpy()
        if pd.api.types.is_numeric_dtype(table[column]) and not pd.api.types.is_bool_dtype(table[column]):
            new, old = new.astype(float)[:, None], old.astype(float)
            same &= np.isclose(new, old, rtol=DIGITS, atol=1e-12, equal_nan=True)
        else:
            empty = pd.isna(new)[:, None] & pd.isna(old)
            same &= (new.astype(str)[:, None] == old.astype(str)) | empty
    return rows[~same.any(axis=1)]


def recomputed(name, cell):
    """The rows of a cell of a study, made again."""
    return cell.rows(STORED[name])
