"""When to use each measure and when not, in a sentence each, for the pages that `measure_pages` writes."""

from __future__ import annotations

ADVICE = {  # name: when to use it, when not
    "ece": (
        "for the size of the error in a report, because everyone knows it; always with its interval.",
        "to compare models by their estimates, or with a number of bins that was chosen by the result: errors of "
        "opposite sign cancel within a bin, and the estimate grows with the number of bins.",
    ),
    "ece_width": (
        "for a number that is an upper bound of a distance from calibration, whatever the predictions.",
        "for a small number: it is never below the width of a bin, for a calibrated model too.",
    ),
    "sweep_ce": (
        "for a binned error whose number of bins nobody chooses, to agree with a paper that has it.",
        "if you need an interval: the outcomes choose its bins.",
    ),
    "weighted_ce": (
        "if you know beforehand how the errors may depend on the prediction, and can write it as functions.",
        "without such knowledge: what no function of the list describes is missed.",
    ),
    "ece_debiased": (
        "for an estimate of the binned error whose square is not biased upwards by noise.",
        "where a negative number confuses readers, or for predictions in clusters.",
    ),
    "mean": (
        "to ask whether so many events were to be expected: the first question about risks and rating grades.",
        "by itself: predictions that are too high here and too low there have the right mean.",
    ),
    "l1": (
        "for the error itself, not over bins, with a stated shape of the calibration curve.",
        "without a shape: then no upper end exists.",
    ),
    "ks": (
        "where the answer should not depend on bins, and the model may be too high, too low or too extreme.",
        "for errors that change their sign quickly: they cancel in its sums.",
    ),
    "kuiper": (
        "as `ks`, if reversing outcomes and predictions should not change the number.",
        "for errors that change their sign quickly: they cancel in its sums.",
    ),
    "decision_loss": (
        "if predictions decide who is treated, tested or called: it is what anyone could gain by another threshold.",
        "if nobody acts on a threshold.",
    ),
    "smooth_ce": (
        "for a distance from calibration that changes little if predictions change little.",
        "for readers who want a number that they know from papers.",
    ),
    "interval_ce": (
        "in theory: it is an upper bound on the distance from calibration.",
        "in practice: it tends to 0 slowly for a calibrated model and has no interval.",
    ),
    "random_interval_ce": (
        "in place of the ECE if the edges of the bins should not matter.",
        "for errors of opposite sign much closer than its width: they nearly cancel.",
    ),
    "surrogate_interval_ce": (
        "for an upper bound of `interval_ce` that is continuous.",
        "if you need an interval: none is known.",
    ),
    "lower_distance": (
        "to know how far predictions are from calibrated ones at least.",
        "if you need an interval: `smooth_ce` has one, and is at least half of it and at most twice.",
    ),
    "upper_distance": (
        "to know how far predictions are from calibrated ones at most, with few distinct predictions.",
        "for many distinct predictions: no fast algorithm is known.",
    ),
    "brier": (
        "if sharpness matters as much as calibration, and to compare models.",
        "for the size of the calibration error: a calibrated model does not have 0.",
    ),
    "log_loss": (
        "if sharpness matters as much as calibration, and being sure and wrong should cost much.",
        "with predictions of exactly 0 or 1 that may fail: it is infinite.",
    ),
    "normalized_log_loss": (
        "to compare log losses between data with different base rates.",
        "for the size of the calibration error: it measures sharpness as well.",
    ),
    "mcb": (
        "for what recalibration by a rising curve could gain at most, in the units of the Brier score.",
        "for a small sample without its interval: a calibrated model is above 0 too.",
    ),
    "kernel_ce": (
        "for the size of the error without bins, for comparisons, clusters and predictions out of folds.",
        "for a number that readers know from papers; its size depends on the bandwidth.",
    ),
    "kernel_ce_squared": (
        "to compare models: it is estimated without bias.",
        "for the size of the error: it is in squared units and may be negative.",
    ),
    "two_bin_ce": (
        "for a number without bins and bandwidth whose square a model cannot lower by untrue predictions.",
        "for errors that change their sign quickly: they cancel in its two bins.",
    ),
    "average_ce": (
        "to give the number of a package that calls it ACE.",
        "for anything else: a bin with one row weighs as much as one with thousands.",
    ),
    "post_processing_gap": (
        "to know what a small correction of the predictions could gain in the Brier score.",
        "if you need an interval: none is known.",
    ),
    "smooth_ece": (
        "to give the number of relplot, with a bandwidth that the data choose.",
        "to agree with relplot to all digits: relplot gives too little weight to predictions near 0 and 1.",
    ),
    "gce": (
        "to give the number of a paper with several classes: SCE, ACE, TACE and others are its options.",
        "if you can choose the measure: `ece` with a lens has an interval.",
    ),
    "skce": (
        "with several classes, if whole vectors of probabilities have to be right.",
        "for an error in units of probability: it is squared.",
    ),
    "regression_ce": (
        "to give the number of a paper that smooths by kernel regression.",
        "if you can choose the measure: it is biased, and `kernel_ce` has an interval.",
    ),
    "canonical_ce": (
        "with a few classes, if whole vectors of probabilities have to be right.",
        "with many classes: the cells hold few rows each, and errors cancel in them.",
    ),
    "omnibus": (
        "to test: it is the default and looks for errors of every kind.",
        "for the size of an error, or to compare models: it has no unit.",
    ),
}
