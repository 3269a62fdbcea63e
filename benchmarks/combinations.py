"""Every question that rows, measures and lenses can be asked about, as named calls on small seeded data.

Only public functions are called, so that any two versions of calibstat answer the same calls.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from small_rows import KINDS, N, classes, events, many_classes, many_rows, rows_of
from spellings import meant

import calibstat as cs

RNG = 7
LENSES = {
    "top_label": "lens='top_label'",
    "one_class(1)": "lens=cs.lenses.one_class(1)",
    "class_wise": "lens='class_wise'",
    "class_wise mean": "lens='class_wise_mean'",
    "class_wise max": "lens='class_wise_max'",
    "canonical": "lens='canonical'",
}
CHEAPER = {"lower_distance": {"grid": 100}}
OPTIONS: dict[str, list[dict[str, Any]]] = {  # of measures, that take other paths through the code than the defaults
    "ece": [{"strategy": "quantile"}, {"n_bins": 50}, {"n_bins": None}, {"norm": "l2"}, {"norm": "max"}],
    "ece_debiased": [{"variant": "sweep"}],
    "kernel_ce": [{"kernel": "gaussian"}, {"bandwidth": 0.2}],
    "kernel_ce_squared": [{"kernel": "gaussian"}, {"bandwidth": 0.2}],
    "random_interval_ce": [{"width": 0.25}],
    "smooth_ece": [{"bandwidth": 0.1}],
    "log_loss": [{"clip": 0.01}],
    "regression_ce": [{"divergence": "kl"}],
    "gce": [
        {"max_prob": True, "class_conditional": False},
        {"binning": "adaptive", "threshold": 0.01},
        {"binning": "adaptive", "ties": "split"},
        {"class_conditional": False, "norm": "l2"},
    ],
    "skce": [
        {"kernel": "gaussian", "distance": "euclidean"},
        {"statistic": "U"},
        {"statistic": "block"},
        {"statistic": "linear"},
    ],
    "canonical_ce": [
        *({"distance": each, "min_size": 20} for each in ("total_variation", "l1", "l2", "max", "squared_euclidean")),
        {"strategy": "uniform", "n_bins": 4},
        {"refit": False, "threshold": "median", "min_size": 20},
    ],
}
OWN = ("own_tail", "own_sum")
OF_MANY_ROWS = (
    "ece",
    "ks",
    "kuiper",
    "kernel_ce",
    "smooth_ce",
    "random_interval_ce",
    "smooth_ece",
    "brier",
    "log_loss",
)
OF_MANY_CLASSES = ("ece", "ks", "canonical_ce", "gce", "skce", "brier")
Call = Callable[[], Any]


class OwnTail(cs.measures.Seminorm):
    """The absolute sum of the residuals of the predictions above .5, divided by n."""

    step = 2.0

    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        """Return the seminorm of residuals."""
        return float(abs(residual[value > 0.5].sum()))

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return the weights of residuals that give the norm."""
        above = value > 0.5
        return above * np.sign(residual[above].sum())


def own_sum(value: np.ndarray, residual: np.ndarray) -> float:
    """Return the absolute sum of the residuals, a seminorm without a witness."""
    return float(abs(residual.sum()))


def register() -> None:
    """Enter the measures of this file into the registry, where calls find them by name."""
    cs.measure("own_tail", bounds=(0, 1))(OwnTail)
    cs.measure("own_sum", bounds=(0, 1))(own_sum)


# --- questions --------------------------------------------------------------------------------------------------------


def measures() -> dict[str, dict[str, Any]]:
    """Return the measures as arguments, by a name for each choice of options."""
    named = {name: {"measure": name, **CHEAPER.get(name, {})} for name in [*cs.MEASURES, *OWN]}
    for name, choices in OPTIONS.items():
        for options in choices:
            said = " ".join(f"{key}={value}" for key, value in options.items())
            named[f"{name} {said}"] = {"measure": name, **options}
    return named


def verbs(y: np.ndarray, prob: np.ndarray, given: dict[str, Any], asked: dict[str, Any]) -> dict[str, Call]:
    """Return what is asked about one measure: of the first model, and of both.

    Draws are so few that a call is short, and so many that the low end of an interval may lie above 0. At a level of .5
    its high end is often what a calibrated model would show.
    """
    models = {"a": prob[0], "b": prob[1]}
    one = {**asked, **given, "rng": RNG}
    return {
        "estimate": partial(cs.estimate, y, prob[0], **asked, **_without(given, "cluster")),
        "test": partial(cs.calibration_test, y, prob[0], n_resamples=19, **one),
        "honest": partial(cs.confidence_interval, y, prob[0], n_resamples=39, **one),
        "honest .5": partial(cs.confidence_interval, y, prob[0], confidence_level=0.5, n_resamples=19, **one),
        "percentile": partial(
            cs.confidence_interval, y, prob[0], method="percentile", confidence_level=0.9, n_resamples=19, **one
        ),
        "compare": partial(cs.compare, y, models, n_resamples=19, **one),
    }


def _without(given: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key != name}


def more_verbs(y: np.ndarray, prob: np.ndarray, given: dict[str, Any], asked: dict[str, Any]) -> dict[str, Call]:
    """Return other ways to ask about one measure, which are asked about some of the data alone."""
    models = {"a": prob[0], "b": prob[1]}
    one = {**asked, **given, "rng": RNG}
    interval = partial(cs.confidence_interval, y, prob[0], **one)
    return {
        "test of both": partial(cs.calibration_test, y, prob[0], resample="both", n_resamples=19, **one),
        "test until 5": partial(cs.calibration_test, y, prob[0], stop_after=5, n_resamples=49, **one),
        "honest .9": partial(interval, confidence_level=0.9, n_resamples=39),
        "basic": partial(interval, method="basic", n_resamples=19),
        "bca": partial(interval, method="bca", n_resamples=19),
        "bracket": partial(interval, method="bracket", n_resamples=39),
        "swap": partial(cs.compare, y, models, method="swap", n_resamples=19, **one),
        "compare .9": partial(cs.compare, y, models, confidence_level=0.9, n_resamples=19, **one),
    }


def plain_verbs(y: np.ndarray, prob: np.ndarray, asked: dict[str, Any]) -> dict[str, Call]:
    """Return what is asked about rows that have neither weights nor clusters."""
    one = {**asked, "rng": RNG}
    half = N // 2
    samples = {"early": (y[:half], prob[0][:half]), "late": (y[half:], prob[1][half:])}
    three = {"a": prob[0], "b": prob[1], "c": prob.mean(axis=0)}
    equivalence_test = meant("lambda *rows, measure, **more: cs.equivalence_test(*rows, by=measure, **more)")
    return {
        "equivalence": partial(equivalence_test, y, prob[0], margin=0.2, n_resamples=39, **one),
        "compare unpaired": partial(cs.compare, samples, n_resamples=19, **one),
        "compare samples": partial(cs.compare, samples, n_resamples=19, **one),
        "compare three": partial(cs.compare, y, three, reference="b", adjust="bh", n_resamples=19, **one),
        "several models": partial(cs.confidence_interval, y, three, n_resamples=19, **one),
        "detail": partial(cs.detail, y, prob[0], **asked),
    }


def others() -> dict[str, Call]:
    """Return calls of functions that ask several questions at once, or draw other things."""
    y, prob = events()["tied"]
    label, vectors = classes()["over-confident"]
    models, of_classes = {"a": prob[0], "b": prob[1]}, {"a": vectors[0], "b": vectors[1]}
    weight, cluster = rows_of("both").values()
    sites = {"site a": np.arange(N) % 3 == 0, "site b": np.arange(N) % 3 == 1, "likely": prob[0] > 0.6}
    bands = ("consistency", "confidence", "monotone", "pointwise_consistency", "pointwise_confidence")
    few = {"n_resamples": 19, "rng": RNG}
    found = {
        "report": partial(cs.report, y, prob[0], rng=RNG),
        "report of two models": partial(cs.report, y, models, rng=RNG),
        "report of groups": partial(cs.report, y, prob[0], by=sites, rng=RNG),
        "report with weights": partial(cs.report, y, prob[0], sample_weight=weight, rng=RNG),
        "report with clusters": partial(cs.report, y, prob[0], cluster=cluster, rng=RNG),
        "report of classes": partial(cs.report, label, vectors[0], rng=RNG),
        "report class_wise": partial(cs.report, label, vectors[0], lens="class_wise", rng=RNG),
        "audit": partial(cs.audit, y, prob[0], sites, **few),
        "audit of shapes": partial(cs.audit, y, prob[0], sites, shape=True, confidence_level=0.9, **few),
        "audit of top labels": partial(cs.audit, label, vectors[0], sites, **few),
        "summarize": partial(cs.summarize, y, models, **few),
        "summarize classes": partial(cs.summarize, label, of_classes, **few),
        "decompose": partial(cs.decompose, y, prob[0], **few),
        "generalization_gap": partial(cs.generalization_gap, (y, prob[0]), (y, prob[1]), **few),
        "gce_family": partial(cs.gce_family, label, vectors[0]),
        "net_benefit": partial(cs.net_benefit, y, prob[0], [0.1, 0.3, 0.6]),
        "risk_coverage": partial(cs.risk_coverage, y, prob[0], max_error=0.2),
        "decision_loss": partial(cs.decision_loss, y, prob[0], [0.1, 0.3, 0.6], **few),
        "sharpness": partial(cs.sharpness, y, prob[0], n_points=21),
        "t_cal": partial(meant("cs.t_cal"), y, prob[0], **few),
        "kernel_calibration_test": partial(meant("cs.kernel_calibration_test"), label, vectors[0], **few),
        "equivalence by bins": partial(cs.equivalence_test, y, prob[0], margin=0.2, **few),
        "detectable_effect": partial(cs.detectable_effect, y, prob[0], "ks", n_datasets=20, **few),
    }
    for band in bands:
        settings = {"band": band, "n_resamples": 49, "rng": RNG, "n_bins": 6}
        found[f"reliability {band}"] = partial(cs.reliability, y, prob[0], **settings)
        found[f"reliability {band} weights"] = partial(cs.reliability, y, prob[0], sample_weight=weight, **settings)
        found[f"reliability {band} class_wise"] = partial(
            cs.reliability, label, vectors[0], lens="class_wise", **settings
        )
    found["reliability canonical"] = partial(
        cs.reliability, label, vectors[0], lens="canonical", n_resamples=39, rng=RNG
    )
    for lens in (cs.lenses.groups([[0, 2], [1]]), cs.lenses.top_k(2)):
        for name in ("brier", "skce", "canonical_ce"):
            settings = {"measure": name, "lens": lens, **few}
            found[f"test {name} {lens.name}"] = partial(cs.calibration_test, label, vectors[0], **settings)
            found[f"honest {name} {lens.name}"] = partial(cs.confidence_interval, label, vectors[0], **settings)
    return found


def _asked() -> Iterator[tuple[str, str, str, str, Call]]:
    """Yield question, measure, lens or data, kind of rows, and the call."""
    binary, several = events(), classes()
    (y, prob), (label, vectors) = binary["tied"], several["over-confident"]
    for measure, asked in measures().items():
        plainly = measure == asked["measure"]  # without options
        for data, (outcome, both) in binary.items():
            if data == "tied" or plainly:
                for kind in KINDS:
                    for question, call in verbs(outcome, both, rows_of(kind), asked).items():
                        yield question, measure, data, kind, call
        for lens, words in LENSES.items():
            through = meant(f"dict({words})")
            for data, (outcome, both) in several.items():
                if data == "over-confident" or plainly:
                    for kind in KINDS:
                        for question, call in verbs(outcome, both, rows_of(kind), {**asked, **through}).items():
                            yield question, measure, f"{data} {lens}", kind, call
        for kind in KINDS:
            for question, call in more_verbs(y, prob, rows_of(kind), asked).items():
                yield question, measure, "tied", kind, call
        for question, call in plain_verbs(y, prob, asked).items():
            yield question, measure, "tied", "plain", call
        for lens in ("class_wise mean", "canonical") if plainly else ():
            through = {**asked, **meant(f"dict({LENSES[lens]})")}
            for question, call in more_verbs(label, vectors, {}, through).items():
                yield question, measure, f"over-confident {lens}", "plain", call
            for question, call in plain_verbs(label, vectors, through).items():
                yield question, measure, f"over-confident {lens}", "plain", call
        if measure in OF_MANY_ROWS:
            outcome, both = many_rows()
            for kind in KINDS:
                for question, call in verbs(outcome, both, rows_of(kind, outcome.size), asked).items():
                    yield question, measure, "many rows", kind, call
        if measure in OF_MANY_CLASSES:
            for lens in ("class_wise mean", "class_wise max", "canonical"):
                for question, call in verbs(*many_classes(), {}, {**asked, **meant(f"dict({LENSES[lens]})")}).items():
                    yield question, measure, f"many classes {lens}", "plain", call
        summary = cs.Sample.from_rows(y, prob[0])
        for question in ("test", "honest", "percentile"):
            call = verbs(y, prob, {}, asked)[question]
            yield question, measure, "summary", "plain", partial(call.func, summary, **call.keywords)


def combinations() -> dict[str, Call]:
    """Return every call by its name, such as "honest | ece n_bins=50 | tied | weights"."""
    asked = {" | ".join(names): call for *names, call in _asked()}
    return asked | {f"other | {name}": call for name, call in others().items()}
