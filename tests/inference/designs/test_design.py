"""Designs: which rows have which, what each takes and refuses, by which methods, and what it says of rows."""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pytest

import calibstat as cs
from calibstat.inference.designs.clustered import Clustered
from calibstat.inference.designs.cross_validated import CrossValidated
from calibstat.inference.designs.design import Design, HowToTest
from calibstat.inference.designs.design_of import design_of, independent
from calibstat.inference.designs.independent import Independent, need_method
from calibstat.inference.designs.judged_labels import Judged
from calibstat.inference.honest_ends import NoInterval
from calibstat.inference.problems.pose import problem_of
from calibstat.inference.rows_of_results import ClustersOfRows, Rows
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws

Y, P = cs.generators.temperature(2).sample(240, rng=1)
UNIT, FOLD = np.arange(240) // 3, np.arange(240) // 3 % 4
FEW, JUDGE = np.where(np.arange(240) % 3 == 0, Y, np.nan), cs.Judge(Y * 1.0, blind=True)
W = np.tile([1.0, 2.5], 120)
DATA = {
    "independent": cs.Data(Y, P),
    "weights": cs.Data(Y, P, sample_weight=W),
    "clusters": cs.Data(Y, P, cluster=UNIT),
    "folds": cs.Data(Y, P, folds=FOLD),
    "folds of clusters": cs.Data(Y, P, folds=FOLD, cluster=UNIT),
    "judge": cs.Data(FEW, P, judge=JUDGE),
    "judge of clusters": cs.Data(FEW, P, judge=JUDGE, cluster=UNIT),
}
DESIGNS = {
    "independent": Independent,
    "weights": Independent,
    "clusters": Clustered,
    "folds": CrossValidated,
    "folds of clusters": CrossValidated,
    "judge": Judged,
    "judge of clusters": Judged,
}
FEW_DRAWS = {"n_resamples": 9, "rng": 1}


@pytest.mark.parametrize("name", DATA)
def test_rows_have_one_design(name):
    design = design_of(DATA[name])
    assert type(design) is DESIGNS[name]
    assert design.data is DATA[name]


def test_clusters_alone_refuse_what_clusters_do_not_take():
    independent(DATA["weights"]).need_no_clusters("no clusters")
    with pytest.raises(ValueError, match=r"^no clusters$"):
        independent(DATA["clusters"]).need_no_clusters("no clusters")


@pytest.mark.parametrize("name", DATA)
def test_a_design_knows_the_clusters_of_all_rows(name):
    unit = design_of(DATA[name]).unit
    assert (unit is not None) == ("clusters" in name)
    assert unit is None or unit.tolist() == UNIT.tolist()


def test_labelled_rows_are_independent_or_in_clusters():
    assert type(independent(cs.Data(Y, P))) is Independent
    assert type(independent(cs.Data(Y, P, cluster=UNIT))) is Clustered


NO_STUDY = "because no study covers both; found"
DEPENDENT = ("clusters", "folds", "judge")
REFUSED = [
    (
        "clusters",
        {"null": np.sqrt},
        "null=, because how outcomes of a cluster depend on each other, a map does not say",
    ),
    ("folds", {"null": np.sqrt}, "null=, because each fold has a model of its own; found null=$"),
    ("judge", {"null": np.sqrt}, "null=, because the judge is about deviations from the predictions; found null=$"),
    *((name, {"resample": "both"}, f"resample=, {NO_STUDY} resample='both'") for name in DEPENDENT),
    *((name, {"stop_after": 5}, f"stop_after=, {NO_STUDY} stop_after=5") for name in DEPENDENT),
    *((name, {"side": "over"}, f"side=, {NO_STUDY} side='over'") for name in ("folds", "judge")),
]


@pytest.mark.parametrize(("name", "given", "why"), REFUSED)
def test_what_a_design_refuses_of_a_test_has_a_reason(name, given, why):
    word = {"clusters": "cluster"}.get(name, name)
    with pytest.raises(ValueError, match=f"expected rows without {word}= beside {why}"):
        cs.calibration_test(DATA[name], measure="ks", **given, **FEW_DRAWS)


def without_reason(designs):
    """Designs with the arguments of a test that they neither take nor refuse: of `Independent` alone all are taken.

    A side is refused unless a design names the measure for it.
    """
    asked = set(HowToTest.__dataclass_fields__) - {"side"}
    return {each.__name__: missing for each in designs if (missing := asked ^ each.refuses.keys())}


def test_every_other_design_says_what_it_refuses():
    assert without_reason({*DESIGNS.values()} - {Independent}) == {}
    assert Independent.refuses == {}


def test_a_design_that_forgets_an_argument_is_found():
    class Planted(Clustered):
        refuses = MappingProxyType({"null": "a reason"})

    assert without_reason([Planted]) == {"Planted": {"resample", "stop_after"}}


def test_what_is_the_default_is_not_refused():
    for name, data in DATA.items():
        how = design_of(data).how_to_test(HowToTest())
        assert how == HowToTest(), name
    how = design_of(DATA["independent"]).how_to_test(HowToTest(np.sqrt, "both", 5))
    assert (how.null, how.resample, how.stop_after) == (np.sqrt, "both", 5)
    for given in ([], np.arange(3), {"a": 1}):  # that no set can hold
        with pytest.raises(ValueError, match="expected rows without folds= beside null="):
            design_of(DATA["folds"]).how_to_test(HowToTest(given))
        with pytest.raises(ValueError, match="expected resample 'labels' or 'both', found"):
            cs.calibration_test(Y, P, resample=given)


TESTS = {"judge": ("direction", "noise"), "judge of clusters": ("direction", "noise")}
INTERVALS = {
    "independent": ("honest", "proven", "bracket", "percentile", "basic", "bca"),
    "folds": ("triangle", "mirror"),
    "judge": ("rectified",),
}
INTERVALS |= {"weights": INTERVALS["independent"], "clusters": INTERVALS["independent"]}
INTERVALS |= {f"{name} of clusters": INTERVALS[name] for name in ("folds", "judge")}


@pytest.mark.parametrize("name", DATA)
def test_the_first_method_is_the_default(name):
    design, tests, intervals = design_of(DATA[name]), TESTS.get(name, ()), INTERVALS[name]
    assert (design.test_methods, design.interval_methods) == (tests, intervals)
    assert design.test_method(None) == (tests[0] if tests else "")
    assert design.interval_method(None, 0.9) == design.interval_method("honest", 0.9) == intervals[0]
    for method in tests:
        assert design.test_method(method) == method
    for method in intervals:
        assert design.interval_method(method, 0.9) == method


@pytest.mark.parametrize("method", ["other", ["honest"], 3, np.arange(2), {}])
@pytest.mark.parametrize("name", DATA)
def test_other_methods_are_refused_with_those_that_there_are(name, method):
    design, word = design_of(DATA[name]), {"clusters": "cluster"}.get(name, name.split()[0])
    beside = "" if name in ("independent", "weights") else f" of rows with {word}="
    if TESTS.get(name):
        expected = f"expected a method{beside}, one of direction, noise; found"
    else:
        expected = f"expected no method= for a test{beside}, which has one way; found"
    with pytest.raises(ValueError, match=expected):
        design.test_method(method)
    with pytest.raises(ValueError, match=f"expected a method{beside}, one of {', '.join(INTERVALS[name])}; found"):
        design.interval_method(method, 0.9)


@pytest.mark.parametrize("level", [0, 1, 95, "0.9", None, [0.9], np.nan])
@pytest.mark.parametrize("name", DATA)
def test_a_wrong_level_is_refused_before_anything_is_drawn(name, level):
    with pytest.raises(ValueError, match="expected confidence_level between 0 and 1, found"):
        design_of(DATA[name]).interval_method(None, level)


@pytest.mark.parametrize("name", DATA)
def test_each_design_has_measures_of_its_own_by_default(name):
    test, interval = {"folds": ("kernel_ce",) * 2, "judge": ("ks", "ece")}.get(name.split()[0], ("omnibus", "ece"))
    design = design_of(DATA[name])
    assert (design.test_measure, design.interval_measure) == (test, interval)
    if name in ("independent", "folds", "judge"):
        assert cs.calibration_test(DATA[name], **FEW_DRAWS).measure.name == test
        assert cs.confidence_interval(DATA[name], **FEW_DRAWS).measure.name == interval


def test_what_is_said_of_rows():
    assert str(design_of(DATA["independent"]).described(240)) == "240 independent rows"
    found = design_of(DATA["clusters"]).described(240, W)
    assert isinstance(found, ClustersOfRows)
    assert (found.n, found.clusters, found.smallest, found.largest) == (240, 80, 3, 3)
    assert str(found) == "80 clusters of 3 rows each (effective number 78)"  # sums of 4.5 and 6: 420**2 / (40 * 56.25)
    assert type(design_of(DATA["weights"]).described(240, W)) is Rows


@pytest.mark.parametrize("name", ["independent", "weights", "clusters"])
def test_a_design_answers_for_a_problem_that_is_posed_already(name):
    design = design_of(DATA[name])
    problem = problem_of(DATA[name], find_measure("ks", {}))
    draws = Draws.of(1, 99)
    interval = design.interval_of(problem, "honest", 0.95, draws)
    asked = cs.confidence_interval(DATA[name], measure="ks", n_resamples=99, rng=1)
    assert interval.to_dict() == asked.to_dict()
    ends = design.honest_ends(problem, draws)
    assert (max(ends.low(0.05), 0), ends.high(0.05)) == pytest.approx((asked.low, asked.high))


def test_a_problem_of_several_numbers_has_no_interval():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(60, rng=1)
    each = problem_of(cs.Data(label, prob, lens="class_wise"), find_measure("ece", {}))
    with pytest.raises(
        ValueError, match=r"expected lens 'class_wise_mean' or .* or one_class\(k\), found 'class_wise'"
    ):
        need_method(each, "honest")
    with pytest.raises(NoInterval, match=r"no proven interval is known for ece.* has the methods honest, percentile"):
        need_method(problem_of(DATA["independent"], find_measure("ece", {})), "proven")
    with pytest.raises(NoInterval, match="no bca interval of rows with weights is known for ece"):
        cs.confidence_interval(DATA["weights"], method="bca")
    with pytest.raises(NoInterval, match="no bca interval with clusters is known for ece; it has the methods percent"):
        cs.confidence_interval(DATA["clusters"], method="bca")


def test_a_design_from_outside_is_named_by_the_class_of_its_rows():
    @dataclass(frozen=True, eq=False)
    class Own(Independent):
        word = "strata"

    class OwnRows(cs.Data):
        design = Own

    assert type(design_of(OwnRows(Y, P))) is Own
    assert type(design_of(OwnRows(Y, P).through("top_label"))) is Own
    assert issubclass(Own, Design)
    with pytest.raises(TypeError, match="abstract"):
        Design(cs.Data(Y, P))
