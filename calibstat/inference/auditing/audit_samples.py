"""Audits of samples: a group is a site, or a site and a year, whose rows were counted elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Never

import numpy as np

from calibstat.data.checks import check_level, check_whole, described, quoted, refuse_unknown, short
from calibstat.data.engines.cell_table import TABLE_CELLS
from calibstat.data.sample import Sample
from calibstat.data.words.side import Side
from calibstat.inference.auditing.audit import side_of_audit
from calibstat.inference.auditing.audit_counts import Levels, audit_counts
from calibstat.inference.auditing.audit_results import Audit
from calibstat.measures.bins import uniform_cells
from calibstat.resampling import Draws
from calibstat.resampling.rng import Rng


def audit_samples(
    samples: Mapping[Any, Sample],
    columns: str | Sequence[str] = "group",
    *,
    depth: int = 2,
    min_rows: int = 30,
    shape: bool = False,
    side: Side | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    rng: Rng = None,
    n_jobs: int = 1,
    **unknown: Never,
) -> Audit:
    """Test in which of several samples of one model the predictions are wrong, all together, and bound their errors.

        >>> import calibstat as cs, numpy as np, pandas as pd
        >>> y, p = cs.generators.calibrated().sample(6000, rng=1)
        >>> site = np.array(["a", "b", "c"])[np.arange(6000) % 3]
        >>> frame = pd.DataFrame({"y": y, "p": np.where(site == "b", p**2, p).round(2), "site": site})
        >>> result = cs.audit_samples(cs.Sample.from_frame(frame, "y", "p", by="site"), "site", rng=1)
        >>> [result.names[k] for k in result.found]
        ['all rows', 'site = b']

    Parameters
    ----------
    samples : mapping from key to Sample
        What `Sample.from_frame` returns with ``by=``: rows with the same values of one column or more, counted by an
        engine. A key is a value, or a tuple with a value of each column; no row is in two samples.
    columns : str or sequence of str
        Names of the columns, for the names of groups: one for each value of a key.
    depth : int
        How many columns may intersect, at least 1.
    min_rows : int
        Groups with fewer rows are left out.
    shape, side, confidence_level, n_resamples, rng, n_jobs
        As for `audit`.

    Returns
    -------
    Audit
        The groups are all rows, the values of each column, and intersections of values of different columns.

    Raises
    ------
    ValueError
        If there is no sample, a sample has weights that are not whole numbers, keys and columns do not fit together, or
        an argument is out of range.

    Notes
    -----
    Null hypothesis, statistic and intervals are as in `audit` of the rows. Labels of rows with the same key and about
    the same prediction are drawn as their sum: p-values have the same distribution as for rows, and other seeded
    numbers. Where samples hold cells of predictions, rows, outcomes and mean predictions of groups are exact, and
    ``result.beyond`` compares rows within a cell.
    Cost: n_resamples draws for each prediction of each sample.
    """
    refuse_unknown(audit_samples, unknown)
    check_level("confidence_level", confidence_level)
    side = side_of_audit(side, shape)
    keys = _checked_keys(samples, columns)
    draws = Draws.of(rng, n_resamples, n_jobs)
    each = list(samples.values())
    atom = np.repeat(np.arange(len(each)), [sample.value.size for sample in each])
    prediction, number, ones = (np.concatenate(column) for column in zip(*(one.arrays for one in each), strict=True))
    return audit_counts(
        _levels(keys),
        atom,
        prediction,
        number,
        ones,
        _shared(prediction, number) if any(sample.moved for sample in each) else prediction,
        depth=check_whole("depth", depth),
        min_rows=check_whole("min_rows", min_rows),
        shape=shape,
        side=side,
        confidence_level=confidence_level,
        draws=draws,
    )


def _checked_keys(samples: object, columns: str | Sequence[str]) -> dict[str, list[str]]:
    """Return for each column the value of each sample, in words."""
    if not isinstance(samples, Mapping) or not samples:
        raise ValueError(f"expected samples, a mapping from key to Sample, found {described(samples)}")
    names = list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else [columns]
    if not names or not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        raise ValueError(f"expected different names of columns, found {short(columns)}")
    values = [key if isinstance(key, tuple) else (key,) for key in samples]
    for value, sample in zip(values, samples.values(), strict=True):
        if len(value) != len(names):
            raise ValueError(f"expected keys of {len(names)} values, one for each of {names}, found {short(value)}")
        if not isinstance(sample, Sample) or sample.kind != "counts":
            found = "weights that are not whole numbers" if isinstance(sample, Sample) else described(sample)
            raise ValueError(f"expected a Sample of counted rows for {short(value)}, found {found}")
    texts = [tuple(map(str, value)) for value in values]
    if len({*texts}) < len(texts):
        raise ValueError(f"expected keys that differ as texts, found {quoted(values)}")
    return {name: [text[k] for text in texts] for k, name in enumerate(names)}


def _levels(keys: Mapping[str, list[str]]) -> Levels:
    """Return the names of the levels of each column, and the number of the level of each sample."""
    found = []
    for name, of_samples in keys.items():
        levels, code = np.unique(np.array(of_samples, object), return_inverse=True)
        found.append(([f"{name} = {level}" for level in levels], code))
    return found


def _shared(prediction: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return the mean prediction of the rows of all samples in the cell of each."""
    cell = uniform_cells(prediction, number, n_bins=TABLE_CELLS)
    rows, total = np.bincount(cell, number), np.bincount(cell, number * prediction)
    return np.asarray(total[cell] / rows[cell])
