"""The measures and tests of the cases in calibstat."""

import math

import calibstat as cs

VERSION = f"calibstat {cs.__version__}"


def measure(name=None, rename=None, **fixed):
    """Return the function that estimates a measure of calibstat; `rename` are options with other names there."""

    def function(y, p, weights, **options):
        named = {(rename or {}).get(option, option): value for option, value in options.items()}
        given = {} if weights is None else {"sample_weight": weights}
        return float(cs.estimate(y, p, measure=name, **given, **fixed, **named))

    return function


def part(name):
    """Return the function that asks for a part of the decomposition of the Brier score."""
    return lambda y, p, w: cs.decompose(y, p, sample_weight=w)[name]


def validated(name):
    """Return the function that asks for a number of clinical validation."""
    return lambda y, p, w: getattr(cs.validate(y, p, sample_weight=w), name)


def general(y, p, w, **options):
    """Return a general calibration error."""
    return float(cs.estimate(y, p, measure="gce", **options))


def hosmer_lemeshow(field):
    """Return the function that asks for a field of the result of the Hosmer–Lemeshow test."""

    def function(y, p, w, fitted_params=None, **options):
        return getattr(
            cs.classical.hosmer_lemeshow(y, p, held_out=not fitted_params, fitted_params=fitted_params, **options),
            field,
        )

    return function


def exact_pvalue(y, p, w, statistic):
    """Return a p-value by drawing labels, with a bound on its standard error; (1 + k) / (1 + n) of n draws."""
    bins = {"n_bins": 4} if statistic == "ece" else {}
    draws = 9999
    found = cs.calibration_test(y, p, sample_weight=w, measure=statistic, n_resamples=draws, rng=1, **bins).pvalue
    return found, math.sqrt(found * (1 - found) / draws) + 1 / draws


CLASSES = {"top_label_ece": {"lens": "top_label"}, "class_wise_ece": {"lens": "class_wise"}}
FUNCTIONS = {
    **{
        name: measure(name)
        for name in (
            *("ece", "ece_width", "ece_debiased", "average_ce", "ks", "kuiper", "decision_loss", "two_bin_ce"),
            *("kernel_ce", "kernel_ce_squared", "smooth_ce", "interval_ce", "random_interval_ce"),
            *("surrogate_interval_ce", "lower_distance", "upper_distance", "mcb", "post_processing_gap", "brier"),
            *("log_loss", "normalized_log_loss", "skce"),
        )
    },
    "rmsce": measure("ece", norm="l2"),
    "mce": measure("ece", norm="max"),
    "regression_ce": measure("regression_ce", kernel="epanechnikov"),
    "t_cal_squared_error": lambda y, p, w, n_bins: cs.classical.t_cal(
        y, p, n_bins=[n_bins], n_resamples=1
    ).squared_error[0],
    "dsc": part("dsc"),
    "unc": part("unc"),
    "scaled_brier": validated("scaled_brier"),
    "nagelkerke_r2": validated("r2"),
    "auc": validated("auc"),
    "observed_expected_ratio": validated("ratio"),
    "net_benefit": lambda y, p, w, threshold: float(
        cs.estimate(y, p, sample_weight=w, measure=cs.measures.NetBenefit(threshold=threshold))
    ),
    "top_label_ece": measure("ece", lens="top_label"),
    "class_wise_ece": lambda y, p, w, reduce="mean", **options: float(
        cs.estimate(y, p, measure="ece", lens=f"class_wise_{reduce}", sample_weight=w, **options)
    ),
    "general_ce": general,
    "class_brier": measure("brier", lens="canonical"),
    "class_log_loss": measure("log_loss", lens="canonical"),
    "canonical_ce": measure("canonical_ce", strategy="uniform", n_bins=None),
    "hosmer_lemeshow": hosmer_lemeshow("statistic"),
    "hosmer_lemeshow_pvalue": hosmer_lemeshow("pvalue"),
    "spiegelhalter_z": lambda y, p, w: cs.classical.spiegelhalter(y, p).statistic,
    "spiegelhalter_pvalue": lambda y, p, w: cs.classical.spiegelhalter(y, p).pvalue,
    "ks_pvalue": lambda y, p, w: cs.classical.kolmogorov_smirnov(y, p).pvalue,
    "kuiper_pvalue": lambda y, p, w: cs.classical.kuiper(y, p).pvalue,
    "calibration_in_the_large": validated("in_the_large"),
    "cox_intercept": lambda y, p, w: cs.classical.cox(y, p, held_out=True).intercept,
    "cox_slope": lambda y, p, w: cs.classical.cox(y, p, held_out=True).slope,
    "cox_pvalue": lambda y, p, w: cs.classical.cox(y, p, held_out=True).joint_test.pvalue,
    "exact_pvalue": exact_pvalue,
}
