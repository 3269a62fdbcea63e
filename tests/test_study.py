"""Questions and their tables: what is counted, averaged, regressed and correlated, and what is refused."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import calibstat as cs
from calibstat.study import questions

CALIBRATED = {"uniform": cs.generators.calibrated(), "five": cs.generators.calibrated([0.1, 0.3, 0.5, 0.7, 0.9])}
SHIFTED = {"shift": cs.generators.shift(1.0), "hidden": cs.generators.hidden()}
CELL = ["question", "generator", "n", "measure", "method"]
MISSES = ["missed_below", "missed_above"]
SHARE = ["rate", "low", "high"]
ERRORS = ["mean", "mean_se", "bias", "bias_se", "sd", "sd_se", "rmse", "rmse_se"]
COLUMNS = {
    "size": [*CELL, "level", "replicates", "rejections", *SHARE],
    "power": [*CELL, "level", "replicates", "rejections", *SHARE],
    "coverage": [*CELL, "level", "replicates", "truth", "covered", *SHARE, *MISSES, "mean_width", "mean_estimate"],
    "bias": [*CELL, "replicates", "truth", *ERRORS, "q05", "q50", "q95"],
    "consistency": [*CELL, "replicates", "n_from", "truth", "order", "order_se"],
    "ranking": [*CELL, "replicates", "against", "generators", "undefined", "correlation", "correlation_se"],
}
METHODS = {"size": ["labels", "both"], "power": ["labels", "both"], "coverage": ["honest", "basic"]}
METHODS |= {"bias": ["plug-in"], "consistency": ["rmse", "sd", "bias"], "ranking": ["spearman", "kendall"]}


def ask(question, **changes):
    arguments = {"generators": CALIBRATED if question == "size" else SHIFTED, "n": [20, 40, 80]}
    arguments |= {"measures": ["ece", "ks"], "methods": METHODS[question]}
    return cs.study.run(question, **{**arguments, "replicates": 50, "seed": 5, "n_resamples": 19, **changes})


@pytest.mark.parametrize("question", COLUMNS)
def test_columns_and_rows(question):
    table = ask(question)
    assert list(table.columns) == COLUMNS[question]
    assert set(table["question"]) == {question}
    assert set(table["replicates"]) == {50}
    cells = list(table[["generator", "n", "measure", "method"]].itertuples(index=False, name=None))
    generators = list(CALIBRATED if question == "size" else SHIFTED)
    rows, methods = [20, 40, 80], METHODS[question]
    if question == "consistency":
        rows = [80]
    if question == "ranking":  # each measure and its own truth, then the pair
        assert cells == [("all", n, m, method) for n in rows for method in methods for m in ("ece", "ks", "ece")]
        assert table["against"].tolist() == ["its truth", "its truth", "ks"] * 6
    else:
        assert cells == [
            (g, n, m, method) for g in generators for n in rows for m in ("ece", "ks") for method in methods
        ]


# --- every column from the answers, computed again by other means -----------------------------------------------------


def data_sets(generator, label, n, replicates=50, seed=5):
    """The samples of a cell, as engine.py says that they are drawn."""
    import hashlib

    key = int.from_bytes(hashlib.blake2b(f"{label}/{n}".encode(), digest_size=8).digest(), "little")
    for replicate in range(replicates):
        data, resamples = np.random.SeedSequence([seed, key, replicate]).spawn(2)
        yield cs.Sample.from_rows(*generator.sample(n, data)), resamples


def test_rejections_are_those_of_the_public_test():
    table = ask("power", n=25, measures=["ece"], methods=["both"]).set_index("generator")
    for label, generator in SHIFTED.items():
        rejections = sum(
            cs.calibration_test(sample, resample="both", n_resamples=19, rng=rng).pvalue <= 0.05
            for sample, rng in data_sets(generator, label, 25)
        )
        assert table.loc[label, "rejections"] == rejections
        assert table.loc[label, "rate"] == rejections / 50
        limits = stats.binomtest(rejections, 50).proportion_ci(0.95, method="exact")
        assert tuple(table.loc[label, ["low", "high"]]) == pytest.approx((limits.low, limits.high), abs=1e-12)


def test_coverage_is_that_of_the_public_interval():
    table = ask("coverage", n=25, measures=["ks"], methods=["basic"], generators={"shift": SHIFTED["shift"]}).loc[0]
    found = [
        cs.confidence_interval(sample, measure="ks", method="basic", n_resamples=19, rng=rng)
        for sample, rng in data_sets(SHIFTED["shift"], "shift", 25)
    ]
    truth = SHIFTED["shift"].truth("ks")
    assert table["truth"] == truth
    assert table["covered"] == sum(i.low <= truth <= i.high for i in found)
    assert table["missed_below"] == sum(truth < i.low for i in found)
    assert table["missed_above"] == sum(truth > i.high for i in found)
    assert table["mean_width"] == pytest.approx(np.mean([i.high - i.low for i in found]))
    assert table["mean_estimate"] == pytest.approx(np.mean([i.estimate for i in found]))


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
    tables = pd.DataFrame([questions._errors(row, truth=0.7) for row in estimates])
    for name in ("mean", "bias", "sd", "rmse"):
        scatter = tables[name].std()
        assert tables[f"{name}_se"].mean() == pytest.approx(scatter, rel=0.05)  # 4 standard errors


def made(question, **changes):
    arguments = {"generators": {"g": None}, "n": [100, 400, 1600], "measures": {"m": ("ece", {})}, "methods": ["rmse"]}
    arguments |= {"replicates": 2, "n_resamples": 1, "level": 0.95}
    return questions.QUESTIONS[question](**{**arguments, **changes})


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
    asked = made("ranking", generators=SHIFTED, n=[10], methods=["spearman"])
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


def test_an_unknown_truth_is_nan_where_the_rest_is_of_use_and_raises_elsewhere():
    table = ask("bias", generators={"unknown": Unknown()}, n=20)
    assert table[["truth", "bias", "bias_se", "rmse", "rmse_se"]].isna().all(axis=None)
    assert table[["mean", "mean_se", "sd", "sd_se"]].notna().all(axis=None)
    table = ask("ranking", generators={**SHIFTED, "unknown": Unknown()}, n=20)
    assert (table["correlation"].isna() == (table["against"] == "its truth")).all()
    for question in ("coverage", "consistency"):
        with pytest.raises(NotImplementedError, match="nobody knows"):
            ask(question, generators={"unknown": Unknown()})


# --- the numbers depend on the seed and the cell alone ----------------------------------------------------------------


@pytest.mark.parametrize("question", COLUMNS)
def test_a_row_depends_on_the_seed_and_its_cell_alone(question):
    whole = ask(question)
    generators = CALIBRATED if question == "size" else SHIFTED
    one = {"size": ["five"], "ranking": list(SHIFTED)}.get(question, ["hidden"])
    alone = ask(
        question,
        generators={label: generators[label] for label in one},
        n=[20, 40, 80] if question == "consistency" else 40,
        measures={"ks": ("ks", {})},
        methods=METHODS[question][-1:],
    )
    same = whole.merge(alone[[c for c in (*CELL, "against") if c in alone]])
    pd.testing.assert_frame_equal(same, alone, check_exact=True)


def test_another_seed_label_or_n_draws_other_data():
    def means(**changes):
        return ask("bias", measures=["brier"], **changes)["mean"].tolist()

    first = means(generators={"a": SHIFTED["shift"], "b": SHIFTED["shift"]}, n=[60, 61])
    other = means(generators={"a": SHIFTED["shift"], "b": SHIFTED["shift"]}, n=[60, 61], seed=6)
    assert len(set(first + other)) == 8


def test_all_methods_and_measures_see_the_same_data_and_resamples():
    table = ask("coverage", measures={"one": ("ece", {}), "same": ("ece", {"n_bins": 15})})
    for _, part in table.groupby(["generator", "n"]):
        assert part["mean_estimate"].nunique() == 1
        assert part.groupby("method")["mean_width"].nunique().tolist() == [1, 1]


def test_options_reach_the_measure():
    measures = {"fine": ("ece", {"n_bins": 100}), "one": ("ece", {"n_bins": 1})}
    found = ask("power", measures=measures, n=30, methods=["labels"]).set_index(["generator", "measure"])["rejections"]
    assert found["hidden", "fine"] == 50  # all rows are wrong or right
    assert found["hidden", "one"] < 50


# --- misses -----------------------------------------------------------------------------------------------------------


class Interval:
    """What a stub of confidence_interval returns."""

    def __init__(self, low, high):
        self.low, self.high, self.estimate = low, high, 0.5


@pytest.mark.parametrize(
    ("low", "high", "counts"),
    [
        (0.2, 0.3, (20, 0, 0)),
        (0.26, 0.3, (0, 20, 0)),  # the truth, 1/4, lies below the interval
        (0.2, 0.24, (0, 0, 20)),
        (0.25 + 1e-15, 0.3, (20, 0, 0)),  # rounding is no miss
    ],
)
def test_misses_are_counted_on_their_side(monkeypatch, low, high, counts):
    monkeypatch.setattr(questions, "confidence_interval", lambda *_, **__: Interval(low, high))
    half = {"half": cs.generators.calibrated([0.5])}
    table = ask("coverage", generators=half, n=10, measures=["brier"], methods=["basic"], replicates=20)
    assert table.loc[0, "truth"] == 0.25
    assert tuple(table.loc[0, ["covered", "missed_below", "missed_above"]]) == counts
    assert table.loc[0, "mean_width"] == pytest.approx(high - low)


def test_the_labels_test_keeps_its_level_and_a_liberal_one_is_found():
    uniform = {"uniform": CALIBRATED["uniform"]}
    table = ask("size", generators=uniform, n=20, measures=["ece"], n_resamples=39, replicates=1500)
    limit = cs.study.most_rejections(0.05, 1500, 1e-4)
    assert table.loc[0, "rejections"] <= limit
    assert table.loc[1, "rejections"] > limit  # its size is about .1


def test_most_rejections_is_the_exact_limit():
    k = cs.study.most_rejections(0.05, 400, 1e-3)
    assert stats.binom.sf(k, 400, 0.05) <= 1e-3 < stats.binom.sf(k - 1, 400, 0.05)


def test_a_table_is_written_under_a_line_of_facts(tmp_path):
    table = ask("power", n=20, replicates=3)
    path = tmp_path / "results" / "size.csv"
    cs.study.write_table(table, path, command="calibstat study size", seed=5)
    assert path.read_text().splitlines()[0] == "# command: calibstat study size; seed: 5"
    pd.testing.assert_frame_equal(pd.read_csv(path, comment="#"), table, rtol=1e-5, check_dtype=False)


@pytest.mark.parametrize(
    ("question", "changes", "message"),
    [
        ("power", {"measures": ["nothing"]}, "expected a measure"),
        ("power", {"measures": "ece"}, "found the string"),
        ("power", {"measures": {"a": ("ece", {"bins": 3})}}, "expected options of measure"),
        ("power", {"methods": ["rows"]}, "expected a method of question 'power', one of 'labels', 'both'"),
        ("power", {"replicates": 0}, "at least 1 replicate"),
        ("power", {"n": []}, "at least one n, found none"),
        ("power", {"generators": {}}, "at least one generator"),
        ("size", {"generators": SHIFTED}, "expected calibrated generators, found 'shift'"),
        ("coverage", {"methods": ["exact"]}, "expected a method"),
        ("coverage", {"measures": ["brier", "mcb"], "methods": ["basic", "honest"]}, "no honest interval"),
        ("consistency", {"n": [10, 20]}, "at least 3 numbers of rows"),
        ("ranking", {"generators": {"a": SHIFTED["shift"]}}, "at least 2 generators"),
    ],
)
def test_what_cannot_be_asked_raises_before_the_run(question, changes, message):
    with pytest.raises(ValueError, match=message):
        ask(question, **{"replicates": 10**9, **changes})  # so many would take days


def test_an_unknown_question_is_named():
    with pytest.raises(ValueError, match=r"expected a question, one of size, power, .*; found 'sizes'"):
        cs.study.run("sizes", SHIFTED, 10, ["ece"], replicates=1, seed=1)


def test_coverage_asks_for_the_error_over_the_cells_of_each_data_set():
    share, chance, atom = np.array([0.4, 0.2, 0.4]), np.array([0.3, 0.1, 0.75]), np.array([0.2, 0.5, 0.8])
    family = cs.generators.domain(share, chance, atom)
    measures = {
        "quantile": ("ece", {"strategy": "quantile", "n_bins": 2}),
        "cube root": ("ece", {"n_bins": "cube_root"}),
    }
    grid = {"generators": {"tied": family}, "n": 40, "measures": measures}
    table = cs.study.run("coverage", **grid, replicates=30, seed=2, n_resamples=19).set_index("measure")
    truths = []
    for cell in range(30):
        key = int.from_bytes(hashlib.blake2b(b"tied/40", digest_size=8).digest(), "little")
        _, p = family.sample(40, np.random.SeedSequence([2, key, cell]).spawn(2)[0])
        seen, count = np.unique(p, return_counts=True)
        # the only cut is after the prediction whose cumulative count is nearest to 20, the smaller of two
        below = np.cumsum(count)[np.argmin(np.abs(np.cumsum(count) - 20))] if 0 < np.cumsum(count)[0] < 40 else 0
        low = atom <= seen[np.cumsum(count) == below][0]
        parts = share * (chance - atom)
        truths.append(abs(parts[low].sum()) + abs(parts[~low].sum()))
    assert len(set(truths)) > 1
    assert table.loc["quantile", "truth"] == pytest.approx(np.mean(truths), abs=1e-12)
    assert table.loc["cube root", "truth"] == pytest.approx(family.truth("ece", n_bins=4), abs=1e-12)
    assert table["covered"].min() > 20
