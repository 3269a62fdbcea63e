"""Questions asked of small studies, and what their tables hold."""

import numpy as np

import calibstat as cs
from calibstat.study import questions

CALIBRATED = {"uniform": cs.generators.calibrated(), "five": cs.generators.calibrated([0.1, 0.3, 0.5, 0.7, 0.9])}
SHIFTED = {"shift": cs.generators.shift(1.0), "hidden": cs.generators.hidden()}
UNIFORM = cs.generators.calibrated()
FAMILIES = {
    "shifts": cs.generators.models(UNIFORM, {f"{d:g}": {"shift": d} for d in (0.2, 0.6, 1)}),
    "two": cs.generators.models(UNIFORM, {"none": {}, "steep": {"temperature": 2}}),
}
GENERATORS = {"size": CALIBRATED, "ranking": FAMILIES}  # of the other questions SHIFTED
CELL = ["question", "generator", "n", "measure", "method"]
MISSES = ["missed_below", "missed_above"]
SHARE = ["rate", "low", "high"]
ERRORS = ["mean", "mean_se", "bias", "bias_se", "sd", "sd_se", "rmse", "rmse_se"]
ERRORS_BY_N = [f"error_{n}{part}" for n in (20, 40, 80) for part in ("", "_se")]
COLUMNS = {
    "size": [*CELL, "level", "replicates", "rejections", *SHARE],
    "power": [*CELL, "level", "replicates", "rejections", *SHARE],
    "coverage": [
        *CELL,
        "level",
        "replicates",
        "truth",
        "covered",
        *SHARE,
        *MISSES,
        "refused",
        "floored",
        "mean_width",
        "mean_estimate",
        "sd_estimate",
    ],
    "bias": [*CELL, "replicates", "truth", *ERRORS, "q05", "q50", "q95"],
    "consistency": [*CELL, "replicates", "n_from", "truth", "order", "order_se", *ERRORS_BY_N],
    "ranking": [*CELL, "replicates", "against", "models", "undefined", "correlation", "correlation_se"],
}
METHODS = {"size": ["labels", "both"], "power": ["labels", "both"], "coverage": ["honest", "basic"]}
METHODS |= {"bias": ["plug-in"], "consistency": ["rmse", "sd", "bias"], "ranking": ["spearman", "kendall"]}


def ask(question, **changes):
    arguments = {"generators": GENERATORS.get(question, SHIFTED), "n": [20, 40, 80]}
    arguments |= {"measures": ["ece", "ks"], "methods": METHODS[question]}
    return cs.study.run(question, **{**arguments, "replicates": 50, "seed": 5, "n_resamples": 19, **changes})


def seeds(label, n, replicates=50, seed=5):
    """The seeds of the data and of the resamples of a cell, as engine.py says."""
    import hashlib

    key = int.from_bytes(hashlib.blake2b(f"{label}/{n}".encode(), digest_size=8).digest(), "little")
    for replicate in range(replicates):
        yield np.random.SeedSequence([seed, key, replicate]).spawn(2)


def data_sets(generator, label, n, replicates=50, seed=5):
    """The samples of a cell."""
    for data, resamples in seeds(label, n, replicates, seed):
        yield cs.Sample.from_rows(*generator.sample(n, data)), resamples


def made(question, **changes):
    arguments = {"generators": {"g": None}, "n": [100, 400, 1600], "measures": {"m": ("ece", {})}, "methods": ["rmse"]}
    arguments |= {"replicates": 2, "n_resamples": 1, "level": 0.95}
    return questions.QUESTIONS[question](**{**arguments, **changes})
