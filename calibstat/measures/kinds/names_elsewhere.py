"""Names of measures in papers and other packages, and the call here; docs/other-packages.md has the same calls."""

from __future__ import annotations

from calibstat.data.checks import letters

_CALLS = {  # by call, the names that mean it
    'cs.estimate(label, prob, measure="ece", norm="max")': (
        "MCE",
        "maximum calibration error",
        "max calibration error",
    ),
    'cs.estimate(label, prob, measure="ece", lens="class_wise_mean")': (
        *("classwise ECE", "cwECE", "cECE", "class-wise expected calibration error", "marginal calibration error"),
        *("class-wise calibration error", "marginal CE"),
    ),
    'cs.estimate(label, prob, measure="gce")': ("SCE", "static calibration error"),
    'cs.estimate(label, prob, measure="gce", binning="adaptive")': (
        *("adaptive calibration error", "AdaECE", "adaptive ECE", "adaptive expected calibration error"),
    ),
    'cs.estimate(label, prob, measure="gce", binning="adaptive", threshold=0.01)': (
        *("TACE", "thresholded adaptive calibration error", "threshold adaptive calibration error"),
    ),
    'cs.estimate(label, prob, measure="gce", binning="adaptive", max_prob=True, class_conditional=False, norm="l2")': (
        *(
            "RMSCE",
            "root mean square calibration error",
            "root mean squared calibration error",
            "RMS calibration error",
        ),
    ),
    'cs.estimate(label, prob, measure="gce", max_prob=True)': ("class-conditional ECE", "ccECE"),
    'cs.estimate(label, prob, measure="average_ce")': ("average calibration error",),
    'cs.estimate(y, p, measure="ece_debiased", strategy="quantile", variant="kumar")': (
        *("debiased ECE", "debiased calibration error", "L2 calibration error", "unbiased ECE"),
    ),
    'cs.estimate(y, p, measure="sweep_ce", norm="l2")': ("ECE sweep", "monotonic sweep", "sweep"),
    'cs.estimate(y, p, measure="weighted_ce", functions=[np.ones_like])': ("wCE",),
    'cs.estimate(y, p, measure="ks")': ("KS error", "ECCE-MAD", "ECCE", "Kolmogorov-Smirnov", "KSCE"),
    'cs.estimate(y, p, measure="kuiper")': ("ECCE-R", "Kuiper error"),
    'cs.estimate(y, p, measure="kernel_ce")': ("kCE",),
    'cs.estimate(label, prob, measure="kernel_ce", bandwidth=0.4)': ("MMCE", "maximum mean calibration error"),
    'cs.estimate(y, p, measure="two_bin_ce") ** 2': ("ATB", "averaged two-bin calibration error"),
    'cs.estimate(y, p, measure="smooth_ce")': ("smCE",),
    'cs.estimate(y, p, measure="smooth_ece")': ("smECE",),
    'cs.estimate(y, p, measure="interval_ce")': ("intCE",),
    'cs.estimate(label, prob, measure="skce", statistic="U")': ("KCE squared", "squared kernel calibration error U"),
    "cs.classical.t_cal(y, p)": ("T-Cal",),
    "cs.decompose(y, p)": ("DSC", "UNC", "refinement", "resolution", "uncertainty", "reliability", "CORP"),
    'cs.estimate(y, p, measure="normalized_log_loss")': ("NCE", "NE", "normalized entropy", "normalised cross entropy"),
    'cs.estimate(y, p, measure="log_loss")': (
        *("NLL", "negative log likelihood", "cross entropy", "binary cross entropy", "BCE", "log score", "deviance"),
        *("logarithmic score", "neg log loss", "ignorance"),
    ),
    'cs.estimate(y, p, measure="brier")': ("Brier score loss", "MSE", "mean squared error", "quadratic score", "BS"),
    "cs.validate(y, p).ici": ("ICI", "integrated calibration index", "Eavg"),
    "cs.validate(y, p).e90": ("E90",),
    "cs.validate(y, p).e50": ("E50",),
    "cs.validate(y, p).emax": ("Emax",),
    "cs.validate(y, p).auc": (
        "AUC",
        "AUROC",
        "ROC AUC",
        "C statistic",
        "c-index",
        "concordance",
        "area under the curve",
    ),
    "cs.validate(y, p)": ("calibration slope", "calibration intercept", "O/E", "OE ratio", "calibration in the large"),
    "cs.classical.hosmer_lemeshow(y, p, held_out=True)": ("Hosmer-Lemeshow", "HL", "hoslem"),
    "cs.classical.spiegelhalter(y, p)": ("Spiegelhalter", "Spiegelhalter z"),
    "cs.reliability(y, p)": ("reliability diagram", "calibration curve", "calibration plot"),
    "cs.net_benefit(y, p)": ("net benefit", "decision curve"),
}
_TWO = 'is cs.estimate(label, prob, measure="gce", binning="adaptive") of Nixon et al., the adaptive one, and '
CALLS = {letters(name): f"is {call}" for call, names in _CALLS.items() for name in names} | {
    "ace": f'{_TWO}cs.estimate(label, prob, measure="average_ce") of netcal, the average one'
}


def advice_of_measure(name: object) -> str:
    """Return the call that another name of a measure means, to add to a message; or nothing."""
    call = CALLS.get(letters(name)) or CALLS.get(letters(name).removesuffix("loss").removesuffix("score"))
    return f"; {name!r} {call}" if call else ""
