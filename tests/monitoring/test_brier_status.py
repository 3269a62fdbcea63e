"""Two models over time with segments: each sequence by itself, what is printed and saved, and coverage together."""

import json

import numpy as np
import pytest

import calibstat as cs
from calibstat.monitoring.confidence_sequence import radius

PLACES = ("centre", "east", "west")


def fed(segments=PLACES, days=40, bad="east", names=("cubed", "plain")):
    """A monitor of days on which the first model is worse in one segment alone."""
    monitor = cs.BrierMonitor(names=names, segments=segments)
    for day in range(1, days + 1):
        y, p = cs.generators.calibrated().sample(90, rng=day)
        place = np.array(PLACES)[np.arange(90) % 3]
        monitor.update(y, np.where(place == bad, p**3, p), p, day, place)
    return monitor


def test_every_sequence_is_the_one_of_its_rows_at_its_share_of_the_level():
    """All rows may miss with half of 5 %, each of three segments with a sixth."""
    monitor, found = fed(), fed().status()
    assert [found.level, *(part.level for part in found.segments.values())] == pytest.approx(
        [1 - 0.05 / 2, *[1 - 0.05 / 6] * 3]
    )
    for name, part in found.segments.items():
        alone = cs.BrierMonitor(part.level, monitor.names)
        for day in monitor.periods:
            y, p = cs.generators.calibrated().sample(90, rng=day)
            here = np.array(PLACES)[np.arange(90) % 3] == name
            alone.update(y[here], (p**3 if name == "east" else p)[here], p[here], day)
        assert part.highs == pytest.approx(alone.status().highs)
        assert part.lows == pytest.approx(alone.status().lows)
        assert part.decided_period == alone.status().decided_period
    whole = cs.BrierMonitor(found.level, monitor.names)
    for day in monitor.periods:
        y, p = cs.generators.calibrated().sample(90, rng=day)
        whole.update(y, np.where(np.arange(90) % 3 == 1, p**3, p), p, day)
    assert found.highs == pytest.approx(whole.status().highs, abs=1e-8)  # rounded once, or in each segment
    assert found.highs != pytest.approx(fed(None).status().highs * 1.01, rel=1e-3)


def test_the_segment_in_which_a_model_is_worse_is_named():
    found = fed().status()
    assert found.segments["east"].better == "plain"
    assert found.segments["centre"].better is None
    text = str(found)
    assert "In segment east plain is shown to be better on average. The sequence first excluded 0 in period" in text
    assert "The other segments show no better model." in text
    assert "97.5 % confidence sequence" in text
    assert text.endswith("All sequences are right in all periods at once with probability of at least 95 %.")
    assert "No segment shows a better model." in str(fed(days=1).status())
    frame = found.to_frame()
    assert frame["segment"].value_counts().to_dict() == {"all rows": 40, "centre": 40, "east": 40, "west": 40}
    assert found.to_dict()["segments.east.better"] == "plain"


def test_a_segment_may_be_without_rows():
    monitor = cs.BrierMonitor(segments=["a", "b"])
    monitor.update([1, 0], [0.5, 0.5], [0.6, 0.5], segment="b")
    found = monitor.status()
    assert (found.segments["a"].difference, found.segments["a"].rows) == (None, 0)
    assert found.segments["b"].periods == (1,)
    assert set(found.to_frame()["segment"]) == {"all rows", "b"}


def test_segments_are_fixed_before_the_first_period():
    monitor = cs.BrierMonitor()
    monitor.update([1, 0], [0.5, 0.5], [0.6, 0.5], segment=["a", "b"])
    with pytest.raises(ValueError, match=r"fixed before the first period \('a', 'b'\), found 'c'"):
        monitor.update([1], [0.5], [0.5], segment="c")
    with pytest.raises(ValueError, match="expected a segment for each row"):
        monitor.update([1], [0.5], [0.5])
    assert monitor.periods == (1,)


def test_a_loaded_monitor_goes_on_with_the_same_numbers(tmp_path):
    path = tmp_path / "state.json"
    monitor = fed(days=10)
    monitor.save(path)
    loaded = cs.BrierMonitor.load(path)
    assert loaded.segments == PLACES
    for each in (monitor, loaded):
        y, p = cs.generators.calibrated().sample(90, rng=99)
        each.update(y, p, p**2, "next", np.repeat(PLACES, 30))
    assert loaded.status().to_dict() == monitor.status().to_dict()


def test_states_saved_before_there_were_segments_are_read(tmp_path):
    path = tmp_path / "state.json"
    fed(None, days=3).save(path)  # of the segments of the first period
    old = {"kind": "Brier monitor", "version": 1, "confidence_level": 0.9, "names": ["A", "B"], "starts": [0],
           "periods": [["x", [2, 500000000, 300000000, 20000000]]]}  # fmt: skip
    path.write_text(json.dumps(old))
    monitor = cs.BrierMonitor.load(path)
    assert (monitor.segments, monitor.status().rows) == ((), 2)
    assert monitor.status().difference == pytest.approx(0.1)


def ever_missed(levels, streams=150, looks=60, rows=12):
    """How many streams leave out the true running mean of all rows or of one of three segments after any look."""
    generator = np.random.default_rng(3)
    truth = generator.random((streams, looks, rows))
    a, b = truth**1.5, np.clip(truth + 0.1 * np.cos(np.arange(looks))[:, None], 0, 1)
    y = generator.random(truth.shape) < truth
    d = (a - y) ** 2 - (b - y) ** 2
    expected = truth * ((a - 1) ** 2 - (b - 1) ** 2) + (1 - truth) * (a**2 - b**2)
    missed = np.zeros(streams, bool)
    for part, reach in zip((slice(None), *(slice(k, None, 3) for k in range(3))), levels, strict=True):
        total, mean, squares = (np.cumsum(x[..., part].sum(axis=2), axis=1) for x in (d, expected, d**2))
        missed |= (np.abs(total - mean) > reach(squares)).any(axis=1)
    return int(missed.sum())


def test_all_sequences_together_are_right_and_intervals_for_one_look_are_found_out():
    found = cs.BrierMonitor(0.8, segments=PLACES).status()
    levels = [found.level, *(part.level for part in found.segments.values())]
    limit = cs.study.most_rejections(0.2, 150, 1e-4)
    assert ever_missed([lambda v, level=level: radius(v, level) for level in levels]) <= limit
    assert ever_missed([lambda v: 1.5 * np.sqrt(v)] * 4) > limit  # the twin: right at about one look
