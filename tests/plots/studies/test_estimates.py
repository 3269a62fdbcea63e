"""Pictures of estimates and the studies that use them: what is drawn is what the table says."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from estimate_tables import FAMILY, MODELS, UNIFORM, from_file, marks, table_of
from simulation_files import study_file

import calibstat as cs
from calibstat.plots.studies import estimates

bins = study_file("bins")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def panel(figure, title):
    return [axes for axes in figure.axes if axes.get_title() == title]


@pytest.mark.parametrize("back", [lambda table: table, from_file])
def test_bias_is_drawn_with_two_standard_errors(back):
    table = table_of("bias")
    figure = cs.study.plot(back(table))
    for measure in ("ece", "ks", "brier"):
        for axes, column in zip(panel(figure, measure), ("bias", "rmse"), strict=True):
            for generator in MODELS:
                rows = table[(table["measure"] == measure) & (table["generator"] == generator)]
                places, half = marks(axes, generator)
                np.testing.assert_allclose(places[:, 1], rows[column])
                np.testing.assert_allclose(half[:, 1], 2 * rows[f"{column}_se"])
                assert (abs(np.log(places[:, 0] / rows["n"])) < 0.2).all()  # beside each other, but nearest to their n
    assert [text.get_text() for text in figure.legends[0].texts] == list(MODELS)


def test_where_the_truth_is_not_known_mean_and_sd_are_drawn():
    table = table_of("bias")
    unknown = table["measure"] == "ks"
    table.loc[unknown, ["truth", "bias", "bias_se", "rmse", "rmse_se"]] = np.nan
    left, right = panel(cs.study.plot(table), "ks")
    rows = table[unknown & (table["generator"] == "calibrated")]
    np.testing.assert_allclose(marks(left, "calibrated")[0][:, 1], rows["mean"])
    np.testing.assert_allclose(marks(right, "calibrated")[0][:, 1], rows["sd"])
    assert "truth unknown" in left.get_ylabel()
    assert right.get_ylabel() == "standard deviation"


def test_an_estimate_without_error_has_no_logarithmic_axis():
    table = table_of("bias", measures=["ece"])
    table.loc[0, ["rmse", "rmse_se"]] = 0.0
    assert panel(cs.study.plot(table), "ece")[1].get_yscale() == "linear"


@pytest.mark.parametrize("back", [lambda table: table, from_file])
def test_orders_are_drawn_in_the_row_of_their_measure(back):
    """Of a table without the errors at each n, such as older ones, they are all that is drawn."""
    table = without_errors(table_of("consistency", methods=["rmse", "bias"], replicates=40))
    figure = cs.study.plot(back(table))
    for (generator, method), rows in table.groupby(["generator", "method"]):
        (axes,) = panel(figure, generator)
        places, half = marks(axes, method)
        np.testing.assert_allclose(places[:, 0], rows["order"])
        np.testing.assert_allclose(half[:, 0], 2 * rows["order_se"])
        assert places[:, 1].round().tolist() == [0, 1, 2]
        assert axes.lines[0].get_xdata()[0] == 0.5
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["ece", "ks", "brier"]
    assert table["order"].isna().any()  # the Brier score has no bias
    assert "n from 30 to 120" in figure.get_supxlabel()


def without_errors(table):
    return table.drop(columns=[column for column in table if column.startswith("error")])


@pytest.mark.parametrize("back", [lambda table: table, from_file])
@pytest.mark.parametrize("methods", [["rmse"], ["rmse", "sd", "bias"]])
def test_errors_fall_beside_their_orders(back, methods):
    table = table_of("consistency", methods=methods, replicates=40)
    figure = cs.study.plot(back(table))
    for generator, part in table.groupby("generator"):
        *curves, orders = panel(figure, generator)
        assert orders.lines[0].get_xdata()[0] == 0.5
        assert [tick.get_text() for tick in orders.get_yticklabels()] == ["ece", "ks", "brier"]
        for axes, method in zip(curves, methods, strict=True):
            assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
            for _, row in part[part["method"] == method].iterrows():
                places, half = marks(axes, row["measure"])
                errors = [row[f"error_{n}"] for n in (30, 60, 120)]
                np.testing.assert_allclose(places, np.column_stack([[30, 60, 120], errors]))
                np.testing.assert_allclose(half[:, 1], [2 * row[f"error_{n}_se"] for n in (30, 60, 120)])
        drawn = [line.get_xydata() for container in orders.containers for line in [container.lines[0]]]
        found = np.sort(np.concatenate([places[:, 0] for places in drawn]))
        np.testing.assert_allclose(found, np.sort(part["order"]))
    assert [text.get_text() for text in figure.legends[0].texts] == ["ece", "ks", "brier"] + methods * (
        len(methods) > 1
    )
    assert "n from 30 to 120" in figure.get_supxlabel()


@pytest.mark.parametrize("back", [lambda table: table, from_file])
def test_correlations_are_drawn_by_method_on_both_sides_of_the_diagonal(back):
    table = table_of("ranking", methods=["spearman", "kendall"])
    figure = cs.study.plot(back(table))
    found = table.set_index(["n", "method", "measure", "against"])
    names = ["ece", "ks", "brier"]
    for n in (30, 60, 120):
        (axes,) = panel(figure, f"n = {n}")
        matrix = np.ma.filled(axes.images[0].get_array(), np.nan)
        assert np.isnan(matrix.diagonal()).all()
        assert len(axes.texts) == 6
        for i, j in combinations(range(3), 2):
            assert matrix[j, i] == pytest.approx(found.loc[(n, "spearman", names[i], names[j]), "correlation"])
            assert matrix[i, j] == pytest.approx(found.loc[(n, "kendall", names[i], names[j]), "correlation"])
        (own,) = panel(figure, "with the order of its true values")
        for method, label in (("spearman", "Spearman's"), ("kendall", "Kendall's")):
            rows = found.loc[[(n, method, name, "its truth") for name in names]]
            places, half = marks(own, f"{label}, n = {n}")
            np.testing.assert_allclose(places[:, 0], rows["correlation"])
            np.testing.assert_allclose(half[:, 0], 2 * rows["correlation_se"])
            assert places[:, 1].round().tolist() == [0, 1, 2]
    assert "below the diagonal Spearman's, above it Kendall's" in figure.get_supxlabel()


def test_one_method_is_on_both_sides_and_one_measure_has_no_pairs():
    figure = cs.study.plot(table_of("ranking", n=[30], methods=["kendall"]))
    matrix = np.ma.filled(panel(figure, "n = 30")[0].images[0].get_array(), np.nan)
    np.testing.assert_array_equal(matrix, matrix.T)
    assert "diagonal" not in figure.get_supxlabel()
    alone = cs.study.plot(table_of("ranking", n=[30], measures=["ks"]))
    assert [axes.get_title() for axes in alone.axes] == ["with the order of its true values"]
    held = cs.study.plot(table_of("ranking", n=[30], measures=["ks"], target="ece"))
    assert [axes.get_title() for axes in held.axes] == ["with the order of the target"]


def test_families_and_models_are_drawn_apart():
    """They would lie on each other in a panel, or in one look."""
    families = {**FAMILY, "shifts": cs.generators.models(UNIFORM, {"none": {}, "high": {"shift": 1}})}
    table = table_of("ranking", generators=families, n=[30])
    figure = cs.study.plot(from_file(table))
    for family in families:
        rows = table[(table["generator"] == family) & (table["against"] == "its truth")]
        (own,) = panel(figure, f"{family}, with the order of its true values")
        np.testing.assert_allclose(marks(own, "Spearman's, n = 30")[0][:, 0], rows["correlation"])
        assert len(panel(figure, f"{family}, n = 30")) == 1
    assert "of 3 or 2 models" in figure.get_supxlabel()
    table = table_of("bias", generators={**families, "calibrated": UNIFORM}, measures=["ks"])
    figure = cs.study.plot(table)
    rows = table[(table["generator"] == "shifts") & (table["model"] == "high")]
    np.testing.assert_allclose(marks(figure.axes[0], "shifts: high")[0][:, 1], rows["bias"])
    assert marks(figure.axes[0], "calibrated")
    alone = cs.study.plot(table_of("bias", generators=FAMILY, measures=["ks"]))
    assert marks(alone.axes[0], "T = 1.5")


@pytest.mark.parametrize("question", ["bias", "consistency", "ranking"])
def test_small_and_large_tables_are_drawn_without_a_warning(question):
    many = {f"shift {d:.1f}": cs.generators.shift(float(d)) for d in np.linspace(0, 1.1, 12)}
    numbers = [10, 20, 40] if question == "consistency" else [10]
    own = {"same_rows": False} if question == "ranking" else {}
    few = {"generators": many if own else MODELS, "n": numbers, "measures": ["ks"], "replicates": 1, **own}
    large = {"generators": many, "n": [10, 20, 40, 80, 160, 320], "replicates": 3, **own}
    for grid in (few, large):
        figure = cs.study.plot(table_of(question, **grid))
        figure.draw_without_rendering()
        assert max(figure.get_size_inches()) < 30


@pytest.mark.parametrize(("question", "column"), [("consistency", "method"), ("ranking", "n"), ("bias", "n")])
def test_part_of_a_table_is_drawn(question, column):
    methods = {"consistency": ["rmse", "sd"], "ranking": ["spearman", "kendall"]}.get(question)
    table = table_of(question, methods=methods)
    first = table["measure"] == "ece"
    figure = cs.study.plot(table[~first | (table[column] == table[column].iloc[0])])
    assert len(figure.axes) > 1


def test_every_label_looks_different():
    looks = estimates._looks(range(12))
    assert len({look["marker"] for look in looks.values()}) == 12
    assert len({(look["color"], look["marker"]) for look in looks.values()}) == 12


def test_averages_are_over_pairs_of_bins_of_one_measure():
    measures = bins.measures_of("adaptive", "l2")
    assert measures["adaptive, l2, 20 bins"] == ("ece", {"strategy": "quantile", "norm": "l2", "n_bins": 20})
    table = table_of("ranking", measures=measures | {bins.BRIER: ("brier", {})}, n=[30])
    found = bins.averages(from_file(table))
    of_bins = table["measure"] != bins.BRIER
    own, brier = of_bins & (table["against"] == "its truth"), table["against"] == bins.BRIER
    others = of_bins & ~own & ~brier
    assert found["with"].tolist() == ["its truth", "other bins", bins.BRIER]
    assert (own.sum(), others.sum(), brier.sum()) == (5, 10, 5)
    means = [table[rows]["correlation"].mean() for rows in (own, others, brier)]
    np.testing.assert_allclose(found["correlation"], means)
    assert found[["family", "strategy", "norm"]].drop_duplicates().to_numpy().tolist() == [["steps", "adaptive", "l2"]]
    (axes,) = bins.figures(table)["spearman"].axes
    places, half = marks(axes, "adaptive bins, with other bins")
    assert places[0, 1] == pytest.approx(means[1])
    assert half[0, 1] == pytest.approx(2 * table[others]["correlation_se"].mean())


def test_quantiles_of_estimates_are_in_the_table_of_bias():
    table = table_of("bias", replicates=1)
    np.testing.assert_allclose(table[["q05", "q50", "q95"]], table[["mean"] * 3].to_numpy())
    many = table_of("bias", replicates=41)
    assert (many["q05"] < many["q50"]).all()
    assert (many["q50"] < many["q95"]).all()


def test_an_infinite_estimate_makes_an_infinite_mean():
    """Of ten rows with predictions of .05 most have no outcome 1, and the normalized cross entropy divides by 0."""
    found = cs.study.run(
        question="bias",
        n=[10],
        replicates=20,
        generators={"rare": cs.generators.calibrated([0.05])},
        measures={"normalized": ("normalized_log_loss", {})},
        seed=1,
    )
    assert found["mean"].tolist() == [np.inf]
    assert np.isnan(found["sd"]).all()
