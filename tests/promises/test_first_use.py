"""First uses with real models and data: at most three lines for each question, the answers checked otherwise."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from command_line import plain_text, run
from quick_report import quick
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, make_scorer
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibstat as cs


@cache
def affairs():
    """Held-out rows of a survey, outcomes "no" and "yes", and three models fitted on the other half."""
    rows = sm.datasets.fair.load_pandas().data.sample(frac=1, random_state=0)
    X, y = rows.drop(columns="affairs"), np.where(rows["affairs"] > 0, "yes", "no")
    models = {
        "forest": RandomForestClassifier(random_state=0),
        "bayes": GaussianNB(),
        "line": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    fitted = {name: model.fit(X[:3000], y[:3000]) for name, model in models.items()}
    return X[3000:], y[3000:], fitted


@cache
def digits():
    """Held-out pictures of ten digits, and naive Bayes fitted on the others."""
    X, y = load_digits(return_X_y=True)
    return X[1::2], y[1::2], GaussianNB().fit(X[::2], y[::2])


def binned_error(y, p, n_bins=15):
    """The ECE by its formula, bins (a, b]."""
    cell = np.maximum(np.ceil(p * n_bins).astype(int), 1)
    return sum(abs((y[cell == b] - p[cell == b]).sum()) for b in np.unique(cell)) / y.size


def test_is_it_calibrated():
    X, y, models = affairs()

    found = cs.calibration_test(y, cs.predict(models, X), rng=0)

    assert [name for name, each in found.items() if each.pvalue <= 0.01] == ["forest", "bayes"]
    assert all(found[name].deviation.claims == ("too far apart",) for name in ("forest", "bayes"))
    assert "had probability 0" in found["forest"].why_infinite  # a leaf of one class, and another was observed
    assert cs.classical.spiegelhalter(y == "yes", models["bayes"].predict_proba(X)[:, 1]).pvalue < 1e-10
    assert cs.classical.spiegelhalter(y == "yes", models["line"].predict_proba(X)[:, 1]).pvalue > 1e-3


def test_is_a_model_of_ten_classes_calibrated():
    X, y, model = digits()

    found = cs.calibration_test(cs.Predictions.from_estimator(model, X, y), rng=0)

    prob = model.predict_proba(X)
    right = prob.argmax(axis=1) == y
    assert str(found.lens) == "lens top_label"
    assert found.pvalue == 0.001
    assert prob.max(axis=1).mean() > right.mean() + 0.1  # over-confident


def test_how_far_is_it_off():
    X, y, models = affairs()

    found = cs.confidence_interval(y, cs.predict(models, X), measure="ece", rng=0)

    for name, each in found.items():
        expected = binned_error((y == "yes").astype(float), models[name].predict_proba(X)[:, 1])
        assert each.estimate == pytest.approx(expected, abs=1e-12)
        assert 0 <= each.low <= each.estimate <= each.high < 0.16
    assert found["forest"].low > 0.05 > found["line"].high


def test_which_of_three_is_best():
    X, y, models = affairs()

    found = cs.compare(y, cs.predict(models, X), measure="brier", rng=0)

    loss = {name: brier_score_loss(y == "yes", each.predict_proba(X)[:, 1]) for name, each in models.items()}
    assert found.estimates.tolist() == pytest.approx(list(loss.values()), rel=1e-12)
    assert min(loss, key=loss.get) == "line"
    against_line = [high for pair, high in zip(found.pairs, found.low, strict=True) if pair[1] == "line"]
    assert min(against_line) > 0  # both others are worse, beyond noise


def test_what_does_recalibration_change():
    X, y, models = affairs()
    p = cs.predict(models["forest"], X)

    scaling = cs.recalibration.PlattScaling(clip=1e-3).fit(p[:1500], y[:1500])
    both = {"before": p[1500:], "after": cs.predict(scaling, p[1500:])}
    found = cs.summarize(y[1500:], both, clip=1e-3, rng=0)

    table = found.to_frame().set_index(["model", "measure"])["estimate"]
    assert table["after", "ece"] < table["before", "ece"] / 2
    assert table["after", "log_loss"] < table["before", "log_loss"]
    score = brier_score_loss(y[1500:] == "yes", p[1500:]["yes"])
    assert table["before", "brier"] == pytest.approx(score, rel=1e-12)
    assert table["after", "accuracy"] == np.mean(scaling.predict(p[1500:]) == y[1500:])


def test_where_is_it_off():
    X, y, models = affairs()

    display = cs.ReliabilityDisplay.from_estimator(models["bayes"], X, y, band="confidence", rng=0)

    table = display.reliability.to_frame()
    assert table["count"].sum() == len(y)
    frequency, mean = calibration_curve(y == "yes", models["bayes"].predict_proba(X)[:, 1], n_bins=15)
    assert np.allclose(table["frequency"], frequency)
    assert np.allclose(table["mean_prediction"], mean)
    plt.close("all")


def test_a_report_to_send(tmp_path):
    X, y, models = (part[:600] if isinstance(part, pd.DataFrame | np.ndarray) else part for part in affairs())
    p = {name: each for name, each in cs.predict(models, X).items() if name != "bayes"}

    with quick():
        found = cs.report(y, p, by=X["age"], recalibrate=True)
    page = found.save(tmp_path / "report.html").read_text()

    assert "://" not in page.replace("http://www.w3.org/", "")  # names of SVG, which no browser asks for
    assert "<script" not in page
    for name, model in found.models.items():
        event, prob = y == "yes", p[name]["yes"].to_numpy()
        assert model.ece.estimate == pytest.approx(binned_error(event.astype(float), prob), abs=1e-12)
        assert model.measures["brier"].estimate == pytest.approx(brier_score_loss(event, prob), rel=1e-12)
        assert all(line in page for line in model.answer.splitlines())
        young = model.groups.names.index("22 < age <= 30")
        inside = (X["age"] > 22) & (X["age"] <= 30)
        assert model.groups.observed[young] == pytest.approx(event[inside].mean())
        assert model.groups.predicted[young] == pytest.approx(prob[inside].mean())
    forest = found.models["forest"]
    assert forest.recalibrated.brier.estimates[0] == pytest.approx(forest.measures["brier"].estimate, rel=1e-12)
    assert forest.recalibrated.after.estimate < forest.ece.estimate


def test_a_report_by_one_command(tmp_path):
    X, y, models = affairs()
    p = cs.predict(models["line"], X)["yes"]
    pd.DataFrame({"affair": y, "line": p}).to_csv(tmp_path / "rows.csv", index=False)

    command = "report rows.csv --label affair --positive yes --prob line --out report.html"
    with quick(), pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        result = run(*command.split())

    assert result.exit_code == 0, result.output
    said = cs.calibration_test(y, p, pos_label="yes", rng=0).answer
    assert plain_text(said) in plain_text(result.stdout)
    assert all(line in (tmp_path / "report.html").read_text() for line in said.splitlines())


def test_for_whom_is_it_wrong():
    X, y, models = affairs()
    p = cs.predict(models["line"], X)

    found = cs.audit(y, p, X[["age", "children"]], rng=0)

    assert [found.names[g] for g in found.found] == ["22 < age <= 30"]
    inside = (X["age"] > 22) & (X["age"] <= 30)
    events, mean = (y[inside] == "yes").sum(), p["yes"][inside].mean()
    assert found.error[found.found] == pytest.approx(events / inside.sum() - mean)
    assert stats.binomtest(events, inside.sum(), mean).pvalue * len(found.names) < 0.05  # Bonferroni
    other = X["children"] > 2
    assert "children > 2" not in [found.names[g] for g in found.found]
    assert stats.binomtest((y[other] == "yes").sum(), other.sum(), p["yes"][other].mean()).pvalue > 0.05


def test_ten_million_rows():
    value = np.linspace(0.05, 0.95, 19)
    positives = np.round(value * 500_000) + np.where(value < 0.5, 3000, -3000)

    sample = cs.Sample.from_counts(value, np.full(19, 10_000_000 // 19), positives)
    found = cs.calibration_test(sample, measure="ks", rng=0)

    assert found.n == 19 * (10_000_000 // 19)
    assert found.pvalue == 0.001


def test_how_many_rows():
    X, _, models = affairs()

    found = cs.sample_size(cs.predict(models["line"], X)["yes"], width=0.2, of="o/e")

    rate = models["line"].predict_proba(X)[:, 1].mean()
    half = 1.959964 * np.sqrt((1 - rate) / (rate * found.n))  # of the interval of log(O/E), Riley et al. 2021
    assert np.exp(half) - np.exp(-half) == pytest.approx(0.2, rel=2e-3)


def test_rows_with_weights():
    X, y, models = affairs()
    p, weight = cs.predict(models, X), np.where(X["age"] > 30, 3.0, 1.0)

    test = cs.calibration_test(y, p, sample_weight=weight, rng=0)
    interval = cs.confidence_interval(y, p, sample_weight=weight, rng=0)
    ax = cs.plot(cs.reliability(y, p, sample_weight=weight, rng=0))

    assert test["forest"].pvalue == test["bayes"].pvalue == 0.001 < test["line"].pvalue
    times = np.repeat(np.arange(len(y)), weight.astype(int))  # as many rows as weight have the same error
    for name, column in ((name, prob["yes"].to_numpy()) for name, prob in p.items()):
        assert interval[name].estimate == pytest.approx(binned_error((y[times] == "yes") * 1, column[times]))
        assert interval[name].effective_n == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    counted = cs.Sample.from_rows(y, p["line"]["yes"], weight, pos_label="yes")
    assert "were taken as" in cs.calibration_test(counted, rng=0).note
    plt.close(ax.figure)


def test_rows_in_clusters():
    X, y, models = affairs()
    site = np.arange(len(y)) % 60

    found = cs.confidence_interval(y, cs.predict(models, X), cluster=site, rng=0)

    assert found["forest"].low > 0.02
    assert found["line"].low < 0.01


def test_is_it_calibrated_if_each_row_was_written_ten_times():
    X, y, models = affairs()
    row = np.repeat(np.arange(300), 10)
    y, p = y[row], cs.predict(models["line"], X)["yes"].to_numpy()[row]

    found = cs.calibration_test(y, p, cluster=row, pos_label="yes", rng=0)

    assert found.pvalue > 0.05
    assert cs.calibration_test(y, p, pos_label="yes", rng=0).pvalue == 0.001  # taken as independent, by mistake
    late = cs.calibration_test(y, p**3, cluster=row, pos_label="yes", rng=0)
    assert late.pvalue <= 0.01  # far too low


def test_how_good_is_the_test_itself():
    population = cs.generators.temperature(1)

    found = cs.study.run("size", {"calibrated": population}, 100, ["ks"], replicates=100, seed=1, n_resamples=99)

    assert found["low"].iloc[0] <= 0.05 <= found["high"].iloc[0]


def test_a_study_of_ones_own(registry):
    def too_high(n, rng):
        return rng.random(n) < 0.3, np.full(n, 0.4)

    cs.measure("bias")(lambda value, residual: abs(residual.sum()))
    found = cs.study.run("power", {"mine": too_high}, 100, ["bias"], replicates=300, seed=1, n_resamples=199)

    events = np.arange(101)
    far = abs(events - 40)  # the test rejects if so many or more of 100 have a probability of at most 5 % at 0.4
    tail = np.array([stats.binom.pmf(events[far >= each], 100, 0.4).sum() for each in far])
    power = stats.binom.pmf(events[tail <= 0.05], 100, 0.3).sum()
    assert stats.binomtest(int(found["rejections"].iloc[0]), 300, power).pvalue > 1e-4


def test_a_score_of_cross_validation():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["malignant", "benign"])[y]
    model = make_pipeline(StandardScaler(), LogisticRegression())

    ece = make_scorer(cs.expected_calibration_error, response_method="predict_proba", pos_label="benign", n_bins=10)
    found = cross_val_score(model, X, names, scoring=ece, cv=3)

    by_number = make_scorer(cs.expected_calibration_error, response_method="predict_proba", n_bins=10)
    assert found == pytest.approx(cross_val_score(model, X, y, scoring=by_number, cv=3), rel=1e-12)
    assert np.all((found > 0) & (found < 0.1))


def test_a_model_of_statsmodels_on_few_rows():
    data = sm.datasets.spector.load_pandas()
    model = sm.Logit(data.endog, sm.add_constant(data.exog)).fit(disp=False)

    found = cs.validate(data.endog, model.predict())

    assert found.slope == pytest.approx(1, abs=1e-6)  # on the rows it was fitted on
    assert found.ratio == pytest.approx(1, abs=1e-8)


def test_the_wrong_class_is_noticed():
    X, y, models = affairs()

    found = cs.calibration_test(y, models["line"].predict_proba(X)[:, 0], pos_label="yes", rng=0)

    assert "The predictions look reversed" in str(found)
    assert isinstance(cs.predict(models["line"], X), pd.DataFrame)
