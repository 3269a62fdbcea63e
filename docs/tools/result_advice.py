"""What returns each result, and how to read it: for `result_sections`, and nowhere else."""

from __future__ import annotations

RESULTS = {  # by name: the calls that return it, and how to read it
    "CalibrationTestResult": (
        "calibration_test",
        "Begin with `answer`, which states the `size` of the error, and `next_step`. A small `pvalue` is evidence that "
        "the predictions are not calibrated. A large one is not evidence that they are.",
    ),
    "SizeOfError": (
        "calibration_test",
        "The field `size` of a test with the default measure: ECE with its interval, and whether `is_small`.",
    ),
    "ClassTests": (
        "calibration_test",
        'The field `classes` of a test with `lens="class_wise"`. `pvalue_holm` is adjusted for the number of classes: '
        "a class with a value of at most 0.05 is predicted wrongly. The test itself is of all classes together.",
    ),
    "Rows": (
        "calibration_test, confidence_interval, compare",
        "The field `rows` of a result: independent rows, and how many.",
    ),
    "ClustersOfGroups": (
        "audit",
        "The field `clusters` of an audit, with `cluster=`. Where `apart` is true no cluster has two rows in the "
        "group, and its p-value and interval are exact.",
    ),
    "ClustersOfRows": (
        "calibration_test, confidence_interval, compare",
        "The field `rows` of a result, with `cluster=`: how many clusters, and how many of equal size say as much.",
    ),
    "Folds": ("compare", "The field `rows` of a comparison, with `folds=`."),
    "LabelledRows": (
        "confidence_interval",
        "The fields that `GuidedRows`, `RectifiedLabels` and `ComparedLabels` have in common.",
    ),
    "FoldsWithTests": (
        "calibration_test",
        "The field `rows` of a test, with `folds=`. `pvalue_by_theorem` is valid for any learner; the p-value of the "
        "test uses all rows together and is studied.",
    ),
    "ModelsOfFolds": (
        "confidence_interval",
        "The field `rows` of an interval, with `folds=`, which is for predicting each new row by one of the models, "
        "drawn at random: its `high` is what to report.",
    ),
    "GuidedRows": (
        "calibration_test",
        "The field `rows` of a test, with `judge=`. `pvalue_labels_only` is the test without the judge.",
    ),
    "RectifiedLabels": (
        "confidence_interval",
        "The field `rows` of an interval, with `judge=`, which is for the labels and not for the judge's answers. "
        "`worth` says how many labels the judge replaces.",
    ),
    "ConfidenceInterval": (
        "confidence_interval",
        "`low` and `high` are what to report, with `estimand`, what they are for. The estimate of an error is biased "
        "upwards, and may lie above the interval. An error has the unit of a probability, so 0.05 is 5 points of a "
        "percentage.",
    ),
    "CrossValidation": (
        "cross_validate",
        "Print it. `interval` has the error of the models, `test` whether the learner is wrong each time, `brier` the "
        "Brier score, and `predictor` the model that the interval is for.",
    ),
    "ImpossibleRows": (
        "calibration_test",
        "The field `impossible` of a test, of rows that were predicted to be impossible and happened. `pvalue` is of "
        "the rows predicted neither 0 nor 1: it says whether anything else is wrong.",
    ),
    "ImpossibleInGroups": (
        "audit, audit_samples",
        "The field `impossible` of an audit, of rows that were predicted to be impossible and happened. `found` has "
        "the groups that are significant without rows predicted 0 or 1.",
    ),
    "Learned": (
        "audit",
        "The field `learned` of an audit with a learner. `pvalue` is of all rows and says whether any predictions are "
        "wrong; the audit itself is of the rows that the learner did not see, and says where.",
    ),
    "Deviation": (
        "calibration_test",
        "The field `deviation` of a test. It describes these rows: where outcomes and predictions differ most. Only "
        "`claims` is tested.",
    ),
    "Events": (
        "calibration_test",
        "The field `events` of a test with `side`. Compare `expected` with `observed`. `at_least` is a limit, and "
        "`where` the range that was chosen because its deviation is largest: do not quote it as the size of an error.",
    ),
    "EventsInRange": (
        "calibration_test",
        "The field `events.where` of a test with `side`: where to look. The range is the largest of many and its "
        "numbers are overstated; `audit` of ranges that were fixed beforehand says how large an error is.",
    ),
    "DetectableEffect": (
        "detectable_effect",
        "The smallest `effect` of each family that such rows would have shown, with its `ece`. If an error of "
        "this size would matter to you, and the test found nothing, collect more rows.",
    ),
    "Equivalence": (
        "equivalence_test",
        "`claimed` says whether the margin is shown. `limit` is the smallest margin that these rows show; report it if "
        "you have no margin.",
    ),
    "MeasureDetail": (
        "detail",
        "`estimate` is the measure, and `fields` what it was computed from, such as its bins or its bandwidth.",
    ),
    "Reliability": (
        "reliability",
        "A bin is wrong where `inside` is false: its frequency is outside of the band, which is for all bins at once. "
        "All columns are probabilities, and `count` is rows.",
    ),
    "ClassWiseReliability": (
        "reliability",
        'With `lens="class_wise"`. One diagram for each class, each with its own band. `error` is the ECE of '
        "the class.",
    ),
    "SimplexReliability": (
        "reliability",
        'With `lens="canonical"`. Each cell has a mean prediction and the frequencies of all classes; long differences '
        "in cells with few rows are mostly noise.",
    ),
    "GceFamily": (
        "gce_family",
        "32 calibration errors of the same predictions. Use it to see whether a conclusion depends on the choice "
        "of one.",
    ),
    "Comparison": (
        "compare",
        "If the interval `low` to `high` of a pair excludes 0, the models differ; a negative difference says that the "
        "first one has the smaller error. `at_least` bounds by how much. Of the default measure the unit is a squared "
        "probability.",
    ),
    "ComparedLabels": (
        "compare",
        "The field `rows` of a comparison, with `judge=`. `labels_only` is the comparison without the judge.",
    ),
    "GeneralizationGap": (
        "generalization_gap",
        "`gap` is the error on test rows less the error on training rows. If its interval excludes 0, the model "
        "is less well calibrated on new rows.",
    ),
    "Summary": (
        "summarize",
        "One row for each model. Read `warnings` first: they name models whose calibration error falls while a proper "
        "score gets worse.",
    ),
    "Choice": (
        "choose",
        "`name` is the chosen model, or None if no model is shown to meet the conditions. `high` are the ends that the "
        "conditions are about.",
    ),
    "MapChoice": (
        "recalibration.choose",
        "`recalibrator` is the map with the smallest score on held-out rows. `within_noise` names the maps that these "
        "rows cannot tell from it.",
    ),
    "Audit": (
        "audit, audit_samples",
        "`found` are the groups whose predictions are wrong, all groups tested together. `error` is observed minus "
        "predicted frequency; above 0 predictions are too low.",
    ),
    "Beyond": (
        "audit, audit_samples",
        "The field `beyond` of an audit: groups that deviate otherwise than the other rows at the same predictions. An "
        "odds ratio above 1 says that outcome 1 is more frequent there.",
    ),
    "MonitorStatus": (
        "Monitor.update, Monitor.status",
        "Act if `alarm` is true. `onset` says since when and in which direction, without a guarantee. `gap` "
        "is observed minus predicted frequency over all rows so far.",
    ),
    "OtherRows": (
        "Monitor.update, Monitor.status",
        "The field `others` of a monitor's status, once a row was predicted to be impossible and happened: what the "
        "rows predicted neither 0 nor 1 say by themselves.",
    ),
    "Onset": (
        "Monitor.status",
        "The field `onset` of a status: the likely start of the change, with a range of periods. It describes "
        "where the evidence comes from.",
    ),
    "ModelsStatus": (
        "Monitor.update, Monitor.status",
        "Of several models: `alarmed` names those with an alarm; one guarantee covers all models.",
    ),
    "BrierStatus": (
        "BrierMonitor.update, BrierMonitor.status",
        "`better` names the model that is shown to be better on average, or is None. Below 0 `difference` is in favour "
        "of the first model.",
    ),
    "Validation": (
        "validate",
        "A calibrated model has O/E 1, intercept 0 and slope 1. A slope below 1 says that predictions are too extreme. "
        "Report the numbers that have an interval with it.",
    ),
    "ByCluster": (
        "validate",
        "The field `by_cluster` of a validation, with `cluster=`. `mean_ratio` is O/E as a mean over hospitals, with "
        "`tau`, the spread between them; `ratio_of_rows` is O/E as a mean over patients. The intervals of single "
        "clusters do not hold all at once: of 20 calibrated ones about one leaves out 1.",
    ),
    "MeanOverClusters": (
        "validate",
        "The fields `mean_ratio` and `mean_in_the_large` of a `ByCluster`. `interval` is for the mean over clusters. "
        "`prediction_interval` is for one further cluster; it is wider, and approximate.",
    ),
    "NetBenefitCurve": (
        "net_benefit",
        "Look at the threshold of your decision. The unit is true positives per row. Acting by the model is worth it "
        "where `model` is above `everyone` and above 0.",
    ),
    "DecisionLossCurve": (
        "decision_loss",
        "`largest_high` bounds what anyone loses by acting from their own threshold on, in the unit of gain and cost.",
    ),
    "RiskCoverage": (
        "risk_coverage",
        "Answer new rows only from the confidence `threshold` on: with the confidence level at most `max_error` of the "
        "answers are wrong. None says that this is shown of no threshold. `area` is the error on average over all "
        "shares answered; compare it with `calibrated_area`, and with `perfect_area`, the least with as many errors.",
    ),
    "CoxResult": (
        "classical.cox",
        "`slope` is 1 and `intercept` 0 for a calibrated model; both are on the scale of log-odds.",
    ),
    "AsymptoticTestResult": (
        "classical.spiegelhalter, classical.kolmogorov_smirnov, classical.kuiper, classical.kernel_calibration_test",
        "A small `pvalue` is evidence against calibration. It is approximate: with few rows use `calibration_test`.",
    ),
    "HosmerLemeshowResult": (
        "classical.hosmer_lemeshow",
        "Read it as an `AsymptoticTestResult`. `observed` and `expected` are the events of each group.",
    ),
    "CalibrationBelt": (
        "classical.calibration_belt",
        "Where the belt does not contain the diagonal, predictions are wrong. `pvalue` is of the whole belt.",
    ),
    "TCalResult": (
        "classical.t_cal",
        "A small `pvalue` is evidence against calibration. `squared_error` is the debiased square at the chosen bins.",
    ),
    "Decomposition": (
        "decompose",
        "`mcb` is what recalibration could gain, `dsc` what the model tells apart, `unc` what no model changes. All "
        "have the unit of the score.",
    ),
    "SkillScore": (
        "skill_score",
        "`skill` is the share by which the predictions lose less than the reference: 1 is perfect, 0 no better. They "
        "are shown to be better if `low` is above 0.",
    ),
    "GroupingLoss": (
        "grouping_loss",
        "With the confidence level, what the features tell beyond the predictions is worth at least `low`, in the unit "
        "of the score. `estimate` may be below 0, where the model that knows the features is worse.",
    ),
    "CalibrationSharpness": (
        "sharpness",
        "`calibration_error` and `sharpness_gap` add up to `total_divergence`. A model with a small error and a large "
        "gap is calibrated and tells little.",
    ),
    "Power": (
        "power",
        "`power` is the probability that the test finds this error; `low` and `high` are limits for the simulation.",
    ),
    "PowerCurve": ("power", "One `Power` for each number of rows, in `points`."),
    "SampleSize": (
        "sample_size",
        "`n` rows find this error with the probability that you asked for. To measure its size takes other numbers, "
        "`for_precision`.",
    ),
    "PrecisionSize": ("sample_size", "With `width=`. `n` rows give an interval of this width."),
    "LabelSize": (
        "sample_size",
        "With `judge_share=`. `n` labels beside a judge give an interval of this width, `labels_only` without one.",
    ),
    "Report": (
        "report",
        "`save` writes it. `models` has the results of each model, which are the same as from the single functions.",
    ),
    "ModelReport": (
        "report",
        "What a report says of one model: `test`, `ece`, `measures` and `diagram`, and the parts that you asked for.",
    ),
}
