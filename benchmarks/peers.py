"""calibstat beside other packages: values and CPU time of the same question, in one process, in turn.

``python benchmarks/peers.py`` prints a table (``pip install "calibstat[peers]"`` first); ``--write
docs/evidence/speed.md`` puts it into the page. Packages that bring torch are timed apart, in an environment with
``calibstat[peers-torch]``, by ``--packages netcal torchmetrics --store benchmarks/peers_torch.csv``; the page has the
stored rows too.
"""

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
os.environ |= THREADS  # before NumPy is imported

import numpy as np  # noqa: E402
from tables import made_by, markdown, put_in_page  # noqa: E402

import calibstat as cs  # noqa: E402
from calibstat import compiled, recalibration  # noqa: E402

compiled.FIRST_SECONDS = 0.0  # nothing but compiled code answers, as in a process that has asked often

STORED = Path(__file__).with_name("peers_torch.csv")
ROUNDS = 3
LONG = 1.0  # seconds; a call that takes longer is timed once
Calls = dict[str, Callable[[], float]]  # by task


@dataclass(frozen=True)
class Row:
    """A question answered by calibstat and by another package."""

    task: str
    size: str
    package: str
    value: float
    our_value: float
    seconds: float
    our_seconds: float
    failure: str = ""

    @property
    def ratio(self) -> float:
        """How many times as long the other package takes."""
        return self.seconds / self.our_seconds


class Rows:
    """Outcomes and predictions: p of an event, or prob of classes."""

    def __init__(self, n: int, classes: int = 2) -> None:
        rng = np.random.default_rng(n + classes)
        self.n, self.classes = n, classes
        if classes == 2:
            self.size = f"{n:,}"
            self.p = rng.beta(1, 3, n)
            self.y = (rng.random(n) < 1 / (1 + ((1 - self.p) / self.p) ** 0.8)).astype(np.int64)
            self.prob = np.column_stack((1 - self.p, self.p))
        else:
            self.size = f"{n:,} × {classes}"
            score = rng.normal(0, 1.5, (n, classes))
            score[np.arange(n), rng.integers(0, classes, n)] += rng.normal(7, 2, n)
            self.prob = np.exp(score - score.max(axis=1, keepdims=True))
            self.prob /= self.prob.sum(axis=1, keepdims=True)
            self.y = (self.prob.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
            self.p = self.prob[:, 1]
        self.logit = np.log(self.prob[:, 1] / self.prob[:, 0])

    @cached_property
    def isotonic(self) -> recalibration.IsotonicRegression:
        """A fitted map, made once."""
        return recalibration.IsotonicRegression().fit(self.p, self.y)


# each function below has the calls of a package by task; a task that only one package has is not timed


def calibstat(rows: Rows) -> Calls:
    y, p, prob = rows.y, rows.p, rows.prob
    if rows.classes > 2:
        return {
            "class-wise ECE": lambda: cs.estimate(y, prob, measure="ece", lens="class_wise_mean"),
            "top-label ECE": lambda: cs.estimate(y, prob, measure="ece"),
            "temperature, fit": lambda: recalibration.TemperatureScaling().fit(prob, y).temperature_,
        }
    return {
        "ECE": lambda: cs.estimate(y, p),
        "reliability table": lambda: cs.detail(y, p)["frequency"][0],
        "SmoothECE": lambda: cs.estimate(y, p, measure="smooth_ece"),
        "kernel error": lambda: cs.estimate(y, p, measure="kernel_ce"),
        "Brier score": lambda: cs.estimate(y, p, measure="brier"),
        "log loss": lambda: cs.estimate(y, p, measure="log_loss"),
        "decomposition": lambda: cs.decompose(y, p).parts["mcb"],
        "Kolmogorov–Smirnov test": lambda: cs.classical.kolmogorov_smirnov(y, p).pvalue,
        "Kuiper test": lambda: cs.classical.kuiper(y, p).pvalue,
        "Spiegelhalter test": lambda: cs.classical.spiegelhalter(y, p).pvalue,
        "Cox regression": lambda: cs.classical.cox(y, p, held_out=True).slope,
        "test of ECE, 1000 draws": lambda: cs.calibration_test(y, p, measure="ece", n_resamples=1000, rng=1).pvalue,
        "interval of ECE, 1000 draws": lambda: high(y, p, "honest", 1000),
        "percentile interval of ECE, 1000 draws": lambda: high(y, p, "percentile", 1000),
        "percentile interval of ECE, 100 draws": lambda: high(y, p, "percentile", 100),
        "temperature, fit": lambda: recalibration.TemperatureScaling().fit(p, y).temperature_,
        "isotonic, fit": lambda: recalibration.IsotonicRegression().fit(p, y).converged_,
        "isotonic, predict": lambda: rows.isotonic.predict_proba(p).sum(),
        "Platt, fit": lambda: recalibration.PlattScaling().fit(p, y).slope_[0],
    }


def high(y, p, method, n_resamples):
    found = cs.confidence_interval(y, p, measure="ece", method=method, n_resamples=n_resamples, rng=1)
    return found.high


def numpy(rows: Rows) -> Calls:
    y, p, prob, n, bins = rows.y, rows.p, rows.prob, rows.n, 15

    def cell(v):
        return np.clip(np.ceil(v * bins).astype(np.int64) - 1, 0, bins - 1)

    def ece(y, v):
        return np.abs(np.bincount(cell(v), y - v, bins)).sum() / n

    def top():
        most = prob.argmax(axis=1)
        return ece(most == y, prob[np.arange(n), most])

    def test():
        rng, b, seen = np.random.default_rng(1), cell(p), ece(y, p)
        draws = [np.abs(np.bincount(b, (rng.random(n) < p) - p, bins)).sum() / n for _ in range(1000)]
        return (1 + np.sum(np.array(draws) >= seen)) / 1001

    def interval():
        rng, b, residual = np.random.default_rng(1), cell(p), y - p
        draws = [
            np.abs(np.bincount(b.take(i), residual.take(i), bins)).sum() / n
            for i in (rng.integers(0, n, n) for _ in range(1000))
        ]
        return np.quantile(draws, 0.975)

    if rows.classes > 2:
        return {
            "class-wise ECE": lambda: np.mean([ece(y == k, prob[:, k]) for k in range(rows.classes)]),
            "top-label ECE": top,
        }
    return {
        "ECE": lambda: ece(y, p),
        "test of ECE, 1000 draws": test,
        "percentile interval of ECE, 1000 draws": interval,
    }


def relplot(rows: Rows) -> Calls:
    from relplot.metrics import binnedECE, laplace_calibration_approx, smECE

    y, p = rows.y, rows.p
    return {
        "ECE": lambda: binnedECE(p, y, 15),
        "SmoothECE": lambda: smECE(p, y),
        "kernel error": lambda: laplace_calibration_approx(p, y),
    }


def scikit_learn(rows: Rows) -> Calls:
    from sklearn.calibration import _TemperatureScaling, calibration_curve
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import brier_score_loss, log_loss

    y, p, logit = rows.y, rows.p, rows.logit

    def temperature():
        return 1 / _TemperatureScaling().fit(np.log(rows.prob), y).beta_

    if rows.classes > 2:
        return {"temperature, fit": temperature}
    fitted = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    regression = LogisticRegression(C=np.inf)
    return {
        "reliability table": lambda: calibration_curve(y, p, n_bins=15)[0][0],
        "Brier score": lambda: brier_score_loss(y, p),
        "log loss": lambda: log_loss(y, p),
        "temperature, fit": temperature,
        "isotonic, fit": lambda: IsotonicRegression(out_of_bounds="clip").fit(p, y).increasing_,
        "isotonic, predict": lambda: fitted.predict(p).sum(),
        "Platt, fit": lambda: regression.fit(logit[:, None], y).coef_[0, 0],
    }


def uncertainty_calibration(rows: Rows) -> Calls:
    from calibration import get_calibration_error_uncertainties, get_ece

    if rows.classes > 2:
        return {"top-label ECE": lambda: get_ece(rows.prob, rows.y, num_bins=15)}
    return {
        "percentile interval of ECE, 100 draws": lambda: get_calibration_error_uncertainties(
            rows.p, rows.y, p=1, alpha=0.05
        )[2]
    }


def calzone_tool(rows: Rows) -> Calls:
    from calzone.metrics import CalibrationMetrics, cox_regression_analysis, spiegelhalter_z_test

    y, prob, metrics = rows.y, rows.prob, CalibrationMetrics(num_bins=15)
    if rows.classes > 2:
        return {}

    def interval(draws):
        found = metrics.bootstrap(y, prob, metrics=["ECE-H"], n_samples=draws)
        return np.quantile(found["ECE-H"], 0.975)

    return {
        "ECE": lambda: metrics.calculate_metrics(y, prob, metrics=["ECE-H"])["ECE-H"],
        "Spiegelhalter test": lambda: spiegelhalter_z_test(y, prob)[1],
        "Cox regression": lambda: cox_regression_analysis(y, prob)[0],
        "percentile interval of ECE, 1000 draws": lambda: interval(1000),
        "percentile interval of ECE, 100 draws": lambda: interval(100),
    }


def mapie(rows: Rows) -> Calls:
    from mapie.metrics import calibration

    y, p = rows.y, rows.p
    if rows.classes > 2:
        return {
            "class-wise ECE": lambda: calibration.expected_calibration_error(
                y, rows.prob, num_bins=16, split_strategy="uniform", classwise=True, class_labels=y
            )
        }
    return {
        "ECE": lambda: calibration.expected_calibration_error(y, p, num_bins=16, split_strategy="uniform"),
        "Kolmogorov–Smirnov test": lambda: calibration.kolmogorov_smirnov_p_value(y, p),
        "Kuiper test": lambda: calibration.kuiper_p_value(y, p),
        "Spiegelhalter test": lambda: calibration.spiegelhalter_p_value(y, p),
    }


def model_diagnostics(rows: Rows) -> Calls:
    from model_diagnostics.scoring import SquaredError, decompose

    if rows.classes > 2:
        return {}
    found = {"decomposition": lambda: decompose(rows.y, rows.p, scoring_function=SquaredError())}
    return {task: lambda call=call: call()["miscalibration"][0] for task, call in found.items()}


def scipy(rows: Rows) -> Calls:
    from scipy.stats import bootstrap

    y, p, bins = rows.y, rows.p, 15
    if rows.classes > 2:
        return {}

    def ece(y, p):
        cell = np.clip(np.ceil(p * bins).astype(np.int64) - 1, 0, bins - 1)
        return np.abs(np.bincount(cell, y - p, bins)).sum() / y.size

    def interval(draws):
        options = {"paired": True, "vectorized": False, "method": "percentile", "n_resamples": draws, "rng": 1}
        return bootstrap((y, p), ece, **options).confidence_interval.high

    return {
        "percentile interval of ECE, 1000 draws": lambda: interval(1000),
        "percentile interval of ECE, 100 draws": lambda: interval(100),
    }


def netcal(rows: Rows) -> Calls:
    from netcal.metrics import ECE
    from netcal.scaling import TemperatureScaling

    measure = ECE(15)
    if rows.classes > 2:
        return {"top-label ECE": lambda: measure.measure(rows.prob, rows.y)}
    return {
        "ECE": lambda: measure.measure(rows.p, rows.y),
        "temperature, fit": lambda: 1 / TemperatureScaling().fit(rows.p, rows.y).weights.item(),
    }


def torchmetrics(rows: Rows) -> Calls:
    import torch
    from torchmetrics.functional.classification import binary_calibration_error, multiclass_calibration_error

    torch.set_num_threads(1)
    prob, y, p = (torch.from_numpy(np.ascontiguousarray(part)) for part in (rows.prob, rows.y, rows.p))
    if rows.classes > 2:
        return {"top-label ECE": lambda: multiclass_calibration_error(prob, y, rows.classes, n_bins=15).item()}
    return {"ECE": lambda: binary_calibration_error(p, y, n_bins=15).item()}


PACKAGES = {
    "numpy": numpy,
    "scipy": scipy,
    "scikit-learn": scikit_learn,
    "relplot": relplot,
    "uncertainty-calibration": uncertainty_calibration,
    "calzone-tool": calzone_tool,
    "MAPIE": mapie,
    "model-diagnostics": model_diagnostics,
    "netcal": netcal,
    "torchmetrics": torchmetrics,
}
TORCH = ("netcal", "torchmetrics")
SIZES = {  # rows of an event, or rows and classes, at which a task is timed
    "ECE": (1000, 10_000, 100_000, 1_000_000),
    "reliability table": (100_000,),
    "SmoothECE": (10_000, 1_000_000),
    "kernel error": (10_000, 1_000_000),
    "Brier score": (1_000_000,),
    "log loss": (1_000_000,),
    "decomposition": (100_000,),
    "Kolmogorov–Smirnov test": (100_000,),
    "Kuiper test": (100_000,),
    "Spiegelhalter test": (100_000,),
    "Cox regression": (10_000,),
    "test of ECE, 1000 draws": (10_000,),
    "percentile interval of ECE, 1000 draws": (10_000,),
    "percentile interval of ECE, 100 draws": (1000,),
    "temperature, fit": (1_000_000, (10_000, 10)),
    "isotonic, fit": (1_000_000,),
    "isotonic, predict": (1_000_000,),
    "Platt, fit": (1_000_000,),
    "class-wise ECE": ((10_000, 10), (10_000, 1000)),
    "top-label ECE": ((10_000, 10), (10_000, 1000)),
}


def timed(call: Callable[[], float]) -> tuple[float, float]:
    """Return what a call gives and its CPU seconds."""
    start = time.process_time()
    value = call()
    return float(value), time.process_time() - start


def in_turn(calls: dict[str, Callable[[], float]]) -> dict[str, SimpleNamespace]:
    """Return value, least CPU seconds and, if it failed, why, of each call; all are called in turn."""
    found = {name: SimpleNamespace(value=np.nan, seconds=np.inf, failure="") for name in calls}
    repeats = {}
    for name, call in calls.items():
        try:
            found[name].value, found[name].seconds = timed(call)  # compiles, imports
            if name == "calibstat" or found[name].seconds < LONG:
                found[name].value, found[name].seconds = timed(call)
            repeats[name] = max(1, min(1000, int(0.003 / max(found[name].seconds, 1e-6))))
        except Exception as error:  # another package's own failure is its row
            found[name].failure = f"{type(error).__name__}: {error}".splitlines()[0][:120]
    for _ in range(ROUNDS):
        for name, call in calls.items():
            if found[name].failure or found[name].seconds > LONG:
                continue
            start = time.process_time()
            for _ in range(repeats[name]):
                call()
            found[name].seconds = min(found[name].seconds, (time.process_time() - start) / repeats[name])
    return found


def compared(packages: list[str]) -> Iterator[Row]:
    """Yield the rows of all tasks, size by size, so that each data set is made once."""
    by_size: dict[tuple[int, int], list[str]] = {}
    for task, sizes in SIZES.items():
        for size in sizes:
            by_size.setdefault(size if isinstance(size, tuple) else (size, 2), []).append(task)
    missing = {}
    for size, tasks in sorted(by_size.items()):
        rows = Rows(*size)
        calls: dict[str, Calls] = {"calibstat": calibstat(rows)}
        for name in packages:
            try:
                calls[name] = PACKAGES[name](rows)
            except Exception as error:  # not installed, or another version
                missing[name] = f"{type(error).__name__}: {error}".splitlines()[0][:120]
        for task in tasks:
            asked = {name: of[task] for name, of in calls.items() if task in of}
            found = in_turn(asked) if len(asked) > 1 else {"calibstat": None}
            ours = found.pop("calibstat")
            for name, theirs in found.items():
                numbers = theirs.value, ours.value, theirs.seconds, ours.seconds
                yield Row(task, rows.size, name, *numbers, theirs.failure or ours.failure)
    for name, reason in missing.items():
        yield Row("all", "", name, np.nan, np.nan, np.nan, np.nan, reason)


def versions(packages: list[str]) -> str:
    """Return the versions of the packages that are installed."""
    found = []
    for name in ["calibstat", *packages, *(["torch"] if set(packages) & set(TORCH) else [])]:
        try:
            found.append(f"{name} {cs.__version__ if name == 'calibstat' else version(name)}")
        except ImportError:
            continue
    return ", ".join(found)


def cells(row: Row) -> list[str]:
    """Return a row of the table."""
    if row.failure:
        return [row.task, row.size, row.package, "", "", "", row.failure]
    ratio = f"{row.ratio:.2f}" if row.ratio < 10 else f"{row.ratio:.0f}"
    return [row.task, row.size, row.package, f"**{ratio}**" if row.ratio < 1 else ratio,
            f"{row.our_seconds * 1e3:.3g}", f"{row.value:.5g}", f"{row.our_value:.5g}"]  # fmt: skip


def page(rows: list[Row], told: str) -> str:
    """Return the tables of the page: first where calibstat is behind, then everything else."""
    head = ["question", "rows", "package", "its time / ours", "ours, ms", "its value", "our value"]
    behind = sorted((row for row in rows if not row.failure and row.ratio < 1), key=lambda row: row.ratio)
    ahead = [row for row in rows if not row.failure and row.ratio >= 1]
    failed = [row for row in rows if row.failure]
    parts = [f"Versions: {told}.", "### Where calibstat is slower"]
    parts.append(markdown(head, [cells(row) for row in behind]) if behind else "Nowhere in this run.")
    parts += ["### Where it is as fast or faster", markdown(head, [cells(row) for row in ahead])]
    if failed:
        reasons = [[row.task, row.size, row.package, row.failure] for row in failed]
        parts += ["### Not timed", markdown([*head[:3], "reason"], reasons)]
    return "\n\n".join(parts)


def stored() -> tuple[list[Row], str]:
    """Return the rows that were stored, with the versions."""
    if not STORED.exists():
        return [], ""
    with STORED.open(newline="") as file:
        told = file.readline().removeprefix("# ").partition(". Made by")[0].strip()
        found = []
        for entry in csv.DictReader(file):
            numbers = {name: float(entry.pop(name)) for name in ("value", "our_value", "seconds", "our_seconds")}
            found.append(Row(**entry, **numbers))
    return found, told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", nargs="+", choices=PACKAGES, default=[p for p in PACKAGES if p not in TORCH])
    parser.add_argument("--store", type=Path, help="write the rows to this CSV")
    parser.add_argument("--write", type=Path, help="put the tables into this page")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, told = [], versions(arguments.packages)
    for row in compared(arguments.packages):
        print("  ".join(cells(row)), flush=True)
        rows.append(row)
    if arguments.store:
        with arguments.store.open("w", newline="") as file:
            file.write(f"# {told}. {made_by()}\n")
            writer = csv.DictWriter(file, list(asdict(rows[0])), lineterminator="\n")
            writer.writeheader()
            writer.writerows({name: f"{v:.6g}" if isinstance(v, float) else v for name, v in asdict(row).items()}
                             for row in rows)  # fmt: skip
    if arguments.write:
        others, told_of_others = stored()
        apart = f"; of an earlier run: {told_of_others}" if others else ""
        put_in_page(arguments.write, "peers", page(rows + others, told + apart))


if __name__ == "__main__":
    main()
