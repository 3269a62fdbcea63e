"""Results hold no rows: nothing as long as the data, no data, no problem; pickles do not grow with the rows."""

import functools
import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from held_objects import held, kinds, length
from public_functions import public_functions
from quick_report import quick_report
from result_schemas import misfits
from sklearn.naive_bayes import GaussianNB

import calibstat as cs
from calibstat.data.views import View
from calibstat.in_words import InWords
from calibstat.inference.problems.problem import Problem
from calibstat.result import Result

SMALL, LARGE = 1009, 10_090  # any part of the rows that a result held would be as long as the small ones
FEW = {"n_resamples": 19, "rng": 1}
FORBIDDEN = ("calibstat.data.", "calibstat.measures.", "calibstat.resampling.", "calibstat.generators.")


class Rows:
    """Rows of one outcome and of three classes, every prediction different from all others."""

    def __init__(self, n):
        random = np.random.default_rng(n)
        self.n, self.p = n, random.random(n)
        self.y = (random.random(n) < self.p).astype(int)
        self.q = self.p**1.1
        self.prob = random.dirichlet([1, 1, 1], size=n)
        self.label = (self.prob.cumsum(axis=1) < random.random((n, 1))).sum(axis=1)
        self.weight, self.cluster = random.lognormal(size=n), np.arange(n) // 9
        self.features = pd.DataFrame({"place": np.arange(n) % 5, "age": random.random(n)})

    @property
    def binary(self):
        return self.y, self.p

    @property
    def classes(self):
        return self.label, self.prob


def monitored(rows):
    monitor = cs.Monitor(alpha=0.5)
    for _ in range(3):
        monitor.update(rows.y, rows.p**2)
    return monitor


def impossible_for_a_test(rows):
    return cs.calibration_test(rows.y, np.where(rows.y * rows.p > 0.8, 0, rows.p), **FEW).impossible


def impossible_for_a_monitor(rows):
    monitor = cs.Monitor(alpha=0.5)
    for _ in range(3):
        monitor.update(rows.y, np.where(rows.y * rows.p > 0.9, 0.0, rows.p))
    return monitor.status()


def watched(rows):
    monitor = cs.BrierMonitor()
    monitor.update(rows.y, rows.p, rows.q)
    return monitor


def each_watched(rows):
    monitor = cs.Monitor(alpha=0.5)
    for _ in range(3):
        monitor.update(rows.y, {"p": rows.p**2, "q": rows.p**3}, segment=np.arange(rows.y.size) % 2)
    return monitor


def few(rows):
    """The outcomes of every third row, nan elsewhere."""
    return np.where(np.arange(rows.n) % 3 == 0, rows.y, np.nan)


MAPS = [cs.recalibration.Unchanged(), cs.recalibration.IsotonicRegression()]
DE = {"n_resamples": 19, "n_datasets": 5, "rng": 1}
ASKED = {
    "audit_samples": lambda r: cs.audit_samples({"a": cs.Sample.from_rows(*r.binary)}, **FEW),
    "audit: something impossible": lambda r: cs.audit(r.y, np.where(r.y == 1, 0.0, r.p), r.features, **FEW),
    "audit: clusters": lambda r: cs.audit(*r.binary, r.features, cluster=np.arange(r.y.size) % 10, **FEW),
    "audit": lambda r: cs.audit(*r.binary, r.features, shape=True, **FEW),
    "calibration_belt": lambda r: cs.classical.calibration_belt(*r.binary, held_out=True),
    "calibration_test": lambda r: cs.calibration_test(*r.binary, **FEW),
    "calibration_test: rejected": lambda r: cs.calibration_test(r.y, r.p**3, **FEW).deviation,
    "calibration_test: one side": lambda r: cs.calibration_test(r.y, r.p**3, side="under", **FEW).events,
    "calibration_test: weights": lambda r: cs.calibration_test(*r.binary, sample_weight=r.weight, **FEW),
    "calibration_test: clusters": lambda r: cs.calibration_test(*r.binary, cluster=r.cluster, **FEW),
    "calibration_test: folds": lambda r: cs.calibration_test(*r.binary, folds=np.arange(r.n) % 3, **FEW),
    "calibration_test: proxy": lambda r: cs.calibration_test(few(r), r.p, judge=cs.Judge(r.q, blind=True), **FEW),
    "calibration_test: proxy against noise": lambda r: cs.calibration_test(
        few(r), r.p, judge=cs.Judge(r.q, blind=True), method="noise", **FEW
    ),
    "calibration_test: both": lambda r: cs.calibration_test(*r.binary, measure="ece", resample="both", **FEW),
    "calibration_test: classes": lambda r: cs.calibration_test(*r.classes, **FEW),
    "calibration_test: each class": lambda r: cs.calibration_test(*r.classes, lens="class_wise", **FEW),
    "calibration_test: canonical": lambda r: cs.calibration_test(*r.classes, lens="canonical", **FEW),
    "calibration_test: models": lambda r: cs.calibration_test(r.y, {"a": r.p, "b": r.p}, **FEW),
    "calibration_test: sample": lambda r: cs.calibration_test(cs.Sample.from_rows(*r.binary), measure="ks", **FEW),
    "choose": lambda r: cs.choose(r.y, {"a": r.p, "b": r.q}, subject_to="ks.high <= 0.5", **FEW),
    "compare": lambda r: cs.compare(r.y, {"a": r.p, "b": r.q}, measure="ece", **FEW),
    "compare: classes": lambda r: cs.compare(
        r.label, {"a": r.prob, "b": r.prob[:, [0, 2, 1]]}, measure="brier", cluster=r.cluster, **FEW
    ),
    "confidence_interval": lambda r: cs.confidence_interval(*r.binary, **FEW),
    "confidence_interval: own measure": lambda r: cs.confidence_interval(
        *r.binary, measure=cs.measures.ECE(n_bins=7), **FEW
    ),
    "confidence_interval: drawn": lambda r: cs.confidence_interval(*r.binary, measure="brier", method="bca", **FEW),
    "confidence_interval: folds": lambda r: cs.confidence_interval(*r.binary, folds=np.arange(r.n) % 3, **FEW),
    "compare: proxy": lambda r: cs.compare(few(r), {"p": r.p, "q": r.q}, judge=cs.Judge(1 - r.p), **FEW),
    "confidence_interval: proxy of a mean": lambda r: cs.confidence_interval(
        few(r), r.p, judge=cs.Judge(r.q), measure="brier", **FEW
    ),
    "confidence_interval: proxy": lambda r: cs.confidence_interval(
        few(r), r.p, judge=cs.Judge(r.q), measure="ks", **FEW
    ),
    "confidence_interval: clusters": lambda r: cs.confidence_interval(*r.binary, cluster=r.cluster, **FEW),
    "confidence_interval: classes": lambda r: cs.confidence_interval(*r.classes, lens="class_wise_mean", **FEW),
    "cox": lambda r: cs.classical.cox(*r.binary, held_out=True),
    "decision_loss": lambda r: cs.decision_loss(*r.binary, [0.2, 0.6], **FEW),
    "decompose": lambda r: cs.decompose(*r.binary),
    "decompose: classes": lambda r: cs.decompose(*r.classes),
    "grouping_loss": lambda r: cs.grouping_loss(GaussianNB(), r.features, *r.binary, cv=2, rng=1),
    "audit: a learner": lambda r: cs.audit(*r.binary, cs.Groups(r.features, learner="tree", min_rows=2), **FEW),
    "detectable_effect": lambda r: cs.detectable_effect(*r.binary, **DE),
    "equivalence_test": lambda r: cs.equivalence_test(*r.binary),
    "estimate": lambda r: cs.estimate(*r.binary),
    "estimate: each class": lambda r: cs.estimate(*r.classes, lens="class_wise"),
    "expected_calibration_error": lambda r: cs.expected_calibration_error(*r.binary),
    "gce_family": lambda r: cs.gce_family(*r.classes),
    "generalization_gap": lambda r: cs.generalization_gap(r.binary, (r.y, r.q), measure="ece", **FEW),
    "hosmer_lemeshow": lambda r: cs.classical.hosmer_lemeshow(*r.binary, held_out=True),
    # whose cost is quadratic: a fifth of the rows
    "kernel_calibration_test": lambda r: cs.classical.kernel_calibration_test(
        r.label[: r.n // 5], r.prob[: r.n // 5], rng=1
    ),
    "kolmogorov_smirnov": lambda r: cs.classical.kolmogorov_smirnov(*r.binary),
    "kuiper": lambda r: cs.classical.kuiper(*r.binary),
    "skill_score": lambda r: cs.skill_score(*r.binary, 1 - r.binary[1]),
    "net_benefit": lambda r: cs.net_benefit(*r.binary, [0.2, 0.6]),
    "risk_coverage": lambda r: cs.risk_coverage(*r.binary, max_error=0.4),
    "power": lambda r: cs.power(r.p, "temperature=2", test="ks", n_datasets=5, **FEW),
    "power: curve": lambda r: cs.power(r.p, "temperature=2", [20, 30], test="ks", n_datasets=5, n_sets=2, **FEW),
    "sample_size": lambda r: cs.sample_size(r.p, "temperature=3", test="ks", n_datasets=20, **FEW),
    "sample_size: labels": lambda r: cs.sample_size(
        r.p, width=0.5, of="ks", judge_share=0.5, judge_rows=900, n_sets=2, **FEW
    ),
    "sample_size: width": lambda r: cs.sample_size(r.p, width=0.3),
    "sharpness": lambda r: cs.sharpness(*r.binary),
    "sharpness: classes": lambda r: cs.sharpness(*r.classes),
    "spiegelhalter": lambda r: cs.classical.spiegelhalter(*r.binary),
    "summarize": lambda r: cs.summarize(r.label, {"m": r.prob}, **FEW),
    "t_cal": lambda r: cs.classical.t_cal(*r.binary, **FEW),
    "validate": lambda r: cs.validate(*r.binary),
    "validate: clusters": lambda r: cs.validate(*r.binary, cluster=np.arange(r.n) % 40),
    "reliability": lambda r: cs.reliability(*r.binary, band="confidence"),
    "reliability: weights": lambda r: cs.reliability(*r.binary, sample_weight=r.weight),
    "reliability: each class": lambda r: cs.reliability(*r.classes, lens="class_wise", band=None),
    "reliability: canonical": lambda r: cs.reliability(*r.classes, lens="canonical"),
    "Monitor": monitored,
    "Monitor: status": lambda r: monitored(r).status(),
    "Monitor: something impossible": impossible_for_a_monitor,
    "calibration_test: something impossible": lambda r: (
        cs.calibration_test(r.y, np.where(r.y * r.p > 0.8, 0, r.p), **FEW).impossible
    ),
    "Monitor: summary": lambda r: cs.Monitor().summarize(*r.binary),
    "Monitor: several models": each_watched,
    "Monitor: several models, status": lambda r: each_watched(r).status(),
    "Monitor: several models, summary": lambda r: cs.Monitor().summarize(r.y, {"p": r.p}),
    "BrierMonitor": watched,
    "BrierMonitor: status": lambda r: watched(r).status(),
    "BrierMonitor: summary": lambda r: cs.BrierMonitor().summarize(r.y, r.p, r.q),
    "recalibration: choose": lambda r: cs.recalibration.choose(*r.binary, maps=MAPS, cv=2, repeats=2, rng=1),
    "report": lambda r: quick_report(*r.binary, by=r.features, recalibrate=True, rng=1),
    "report: classes": lambda r: quick_report(*r.classes, rng=1),
}
# what grows, though by no part of the rows
GROWS = {
    "reliability": "the level sets of the isotonic curve, some n^(1/3)",
    "reliability: weights": "the same",
    "reliability: each class": "the same, for each class",
    "report": "it has such diagrams, and as many bins and draws as its measures and tests take",
    "report: classes": "the same",
    "t_cal": "as many numbers of bins as its formula has for so many rows",
}
# what is no result: rows, as their names say, kinds of things, and pictures
WITHOUT_RESULT = {
    *("GENERATORS", "LENSES", "MEASURES", "Bregman", "Lens", "Measure", "generators", "lenses", "measure", "measures"),
    *("Answers", "CalibratedModel", "Clusters", "Data", "Groups", "Judge", "Models", "Predictions", "Sample"),
    *("Slope", "Variation"),
    *("blocks", "from_logits", "predict", "scorer", "sql"),
    *("ReliabilityDisplay", "classical", "plot", "readers", "recalibration", "study"),
}
IN_FULL = {
    "detail": "what a measure computes at every distinct prediction is what it is asked for",
    "cross_validate": "folds, predictions and fitted models are what it makes; dictionaries and frames have none",
}
rows = cache(Rows)
each = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "report: classes")) for name in ASKED]
)


@cache
def asked(name, n):
    return ASKED[name](rows(n))


def stored_rows(found):
    """Return what a result holds that is as long as the rows, or that is data, a measure, or a problem.

    A name of a measure or a lens is none of these.
    """
    return [
        path
        for path, thing in held(found)
        if length(thing) >= SMALL
        or (type(thing).__module__.startswith(FORBIDDEN) and not isinstance(thing, InWords))
        or isinstance(thing, Problem | View)
    ]


def test_no_public_function_is_forgotten():
    functions = {name.partition(":")[0] for name in ASKED}
    assert sorted(functions | WITHOUT_RESULT | set(IN_FULL)) == sorted({*cs.__all__, *public_functions()})


@each
def test_nothing_is_as_long_as_the_rows(name):
    for n in (SMALL, LARGE):
        found = asked(name, n)
        if isinstance(found, Result):  # also what it might keep of these
            assert str(found)
            assert misfits(type(found), found.to_dict()) == []  # of their schema
            assert len(found.to_frame())
        assert stored_rows(found) == []


@each
def test_pickles_do_not_grow_with_the_rows(name):
    small, large = (len(pickle.dumps(asked(name, n))) for n in (SMALL, LARGE))
    if name in GROWS:
        assert abs(large - small) < 8 * (LARGE - SMALL) / 10  # less than a number for every tenth row
    else:
        assert abs(large / small - 1) < 0.05


def test_every_kind_of_result_is_among_them():
    seen = {type(thing) for name in ASKED for _, thing in held(asked(name, SMALL))}
    leaves = {kind for kind in kinds() if not kind.__subclasses__()}
    seen |= {type(cs.detail(*rows(SMALL).binary)), type(cross_validated(SMALL))}
    assert leaves - seen == set()


def test_a_detail_holds_a_number_for_each_prediction():
    found = cs.detail(*rows(SMALL).binary, measure="ks")
    assert stored_rows(found) == ["result.fields['value']", "result.fields['witness']", "result.fields['cumulative']"]


@cache
def cross_validated(n):
    return cs.cross_validate(GaussianNB(), rows(n).features, rows(n).y, cv=2, repeats=1, rng=1)


def test_cross_validation_holds_folds_and_predictions_and_writes_neither():
    found = cross_validated(SMALL)
    assert stored_rows(found) == [f"result.out_of_fold.{name}" for name in ("folds", "predictions")]
    assert stored_rows(found.to_dict()) == stored_rows(found.to_frame()) == []
    small, large = (len(pickle.dumps(cross_validated(n).to_dict())) for n in (SMALL, LARGE))
    assert abs(large / small - 1) < 0.05
    assert not found.folds.flags.writeable
    assert not found.predictions.flags.writeable


class Slotted:
    __slots__ = ("kept",)


def slotted(value):
    one = Slotted()
    one.kept = value
    return one


FAULTS = {
    "array": lambda r: r.p,
    "view": lambda r: r.p[:3],
    "list": lambda r: r.p.tolist(),
    "bytes": lambda r: r.p.tobytes(),
    "dict": lambda r: {1: {"a": (r.p,)}},
    "keys": lambda r: {tuple(r.p): 1},
    "closure": lambda r: lambda: r.p,
    "default": lambda r: lambda x=r.p: x,
    "partial": lambda r: functools.partial(max, r.p),
    "method": lambda r: r.p.sum,
    "method of a class": lambda r: r.__init__,
    "objects": lambda r: np.array([None, r.p], dtype=object),
    "frame": lambda r: pd.DataFrame({"p": r.p}),
    "attributes": lambda r: pd.DataFrame({"p": [1]}).assign(a=1).pipe(lambda f: f.attrs.update(p=r.p) or f),
    "slots": lambda r: slotted(r.p),
    "sample": lambda r: cs.Sample.from_rows([0, 1], [0.2, 0.3]),
    "measure": lambda r: cs.measures.ECE(),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_kept_row_is_found(fault):
    found = cs.classical.cox(*rows(SMALL).binary, held_out=True)
    assert stored_rows(found) == []
    vars(found)["_kept"] = FAULTS[fault](rows(SMALL))
    assert stored_rows(found)
