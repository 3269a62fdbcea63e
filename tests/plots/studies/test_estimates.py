"""Pictures of estimates and the studies that use them: what is drawn is what the table says."""

import io
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from simulation_files import study_file

import calibstat as cs
from calibstat.measures.kinds.registry import everyday_measures
from calibstat.plots.studies import estimates

MODELS = {"1.5": cs.generators.temperature(1.5), "calibrated": cs.generators.calibrated()}
UNIFORM = cs.generators.calibrated()
FAMILY = {"steps": cs.generators.models(UNIFORM, {f"T = {t}": {"temperature": t} for t in (1, 1.5, 3)})}
bias, bins, consistency, mixture, ranking = map(study_file, ("bias", "bins", "consistency", "mixture", "ranking"))
STUDIES = [file.study for file in (bias, consistency, bins, ranking, mixture)]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def table_of(question, **changes):
    grid = {"generators": FAMILY if question == "ranking" else MODELS, "n": [30, 60, 120], "replicates": 9, "seed": 3}
    grid["measures"] = ["ece", "ks", "brier"]
    return cs.study.run(question, **{**grid, **changes})


def from_file(table):
    return pd.read_csv(io.StringIO("# facts\n" + table.to_csv(index=False)), comment="#")


def panel(figure, title):
    return [axes for axes in figure.axes if axes.get_title() == title]


def marks(axes, label):
    """Places of the marks with this label, and half the lengths of their bars, in both directions."""
    (found,) = [container for container in axes.containers if container.get_label() == label]
    segments = [segment for bars in found.lines[2] for segment in bars.get_segments()]
    half = [np.ptp(ends, axis=0) / 2 if len(ends) else (np.nan, np.nan) for ends in segments]  # no ends: not a number
    return found.lines[0].get_xydata(), np.array(half)


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


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.question)
def test_grids_can_be_asked(study):
    full, quick = study.grids(False), study.grids(True)
    some = {name: dict(list(full[0][name].items())[:few]) for name, few in (("generators", 2), ("measures", 6))}
    found = cs.study.run(**{**full[0], **some, "n": [20, 30, 40], "replicates": 2}, seed=study.seed)
    assert set(found["question"]) == {full[0]["question"]}
    assert len(full) == len(quick)
    for large, small in zip(full, quick, strict=True):
        assert large["replicates"] >= 400 > 4 * small["replicates"]
        assert small.keys() == large.keys()
        assert set(small["generators"]) <= set(large["generators"])
        assert set(small["measures"]) <= set(large["measures"])
        assert max(small["n"]) <= max(large["n"])


@pytest.mark.parametrize("study", [bias.study, consistency.study, ranking.study], ids=lambda study: study.question)
def test_every_registered_measure_is_studied(study):
    for grid in study.grids(False):
        names = {name for name, _ in grid["measures"].values()}
        assert names == set(everyday_measures())


def test_binned_measures_come_with_each_number_of_bins():
    chosen = bias.binned({"ece": ("ece", {"norm": "l2"}), "ks": ("ks", {})}, [5, 50])
    assert chosen == {
        "ece, 5 bins": ("ece", {"norm": "l2", "n_bins": 5}),
        "ece, 50 bins": ("ece", {"norm": "l2", "n_bins": 50}),
    }


def test_bins_are_read_from_labels():
    table = pd.DataFrame({"measure": ["ece", "ks", "ece, 5 bins", "ece, l2", "ece, l2, 100 bins"], "x": range(5)})
    found = bias.with_bins(table)
    assert found.to_numpy().tolist() == [["ece", 0, 15], ["ece", 2, 5], ["ece, l2", 3, 15], ["ece, l2", 4, 100]]
    assert cs.MEASURES["ece"].defaults()["n_bins"] == bias.DEFAULT


def test_pictures_of_bias_part_the_default_from_other_bins():
    measures = {"ece": ("ece", {}), "ks": ("ks", {}), "ece, 5 bins": ("ece", {"n_bins": 5})}
    table = table_of("bias", measures=measures)
    drawn = bias.figures(from_file(table))
    assert {axes.get_title() for axes in drawn[""].axes if axes.has_data()} == {"ece", "ks"}
    axes = drawn["bins"].axes[0]
    rows = table[(table["generator"] == "1.5") & (table["n"] == 60) & table["measure"].str.startswith("ece")]
    np.testing.assert_allclose(marks(axes, "mean estimate, n = 60")[0][:, 1], rows["mean"][::-1])
    (truth,) = [line for line in axes.lines if line.get_label() == "population value"]
    np.testing.assert_allclose(truth.get_ydata(), rows["truth"][::-1])


def test_measures_without_a_known_truth_have_no_order():
    assert consistency.with_truth({"ks": ("ks", {})}) == {"ks": ("ks", {})}

    @cs.measure("unknown_truth", title="t", formula="f", reference="r", bounds=(0, 1))
    def unknown_truth(value, count, positives):
        """Return the share of positives."""
        return positives.sum() / count.sum()

    try:
        assert consistency.with_truth({"unknown": ("unknown_truth", {}), "ks": ("ks", {})}) == {"ks": ("ks", {})}
    finally:
        cs.measures.kinds.registry._REGISTRY.pop("unknown_truth")


@pytest.mark.parametrize("families", [ranking.families(), bins.families()])
def test_families_have_models_of_many_different_truths(families):
    for family in families.values():
        assert len(family.models) >= 10
        assert len({round(model.truth("ece"), 6) for model in family.models.values()}) == len(family.models)


def test_rankings_are_drawn_by_family():
    table = table_of("ranking", generators={"a": FAMILY["steps"], "b": FAMILY["steps"]}, n=30)
    assert set(ranking.figures(table)) == {"a", "b"}


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


@pytest.mark.parametrize("model", ["perfect", "uncalibrated"])
def test_analytic_deviations(model):
    made = mixture.MODELS[model]

    def integrand(x):
        deviation = abs(expit(-2 * x) - expit(made.beta0 + made.beta1 * x))
        return deviation * (norm.pdf(x - 1) + norm.pdf(x + 1)) / 2

    value, _ = quad(integrand, -10, 10, points=[-1 / 3], epsabs=1e-12)  # where the uncalibrated model crosses the truth
    assert mixture.DEVIATION[model] == pytest.approx(value, abs=1e-11)
    assert mixture.DEVIATION["constant"] == mixture.MODELS["constant"].truth("ece")  # its only prediction is right


def test_pictures_of_the_mixture():
    measures = {"1 bins": ("ece", {"n_bins": 1}), "20 bins": ("ece", {"n_bins": 20})}
    table = table_of("bias", generators=mixture.MODELS, measures=measures, n=[30, 60])
    drawn = mixture.figures(from_file(table))
    assert list(drawn) == ["", "rows_in_bins", "deviation"]
    rows = table[(table["generator"] == "uncalibrated") & (table["n"] == 60)]
    axes = drawn[""].axes[5]  # the last model, the larger n
    lines = {line.get_label(): line for line in axes.lines}
    np.testing.assert_allclose(lines["median"].get_ydata(), rows["q50"])
    np.testing.assert_allclose(lines["population value with these bins"].get_ydata(), rows["truth"])
    ends = [segment[:, 1].tolist() for segment in axes.collections[0].get_segments()]
    np.testing.assert_allclose(ends, rows[["q05", "q95"]])
    places, _ = marks(drawn["rows_in_bins"].axes[0], "n = 60")
    np.testing.assert_allclose(places, np.column_stack([[60, 3], rows["q50"] - mixture.DEVIATION["uncalibrated"]]))
    for axes, model in zip(drawn["deviation"].axes, mixture.MODELS.values(), strict=True):
        (true,) = [line for line in axes.lines if line.get_label() == "true deviation"]
        v, deviation = true.get_data()
        assert len(v) == (1 if model.beta1 == 0 else 801)
        np.testing.assert_allclose(deviation, model.curve(v) - v)


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
