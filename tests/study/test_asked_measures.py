"""Measures of a study: names, options, measures themselves and plain functions; labels, classes and stores."""

import json

import numpy as np
import pytest
from asked_questions import FAMILIES, SHIFTED, data_sets, seeds

import calibstat as cs

TILTED = {"generators": {"tilted": cs.generators.temperature(3)}}
RUN = {"n": 30, "replicates": 3, "seed": 5}
pytestmark = [
    pytest.mark.usefixtures("registry"),
    pytest.mark.filterwarnings("ignore:the true value of:RuntimeWarning"),  # functions have none
]


def halves(y, p, cut=0.5):
    """The mean over all rows of the absolute sums of residuals on either side of a cut."""
    return (abs((y - p)[p > cut].sum()) + abs((y - p)[p <= cut].sum())) / len(y)


def hits(prob, label):
    return (prob.argmax(axis=1) == label).mean()


def means(measures, question="bias", generators=SHIFTED, **changes):
    """The mean estimates by label, of the first generator."""
    table = cs.study.run(question, generators, measures=measures, **{**RUN, **changes})
    return table[table["generator"] == next(iter(generators))].set_index("measure")["mean"].to_dict()


def test_every_form_of_a_measure_gives_the_same_numbers():
    five = cs.measures.ECE(n_bins=5)
    named = means({"one": ("ece", {"n_bins": 5}), "two": five, "three": (cs.measures.ECE, {"n_bins": 5}), "ece": "ece"})
    assert named["one"] == named["two"] == named["three"] != named["ece"]
    listed = means(
        [("ece", {"n_bins": 5}), "ece", cs.measures.KS, halves, (halves, {"cut": 0.2}), lambda y, p: halves(y, p)]
    )
    assert list(listed) == ["ece(n_bins=5)", "ece", "ks", "halves", "halves(cut=0.2)", "lambda"]
    assert (listed["ece(n_bins=5)"], listed["ece"]) == (named["one"], named["ece"])
    assert means([cs.measures.ECE(n_bins=2)])["ece(n_bins=2)"] == pytest.approx(listed["halves"], abs=1e-15)
    assert listed["lambda"] == listed["halves"]
    fifths = cs.measures.ECE(strategy=(0.2,))
    assert means({"mine": (halves, {"cut": 0.2})}, **TILTED)["mine"] == pytest.approx(
        means({"ece": fifths}, **TILTED)["ece"]
    )


def test_a_function_gets_the_rows_of_each_data_set():
    seen = []
    means({"mine": lambda y, p: float(len(seen.append((y, p)) or y))}, generators={"shift": SHIFTED["shift"]})
    expected = [sample for sample, _ in data_sets(SHIFTED["shift"], "shift", 30, replicates=3)]
    assert len(seen) >= 3
    for (y, p), sample in zip(seen[-3:], expected, strict=True):
        found = cs.Sample.from_rows(y, p)
        for part in ("value", "count", "positives"):
            np.testing.assert_array_equal(getattr(found, part), getattr(sample, part))


def test_the_truth_of_a_function_is_not_known_unless_it_plugs_in_and_others_go_on():
    known = cs.measure("known", plugs_in=True)(lambda y, p: halves(y, p))
    with pytest.warns(
        RuntimeWarning, match=r"true value of 'mine' on 'shift' is not known.*cs.measure\('mine', plugs_in=T"
    ):
        table = cs.study.run("bias", SHIFTED, measures={"mine": halves, "own": known, "ece": "ece"}, **RUN)
    truths = table.pivot(index="generator", columns="measure", values="truth")
    assert truths["mine"].isna().all()
    two = [SHIFTED[label].truth("ece", n_bins=2) for label in truths.index]
    np.testing.assert_allclose(truths["own"], two, atol=2e-5)
    assert table["mean"].notna().all()
    assert table.loc[table["measure"] == "ece", "bias"].notna().all()


@pytest.mark.parametrize("question", ["power", "consistency", "ranking", "comparison"])
def test_other_questions_take_functions(question):
    plugging = cs.measure("mine", plugs_in=True)(halves)
    generators = FAMILIES if question in ("ranking", "comparison") else SHIFTED
    options = {"n": [10, 20, 40]} if question == "consistency" else {}
    options |= {"methods": ["swap"]} if question == "comparison" else {}
    table = cs.study.run(question, generators, measures=[plugging, "ece"], n_resamples=9, **{**RUN, **options})
    assert set(table["measure"]) == {"mine", "ece"}


def test_the_order_of_a_function_without_a_truth_is_not_known_and_those_of_others_are():
    grid = {"measures": {"mine": halves, "ece": "ece"}, **RUN, "n": [20, 80, 320], "replicates": 50}
    orders = cs.study.run("consistency", SHIFTED, methods=["rmse", "sd"], **grid).set_index(["measure", "method"])
    assert orders.loc[("mine", "rmse"), "order"].isna().all()
    assert orders.loc[[("mine", "sd"), ("ece", "rmse"), ("ece", "sd")], "order"].notna().all()


def test_a_target_may_be_a_measure_itself_or_a_function_that_plugs_in():
    known = cs.measure("known", plugs_in=True)(halves)
    grid = {"measures": ["ks"], **RUN}
    two = cs.study.run("bias", SHIFTED, target=cs.measures.ECE(n_bins=2), **grid)
    own = cs.study.run("bias", SHIFTED, target=known, **grid)
    assert set(two["target"]) == {"ece(n_bins=2)"}
    assert set(own["target"]) == {"known"}
    np.testing.assert_allclose(own["truth"], two["truth"], atol=2e-5)


@pytest.mark.slow
def test_processes_do_not_change_the_numbers_of_functions():
    """Functions go to other processes by what they do: they are no names that another process could look up."""
    grid = {"measures": {"mine": lambda y, p: halves(y, p), "ece": "ece"}, **RUN}
    one, two = (cs.study.run("bias", SHIFTED, n_jobs=n_jobs, **grid) for n_jobs in (1, 2))
    assert one.equals(two)


def test_measures_of_classes_are_asked_of_generators_of_classes():
    six = {"six": cs.generators.six_points()}
    found = means({"hits": hits, "top": (halves, {"lens": "top_label"})}, generators=six)
    samples = [cs.generators.six_points().sample(30, data) for data, _ in seeds("six", 30, replicates=3)]
    assert found["hits"] == pytest.approx(np.mean([hits(p, y) for y, p in samples]))
    top = [halves(p.argmax(axis=1) == y, p.max(axis=1)) for y, p in samples]
    assert found["top"] == pytest.approx(np.mean(top))


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (
            {"mine": hits},
            r"of several classes.* for measure 'mine', .* \(prob, label\) .*; found 'shift', whose outcome",
        ),
        (["canonical_ce"], "of several classes.* for measure 'canonical_ce'"),
        ([hits, "ece"], "of several classes.* for measure 'hits'"),
        ([lambda y, p: 0.0, lambda y, p: 1.0], "found two that are called 'lambda'; give a mapping from label"),
        (["ece", cs.measures.ECE()], "found two that are called 'ece'"),
        (halves, r"expected a sequence of measures, such as \[.*found <function halves"),
        (cs.measures.ECE(), r"expected a sequence of measures, .*found ECE\(n_bins=15"),
        (("ece", {"n_bins": 5}), r"expected a name, \(name, options\), .*found {'n_bins': 5}"),
        (
            [["ece"]],
            r"expected a name, \(name, options\), a measure such as .*, or a function of \(y, p\) .*found \['ece'\]",
        ),
        ({"a": (halves, {"n_bins": 5})}, r"expected options of measure 'a' \(cut\), found 'n_bins'"),
        ({"a": (cs.measures.ECE(), {"n_bins": 5})}, "expected no options beside the measure ece"),
        ({"a": lambda first, second: 0.0}, r"measure 'a' to take one of .*\(y, p\); found \(first, second\)"),
        ({"a": lambda y, p: None}, "expected a number from measure 'a', found NoneType"),
        ([dict], "expected a measure, one of ece"),
    ],
)
def test_what_is_no_measure_of_this_study_raises_before_the_run(measures, message):
    with pytest.raises(ValueError, match=message):
        cs.study.run("bias", SHIFTED, 30, measures, replicates=10**9, seed=1)


class Callable:
    def __call__(self, y, p):
        return 0.5


@pytest.mark.parametrize("nameless", [lambda y, p: 0.5, Callable()])
def test_what_has_no_name_is_refused_beside_a_store(nameless, tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=r"that have a name, .* for 'a'; write def name\(y, p\): .*cs.measure\('a'\)"):
        means({"a": nameless}, store=tmp_path / "store")
    assert not (tmp_path / "store").exists()
    assert means({"a": nameless}) == {"a": 0.5}
    cs.measure("a")(nameless)
    assert means(["a"], store=tmp_path / "store") == means({"a": nameless}) == {"a": 0.5}


def test_a_store_knows_functions_by_name_and_measures_of_all_forms_alike(tmp_path):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "store"
    first = means({"a": ("ece", {"n_bins": 5}), "b": (halves, {"cut": 0.2})}, store=folder)
    known = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    assert known["measure 'a'"] == repr(("ece", {"n_bins": 5}))  # as it was before functions were taken
    assert known["measure 'b'"] == f"{__name__}.halves, {{'cut': 0.2}}, {{}}"
    assert means({"a": cs.measures.ECE(n_bins=5), "b": (halves, {"cut": 0.2})}, store=folder) == first
    with pytest.raises(ValueError, match=r"measure 'b' is .*'cut': 0.2.* there and .*'cut': 0.5"):
        means({"a": cs.measures.ECE(n_bins=5), "b": halves}, store=folder)
