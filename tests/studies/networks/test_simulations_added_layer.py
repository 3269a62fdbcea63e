"""The study of an added layer: its layers against slow code, and what its findings say from its stored table."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from scipy.optimize import approx_fprime
from simulation_files import study_file, study_part

import calibstat as cs

study = study_file("added_layer")
layers = study_part("layers")
STORED = pd.read_csv(PROJECT / "simulations" / "results" / "added_layer.csv", comment="#")
FINDINGS = (PROJECT / "simulations" / "findings" / "added_layer.md").read_text(encoding="utf-8")
TEXT = " ".join(FINDINGS.split())


def rows_of(n, seed, matrix=None):
    """Classes, predictions and rows of 0 and 1 of a model whose best layer is known."""
    family = cs.generators.dirichlet((0.6,) * 3, temperature=2) if matrix is None else cs.generators.dirichlet(
        (0.6,) * 3, matrix=matrix, shift=(0, 0, 0.5)
    )  # fmt: skip
    y, p = family.sample(n, rng=seed)
    return y, p, np.eye(3)[y]


@pytest.mark.parametrize("score", layers.SCORES)
@pytest.mark.parametrize("kind", layers.LAYERS)
def test_derivatives_are_those_of_differences(kind, score):
    _, p, labels = rows_of(20, 1)
    layer = layers.Layer(kind, 3)
    weights = layer.weights + np.linspace(-0.2, 0.3, layer.weights.size)
    given = (layers.logarithms(p), labels, layers.SCORES[score])
    _, slope = layer.objective(weights, *given)
    expected = approx_fprime(weights, lambda w: layer.objective(w, *given)[0], 1e-7)
    assert slope == pytest.approx(expected, abs=1e-5)


def test_scores_by_hand():
    """Of (.6, .3, .1) with class 0: -log .6, .16 + .09 + .01, and 1 - .6 / sqrt(.36 + .09 + .01)."""
    p, labels = np.array([[0.6, 0.3, 0.1]]), np.array([[1.0, 0.0, 0.0]])
    expected = {"log loss": -np.log(0.6), "Brier score": 0.26, "spherical score": 1 - 0.6 / np.sqrt(0.46)}
    for name, score in layers.SCORES.items():
        assert score(p, labels)[0][0] == pytest.approx(expected[name])


@pytest.mark.parametrize("score", layers.SCORES)
def test_scores_are_proper(score):
    """The mean over classes with probabilities q is smallest where q is predicted."""
    random = np.random.default_rng(1)
    q, others = random.dirichlet((1, 1, 1)), random.dirichlet((1, 1, 1), size=200)
    mean = np.array([q @ layers.SCORES[score](np.tile(p, (3, 1)), np.eye(3))[0] for p in [q, *others]])
    assert (mean[1:] > mean[0]).all()


def test_layers_by_log_loss_are_those_of_the_package():
    y, p, labels = rows_of(400, 2, matrix=[[2, 0.5, 0], [0, 2, 0.5], [0.5, 0, 2]])
    known = {
        "temperature": cs.recalibration.TemperatureScaling(),
        "vector": cs.recalibration.VectorScaling(),
        "matrix": cs.recalibration.MatrixScaling(),
    }
    losses = []
    for kind in layers.LAYERS:
        score = layers.SCORES["log loss"]
        found = score(layers.Layer(kind, 3).fit(p, labels, score).predict(p), labels)[0].mean()
        expected = score(known[kind].fit(p, y).predict_proba(p), labels)[0].mean()
        assert found == pytest.approx(expected, abs=1e-5)
        losses.append(found)
    assert losses == sorted(losses, reverse=True)  # each layer has the one before it as a case


@pytest.mark.parametrize("score", ["Brier score", "spherical score"])
def test_a_temperature_by_any_score_is_the_best_of_a_grid(score):
    _, p, labels = rows_of(400, 3)
    loss = layers.SCORES[score]
    layer = layers.Layer("temperature", 3).fit(p, labels, loss)
    grid = [loss(layers.softmax(layers.logarithms(p) * a), labels)[0].mean() for a in np.linspace(0.1, 2, 1901)]
    assert loss(layer.predict(p), labels)[0].mean() <= min(grid) + 1e-9
    assert layer.weights[0] == pytest.approx(0.5, abs=0.1)  # logits are twice as large as they should be


def test_a_layer_never_adds_to_the_loss_of_its_rows():
    _, p, labels = rows_of(30, 4)
    for (_, score), kind in ((each, kind) for each in layers.SCORES.items() for kind in layers.LAYERS):
        before = score(p, labels)[0].mean()
        assert score(layers.Layer(kind, 3).fit(p, labels, score).predict(p), labels)[0].mean() <= before
    with pytest.raises(ValueError, match=r"expected a layer temperature, vector or matrix, found 'cubic'"):
        layers.Layer("cubic", 3)


def test_gains_are_differences_of_losses_and_need_no_errors():
    y, p, labels = rows_of(300, 5)
    sets = {name: (y[part], p[part]) for name, part in
            zip((study.TRAINING, study.HELD, study.OTHERS), np.split(np.arange(300), 3), strict=True)}  # fmt: skip
    study_classes, study.CLASSES = study.CLASSES, 3
    try:
        rows = pd.DataFrame([*study.gains(sets), *study.rising_gains(sets)])
    finally:
        study.CLASSES = study_classes
    own = rows[rows["judged"] == study.TRAINING]
    assert (own["value"] >= -1e-12).all()
    before = rows[(rows["score"] == "log loss") & (rows["judged"] == study.OTHERS)]["before"].unique()
    assert before == pytest.approx([-np.log(p[200:][labels[200:] == 1]).mean()])
    assert set(rows["layer"]) == {*layers.LAYERS, "rising map"}


def test_a_rising_map_of_rows_that_are_all_right_is_constant():
    assert study.rising(np.ones(3, bool), np.array([0.2, 0.5, 0.9]), np.array([0.1, 1.0])).tolist() == [1, 1]
    assert study.rising(np.zeros(2, bool), np.array([0.2, 0.5]), np.array([0.1])).tolist() == [0]


# --- texts -----------------------------------------------------------------------------------------------------------


def written(value, digits=4):
    """A number as the page writes it, with a minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def rows_at(network, score, fitted, judged):
    rows = STORED[(STORED["network"] == network) & (STORED["score"] == score)]
    rows = rows[(rows["fitted"] == fitted) & (rows["judged"] == judged)]
    return rows.assign(se=rows["sd"] / np.sqrt(rows["networks"]))


def gains_of(network, score, fitted, judged, kinds):
    """A line for each number of passes: the loss before, and the gains."""
    rows = rows_at(network, score, fitted, judged)
    lines = []
    for done in study.PASSES:
        own = rows[rows["passes"] == done].set_index("layer")
        cells = [f"{written(own['gain'][kind])} ± {written(own['se'][kind])}" for kind in kinds]
        lines.append(f"| {done} | {written(own['before'][kinds[0]])} | {' | '.join(cells)} |")
    return "\n".join(lines)


def table_of(network, score, fitted, judged, kinds=layers.LAYERS):
    head = f"| passes | loss before | {' | '.join(kinds)} |\n{'|---' * (len(kinds) + 2)}|"
    return f"{head}\n{gains_of(network, score, fitted, judged, kinds)}"


TABLES = [
    ("log loss", "log loss", study.TRAINING, study.TRAINING),
    ("log loss", "log loss", study.HELD, study.OTHERS),
    ("squared error", "Brier score", study.HELD, study.OTHERS, (*layers.LAYERS, "rising map")),
    ("log loss", "spherical score", study.HELD, study.OTHERS, (*layers.LAYERS, "rising map")),
]


@pytest.mark.parametrize("given", TABLES)
def test_the_findings_have_the_stored_numbers(given):
    assert table_of(*given) in FINDINGS


def test_what_is_said_is_in_the_table():
    held = rows_at("log loss", "log loss", study.HELD, study.OTHERS).set_index(["layer", "passes"])
    z = held["gain"] / held["se"]
    assert (z["temperature"][[1, 4, 16, 256]] > 2).all()
    assert abs(z["temperature"][64]) < 2
    assert (z["matrix"][[16, 64, 256]] < -2).all()
    assert (z["vector"][[16, 64, 256]] < -2).all()
    squares = rows_at("squared error", "Brier score", study.HELD, study.OTHERS).set_index(["layer", "passes"])
    z = squares["gain"] / squares["se"]
    assert (z["temperature"][[1, 4, 16, 64]] > 2).all()
    assert abs(z["temperature"][256]) < 2
    spherical = rows_at("log loss", "spherical score", study.HELD, study.OTHERS).set_index(["layer", "passes"])
    z = spherical["gain"] / spherical["se"]
    assert (z["temperature"][[1, 4, 16]] > 2).all()
    assert (abs(z["temperature"][[64, 256]]) < 2).all()
    on_training = rows_at("log loss", "log loss", study.TRAINING, study.TRAINING).set_index(["layer", "passes"])
    share = on_training["gain"] / on_training["before"]
    assert share.loc[("matrix", [16, 64, 256])].min() > 0.9
    behind = rows_at("log loss", "log loss", study.TRAINING, study.OTHERS).set_index(["layer", "passes"])
    assert (behind["gain"] < 0).loc[[(kind, done) for kind in layers.LAYERS for done in (64, 256)]].all()
    gaps = STORED[STORED["question"] == "gap"].pivot(index=["network", "passes"], columns="layer", values="gain")
    assert (gaps[study.GAP] >= gaps[study.SMOOTH] ** 2).all()
    assert (gaps[study.GAP] <= 2 * gaps[study.SMOOTH]).all()
    late = [f"{written(gaps[study.GAP][name, done])}" for name in study.RECIPES for done in (16, 64, 256)]
    log, squared = (f"{', '.join(three[:2])} and {three[2]}" for three in (late[:3], late[3:]))
    assert f"{log} after 16, 64 and 256 passes by log loss, {squared} by squared error" in TEXT
    assert STORED["networks"].eq(study.NETWORKS).all()


def test_the_picture_is_drawn_from_the_stored_table():
    (figure,) = study.figures(STORED).values()
    drawn = figure.axes[0].lines[0].get_ydata()
    rows = rows_at("log loss", "log loss", study.TRAINING, study.TRAINING)
    assert list(drawn) == rows[rows["layer"] == "temperature"]["gain"].tolist()
    plt.close(figure)
