"""The intervals and p-values of several packages, as their documentation says to ask for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType

import numpy as np

import calibstat as cs

from . import r_answers

Said = tuple[float, ...]  # a p-value; or an estimate and the ends of its interval
Ask = Callable[[np.ndarray, np.ndarray, int], Said]


@dataclass(frozen=True)
class Answer:
    """A question that a package answers of outcomes (or classes) and predictions.

    Attributes
    ----------
    package, call : str
        The distribution on the package index, or the package of R, and what is called.
    claim : str
        What its documentation says of the answer, quoted.
    ask : callable
        Returns the answer of outcomes, predictions and a seed.
    estimand : str
        What the interval is about, a name of `peer_truths.TRUTHS`; empty of a p-value that a model is calibrated.
    seconds : tuple of float
        Processor seconds of one answer with 300 and 2000 rows, as measured once.
    classes : bool
        Whether it takes three classes as well.
    """

    package: str
    call: str
    claim: str
    ask: Ask
    estimand: str
    seconds: tuple[float, float]
    classes: bool = False


def _calibstat(measure: str) -> Ask:
    def ask(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
        lens = {} if p.ndim == 1 else {"lens": "top_label"}
        found = cs.confidence_interval(y, p, measure=measure, rng=seed, **lens)  # type: ignore[call-overload]
        return found.estimate, found.low, found.high

    return ask


def _calibstat_test(**options: str) -> Ask:
    def ask(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
        lens = {} if p.ndim == 1 else {"lens": "top_label"}
        return (cs.calibration_test(y, p, rng=seed, **options, **lens).pvalue,)  # type: ignore[call-overload]

    return ask


def _calibstats(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
    calibstats = import_module("calibstats")
    found = calibstats.bootstrap_ci(p, y, calibstats.ece, seed=seed)
    return found.estimate, found.low, found.high


def _calibstats_difference(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
    calibstats = import_module("calibstats")
    few = y.size // 10  # a group with a tenth of the rows, of the same law as the others
    return (calibstats.ece_difference_test(p[:few], y[:few], p[few:], y[few:], seed=seed).p_value,)


def _calibstat_difference(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
    few = y.size // 10
    lens = {} if p.ndim == 1 else {"lens": "top_label"}
    samples = {"A": (y[:few], p[:few]), "B": (y[few:], p[few:])}
    return (float(cs.compare(samples, measure="ece", rng=seed, **lens).pvalue.item()),)  # type: ignore[arg-type]


def _reliably(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
    reliably = import_module("reliably")
    found = reliably.metrics.ece(y, p, seed=seed)
    return found.value, found.ci.low, found.ci.high


def _uncertainty_calibration(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
    calibration = import_module("calibration")
    np.random.seed(seed % 2**32)  # noqa: NPY002 - the package draws from NumPy's global state
    low, middle, high = calibration.get_calibration_error_uncertainties(p, y, alpha=0.05)
    return middle, low, high


def _relplot(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
    relplot = import_module("relplot")
    np.random.seed(seed % 2**32)  # noqa: NPY002
    found = relplot.prepare_rel_diagram(p, y, plot_confidence_band=False)
    return found["ce"], found["ce"] - found["ce_ci_width"], found["ce"] + found["ce_ci_width"]


def _calzone(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
    calzone = import_module("calzone.metrics")
    np.random.seed(seed % 2**32)  # noqa: NPY002
    both, metrics = np.stack([1 - p, p], axis=1), calzone.CalibrationMetrics(class_to_calculate=1)
    estimate = metrics.calculate_metrics(y, both, ["ECE-H"], return_numpy=False)["ECE-H"]
    drawn = metrics.bootstrap(y, both, ["ECE-H"], n_samples=1000)["ECE-H"]
    return (float(estimate), *(float(end) for end in np.percentile(drawn, [2.5, 97.5])))


def _calzone_test(which: str) -> Ask:
    def ask(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
        calzone = import_module("calzone.metrics")
        both, metrics = np.stack([1 - p, p], axis=1), calzone.CalibrationMetrics(class_to_calculate=1)
        found = metrics.calculate_metrics(y, both, [which], return_numpy=False)
        return (float(next(value for key, value in found.items() if key.endswith("p-value"))),)

    return ask


def _scikit_learn(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
    from scipy.stats import bootstrap
    from sklearn.calibration import calibration_curve

    edges = np.linspace(0, 1, 16)

    def ece(p: np.ndarray, y: np.ndarray) -> float:
        true, predicted = calibration_curve(y, p, n_bins=15)
        count = np.bincount(np.searchsorted(edges[1:-1], p), minlength=15)
        return float(count[count > 0] @ np.abs(true - predicted) / p.size)

    found = bootstrap((p, y), ece, paired=True, vectorized=False, n_resamples=999, rng=np.random.default_rng(seed))
    return ece(p, y), found.confidence_interval.low, found.confidence_interval.high


def _mapie(which: str) -> Ask:
    def ask(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
        calibration = import_module("mapie.metrics.calibration")
        return (float(getattr(calibration, f"{which}_p_value")(y, p)),)

    return ask


def _model_diagnostics(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
    diagnostics = import_module("model_diagnostics.calibration")
    return (float(diagnostics.compute_bias(y_obs=y, y_pred=p)["p_value"][0]),)


def _statsmodels(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
    from statsmodels.stats.diagnostic_gen import test_chisquare_binning

    both = (np.stack([1 - each, each], axis=1) for each in (y, p))
    return (float(test_chisquare_binning(*both, sort_var=p, bins=10, df=None).pvalue),)


def _mcgrad(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
    metrics = import_module("mcgrad.metrics")
    return (float(metrics.ecce_pvalue(y, p)),)


def _rms(name: str) -> Ask:
    def ask(y: np.ndarray, p: np.ndarray, seed: int) -> Said:
        return (r_answers.val_prob(y, p, name),)

    return ask


HONEST = "the true value is below the low end, or above the high end, with a probability of about .025 at most"
EXACT = "the level is exact given the predictions"
ANSWERS = (
    Answer("calibstat", "confidence_interval, ece", HONEST, _calibstat("ece"), "ece, (a, b]", (0.01, 0.02), True),
    Answer(
        *("calibstat", "confidence_interval, smooth_ece", HONEST, _calibstat("smooth_ece"), "smooth_ece"),
        *((0.12, 0.13), True),
    ),
    Answer(
        "calibstats",
        "bootstrap_ci, ece",
        "every metric as estimate ± CI",
        _calibstats,
        "ece, [a, b)",
        (0.16, 0.4),
        True,
    ),
    Answer(
        "reliably-metrics",
        "metrics.ece",
        "every metric carries a confidence interval",
        _reliably,
        "ece, (a, b], of the predicted class",
        (0.56, 1.2),
        True,
    ),
    Answer(
        "uncertainty-calibration",
        "get_calibration_error_uncertainties",
        "1-alpha confidence intervals produced by bootstrap resampling",
        _uncertainty_calibration,
        "l2 over equal masses",
        (0.07, 0.32),
    ),
    Answer(
        "relplot",
        "prepare_rel_diagram, ce_ci_width",
        "Width of 95% confidence interval on calibration error (bootstrap estimate).",
        _relplot,
        "smooth_ece",
        (0.8, 0.7),
    ),
    Answer(
        "calzone-tool",
        "CalibrationMetrics.bootstrap, ECE-H",
        "Run bootstrap (percentiles of 1000 resamples)",
        _calzone,
        "ece of ten bins, (a, b]",
        (0.25, 0.82),
    ),
    Answer(
        "scikit-learn",
        "calibration_curve with scipy.stats.bootstrap",
        "scipy: a two-sided bootstrap confidence interval (BCa), here of 999 resamples",
        _scikit_learn,
        "ece, (a, b]",
        (0.85, 2.0),
    ),
    Answer("calibstat", "calibration_test", EXACT, _calibstat_test(), "", (0.04, 0.05), True),
    Answer("calibstat", "calibration_test, ece", EXACT, _calibstat_test(measure="ece"), "", (0.002, 0.003), True),
    Answer("MAPIE", "kolmogorov_smirnov_p_value", "p-value", _mapie("kolmogorov_smirnov"), "", (0.002, 0.002)),
    Answer("MAPIE", "kuiper_p_value", "p-value", _mapie("kuiper"), "", (0.002, 0.002)),
    Answer("MAPIE", "spiegelhalter_p_value", "p-value", _mapie("spiegelhalter"), "", (0.001, 0.001)),
    Answer("calzone-tool", "Hosmer-Lemeshow, HL-C", "p-value", _calzone_test("HL-C"), "", (0.003, 0.005)),
    Answer(
        "model-diagnostics",
        "compute_bias",
        "p-value of the 2-sided t-test",
        _model_diagnostics,
        "",
        (0.004, 0.004),
    ),
    Answer("statsmodels", "test_chisquare_binning", "Hosmer-Lemeshow type", _statsmodels, "", (0.003, 0.003)),
    Answer(
        "calibstats",
        "ece_difference_test of a group of a tenth",
        "evidence rather than eyeballing two point estimates",
        _calibstats_difference,
        "",
        (0.3, 0.6),
        True,
    ),
    Answer(
        "calibstat",
        "compare, ece, of a group of a tenth",
        "approximate: a score bound of the difference",
        _calibstat_difference,
        "",
        (0.02, 0.03),
        True,
    ),
    Answer(
        "rms",
        "val.prob, U:p",
        "chi-square with 2 d.f. for testing unreliability (H0: intercept=0, slope=1), its P-value",
        _rms("U:p"),
        "",
        (0.005, 0.02),
    ),
    Answer(
        "rms",
        "val.prob, S:p",
        "the Spiegelhalter Z-test for calibration accuracy, and its two-tailed P-value",
        _rms("S:p"),
        "",
        (0.005, 0.02),
    ),
    Answer(
        "mcgrad",
        "metrics.ecce_pvalue",
        "Tests the null hypothesis that predictions are perfectly calibrated using the Kuiper test.",
        _mcgrad,
        "",
        (0.0005, 0.0005),
    ),
)


def answer(asked: Answer, y: np.ndarray, p: np.ndarray, seed: int) -> Said | str:
    """Return what the package says, or the first line of why it says nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            said = tuple(float(each) for each in asked.ask(y, p, seed))
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0][:80] if str(error) else ''}"
    return said if all(np.isfinite(said)) else "not a finite number"


def versions() -> Mapping[str, str]:
    """Return the installed version of each package; none of one that is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in dict.fromkeys(each.package for each in ANSWERS):
        try:
            known = r_answers.version() if package == "rms" else version(package)
        except PackageNotFoundError:
            continue
        if known is not None:
            found[package] = known
    return MappingProxyType(found)
