"""A monitor: evidence by hand, false alarms bounded at all looks, segments fixed beforehand, periods that are new."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom

import calibstat as cs
from calibstat.monitoring.directions import DIRECTIONS, log_likelihood_ratios
from calibstat.monitoring.evidence import log_evidence

WEIGHTS = np.array([d.weight for d in DIRECTIONS])


def ratios(y, p):
    inside = [(d.low <= p) & (p < d.high) for d in DIRECTIONS]
    z = [np.where(of, d.shift + d.slope * logit(p), logit(p)) for d, of in zip(DIRECTIONS, inside, strict=True)]
    return np.array([np.log(np.where(y == 1, expit(each) / p, expit(-each) / (1 - p))).sum() for each in z])


def days(change, last=60, rows=100):
    for day in range(1, last + 1):
        yield day, *cs.generators.temperature(1 if day <= change else 1.5).sample(rows, rng=day)


def test_evidence_is_the_sum_over_all_starts():
    monitor, per_day, largest = cs.Monitor(), [], 0.0
    for day, y, p in days(8, 12):
        monitor.update(y, p, period=day)
        per_day.append(ratios(y, p))
        starts = [
            (math.log(2) / math.log(s + 1) - math.log(2) / math.log(s + 2))
            * (WEIGHTS @ np.exp(np.sum(per_day[s - 1 :], axis=0)))
            for s in range(1, day + 1)
        ]
        expected = math.fsum(starts) + math.log(2) / math.log(day + 2)
        assert expected * (1 - 2e-5) <= monitor.evidence <= expected  # rounded down
        largest = max(largest, monitor.evidence)
        assert monitor.pvalue == pytest.approx(min(1, 1 / largest))
    assert monitor.alarm == (largest >= 20)


def test_the_gap_by_hand():
    monitor = cs.Monitor()
    monitor.update([1, 0], [0.5, 0.25])
    monitor.update([1], [0.75])
    found = monitor.status()
    assert (found.gap, found.rows) == (pytest.approx((2 - 1.5) / 3), 3)
    assert found.gap_low == -0.5  # true probabilities have a mean of at least 0, and predictions one of 1/2
    assert found.gap_high == 0.5


def test_run_length_starts_again_after_each_alarm():
    monitor, per_day, alarms, first = cs.Monitor(arl=50), [], [], 0
    for day, y, p in days(20, 40):
        monitor.update(y, p, period=day)
        per_day.append(log_likelihood_ratios(*cs.Sample.from_rows(y, p).arrays))
        expected = np.exp(log_evidence(np.array(per_day[first:]), "run length")[-1])
        assert monitor.evidence == pytest.approx(expected, rel=1e-4)
        if expected >= 50:
            alarms.append(day)
            first = day
    assert monitor.alarms == tuple(alarms)
    assert len(alarms) > 3
    assert monitor.alarm_period == alarms[-1]
    assert monitor.pvalue is None


def streams(n, looks, rows, regime):
    """The log evidence of calibrated streams: rare outcomes with predictions that drift, shape (n, looks)."""
    generator = np.random.default_rng(11)
    found = np.zeros((n, looks, 34))
    for look in range(looks):
        v = np.array([0.01, 0.1, 0.5]) * (1 + look % 7 / 8)
        positives = generator.binomial(rows, v, (n, 3)).astype(float)
        none = log_likelihood_ratios(v, np.full(3, float(rows)), np.zeros(3))
        each = np.array([log_likelihood_ratios(v, np.zeros(3), np.eye(3)[j]) for j in range(3)])
        found[:, look] = none + positives @ each  # linear in the positives
    return found if regime is None else log_evidence(found, regime)


def test_false_alarms_at_any_look_are_bounded():
    ever = (streams(400, 150, 5, "false alarm").max(axis=1) >= math.log(1 / 0.2)).sum()
    assert ever <= binom.ppf(1 - 1e-4, 400, 0.2)


def test_runs_are_as_long_as_promised():
    """P(T <= t) <= E[R at the earlier of T and t] / A <= t / A."""
    early = (streams(400, 30, 5, "run length").max(axis=1) >= math.log(100)).sum()
    assert early <= binom.ppf(1 - 1e-4, 400, 0.3)


def test_evidence_without_weights_of_the_starts_is_found_out():
    """A planted fault: the best start of all."""
    found = streams(400, 150, 5, None).cumsum(axis=1)
    lowest = np.minimum.accumulate(np.concatenate([np.zeros((400, 1, 34)), found[:, :-1]], axis=1), axis=1)
    best = np.exp(found - lowest) @ WEIGHTS
    assert (best.max(axis=1) >= 1 / 0.2).sum() > binom.ppf(1 - 1e-4, 400, 0.2)


def test_one_bad_segment_is_named_and_dated():
    monitor, generator = cs.Monitor(segments=["a", "b", "c", "d", "e"]), np.random.default_rng(1)
    for day in range(1, 41):
        p, segment = generator.random(200), generator.choice(list("abcde"), 200)
        wrong = (segment == "c") & (day > 20)
        y = generator.random(200) < expit(logit(p) - 1.2 * wrong)
        monitor.update(y, p, day, segment)
    onset = monitor.status().onset
    assert onset.segment == "c"
    assert onset.low <= 21 <= onset.high
    assert 21 <= monitor.alarm_period <= 30
    assert "too high" in onset.direction
    assert onset.observed < onset.predicted


def test_an_alarm_is_dated_up_to_the_largest_evidence():
    """What comes after it, such as rows that are right again, does not blur the start."""
    monitor = cs.Monitor()
    for day in range(1, 61):
        monitor.update(*cs.generators.temperature(2 if 20 < day <= 30 else 1).sample(100, rng=day))
    found = monitor.status()
    assert int(found.log_evidence.argmax()) + 1 in (30, 31, 32)
    assert 19 <= found.onset.start <= 22
    assert found.onset.rows == 100 * (int(found.log_evidence.argmax()) + 2 - found.onset.start)


def test_segments_may_be_missing_but_not_new():
    monitor = cs.Monitor()
    monitor.update([1, 0, 1], [0.5, 0.5, 0.5], segment=["a", "b", "b"])
    monitor.update([1], [0.5], segment=["b"])
    before = repr(monitor.status())
    with pytest.raises(
        ValueError, match=r"fixed before the first period \('a', 'b'\), found 'c': the chance of a false"
    ):
        monitor.update([1, 1], [0.5, 0.5], segment=["c", "a"])
    with pytest.raises(ValueError, match="expected a segment for each row, one of 'a', 'b'; found none"):
        monitor.update([1], [0.5])
    assert repr(monitor.status()) == before
    alone = cs.Monitor()
    alone.update([1], [0.5])
    with pytest.raises(ValueError, match=r"\(none\), found 'a'"):
        alone.update([1], [0.5], segment="a")


def test_an_alarm_without_rows_in_a_segment_is_dated_among_all_rows():
    """With `arl` near 1 the bets alone, 1 for each period, raise an alarm."""
    monitor = cs.Monitor(arl=2, segments=["a", "b"])
    for _ in range(4):
        monitor.update([1, 0], [0.5, 0.5], segment="a")
    assert monitor.status().onset.segment == "all rows"
    late = cs.Monitor(arl=4, segments=["a", "b"])
    late.update([1], [0.5], segment="b")
    for _ in range(6):
        late.update([1, 0], [0.5, 0.5], segment="a")
    assert late.alarm
    assert late.status().onset.rows > 0


def test_a_sample_a_summary_and_rows_are_the_same():
    y, p = cs.generators.calibrated().sample(50, rng=1)
    found = []
    for data in ((y, p), (cs.Sample.from_rows(y, p),), (cs.Monitor().summarize(y, p),)):
        monitor = cs.Monitor()
        monitor.update(*data, period="x")
        found.append(repr(monitor.status()))
    assert found[0] == found[1] == found[2]
    with pytest.raises(ValueError, match="expected a summary alone"):
        monitor.update(monitor.summarize(y, p), p)


def test_data_are_rows_that_were_checked():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(50, rng=1)
    names, segment = ["no", "yes", "perhaps"], np.arange(50) % 2
    data = cs.Data(np.array(names)[label], prob, labels=names, lens=cs.lenses.one_class(1))
    monitor, by_rows = cs.Monitor(), cs.Monitor()
    monitor.update(data, period="x", segment=segment)
    by_rows.update(label == 1, prob[:, 1], period="x", segment=segment)
    assert repr(monitor.status()) == repr(by_rows.status())
    assert monitor.summarize(data) == by_rows.summarize(label == 1, prob[:, 1])


@pytest.mark.parametrize(
    ("data", "further", "message"),
    [
        (cs.Data([0, 1], [0.2, 0.8]), {"y_prob": [0.2, 0.8]}, "expected cs.Data alone, found y_prob= beside it"),
        (cs.Data([0, 1], [0.2, 0.8], lens="top_label"), {"lens": cs.lenses.one_class(1)}, "expected one lens, found"),
        (cs.Data([0, 1], [0.2, 0.8]), {"labels": [0, 1]}, "expected cs.Data alone, found labels= beside it"),
        (
            cs.Data([0, 1] * 20, [0.2, 0.8] * 20, cluster=range(40)),
            {},
            "without cluster= .* is not an e-value; found one",
        ),
        (cs.Data([0, 1], [0.2, 0.8], sample_weight=[1, 2]), {}, "expected rows without sample_weight= .* once"),
        (
            cs.Models([0, 1], {"a": [0.2, 0.8]}),
            {"y_prob": {"a": [0.2, 0.8]}},
            "expected cs.Models alone, found y_prob=",
        ),
        ([0, 1], {"y_prob": [0.2, 0.8], "sample_weight": [1, 2]}, "expected rows without sample_weight= .* once"),
        ([0, 1], {"y_prob": [0.2, 0.8], "labels": [0, 1], "pos_label": 1}, "expected labels or pos_label, found both"),
        ([1, 2], {"y_prob": [0.2, 0.8]}, "name the positive one, as in pos_label=2"),
    ],
)
def test_nothing_is_given_beside_data(data, further, message):
    monitor = cs.Monitor()
    with pytest.raises(ValueError, match=message):
        monitor.update(data, period=1, **further)
    assert monitor.periods == ()


def test_a_lens_shows_a_binary_outcome():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(50, rng=1)
    top = cs.Monitor().summarize(label, prob, lens="top_label")
    assert top == cs.Monitor().summarize(label == prob.argmax(axis=1), prob.max(axis=1))
    assert cs.Monitor().summarize(["no", "yes"], [0.1, 0.9], labels=["no", "yes"]).total.positives == 1
    with pytest.raises(ValueError, match="binary"):
        cs.Monitor().summarize(label, prob, lens="canonical")


MODELS = {"A": [0.1, 0.9], "B": [0.2, 0.6]}
FED = [  # each kind of monitor, and what it takes beside outcomes
    (cs.Monitor, {"y_prob": MODELS["A"]}),
    (cs.Monitor, {"y_prob": MODELS}),
    (cs.BrierMonitor, {"prob_a": MODELS["A"], "prob_b": MODELS["B"]}),
]


@pytest.mark.parametrize(("monitor", "predicted"), FED)
@pytest.mark.parametrize("about", [{"labels": ["no", "yes"]}, {"pos_label": "yes"}])
def test_outcomes_are_named(monitor, predicted, about):
    by_names, by_numbers = monitor(), monitor()
    assert by_names.summarize(["no", "yes"], **predicted, **about) == by_numbers.summarize([0, 1], **predicted)
    assert monitor().summarize(["no", "yes"], **predicted, pos_label="no") == monitor().summarize([1, 0], **predicted)
    named = by_names.update(["no", "yes"], **predicted, period="x", **about)
    assert repr(named) == repr(by_numbers.update([0, 1], **predicted, period="x"))


@pytest.mark.parametrize(("monitor", "predicted"), FED)
def test_unknown_arguments_are_refused(monitor, predicted):
    fed = monitor()
    with pytest.raises(TypeError, match=r"expected an argument of update, found 'segments'; did you mean 'segment'"):
        fed.update([0, 1], **predicted, segments=["a", "b"])
    with pytest.raises(TypeError, match=r"expected arguments of summarize .*, found 'x'"):
        fed.summarize([0, 1], **predicted, x=1)
    assert fed.periods == ()


def test_an_outcome_of_probability_0_is_an_alarm_at_once():
    monitor = cs.Monitor()
    monitor.update([0, 1], [0.0, 0.5], period="a")
    monitor.update([1, 1], [0.0, 0.5], period="b")
    monitor.update([0, 1], [0.0, 0.5], period="c")
    found = monitor.status()
    assert (found.alarm_period, found.evidence, found.pvalue, found.impossible) == ("b", math.inf, 0.0, 1)
    assert (found.onset.start, found.onset.low, found.onset.high) == ("b", "b", "b")
    again = cs.Monitor(arl=100)
    again.update([1], [0.0])
    again.update([0], [0.0])
    assert (again.alarms, again.evidence) == ((1,), 1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 0}, "expected alpha between 0 and 1, found 0"),
        ({"arl": 1}, "expected arl to be a number of periods above 1, found 1"),
        ({"arl": True}, "expected arl to be a number"),
        ({"arl": math.inf}, "expected arl to be a number"),
        ({"segments": "north"}, "expected segments, a sequence of names, found 'north'"),
        ({"segments": []}, "expected segments, a sequence of names"),
        ({"segments": ["a", "a"]}, "expected segments of different names"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        cs.Monitor(**settings)


def test_before_the_first_period():
    assert (cs.Monitor().evidence, cs.Monitor().pvalue, cs.Monitor().alarm) == (1.0, 1.0, False)
    assert cs.Monitor(arl=9).evidence == 0.0
    assert cs.Monitor().to_frame().empty
    assert repr(cs.Monitor()) == "Monitor(0 periods, no alarm)"
