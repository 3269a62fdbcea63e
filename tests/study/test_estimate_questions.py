"""Bias, orders of errors and correlations of estimates, computed again by other means."""

import numpy as np
import pandas as pd
import pytest
from asked_questions import COLUMNS, ERRORS_BY_N, FAMILIES, SHIFTED, ask, data_sets, made, seeds
from scipy import integrate, stats

import calibstat as cs
from calibstat.study import estimate_questions


def test_bias_is_that_of_the_estimates():
    table = ask("bias", n=25, measures=["ece"], generators={"hidden": SHIFTED["hidden"]}).loc[0]
    estimates = np.array([cs.estimate(sample) for sample, _ in data_sets(SHIFTED["hidden"], "hidden", 25)])
    truth = SHIFTED["hidden"].truth("ece")
    assert table["mean"] == pytest.approx(estimates.mean())
    assert table["bias"] == pytest.approx(estimates.mean() - truth)
    assert table["sd"] == pytest.approx(estimates.std())
    assert table["rmse"] == pytest.approx(np.sqrt(((estimates - truth) ** 2).mean()))
    assert table["rmse"] ** 2 == pytest.approx(table["bias"] ** 2 + table["sd"] ** 2)


def test_standard_errors_are_those_of_repeated_studies():
    """Normal estimates: the errors agree with the scatter of 4000 studies, which is known to 1.1%."""
    estimates = np.random.default_rng(3).normal(1.0, 2.0, (4000, 100))
    tables = pd.DataFrame([estimate_questions._errors(row, truth=0.7) for row in estimates])
    for name in ("mean", "bias", "sd", "rmse"):
        scatter = tables[name].std()
        assert tables[f"{name}_se"].mean() == pytest.approx(scatter, rel=0.05)  # 4 standard errors


def test_orders_of_errors_that_are_known():
    """Estimates truth + 3/n ± 2/sqrt(n): bias 3/n, sd 2/sqrt(n), so orders 1 and 1/2, by two points of equal weight."""
    n = np.array([100, 400, 1600])
    asked = made("consistency", methods=["bias", "sd"], generators={"g": cs.generators.shift(1.0)})
    truth = cs.generators.shift(1.0).truth("ece")
    signs = np.tile([1.0, -1.0], 10**6)[:, None]  # many, so that the bias stands out of its standard error
    answers = (truth + 3 / n + signs * 2 / np.sqrt(n))[:, :, None]
    bias, sd = asked.rows(answers)
    assert bias["order"] == pytest.approx(1.0, abs=1e-6)
    assert sd["order"] == pytest.approx(0.5, abs=1e-6)
    assert sd["order_se"] < 1e-8 < bias["order_se"]


def test_an_order_is_that_of_linear_regression():
    """Against scipy's regression, and its standard error by the delta method against 2000 simulated slopes."""
    n = np.array([50, 200, 800, 3200])
    asked = made("consistency", n=n.tolist(), methods=["sd"], generators={"g": cs.generators.calibrated()})
    random = np.random.default_rng(8)
    slopes, errors = [], []
    for _ in range(2000):
        answers = random.normal(0, 1 / np.sqrt(n), (200, 4))
        (row,) = asked.rows(answers[:, :, None])
        slopes.append(row["order"])
        errors.append(row["order_se"])
    assert slopes[-1] == pytest.approx(-stats.linregress(np.log(n), np.log(answers.std(axis=0))).slope)
    assert np.mean(errors) == pytest.approx(np.std(slopes), rel=0.07)  # 4 standard errors of a scatter of 2000


def test_the_errors_of_an_order_are_those_of_bias_at_each_n():
    """Numbers of rows in any order, and the bias without its sign."""
    grid = {"generators": {"hidden": SHIFTED["hidden"]}, "n": [80, 20, 40], "measures": ["ece", "brier"]}
    bias = ask("bias", methods=None, **grid).set_index(["measure", "n"])
    orders = ask("consistency", methods=["rmse", "sd", "bias"], **grid)
    assert [column for column in orders if column.startswith("error")] == ERRORS_BY_N
    for row in orders.to_dict("records"):
        for n in (20, 40, 80):
            expected = bias.loc[row["measure"], n]
            assert row[f"error_{n}"] == abs(expected[row["method"]])
            assert row[f"error_{n}_se"] == expected[f"{row['method']}_se"]
    assert (bias["bias"] < 0).any()  # of the Brier score: so the sign has been left out


def test_an_error_that_cannot_be_told_from_zero_has_no_order():
    asked = made("consistency", methods=["bias", "sd"], generators={"g": cs.generators.calibrated()})
    answers = np.random.default_rng(1).normal(0, 1, (100, 3, 1))
    bias, sd = asked.rows(answers)
    assert np.isnan(bias["order"])
    assert np.isnan(bias["order_se"])
    assert np.isfinite(sd["order"])


@pytest.mark.parametrize("ties", [False, True])
def test_correlations_are_scipys(ties):
    random = np.random.default_rng(4)
    models = {str(k): cs.generators.temperature(1 + k / 10) for k in range(6)}
    asked = made(
        "ranking",
        generators=models,
        n=[10, 20],
        measures={"ks": ("ks", {}), "ece": ("ece", {}), "brier": ("brier", {})},
        methods=["spearman", "kendall"],
        replicates=7,
        same_rows=False,
    )
    by_model = random.random((7, 6, 2, 3))  # replicates, models, n, measures
    if ties:
        by_model = np.round(by_model * 3)
        by_model[:, 0], by_model[:, 1] = 0, 1  # so that no measure ties all of them
    oracle = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}
    names = list(asked.measures)
    rows = list(asked.rows(by_model.reshape(7, 12, 3)))
    assert len(rows) == 2 * 2 * (3 + 3)
    for row in rows:
        i, a = [10, 20].index(row["n"]), names.index(row["measure"])
        if row["against"] == "its truth":
            other = [[models[m].truth(row["measure"]) for m in models]] * 7
        else:
            other = by_model[:, :, i, names.index(row["against"])]
        found = [oracle[row["method"]](x, y).statistic for x, y in zip(by_model[:, :, i, a], other, strict=True)]
        assert row["correlation"] == pytest.approx(np.mean(found), abs=1e-12)
        assert row["correlation_se"] == pytest.approx(np.std(found, ddof=1) / np.sqrt(7), abs=1e-12)


def test_models_that_a_measure_cannot_tell_apart_have_no_order():
    asked = made("ranking", generators=SHIFTED, n=[10], methods=["spearman"], same_rows=False)
    row = next(asked.rows(np.ones((2, 2, 1))))
    assert row["undefined"] == 2
    assert np.isnan(row["correlation"])
    truth, *_ = asked.rows(np.array([[[1.0], [1.0]], [[1.0], [2.0]], [[2.0], [1.0]], [[0.0], [1.0]]]))
    assert truth["undefined"] == 1
    rising = np.sign(SHIFTED["hidden"].truth("ece") - SHIFTED["shift"].truth("ece"))
    assert truth["correlation"] == pytest.approx(rising / 3)  # of 1, -1, 1


class Unknown:
    """A generator that knows no truth."""

    is_calibrated = False

    def sample(self, n, rng):
        return SHIFTED["shift"].sample(n, rng)

    def truth(self, measure, **options):
        raise NotImplementedError("nobody knows")


UNBINNED = ("ece", {"n_bins": None})
UNKNOWN = "the true value of {} is not known, because nobody knows; what is held against it is nan"


def test_an_unknown_truth_is_nan_and_noted_and_the_rest_is_answered():
    with pytest.warns(RuntimeWarning, match=UNKNOWN.format("'ece' on 'unknown'")):
        table = ask("bias", generators={"unknown": Unknown()}, n=20)
    assert table[["truth", "bias", "bias_se", "rmse", "rmse_se"]].isna().all(axis=None)
    assert table[["mean", "mean_se", "sd", "sd_se"]].notna().all(axis=None)
    with pytest.warns(RuntimeWarning, match=UNKNOWN.format("'ece' on 'unknown'")):
        table = ask("ranking", generators={**SHIFTED, "unknown": Unknown()}, n=20, same_rows=False)
    assert (table["correlation"].isna() == (table["against"] == "its truth")).all()
    with pytest.warns(RuntimeWarning, match=UNKNOWN.format("'ece' on 'unknown'")):
        table = ask("consistency", generators={"unknown": Unknown()})
    assert (table["order"].isna() == (table["method"] != "sd")).all()
    with pytest.warns(RuntimeWarning, match=UNKNOWN.format(r"the target ece\(n_bins=None\) on 'unknown'")):
        ask("bias", generators={"unknown": Unknown()}, n=20, target=("ece", {"n_bins": None}))
    with pytest.raises(NotImplementedError, match="nobody knows"):
        ask("coverage", generators={"unknown": Unknown()})


def test_one_measure_without_a_truth_does_not_stop_the_others(registry):
    """It raised for all measures; and the reason named an attribute, `plugs_in`, without saying where to say it."""
    cs.measure("mean_gap")(lambda value, count, positives: float(abs((positives - count * value).sum()) / count.sum()))
    with pytest.warns(RuntimeWarning, match=r"'mean_gap' on 'shift' .* by cs.measure\('mean_gap', plugs_in=True\)"):
        table = ask("consistency", measures=["mean_gap", "ece"], methods=["rmse", "sd"])
    assert table.loc[table["order"].isna(), ["measure", "method"]].drop_duplicates().to_numpy().tolist() == [
        ["mean_gap", "rmse"]
    ]
    alone = ask("consistency", measures=["ece"], methods=["rmse", "sd"])
    pd.testing.assert_frame_equal(table[table["measure"] == "ece"].reset_index(drop=True), alone)


def test_a_number_of_bins_that_grows_has_no_truth_of_its_own_and_can_be_held_against_a_target():
    """Without a target it raised, and stopped all other measures."""
    growing = {"growing": ("ece", {"n_bins": "cube_root"}), "ks": ("ks", {})}
    with pytest.warns(RuntimeWarning, match="'growing' on 'shift' is not known, .* which depends on the number of row"):
        table = ask("bias", n=20, measures=growing, replicates=3)
    assert table["bias"].isna().tolist() == [True, False] * 2
    held = ask("bias", n=20, measures=growing, replicates=3, target=UNBINNED)
    assert held["bias"].notna().all()
    assert held["mean"].tolist() == table["mean"].tolist()


# --- several models on the same rows, and one target ----------------------------------------------------------------


def steps(number):
    return {f"T = {t:g}": {"temperature": t} for t in np.linspace(1, 2, number)}


@pytest.mark.parametrize("oracle", [stats.spearmanr, stats.kendalltau])
def test_models_of_a_family_are_ranked_on_the_same_rows(oracle):
    """Against estimates of each model, one by one, and ranks of scipy."""
    families = {"T": cs.generators.models(cs.generators.calibrated(), steps(5)), **FAMILIES}
    method = {stats.spearmanr: "spearman", stats.kendalltau: "kendall"}[oracle]
    table = ask("ranking", generators=families, n=40, replicates=6, methods=[method])
    assert table["generator"].tolist() == [label for label in families for _ in range(3)]
    assert table["models"].tolist() == [len(family.models) for family in families.values() for _ in range(3)]
    for label, part in table.groupby("generator"):
        family = families[label]
        found = {"its truth": [], "ks": []}
        for data, _ in seeds(label, 40, 6):
            y, p = family.sample(40, data)
            ece, ks = ([cs.estimate(y, each, measure=m) for each in p.values()] for m in ("ece", "ks"))
            found["ks"].append(oracle(ece, ks).statistic)
            found["its truth"].append(oracle(ece, [each.truth("ece") for each in family.models.values()]).statistic)
        rows = part[part["measure"] == "ece"].set_index("against")["correlation"]
        assert rows.to_dict() == pytest.approx({name: np.nanmean(each) for name, each in found.items()}, abs=1e-12)


def test_scores_order_recalibrations_on_the_same_rows_and_not_on_rows_of_their_own():
    """The Brier score of temperature t is that of 1 plus a square that grows with t; the noise of the outcomes is
    common to all models on the same rows. Rows of their own in their place would be noticed."""
    uniform, given = cs.generators.calibrated(), steps(6)
    same = {"T": cs.generators.models(uniform, given)}
    own = {name: cs.generators.distorted(uniform, **how) for name, how in given.items()}
    truths = [model.truth("brier") for model in same["T"].models.values()]
    assert truths == sorted(truths)
    arguments = {"n": 300, "measures": ["brier"], "methods": ["spearman"], "replicates": 60}
    (together,), (apart,) = (
        ask("ranking", generators=each, same_rows=rows, **arguments)[["correlation", "correlation_se"]].to_numpy()
        for each, rows in ((same, True), (own, False))
    )
    assert together[0] - 4 * together[1] > 0.8 > 0.6 > apart[0] + 4 * apart[1]


@pytest.mark.parametrize("question", ["bias", "consistency"])
def test_each_model_of_several_is_answered_as_alone(question):
    """With a column of their names; of a generator of one model it is its label."""
    table = ask(question, generators={**FAMILIES, "shift": SHIFTED["shift"]}, replicates=8)
    assert list(table.columns) == [*COLUMNS[question][:2], "model", *COLUMNS[question][2:]]
    assert list(dict.fromkeys(table["generator"] + ": " + table["model"])) == [
        *("shifts: 0.2", "shifts: 0.6", "shifts: 1", "two: none", "two: steep", "shift: shift")
    ]
    for label, model in (("shifts", "0.6"), ("two", "steep")):
        part = table[(table["generator"] == label) & (table["model"] == model)].drop(columns="model")
        alone = ask(question, generators={label: FAMILIES[label].models[model]}, replicates=8)
        pd.testing.assert_frame_equal(part.reset_index(drop=True), alone)


def test_models_that_a_function_returns_have_no_truth():
    def noisy(n, rng):
        p = rng.random(n)
        return rng.random(n) < p, {"as it is": p, "steep": p**2 / (p**2 + (1 - p) ** 2)}

    found = ask("ranking", generators={"mine": noisy}, n=200, methods=["kendall"], replicates=4)
    assert found["correlation"].isna().tolist() == [True, True, False]
    means = ask("bias", generators={"mine": noisy}, n=200, measures=["brier"], replicates=30).set_index("model")
    assert means["truth"].isna().all()
    z = (means.loc["as it is", "mean"] - 1 / 6) / means.loc["as it is", "mean_se"]  # E[v (1 - v)]
    assert abs(z) < 4


class OtherNames:
    """Its sample returns other models than it says."""

    def __init__(self):
        self.models = {"a": SHIFTED["shift"], "b": SHIFTED["shift"]}

    def sample(self, n, rng):
        y, p = SHIFTED["shift"].sample(n, rng)
        return y, {"b": p, "c": p}


def test_models_are_taken_by_their_names():
    with pytest.raises(ValueError, match="found predictions of 'b', 'c' and models 'a', 'b' of"):
        ask("ranking", generators={"other": OtherNames()})
    nameless = OtherNames()
    nameless.models = None
    nameless.truth = SHIFTED["shift"].truth
    with pytest.raises(ValueError, match=r"expected models, a mapping from name to .* of generator 'other'"):
        ask("bias", generators={"other": nameless}, replicates=2)
    with pytest.raises(ValueError, match="expected models, a mapping from name to a generator"):
        ask("power", generators={"other": nameless}, replicates=2)
    swapped = OtherNames()
    swapped.sample = lambda n, rng: (lambda y, p: (y, {"b": p**3, "a": p}))(*SHIFTED["shift"].sample(n, rng))
    found = ask("bias", generators={"other": swapped}, n=40, measures=["ks"], replicates=20).set_index("model")["mean"]
    alone = ask("bias", generators={"other": SHIFTED["shift"]}, n=40, measures=["ks"], replicates=20)["mean"]
    assert found["a"] == alone[0]


def test_five_bins_are_inconsistent_for_the_error_without_bins():
    """In a closed form: with temperature 1/2 a chance v is predicted as s / (s + c), with roots s of v and c of 1 - v,
    which is too near 1/2. Without bins the error is ln(2)/2 - 1/4, as of temperature 2. Of 5 bins the middle one, from
    .4 to .6, holds the chances from 4/13 to 9/13, whose errors cancel; all others keep one sign."""
    generators = {"T": cs.generators.temperature(0.5)}
    measures = {"five": ("ece", {"n_bins": 5}), "two": ("ece", {"n_bins": 2})}
    arguments = {"generators": generators, "measures": measures, "n": [500, 2000, 8000], "replicates": 60}
    cancelled = 2 * integrate.quad(lambda v: np.sqrt(v) / (np.sqrt(v) + np.sqrt(1 - v)) - v, 4 / 13, 1 / 2)[0]
    held, own = (ask("bias", target=target, **arguments) for target in (UNBINNED, None))
    assert list(held.columns) == [*COLUMNS["bias"][:6], "target", *COLUMNS["bias"][6:]]
    assert set(held["target"]) == {"ece(n_bins=None)"}
    assert held["truth"].to_numpy() == pytest.approx(np.log(2) / 2 - 0.25, abs=1e-9)
    five = held["measure"] == "five"
    assert (held["bias"] - own["bias"])[five].to_numpy() == pytest.approx(-cancelled, abs=1e-9)
    assert (held["bias"] - own["bias"])[~five].to_numpy() == pytest.approx(0, abs=1e-9)
    assert held.loc[five, "bias"].iloc[-1] < -cancelled / 2  # what is left is that of noise in the middle bin
    inconsistent, consistent = (
        ask("consistency", target=target, methods=["rmse"], **arguments).set_index("measure").loc["five"]
        for target in (UNBINNED, None)
    )
    assert inconsistent["order"] + 4 * inconsistent["order_se"] < 0.35
    assert abs(consistent["order"] - 0.5) < 4 * consistent["order_se"]


def test_a_ranking_by_one_target_has_its_order_for_every_measure():
    """A model that knows nothing is calibrated and has the larger score; one that is sharp is off by .08."""
    half, chance = [0.5, 0.5], [0.02, 0.98]
    dull, sharp = (cs.generators.domain(half, chance, prediction) for prediction in ([0.5, 0.5], [0.1, 0.9]))
    families = {"pair": cs.generators.models(dull, {"dull": dull, "sharp": sharp})}
    arguments = {"generators": families, "n": 500, "measures": ["brier", "ece"], "methods": ["kendall"]}
    by_own, by_ece = (ask("ranking", target=target, replicates=10, **arguments) for target in (None, "ece"))
    assert by_own["against"].tolist() == ["its truth", "its truth", "ece"]
    assert by_ece["against"].tolist() == ["the target", "the target", "ece"]
    assert by_own["correlation"].tolist() == [1, 1, -1]
    assert by_ece["correlation"].tolist() == [-1, 1, -1]


def test_the_distance_is_a_target_although_it_is_no_measure():
    """Of two populations of one law: 2 a² / (1 + 2 a) and a, with a = .1; a score has too many values for it."""
    near, far = cs.generators.worlds([0, 1, 0, 1], [0.4, 0.4, 0.6, 0.6])
    table = ask("bias", generators={"near": near, "far": far}, n=20, measures=["ece"], target="distance", replicates=2)
    assert table["truth"].tolist() == pytest.approx([0.02 / 1.2, 0.1], abs=1e-6)
    with pytest.warns(RuntimeWarning, match="true value of the target distance on 'T' is not known, because the dist"):
        ask("bias", generators={"T": cs.generators.temperature(2)}, n=20, target="distance", replicates=2)
    with pytest.warns(RuntimeWarning, match=r"target distance on 'u' is not known, because there is no distance\(\)"):
        ask("bias", generators={"u": Unknown()}, n=20, target="distance", replicates=2)


def test_a_store_of_estimates_serves_every_target(tmp_path):
    """Neither the draws nor the estimates depend on it."""
    first = ask("bias", n=20, store=tmp_path)
    held = ask("bias", n=20, store=tmp_path, target="ks")
    assert held["mean"].tolist() == first["mean"].tolist()
    assert len(list(tmp_path.glob("*.parquet"))) == 1
    same = ask("ranking", n=20, store=tmp_path / "families", replicates=3)
    pd.testing.assert_frame_equal(same, ask("ranking", n=20, store=tmp_path / "families", replicates=3))
