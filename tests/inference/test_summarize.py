"""The summary of several models: every number is that of the verb it stands for, and bad bargains are named."""

import numpy as np
import pytest
from lucky_rows import lucky_rows
from sklearn.metrics import roc_auc_score

import calibstat as cs
from calibstat.inference.summarize import SECONDS, foretold

SETTINGS = {"n_resamples": 99, "rng": 3}


def models(n=800):
    y, p = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(n, rng=1)
    cooled = np.sqrt(p) / np.sqrt(p).sum(axis=1, keepdims=True)  # undoes the temperature
    rate = np.bincount(y, minlength=3) / n
    return y, {"raw": p, "cooled": cooled, "rates": np.tile(rate, (n, 1))}


def test_every_cell_is_the_verb_it_stands_for():
    y, p = models()
    found = cs.summarize(y, p, **SETTINGS)
    assert found.names == ("raw", "cooled", "rates")
    assert found.measures == (
        "accuracy", "ece", "average_ce", "adaptive_calibration_error", "smooth_ece", "auc", "log_loss", "brier",
    )  # fmt: skip
    for i, prob in enumerate(p.values()):
        expected = [
            np.mean(prob.argmax(axis=1) == y),
            cs.estimate(y, prob, measure="ece"),
            cs.estimate(y, prob, measure="average_ce"),
            cs.estimate(y, prob, measure="gce", binning="adaptive"),
            cs.estimate(y, prob, measure="smooth_ece"),
            roc_auc_score(prob.argmax(axis=1) == y, prob.max(axis=1)),
            cs.estimate(y, prob, measure="log_loss", lens="canonical"),
            cs.estimate(y, prob, measure="brier", lens="canonical"),
        ]
        assert found.estimate[i] == pytest.approx(expected, abs=1e-12)
    alone = np.isin(found.measures, ("auc", "average_ce"))
    assert np.array_equal(np.isnan(found.low), np.tile(alone, (3, 1)))
    assert np.all(found.low[:, ~alone] <= found.high[:, ~alone])
    frame = found.to_frame()
    assert frame.shape == (24, 6)
    top, whole = "accuracy, ece, average_ce, smooth_ece, auc", "adaptive_calibration_error, log_loss, brier"
    assert f"\nWhat is measured: {top} for the most likely class; {whole} for all classes jointly.\n" in str(found)
    assert str(found).count("No honest interval is known for average_ce, auc.") == 1
    assert "nan" not in str(found)


def test_only_bad_bargains_are_named():
    y, p = models()
    found = cs.summarize(y, p, **SETTINGS)
    # undoing the distortion lowers the error and both scores; constant rates lower the error and raise both
    assert {text.split(":")[0] for text in found.warnings} == {"rates"}
    assert {text.split("but ")[1].split(" ")[0] for text in found.warnings} == {"log_loss", "brier"}
    assert cs.summarize(y, p, reference="cooled", **SETTINGS).names == found.names
    assert not cs.summarize(y, {"cooled": p["cooled"], "raw": p["raw"]}, **SETTINGS).warnings


def test_an_infinite_loss_is_said():
    y, p = models(100)
    certain = np.eye(3)[p["raw"].argmax(axis=1)]
    found = cs.summarize(y, {"certain": certain, "raw": p["raw"]}, **SETTINGS)
    column = found.measures.index("log_loss")
    assert found.estimate[0, column] == np.inf
    assert found.low[0, column] == found.high[0, column] == np.inf
    assert "nan" not in str(found)
    assert "log_loss, which" not in str(found)
    row = np.flatnonzero(certain[np.arange(y.size), y] == 0)[0]
    said = f"{(certain[np.arange(y.size), y] == 0).sum()} rows were predicted to be impossible and happened"
    assert found.warnings[0] == f"certain: log_loss is infinite: {said} (the first is row {row})."
    moved = cs.summarize(y, {"certain": certain, "raw": p["raw"]}, clip=0.01, **SETTINGS)
    observed = np.clip(certain[np.arange(y.size), y], 0.01, 0.99)
    assert moved.estimate[0, column] == pytest.approx(-np.log(observed).mean())
    found = cs.summarize(y, {"rates": p["rates"], "certain": np.eye(3)[y]}, **SETTINGS)
    column = found.measures.index("auc")
    assert found.estimate[0, column] == 0.5  # predictions that are all equal
    assert np.isnan(found.estimate[1, column])  # one outcome alone: always right
    assert "undefined" in str(found)
    assert np.isfinite(np.delete(found.estimate, column, axis=1)).all()


def test_two_outcomes():
    y, v = cs.generators.temperature(1.5).sample(500, rng=1)
    found = cs.summarize(y, {"model": v}, **SETTINGS)
    for name in ("ece", "average_ce", "smooth_ece", "log_loss", "brier"):
        assert found.estimate[0, found.measures.index(name)] == pytest.approx(
            cs.estimate(y, v, measure=name), abs=1e-12
        )
    assert found.estimate[0, -1] == pytest.approx(np.mean((y - v) ** 2), abs=1e-12)  # as in scikit-learn
    assert (
        "\nWhat is measured: accuracy for the most likely class; ece, average_ce, smooth_ece, auc, log_loss, brier for "
        "outcome 1; adaptive_calibration_error for all classes jointly.\n"
    ) in str(found)
    for other in (v[:, None], np.column_stack((1 - v, v))):
        assert cs.summarize(y, {"model": other}, **SETTINGS).estimate == pytest.approx(found.estimate, abs=1e-12)


def test_errors():
    y, p = models(50)
    with pytest.raises(ValueError, match="expected a reference, one of raw, cooled, rates; found 'x'"):
        cs.summarize(y, p, reference="x")
    with pytest.raises(ValueError, match=r"expected predictions of the same classes from all models, found \[2, 3\]"):
        cs.summarize(np.minimum(y, 1), {"three": p["raw"], "two": p["raw"][:, 0]})
    for bad, message in (({}, "names of one or more models"), (p["raw"], "a mapping from name to predictions")):
        with pytest.raises(ValueError, match=message):
            cs.summarize(y, bad)


def test_why_an_interval_does_not_end_lower():
    y, v = lucky_rows()
    found = cs.summarize(y, {"even": v, "too low": v / 2}, **SETTINGS)
    high = found.high[0, found.measures.index("ece")]
    assert found.remarks[0] == (
        f"even, ece: A calibrated model would show {high:.4f} on these rows; the interval does not end below that."
    )
    assert not any(remark.startswith("too low, ece") for remark in found.remarks)
    assert found.remarks[0] in str(found)


# --- weights and clusters --------------------------------------------------------------------------------------------

CENTRES = {"clusters": 60, "size": "geometric", "share": 0.3, "weights": "independent"}
KINDS = [("cluster",), ("sample_weight",), ("cluster", "sample_weight")]
FEW = {"n_resamples": 19, "rng": 3}


@pytest.mark.parametrize("kinds", KINDS)
def test_each_interval_of_such_rows_is_that_of_its_function(kinds):
    y, p, cluster, weight = cs.generators.temperature(1.5).sample(300, rng=1, **CENTRES)
    rows = {name: {"cluster": cluster, "sample_weight": weight}[name] for name in kinds}
    found = cs.summarize(y, {"a": p, "b": np.sqrt(p)}, **rows, **FEW)
    for i, prob in enumerate((p, np.sqrt(p))):
        table = dict(zip(found.measures, zip(found.estimate[i], found.low[i], found.high[i], strict=True), strict=True))
        for measure in ("ece", "smooth_ece", "log_loss", "brier"):
            one = cs.confidence_interval(y, prob, measure=measure, **rows, **FEW)
            assert table[measure] == (one.estimate, one.low, one.high)
        weights = weight if "sample_weight" in kinds else None
        assert table["auc"][0] == pytest.approx(roc_auc_score(y, prob, sample_weight=weights), abs=1e-12)
        right, low, high = table["accuracy"]
        assert right == pytest.approx(np.average((prob > 0.5) == y, weights=weights), abs=1e-12)
        assert low < right < high
        assert np.isnan(table["average_ce"][1])
    assert ("adaptive_calibration_error" in found.measures) == ("sample_weight" not in kinds)
    assert ("60 clusters of 1 to" in str(found)) == ("cluster" in kinds)
    assert ("of equal weight" in str(found)) == (found.effective_n is not None) == ("sample_weight" in kinds)


def test_what_is_of_all_classes_jointly_is_left_out_with_weights():
    y, p, cluster, weight = cs.generators.dirichlet((1, 1, 1)).sample(200, rng=1, **CENTRES)
    of_one = ("accuracy", "ece", "average_ce", "smooth_ece", "auc")
    assert cs.summarize(y, {"a": p}, sample_weight=weight, **FEW).measures == of_one
    assert len(cs.summarize(y, {"a": p}, cluster=cluster, **FEW).measures) == 8


def test_weights_that_are_repetitions_give_the_estimates_of_repeated_rows():
    y, p = cs.generators.temperature(1.5).sample(80, rng=1)
    times = np.random.default_rng(1).integers(1, 4, 80)
    once = cs.summarize(y, {"a": p}, sample_weight=times, **FEW)
    again = cs.summarize(np.repeat(y, times), {"a": np.repeat(p, times)}, **FEW)
    both = [again.measures.index(name) for name in once.measures if name != "smooth_ece"]  # its bandwidth sees rows
    mine = [k for k, name in enumerate(once.measures) if name != "smooth_ece"]
    assert once.estimate[:, mine] == pytest.approx(again.estimate[:, both], abs=1e-12)


@pytest.mark.slow
def test_the_accuracy_of_rows_in_centres_is_covered():
    """Its expected value is that of max(p, 1 - p), of predictions that are right."""
    family = cs.generators.calibrated()
    draw = np.maximum(p := family.sample(200_000, rng=1)[1], 1 - p)
    misses = 0
    for seed in range(100):
        y, p, cluster, weight = family.sample(300, rng=seed, **CENTRES)
        found = cs.summarize(y, {"a": p}, cluster=cluster, sample_weight=weight, n_resamples=1, rng=1)
        misses += not found.low[0, 0] <= draw.mean() <= found.high[0, 0]
    assert misses <= cs.study.most_rejections(0.05, 100, 0.001)


def test_what_is_said_of_absent_clusters_holds_for_scores_too():
    """Whether they are compared depends on the numbers: a worse score beside a smaller calibration error."""
    random = np.random.default_rng(1)
    p = random.choice([0.1, 0.9], 600)
    y = (random.random(600) < p).astype(int)
    models, cluster = {"a": 0.25 + p / 2, "flat": np.full(600, y.mean())}, np.arange(600) // 10
    hidden = cs.Clusters(cluster, unseen="rows")
    found, plain = (cs.summarize(y, models, cluster=each, **SETTINGS) for each in (hidden, cluster))
    assert "ece falls" in " ".join(found.warnings)
    assert found.warnings != plain.warnings


# --- measures that are asked for by name -----------------------------------------------------------------------------


def rows_of_two():
    y, p = cs.generators.temperature(1.5).sample(200, rng=1)
    return y, {"a": p, "b": np.sqrt(p)}


@pytest.mark.parametrize("kinds", [(), ("sample_weight",)])
def test_named_measures_are_columns_of_the_whole_table(kinds):
    y, models = rows_of_two()
    about = {name: np.arange(200) % 3 + 1.0 for name in kinds}
    whole = cs.summarize(y, models, **about, **FEW)
    for asked in ("ece", ["brier", "accuracy"], ["auc"], ["auc", "smooth_ece"], [*whole.measures]):
        found = cs.summarize(y, models, measures=asked, **about, **FEW)
        names = [asked] if isinstance(asked, str) else asked
        assert found.measures == tuple(name for name in whole.measures if name in names)
        at = [whole.measures.index(name) for name in found.measures]
        for part in ("estimate", "low", "high"):
            np.testing.assert_array_equal(getattr(found, part), getattr(whole, part)[:, at])
        assert found.subjects == tuple(whole.subjects[k] for k in at)
        assert found.left_out == {}


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (["ecee"], "did you mean 'ece'"),
        ([], "expected one measure or more"),
        (["ece", "ece"], "each once"),
        (["kss"], "expected a measure of a summary.* did you mean 'ks'"),
        (["ece", cs.measures.ECE()], "each once"),
        ([3], "expected a measure"),
        (3, "expected measures or their names for measures="),
    ],
)
def test_wrong_measures_are_refused(measures, message):
    y, models = rows_of_two()
    with pytest.raises(ValueError, match=message):
        cs.summarize(y, models, measures=measures, **FEW)


def test_measures_beside_those_of_the_table_stand_behind_them():
    y, models = rows_of_two()
    asked = ["ks", cs.measures.ECE(n_bins=7), "brier", cs.measures.Kuiper]
    found = cs.summarize(y, models, measures=asked, **FEW)
    assert found.measures == ("brier", "ks", "ece(n_bins=7)", "kuiper")
    for k, measure in enumerate(["brier", "ks", cs.measures.ECE(n_bins=7), "kuiper"]):
        own = cs.confidence_interval(cs.Sample.from_rows(y, models["b"]), measure=measure, **FEW)
        assert (found.estimate[1, k], found.low[1, k], found.high[1, k]) == (own.estimate, own.low, own.high)
    assert cs.summarize(y, models, measures=cs.measures.ECE(), **FEW).measures == ("ece",)
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(100, rng=1)
    assert cs.summarize(label, {"a": prob}, measures=["skce", "ks"], **FEW).subjects == (
        "all classes jointly",
        "the most likely class",
    )


def test_a_measure_that_takes_no_weights_is_refused_where_it_is_named():
    y, models = rows_of_two()
    with pytest.raises(ValueError, match="expected measures that take weights, found adaptive_calibration_error"):
        cs.summarize(y, models, measures=["adaptive_calibration_error"], sample_weight=np.ones(200), **FEW)


def test_what_would_take_long_is_left_out_by_name_unless_it_is_asked_for(monkeypatch):
    y, models = rows_of_two()
    whole = cs.summarize(y, models, **FEW)
    assert whole.left_out == {}
    assert "Left out" not in str(whole)
    monkeypatch.setitem(SECONDS, "smooth_ece", (1e9, 0.0))
    found = cs.summarize(y, models, **FEW)
    assert found.measures == tuple(name for name in whole.measures if name != "smooth_ece")
    seconds = 1e9 * 2 * 200 / 1e6 * 19 / 999
    assert found.left_out == pytest.approx({"smooth_ece": seconds})
    assert (
        "Left out, because it takes long: smooth_ece (about 2.1 h on one core). To have smooth_ece, name it: "
        "measures='smooth_ece'." in str(found)
    )
    assert cs.summarize(y, models, measures=["smooth_ece"], **FEW).measures == ("smooth_ece",)


def test_time_grows_with_rows_models_resamples_and_of_joint_measures_with_classes():
    label, prob = cs.generators.dirichlet((1, 1, 1)).sample(30, rng=1)
    one = cs.Predictions.from_rows(label, prob)
    names = ("ece", "adaptive_calibration_error")
    some = foretold({"a": one}, names, 10**12)
    assert [*some] == ["adaptive_calibration_error"]
    of = "adaptive_calibration_error"
    assert foretold({"a": one, "b": one}, names, 10**12)[of] == pytest.approx(2 * some[of])
    assert foretold({"a": one}, names, 2 * 10**12)[of] == pytest.approx(2 * some[of])
    assert some[of] == pytest.approx(1.6 * (30 / 1e4) ** 0.55 * 90 / 1e6 * 10**12 / 999)


def sizes(n=20_000):
    """A model whose ECE is 0.2 points, and one whose ECE is 6."""
    y, p = cs.generators.temperature(1.02).sample(n, rng=1)
    return y, {"near": p, "far": p**1.3}


def test_the_answer_names_the_models_whose_error_is_shown_to_be_small():
    y, p = sizes()
    found = cs.summarize(y, p, measures="ece", **SETTINGS)
    assert found.shown_small == ("near",)
    assert found.answer == "The ECE is shown to be small for 1 of 2 models: near."
    assert str(found).splitlines()[0] == found.answer
    tested = {name: cs.calibration_test(y, prob, rng=3).size for name, prob in p.items()}
    assert [name for name, size in tested.items() if size.is_small] == ["near"]
    few = cs.summarize(*sizes(200), measures="ece", **SETTINGS)
    assert few.answer == "No model's ECE is shown to be small."
    both = cs.summarize(y, {"one": p["near"], "same": p["near"]}, measures="ece", **SETTINGS)
    assert both.answer == "Each model's ECE is shown to be small."


def test_the_answer_about_one_model_is_the_size_of_its_error():
    y, p = sizes()
    for name, begins in (("near", "The error is small: ECE "), ("far", "The error is not shown to be small: ECE ")):
        found = cs.summarize(y, {name: p[name]}, measures=["ece", "brier"], **SETTINGS)
        assert found.answer.startswith(begins)
        size = cs.calibration_test(y, p[name], rng=3).size
        assert found.answer.partition(": ")[2].removesuffix(".") == size.where.partition(" (")[0]


def test_the_answer_of_classes_is_of_the_most_likely_one():
    """Small is at most a fifth of the smaller of accuracy and 1 minus it."""
    y, p = cs.generators.dirichlet((0.02, 0.02, 0.02)).sample(20_000, rng=1)
    found = cs.summarize(y, {"sure": p}, measures=["accuracy", "ece"], **SETTINGS)
    accuracy, high = found.estimate[0, 0], found.high[0, 1]
    assert (found.shown_small == ("sure",)) == (high <= min(0.02, 0.2 * (1 - accuracy)))
    assert high < 0.02


def test_without_an_interval_of_ece_there_is_no_answer():
    y, p = sizes(500)
    found = cs.summarize(y, p, measures="brier", **SETTINGS)
    assert (found.answer, found.shown_small) == ("", ())
    assert str(found).startswith("Summary of 2 models")
