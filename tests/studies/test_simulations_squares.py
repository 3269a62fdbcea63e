"""The study of squares: its recipe is that of the package, every step of it is needed, its cases are what they say."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import calibstat as cs
from calibstat.bounds.square_bound import Side, bound_of
from simulations.parts import own_outcomes as own
from simulations.parts import squares_in_the_limit as limits
from simulations.parts import squares_of_clusters as clusters
from simulations.parts.pairs_of_models import changed, made_equal, random_pair, random_pair_of_own_outcomes
from simulations.parts.squares_of_kinds import PairOfKinds, PairOfOwnOutcomes
from simulations.squares import (
    AS_SAMPLES,
    DIFFERENCE,
    EQUAL,
    FEW_OUTCOMES,
    FOUND,
    HIGH_END,
    ONE_SIDE,
    ROWS_HIDE,
    SEARCHES,
    misses,
    study,
    violations,
)

HUNDRED = (np.arange(100) + 0.5) / 100


def test_it_is_the_recipe_of_the_package():
    random = np.random.default_rng(0)
    for _ in range(60):
        m = random.integers(1, 9)
        first, second = random.choice([0, 0.1, 0.3, 0.3 + 1e-9, 0.8, 1], (2, m))
        bandwidth = float(random.choice([0.05, 0.2, 1]))
        pair = PairOfKinds(random.dirichlet(np.ones(m)), random.random(m), first, second, bandwidth)
        count = pair.draw(random, int(random.choice([2, 10, 100])), 2)
        ends, alone = pair.ends(count), pair.alone(count, first=True)
        (y, a, _), (_, b, _) = pair.models
        for i, rows in enumerate(count):
            seen = rows > 0
            sides = [Side(v[seen], (y - v)[seen], bandwidth, sign) for v, sign in ((a, 1.0), (b, -1.0))]
            for found, bound in ((ends, bound_of(sides, rows[seen])), (alone, bound_of(sides[:1], rows[seen]))):
                for tail in (0.005, 0.025, 0.3):
                    assert found.low(tail)[i] == pytest.approx(bound.low(tail), rel=1e-8, abs=1e-12)
                    assert found.high(tail)[i] == pytest.approx(bound.high(tail), rel=1e-8, abs=1e-12)


def compared(pair, cells):
    """The comparison by the package of models with outcomes of their own, on these cells of a pair."""
    (y, a, _), (x, b, _) = pair.models
    measure = cs.measures.KernelCESquared(bandwidth=pair.bandwidth)
    return cs.compare({"A": y[cells], "B": x[cells]}, {"A": a[cells], "B": b[cells]}, measure=measure)


def test_it_is_the_recipe_of_the_package_for_models_with_outcomes_of_their_own():
    """The twin: the outcomes of A for both."""
    random = np.random.default_rng(3)
    worst = 0.0
    for _ in range(30):
        n = int(random.integers(20, 200))
        pair = random_pair_of_own_outcomes(random, n)
        assert pair.share.sum() == pytest.approx(1)
        count = pair.draw(random, n, 1)
        found = compared(pair, np.repeat(np.arange(pair.share.size), count[0].astype(int)))
        ends = pair.ends(count)
        assert found.low[0] == pytest.approx(max(ends.low(0.025)[0], -1), rel=1e-8, abs=1e-12)
        assert found.high[0] == pytest.approx(min(ends.high(0.025)[0], 1), rel=1e-8, abs=1e-12)
        (y, *_), (_, *other) = pair.models
        wrong = pair._ends([pair.models[0], (y, *other)], count)
        worst = max(worst, abs(found.high[0] - wrong.high(0.025)[0]))
    assert worst > 0.01


def test_outcomes_of_their_own_depend_as_they_are_told():
    """Chances .3 and .6: both 1 in max(0, -.1) = 0, .18 and .3; each model keeps its chance."""
    for dependence, both in ((-1.0, 0.0), (0.0, 0.18), (1.0, 0.3)):
        parts = (np.ones(1), np.array([0.3]), np.array([0.5]), np.array([0.5]))
        pair = PairOfOwnOutcomes(*parts, other_chance=np.array([0.6]), dependence=np.array([dependence]))
        assert pair.share == pytest.approx([0.1 + both, 0.3 - both, 0.6 - both, both])
        models = own.TwoModels(own.Model("high", 0.1), own.Model("low", 0.0), dependence)
        y, p = models.draw(np.random.default_rng(1), 20_000)
        for name, over in (("A", 0.1), ("B", 0.0)):  # within 4 standard errors of .0035
            assert y[name].mean() == pytest.approx(p[name].mean() - over, abs=0.014)
    assert pair.fewest(100) == pytest.approx(30)


def test_errors_of_named_models_are_equal():
    for one, other in own.LEVEL.values():
        assert one.square(own.BANDWIDTH) == pytest.approx(other.square(own.BANDWIDTH), abs=1e-12)


def of_kinds(*parts):
    return PairOfKinds(*(np.array(part, np.float64) for part in parts))


NEEDS = {
    "curvature": (
        of_kinds(
            (0.26434, 0.085112, 0.579817, 0.070731),
            (0, 1, 0, 1),
            (0.237216, 0.237216, 0, 0.884495),
            (0, 1, 0.004518, 0.884495),
        ),
        80_365,
        ("curvature",),
    ),
    "quadratic": (
        of_kinds(np.full(100, 0.01), HUNDRED, np.full(100, 0.52), expit(1.30881 * logit(HUNDRED))),
        1000,
        ("quadratic",),
    ),
    "both": (of_kinds((0.5, 0.5), (0, 1), (0, 1), (0.5, 0.5)), 1000, ("curvature", "quadratic")),
    "skewness": (of_kinds([1], [0.005], [0], [0.01]), 100, ("skewness",)),
}


@pytest.mark.parametrize("needed", NEEDS)
def test_every_step_is_needed(needed):
    """Both errors are equal; a difference is found at 5 % too often only if the step is left out."""
    pair, n, without = NEEDS[needed]
    one, other = pair.squares()
    assert one == pytest.approx(other, rel=5e-4, abs=1e-12)
    ends = pair.ends(pair.draw(np.random.default_rng(1), n, 4000))

    def found(*steps):
        return float(((ends.low(0.025, steps) > 0) | (ends.high(0.025, steps) < 0)).mean())

    assert found() <= 0.05
    assert found(*without) > 0.06


def test_it_is_the_recipe_of_the_package_in_clusters_and_classes():
    random = np.random.default_rng(1)
    for i in range(20):
        size = random.integers(1, 7, random.integers(2, 9))
        models = clusters.random_models(random, size, classes=i % 2 == 1, weights=i % 3 == 0)
        count = models.draw(random, 1)
        weight = np.ones(models.chance.size)
        if models.weight is not None:
            weight = np.repeat(models.weight, models.chance.shape[1])
        rows = (count[0] / weight).round().astype(int)
        assert (rows.sum(axis=1) == size).all()
        unit, cell = (np.repeat(each, rows.ravel()) for each in np.indices(rows.shape).reshape(2, -1))
        sides = [Side(v[cell], weight[cell] * r[cell], models.bandwidth, sign) for sign, v, r in models.sides]
        given = None if models.weight is None else weight[cell]
        for rows_hide in (False, True):
            unseen = "rows" if rows_hide else "clusters"
            bound = bound_of(sides, np.ones(cell.size), given, unit, unseen=unseen).over(len(models.events))
            low, high = models.ends(count, 0.025, rows_hide=rows_hide)
            assert low[0] == pytest.approx(max(bound.low(0.025), -1), abs=1e-11)
            assert high[0] == pytest.approx(min(bound.high(0.025), 1), abs=1e-11)


def test_clusters_taken_as_rows_would_be_found_apart():
    """Clusters of one kind and outcome: the interval of clusters covers, the interval of their rows does not."""
    pair = of_kinds([0.5, 0.5], [0.3, 0.7], [0.2, 0.8], [0.4, 0.6])
    models = clusters.ModelsOnClusters.of_event(pair, np.full(200, 5), whole=1.0, alike=1.0)
    random = np.random.default_rng(4)
    assert models.difference == pytest.approx(pair.difference)
    assert sum(clusters.misses(random, models, 0.025, 400)) <= 37
    wrong = pair.ends(models.draw(random, 400).sum(axis=1)[:, [0, 2, 1, 3]])
    assert ((wrong.low(0.025) > pair.difference) | (wrong.high(0.025) < pair.difference)).sum() > 60
    equal = clusters.made_equal(models)
    assert equal is not None
    assert equal.difference == pytest.approx(0, abs=1e-15)


def test_errors_are_made_equal():
    random = np.random.default_rng(2)
    made = [made_equal(draw(random, 1000)) for draw in (random_pair, random_pair_of_own_outcomes) for _ in range(50)]
    assert sum(pair is not None for pair in made) > 40
    for pair in filter(None, made):
        one, other = pair.squares()
        assert one == pytest.approx(other, rel=1e-9, abs=1e-15)
        again = changed(random, pair)
        for part in (again.chance, again.first, again.second):
            assert part.min() >= 0
            assert part.max() <= 1
        assert again.probability.sum() == pytest.approx(1)
    same = of_kinds([1], [0.3], [0.2], [0.2])
    assert made_equal(same) is None


def test_misses_are_counted():
    """A model beside one that knows every outcome: the difference is the squared error of the first."""
    pair = of_kinds([0.5, 0.5], [0, 1], [0.2, 0.8], [0, 1])
    assert pair.difference == pytest.approx((0.5 * 0.2) ** 2 * (2 - 2 * np.exp(-0.6 / 0.2)))
    below, above, false = misses(np.random.default_rng(1), pair, 400, 0.05, 500, equal=False)
    assert below + above <= 45
    assert false <= 45
    wrong, _, false = misses(np.random.default_rng(1), pair, 400, 0.05, 500, equal=True)
    assert wrong == 500  # 0 is not the difference
    assert false == 0  # but the sentence is judged by the errors


@pytest.mark.parametrize("equal", [True, False])
def test_limits(equal):
    random = np.random.default_rng(3)
    for _ in range(20):
        limit = limits.random_limit(random, equal=equal)
        for each in (limit, limits.changed(random, limit, equal=equal)):
            assert (abs(each.difference) < 1e-8 * (each.mean**2).sum() + 1e-12) == equal or not each.mean.any()
            assert sum(each.misses(random, 400, 0.05)) <= 45
    one = limits.Limit(np.array([5.0]), np.eye(1), np.ones(1), 0.0)
    below, above = one.misses(random, 40_000, 0.05)  # as by integration in tests/bounds/test_square_bound.py
    assert 0.01 < (below + above) / 40_000 < 0.0535


def test_the_table_and_a_planted_fault():
    table = study.table(quick=True, n_jobs=1)
    assert set(table["question"]) == {EQUAL, DIFFERENCE, ONE_SIDE, HIGH_END, ROWS_HIDE, FOUND, AS_SAMPLES, FEW_OUTCOMES}
    assert set(table["kind"]) == {"limit", "population", "clusters", "classes", "own outcomes"}
    assert violations(table).empty
    for column in ("missed_below", "false_sentences"):
        planted = table.assign(**{column: np.where(table.index == table.index[-1], table["replicates"], table[column])})
        planted.loc[planted.index[-1], "level"] = 0.05
        assert len(violations(planted)) == 1
    assert (table["missed_below"][table["question"].isin((ONE_SIDE, HIGH_END))] == 0).all()
    ends = table[table["question"] == HIGH_END]
    assert len(violations(ends.assign(missed_above=ends["replicates"] // 8))) == (ends["level"] == 0.05).sum()
    again = pd.DataFrame(SEARCHES["limit"](True))
    pd.testing.assert_frame_equal(table.iloc[: len(again)], again, check_dtype=False)
    figure = study.figures(table)[""]
    assert [ax.get_title() for ax in figure.axes] == [
        each for each in dict.fromkeys(table["question"]) if each not in (FOUND, AS_SAMPLES)
    ]
