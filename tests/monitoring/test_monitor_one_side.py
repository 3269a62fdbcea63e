"""One side of a monitor: bets that win in the mean on that side only, one limit of the mean, words, states, command."""

import copy
import itertools
import json
import math
import pickle
import re
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from command_line import fails_with, plain_text, run
from more_than import more_than
from plotted_results import outside, overlapping
from scipy.special import expit, logit
from scipy.stats import binom, norm

import calibstat as cs
from calibstat.data.words.side import MORE_EVENTS, OTHER, TOO
from calibstat.monitoring.confidence_sequence import ConfidenceSequence, radius
from calibstat.monitoring.directions import DIRECTIONS_OF, log_likelihood_ratios
from calibstat.monitoring.evidence import log_evidence
from calibstat.monitoring.period import PeriodSummary

SIDES = [*TOO]
MORE_OFTEN = "outcome 1 observed more often than predicted"
GRID = np.unique(np.concatenate([10.0 ** -np.arange(1, 13), 1 - 10.0 ** -np.arange(1, 13), np.arange(1, 400) / 400]))


def day_of(day, shift=0.0, rows=100):
    """Outcomes of a day whose log-odds are so much above the predicted ones: predictions are too low."""
    random = np.random.default_rng([5, day])
    p = random.random(rows)
    return (random.random(rows) < expit(logit(p) + shift)).astype(int), p


def fed(side, shift=0.0, days=40, since=11, **settings):
    monitor = cs.Monitor(side=side, **settings)
    for day in range(1, days + 1):
        monitor.update(*day_of(day, shift * (day >= since)), period=day)
    return monitor


# --- the directions ---------------------------------------------------------------------------------------------------


def crossings(side, sign):
    """How many directions of a side say somewhere that q < v (sign 1), or q > v (-1), by log(q / v) of outcome 1."""
    ratios = np.array([log_likelihood_ratios(np.array([v]), np.ones(1), np.ones(1), side) for v in GRID])
    return int((sign * ratios < 0).any(axis=0).sum())


@pytest.mark.parametrize("side", SIDES)
def test_no_direction_crosses_the_prediction(side):
    directions, sign = DIRECTIONS_OF[side], MORE_EVENTS[side]
    assert crossings(side, sign) == 0
    assert crossings(side, -sign) == len(directions.each) == 18  # each says something somewhere
    assert len({str(d) for d in directions.each}) == 18
    assert all(d.sign * sign > 0 for d in directions.each)
    weight = dict.fromkeys(itertools.product((False, True), repeat=2), 0.0)
    for d in directions.each:
        weight[d.slope != 1, d.everywhere] += d.weight
    assert list(weight.values()) == pytest.approx([1 / 4, 1 / 2, 1 / 4, 0])  # quarters, shifts, half slopes


def test_a_slope_over_the_whole_range_is_found_out():
    """The planted fault: two-sided slopes and shifts to the other side."""
    assert [d.sign for d in DIRECTIONS_OF[None].each if d.slope != 1 and not d.shift] == [0] * 6
    for sign in (1, -1):
        assert crossings(None, sign) == 6 + 4 + 4 + 8  # slopes, shifts with slopes, and shifts to the other side


@pytest.mark.parametrize(
    ("where", "slope", "extreme"),
    [("from 0.5 to 1", 2 / 3, "too extreme"), ("from 0 to 0.5", 1.5, "not extreme enough")],
)
def test_half_slopes_in_words(where, slope, extreme):
    words = f"predictions {where} {extreme}, with true log-odds about {slope:.2g} times the predicted ones"
    (direction,) = [d for d in DIRECTIONS_OF["over"].each if str(d) == words]
    assert direction.beside(-0.1, np.zeros(18)) == words
    assert direction.beside(0.1, np.zeros(18)) == f"{MORE_OFTEN}; the nearest alternative: {words}"


# --- supermartingales, by enumeration ---------------------------------------------------------------------------------


def laws(random, v, lean):
    """The probability of each vector of labels, with P(y = 1 | earlier labels) from v on towards 1, or towards 0."""
    found = {}
    for y in itertools.product((0, 1), repeat=v.size):
        found[y] = 1.0
        for i in range(v.size):
            # the same history has the same number
            u = np.random.default_rng([random, i, *y[:i]]).random() * (lean != 0)
            p = v[i] + u * (1 - v[i]) if lean > 0 else v[i] * (1 - u)
            found[y] *= p if y[i] else 1 - p
    return found


def means(side, lean, n=5, tries=12):
    """The largest and the smallest mean of any direction's product, and of the evidence after two periods."""
    products, evidence = [], []
    for seed in range(tries):
        v = np.random.default_rng([9, seed]).choice([0.001, 0.1, 0.3, 0.5, 0.6, 0.75, 0.9, 0.999], n)
        product, held = 0.0, 0.0
        for y, probability in laws(seed, v, lean).items():
            each = [log_likelihood_ratios(v[of], np.ones(of.size), np.array(y, float)[of], side)
                    for of in (np.arange(3), np.arange(3, n))]  # fmt: skip
            product = product + probability * np.exp(sum(each))
            held = held + probability * np.exp(log_evidence(np.array(each), side=side)[-1])
        products.append(product)
        evidence.append(held)
    return np.max(products), np.min(products), np.max(evidence)


@pytest.mark.parametrize("side", SIDES)
def test_bets_do_not_grow_where_no_prediction_is_wrong_on_this_side(side):
    """Later outcomes depend on earlier ones in any way, also within a period; at the border all means are 1."""
    highest, lowest, evidence = means(side, -MORE_EVENTS[side])
    assert lowest < 0.9 < max(highest, evidence) <= 1 + 1e-12
    assert means(side, 0) == pytest.approx((1, 1, 1), abs=1e-12)


@pytest.mark.parametrize("side", SIDES)
def test_bets_of_both_sides_and_of_the_other_side_are_found_out(side):
    """The planted faults: directions that cross the prediction, and predictions that are wrong on this side."""
    assert means(None, -MORE_EVENTS[side])[2] > 1.01
    assert means(side, MORE_EVENTS[side])[2] > 1.01


def test_a_common_shock_is_not_in_the_null_hypothesis():
    """Two rows of 1/2 that agree: each has its probability, but not given the other."""
    ratios = [log_likelihood_ratios(np.array([0.5]), np.full(1, 2.0), np.array([y]), "over") for y in (0.0, 2.0)]
    assert np.exp(ratios).mean(axis=0)[0] > 1


# --- what it finds ----------------------------------------------------------------------------------------------------


def alarms(shift, side, streams=20, days=60):
    """Of each stream, whether it has an alarm; 100 rows a day."""
    for stream in range(streams):
        random = np.random.default_rng([20270, stream])
        v = random.random((days, 100))
        y = (random.random(v.shape) < expit(logit(v) + shift)).astype(float)
        ratios = [log_likelihood_ratios(p, np.ones(100), of, side) for p, of in zip(v, y, strict=True)]
        yield log_evidence(np.array(ratios), side=side).max() >= np.log(20)


@pytest.mark.parametrize("side", SIDES)
def test_the_other_side_is_not_looked_for(side):
    shift = -0.4 * MORE_EVENTS[side]
    assert not any(alarms(shift, side))
    assert all(alarms(shift, None))  # the twin, in which either side raises an alarm
    assert all(alarms(-shift, side))


@pytest.mark.parametrize("side", SIDES)
def test_false_alarms_at_the_border_are_as_rare_as_promised(side):
    most = binom.ppf(1 - 1e-4, 100, 0.05)
    assert sum(alarms(0.0, side, 100)) <= most
    assert more_than(most, alarms(0.1 * MORE_EVENTS[side], side, 100, 150))


@pytest.mark.parametrize("settings", [{}, {"arl": 50}, {"alpha": 0.2}])
def test_under_is_over_of_the_mirror_image(settings):
    over, under = (cs.Monitor(side=side, **settings) for side in SIDES)
    for day in range(1, 31):
        random = np.random.default_rng([3, day])
        p = random.integers(0, 32, 50) / 32 + 1 / 64  # 1 - p is exact, and no edge of a quarter
        y = (random.random(50) < p**1.5).astype(int)
        over.update(y, p, period=day)
        under.update(1 - y, 1 - p, period=day)
        assert under.evidence == pytest.approx(over.evidence, rel=1e-3)
    a, b = over.status(), under.status()
    assert (a.alarms, a.onset.start) == (b.alarms, b.onset.start)
    np.testing.assert_allclose(a.highs, -b.lows, atol=1e-12)
    assert a.gap_low is b.gap_high is None
    assert a.gap_high == pytest.approx(-b.gap_low)
    assert a.onset.direction.replace("high", "low") == b.onset.direction


@pytest.mark.parametrize(("side", "allowed", "wrong"), [("over", (1, 0.0), (0, 1.0)), ("under", (0, 1.0), (1, 0.0))])
def test_impossible_rows_are_evidence_on_their_side_alone(side, allowed, wrong):
    monitor = cs.Monitor(side=side)
    status = monitor.update([allowed[0], 1, 0], [allowed[1], 0.5, 0.5])
    assert (status.alarm, status.impossible, status.others) == (False, 0, None)
    assert status.evidence == cs.Monitor(side=side).update([1, 0], [0.5, 0.5]).evidence
    status = monitor.update([wrong[0], 1, 0], [wrong[1], 0.5, 0.5])
    assert (status.alarm_period, status.impossible, status.evidence) == (2, 1, np.inf)
    assert (status.others.first_impossible, status.others.alarm_period) == (2, None)
    assert cs.Monitor().update([allowed[0]], [allowed[1]]).alarm  # of both sides either is evidence


def test_segments_and_several_models():
    monitor = cs.Monitor(side="over", segments=["a", "b"])
    for day in range(1, 41):
        y, p = day_of(day)
        place = np.array(["a", "b"])[np.arange(100) % 2]
        wrong = {"low": np.where(place == "b", p**2, p), "high": np.where(place == "b", p**0.5, p)}
        monitor.update(y, wrong, period=day, segment=place)
    found = monitor.status()
    assert (found.alarmed, found.side, found.models["high"].onset.segment) == (("high",), "over", "b")
    assert {each.side for each in found.models.values()} == {"over"}
    assert str(found).startswith(
        "Alarm for high; 2 models. Chance of ever raising an alarm for models with no prediction that is too high: at "
        "most 5 % (side fixed beforehand: over)."
    )
    by_arl = cs.Monitor(side="over", arl=40).update(y, wrong).promise
    assert by_arl.startswith("The mean number of alarms for models with no prediction that is too high is at most one")


# --- the limit of the mean --------------------------------------------------------------------------------------------


def ever_wrong(reach, streams=400, looks=100, rows=10):
    """How many streams with a truth that drifts have a limit beyond it after any look."""
    random = np.random.default_rng(11)
    v = random.random((streams, looks, rows)) ** 2
    p = np.clip(v + 0.2 * np.sin(np.arange(looks) / 15)[:, None], 0, 1)
    y = random.random(v.shape) < p
    total, theta, squares = (np.cumsum(x.sum(axis=2), axis=1) for x in (y - v, p - v, (y - v) ** 2))
    return int((total + reach(squares) < theta).any(axis=1).sum())


def test_one_limit_is_right_at_all_looks_at_once():
    most = binom.ppf(1 - 1e-4, 400, 0.2)
    assert ever_wrong(lambda squares: radius(squares, 0.8, 1)) <= most
    assert ever_wrong(lambda squares: norm.isf(0.2) * np.sqrt(squares)) > most  # the twin: a limit for one look


def test_the_limit_has_all_of_the_chance_to_fail():
    squares = np.array([1.0, 50.0, 1e4])
    np.testing.assert_allclose(radius(squares, 0.9, 1), radius(squares, 0.8), rtol=1e-9)
    monitor, sequence = fed("over", -0.4, alpha=0.1), ConfidenceSequence(0.9, 1)
    for day in monitor.periods:
        sums = monitor.summary(day).total
        sequence.add(sums.rows, sums.positives * 10**9 - sums.predicted, sums.squares)
    np.testing.assert_array_equal(monitor.status().highs, sequence.ends(10**9)[2])
    both = fed(None, -0.4, alpha=0.1).status()
    assert both.gap < monitor.status().gap_high < both.gap_high < 0


# --- summaries and states ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("own", "other"), [("over", "under"), ("over", None), (None, "under")])
def test_summaries_of_another_side_are_refused(own, other):
    words = {None: "for both sides"} | {side: f"for side '{side}'" for side in SIDES}
    monitor, elsewhere = (cs.Monitor(side=side) for side in (own, other))
    parts = [each.summarize([1, 0], [0.5, 0.3]) for each in (monitor, elsewhere)]
    mixed = f"expected summaries for one side, found one {words[own]} and one {words[other]}: summarize all rows with"
    with pytest.raises(ValueError, match=mixed):
        _ = parts[0] + parts[1]
    with pytest.raises(ValueError, match=mixed):  # of other segments too
        _ = monitor.summarize([1], [0.5], "a") + elsewhere.summarize([1], [0.5], "b")
    with pytest.raises(ValueError, match=f"expected a summary {words[own]}, .*, found one {words[other]}: summarize"):
        monitor.update(parts[1])
    with pytest.raises(ValueError, match=f"expected a summary {words[own]}"):
        monitor.update(elsewhere.summarize([1, 0], {"a": [0.5, 0.3], "b": [0.5, 0.2]}))
    assert (monitor.periods, monitor.models) == ((), None)


def test_lists_say_their_side_and_those_of_both_are_as_before():
    y, p = day_of(1)
    over, both = (cs.Monitor(side=side).summarize(y, p, np.arange(100) % 2) for side in ("over", None))
    assert [len(each) for each in both.to_dict().values()] == [39, 39]
    assert [(each[0], len(each)) for each in over.to_dict().values()] == [("over", 24)] * 2
    for summary in (over, both):
        again = PeriodSummary.from_dict(json.loads(json.dumps(summary.to_dict())))
        assert again == summary == copy.deepcopy(summary) == pickle.loads(pickle.dumps(summary))
        assert again.side == summary.side
    for wrong, size in ((["both", *over.to_dict()["0"][1:]], 39), (["under", *both.to_dict()["0"]], 23), ([[], 1], 39)):
        with pytest.raises(ValueError, match=f"expected {size} numbers of a segment"):
            PeriodSummary.from_dict({"": wrong})


@pytest.mark.parametrize("settings", [{}, {"arl": 30}])
@pytest.mark.parametrize("side", [*SIDES, None])
def test_a_state_keeps_its_side(side, settings, tmp_path):
    monitor = fed(side, -0.3, 20, **settings)
    monitor.save(tmp_path / "s.json")
    loaded = cs.Monitor.load(tmp_path / "s.json")
    copied = pickle.loads(pickle.dumps(monitor))
    for each in (monitor, loaded, copied):
        each.update([1, 0], [1.0, 0.3], period=21)
        each.update([1, 0], [0.0, 0.3], period=22)
    assert monitor.status().to_dict() == loaded.status().to_dict() == copied.status().to_dict()
    assert loaded.side == monitor.status().side == monitor.status().to_dict()["side"] == side


def test_a_state_of_before_there_were_sides_is_of_both(tmp_path):
    monitor = fed(None, 0.3, 5)
    monitor.save(tmp_path / "s.json")
    state = json.loads((tmp_path / "s.json").read_text())
    assert "side" not in state  # so that versions of before read it
    assert cs.Monitor.load(tmp_path / "s.json").status().to_dict() == monitor.status().to_dict()
    (tmp_path / "s.json").write_text(json.dumps(state | {"side": "over"}))
    with pytest.raises(ValueError, match=r"expected a summary for side 'over', .* found one for both sides.*s\.json"):
        cs.Monitor.load(tmp_path / "s.json")


@pytest.mark.parametrize("side", ["both", "high", 1, True, ["over"]])
def test_another_side_is_refused(side):
    with pytest.raises(ValueError, match=r"expected side None, 'over' .* or 'under' \(too low\?\), found"):
        cs.Monitor(side=side)
    with pytest.raises(TypeError, match=r"expected arguments of summarize .*, found 'side'"):
        cs.Monitor().summarize([1], [0.5], side="over")


# --- words, table and picture -----------------------------------------------------------------------------------------

OVERSTATED = re.compile(r"(?<!some )(?<!any )predictions are too|on average|\bNone\b|\bnan\b", re.IGNORECASE)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("settings", [{}, {"arl": 50}])
def test_what_is_printed(side, settings):
    too, other = TOO[side], TOO[OTHER[side]]
    found, none = (fed(side, sign * 0.4 * MORE_EVENTS[side], **settings).status() for sign in (1, -1))
    for text in (str(found), str(none), str(cs.Monitor(side=side, **settings))):
        assert OVERSTATED.search(text) is None
        assert f"if no prediction is {too}" in text
        assert f"(side fixed beforehand: {side})" in text
    assert re.search(
        rf"^Alarm in period \d+ of 40\..* Some predictions {'may be' if settings else 'are'} {too}\. Over 4,000 rows: "
        rf"[\d,]+\.\d events expected, [\d,]+ observed; the mean prediction is at least [\d.]+ points {too}\.\n"
        r"Likely start: period",
        str(found),
    )
    assert "The limit of the mean is right in all periods at once (95 % confidence sequence)" in str(found)
    assert ("With a wrong limit of the mean: at most 10 %." in str(found)) == (not settings)
    assert re.fullmatch(
        rf"No alarm in 40 periods\. It is not shown that any predictions are {too}\. Predictions that are {other} were "
        r"not looked for\. Over 4,000 rows: [\d,]+\.\d events expected, [\d,]+ observed\.",
        none.answer,
    )
    assert "limit" not in str(none)
    assert none.null_hypothesis == (
        "In every period, given the predictions and all earlier periods and rows, every outcome is 1 with "
        f"at {'least' if side == 'over' else 'most'} its predicted probability."
    )


def test_expected_and_observed_events_and_the_limit_by_hand():
    status = cs.Monitor(side="over").update([0] * 40 + [1] * 10, [0.9] * 50)
    end = (10 - 45 + radius(np.array([40 * 0.81 + 10 * 0.01]), 0.95, 1)[0]) / 50
    assert status.gap_high == pytest.approx(end, rel=1e-6)
    least = (
        f"45.0 events expected, 10 observed; the mean prediction is at least {math.floor(-100 * end)} points too high."
    )
    assert status.answer.endswith(least)
    early = replace(fed("over", days=3).status(), gap_high=-0.01299).answer  # the limit shows it, and no alarm yet
    assert early.startswith("No alarm in 3 periods. Predictions that are too low were not looked for. Over 300 rows: ")
    assert early.endswith("; the mean prediction is at least 1.2 points too high.")


@pytest.mark.parametrize(("side", "missing"), [("over", "gap_low"), ("under", "gap_high")])
def test_the_other_end_is_nowhere(side, missing):
    status = fed(side, 0.4, 12).status()
    frame, (stated,) = status.to_frame(), {"gap_low", "gap_high"} - {missing}
    assert getattr(status, missing) is None
    assert frame[missing].isna().all()
    assert frame[stated].iloc[-1] == getattr(status, stated)
    assert json.loads(json.dumps(status.to_dict()))[f"{missing.removeprefix('gap_')}s"] == [None] * 12
    assert missing not in status.scalars()
    lower = cs.plot(status).figure.axes[1]
    band = lower.collections[0].get_paths()[0].vertices[:, 1]
    assert {frame[stated].iloc[-1], MORE_EVENTS[side]} <= set(band)
    assert max(map(abs, lower.get_ylim())) < 1  # it is drawn to the edge, and does not stretch the picture
    assert overlapping(lower.figure) == outside(lower.figure) == []
    plt.close("all")


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_asks_one_side_and_keeps_to_it(tmp_path):
    days = [pd.DataFrame(dict(zip("yp", day_of(day, -0.5), strict=True))).assign(day=day) for day in range(1, 31)]
    file, state, both = (tmp_path / name for name in ("stream.csv", "state.json", "both.json"))
    pd.concat(days).assign(q=lambda rows: rows["p"] ** 2).to_csv(file, index=False)
    stream = ["monitor", file, "--label", "y", "--prob", "p", "--when", "day"]
    monitor = fed("over", -0.5, 30, 1)
    first = run(*stream, "--side", "over", "--state", state, "--out", tmp_path / "out")
    assert plain_text(first.stdout).startswith(plain_text(str(monitor.status())))
    assert "gap_low" in (tmp_path / "out" / "monitor.csv").read_text()
    for side in ([], ["--side", "over"]):
        again = plain_text(run(*stream, *side, "--state", state).stdout)
        assert again.startswith(plain_text(str(monitor.status())))
    fails_with(run(*stream, "--side", "under", "--state", state), "expected --side over as in", "found under")
    assert '"monitor.side": "over"' in run(*stream, "--side", "over", "--format", "json").stdout
    assert "No alarm" in run(*stream, "--side", "under").stdout
    assert "alarm for p" in run(*stream, "--prob", "q", "--each", "--side", "over", "--fail-on-alarm").stderr
    run(*stream, "--state", both)
    fails_with(run(*stream, "--side", "over", "--state", both), "expected no --side as in", "found over")
    fails_with(run(*stream, "--prob", "q", "--side", "over"), "expected --side with one model, or with --each; a comp")
    fails_with(run(*stream, "--side", "high"), "'over' (are predictions too high?) or 'under' (too low?), found 'high'")
