"""Runs a question on a grid: checks the grid, computes its cells, makes the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.data.checks import check_jobs, check_level, check_whole, is_whole, short
from calibstat.data.sample import Sample
from calibstat.study.asked_measures import Measures, asked_measures, check_classes, descriptions
from calibstat.study.engine import Cells, Data, compute, draw_data
from calibstat.study.plain_function import PlainFunction
from calibstat.study.question import Question
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
    store: str | Path | None = None,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Answer a question for every cell of a grid of generators, numbers of rows, measures and methods.

    Parameters
    ----------
    question : {"size", "power", "coverage", "comparison", "bias", "consistency", "ranking"}
        - "size": how often does `calibration_test` reject calibrated predictions? Methods: "labels" (default), "both".
        - "power": how often does it reject? Same methods.
        - "coverage": how often does `confidence_interval` cover the true value, how wide is it, on which side does
          it miss? Methods: "honest" (default), "percentile", "basic", "bca".
        - "comparison": how often does `compare` find a difference between two models, and does its interval cover the
          true one? Each generator's ``sample`` returns outcomes and a mapping from name to predictions, its ``truth``
          the measure of the first less the second's; of a measure whose cells follow the data, ``held`` gives
          the options of each model by name. Methods: "bootstrap" (default), "swap".
        - "bias": mean, bias, sd and root mean squared error of the estimate. Method: "plug-in".
        - "consistency": the order at which an error vanishes, minus the slope of its logarithm on log n. Methods: which
          error, "rmse" (default), "sd", "bias".
        - "ranking": how far do measures agree on the order of the generators, each a model? Rank correlations of two
          measures, and of a measure with its true values. Methods: "spearman" (default), "kendall". Give one measure
          several times, with other bins, and see how stable its order is.
    generators : mapping from label to generator
        Entries of `calibstat.generators`, or whatever else has ``sample(n, rng)``, ``truth(measure, **options)``,
        ``is_calibrated`` and a `repr` that says all. For "power", "bias" and "ranking", which need no true values, a
        plain function of n and a `numpy.random.Generator` will do, if there is no `store`: it returns outcomes and
        predictions.
    n : int or sequence of int
        Rows in each data set.
    measures : sequence, or mapping from label
        Names; (name, options), where of generators of several classes the options may hold ``lens`` and ``reduce``;
        measures such as ``calibstat.measures.ECE(n_bins=5)``; or functions of (y, p), outcomes and predictions, of
        (prob, label) for several classes, or what else `calibstat.measure` takes. A function that is not registered
        with ``plugs_in=True`` has no true value. With a `store` it needs a name: no lambda.
        All measures and methods see the same data sets and the same resampling seeds.
    methods : sequence of str, optional
        See `question`.
    replicates : int
        Data sets for each generator and n.
    seed : int
        With the generator's label, n and the number of the replicate, and nothing else, it fixes the data.
    n_resamples : int
        As for `calibration_test` and `confidence_interval`. The size can be as large as the level only if
        ``level * (n_resamples + 1)`` is whole; for a two-sided test, half of it.
    level : float, optional
        Of tests, by default 0.05, or of confidence, by default 0.95.
    store : path, optional
        A folder for finished data sets, written in batches at most 2 seconds apart (or as long as one data set takes)
        and 1000 data sets long. The same call with the same store goes on where it was stopped, in whatever way, and
        returns the same table. Needs pyarrow.
    n_jobs : int, optional
        Processes; by default 1, or what ``joblib.parallel_config`` says, which also chooses threads or a cluster. The
        numbers do not depend on it. Other processes do not know measures registered in a notebook.

    Returns
    -------
    pandas.DataFrame
        One row for each generator, n, measure and method. Columns: question, generator, n, measure, method, level (for
        tests and intervals), replicates, and

        - "size", "power": rejections, rate, and low and high, the exact 95% limits of the rate (Clopper, Pearson);
        - "coverage": truth (its mean, where it is that over the cells which each data set makes), covered, rate, low,
          high, missed_below (samples in which the true value lies below the interval, which claims too large an error),
          missed_above, refused (samples that an interval refuses, such as too few events, which miss nothing; the
          following are of the others), floored (samples whose high end is what a calibrated model would show),
          mean_width, mean_estimate, sd_estimate;
        - "comparison": truth; rejections, rate, low and high as above; missed_below, missed_above and mean_width, nan
          for "swap";
        - "bias": truth (nan if not known), mean, bias, sd, rmse, and each with its standard error in mean_se, bias_se,
          sd_se, rmse_se; and q05, q50 and q95, quantiles of the estimates;
        - "consistency": one row for all n, of which n is the largest and n_from the smallest; truth, order and
          order_se, nan where an error is within two standard errors of 0; and the error itself at each n, without its
          sign, with its standard error, such as error_100 and error_100_se;
        - "ranking": one row for all generators and each pair of measures; against (a second measure, or "its truth"),
          generators (their number), undefined (replicates in which a measure ties all generators, or its truth does),
          and the mean correlation of the others with correlation_se.

    Raises
    ------
    ValueError
        If an argument is unknown, a measure has no interval by one of the methods, a generator in a study of size is
        not calibrated, or the store holds another study, is damaged, or another process writes to it.
        Nothing has then been run.
    NotImplementedError
        If a generator has no true value of a measure, where the question needs it.

    Warns
    -----
    RuntimeWarning
        If a file in the store is damaged. Its data sets are computed again.

    Examples
    --------
    >>> import calibstat as cs
    >>> models = {"uniform": cs.generators.calibrated()}
    >>> result = cs.study.run("size", models, 50, ["ece"], replicates=20, seed=1)
    >>> print(result[["generator", "n", "measure", "method", "replicates"]].to_string(index=False))
    generator  n measure method  replicates
      uniform 50     ece labels          20
    """
    import pandas as pd

    if not isinstance(question, str) or question not in QUESTIONS:
        raise ValueError(f"expected a question, one of {', '.join(QUESTIONS)}; found {short(question)}")
    kind = QUESTIONS[question]
    if methods is not None and (isinstance(methods, str) or not isinstance(methods, Sequence)):
        raise ValueError(f"expected a sequence of methods, found {short(methods)}")
    chosen = kind.method_choices[:1] if methods is None else tuple(methods)
    for method in chosen:
        if method not in kind.method_choices:
            allowed = ", ".join(map(repr, kind.method_choices))
            raise ValueError(f"expected a method of question {question!r}, one of {allowed}; found {method!r}")
    several = isinstance(n, Sequence | np.ndarray) and not isinstance(n, str | bytes) and np.ndim(n) > 0
    rows: list[Any] = list(n) if several else [n]  # type: ignore[arg-type]
    for k in rows:
        check_whole("n", k)
    check_whole("seed", seed, 0)
    if not is_whole(replicates):
        raise ValueError(f"expected at least 1 replicate, found {short(replicates)}")
    check_whole("n_resamples", n_resamples)
    if level is not None:
        check_level("level", level)
    if n_jobs is not None:
        check_jobs(n_jobs)
    if not isinstance(generators, Mapping):
        raise ValueError(f"expected generators, a mapping from label to generator, found {short(generators)}")
    generators = {label: _as_generator(label, generator, store) for label, generator in generators.items()}
    named = asked_measures(measures)
    for what, entries in (("generator", generators), ("n", rows), ("measure", named), ("method", chosen)):
        if not len(entries):
            raise ValueError(f"expected at least one {what}, found none")
    query = kind(
        generators=generators,
        n=[int(k) for k in rows],
        measures=named,
        methods=list(chosen),
        replicates=int(replicates),
        n_resamples=n_resamples,
        level=kind.default_level if level is None else level,
    )
    check_classes(named, generators)
    query.check()
    for trial in _trials(query.generators):
        query.attempt(trial)  # raises before the run if the question cannot be answered
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
        answers = compute(cells, kept, n_jobs, question)
    return pd.DataFrame(query.rows(answers))


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
    """Yield a small data set for every number of classes."""
    classes = {getattr(generator, "n_classes", None): generator for generator in generators.values()}
    for number, generator in classes.items():
        yield TRIAL if number is None else draw_data(generator, 20, np.random.SeedSequence(0))


def _description(query: Question, seed: int) -> dict[str, str]:
    """Describe all that the answers depend on, so that a store of another study is recognised."""
    from importlib.metadata import version

    plain = {"question": query.name, "seed": seed, "n": query.n, "replicates": query.replicates}
    plain |= {"n_resamples": query.n_resamples, "level": query.level, "methods": query.methods}
    plain |= {f"generator {label!r}": generator for label, generator in query.generators.items()}
    of_measures = {f"measure {label!r}": text for label, text in descriptions(query.measures)}
    return {key: repr(value) for key, value in plain.items()} | of_measures | {"version": repr(version("calibstat"))}
