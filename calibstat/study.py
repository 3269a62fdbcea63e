"""Monte Carlo studies: does a test keep its level, does an interval cover what it says?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.inference.intervals import confidence_interval
from calibstat.inference.testing import calibration_test
from calibstat.measures.registry import find_measure
from calibstat.sample import Sample

if TYPE_CHECKING:
    import pandas as pd

CHUNK = 50  # replicates a task; it does not change the numbers
ROUNDING = 1e-12  # a truth of 0 may come out as 1e-17

Measures = Sequence[str] | Mapping[str, tuple[str, Mapping[str, Any]]]
Named = dict[str, tuple[str, dict[str, Any]]]


def size(
    generators: Mapping[str, Any],
    n: int | Sequence[int],
    measures: Measures,
    *,
    replicates: int,
    seed: int,
    n_resamples: int = 199,
    resample: str = "labels",
    level: float = 0.05,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Count how often `calibration_test` rejects.

    Parameters
    ----------
    generators : mapping from label to generator
        With calibrated generators the rate is the size of the test, with others its power.
    n : int or sequence of int
        Rows in each data set.
    measures : sequence of names, or mapping from label to (name, options)
        The statistics. All see the same data sets, so that their rates are paired.
    replicates : int
        Data sets for each generator and n.
    seed : int
        With the generator's label, n and the number of the replicate, and nothing else, it fixes the data.
    n_resamples, resample : int, {"labels", "both"}
        As for `calibration_test`. The size can be as large as `level` only if ``level * (n_resamples + 1)`` is whole.
    level : float
        A test rejects if its p-value is at most this.
    n_jobs : int
        Processes; the numbers do not depend on it. Other processes do not know measures registered in a notebook.

    Returns
    -------
    pandas.DataFrame
        One row for each generator, n and measure. Columns: question, generator, n, measure, method (what was
        resampled), level, replicates, rejections, rate, and low and high, exact 95% limits of the rate (Clopper,
        Pearson).

    Raises
    ------
    ValueError
        If a measure, an option or an argument is unknown.

    Examples
    --------
    >>> import calibstat as cs
    >>> found = cs.study.size({"uniform": cs.generators.calibrated()}, 50, ["ece"], replicates=20, seed=1)
    >>> print(found[["generator", "n", "measure", "method", "replicates"]].to_string(index=False))
    generator  n measure method  replicates
      uniform 50     ece labels          20
    """
    import pandas as pd

    named = _named(measures)
    ask = partial(_pvalues, list(named.values()), {"n_resamples": n_resamples, "resample": resample})
    rows = []
    for cell, pvalues in _run("size", generators, n, ask, replicates, seed, n_jobs):
        for measure, p in zip(named, pvalues.T, strict=True):
            fixed = {**cell, "measure": measure, "method": resample, "level": level, "replicates": replicates}
            rows.append({**fixed, **_share("rejections", p <= level)})
    return pd.DataFrame(rows)


def coverage(
    generators: Mapping[str, Any],
    n: int | Sequence[int],
    measures: Measures,
    methods: Sequence[str],
    *,
    replicates: int,
    seed: int,
    n_resamples: int = 299,
    confidence_level: float = 0.95,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Count how often `confidence_interval` covers the truth.

    Parameters
    ----------
    generators : mapping from label to generator
        Each has a method ``truth(measure, **options)``.
    n : int or sequence of int
        Rows in each data set.
    measures : sequence of names, or mapping from label to (name, options)
        What is estimated.
    methods : sequence of str
        Methods of `confidence_interval`. All methods and measures see the same data sets and resampling seeds.
    replicates, seed, n_jobs
        As for `size`.
    n_resamples, confidence_level
        As for `confidence_interval`.

    Returns
    -------
    pandas.DataFrame
        One row for each generator, n, measure and method. Columns: question, generator, n, measure, method, level (the
        confidence level), replicates, truth, covered, rate, low, high (exact 95% limits of the rate), missed_below
        (the truth lies below the whole interval, which claims too large an error), missed_above (the truth lies above
        the whole interval, which claims too small an error), mean_width, mean_estimate.

    Raises
    ------
    ValueError
        If an argument is unknown, or a measure has no interval by one of the methods; nothing has then been run.
    NotImplementedError
        If a generator does not know the truth of a measure.

    Examples
    --------
    >>> import calibstat as cs
    >>> shifted = {"shift": cs.generators.shift(1.0)}
    >>> found = cs.study.coverage(shifted, 50, ["ks"], ["basic"], replicates=20, seed=1, n_resamples=99)
    >>> print(found[["generator", "n", "measure", "method", "replicates"]].to_string(index=False))
    generator  n measure method  replicates
        shift 50      ks  basic          20
    """
    import pandas as pd

    named = _named(measures)
    truths = {
        (label, measure): generator.truth(name, **options)
        for label, generator in generators.items()
        for measure, (name, options) in named.items()
    }
    pairs = list(product(named, methods))
    arguments = {"n_resamples": n_resamples, "confidence_level": confidence_level}
    ask = partial(_intervals, [(*named[measure], method) for measure, method in pairs], arguments)
    rows = []
    for cell, intervals in _run("coverage", generators, n, ask, replicates, seed, n_jobs):
        for (measure, method), (low, high, estimate) in zip(pairs, intervals.transpose(1, 2, 0), strict=True):
            truth = truths[cell["generator"], measure]
            below, above = truth < low - ROUNDING, truth > high + ROUNDING
            fixed = {**cell, "measure": measure, "method": method, "level": confidence_level, "replicates": replicates}
            misses = {"missed_below": int(below.sum()), "missed_above": int(above.sum())}
            means = {"mean_width": float((high - low).mean()), "mean_estimate": float(estimate.mean())}
            rows.append({**fixed, "truth": truth, **_share("covered", ~(below | above)), **misses, **means})
    return pd.DataFrame(rows)


def most_rejections(level: float, replicates: int, false_alarm: float) -> int:
    """Return the most rejections that are still compatible with a promised rate.

    Parameters
    ----------
    level : float
        The promise: each replicate is a rejection (or a miss, for an interval) with at most this probability.
    replicates : int
        Independent replicates.
    false_alarm : float
        The probability with which a kept promise may be called broken. For many cells, divide it by their number.

    Returns
    -------
    int
        The smallest k with P(X > k) <= false_alarm for X ~ Binomial(replicates, level).

    Examples
    --------
    >>> import calibstat as cs
    >>> cs.study.most_rejections(0.05, 2000, 1e-4)
    138
    """
    from scipy.stats import binom

    return int(binom.isf(false_alarm, replicates, level))


def write_table(frame: pd.DataFrame, path: str | Path, **facts: Any) -> None:
    """Write a study as CSV under one comment line of facts, such as the command and the seed that made it.

    Parameters
    ----------
    frame : pandas.DataFrame
        What `size` or `coverage` returned.
    path : str or Path
        The file; folders above it are made.
    **facts
        What to say in the first line, after ``#``. Read the file with ``pandas.read_csv(path, comment="#")``.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    header = "; ".join(f"{key}: {value}" for key, value in facts.items())
    path.write_text(f"# {header}\n{frame.to_csv(index=False, float_format='%.6g')}", encoding="utf-8")


def _named(measures: Measures) -> Named:
    """Give every measure a label, and raise now if one or an option is unknown."""
    if isinstance(measures, str):
        raise ValueError(f"expected a sequence of measures, found the string {measures!r}")
    chosen = measures if isinstance(measures, Mapping) else {name: (name, {}) for name in measures}
    for name, options in chosen.values():
        find_measure(name, options)
    return {label: (name, dict(options)) for label, (name, options) in chosen.items()}


def _pvalues(
    measures: list[tuple[str, dict[str, Any]]], arguments: dict[str, Any], sample: Sample, rng: np.random.SeedSequence
) -> list[float]:
    return [
        calibration_test(sample, measure=name, rng=rng, **arguments, **options).pvalue for name, options in measures
    ]


def _intervals(
    pairs: list[tuple[str, dict[str, Any], str]],
    arguments: dict[str, Any],
    sample: Sample,
    rng: np.random.SeedSequence,
) -> list[tuple[float, float, float]]:
    found = [
        confidence_interval(sample, measure=name, method=method, rng=rng, **arguments, **options)
        for name, options, method in pairs
    ]
    return [(interval.low, interval.high, interval.estimate) for interval in found]


def _run(
    question: str,
    generators: Mapping[str, Any],
    n: int | Sequence[int],
    ask: Callable[[Sample, np.random.SeedSequence], list[Any]],
    replicates: int,
    seed: int,
    n_jobs: int,
) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Ask every replicate of every cell, and yield each cell with the array of its answers, replicates first."""
    from joblib import Parallel, delayed

    if replicates < 1:
        raise ValueError(f"expected at least 1 replicate, found {replicates!r}")
    rows = [n] if isinstance(n, int | np.integer) else list(n)
    cells = [{"question": question, "generator": label, "n": int(k)} for label, k in product(generators, rows)]
    first = cells[0]
    _chunk(ask, first, generators[first["generator"]], seed, range(1))  # what cannot be asked raises before the run
    starts = range(0, replicates, CHUNK)
    numbers = [range(start, min(start + CHUNK, replicates)) for start in starts]
    answers = Parallel(n_jobs=n_jobs)(
        delayed(_chunk)(ask, cell, generators[cell["generator"]], seed, chunk)
        for cell, chunk in product(cells, numbers)
    )
    for i, cell in enumerate(cells):
        yield cell, np.concatenate(answers[i * len(numbers) : (i + 1) * len(numbers)])


def _chunk(
    ask: Callable[[Sample, np.random.SeedSequence], list[Any]],
    cell: dict[str, Any],
    generator: Any,
    seed: int,
    replicates: range,
) -> np.ndarray:
    """Answer some replicates of a cell, each from data that depend on the seed, the cell and its own number alone."""
    name = f"{cell['question']}/{cell['generator']}/{cell['n']}".encode()
    key = int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")
    answers = []
    for replicate in replicates:
        data, resamples = np.random.SeedSequence([seed, key, replicate]).spawn(2)
        sample = Sample.from_rows(*generator.sample(cell["n"], data))
        answers.append(ask(sample, resamples))
    return np.array(answers)


def _share(name: str, happened: np.ndarray) -> dict[str, Any]:
    """Return how often something happened, as a number, a rate and the exact limits of the rate."""
    from statsmodels.stats.proportion import proportion_confint

    number = int(happened.sum())
    low, high = proportion_confint(number, happened.size, method="beta")
    return {name: number, "rate": number / happened.size, "low": float(low), "high": float(high)}
