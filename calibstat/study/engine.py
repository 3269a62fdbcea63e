"""Computes the cells of a study, on any backend of joblib, and keeps what is finished.

A cell is one data set: a generator, a number of rows and the number of a replicate. Its answers depend on the seed
and on these three alone, so that neither backend nor order nor interruptions can change them.
"""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from calibstat.data.checks import quoted, short
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.progress import announcer
from calibstat.study.store import Store

Models = tuple[np.ndarray, Mapping[str, np.ndarray]]  # outcomes, and the predictions of each model
Data = Sample | Predictions | Models
Ask = Callable[[Data, np.random.SeedSequence], "list[float]"]
Chunk = tuple[np.ndarray, np.ndarray, float]  # numbers of cells, their answers, seconds taken

TASK_SECONDS = 0.25  # long enough to make the cost of a task small, short enough to save often
TASK_CELLS = 500
BATCH_SECONDS = 1.4  # with the task that is under way, less than 2
BATCH_CELLS = 1000


@dataclass(frozen=True)
class Cells:
    """All cells of a study: cell i is data set ``i // len(groups)`` of group ``i % len(groups)``.

    Neighbours are thus of different groups, and any stretch of cells takes about its share of the time.
    """

    groups: list[tuple[str, int]]  # label of a generator, number of rows
    generators: Mapping[str, Any]
    replicates: int
    seed: int
    ask: Ask
    columns: list[str]
    truths: Callable[[Data, str], list[float]] = lambda data, label: []  # what else to know, given the generator
    modules: Sequence[str] = ()  # that register measures, for other processes to load

    def __len__(self) -> int:
        return len(self.groups) * self.replicates

    def answer(self, cell: int) -> list[float]:
        """Draw the data set of a cell and ask."""
        replicate, group = divmod(cell, len(self.groups))
        label, n = self.groups[group]
        key = int.from_bytes(hashlib.blake2b(f"{label}/{n}".encode(), digest_size=8).digest(), "little")
        data, resamples = np.random.SeedSequence([self.seed, key, replicate]).spawn(2)
        drawn = draw_data(self.generators[label], n, data)
        return [*self.ask(drawn, resamples), *self.truths(drawn, label)]


def models_of(generator: object) -> Mapping[str, Any] | None:
    """Return the models of a generator of several, by name, each with its truth; None of a generator of one model."""
    return getattr(generator, "models", None)


def draw_data(generator: Any, n: int, rng: np.random.SeedSequence) -> Data:
    """Draw a binary data set, a multiclass one, or one of several models, in the order in which it names them."""
    y, p = generator.sample(n, rng)
    if not isinstance(p, Mapping):
        return observed(y, p)
    names = models_of(generator) or p
    if set(names) != set(p):
        raise ValueError(
            "expected predictions of the same models from sample(n, rng) as `models` names; found predictions of "
            f"{quoted(p)} and models {quoted(names)} of {short(generator)}"
        )
    return y, {name: p[name] for name in names}


def observed(y: np.ndarray, p: np.ndarray) -> Sample | Predictions:
    """Return the outcomes and the predictions of one model as data."""
    return Sample.from_rows(y, p) if p.ndim == 1 else Predictions.from_rows(y, p)


def compute(cells: Cells, store: Store | None, n_jobs: int | None, title: str) -> np.ndarray:
    """Return the answers of all cells, of shape (replicates, groups, columns), reading from the store what it has."""
    answers = np.empty((len(cells), len(cells.columns)))
    missing = np.ones(len(cells), bool)
    if store is not None:
        finished, numbers = store.read(len(cells))
        answers[finished] = numbers
        missing[finished] = False
    batch = _Batch(store)
    with _progress(title, len(cells), int(len(cells) - missing.sum())) as advance:
        try:
            for done, numbers in _run(cells, np.flatnonzero(missing), n_jobs):
                answers[done] = numbers
                batch.add(done, numbers)
                advance(done.size)
        finally:
            batch.write()  # also when the user interrupts
    return answers.reshape(cells.replicates, len(cells.groups), len(cells.columns))


def _run(cells: Cells, missing: np.ndarray, n_jobs: int | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    pace = _Pace(len(cells.groups))
    for done, numbers, seconds in parallel(delayed(_task)(cells, chunk) for chunk in pace.cut(missing)):
        pace.learn(done.size, seconds)
        yield done, numbers


def _task(cells: Cells, chunk: np.ndarray) -> Chunk:
    for module in cells.modules:
        import_module(module)
    start = time.perf_counter()
    answers = np.array([cells.answer(int(cell)) for cell in chunk], np.float64)
    return chunk, answers.reshape(chunk.size, len(cells.columns)), time.perf_counter() - start


class _Pace:
    """Cuts the cells into tasks of about the same time, which it learns from the tasks that have come back."""

    def __init__(self, n_groups: int) -> None:
        self.n_groups = n_groups
        self.recent: deque[tuple[int, float]] = deque()  # the latest tasks that have seen every group

    def learn(self, size: int, seconds: float) -> None:
        self.recent.append((size, seconds))
        while sum(size for size, _ in self.recent) - self.recent[0][0] >= self.n_groups:
            self.recent.popleft()

    def size(self) -> int:
        cells, seconds = (sum(column) for column in zip(*self.recent, strict=True)) if self.recent else (0, 0.0)
        if cells < self.n_groups:
            return 1
        return max(1, min(TASK_CELLS, int(TASK_SECONDS * cells / max(seconds, 1e-9))))

    def cut(self, missing: np.ndarray) -> Iterator[np.ndarray]:
        start = 0
        while start < missing.size:
            end = start + self.size()
            yield missing[start:end]
            start = end


class _Batch:
    """Finished cells that wait to be written."""

    def __init__(self, store: Store | None) -> None:
        self.store = store
        self.waiting: list[tuple[np.ndarray, np.ndarray]] = []
        self.written = time.monotonic()

    def add(self, done: np.ndarray, numbers: np.ndarray) -> None:
        if sum(cells.size for cells, _ in self.waiting) + done.size > BATCH_CELLS:
            self.write()
        self.waiting.append((done, numbers))
        if time.monotonic() - self.written > BATCH_SECONDS:
            self.write()

    def write(self) -> None:
        if self.store is not None and self.waiting:
            self.store.append(*(np.concatenate(part) for part in zip(*self.waiting, strict=True)))
        self.waiting = []
        self.written = time.monotonic()


@contextmanager
def _progress(title: str, total: int, done: int) -> Iterator[Callable[[int], object]]:
    """Show a bar with the time left on standard error, if that is a terminal; else say in lines how long it takes."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield announcer(total - done, f"{total - done:,} data sets of question {title!r}")
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("data sets, left:"))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=total, completed=done)
        yield lambda more: bar.advance(task, more)
