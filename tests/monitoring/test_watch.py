"""Several models: each beside a monitor of its own, states, and how often any of them raises a false alarm."""

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from more_than import more_than

import calibstat as cs
from calibstat.monitoring.monitor_status import ModelsStatus
from calibstat.monitoring.period import ModelsSummary

PLACES = ("north", "south")


def day_of(day, bad=False, rows=60):
    """Outcomes, predictions of two models, and places; the second model is too high in the south if `bad`."""
    y, p = cs.generators.calibrated().sample(rows, rng=day)
    place = np.array(PLACES)[np.arange(rows) % 2]
    return y, {"good": p, "bad": np.where((place == "south") & bad, p**0.4, p)}, place


def fed(days=25, **settings):
    monitor = cs.Monitor(**settings)
    for day in range(1, days + 1):
        y, p, place = day_of(day, True)
        monitor.update(y, p, day, place)
    return monitor


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.1}, {"arl": 40}, {"segments": ["north", "south", "west"]}])
def test_each_model_is_monitored_at_its_share(settings):
    monitor = fed(**settings)
    alone = settings | {"alpha": settings.get("alpha", 0.05) / 2}
    alone |= {"arl": 80} if "arl" in settings else {}
    for name, status in monitor.status().models.items():
        own = cs.Monitor(**alone)
        for day in range(1, 26):
            y, p, place = day_of(day, True)
            own.update(y, p[name], day, place)
        assert own.status().to_dict() == status.to_dict()
        assert set(own.alarms) <= set(monitor.alarms)
    found = monitor.status()
    assert "bad" in found.alarmed
    assert (found.alarm, monitor.alarm, monitor.models) == (True, True, ("good", "bad"))
    assert monitor.alarm_period == monitor.alarms[-1] == max(s.alarm_period or 0 for s in found.models.values())
    assert monitor.evidence == max(status.evidence for status in found.models.values()) / 2
    of_each = [status.pvalue for status in found.models.values()]
    assert monitor.pvalue == (None if "arl" in settings else min(1, 2 * min(of_each)))
    assert "arl" in settings or (monitor.pvalue <= monitor.alpha) == found.alarm
    assert "arl" in settings or monitor.status().models["bad"].onset.segment == "south"


def test_words_frame_and_repr():
    monitor = fed()
    text = str(monitor.status())
    assert text.startswith("Alarm for bad; 2 models. Chance that any calibrated model ever gets an alarm: at most 5 %.")
    assert "\ngood\n  No alarm in 25 periods" in text
    assert "at most 2.5 %" in text  # of each by itself
    assert monitor.to_frame().groupby("model").size().to_dict() == {"bad": 25, "good": 25}
    assert repr(monitor) == f"Monitor(25 periods of good, bad, alarm in period {monitor.alarm_period})"
    assert "No alarm; 2 models" in str(fed(1).status())
    assert "at most one alarm in 40 periods" in fed(1, arl=40).status().promise
    assert monitor.status().to_dict()["models.good.alarm"] is False


def test_shards_json_and_copies():
    monitor = cs.Monitor()
    y, p, place = day_of(1)
    parts = [monitor.summarize(y[i::2], {k: v[i::2] for k, v in p.items()}, place[i]) for i in range(2)]
    whole = parts[0] + parts[1]
    assert whole == parts[1] + parts[0] == monitor.summarize(cs.Models(y, p), segment=place)
    assert copy.copy(whole) == whole == pickle.loads(pickle.dumps(whole))
    assert ModelsSummary.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole
    assert "'good': PeriodSummary(60 rows" in repr(whole)
    monitor.update(whole)
    with pytest.raises(ValueError, match="expected a summary alone"):
        monitor.update(whole, p)
    with pytest.raises(ValueError, match="expected summaries of the same models"):
        _ = whole + monitor.summarize(y, {"a": p["good"]}, place)
    with pytest.raises(TypeError):
        _ = whole + 1
    with pytest.raises(ValueError, match="expected the summary of each model"):
        ModelsSummary.from_dict({})
    with pytest.raises(ValueError, match=r"expected the sums of each segment.*\(of 'bad'\)"):
        ModelsSummary.from_dict(whole.to_dict() | {"bad": 5})


def test_a_loaded_monitor_goes_on_with_the_same_numbers(tmp_path):
    path, monitor = tmp_path / "state.json", fed(10)
    monitor.restart()
    y, p, place = day_of(50)
    monitor.update(y, p, 50, place)
    monitor.save(path)
    loaded = cs.Monitor.load(path)
    for each in (monitor, loaded):
        y, p, place = day_of(51)
        each.update(y, p, 51, place)
    assert loaded.status().to_dict() == monitor.status().to_dict()
    assert (loaded.periods, loaded.segments) == (monitor.periods, PLACES)
    assert (loaded.alarms, loaded.alarm) == (monitor.alarms, False)


BEFORE = json.loads(Path(__file__).with_name("state_of_models_monitor.json").read_text())


@pytest.mark.parametrize("before", BEFORE["found"], ids=["arl", "alpha"])
def test_a_state_of_before_gives_the_same_answers(before, tmp_path):
    """A `ModelsMonitor` wrote it, which watched several models when `Monitor` watched one."""
    (tmp_path / "s.json").write_text(json.dumps(BEFORE["state"] | before["settings"]))
    monitor = cs.Monitor.load(tmp_path / "s.json")
    assert isinstance(monitor.status(), ModelsStatus)
    since = ("models.new.others", "models.Old.others", "models.new.side", "models.Old.side", "side")
    expected = before["status"] | dict.fromkeys(since)  # which there were not
    assert monitor.status().to_dict() == expected
    assert monitor.models == ("new", "Old")
    monitor.save(tmp_path / "s.json")
    assert cs.Monitor.load(tmp_path / "s.json").status().to_dict() == expected
    (tmp_path / "s.json").write_text(json.dumps(BEFORE["state"] | {"periods": [], "starts": [0]}))
    assert cs.Monitor.load(tmp_path / "s.json").models is None


def test_what_raises_leaves_all_models_as_they_were():
    monitor = fed(2)
    y, p, place = day_of(3)
    wrong = monitor.summarize(y, p, place).to_dict()
    wrong["bad"]["east"] = wrong["bad"].pop("south")
    before = monitor.status().to_dict()
    for feed, message in (
        (lambda: monitor.update(ModelsSummary.from_dict(wrong)), "found 'east'"),
        (lambda: monitor.update(y, p, 1, place), "period"),
        (
            lambda: monitor.update(y, {"good": p["good"]}, 3, place),
            "expected 'good', 'bad', as in the first period, found 'good'",
        ),
        (lambda: monitor.update(y, p | {"bad": p["bad"] + 1}, 3, place), r"\(of 'bad'\)"),
        (lambda: monitor.update(y, p["good"], 3, place), "expected 'good', 'bad', .* found one model"),
    ):
        with pytest.raises(ValueError, match=message):
            feed()
    assert monitor.status().to_dict() == before


def test_one_model_stays_one():
    monitor = cs.Monitor()
    assert (monitor.models, str(monitor)) == (None, f"No period so far. {monitor.status().promise}")
    monitor.update([0, 1], [0.1, 0.9])
    assert monitor.models == ()
    with pytest.raises(ValueError, match="expected one model, as in the first period, found 'a'"):
        monitor.update([0, 1], {"a": [0.1, 0.9]})


def test_a_share_of_the_promise_that_is_none_is_refused_before_the_first_period():
    monitor = cs.Monitor(alpha=2e-16)
    with pytest.raises(ValueError, match="expected alpha so large that 1 - alpha is less than 1"):
        monitor.update([0, 1], {name: [0.1, 0.9] for name in "abcd"})
    assert (monitor.models, monitor.periods) == (None, ())
    monitor.update([0, 1], [0.1, 0.9])


# --- how often any of three models raises a false alarm ---------------------------------------------------------------

STREAMS, LOOKS, ALPHA = 120, 25, 0.2


def false_alarms(copies):
    """Of each stream, whether it gives an alarm to one of three calibrated models, each row being fed so many times.

    Every model sees a part of the truth of each row, which is one of four probabilities.
    """
    random = np.random.default_rng(5)
    chance = np.array([0.1, 0.4, 0.6, 0.9])
    for _ in range(STREAMS):
        monitor = cs.Monitor(alpha=ALPHA)
        for _ in range(LOOKS):
            kind = random.integers(0, 4, 40)
            y = (random.random(40) < chance[kind]).astype(int)
            half, other = np.array([0.25, 0.75])[kind // 2], np.array([0.35, 0.65])[kind % 2]
            models = {"full": chance[kind], "half": half, "other": other}
            monitor.update(np.repeat(y, copies), {name: np.repeat(p, copies) for name, p in models.items()})
        yield monitor.alarm


def test_any_false_alarm_is_as_rare_as_promised_and_repeated_rows_are_found_out():
    limit = cs.study.most_rejections(ALPHA, STREAMS, 1e-4)
    assert sum(false_alarms(1)) <= limit
    assert more_than(limit, false_alarms(5))  # the twin: rows of a period that are not independent
