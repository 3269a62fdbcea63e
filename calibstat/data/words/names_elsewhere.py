"""Names of other packages, of papers and of the other side of calibstat, and what they are called here.

One place for all of them: calls, arguments, attributes and commands. It imports nothing of calibstat, so that every
error may ask it. docs/start/other-packages.md has the same calls, and the tests of both run them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache

CALLS: Mapping[str, tuple[str, ...]] = {  # by call, the names that mean it: of measures, of functions, of objects
    'cs.estimate(label, prob, measure="ece")': (
        *("calibration error", "get_ece", "get_calibration_error", "BinaryCalibrationError", "ece score"),
        *("MulticlassCalibrationError", "confidence ECE", "ECELoss", "top label ECE"),
    ),
    'cs.estimate(label, prob, measure="ece", norm="max")': (
        *("MCE", "maximum calibration error", "max calibration error"),
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
        *("RMSCE", "root mean square calibration error", "root mean squared calibration error"),
        *("RMS calibration error",),
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
    'cs.estimate(y, p, measure="smooth_ece")': ("smECE", "relplot"),
    'cs.estimate(y, p, measure="interval_ce")': ("intCE",),
    'cs.estimate(label, prob, measure="skce", statistic="U")': ("KCE squared", "squared kernel calibration error U"),
    'cs.estimate(y, p, measure="normalized_log_loss")': (
        *("NCE", "NE", "normalized entropy", "normalised entropy", "normalized cross entropy"),
        *("normalised cross entropy",),
    ),
    'cs.estimate(y, p, measure="log_loss", sample_weight=np.where(y == 1, 1 - y.mean(), y.mean())) / np.log(2)': (
        *("Cllr", "log-likelihood-ratio cost", "cost of log-likelihood ratios"),
    ),
    'cs.estimate(y, p, measure="log_loss")': (
        *("NLL", "negative log likelihood", "cross entropy", "binary cross entropy", "BCE", "log score", "deviance"),
        *("logarithmic score", "neg log loss", "ignorance"),
    ),
    'cs.estimate(y, p, measure="brier")': (
        *("Brier score loss", "MSE", "mean squared error", "quadratic score", "BS", "neg brier score"),
    ),
    "cs.skill_score(y, p)": (
        *("BSS", "Brier skill score", "Brier skill", "skill", "scaled Brier", "IPA", "d2_brier_score"),
        *("index of prediction accuracy",),
    ),
    'cs.skill_score(y, p, score="log_loss")': ("d2_log_loss_score", "log skill score", "McFadden"),
    "cs.calibration_test(y, p)": (
        *("test", "is calibrated", "calibrated", "check calibration", "test calibration", "calibration p value"),
        *("goodness of fit", "p value"),
    ),
    "cs.confidence_interval(y, p)": ("interval", "CI", "confint", "bootstrap", "bootstrap_ci", "ece_ci"),
    'cs.calibration_test(y, p, side="over")': (
        *("overconfidence", "over-confident", "is overconfident", "one-sided", "one-tailed", "too high"),
    ),
    'cs.audit(y, p, x, side="under")': (
        *("binomial test", "Jeffreys test", "Jeffreys", "traffic light", "rating grades", "default rate"),
    ),
    "cs.equivalence_test(y, p)": ("equivalence", "TOST", "practically calibrated"),
    'cs.compare(y, {"A": p, "B": q})': (
        *("compare models", "Diebold-Mariano", "DM test", "paired test", "compare forecasts"),
    ),
    'cs.summarize(y, {"A": p, "B": q})': (
        *("summary", "summarise", "describe", "all measures", "scores", "evaluate", "calibration summary"),
    ),
    "cs.report(y, p)": ("html report", "make report", "calibration report", "classification report"),
    "cs.reliability(y, p)": (
        *("reliability diagram", "calibration curve", "calibration plot", "reliability curve", "rel_diagram"),
    ),
    "cs.plot(cs.reliability(y, p))": (
        *("plot calibration curve", "plot reliability diagram", "plot calibration", "reliability plot", "draw"),
        *("reliabilitydiag", "plot_rel_diagram", "cal_plot_breaks", "cal_plot_windowed"),
    ),
    "cs.ReliabilityDisplay.from_predictions(y, p)": ("calibration display",),
    "cs.decompose(y, p)": (
        *("DSC", "UNC", "refinement", "resolution", "uncertainty", "reliability", "CORP", "murphy", "decomposition"),
        *("Brier decomposition", "Murphy decomposition", "score decomposition"),
    ),
    "cs.validate(y, p)": (
        *("calibration slope", "calibration intercept", "O/E", "OE ratio", "calibration in the large", "val.prob"),
        *("val.prob.ci.2", "validation"),
    ),
    "cs.validate(y, p).ratio": (
        *("COPC", "calibration of predicted clicks", "clicks over predicted clicks", "click over predicted click"),
    ),
    "cs.validate(y, p).ici": ("ICI", "integrated calibration index", "Eavg"),
    "cs.validate(y, p).e90": ("E90",),
    "cs.validate(y, p).e50": ("E50",),
    "cs.validate(y, p).emax": ("Emax",),
    "cs.validate(y, p).auc": (
        *("AUC", "AUROC", "ROC AUC", "C statistic", "c-index", "concordance", "area under the curve"),
    ),
    "cs.classical.t_cal(y, p)": ("T-Cal",),
    "cs.classical.hosmer_lemeshow(y, p, held_out=True)": (
        *("Hosmer-Lemeshow", "HL", "hoslem", "hoslem.test", "Hosmer-Lemeshow test"),
    ),
    "cs.classical.spiegelhalter(y, p)": ("Spiegelhalter", "Spiegelhalter z", "spiegelhalter test"),
    "cs.classical.calibration_belt(y, p, held_out=True)": ("givitiCalibrationBelt", "CalibrationBelt", "belt"),
    "cs.net_benefit(y, p)": ("net benefit", "decision curve", "DCA", "decision curve analysis"),
    "cs.risk_coverage(y, p)": (
        *("AURC", "risk coverage", "risk-coverage curve", "selective classification", "selective risk", "abstention"),
        *("area under the risk-coverage curve", "reject option", "learn then test", "BinaryClassificationController"),
    ),
    "cs.audit(y, p, x)": (
        *("subgroups", "fairness", "multicalibration", "slices", "compute_bias", "group calibration"),
    ),
    "cs.Monitor().update(y, p)": ("drift", "monitor", "CUSUM"),
    "cs.recalibration.choose(y, p)": (
        *("calibrate", "recalibrate", "calibrator", "recalibrator", "fit calibrator", "choose map"),
    ),
    "cs.recalibration.TemperatureScaling().fit(p, y)": ("temperature scaling", "temperature", "temperature scaler"),
    "cs.recalibration.PlattScaling().fit(p, y)": (
        *("Platt", "Platt scaling", "sigmoid calibration", "logistic calibration", "Platt calibrator"),
    ),
    "cs.recalibration.IsotonicRegression().fit(p, y)": (
        *("isotonic", "isotonic regression", "isotonic calibration", "isotonic calibrator", "PAV"),
    ),
    "cs.recalibration.BetaCalibration().fit(p, y)": ("beta calibration", "betacal", "beta"),
    "cs.recalibration.HistogramBinning().fit(p, y)": ("histogram binning", "histogram calibrator"),
    "cs.recalibration.VennAbers().fit(p, y)": ("Venn-Abers", "Venn-Abers calibrator", "Venn"),
    "cs.CalibratedModel(model)": ("CalibratedClassifierCV", "calibrated classifier", "wrap"),
    'cs.scorer("ece")': ("make scorer", "get scorer"),
    "cs.cross_validate(model, x, y)": ("cross_val_score", "cross_val_predict", "cross validation"),
    "cs.predict(model, x)": ("predict proba", "predictions of", "probabilities"),
    "cs.from_logits(np.log(p / (1 - p)))": ("softmax", "expit", "from_logit", "sigmoid", "logits"),
    'cs.sample_size(p, "shift=1")': ("n for power", "power analysis", "required sample size"),
    "list(cs.MEASURES)": ("list measures", "available measures", "metrics", "all metrics"),
    "cs.generators.temperature(2).sample(200)": ("simulate", "simulator", "make data", "make classification"),
}
UNCLEAR: Mapping[str, str] = {  # two papers gave two errors the same name
    "ACE": 'cs.estimate(label, prob, measure="gce", binning="adaptive") of Nixon et al., the adaptive one, or '
    'cs.estimate(label, prob, measure="average_ce") of netcal, the average one',
}
COMMANDS: Mapping[str, tuple[str, ...]] = {  # of the command line, and the calls that they make
    "test": ("cs.calibration_test(y, p)",),
    "interval": ("cs.confidence_interval(y, p)", "cs.estimate(y, p)", "cs.detail(y, p)"),
    "interval --measure ece": (*('cs.estimate(label, prob, measure="ece")', "cs.expected_calibration_error(y, p)"),),
    "interval --measure brier": ('cs.estimate(y, p, measure="brier")',),
    "interval --measure log_loss": ('cs.estimate(y, p, measure="log_loss")',),
    "interval --measure ks": ('cs.estimate(y, p, measure="ks")',),
    "equivalence": ("cs.equivalence_test(y, p)",),
    "summarize": ('cs.summarize(y, {"A": p, "B": q})',),
    "report": ("cs.report(y, p)", "cs.reliability(y, p)", "cs.plot(cs.reliability(y, p))"),
    "decompose": ("cs.decompose(y, p)",),
    "skill": ("cs.skill_score(y, p)", 'cs.skill_score(y, p, score="log_loss")'),
    "sharpness": ("cs.sharpness(y, p)",),
    "validate": ("cs.validate(y, p)",),
    "net-benefit": ("cs.net_benefit(y, p)",),
    "risk-coverage": ("cs.risk_coverage(y, p)",),
    "recalibrate": ("cs.recalibration.choose(y, p)",),
    "recalibrate --map TemperatureScaling": ("cs.recalibration.TemperatureScaling().fit(p, y)",),
    "recalibrate --map PlattScaling": ("cs.recalibration.PlattScaling().fit(p, y)",),
    "recalibrate --map IsotonicRegression": ("cs.recalibration.IsotonicRegression().fit(p, y)",),
    "monitor": ("cs.Monitor().update(y, p)",),
    "measures": ("list(cs.MEASURES)",),
    "generators": ("list(cs.GENERATORS)",),
}
ARGUMENTS: Mapping[str, tuple[str, ...]] = {  # by argument here; {} stands for the other name. The first comes first
    "rng=": ("random_state", "seed", "random_seed", "rng_seed", "generator", "prng", "key"),
    "random_state=": ("seed", "random_seed", "rng_seed", "rng", "generator"),  # of maps
    "n_bins=": ("bins", "num_bins", "n_bin", "nbin", "M", "n_cells", "num_buckets", "g"),
    "strategy=": ("bin_strategy", "split_strategy", "scheme", "bin_type"),
    "n_resamples=": (
        *("n_boot", "n_bootstrap", "n_bootstraps", "n_permutations", "B", "R", "nboot", "n_perm", "num_bootstrap"),
        *("iterations", "n_iter", "n_simulations", "bootstrap_samples", "permutations"),
    ),
    "n_jobs=": ("n_threads", "num_threads", "n_workers", "workers", "processes", "num_workers", "n_cpus"),
    "level={}": ("alpha", "significance_level", "sig_level", "significance"),
    "level=1 - {}": ("confidence_level",),
    "confidence_level=1 - {}": ("alpha", "significance_level", "sig_level", "significance"),
    "confidence_level=": ("ci", "level", "conf_level", "confidence", "ci_level", "conf", "coverage"),
    "sample_weight=": ("weights", "weight", "sample_weights", "w", "case_weights"),
    "cluster=": ("groups", "group", "clusters", "cluster_id", "group_ids", "subject", "patient", "block", "id"),
    "by=": ("groups", "group", "subgroups", "segments", "sensitive_features", "protected", "stratify"),
    "groups=": ("by", "group", "features", "X", "subgroups", "segments", "sensitive_features", "protected"),
    "folds=": ("fold", "cv", "fold_id", "splits"),
    "measure=": ("metric", "statistic", "metrics", "loss", "scoring", "criterion", "measures"),
    "lens=": ("multiclass", "average", "multi_class", "multilabel", "view"),
    "labels=": ("classes", "class_names", "target_names", "class_labels"),
    "pos_label=": ("positive", "positive_class", "event_level", "event", "positive_label"),
    "reference=": ("baseline", "control", "ref"),
    "adjust=": ("correction", "p_adjust", "p_adjust_method", "multitest"),
    "thresholds=": ("threshold", "cutoffs", "cutoff", "thresh"),
    "clip=": ("eps", "epsilon"),
    "margin=": ("delta", "tolerance", "equivalence_margin", "tol"),
    "n_datasets=": ("n_sims", "nsim", "replicates"),
}
ROWS: Mapping[str, tuple[str, ...]] = {  # predictions, by what other packages call them
    "y_prob=": (
        *("y_pred", "y_proba", "y_score", "y_hat", "p", "prob", "probs", "proba", "preds", "predictions", "scores"),
        *("confidences", "p_pred", "yhat", "p_hat", "y_probs", "probabilities"),
    ),
}
NOWHERE: Mapping[str, tuple[str, ...]] = {  # what to know where a function has no such argument
    "an interval takes confidence_level=, 1 - alpha; compare the p-value of a test with alpha": (
        *("alpha", "significance_level", "sig_level", "significance"),
    ),
    "estimate, calibration_test, confidence_interval, compare and reliability take sample_weight=, for each row; "
    "counts of repeated rows go into Sample.from_rows(y_true, y_prob, counts)": (
        *("sample_weight", "sample_weights", "weights", "weight", "counts", "w", "case_weights"),
    ),
    "of predictions out of fold confidence_interval, calibration_test, compare, report take folds=, the fold of each "
    "row": (*("folds", "fold", "cv", "fold_id", "splits"),),
}
PICTURE = "calibstat.plot(result)"
MEMBERS: Mapping[str, tuple[str, ...]] = {  # of results
    "result.pvalue": ("p_value", "p_val", "pval", "p", "pvalues", "p_values", "prob_value", "significance"),
    "result.low": ("lower", "lo", "ci_low", "ci_lower", "lower_bound", "conf_low", "ci_l", "lcl", "lwr", "left"),
    "result.high": ("upper", "hi", "ci_high", "ci_upper", "upper_bound", "conf_high", "ci_u", "ucl", "upr", "right"),
    "(result.low, result.high)": ("interval", "ci", "conf_int", "confidence_interval", "confint", "bounds", "limits"),
    "result.estimate": ("value", "point_estimate", "point", "score", "ece", "error", "result", "estimates"),
    "result.statistic": ("statistic_", "stat", "test_statistic", "chi2", "z", "t", "test_stat"),
    "result.confidence_level": ("level", "conf_level", "coverage", "alpha"),
    "result.measure": ("metric",),
    "result.n": ("n_rows", "n_obs", "nobs", "n_samples", "size"),
    "result.frequency": ("prob_true", "fraction_of_positives", "observed", "accuracy", "acc"),
    "result.mean_prediction": ("prob_pred", "mean_predicted_value", "predicted", "confidence", "conf"),
    "result.count": ("counts", "bin_counts", "weights"),
    "result.to_frame()": ("to_df", "to_pandas", "to_dataframe", "as_frame", "df", "frame", "table", "summary_frame"),
    "result.to_dict()": ("as_dict", "asdict", "to_json", "dict", "json", "_asdict"),
    "print(result)": ("summary", "describe", "report", "print", "to_string"),
    "result.recalibrator.fit(p, y)": (
        *("map", "map_", "best_map", "best", "calibrator", "chosen", "fit", "transform", "predict_proba", "predict"),
    ),
    "result.name": ("winner", "selected", "best_model", "model"),
    PICTURE: ("plot", "show", "draw", "figure", "plot_"),
}
DRAWN = (  # results of which there is a picture
    *("Reliability", "CalibrationTestResult", "ConfidenceInterval", "MeasureDetail", "ClassWiseReliability"),
    *("SimplexReliability", "Comparison", "CalibrationBelt", "CalibrationSharpness", "PowerCurve", "SampleSize"),
    *("PrecisionSize", "NetBenefitCurve", "Validation", "DecisionLossCurve", "Audit", "MonitorStatus"),
    *("ModelsStatus", "BrierStatus", "ByCluster", "RiskCoverage"),
)
MEMBERS_OF_MAPS: Mapping[str, tuple[str, ...]] = {
    "map.predict_proba(p)": ("transform", "calibrate", "recalibrate", "apply", "predict_prob", "proba", "forward"),
    "map.fit(p, y)": ("train", "partial_fit", "fit_calibrator"),
    "map.fit(p, y).predict_proba(p)": ("fit_transform", "fit_predict"),
    "map.to_dict()": ("save", "to_json", "state_dict", "get_state", "serialize", "export"),
    "Recalibrator.from_dict(saved)": ("load", "from_json", "load_state_dict", "set_state"),
    "map.to_sql()": ("sql", "as_sql", "to_expression"),
}
MEMBERS_OF_MODELS: Mapping[str, tuple[str, ...]] = {  # of a `CalibratedModel`
    "model.predict_proba(X)": ("transform", "calibrate", "recalibrate", "predict_prob", "decision_function"),
}
NO_LETTERS = str.maketrans("", "", "_- –/.\u2019'")


def letters(name: object) -> str:
    """Return the letters of a name, by which spellings are compared."""
    return str(name).lower().translate(NO_LETTERS)


@cache
def _calls() -> dict[str, str]:
    """Return the call that each name means, by the letters of the name; of a command the first call that it makes."""
    named = {letters(name): call for call, names in CALLS.items() for name in names}
    return {letters(command): calls[0] for command, calls in COMMANDS.items()} | named | _in_letters(UNCLEAR)


def _in_letters(table: Mapping[str, str]) -> dict[str, str]:
    return {letters(name): text for name, text in table.items()}


def call_meant(name: object) -> str:
    """Return the call that another name of a measure, a function or an object means; or nothing."""
    calls, spelled = _calls(), letters(name)
    return calls.get(spelled) or calls.get(spelled.removesuffix("loss").removesuffix("score")) or ""


def in_full(call: str, package: str) -> str:
    """Return a call with the name of the package in place of its short name."""
    return re.sub(r"\bcs\.", f"{package}.", call)


def arguments_meant(name: str, known: Collection[str], table: Mapping[str, tuple[str, ...]] = ARGUMENTS) -> list[str]:
    """Return what is written for an argument of another package, among the arguments that are known here."""
    return [written.format(name) for written in _standing_for(name, table) if _first_word(written) in known]


def _standing_for(name: str, table: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [written for written, names in table.items() if name in names]


def _first_word(written: str) -> str:
    return written.partition("=")[0]


def advice_of_absent(name: str) -> str:
    """Return what to know of an argument of another package that a function has under no name; or nothing."""
    if known := _standing_for(name, NOWHERE):
        return f"; {known[0]}"
    words = dict.fromkeys(f"{_first_word(written)}=" for written in _standing_for(name, ARGUMENTS))
    return f"; where a function takes it, it is {' or '.join(words)}" if words else ""


def member_meant(owner: object, name: str, table: Mapping[str, tuple[str, ...]] = MEMBERS) -> str:
    """Return what an object has for the name of an attribute of another package, to add to a message; or nothing."""
    found = [written for written in _standing_for(name, table) if _can_be_asked(owner, written)]
    return f"; write {' or '.join(found)}" if found else ""


def _can_be_asked(owner: object, written: str) -> bool:
    """Whether an object has the attributes that are written of it, or a picture."""
    if written == PICTURE:
        return type(owner).__name__ in DRAWN
    return all(hasattr(owner, each) for each in re.findall(r"\b(?:result|map|model)\.(\w+)", written))


def command_meant(name: str, commands: Iterable[str]) -> str:
    """Return what is written behind `calibstat` for the name of a command, a call or a measure; or nothing."""
    spelled = letters(name)
    for command in commands:
        if letters(command) == spelled:
            return command
    call = call_meant(name)
    for command, calls in COMMANDS.items():
        if call in calls or spelled in (letters(command.split()[-1]), *(letters(_function(each)) for each in calls)):
            return command
    return ""


def _function(call: str) -> str:
    """Return the name of the function of a call."""
    return call.partition("(")[0].removeprefix("cs.")
