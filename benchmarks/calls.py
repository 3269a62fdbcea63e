"""Calls of the public functions as a user writes them: whatever rows, questions and options, also what is refused.

``python benchmarks/calls.py OLD_CHECKOUT [NEW_CHECKOUT] [--n-jobs 2]`` compares two checkouts as `paired_run` does.
Calls are written in the words of before, of which `spellings` says what they are now.
"""

import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

from rows_of_calls import rows
from spellings import spelled

import calibstat as cs

LEAST = 1142  # calls that are known to have an answer
FEW, FEWER = "n_resamples=39, rng=1", "n_resamples=19, rng=1"


def each(word: str, *values: object) -> list[str]:
    """Write an argument with each of these values."""
    return [f"{word}={value!r}" for value in values]


def asked(verb: str, *parts: str | list[str]) -> list[str]:
    """Write a call of a verb for each combination of choices among its arguments; a text is the only choice."""
    choices = product(*([part] if isinstance(part, str) else part for part in parts))
    return [f"cs.{verb}({', '.join(filter(None, arguments))})" for arguments in choices]


# --- rows, by the names of `rows_of_calls` ---------------------------------------------------------------------------

PLAIN, CLUSTERS, WEIGHTS = "y, p", "y, p, cluster=c", "y, p, sample_weight=w"
EVENT = [PLAIN, WEIGHTS, CLUSTERS, "y, p, sample_weight=w, cluster=c"]
FOLDS = "y, p, folds=f"
OUT_OF_FOLDS = [FOLDS, "y, pp, folds=ff", "y, p, folds=fc, cluster=c", "y, pp, folds=ffc, cluster=c"]
JUDGED = ["few, p, proxy=j", "few, p, proxy=j, inclusion=i", "few, p, proxy=j, cluster=k"]
BLIND = ["few, p, proxy=j, blind=True", "few, p, proxy=j, blind=True, cluster=k"]
NOISE = [*BLIND, "few, p, proxy=j, inclusion=i, blind=True"]
LUCKY = ["z, s", "z, s, sample_weight=w", "z, s, cluster=c", "z, s, folds=f"]
COUNTED = ["counts", "real"]
MODELS = ["y, ab", "y, ab, sample_weight=w", "y, ab, cluster=c", "y, ab, sample_weight=w, cluster=c"]
SAID = [  # the same rows in other forms
    "words, p, pos_label='yes'",
    "words, p, labels=['no', 'yes']",
    "y.tolist(), p.tolist()",
    "y, table",
    "words, ab, pos_label='no', cluster=c",
    "cs.Data(y, p)",
    "cs.Data(y, p, cluster=c, sample_weight=w)",
    "cs.Data(y, p, folds=f)",
    "cs.Data(words, p, pos_label='yes')",
    "cs.Data(label, v, lens='class_wise')",
    "cs.Models(y, ab, cluster=c)",
    "cs.Models(y, ab, sample_weight=w)",
    "cs.Models(y, ab, folds=f)",
]
VECTORS = "label, v"
CLASSES = [VECTORS, "label, v, sample_weight=w", "label, v, cluster=c", "names, v, labels=['a', 'b', 'c']"]

# --- what is asked ----------------------------------------------------------------------------------------------------

ERRORS = each("measure", "ece", "ks", "kernel_ce", "brier")
MEASURES = ["", *ERRORS, *each("measure", "smooth_ece", "mcb", "average_ce")]
OF_CLASSES = each("measure", "ece", "ks", "brier", "kernel_ce", "mcb")
OF_VECTORS = each("measure", "canonical_ce", "gce", "skce", "brier")
OPTIONS = [
    "measure='ece', n_bins=5, strategy='quantile'",
    "measure='ece', norm='l2'",
    "measure='kernel_ce', bandwidth=0.2",
    "measure=cs.measures.KS()",
    "measure='own_tail'",
    "measure='own_sum'",
    "measure='log_loss', clip=0.01",
    "measure='kernel_ce_squared'",
    "measure='regression_ce'",
]
ONE_EVENT = ["", "lens='top_label'", "lens=cs.lenses.one_class(1)"]
REDUCED = ["lens='class_wise', reduce='mean'", "lens='class_wise', reduce='max'"]
LENSES = [*ONE_EVENT, *REDUCED, "lens='class_wise'"]
JOINTLY = ["lens='canonical'", "lens=cs.lenses.groups([[0, 2], [1]])", "lens=cs.lenses.top_k(2)"]
BANDS = ["consistency", "confidence", "monotone", "binomial", "pointwise_consistency", "pointwise_confidence", None]
THROUGH = ["", "lens='class_wise'", "lens='canonical'"]

# --- calls ------------------------------------------------------------------------------------------------------------

TESTS = [
    *asked("calibration_test", EVENT + OUT_OF_FOLDS, MEASURES, FEW),
    *asked("calibration_test", BLIND, ["", "use='direction'"], ["", *ERRORS], FEW),
    *asked("calibration_test", NOISE, "use='noise'", ["", *ERRORS], FEW),
    *asked("calibration_test", CLASSES, LENSES, OF_CLASSES, FEWER),
    *asked("calibration_test", VECTORS, LENSES[2:], ["stop_after=5", "null=mapped"], "measure='ece'", FEW),
    *asked("calibration_test", VECTORS, JOINTLY, OF_VECTORS, FEWER),
    *asked("calibration_test", LUCKY, ["", *ERRORS[:3]], FEW),
    *asked("calibration_test", COUNTED + MODELS + SAID, ["", "measure='ks'"], FEW),
    *asked("calibration_test", PLAIN, ["lens='class_wise'", *OPTIONS], FEW),
    *asked(
        "calibration_test",
        [*EVENT, FOLDS, BLIND[0], VECTORS],
        ["null=mapped", "resample='both'", "stop_after=5", "method='sign_flip'"],
        each("measure", "ece", "ks"),
        FEW,
    ),
]
INTERVALS = [
    *asked("confidence_interval", EVENT, MEASURES, ["", "method='percentile'"], FEW),
    *asked("confidence_interval", [*EVENT, FOLDS, JUDGED[0]], each("method", "basic", "bca", "bracket"), FEW),
    *asked("confidence_interval", OUT_OF_FOLDS, MEASURES, FEW),
    *asked("confidence_interval", OUT_OF_FOLDS, each("learner", "any", "smooth"), FEW),
    *asked("confidence_interval", JUDGED, ["", *ERRORS], FEW),
    *asked("confidence_interval", CLASSES, ONE_EVENT + REDUCED, OF_CLASSES, FEWER),
    *asked("confidence_interval", VECTORS, JOINTLY, OF_VECTORS, FEWER),
    *asked("confidence_interval", COUNTED + MODELS + SAID, ["", "measure='ks'"], FEW),
    *asked("confidence_interval", PLAIN, OPTIONS, FEW),
    *asked("confidence_interval", EVENT + LUCKY, ERRORS, "confidence_level=0.5", FEW),
    *asked(
        "confidence_interval",
        [PLAIN, WEIGHTS, CLUSTERS, FOLDS, VECTORS],
        "measure='l1'",
        ["shape='nondecreasing'", "shape=cs.Slope(3.0)", "shape='nondecreasing', method='proven'", ""],
        FEWER,
    ),
    *asked(
        "confidence_interval",
        PLAIN,
        each("measure", "lower_distance", "interval_ce", "upper_distance", "ece"),
        "method='bracket'",
        FEWER,
    ),
]
COMPARISONS = [
    *asked("compare", MODELS, MEASURES, FEWER),
    *asked("compare", MODELS, "method='swap'", each("measure", "ks", "ece"), FEWER),
    *asked("compare", "y, abc", ["reference='b'", "adjust='bh'", "confidence_level=0.5"], FEWER),
    *asked("compare", "y, ab, cluster=c, unseen='rows'", ["", "measure='kernel_ce_squared'", "measure='ks'"], FEWER),
    *asked("compare", "few, ab, proxy=j", ["", *ERRORS], FEWER),
    *asked("compare", ["y, ab, folds=f", "y, ab, folds=fc, cluster=c"], ["", *ERRORS, "method='swap'"], FEWER),
    *asked("compare", "samples", MEASURES, FEWER),
    *asked("compare", "label, vu", ONE_EVENT + REDUCED, OF_CLASSES, FEWER),
    *asked("compare", "label, vu, cluster=c", ONE_EVENT + REDUCED, each("measure", "ks", "brier"), FEWER),
    *asked("compare", "label, vu", JOINTLY, each("measure", "canonical_ce", "brier", "ks"), FEWER),
    *asked("compare", ["cs.Models(y, ab, cluster=c)", "words, ab, pos_label='yes'"], FEWER),
]
ESTIMATES = [
    *asked("estimate", [PLAIN, WEIGHTS, "counts", "real", "y, ab"], MEASURES),
    *asked("estimate", CLASSES[:2], LENSES, ["", *OF_CLASSES]),
    *asked("estimate", VECTORS, JOINTLY, OF_VECTORS),
    *asked("estimate", PLAIN, OPTIONS),
    *asked("estimate", SAID),
    *asked("detail", [PLAIN, WEIGHTS, VECTORS], each("measure", "ece", "ks")),
]
PICTURES = [
    *asked(
        "reliability",
        [*EVENT, "counts", VECTORS],
        each("band", *BANDS),
        "n_bins=5, interval=False, n_resamples=99, rng=1",
    ),
    *asked("reliability", EVENT, each("strategy", "uniform", "quantile", "tree", [0.3, 0.6]), "rng=1"),
    *asked("reliability", CLASSES, THROUGH, "interval=False, rng=1"),
    *asked("reliability", [PLAIN, CLUSTERS], ["level=0.8", "null=mapped", "shape='nondecreasing'"], FEW),
    *asked("reliability", SAID, "interval=False, rng=1"),
]
REPORTS = [
    *asked("report", [*EVENT, LUCKY[0], FOLDS, JUDGED[0], "y, ab", "y, ab, folds=f", "counts", SAID[0], *SAID[-3:]]),
    *asked("report", [VECTORS, "label, v, cluster=c"], THROUGH),
    *asked(
        "report", PLAIN, ["by=masks", "recalibrate=True", "shape='nondecreasing'", "confidence_level=0.8, title='t'"]
    ),
    *asked("report", [FOLDS, CLUSTERS, JUDGED[0]], ["by=masks", "recalibrate=True", "shape='nondecreasing'"]),
]
AUDITS = [
    *asked("audit", PLAIN, ["frame", "masks", "masks['even']"], ["", "shape=True", "confidence_level=0.8"], FEW),
    *asked("audit", PLAIN, "frame", ["depth=1", "min_rows=10", "n_quantiles=2", "depth=1, min_rows=5", "depth=0"], FEW),
    *asked("audit", "y, ab", ["masks", "frame, depth=1, min_rows=5, n_quantiles=3"], FEW),
    *asked("audit", VECTORS, "masks", [*ONE_EVENT, "lens='class_wise'"], FEW),
    *asked("audit", ["words, p, masks, pos_label='yes'", "counts, None, masks", PLAIN], FEW),
    *asked("audit_samples", "by_site, 'site'", ["depth=1", "min_rows=10", "shape=True"], FEW),
]
OTHERS = [
    *asked("equivalence_test", [*EVENT, *COUNTED], "margin=0.2", each("by", "bins", "ks", "ece", "brier"), FEW),
    *asked("equivalence_test", [VECTORS, SAID[0], "y, ab"], ["", "level=0.2", "by='ks'", "by='ks', level=0.2"], FEW),
    *asked(
        "decision_loss", [*EVENT, *COUNTED, VECTORS, "y, ab"], "thresholds=[0.1, 0.3, 0.6]", ["", "gain=2, cost=1"], FEW
    ),
    *asked("net_benefit", [*EVENT, *COUNTED, VECTORS, "y, ab"], "thresholds=[0.1, 0.3, 0.6]"),
    *asked("risk_coverage", [PLAIN, "counts", VECTORS, "y, ab"], ["", "max_error=0.2"]),
    *asked("decompose", [*EVENT, "counts", VECTORS], each("method", "corp", "sharpness", "murphy"), ["", FEW]),
    *asked("decompose", [PLAIN, "y, sure"], each("score", "brier", "log_loss", "spherical")),
    *asked("sharpness", [PLAIN, "counts", VECTORS, "y, ab"], "n_points=11", ["", "divergence='log_loss'"]),
    *asked("sharpness", "y, sure"),
    *asked(
        "summarize", ["y, ab", "label, vu", "y, ab, cluster=c", "y, ab, sample_weight=w"], ["", "reference='b'"], FEW
    ),
    *asked("choose", MODELS, "subject_to=['kernel_ce.high <= 0.3', 'ks.high <= 0.5']", ["", "best='log_loss'"], FEW),
    *asked("choose", "y, ab", ["", *each("subject_to", "ks.high <= 0.01", "ks.low <= 0.1", "brier.high <= 0.4")], FEW),
    *asked("validate", [*EVENT, "counts", VECTORS, "y, ab", *SAID]),
    *asked("cox", [PLAIN, "counts", VECTORS], ["", "held_out=True"]),
    *asked("hosmer_lemeshow", [PLAIN, "counts"], ["held_out=True", "held_out=False, fitted_params=2"]),
    *asked("calibration_belt", [PLAIN, "counts"], "held_out=True"),
    *asked("t_cal", [PLAIN, VECTORS], FEW),
    *asked("kernel_calibration_test", [PLAIN, VECTORS], each("method", "asymptotic", "block", "linear"), FEW),
    *(call for verb in ("spiegelhalter", "kuiper", "kolmogorov_smirnov") for call in asked(verb, [PLAIN, VECTORS])),
    *asked("expected_calibration_error", [PLAIN, WEIGHTS], ["", "n_bins=5, strategy='quantile', norm='max'"]),
    *asked("gce_family", [PLAIN, VECTORS, "label, vu"], ["", "n_bins=5, ties='split'"]),
    *asked("generalization_gap", "(y, p), (y, q)", ["", "measure='ks'", "measure='brier'"], FEW),
    *asked("recalibration.choose", ["p, y", "v, label", "p, y, sample_weight=w"], "cv=2, repeats=2, rng=1"),
    *asked("recalibration.choose", "p, words", "labels=['no', 'yes'], cv=2, repeats=2, rng=1"),
    *asked("scorer", ["", *OF_CLASSES[:2]], ["", "lens='class_wise', reduce='mean'", "lens='class_wise'"]),
]
PLANS = [
    *asked("detectable_effect", [PLAIN, WEIGHTS, VECTORS], each("measure", "ks", "ece"), "n_datasets=20", FEW),
    *asked("detectable_effect", VECTORS, REDUCED + THROUGH[1:], "measure='ks', n_datasets=20", FEW),
    *asked("power", ["p", "p, 'temperature=2'"], ["test='ks'", "test='cox'"], "n_datasets=20", FEW),
    *asked("power", "p, 'shift=0.5'", ["n=50", "n=[50, 100]", "level=0.2"], "n_datasets=20, n_sets=2", FEW),
    *asked("sample_size", "p, 'temperature=2'", ["test='ks'", "test='cox'"], "n_datasets=20, n_sets=2", FEW),
    *asked("sample_size", "p", ["width=0.2", "width=0.2, of='slope'", "width=0.2, of='ks', n_sets=2"], FEW),
    *asked("sample_size", "p", "width=0.2, of='ks', n_sets=2, proxy_share=0.5", ["proxy_rows=5000", ""], FEW),
    *asked("cross_validate", "logistic(), x, y", ["", *each("learner", "any", "smooth")], "repeats=1, rng=1"),
    *asked(
        "cross_validate",
        "logistic(), x, y",
        ["cv=f", "groups=c, repeats=1", "measure='ks', repeats=1"],
        "rng=1",
    ),
    *asked("grouping_loss", "logistic(), x, y, p", ["", "score='log_loss'"], "rng=1"),
]
REFUSED = [
    *asked("calibration_test", PLAIN, ["mesure='ks'", "n_resample=9", "measure='kss'", "n_bins=5", "lens='top'"]),
    *asked("calibration_test", PLAIN, ["resample='rows'", "use='noise'", "method='bias'", "inclusion=i", "blind=True"]),
    *asked("calibration_test", PLAIN, ["n_resamples=0", "rng='x'", "stop_after=0", "reduce='mean'"]),
    *asked("calibration_test", PLAIN, ["cluster=c[:-1]", "sample_weight=-w", "folds=0 * f", "pos_label='maybe'"]),
    *asked("calibration_test", FOLDS, ["stop_after=3", "lens='canonical'", "sample_weight=w"]),
    *asked("calibration_test", "few, p, proxy=j", ["", "use='both'", "blind=False", "blind=True, folds=f"]),
    *asked("calibration_test", ["y, -p", "y[:-1], p", "y * 2, p", "y", "few, p", "y, p.tolist() * 2", "words, p"]),
    *asked("calibration_test", "cs.Data(y, p)", ["p", "cluster=c", "sample_weight=w", "pos_label=1", "proxy=j"]),
    *asked(
        "confidence_interval", PLAIN, ["method='boot'", "confidence_level=2", "n_jobs=0", "inclusion=i", "level=0.9"]
    ),
    *asked("confidence_interval", PLAIN, ["learner='smooth'", "measure='l1', shape='up'"]),
    *asked("confidence_interval", FOLDS, ["method='percentile'", "learner='rough'", "n_bins=5"]),
    *asked("confidence_interval", JUDGED[0], ["method='percentile'", "lens='top_label'", "sample_weight=w"]),
    *asked("confidence_interval", VECTORS, "lens='class_wise'", ["", "reduce='median'", "folds=f"]),
    *asked("compare", ["y, p", "y, {'a': p}", "samples, cluster=c", "y, ab, unseen='rows'"]),
    *asked("compare", "y, ab", ["reference='z'", "adjust='none'", "method='paired'", "folds=f[:9]", "proxy=j"]),
    *asked("reliability", PLAIN, ["band='wide'", "level=0", "n_bins=0", "shape='up'", "n_bin=5"]),
    *asked("audit", PLAIN, "masks", ["n_quantiles=1", "min_rows=0", "cluster=c", "sample_weight=w", "depht=2"]),
    *asked("report", PLAIN, ["measure='ks'", "recalibrate='platt'", "by=[1, 2]"]),
    *(call for verb in ("estimate", "confidence_interval", "report", "audit") for call in asked(verb, "y")),
    *asked("validate", ["y", "y, sure"]),
    *(call for verb in ("cox", "calibration_belt") for call in asked(verb, "y, sure", "held_out=True")),
    *asked("decompose", "y, sure", "score='log_loss', method='sharpness'"),
]


def texts() -> list[str]:
    """Return all calls in the words of before."""
    groups = (TESTS, INTERVALS, COMPARISONS, ESTIMATES, PICTURES, REPORTS, AUDITS, OTHERS, PLANS, REFUSED)
    return list(dict.fromkeys(call for group in groups for call in group))


def calls() -> dict[str, Callable[[], Any]]:
    """Return all calls by their texts, in the words that this checkout knows."""
    names = {"cs": cs, **rows()}
    return {text: partial(eval, spelled(text), names) for text in texts()}


if __name__ == "__main__":
    from paired_run import main

    sys.exit(main("calls", LEAST))
