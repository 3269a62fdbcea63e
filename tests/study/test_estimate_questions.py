"""Bias, orders of errors and correlations of estimates, computed again by other means."""

import numpy as np
import pandas as pd
import pytest
from asked_questions import ERRORS_BY_N, SHIFTED, ask, data_sets, made
from scipy import stats

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
