"""The choice of a map: scores of held-out rows by plain loops, the standard error, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs
from calibstat.recalibration import (
    RECALIBRATORS,
    BetaCalibration,
    IsotonicRegression,
    MatrixScaling,
    NeuralScaling,
    PlattScaling,
    TemperatureScaling,
    Unchanged,
    choose,
    choose_map,
)
from calibstat.recalibration.choose_map import _error
from calibstat.resampling import folds, key_of

Y, P = cs.generators.temperature(2).sample(400, rng=1)
LABEL, PROB = cs.generators.dirichlet((1, 1, 1), temperature=2).sample(300, rng=1)
FEW = [Unchanged(), TemperatureScaling(), PlattScaling(), IsotonicRegression()]


def plainly(map_, p, y, loss, n_folds=5, repeats=3, rng=1):
    """Losses of the rows of each repeat by loops, and the folds."""
    out, dealt = np.empty((repeats, y.size)), [folds(key_of(rng), y.size, n_folds, r) for r in range(repeats)]
    for r, fold in enumerate(dealt):
        for k in range(n_folds):
            fitted = type(map_)().fit(p[fold != k], y[fold != k])
            out[r, fold == k] = loss(y[fold == k], fitted.predict_proba(p[fold == k]))
    return out, dealt


@pytest.mark.parametrize(
    ("score", "loss"),
    [("brier", lambda y, q: (y - q) ** 2), ("log_loss", lambda y, q: -np.log(np.where(y == 1, q, 1 - q)))],
)
def test_scores_by_plain_loops(score, loss):
    found = choose(Y, P, maps=FEW[:3], score=score, rng=1)
    losses = {repr(each): plainly(each, P, Y, loss)[0] for each in FEW[:3]}
    best = min(losses, key=lambda name: losses[name].mean())
    assert repr(found.recalibrator) == best
    for name, mean, difference, error in zip(
        found.names, found.mean, found.difference, found.standard_error, strict=True
    ):
        assert mean == pytest.approx(losses[name].mean(), rel=1e-12)
        assert difference == pytest.approx(losses[name].mean() - losses[best].mean(), abs=1e-14)
        dealt = plainly(FEW[0], P, Y, loss)[1]
        assert error == pytest.approx(slow_error(losses[name] - losses[best], dealt), rel=1e-12)
    assert list(found.mean) == sorted(found.mean)


def slow_error(d, dealt):
    """The root of (mean variance within folds + K (n - 1) / (n - K) times the mean variance between repeats) / n."""
    n, n_folds = dealt[0].size, dealt[0].max() + 1
    within = [np.var(d[r, dealt[r] == k], ddof=1) for r in range(len(dealt)) for k in range(n_folds)]
    between = [np.var(d[:, i], ddof=1) for i in range(n)]
    return ((sum(within) / len(within) + n_folds * (n - 1) / (n - n_folds) * sum(between) / n) / n) ** 0.5


def test_the_standard_error_by_hand():
    # two folds of two rows, twice: variances within 2, 0, 0, 2; rows between 0, 2, 0, 2 (halves of squares)
    d = np.array([[0.0, 2, 1, 1], [0, 0, 1, 3]])
    dealt = [np.array([0, 0, 1, 1])] * 2
    assert _error(d, dealt) == pytest.approx(((1 + 2 * 3 / 2 * 1) / 4) ** 0.5)


def test_a_map_of_infinite_score_is_not_within_one_standard_error():
    """Its difference from the best, and the standard error of that, are infinite: the first map was chosen."""
    p, y = np.append(P, [0.0, 1.0]), np.append(Y, [1, 0])  # certain and wrong: an infinite log loss of the raw rows
    maps = [Unchanged(), PlattScaling(clip=1e-3), TemperatureScaling(clip=1e-3)]
    found = choose(y, p, maps=maps, score="log_loss", one_standard_error=True, rng=1)
    assert np.isfinite(found.mean[list(found.names).index(repr(found.recalibrator))])
    assert np.isinf(found.mean[list(found.names).index("Unchanged()")])
    alone = choose(y, p, maps=maps[:1], score="log_loss", one_standard_error=True, rng=1)
    assert repr(alone.recalibrator) == "Unchanged()"


def within(d, dealt):
    """The planted fault: rows that the fits of several folds share are forgotten."""
    parts = [part[fold == k].var(ddof=1) for part, fold in zip(d, dealt, strict=True) for k in range(fold.max() + 1)]
    return (np.mean(parts) / d.shape[1]) ** 0.5


def misses(errors, n_sets=300, n=200, n_folds=5, repeats=3):
    """In how many data sets intervals miss what the fitted Platt maps add to the loss of a calibrated model."""
    fresh, missed = cs.generators.calibrated().sample(2000, rng=0)[1], np.zeros(len(errors))
    for seed in range(n_sets):
        y, p = cs.generators.calibrated().sample(n, rng=seed + 1)
        dealt = [folds(key_of(seed), n, n_folds, r) for r in range(repeats)]
        d, added = np.empty((repeats, n)), []
        for r, fold in enumerate(dealt):
            for k in range(n_folds):
                fitted, out = PlattScaling().fit(p[fold != k], y[fold != k]), fold == k
                d[r, out] = (y[out] - fitted.predict_proba(p[out])) ** 2 - (y[out] - p[out]) ** 2
                added.append(((fitted.predict_proba(fresh) - fresh) ** 2).mean())
        missed += [abs(d.mean() - np.mean(added)) > 1.96 * error(d, dealt) for error in errors]
    return missed


@pytest.mark.slow
def test_an_interval_of_a_difference_covers_and_without_the_allowance_it_does_not():
    allowed, without = misses([_error, within])
    print(allowed, without)
    assert allowed <= cs.study.most_rejections(0.05, 300, 1e-3) < without


def test_default_maps_are_those_of_the_number_of_classes():
    two = choose(Y, P, rng=1, repeats=2, cv=2)
    assert set(two.names) == {f"{name}()" for name, kind in RECALIBRATORS.items() if kind.tried_from == 2}
    three = choose(LABEL, PROB, rng=1, repeats=2, cv=2)
    assert set(three.names) - set(two.names) == {"VectorScaling()", "MatrixScaling()"}
    assert set(two.names) < set(three.names)


def test_what_is_clearly_best_is_chosen():
    assert repr(choose(Y, P, maps=FEW, rng=1).recalibrator) == "TemperatureScaling()"
    assert (
        repr(choose(LABEL, PROB, maps=[Unchanged(), TemperatureScaling()], rng=1).recalibrator)
        == "TemperatureScaling()"
    )
    y, p = cs.generators.calibrated().sample(300, rng=1)
    assert repr(choose(y, p, maps=[Unchanged(), IsotonicRegression()], rng=1).recalibrator) == "Unchanged()"


def test_the_simplest_within_one_standard_error():
    y, p = cs.generators.calibrated().sample(300, rng=5)
    order = [Unchanged(), PlattScaling(), BetaCalibration(), IsotonicRegression()]
    smallest = choose(y, p, maps=order, rng=3)
    found = choose(y, p, maps=order, one_standard_error=True, rng=3)
    near = [d <= se for d, se in zip(smallest.difference, smallest.standard_error, strict=True)]
    simplest = next(repr(each) for each in order if near[smallest.names.index(repr(each))])
    assert repr(found.recalibrator) == simplest == "Unchanged()"
    assert found.difference[found.names.index(simplest)] == 0
    backwards = choose(y, p, maps=order[::-1], one_standard_error=True, rng=3)
    assert repr(backwards.recalibrator) != simplest  # "simple" is what comes first


def test_infinite_scores_come_last():
    found = choose(Y, P, maps=FEW, score="log_loss", rng=1)
    assert found.names[-1] == "IsotonicRegression()"
    assert np.isinf(found.mean[-1])
    assert np.isnan([found.difference[-1], found.standard_error[-1]]).all()
    assert not found.within_noise[-1]
    assert "IsotonicRegression() (infinite)" in str(found)
    assert found.to_dict()["mean"][-1] == "Infinity"


def test_maps_that_refuse_rows_are_left_out_with_the_reason():
    p = np.where(P < 0.1, 0, P)
    found = choose(np.where(p == 0, 0, Y), p, maps=FEW, rng=1)
    assert list(found.left_out) == ["PlattScaling()"]
    why = "needs probabilities between 0 and 1; to try it, give it clip=4.8e-07"
    assert found.left_out == {"PlattScaling()": why}
    assert f"\nLeft out: PlattScaling(): {why}.\n" in str(found)
    clipped = choose(np.where(p == 0, 0, Y), p, clip=0.01, rng=1, repeats=2, cv=2)
    assert clipped.left_out == {}
    assert "PlattScaling(clip=0.01)" in clipped.names
    with pytest.raises(ValueError, match="expected a map that takes these rows, found none: needs probabilities"):
        choose(np.where(p == 0, 0, Y), p, maps=[PlattScaling()], rng=1)


@pytest.mark.parametrize(("most", "left_out"), [(2, True), (3, False)])
def test_a_map_that_takes_long_with_so_many_classes_is_named_and_tried_only_if_asked_for(most, left_out, monkeypatch):
    monkeypatch.setattr(MatrixScaling, "tried_to", most)
    found = choose(LABEL, PROB, cv=2, repeats=2, rng=1)
    why = "takes minutes with more than 2 classes; to try it, name it in maps="
    assert found.left_out == ({"MatrixScaling()": why} if left_out else {})
    assert ("MatrixScaling()" in found.names) is not left_out
    assert choose(LABEL, PROB, cv=2, repeats=2, maps=[MatrixScaling()], rng=1).left_out == {}


def test_the_same_seed_gives_the_same_and_names_do_not_matter():
    one, two = (choose(Y, P, maps=FEW, rng=7) for _ in range(2))
    np.testing.assert_array_equal(one.mean, two.mean)
    named = choose(np.where(Y == 1, "yes", "no"), P, maps=FEW, rng=7, labels=["no", "yes"])
    np.testing.assert_array_equal(one.mean, named.mean)
    assert (choose(Y, P, maps=FEW, rng=8).mean != one.mean).any()


def test_what_is_printed_and_tabulated():
    found = choose(Y, P, maps=FEW, rng=1)
    assert str(found).startswith("TemperatureScaling() has the smallest Brier score of 4 maps: 0.")
    assert "\n400 rows, 5 folds, dealt at random 3 times.\nNext: Recalibrate other rows: " in str(found)
    frame = found.to_frame()
    assert frame["map"].tolist() == list(found.names)
    assert frame["chosen"].tolist() == [True, False, False, False]
    assert json.dumps(found.to_dict())
    fitted = found.recalibrator.fit(P, Y)
    assert fitted.predict_proba([0.9])[0] == pytest.approx(0.75, abs=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 1}, "expected cv"),
        ({"cv": 300}, "at least 2 rows in each of 300 folds, found 400 rows"),
        ({"repeats": 1}, "expected repeats"),
        ({"score": "ece"}, "a score"),
        ({"clip": 0.5}, "expected clip None or a number"),
        ({"clip": "auto"}, "expected clip None or a number"),
        ({"maps": []}, "expected maps, a sequence of recalibrators, found"),
        ({"maps": [PlattScaling]}, "expected maps, a sequence of recalibrators, found"),
        ({"maps": [PlattScaling(), PlattScaling()]}, "expected different maps"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        choose(Y, P, **options)


def test_swapped_arguments_raise():
    with pytest.raises(ValueError, match="swapped"):
        choose(P, Y)


def votes(n=400, trees=10, rng=1):
    """Outcomes and shares of trees as of a forest: multiples of 1/10, of which some are 0 and 1 and wrong."""
    random = np.random.default_rng(rng)
    true = random.beta(0.6, 0.6, n)
    return (random.random(n) < true).astype(int), random.binomial(trees, true) / trees


def test_all_maps_are_tried_on_a_forest_and_none_that_writes_0_or_1_is_chosen():
    y, p = votes()
    found = choose(y, p, rng=1)
    assert found.left_out == {}
    by_default = {name for name, kind in RECALIBRATORS.items() if kind.tried_from == 2}
    assert {name.partition("(")[0] for name in found.names} == by_default
    assert (found.clip, found.moved) == (0.05, int(((p == 0) | (p == 1)).sum()))
    by_name = dict(zip(found.names, found.writes_certain, strict=True))
    assert by_name["Unchanged()"]
    assert not by_name["PlattScaling(clip=0.05)"]
    assert not by_name[repr(found.recalibrator)]
    fitted = found.recalibrator.fit(p, y).predict_proba(p)
    assert ((fitted > 0) & (fitted < 1)).all()
    text = str(found)
    assert " maps that write neither 0 nor 1: 0.1" in text
    assert f"\nFor maps that need probabilities between 0 and 1, {found.moved} rows were moved, by at most 0.05" in text
    assert "\n1 map writes probabilities of exactly 0 or 1 and was not chosen: Unchanged() (+0.0" in text
    assert "Left out" not in text


def test_whether_a_map_writes_0_or_1_by_plain_loops():
    y, p = votes()
    found = choose(y, p, rng=1)
    for name, writes in zip(found.names, found.writes_certain, strict=True):
        kind = RECALIBRATORS[name.partition("(")[0]]
        make = lambda: kind(clip=0.05) if "clip" in kind().get_params() else kind()  # noqa: B023, E731
        made = [make().fit(p, y).predict_proba(p)]
        for r in range(3):
            fold = folds(key_of(1), y.size, 5, r)
            made += [make().fit(p[fold != k], y[fold != k]).predict_proba(p[fold == k]) for k in range(5)]
        assert writes == bool(np.isin(np.concatenate(made), (0, 1)).any())


def test_the_planted_fault_a_map_that_writes_0_is_chosen_if_it_is_not_kept_from_it(monkeypatch):
    y, p = votes()
    y = np.where(p == 0, 0, np.where(p == 1, 1, y))  # certain predictions are always right
    assert not np.isin(choose(y, p, rng=1).recalibrator.fit(p, y).predict_proba(p), (0, 1)).any()
    monkeypatch.setattr(choose_map, "has_certain", lambda prob: False)
    assert np.isin(choose(y, p, clip=0.05, rng=1).recalibrator.fit(p, y).predict_proba(p), (0, 1)).any()


def test_a_map_that_writes_0_is_chosen_if_it_is_asked_for():
    y, p = votes()
    found = choose(np.where(p == 0, 0, y), p, maps=[IsotonicRegression()], rng=1)
    assert repr(found.recalibrator) == "IsotonicRegression()"
    assert found.maps_given
    assert found.writes_certain == (True,)
    assert (found.clip, found.moved) == (None, 0)
    assert "not chosen" not in str(found)


def test_a_clip_of_ones_own_is_counted():
    y, p = votes()
    found = choose(y, p, clip=0.15, rng=1, cv=2, repeats=2)
    assert found.moved == int(((p < 0.15) | (p > 0.85)).sum())
    assert "(clip=0.15)" in str(found)
    inside = choose(Y, np.clip(P, 0.2, 0.8), clip=0.1, rng=1, cv=2, repeats=2)
    assert (inside.clip, inside.moved) == (None, 0)


def test_forests_of_several_classes():
    random = np.random.default_rng(2)
    true = random.dirichlet((0.4, 0.4, 0.4), 300)
    p = np.array([random.multinomial(10, each) for each in true]) / 10
    y = np.array([random.choice(3, p=each) for each in true])
    found = choose(y, p, rng=1, cv=2, repeats=2)
    assert found.left_out == {}
    assert found.moved == int(((p == 0) | (p == 1)).any(axis=1).sum())
    assert not found.writes_certain[found.names.index(repr(found.recalibrator))]


@pytest.mark.parametrize("y", [[0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 1, 0]])
def test_all_rows_at_0_and_1_and_no_event(y):
    found = choose(y, np.array([0.0, 1.0, 0.0, 1.0]), rng=1, cv=2, repeats=2)
    assert found.clip == 0.1  # 1 / (2 n + 2)
    assert found.moved == 4
    assert json.dumps(found.to_dict())
    assert "rows were moved, by at most 0.1 (clip=0.1)" in str(found)


def test_words_if_every_map_writes_0_or_1_and_of_one_map():
    found = choose(Y, P, maps=FEW[:2], rng=1)
    every = replace(found, writes_certain=(True, True), maps_given=False)
    assert "\nEvery map writes probabilities of exactly 0 or 1.\n" in str(every)
    one = replace(found, writes_certain=(False, True), maps_given=False, clip=0.005, moved=1)
    assert "1 row was moved, by at most 0.005 (clip=0.005)." in str(one)
    assert "\n1 map writes probabilities of exactly 0 or 1 and was not chosen: Unchanged() (+0." in str(one)
    assert "Then comes Unchanged() (+0.0" in str(found)
    assert "It does not do as well (to within 1.96 standard errors)." in str(found)
    alike = replace(choose(Y, P, maps=FEW, rng=1), within_noise=(True,) * 4)
    assert "All 3 others do as well (to within 1.96 standard errors). One of them changes nothing: U" in str(alike)


def test_a_map_of_many_classes_is_tried_if_it_is_asked_for():
    found = choose(Y, P, maps=[Unchanged(), MatrixScaling()], rng=1, repeats=2, cv=2)
    assert "MatrixScaling()" in found.names
    assert NeuralScaling.tried_from is None
