"""Write cases-1.json: 500 small data sets, and what 50 measures and tests exactly are on them.

Run ``python make_cases.py`` in this folder, in any Python from 3.11 on. It takes nothing but the standard library, no
numbers at random, and writes the same bytes each time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from decimal import localcontext
from fractions import Fraction
from itertools import cycle, islice
from pathlib import Path

from exact import binned, classes, classical, enumeration, programmes, scores, sums_of_residuals
from exact.classes import ClassRows
from exact.decimals import Real, decimal
from exact.inputs import Case, binary, of_classes
from exact.rows import Rows

HERE = Path(__file__).parent
EACH = 10  # cases of every measure
ALL = ["ties", "zero_and_one", "weights", "one_row", "rare", "constant", "no_event", "on_edges", "decimals", "many"]
NO_WEIGHTS = [*(kind for kind in ALL if kind != "weights"), "distinct"]
SMALL = ["few", "ties", "zero_and_one", "weights", "one_row", "constant", "no_event", "on_edges", "few", "weights"]
INSIDE = ["ties", "constant", "distinct", "decimals", "many", "ties", "distinct", "decimals", "rare", "many"]
BOTH = [*INSIDE[:7], "weights", "weights", "separated"]  # of which both outcomes were observed
UNEQUAL = [*BOTH[:7], "separated", "zero_and_one", "certain_and_wrong"]
SLOPED = ["ties", "distinct", "decimals", "many", "ties", "decimals", "many", "distinct", "many", "decimals"]
DRAWN = ["ties", "few", "zero_and_one", "one_row", "no_event", "constant", "on_edges", "separated", "few", "weights"]
OF_CLASSES = ["ties", "zero_and_one", "weights", "one_row", "rare", "constant", "four_classes", "distinct"]
UNWEIGHTED_CLASSES = [kind for kind in OF_CLASSES if kind != "weights"]

BINS = [  # in the order of ALL
    {"n_bins": 5, "strategy": "quantile"},
    {"n_bins": 4},
    {"n_bins": 8},
    {"n_bins": 15},
    {"n_bins": None},
    {"strategy": [0.25, 0.5, 0.875]},
    {"n_bins": "cube_root"},
    {"n_bins": 8},
    {"n_bins": 10},
    {"n_bins": 3, "strategy": "quantile"},
]
PLAIN = [{"n_bins": bins} for bins in (4, 8, 10, 15, 5, 20, 8, 10)]
DEBIASED = [*BINS[:2], *({"n_bins": bins, "variant": "kumar"} for bins in (4, 8)), {"n_bins": 10}]
KERNELS = [{}, {"kernel": "gaussian"}, {"bandwidth": 0.25}, {"kernel": "gaussian", "bandwidth": 0.125}]
GENERAL = [
    {"n_bins": 4},
    {"n_bins": 3, "binning": "adaptive"},
    {"n_bins": 4, "norm": "l2"},
    {"n_bins": 4, "max_prob": True, "class_conditional": False},
    {"n_bins": 5, "threshold": 0.125},
    {"n_bins": 4, "binning": "adaptive", "max_prob": True, "class_conditional": False, "norm": "l2"},
    {"n_bins": 4, "max_prob": True},
    {"n_bins": None},
    {"n_bins": 2, "binning": "adaptive", "threshold": 0.0625},
]
SKCE = [
    {},
    {"statistic": "U"},
    {"statistic": "linear"},
    {"statistic": "block", "block_size": 3},
    {"kernel": "gaussian", "distance": "euclidean"},
    {"distance": "euclidean", "bandwidth": 0.5},
]
SEVERAL = ["ties", "zero_and_one", "rare", "constant", "four_classes", "distinct"]  # rows
STATISTICS: dict[str, Callable[[Rows], Fraction]] = {
    "ks": sums_of_residuals.ks,
    "kuiper": sums_of_residuals.kuiper,
    "ece": lambda rows: binned.ece(rows, n_bins=4),
    "mcb": programmes.mcb,
    "decision_loss": sums_of_residuals.decision_loss,
}


def exact_pvalue(rows: Rows, statistic: str) -> Fraction:
    """Return the exact p-value of a measure; "ece" has four bins."""
    return enumeration.exact_pvalue(rows, STATISTICS[statistic])


Row = tuple[Callable[..., Real], list[str], list[dict]]
QUANTITIES: dict[str, Row] = {
    "ece": (binned.ece, ALL, BINS),
    "rmsce": (binned.rmsce, ALL, BINS),
    "mce": (binned.mce, ALL, BINS),
    "average_ce": (binned.average_ce, NO_WEIGHTS, PLAIN),
    "ece_width": (binned.ece_width, ALL, PLAIN),
    "ece_debiased": (binned.ece_debiased, NO_WEIGHTS, DEBIASED),
    "t_cal_squared_error": (binned.t_cal_squared_error, [k for k in NO_WEIGHTS if k != "one_row"], PLAIN),
    "ks": (sums_of_residuals.ks, ALL, [{}]),
    "kuiper": (sums_of_residuals.kuiper, ALL, [{}]),
    "decision_loss": (sums_of_residuals.decision_loss, ALL, [{}]),
    "two_bin_ce": (sums_of_residuals.two_bin_ce, ALL, [{}]),
    "kernel_ce": (sums_of_residuals.kernel_ce, ALL, [*KERNELS, {"bandwidth": 2.0}]),
    "kernel_ce_squared": (sums_of_residuals.kernel_ce_squared, NO_WEIGHTS, [*KERNELS, {"bandwidth": 2.0}]),
    "smooth_ce": (programmes.smooth_ce, [k for k in ALL if k != "many"] + ["distinct"], [{}]),
    "interval_ce": (programmes.interval_ce, ALL, [{}]),
    "random_interval_ce": (programmes.random_interval_ce, ALL, [{"width": 0.125}, {"width": 0.5}, {"width": 0.1}]),
    "surrogate_interval_ce": (programmes.surrogate_interval_ce, ALL, [{"precision": 0.015625}, {"precision": 0.25}]),
    "lower_distance": (programmes.lower_distance, SMALL, [{"grid": 4}, {"grid": 8}]),
    "upper_distance": (programmes.upper_distance, SMALL, [{}]),
    "mcb": (programmes.mcb, ALL, [{}]),
    "dsc": (programmes.dsc, ALL, [{}]),
    "unc": (scores.unc, ALL, [{}]),
    "post_processing_gap": (programmes.post_processing_gap, SMALL, [{}]),
    "brier": (scores.brier, ALL, [{}]),
    "scaled_brier": (scores.scaled_brier, BOTH, [{}]),
    "log_loss": (scores.log_loss, [*ALL[:6], *ALL[7:], "certain_and_wrong"], [{}, {}, {"clip": 0.0625}]),
    "normalized_log_loss": (
        scores.normalized_log_loss,
        [*BOTH[:7], "separated", "zero_and_one", "certain_and_wrong"],
        [{}],
    ),
    "nagelkerke_r2": (scores.nagelkerke_r2, [*BOTH[:1], *BOTH[2:9], "rare", "separated"], [{}]),
    "auc": (scores.auc, BOTH, [{}]),
    "observed_expected_ratio": (scores.observed_expected_ratio, BOTH, [{}]),
    "net_benefit": (scores.net_benefit, ALL, [{"threshold": 0.25}, {"threshold": 0.5}, {"threshold": 0.1}]),
    "regression_ce": (scores.regression_ce, ALL, [{"bandwidth": 0.25}, {"bandwidth": 0.5, "estimator": "plug_in"}]),
    "top_label_ece": (classes.top_label_ece, OF_CLASSES, [{"n_bins": 4}, {"n_bins": 10}, {"n_bins": 15}]),
    "class_wise_ece": (classes.class_wise_ece, OF_CLASSES, [{"n_bins": 4}, {"n_bins": 5, "reduce": "max"}]),
    "general_ce": (classes.general_ce, UNWEIGHTED_CLASSES, GENERAL),
    "class_brier": (classes.class_brier, OF_CLASSES, [{}]),
    "class_log_loss": (classes.class_log_loss, OF_CLASSES, [{}]),
    "skce": (classes.skce, SEVERAL, SKCE[:5]),
    "canonical_ce": (classes.canonical_ce, OF_CLASSES, [{"distance": d} for d in ("total_variation", "l1", "max")]),
    "hosmer_lemeshow": (classical.hosmer_lemeshow, INSIDE, [{"n_groups": 3}, {"n_groups": 4, "strategy": "uniform"}]),
    "hosmer_lemeshow_pvalue": (
        classical.hosmer_lemeshow_pvalue,
        [*SLOPED[:4], "rare"],
        [{"n_groups": 3}, {"n_groups": 4, "fitted_params": 2}, {"n_groups": 10}, {"n_groups": 4}],
    ),
    "spiegelhalter_z": (classical.spiegelhalter_z, ["zero_and_one", *INSIDE], [{}]),
    "spiegelhalter_pvalue": (classical.spiegelhalter_pvalue, ["zero_and_one", *INSIDE], [{}]),
    "ks_pvalue": (classical.ks_pvalue, ["zero_and_one", "no_event", *INSIDE], [{}]),
    "kuiper_pvalue": (classical.kuiper_pvalue, ["zero_and_one", "no_event", *INSIDE], [{}]),
    "calibration_in_the_large": (classical.calibration_in_the_large, INSIDE, [{}]),
    "cox_intercept": (classical.cox_intercept, SLOPED, [{}]),
    "cox_slope": (classical.cox_slope, SLOPED, [{}]),
    "cox_pvalue": (classical.cox_pvalue, SLOPED, [{}]),
    "exact_pvalue": (exact_pvalue, DRAWN, [{"statistic": name} for name in ("ks", "kuiper", "ece", "mcb")]),
}


def written(answer: Real) -> tuple[float | str, str]:
    """Return the nearest double, and the fraction where it is short, else 40 digits."""
    digits = decimal(answer)
    if not digits.is_finite():
        return "Infinity", "Infinity"
    if isinstance(answer, Fraction) and len(str(answer)) <= 60:
        return float(answer), str(answer)
    with localcontext() as context:
        context.prec = 40
        return float(digits), str(+digits)


def case_of(name: str, number: int, kind: str, options: dict) -> Case:
    """Return one case with its answer."""
    function = QUANTITIES[name][0]
    of_class = function.__module__ == "exact.classes"
    rows = (of_classes if of_class else binary)(kind, number)
    answer = function((ClassRows if of_class else Rows).of(**rows), **options)
    value, exact = written(answer)
    return {"id": f"{name}-{number}", "measure": name, "kind": kind, "options": options, **rows} | {
        "answer": value,
        "exact": exact,
    }


def cases(names: list[str]) -> list[Case]:
    """Return the cases of some measures."""
    found = []
    for name in names:
        _, kinds, options = QUANTITIES[name]
        for number, (kind, chosen) in enumerate(islice(zip(cycle(kinds), cycle(options), strict=False), EACH), 1):
            found.append(case_of(name, number, kind, chosen))
    return found


def text_of(found: list[Case]) -> str:
    """Write cases as JSON, a line each."""
    lines = ",\n".join(json.dumps(case, allow_nan=False) for case in found)
    return f'{{"schema": "schema-1.json", "version": 1, "cases": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    asked = sys.argv[1:] or list(QUANTITIES)
    text = text_of(cases(asked))
    if sys.argv[1:]:
        sys.stdout.write(text)
    else:
        (HERE / "cases-1.json").write_text(text, encoding="utf-8")
