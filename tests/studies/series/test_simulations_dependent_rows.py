"""The study of rows in clusters: its rule is that of the package, its populations are as told, its faults show."""

import warnings

import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from scipy.special import expit, logit
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression

import calibstat as cs
from calibstat.bounds.mean_interval import of_units
from calibstat.bounds.observed_clusters import FULL_GAP, ClusterMean
from calibstat.measures.kinds.registry import find_measure
from simulations import dependent_rows as study
from simulations.parts import cells_of_clusters as cells
from simulations.parts import kept_means as kept
from simulations.parts import kinds_of_clusters as kinds
from simulations.parts import norms_of_clusters as norms


def clustered(random):
    """Events in clusters: equal and unequal sizes, ties, a giant, few events, or none, or nothing else."""
    groups = int(random.integers(2, 70))
    size = np.maximum(1, np.rint(20 * np.exp(random.choice([0, 0.5, 1.5]) * random.standard_normal(groups))))
    if random.random() < 0.2:
        size[0] = size.sum()
    risk = random.beta(0.3, random.choice([0.3, 3, 30, 300]), groups)
    risk[random.random(groups) < random.choice([0, 0.8])] = random.choice([0, 1])
    return random.binomial(size.astype(int), risk).astype(float), size


def asked_beside(mean, total, size, rows, values, far, gap=None):
    """Ask the study's rule about one data set of the package's."""
    unseen = mean.unseen
    given = {"showing": np.array([unseen.showing]), "rooms": np.array([unseen.room]), "far": np.array([far])}
    return kept.ask(total[None], size, values, rows=rows, with_ends=True, gap=gap, **given)


def disagreements(seed, gap=None):
    """Count data sets of which the ends are others than the package's, or the side of a value near an end."""
    random, wrong = np.random.default_rng(seed), 0
    for _ in range(150):
        events, rows = clustered(random)
        g = int(min((events > 0).sum(), (events < rows).sum()))
        value = np.clip(events.sum() / rows.sum(), 0.01, 0.99) * np.exp(0.3 * random.standard_normal(rows.size))
        rate = events.sum() / rows.sum()
        pairs = (
            (ClusterMean.of("mean", events, rows, g, (0.0, 1.0)), rows, (0.0, 1.0)),
            (ClusterMean.of_ratio("O/E", events, rows * value, rows, g, (rate, 1 - rate)), rows * value, (0.0, 1e9)),
        )
        for mean, size, far in pairs:
            low, high = mean.low(kept.TAIL), mean.high(kept.TAIL)
            near = [end * (1 + step) for end in (low, high) if np.isfinite(end) for step in (-1e-6, 1e-6)]
            values = (mean.estimate, *(each for each in near if far[0] < each < far[1]))
            found = asked_beside(mean, events, size, rows, values, far, gap)
            ends = np.where(found.ends[0] == 1e9, np.inf, found.ends[0])
            sides = [-1 if each < low else 1 if each > high else 0 for each in values]
            same = np.allclose(ends, [low, high], rtol=1e-9, atol=1e-12)
            wrong += not (same and found.sides[0, :, 0].tolist() == sides)
    return wrong


def test_it_is_the_rule_of_the_package():
    assert kept.FULL_GAP == FULL_GAP
    assert disagreements(1) == 0


def test_without_the_gap_it_would_be_another_rule():
    assert disagreements(1, gap=0.0) > 50


def test_no_miss_of_the_rule_is_not_one_of_student_in_any_data_set():
    """The theorem, data set by data set, also where sizes are very unequal and effects are tied."""
    random = np.random.default_rng(2)
    misses = 0
    for way, (make, dimensions) in kinds.MAKERS.items():
        for groups in (10, 30, 100):
            for _ in range(20):
                population = make(random.random(dimensions), groups, kinds.LEAST if way == "laws" else 0.3)
                if population is None:
                    continue
                sides = kept.ask(*population.draw(random, 100, groups)).sides[:, 0]
                assert np.isin(sides[:, 0], (-1, 0, 1)).all()
                missed = sides[:, 0] != 0
                assert (sides[missed, 0] == sides[missed, 1]).all()
                misses += int(missed.sum())
    assert misses > 200


def test_intervals_of_student_and_cr2():
    """Of equal sizes both are the t interval of the means of clusters."""
    random = np.random.default_rng(3)
    total = random.standard_normal((50, 12)) + 0.5
    size = np.full(12, 3.0)
    error = student.ppf(0.975, 11) * (total / 3).std(axis=1, ddof=1) / 12**0.5
    assert kept.width_of_t(total, size) == pytest.approx(2 * error)
    centre = (total / 3).mean(axis=1)
    expected = np.where(centre - error > 0, -1, np.where(centre + error < 0, 1, 0))
    found = kept.ask(total, size).sides[:, 0]
    assert found[:, 1].tolist() == expected.tolist()
    assert found[:, 2].tolist() == expected.tolist()
    assert 5 < (expected != 0).sum() < 45


def test_cr2_is_that_of_bell_and_mccaffrey():
    """Rows written out: residuals are multiplied by the inverse root of their block of I - H; df by Satterthwaite."""
    size = np.array([1, 2, 5, 9])
    unit = np.repeat(np.arange(4), size)
    n = unit.size
    away = np.eye(n) - np.full((n, n), 1 / n)
    vectors = []
    for c in range(4):
        block = np.flatnonzero(unit == c)
        value, vector = np.linalg.eigh(away[np.ix_(block, block)])
        root = vector @ np.diag(value**-0.5) @ vector.T
        vectors.append(away[:, block] @ root.T @ np.full(block.size, 1 / n))
    gram = np.array(vectors) @ np.array(vectors).T
    degrees = np.trace(gram) ** 2 / (gram**2).sum()
    assert kept.quantile_of_cr2(size.astype(float)) == pytest.approx(student.ppf(0.975, degrees))
    y = np.random.default_rng(4).standard_normal(n)
    error = np.sqrt(sum(float(v @ y) ** 2 for v in vectors))
    reach = student.ppf(0.975, degrees) * error
    total = np.bincount(unit, y)[None]
    inside, outside = (kept.ask(total, size, (float(y.mean() + reach * by),)).sides[0, 0, 2] for by in (0.999, 1.001))
    assert (inside, outside) == (0, 1)


@pytest.mark.parametrize("rows_hide", [False, True])
def test_ends_if_anything_may_be_absent_are_those_of_the_package(rows_hide):
    random = np.random.default_rng(5)
    size = np.array([3, 1, 8, 4, 4])
    unit = np.repeat(np.arange(5), size)
    loss = random.uniform(-0.2, 0.3, (4, unit.size))
    loss[1] = 0.1
    total = np.stack([np.bincount(unit, each) for each in loss])
    hides = np.ones(unit.size) if rows_hide else None
    found = kept.absent(total, size.astype(float), (-1.0, 1.0), hides)
    for each, ends in zip(loss, found, strict=True):
        mean = of_units("", each, np.ones(unit.size), unit, (-1.0, 1.0), True, hides)
        assert ends == pytest.approx([mean.low(0.025), mean.high(0.025)], rel=1e-9)


def test_differences_of_scores_are_those_of_compare():
    """The same rows by `compare`, under each supposition."""
    random = np.random.default_rng(6)
    size = np.array([40, 25, 60, 30, 30, 30, 20, 50])
    unit = np.repeat(np.arange(8), size)
    x, shift, slope, u = (random.standard_normal(each) for each in (unit.size, 8, 8, unit.size))
    uniform = expit(u)
    start = np.concatenate([[0], np.cumsum(size)])
    total, showing, ends = np.empty((1, 8)), np.empty(1), np.empty((1, 2))
    cells.score_differences(start, x[None], uniform[None], shift[None], slope[None], -1.5, 0.6, total, showing, ends)
    y = (uniform < expit(-1.5 + x + shift[unit] + slope[unit] * x)).astype(int)
    models = {"shrunk": expit(-1.5 + 0.6 * x), "own": expit(-1.5 + x)}
    middle = total.sum(axis=1) / size.sum()
    rooms = np.stack([middle - ends[:, 0], ends[:, 1] - middle], axis=1)
    found = {
        "observed": kept.ask(total, size, showing=showing, rooms=rooms, far=ends, with_ends=True).ends[0],
        "rows": kept.absent(total, size.astype(float), (-1.0, 1.0), np.ones(unit.size))[0],
        "clusters": kept.absent(total, size.astype(float), (-1.0, 1.0))[0],
    }
    for word, (low, high) in found.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compared = cs.compare(y, models, measure="brier", cluster=cs.Clusters(unit, unseen=word), rng=1)
        assert (low, high) == pytest.approx((compared.low[0], compared.high[0]), rel=1e-7, abs=1e-10)


def test_the_true_difference_of_scores_is_the_mean_of_many():
    model = cells.Brier(-1.3, 0.4, 0.5, 0.5)
    total = model.draw(np.random.default_rng(7), 1000, np.full(20, 10))[0] / 10
    assert model.truth == pytest.approx(total.mean(), abs=4 * total.std() / total.size**0.5)
    assert model.truth > 4 * total.std() / total.size**0.5


@pytest.mark.parametrize("way", kinds.MAKERS)
def test_populations_of_the_class_have_mean_0_and_no_rare_extreme_kind(way):
    random = np.random.default_rng(8)
    make, dimensions = kinds.MAKERS[way]
    usable = 0
    for _ in range(200):
        groups = int(random.choice(study.GROUPS))
        found = make(random.random(dimensions), groups, kinds.LEAST)
        if found is None:
            continue
        assert found.chance.sum() == pytest.approx(1)
        assert found.chance.min() > 0
        assert found.size.min() > 0
        assert found.chance @ found.effect == pytest.approx(0, abs=1e-6)
        often = found.expected(groups)
        if way == "laws":
            assert often > kinds.LEAST * 0.98
        usable += often > kinds.LEAST * 0.999
    assert usable > 60


def test_how_often_the_most_extreme_kind_is_expected():
    found = kept.Kinds(np.array([0.02, 0.03, 0.95]), np.ones(3), np.array([-1.0, 1.0, 0.0]))
    assert found.expected(100) == pytest.approx(3)
    assert str(found) == "0.02 add -1, 0.03 add 1, 0.95 add 0"


def test_kinds_are_drawn_with_their_chances():
    chance = np.array([0.5, 0.03, 0.27, 0.2])
    population = kept.Kinds(chance, np.array([1.0, 2, 3, 4]), np.arange(4.0))
    total, size = population.draw(np.random.default_rng(9), 1000, 40)
    assert (size == total + 1).all()
    for kind, each in enumerate(chance):
        count = int((total == kind).sum())
        assert abs(count - 40_000 * each) < 4 * (40_000 * each * (1 - each)) ** 0.5


def test_the_search_finds_what_is_planted(monkeypatch):
    """One population in which a kind that balances the rest is absent e**-1 of the time, among dull ones."""
    bad = kept.Kinds(np.array([1 / 30, 29 / 30]), np.ones(2), np.array([29.0, -1.0]))
    dull = kept.Kinds(np.full(2, 0.5), np.ones(2), np.array([1.0, -1.0]))
    monkeypatch.setitem(kinds.MAKERS, "few kinds", (lambda numbers, *_: bad if numbers[0] < 0.05 else dull, 3))
    found, tried = kinds.worst(np.random.default_rng(10), "few kinds", 30, 0.5, 100, 50, 1)
    assert found == [bad]
    assert tried == 100
    below, above = bad.misses(np.random.default_rng(11), 2000, 30)[0] / 2000
    assert above == pytest.approx((29 / 30) ** 30, abs=0.05)
    assert below < 0.05


def test_sizes_and_pools():
    for make in cells.SIZES.values():
        assert make(30).mean() == pytest.approx(1)
    assert cells.one_giant(30)[0] / 30 == pytest.approx(1 / 3)
    assert cells.geometric(30).max() / cells.geometric(30).min() == pytest.approx(np.exp(3))
    random = np.random.default_rng(12)
    for groups in (12, 60, 200):
        for pool in cells.outside(groups).values():
            events, rows = pool.draw(random, 300, groups)
            assert (events <= rows).all()
            error = (events - rows * pool.mean).sum(axis=1) / rows.sum(axis=1).mean()
            assert error.mean() == pytest.approx(0, abs=4 * error.std() / 300**0.5)


@pytest.mark.parametrize("correlation", study.CORRELATIONS)
def test_outcomes_have_their_correlation(correlation):
    """The variance of a sum of m outcomes is m p (1 - p) (1 + (m - 1) correlation)."""
    size = np.full(50, 20)
    events = study.drawn_events(np.random.default_rng(13), np.full(50, 0.3), correlation, 400, size)
    assert events.mean() == pytest.approx(6, abs=0.3)
    assert events.var() == pytest.approx(20 * 0.21 * (1 + 19 * correlation), rel=0.06)


def test_skewed_laws_have_mean_0():
    u = (np.arange(200_000) + 0.5) / 200_000
    for law in cells.LAWS.values():
        assert law(u).mean() == pytest.approx(0, abs=0.01)


def test_both_models_of_the_comparisons_have_the_same_error():
    value = (np.arange(400) + 0.5) / 400
    errors = []
    for off in (norms.OFF, -norms.OFF):
        predicted = expit(logit(value) + off)
        errors.append(find_measure("kernel_ce", {}).norm(predicted, (value - predicted) / 400))
    assert errors[0] == pytest.approx(errors[1])
    assert errors[0] > 0.03


def test_a_penalised_fit_is_that_of_scikit_learn():
    random = np.random.default_rng(14)
    x, chance, _ = norms.drawn(random, 60, 10)
    y = (random.random(chance.size) < chance).astype(int)
    for learner in norms.PAIR.values():
        other = LogisticRegression(C=1 / learner.penalty, tol=1e-10, max_iter=1000).fit(x[:, : learner.features], y)
        found = learner.predict(learner.fit(x, y), x)
        assert found == pytest.approx(other.predict_proba(x[:, : learner.features])[:, 1], abs=1e-4)


def test_misses_are_counted():
    ends = np.array([[0.1, 0.2], [0.3, 0.4], [0.3, 0.5], [-0.1, 0.0]])
    assert study.counted(0.25, ends) == (2, 2)


def test_normal_sums_keep_and_with_a_third_of_rows_in_a_cluster_student_does_not(monkeypatch):
    """Within the exact limit; where one cluster has a third of the rows, Student's interval misses more often."""
    monkeypatch.setattr(study, "AGAIN", 4000)
    rows = pd.DataFrame(study.of_normal_sums(12, "one giant", np.random.default_rng(15), False))
    most = cs.study.most_rejections(0.05, 4000, 1e-3)
    by = rows.set_index(["case", "method"])
    alike = "one giant, sd by size^1"
    assert (by.xs("observed", level="method")["rate"] * 4000 <= most).all()
    assert by.loc[(alike, "t"), "rate"] * 4000 > most
    assert by.loc[(alike, "observed"), "median_width"] > 1.3 * by.loc[(alike, "t"), "median_width"]


def table_of(missed_below, missed_above, of_t):
    rows = [study.row("class", "planted", 30, name, 40_000, each) for name, each in
            (("observed", (missed_below, missed_above)), ("t", of_t))]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("observed", "of_t", "broken"),
    [
        ((1000, 900), (1400, 1400), False),
        ((1150, 100), (1400, 1400), True),  # a side of .0288
        ((1040, 1150), (1400, 1400), True),
        ((1080, 1080), (1400, 1400), True),  # .054 in all
        ((500, 500), (499, 800), True),  # more often than Student's
    ],
)
def test_broken_promises_are_found(observed, of_t, broken):
    assert bool(len(study.violations(table_of(*observed, of_t)))) == broken


def test_the_stored_table_keeps_the_promises():
    table = pd.read_csv(PROJECT / "simulations" / "results" / "dependent_rows.csv", comment="#", low_memory=False)
    assert len(study.violations(table)) == 0
    searched = table[(table["question"] == "class") & (table["method"] == "observed")]
    ways = searched.groupby(["clusters", searched["case"].str.partition(":")[0]])["tried"].first()
    assert ways.sum() >= 20_000
    assert set(table["clusters"]) == set(study.GROUPS)
