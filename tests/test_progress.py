import logging
import subprocess
import sys
from itertools import count

import numpy as np
import pytest

import calibstat as cs
from calibstat import progress
from calibstat.progress import announced


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves when the test says so."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def lines_of(seconds, clock, caplog):
    """The lines about parts that take so many seconds each, of the same size."""
    for number, part in enumerate(announced(range(len(seconds)), [1] * len(seconds), "the work")):
        assert part == number
        clock[0] += seconds[number]
    return [record.getMessage() for record in caplog.records]


def test_nothing_is_said_of_a_short_call(clock, caplog):
    assert lines_of([0.4] * 10, clock, caplog) == []


def test_a_long_call_is_foretold_after_a_second_and_then_followed(clock, caplog):
    assert lines_of([5.0] + [0.6] * 60, clock, caplog) == [
        "about 41 s for the work",  # after two more parts
        "33 % done, about 25 s left",  # ten seconds later, after 20 parts
        "61 % done, about 14 s left",
        "89 % done, about 4 s left",
    ]


def test_what_the_first_part_takes_longer_is_not_expected_of_the_others(clock, caplog):
    assert lines_of([9.0] + [0.5] * 5, clock, caplog) == ["about 12 s for the work"]
    caplog.clear()
    assert lines_of([2.0] + [0.5] * 5, clock, caplog) == []


def test_sizes_count(clock, caplog):
    for _ in announced([0, 0, 0], [1, 9, 90], "the work"):
        clock[0] += 2
    assert [record.getMessage() for record in caplog.records] == ["about 24 s for the work"]


def test_a_call_of_hours_says_about_ten_lines(clock, caplog):
    said = lines_of([5.0] * 2400, clock, caplog)
    assert said[:3] == ["about 3.3 h for the work", "10 % done, about 3 h left", "20 % done, about 2.7 h left"]
    assert said[-1] == "90 % done, about 20 min left"
    assert len(said) == 10


def test_a_first_part_of_no_size_is_left_out_too(clock, caplog):
    for _ in announced([0, 0, 0, 0], [0, 1, 1, 1], "the work"):
        clock[0] += 4
    assert [record.getMessage() for record in caplog.records] == ["about 16 s for the work"]


def test_nothing_is_said_once_all_is_done(clock, caplog):
    assert lines_of([100.0], clock, caplog) == []


def test_the_time_of_parts_that_are_made_when_asked_for_counts_too(clock, caplog):
    def parts():
        for _ in range(4):
            clock[0] += 5
            yield None

    assert len(list(announced(parts(), [1] * 4, "the work"))) == 4
    assert [record.getMessage() for record in caplog.records] == ["about 20 s for the work"]


@pytest.mark.parametrize(
    ("options", "prepares"),
    [({"lens": "canonical"}, True), ({"lens": "class_wise"}, True), ({"lens": "class_wise", "measure": "ks"}, False)],
)
def test_long_tests_of_classes_say_so_and_give_the_same_numbers(options, prepares, monkeypatch, caplog):
    rng = np.random.default_rng(1)
    prob = rng.dirichlet(np.ones(70), 40)
    label = rng.integers(0, 70, 40)
    quiet = cs.calibration_test(label, prob, n_resamples=130, rng=1, n_jobs=2, **options)
    assert not caplog.records
    ticks = count(0, 4.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(ticks))
    monkeypatch.setattr("calibstat.resampling.threads.LARGEST_PIECE", 2000)
    monkeypatch.setattr("calibstat.resampling.vector_sums.MOST_HELD", 1)
    loud = cs.calibration_test(label, prob + 0.0, n_resamples=130, rng=1, **options)
    assert np.array_equal(quiet.null_distribution, loud.null_distribution)
    first = [record.getMessage() for record in caplog.records if "about" in record.getMessage()]
    assert any("130 draws of 40 rows and 70 classes; a smaller n_resamples" in line for line in first)
    assert any("the components of 7" in line for line in first) == prepares
    assert {(record.name, record.levelno) for record in caplog.records} == {("calibstat", logging.WARNING)}


def test_intervals_of_classes_say_so_too(monkeypatch, caplog):
    rng = np.random.default_rng(1)
    prob, label = rng.dirichlet(np.ones(3), 400), rng.integers(0, 3, 400)
    ticks = count(0, 4.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(ticks))
    cs.confidence_interval(label, prob, measure="ece", lens="class_wise_mean", rng=1)
    assert any("draws of 400 rows and 3 classes" in record.getMessage() for record in caplog.records)


def test_audits_say_so_too_and_give_the_same_numbers(monkeypatch, caplog):
    rng = np.random.default_rng(1)
    p = rng.random(100)
    y, masks = rng.random(100) < p, rng.random((100, 40)) < 0.5
    quiet = cs.audit(y, p, masks, n_resamples=99, rng=1)
    assert not caplog.records
    ticks = count(0, 4.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(ticks))
    loud = cs.audit(y, p, masks, n_resamples=99, rng=1)
    assert repr(quiet.to_dict()) == repr(loud.to_dict())
    said = [record.getMessage() for record in caplog.records]
    assert any("for 99 draws of 100 rows in 41 groups; fewer groups or n_jobs=-1 take less" in line for line in said)
    assert any("for the comparison of 40 groups with the other rows" in line for line in said)


def test_lines_go_to_standard_error_of_a_program_that_has_not_set_up_its_logs():
    code = "from calibstat.progress import logger; logger.warning('about %s for %s', '12 s', 'the work')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("", "about 12 s for the work\n")
