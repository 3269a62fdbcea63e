"""The choice of a model: Holm's steps against a slow form, who is chosen, what is refused, and how often it errs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs
from calibstat.inference.choosing.choose import conditions_of, step_down
from calibstat.inference.choosing.condition import Condition

Y, P = cs.generators.calibrated().sample(2000, rng=1)
MODELS = {"far off": P**2, "good": P, "rounded": P.round(1)}
FEW = {"n_resamples": 39, "rng": 1}


def by_p_values(pvalues, alpha):
    """Holm's rule as it is usually written: sorted p-values against alpha / M, alpha / (M - 1), ..."""
    shown = np.zeros(len(pvalues), bool)
    for step, k in enumerate(np.argsort(pvalues, kind="stable")):
        if pvalues[k] > alpha / (len(pvalues) - step):
            break
        shown[k] = True
    return shown


@given(st.lists(st.sampled_from([1e-4, 0.01, 0.0125, 0.016, 0.025, 0.03, 0.05, 0.2, 1.0]), min_size=1, max_size=7))
def test_steps_show_what_sorted_p_values_show(pvalues):
    """A high end that is 0 from level p on, and 1 below it, has the p-value p."""
    highs = [lambda level, p=p: np.array([float(level < p)]) for p in pvalues]
    high, level, shown = step_down(highs, [Condition("ks.high", "<=", 0.5)], 0.05)
    assert shown.tolist() == by_p_values(pvalues, 0.05).tolist()
    assert (high[:, 0] <= 0.5).tolist() == shown.tolist()
    assert (level >= 0.05 / len(pvalues)).all()
    assert (level <= 0.05).all()


def test_the_best_of_those_shown_is_chosen():
    found = cs.choose(Y, MODELS, subject_to="kernel_ce.high <= 0.05", **FEW)
    assert found.name == found.nearest == "good"
    assert found.shown.tolist() == [False, True, True]
    assert found.score.tolist() == [cs.estimate(Y, p, measure="brier") for p in MODELS.values()]
    assert found.score[1] < found.score[2]
    sharp = cs.choose(Y, {"wrong": P**1.3, "weak": np.full(2000, 0.5)}, subject_to="kernel_ce.high <= 0.04", **FEW)
    assert sharp.name == "weak"
    assert sharp.score[0] < sharp.score[1]


def test_of_a_net_benefit_the_largest_is_the_best():
    act = cs.measures.NetBenefit(threshold=0.4)
    found = cs.choose(Y, {"none": np.full(2000, Y.mean()), "good": P}, subject_to="ks.high <= 0.2", best=act, **FEW)
    assert found.name == "good"
    assert found.score[1] > found.score[0]
    assert found.rank.tolist() == [1, 0]


def test_one_model_has_the_high_end_of_an_interval_at_twice_the_level():
    found = cs.choose(Y, {"good": P}, subject_to="ks.high <= 0.2", confidence_level=0.9, **FEW)
    assert found.high[0, 0] == cs.confidence_interval(Y, P, measure="ks", confidence_level=0.8, **FEW).high
    assert found.level.tolist() == [pytest.approx(0.1)]


def test_the_first_of_equal_models_is_chosen():
    for names in (("a", "b", "c"), ("c", "b", "a")):
        found = cs.choose(Y, dict.fromkeys(names, P), subject_to="kernel_ce.high <= 0.05", **FEW)
        assert (found.name, found.shown.all()) == (names[0], True)


def test_all_conditions_have_to_be_kept():
    found = cs.choose(Y, MODELS, subject_to=["kernel_ce.high <= 0.05", "ece.high < 0.0001"], **FEW)
    assert found.name is None
    assert not found.shown.any()
    assert found.nearest in ("good", "rounded")
    assert found.high.shape == (3, 2)
    assert "None of the 3 models is shown to have kernel_ce at most 0.05 and ece below 0.0001." in found.answer
    assert f"Nearest comes {found.nearest}: kernel_ce at most" in found.answer
    assert "confidence" not in str(found)


def test_what_is_printed():
    found = cs.choose(Y, MODELS, subject_to="kernel_ce.high <= 0.05", **FEW)
    lines = str(found).splitlines()
    assert lines[0].startswith("Chosen: good (Brier score 0.")
    assert lines[0].endswith("), the best of 2 models (of 3) shown to have kernel_ce at most 0.05.")
    assert [line.split(":")[0].strip() for line in lines[1:4]] == ["good", "rounded", "far off"]
    assert lines[3].endswith(", not shown")
    assert lines[4].startswith(
        "With 95 % confidence the chosen model keeps the condition, although it was chosen among 3"
    )
    assert found.to_frame()["kernel_ce.high"].tolist() == found.high[:, 0].tolist()
    alone = cs.choose(Y, {"A": P}, subject_to="kernel_ce.high <= 0.05", **FEW)
    assert alone.answer.endswith("), which is shown to have kernel_ce at most 0.05.")
    many = cs.choose(Y, {f"{k}": P for k in range(8)}, subject_to="kernel_ce.high <= 0.05", **FEW)
    assert "and 3 more: to_frame() has them all" in str(many)


def test_clusters_weights_and_lenses():
    cluster, weight = np.arange(2000) // 4, 1 + np.arange(2000) % 3
    found = cs.choose(Y, MODELS, subject_to="ks.high <= 0.2", cluster=cluster, sample_weight=weight, **FEW)
    expected = cs.confidence_interval(
        Y, P, measure="ks", confidence_level=1 - 2 * found.level[1], cluster=cluster, sample_weight=weight, **FEW
    )
    assert found.high[1, 0] == pytest.approx(expected.high, rel=1e-12)
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(500, rng=1)
    classes = cs.choose(
        label, {"a": prob, "b": prob**2 / (prob**2).sum(axis=1)[:, None]}, subject_to="ece.high <= 0.2", **FEW
    )
    assert classes.name == "a"
    assert classes.lens.subject == "the most likely class"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"subject_to": "kernel_ce.low <= 0.1"}, "no other end can show that a condition is kept"),
        ({"subject_to": "kernel_ce.high >= 0.1"}, "no other end can show that a condition is kept"),
        ({"subject_to": "kernel_ce.high <= inf"}, "expected a high end that is at most a number"),
        ({"subject_to": "kernel_ce <= 0.1"}, "expected a high end that is at most a number"),
        ({"subject_to": []}, "in subject_to, found nothing"),
        ({"subject_to": "kernel.high <= 0.1"}, "found 'kernel'"),
        ({"subject_to": "average_ce.high <= 0.1"}, "no honest interval is known"),
        ({"subject_to": "ks.high <= 0.1", "confidence_level": 0.4}, "expected confidence_level of at least 1/2"),
        ({"subject_to": "ks.high <= 0.1", "best": "brierr"}, "did you mean 'brier'"),
    ],
)
def test_what_is_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        cs.choose(Y, MODELS, **asked, **FEW)


def test_a_score_of_each_class_chooses_no_model():
    classes = np.column_stack((P / 2, P / 2, 1 - P))
    with pytest.raises(ValueError, match="for best=, found one for each class"):
        cs.choose(2 * (1 - Y), {"a": classes}, best="ece", subject_to="ks.high <= 1", lens="class_wise", **FEW)


def test_an_unknown_argument_is_named():
    with pytest.raises(TypeError, match="subject_to"):
        cs.choose(Y, MODELS, subject="ks.high <= 0.1")
    assert [each.field for each in conditions_of(["ks.high < 1", "ece.high <= 1"])] == ["ks.high", "ece.high"]


def test_the_chosen_model_seldom_breaks_its_condition():
    """Ten models that are the same prediction, off by just more than the margin in opposite directions.

    The outcome has probability 1/2 in each row and the predictions are .55 and .45, so that `ks` is .05 of each.
    """
    wrong = {limit: chosen_at(limit) for limit in (0.05 - 1e-9, 0.07)}
    assert wrong[0.05 - 1e-9] <= cs.study.most_rejections(0.05, 200, 1e-4)
    assert wrong[0.07] > cs.study.most_rejections(0.05, 200, 1e-4)  # a planted fault: 1/2 of them meet it


def chosen_at(limit):
    random = np.random.default_rng(5)
    chosen = 0
    for seed in range(200):
        y = random.integers(2, size=1500)
        models = {f"{k}": np.full(1500, 0.45 + 0.1 * (k % 2)) for k in range(4)}
        chosen += cs.choose(y, models, subject_to=f"ks.high <= {limit!r}", n_resamples=39, rng=seed).name is not None
    return chosen


@pytest.mark.parametrize("subject_to", [3, None, {"ks.high": 0.3}, [3], np.array([0.1])])
def test_conditions_of_another_kind(subject_to):
    with pytest.raises(ValueError, match=r"^expected a high end that is at most a number, .*, found"):
        cs.choose(Y, MODELS, subject_to=subject_to, **FEW)
