"""How often does a monitor raise a false alarm, and how long does it take to find a change?

A monitor promises either that it ever raises a false alarm with a probability of at most alpha, at any number of
looks, or a mean number of periods between false alarms. Both are asked of calibrated models over 10,000 periods: rare
outcomes, drifting predictions and volumes, one row a period and 1000, sure predictions, few scores, segments.
Predictions are drawn anew for every 50 streams: both promises are about outcomes given predictions. The third promise
is that of the confidence sequences: right in all periods at once, also if the truth drifts.

With a side the first promise is made for all predictions that are right or wrong in the other direction.

Nothing is promised about delays but that their median is at most four times that of one Cox test that knows the date of
the change and has a power of .8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import beta, norm, t

from calibstat.generators import Generator, calibrated, shift, stream
from calibstat.monitoring.confidence_sequence import running_mean
from calibstat.monitoring.directions import DIRECTIONS
from calibstat.monitoring.evidence import log_evidence, stream_weights
from calibstat.papers.parts.promises import FALSE_ALARM, more_often
from calibstat.study import Study
from calibstat.study.question import rate_of

from .parts.delays import ARL, Family, answers, families
from .parts.monitoring_pictures import figures
from .parts.one_sided_streams import is_promised, one_side
from .parts.period_sums import Columns, cox_limit, cox_statistic, first_time, monitored, period_sums

if TYPE_CHECKING:
    import pandas as pd

SEED = 20463
ALPHA = 0.05
MOST_TIMES = 4  # the delay of a test that knows the date
KNOWN_POWER = 0.8
N_RATIOS = len(DIRECTIONS)
PROMISES = 40  # no more promises are checked, each with its share of the false alarms of the study


@dataclass(frozen=True)
class Sizes:
    """How much is asked."""

    first_states: int = 1000
    copies: int = 50  # streams that share their predictions
    looks: int = 10_000
    datasets: int = 200
    horizon: int = 200  # days after a change, after which it counts as not seen
    known_days: int = 100
    sequences: int = 200
    periods: int = 5000
    pairs: int = 1000  # periods in which two models are compared
    run_lengths: tuple[int, ...] = (100, 500)
    dates: tuple[int, ...] = (101, 1001)  # first periods after the change
    streams: int = 200  # watched from one side
    days: int = 150


QUICK = Sizes(8, 4, 200, 4, 40, 20, 4, 100, 50, (5, 20), (21, 41), 4, 60)


def quiet_streams() -> dict[str, tuple[stream, ...]]:
    """Return streams of calibrated models; several are the segments of one."""
    drift = [
        calibrated(beta(1 + k % 3, (1 + k % 3) * (1 / mean - 1))) for k, mean in enumerate(np.linspace(0.03, 0.6, 20))
    ]
    segments = tuple(stream(calibrated(spread), rows=20) for spread in (beta(1, 9), beta(2, 2), [0.2, 0.7]))
    return {
        "rare (.01), 100 rows": (stream(calibrated(beta(1, 99)), rows=100),),
        "drifting, 10 to 70 rows": (stream(lambda day: drift[day // 97 % 20], rows=lambda day: 10 + 37 * day % 61),),
        "one row": (stream(calibrated(), rows=1),),
        "ten scores, 1000 rows": (stream(calibrated(np.arange(0.05, 1, 0.1)), rows=1000),),
        "0, .1, .5, .9 and 1, 50 rows": (stream(calibrated([0, 0.1, 0.5, 0.9, 1]), rows=50),),
        "two scores, 20 rows": (stream(calibrated([0.1, 0.6]), rows=20),),
        "three segments, 20 rows each": segments,
    }


def seed_of(*numbers: int) -> np.random.SeedSequence:
    """Return the seed of a part of the study."""
    return np.random.SeedSequence([SEED, *numbers])


def first_alarms(models: Sequence[stream], sizes: Sizes, *key: int) -> np.ndarray:
    """Return the first flag of the monitor, of the Cox test at each look, and of the run lengths, shape (copies, 4)."""
    sums = [period_sums(m, sizes.looks, sizes.copies, monitored, seed_of(*key, k)) for k, m in enumerate(models)]
    total = reduce(np.add, sums)
    watched = [total, *sums] if len(models) > 1 else [total]  # all rows, and the segments
    weights = np.log(stream_weights(len(watched) - 1))
    paths = [both_evidences(part[..., :N_RATIOS]) + weight for part, weight in zip(watched, weights, strict=True)]
    by_alpha, by_length = np.logaddexp.reduce(paths, axis=0)
    cox = cox_statistic(np.cumsum(total[..., N_RATIOS:], axis=1)) > cox_limit(ALPHA)
    events = [by_alpha >= -np.log(ALPHA), cox, *(by_length >= np.log(length) for length in sizes.run_lengths)]
    return np.stack([first_time(event) for event in events], axis=1)


def both_evidences(ratios: np.ndarray) -> np.ndarray:
    """Return the logarithm of the evidence in both regimes."""
    ratios = np.ascontiguousarray(ratios)
    return np.stack([log_evidence(ratios), log_evidence(ratios, "run length")])


def false_alarms(label: str, first: np.ndarray, looks: int) -> Iterator[dict[str, Any]]:
    """Return how many streams were flagged up to several looks."""
    for j, method in enumerate(("monitor", "Cox test at each look")):
        for until in [10**k for k in range(1, 5) if 10**k < looks] + [looks]:
            found = rate_of("flagged", first[:, j] <= until)
            about = {"question": "false alarms", "generator": label, "method": method, "looks": until}
            yield {**about, "replicates": len(first), **found}


def run_lengths(label: str, first: np.ndarray, sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Return mean run lengths. Runs that are not over count as all looks, which makes the mean smaller, not larger."""
    for j, length in enumerate(sizes.run_lengths, 2):
        run = np.minimum(first[:, j], sizes.looks)
        error = run.std(ddof=1) / np.sqrt(run.size)
        reach = t.isf([0.025, FALSE_ALARM / PROMISES], run.size - 1) * error
        yield {
            "question": "run length",
            "generator": label,
            "method": "monitor",
            "arl": length,
            "looks": sizes.looks,
            "replicates": run.size,
            "censored": np.isinf(first[:, j]).mean(),
            "mean": run.mean(),
            "low": run.mean() - reach[0],
            "high": run.mean() + reach[0],
            "limit": run.mean() + reach[1],
        }


def delays(family: Family, found: Sequence[Mapping[Any, np.ndarray]], dates: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Return delays in days, from the answers of all data sets of a family of changes."""
    for change in family.changes:
        power = np.mean([answer[change.label, "known"] for answer in found], axis=0)
        known = first_time(power >= KNOWN_POWER)
        for arl, date in product(ARL, dates):
            answer = np.array([part[change.label, date, arl] for part in found])
            early, delay, dated, off, signed, named = answer.T
            asked, said = ~np.isnan(delay), np.isfinite(delay)
            middle, late = np.quantile(delay[asked], [0.5, 0.8], method="inverted_cdf") if asked.any() else [np.nan] * 2
            yield {
                "question": "delay",
                "generator": change.label,
                "method": "alpha .05" if arl is None else f"arl {arl:.0f}",
                "change": date,
                "replicates": len(found),
                "early": (early > 0).mean(),
                "median": middle,
                "late": late,
                "known": known,
                "ratio": middle / known if np.isfinite(known) else np.nan,
                "promised": change.promised and arl is None,
                "alarms": said.sum(),
                **described(dated[said], np.abs(off[said]), signed[said], named[said]),
            }


def described(dated: np.ndarray, off: np.ndarray, signed: np.ndarray, named: np.ndarray) -> dict[str, float]:
    """Return how often alarms say what is right, and by how many days their most likely start is off."""
    if not off.size:
        return {}
    shares = {"dated": dated.mean(), "signed": signed.mean(), "named": named.mean()}
    return {**shares, "off": np.median(off), "off_late": np.quantile(off, 0.8, method="inverted_cdf")}


def residuals(value: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return the columns of a gap: residual, its square, its mean and the ends of that mean, row."""
    fixed = [chance - value, -value, 1 - value, np.ones_like(value)]
    return np.stack([np.stack([y - value, (y - value) ** 2, *fixed], axis=1) for y in (0, 1)])


def differences(a: Callable[[np.ndarray], np.ndarray], b: Callable[[np.ndarray], np.ndarray]) -> Columns:
    """Return the columns of the difference of two Brier scores, of two functions of the prediction."""

    def columns(value: np.ndarray, chance: np.ndarray) -> np.ndarray:
        negative, positive = ((y - a(value)) ** 2 - (y - b(value)) ** 2 for y in (0, 1))
        one = np.ones_like(value)
        fixed = [(1 - chance) * negative + chance * positive, -one, one, one]
        return np.stack([np.stack([x, x**2, *fixed], axis=1) for x in (negative, positive)])

    return columns


def sequences() -> Iterator[tuple[str, str, stream, Columns]]:
    """Return what confidence sequences are asked about: a question, a label, a stream and its columns."""
    waves = [shift(0.6 * np.sin(2 * np.pi * k / 20)) for k in range(20)]
    models: dict[str, Generator | Callable[[int], Generator]] = {
        "calibrated, uniform": calibrated(),
        "shift that drifts from -.6 to .6": lambda day: waves[day // 50 % 20],
        "rare (.01)": calibrated(beta(1, 99)),
        "predictions near 0 and 1": calibrated(beta(0.1, 0.1)),
        "shift .4": shift(0.4),
    }
    for label, model in models.items():
        yield "gap", label, stream(model, rows=100), residuals

    def moved(slope: float, by: float) -> Callable[[np.ndarray], np.ndarray]:
        return lambda v: expit(slope * logit(v) + by)

    for label, a, b in [
        ("temperature 2 beside calibrated", moved(2, 0), moved(1, 0)),
        ("too high by .5 beside too low by .5", moved(1, 0.5), moved(1, -0.5)),
    ]:
        yield "Brier", label, stream(calibrated(), rows=50), differences(a, b)


def sequence(total: np.ndarray, squares: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the ends of a confidence sequence, shape (2, periods)."""
    return np.stack(running_mean(total, squares, n, 1 - ALPHA)[1:])


def widths(
    question: str, label: str, model: stream, columns: Columns, sizes: Sizes, key: int
) -> Iterator[dict[str, Any]]:
    """Return how often a sequence ever misses, and its width beside that of an interval for one fixed look."""
    periods = sizes.pairs if question == "Brier" else sizes.periods
    found = period_sums(model, periods, sizes.sequences, columns, seed_of(3, key)).cumsum(axis=1)
    *sums, n = np.moveaxis(found, -1, 0)
    middle, square, truth, least, most = (part / n for part in sums)
    low, high = np.stack([sequence(*part) for part in zip(*sums[:2], n, strict=True)], axis=1)
    low, high = np.maximum(low, least), np.minimum(high, most)
    reach = norm.isf(ALPHA / 2) * np.sqrt(np.maximum(square - middle**2, 0) / n)
    missed = {"sequence": (truth < low) | (truth > high), "fixed": np.abs(middle - truth) > reach}
    decided = first_time((low > 0) | (high < 0))
    for rows in (100, 1000, 50_000, 500_000):
        (look,) = np.nonzero(n[0] == rows)
        if not look.size:
            continue
        k = int(look[0])
        for method, ends in (("sequence", (high - low)[:, k]), ("fixed", 2 * reach[:, k])):
            yield {
                "question": question,
                "generator": label,
                "method": method,
                "rows": rows,
                "looks": k + 1,
                "replicates": len(n),
                **rate_of("missed", missed[method][:, : k + 1].any(axis=1)),
                "width": ends.mean(),
                "ratio": ends.mean() / (2 * reach[:, k]).mean(),
                "decided": np.median(decided) if method == "sequence" else np.nan,
            }


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Ask everything."""
    import pandas as pd
    from joblib import Parallel, delayed

    sizes = QUICK if quick else Sizes()
    parallel = Parallel(n_jobs=n_jobs or 1)
    rows: list[dict[str, Any]] = []
    quiet, batches = quiet_streams(), range(sizes.first_states // sizes.copies)
    jobs = (delayed(_quiet)(label, sizes, i, batch) for i, label in enumerate(quiet) for batch in batches)
    first = np.array(parallel(jobs)).reshape(len(quiet), -1, 4)
    for label, part in zip(quiet, first, strict=True):
        rows += [*false_alarms(label, part, sizes.looks), *run_lengths(label, part, sizes)]
    changes, datasets = families(), range(sizes.datasets)
    found = parallel(delayed(_changed)(name, sizes, r) for name in changes for r in datasets)
    for k, family in enumerate(changes.values()):
        rows += delays(family, found[k * sizes.datasets : (k + 1) * sizes.datasets], sizes.dates)
    asked = range(len(list(sequences())))
    rows += [row for part in parallel(delayed(_sequence)(k, sizes) for k in asked) for row in part]
    rows += one_side(sizes.streams, sizes.days, seed_of(4))
    return pd.DataFrame(rows)


def _quiet(label: str, sizes: Sizes, *key: int) -> np.ndarray:
    return first_alarms(quiet_streams()[label], sizes, 1, *key)


def _changed(name: str, sizes: Sizes, replicate: int) -> dict[Any, np.ndarray]:
    return answers(families()[name], sizes.dates, sizes.horizon, sizes.known_days, seed_of(2, replicate))


def _sequence(k: int, sizes: Sizes) -> list[dict[str, Any]]:
    return [*widths(*list(sequences())[k], sizes, k)]


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in which a promise does not hold, beyond the exact limits; delays are taken as they are."""
    import pandas as pd

    last = table["looks"] == table.groupby(["question", "generator"])["looks"].transform("max")
    alarms = table[(table["question"] == "false alarms") & (table["method"] == "monitor") & last]
    missed = table[(table["method"] == "sequence") & last]
    sided = table[table["question"] == "one side"]
    kept = [is_promised(*each) for each in zip(sided["generator"], sided["method"], strict=True)]
    sided = sided[np.array(kept, bool)]
    runs, late = table[table["question"] == "run length"], table[table["promised"] == True]  # noqa: E712
    return pd.concat(
        [
            more_often(alarms, alarms["flagged"], ALPHA, PROMISES),
            more_often(missed, missed["missed"], ALPHA, PROMISES),
            more_often(sided, sided["flagged"], ALPHA, PROMISES),
            runs[runs["limit"] < runs["arl"]],
            late[~(late["ratio"] <= MOST_TIMES)],
        ]
    )


study = Study(
    question="How often does a monitor raise a false alarm, and how long does it take to find a change?",
    seed=SEED,
    runtime_hours=0.2,
    table=table,
    figures=figures,
    violations=violations,
)
