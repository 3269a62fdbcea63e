"""User-defined measures, each in a few lines and in this file alone, and what every kind gives for them."""

import numpy as np
import pytest
from documentation import measure_pages
from scipy import stats

import calibstat as cs
from calibstat import measures
from calibstat.measures.kinds import registry

RNG = np.random.default_rng(0)
P = RNG.random(150).round(2)
Y = (RNG.random(150) < P**1.6).astype(int)  # too high
PROB = RNG.dirichlet([1, 1, 1], 120)
LABEL = RNG.integers(0, 3, 120)
FEW = {"n_resamples": 99, "rng": 0}


class OwnMean(measures.Seminorm):
    """The absolute mean residual."""

    step = 2.0

    def norm(self, value, residual):
        return abs(residual.sum())

    def witness(self, value, residual):
        return np.full(value.size, np.sign(residual.sum()))


class OwnHalves(measures.Binned):
    """The L1 error over the predictions up to a cut and above it."""

    cut: float = 0.5
    is_l1 = True

    def check(self):
        if not 0 < self.cut < 1:
            raise ValueError(f"expected a cut between 0 and 1, found {self.cut!r}")

    def cells(self, value, count):
        return (value > self.cut).astype(np.int64)

    def reduce(self, count, residual, value):
        return np.abs(residual).sum(axis=-1)


class OwnLoss(measures.MeanLoss):
    """The mean of the absolute difference of outcome and prediction, to a power."""

    power: float = 1.0

    def loss(self, value):
        return value**self.power, (1 - value) ** self.power

    def vector_loss(self, prob, label):
        return (1 - prob[np.arange(label.size), label]) ** self.power


class OwnCells(measures.VectorBinned):
    """Half the L1 distance of mean label and mean prediction, over cells of equal predicted class."""

    cell_norm = measures.AbsoluteSum(0.5)

    def cells(self, prob):
        return np.unique(prob.argmax(axis=1), return_inverse=True)[1]

    def reduce(self, count, residual, value):
        return np.abs(residual).sum(axis=(-2, -1)) / 2


def own_function(value, residual):
    return abs(residual.sum())


def own_summary(value, count, positives, *, power=1.0):
    return abs((positives - count * value).sum() / count.sum()) ** power


def own_classes(prob, label):
    return abs((prob.argmax(axis=1) == label).mean() - prob.max(axis=1).mean())


BINARY = ["own_mean", "own_halves", "own_loss", "own_function", "own_summary"]
MULTICLASS = ["own_loss", "own_cells", "own_classes"]


@pytest.fixture(scope="module", autouse=True)
def registered():
    """Register them as a decorator does, for these tests alone."""
    cs.measure("own_mean", bounds=(0, 1))(OwnMean)
    cs.measure("own_halves", bounds=(0, 1))(OwnHalves)
    cs.measure("own_loss", bounds=(0, 1), tail="two-sided")(OwnLoss)
    cs.measure("own_cells", bounds=(0, 1))(OwnCells)
    for function in (own_function, own_summary, own_classes):
        cs.measure(function.__name__)(function)
    yield
    for name in {*BINARY, *MULTICLASS}:
        registry._REGISTRY.pop(name)


# two rows with residuals .5 and -.75: their mean is -.125, each half holds one of them, the mean loss is that of both
BY_HAND = {"own_mean": 0.125, "own_halves": 0.625, "own_loss": 0.625, "own_function": 0.125, "own_summary": 0.125}


@pytest.mark.parametrize("name", BINARY)
def test_estimate_by_hand(name):
    assert cs.estimate([1, 0], [0.5, 0.75], measure=name) == BY_HAND[name]
    assert cs.estimate([1, 0], [0.5, 0.75], measure=cs.MEASURES[name]()) == BY_HAND[name]


def test_options_are_fields():
    assert cs.estimate([1, 0], [0.5, 0.75], measure="own_halves", cut=0.8) == 0.125
    assert cs.estimate([1, 0], [0.5, 0.75], measure=OwnLoss(power=2.0)) == (0.25 + 0.5625) / 2
    assert cs.estimate([1, 0], [0.5, 0.75], measure="own_summary", power=2.0) == 0.015625
    with pytest.raises(ValueError, match="expected a cut between 0 and 1, found 2"):
        OwnHalves(cut=2)


@pytest.mark.parametrize("name", BINARY)
def test_exact_test(name):
    """The p-value is one plus the draws at least as large, of labels drawn from the predictions."""
    found = cs.calibration_test(Y, P, measure=name, **FEW)
    assert found.statistic == pytest.approx(cs.estimate(Y, P, measure=name), abs=1e-15)
    null = found.null_distribution
    above, below = (np.sum(null >= found.statistic - 1e-12), np.sum(null <= found.statistic + 1e-12))
    least = above if found.tail == "greater" else min(above, below) * 2 + 1
    assert found.pvalue == pytest.approx(min((1 + least) / 100, 1))
    calibrated = cs.calibration_test((RNG.random(150) < P).astype(int), P, measure=name, **FEW)
    assert found.pvalue <= 0.02 < calibrated.pvalue or found.tail == "two-sided"


@pytest.mark.parametrize("name", BINARY)
def test_bootstrap_intervals(name):
    found = cs.confidence_interval(Y, P, measure=name, method="percentile", **FEW)
    assert found.low < cs.estimate(Y, P, measure=name) < found.high


@pytest.mark.parametrize("name", MULTICLASS)
def test_canonical_predictions(name):
    settings = {"measure": name, "lens": "canonical"}
    estimate = cs.estimate(LABEL, PROB, **settings)
    drawn = cs.calibration_test(LABEL, PROB, **settings, **FEW)
    assert drawn.statistic == pytest.approx(estimate, abs=1e-15)
    found = cs.confidence_interval(LABEL, PROB, method="percentile", **settings, **FEW)
    assert found.low < estimate < found.high


@pytest.mark.parametrize("name", BINARY)
def test_class_wise(name):
    expected = [cs.estimate(k == LABEL, PROB[:, k], measure=name) for k in range(3)]
    assert cs.estimate(LABEL, PROB, measure=name, lens="class_wise") == pytest.approx(expected, abs=1e-15)
    found = cs.calibration_test(LABEL, PROB, measure=name, lens="class_wise", **FEW)
    assert found.classes.statistic == pytest.approx(expected, abs=1e-15)
    together = cs.calibration_test(LABEL, PROB, measure=name, lens="class_wise_mean", **FEW)
    assert together.statistic == pytest.approx(np.mean(expected), abs=1e-15)


def test_details():
    """A seminorm gives its witness, a mean its losses; other kinds what they define, nothing by default."""
    assert cs.detail([1, 0], [0.5, 0.75], measure="own_mean")["witness"].tolist() == [-1.0, -1.0]
    fields = cs.detail([1, 0], [0.5, 0.75], measure="own_loss").fields
    assert fields["loss_positive"].tolist() == [0.5, 0.25]
    assert fields["loss_negative"].tolist() == [0.5, 0.75]
    assert cs.detail(LABEL, PROB, measure="own_loss", lens="canonical")["loss"].shape == (120,)
    for name in ("own_halves", "own_function", "own_summary"):
        assert cs.detail(Y, P, measure=name).fields == {}


# hidden: .45 predict .52 and are wrong, .55 predict .58 and are right, so the mean residual is .55 - .553 and no
# prediction is below 1/2. two_point(.1): half predict .6 and are right, half .4 and are wrong: residuals .2 and -.2.
@pytest.mark.parametrize(
    ("name", "of_hidden", "of_two_points"),
    [
        ("own_mean", 0.003, 0),
        ("own_function", 0.003, 0),
        ("own_halves", 0.003, 0.4),
        ("own_loss", 0.45 * 0.52 + 0.55 * 0.42, 0.4),
    ],
)
def test_population_value_by_hand(name, of_hidden, of_two_points):
    assert cs.generators.hidden().truth(name) == pytest.approx(of_hidden, abs=1e-14)
    assert cs.generators.two_point(0.1).truth(cs.MEASURES[name]()) == pytest.approx(of_two_points, abs=1e-14)


def test_population_values_of_classes_by_hand():
    # six points: the mean of q . p is 2.76 / 6, and residuals of points with one top class cancel. Always wrong: a =
    # .45 for the wrong class, b = .55 / 3 for each other; half of a + (1 - b) + 2 b, in each cell
    six, wrong = cs.generators.six_points(), cs.generators.always_wrong(4, 0.2)
    assert six.truth("own_loss", lens="canonical") == pytest.approx(1 - 2.76 / 6, abs=1e-14)
    assert six.truth("own_cells") == pytest.approx(0, abs=1e-14)
    assert wrong.truth(OwnCells()) == pytest.approx((1 + 0.45 + 0.55 / 3) / 2, abs=1e-14)
    assert six.truth("own_halves", lens="class_wise") == pytest.approx(np.zeros(3), abs=1e-14)


def test_a_population_value_may_be_unknown():
    for name in ("own_summary", "own_classes"):
        with pytest.raises(NotImplementedError, match=f"population value of measure '{name}' is not known"):
            cs.generators.six_points().truth(name)


# --- honest intervals, clusters, comparison --------------------------------------------------------------------------


def test_honest_interval_of_a_seminorm_with_its_witness():
    """It adds the largest reach of any weights: sqrt(z**2 Q + (b k / 2)**2) + b k / 2, Q the sum of squares, b = 1."""
    found = cs.confidence_interval(Y, P, measure="own_mean", n_resamples=999, rng=1)
    residual = Y - P
    reach = 1.96 * residual.std() / np.sqrt(Y.size)
    assert found.high == pytest.approx(abs(residual.mean()) + largest_reach(), rel=1e-10)
    assert found.low == pytest.approx(abs(residual.mean()) - reach, abs=0.2 * reach)


def largest_reach():
    """A residual is at most 1, so that no weights have a third moment above the sum of squares: b = 1."""
    z, squares = stats.norm.ppf(0.975), ((Y - P) ** 2).sum()
    k = (2 * z**2 + 4) / 3
    return (k / 2 + np.sqrt(z**2 * squares + k**2 / 4)) / Y.size


def test_a_norm_alone_takes_the_largest_reach():
    found = cs.confidence_interval(Y, P, measure="own_function", **FEW)
    assert found.high == pytest.approx(abs((Y - P).mean()) + largest_reach(), rel=1e-10)
    assert found.high >= cs.confidence_interval(Y, P, measure="own_mean", **FEW).high


@pytest.mark.parametrize("cluster", [None, np.arange(150) // 5])
def test_a_binned_measure_is_treated_as_ours(cluster):
    """Cells up to .5 and above it are those of `ece` with one cut, so every end is the same."""
    ours = {"measure": "ece", "strategy": (0.5,)}
    settings = {"cluster": cluster, **FEW}
    own, found = (cs.confidence_interval(Y, P, **each, **settings) for each in ({"measure": "own_halves"}, ours))
    assert (own.low, own.high) == (found.low, found.high)
    models = {"a": P, "b": P**1.4}
    own, found = (cs.compare(Y, models, **each, **settings) for each in ({"measure": "own_halves"}, ours))
    assert (own.low, own.high, own.pvalue) == (found.low, found.high, found.pvalue)
    if cluster is None:
        lens = {"lens": "class_wise_mean", **FEW}
        own, found = (cs.confidence_interval(LABEL, PROB, **e, **lens) for e in ({"measure": "own_halves"}, ours))
        assert (own.low, own.high) == (found.low, found.high)


def test_a_measure_without_a_title_goes_by_its_name():
    found = cs.confidence_interval(Y, P, measure="own_function", **FEW)
    assert found.estimand.startswith("own_function in the population")


def test_a_mean_loss_has_the_interval_of_a_mean():
    """The t interval, widened by at most two thirds because of skewness and of rows that were not observed."""
    for loss, (y, p), lens in (
        (np.abs(Y - P), (Y, P), None),
        (1 - PROB[np.arange(120), LABEL], (LABEL, PROB), "canonical"),
    ):
        low, high = stats.t.interval(0.95, loss.size - 1, loss.mean(), stats.sem(loss))
        found = cs.confidence_interval(y, p, measure="own_loss", lens=lens, rng=1)
        assert found.low <= low < high <= found.high
        assert found.high - found.low < 5 / 3 * (high - low)


def test_whole_vectors_have_the_honest_interval():
    found = cs.confidence_interval(LABEL, PROB, measure="own_cells", **FEW)
    assert found.method == "honest"
    assert found.low <= cs.estimate(LABEL, PROB, measure="own_cells") < found.high
    with pytest.raises(ValueError, match="no honest interval is known for own_classes"):
        cs.confidence_interval(LABEL, PROB, measure="own_classes", **FEW)


@pytest.mark.parametrize("name", ["own_mean", "own_function", "own_halves", "own_loss"])
def test_clusters_widen_intervals(name):
    """Every row five times is five times as sure, unless the five are said to be one."""
    y, p = np.repeat(Y, 5), np.repeat(P, 5)
    alone = cs.confidence_interval(y, p, measure=name, **FEW)
    found = cs.confidence_interval(y, p, measure=name, cluster=np.repeat(np.arange(150), 5), **FEW)
    assert found.estimate == pytest.approx(alone.estimate, abs=1e-12)
    assert 1.7 < (found.high - found.estimate) / (alone.high - alone.estimate) < 2.8  # about the root of 5


@pytest.mark.parametrize("name", ["own_mean", "own_function", "own_halves", "own_loss"])
def test_comparisons(name):
    models = {"wrong": P, "right": P**1.6}
    found = cs.compare(Y, models, measure=name, n_resamples=199, rng=1)
    right = cs.estimate(Y, P**1.6, measure=name)
    assert found.difference.item() == pytest.approx(cs.estimate(Y, P, measure=name) - right, abs=1e-12)
    assert found.low.item() <= found.difference.item() <= found.high.item()
    same = cs.compare(Y, {"a": P, "b": P.copy()}, measure=name, n_resamples=199, rng=1)
    assert (same.difference.item(), same.pvalue.item()) == (0, 1)


@pytest.mark.parametrize("name", BINARY)
def test_comparisons_by_permutation(name):
    found = cs.compare(Y, {"wrong": P, "right": P**1.6}, measure=name, method="swap", n_resamples=199, rng=1)
    assert 0 < found.pvalue.item() <= 1


# --- studies and pages -----------------------------------------------------------------------------------------------


def test_studies_take_them():
    known = ["own_mean", "own_function", "own_halves", "own_loss"]
    models = {"hidden": cs.generators.hidden()}
    table = cs.study.run("bias", models, 200, known, replicates=5, seed=1)
    assert table["truth"].to_numpy() == pytest.approx([cs.generators.hidden().truth(name) for name in known])
    table = cs.study.run("coverage", models, 200, known, replicates=3, seed=1, n_resamples=19)
    assert set(table["measure"]) == set(known)
    table = cs.study.run("size", {"uniform": cs.generators.calibrated()}, 50, BINARY, replicates=3, seed=1)
    assert len(table) == len(BINARY)


@pytest.mark.parametrize("name", sorted({*BINARY, *MULTICLASS}))
def test_each_has_a_page(name):
    page = measure_pages().measure_page(name)
    assert page.startswith("# ")
    assert f"`measure={name!r}`" in page
    defaults = cs.MEASURES[name].defaults()
    assert all(f"`{option}`" in page for option in defaults)
