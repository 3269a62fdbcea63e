"""The study of monitors: its sums are those of rows, its evidence that of a monitor, and a broken promise is found."""

import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file, study_part

import calibstat as cs
from calibstat.generators import calibrated, shift, stream
from calibstat.monitoring.evidence import log_evidence, stream_weights

monitoring = study_file("monitoring")
delays, period_sums, one_sided_streams = map(study_part, ("delays", "period_sums", "one_sided_streams"))
TINY = monitoring.Sizes(4, 2, 30, 2, 8, 4, 2, 20, 20, (2, 5), (4, 7), 2, 40)


def seed(n=1):
    return np.random.SeedSequence(n)


@pytest.fixture(scope="module")
def table():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(monitoring, "QUICK", TINY)
        return monitoring.table(quick=True, n_jobs=1)


def row_by_row(model, periods):
    """Outcomes and predictions of each period that fit sums of one copy: any order of equal predictions will do."""
    sums = period_sums.period_sums(model, periods, 1, with_outcomes, seed())
    rows, _ = seed().spawn(2)
    for (_, _, p), found in zip(model.periods(1, periods, rows), sums[0], strict=True):
        value = np.unique(p)
        positives = np.rint(found[: value.size]).astype(int)
        count = np.array([(p == v).sum() for v in value])
        y = np.concatenate([np.arange(c) < a for c, a in zip(count, positives, strict=True)])
        yield y.astype(int), np.repeat(value, count), found[SCORES:]


SCORES = 3


def with_outcomes(value, chance):
    """Positives of each score, and the columns of a monitor."""
    one = np.zeros((2, SCORES, SCORES))
    one[1] = np.eye(SCORES)
    return np.concatenate([one, period_sums.monitored(value, chance)], axis=2)


def test_evidence_is_that_of_a_monitor_fed_period_by_period():
    model, periods = stream(shift(0.4, [0.1, 0.4, 0.8]), rows=60), 40
    sums = []
    fed = {None: cs.Monitor(), 15.0: cs.Monitor(arl=15)}
    for y, p, found in row_by_row(model, periods):
        sums.append(found)
        for monitor in fed.values():
            monitor.update(y, p)
    ratios = np.array(sums)[None, :, : monitoring.N_RATIOS]
    # a monitor rounds down to units of 1e-6
    near = {"atol": 1e-6 * periods, "rtol": 0}
    by_alpha, by_length = monitoring.both_evidences(ratios)
    assert np.allclose(by_alpha[0], fed[None].status().log_evidence, **near)
    first = int(period_sums.first_time(by_length >= np.log(15))[0])
    assert fed[15.0].alarms[0] == first < periods
    assert np.allclose(by_length[0, :first], fed[15.0].status().log_evidence[:first], **near)


def test_segments_are_averaged_as_in_a_monitor():
    """Of two segments as streams of their own: all rows have half of the weight, the segments a quarter each."""
    models, rng = {"a": stream(calibrated([0.3, 0.6]), rows=30), "b": stream(shift(1, [0.5]), rows=20)}, 5
    monitor, ratios = cs.Monitor(), {name: [] for name in models}
    for days in zip(*(model.periods(1, 20, rng) for model in models.values()), strict=True):
        y, p = (np.concatenate([day[i] for day in days]) for i in (1, 2))
        monitor.update(y, p, segment=np.repeat(list(models), [30, 20]))
        for name, (_, outcome, prediction) in zip(models, days, strict=True):
            negative, positive = period_sums.monitored(prediction, prediction)
            rows = np.where(outcome[:, None] == 1, positive, negative)
            ratios[name].append(rows[:, : monitoring.N_RATIOS].sum(axis=0))
    a, b = (np.array(part) for part in ratios.values())
    paths = [log_evidence(part) for part in (a + b, a, b)]
    assert np.allclose(stream_weights(2), [0.5, 0.25, 0.25])
    mixed = np.logaddexp.reduce(np.array(paths) + np.log(stream_weights(2))[:, None], axis=0)
    assert np.allclose(mixed, monitor.status().log_evidence, atol=1e-6 * 20, rtol=0)


def test_sums_are_those_of_the_rows():
    model = stream(calibrated(), shift(1), 3, rows=[5, 9, 4])
    found = period_sums.period_sums(model, 3, 400, monitoring.residuals, seed())
    assert found.shape == (400, 3, 6)
    rows, _ = seed().spawn(2)
    for k, (period, _, p) in enumerate(model.periods(1, 3, rows)):
        error = model.generator(period).curve(p) - p
        total, _, truth, least, most, n = found[:, k].T
        assert np.allclose(truth, error.sum())
        assert np.allclose(least, -p.sum())
        assert np.allclose(most, (1 - p).sum())
        assert np.array_equal(n, np.full(400, p.size))
        assert np.allclose(total + p.sum(), np.rint(total + p.sum()))  # a number of positives
        # the mean of 400 sums of n outcomes, whose variance is at most n / 4: five standard errors
        assert abs(total.mean() - error.sum()) < 5 * np.sqrt(p.size / 4 / 400)


def test_sequences_are_those_of_a_monitor():
    monitor, pair = cs.Monitor(), cs.BrierMonitor()
    gap, brier = [], []
    compared = monitoring.differences(lambda v: v**2, lambda v: v)
    for _, y, p in stream(shift(0.4), rows=30).periods(1, 25, 1):
        monitor.update(y, p)
        pair.update(y, p**2, p)
        for columns, sums in ((monitoring.residuals, gap), (compared, brier)):
            negative, positive = columns(p, p)
            sums.append(np.where(y[:, None] == 1, positive, negative).sum(axis=0))
    for sums, status in ((gap, monitor.status()), (brier, pair.status())):
        total, squares, _, least, most, n = np.cumsum(sums, axis=0).T
        low, high = monitoring.sequence(total, squares, n)
        assert np.allclose(np.maximum(low, least / n), status.lows, atol=1e-6)
        assert np.allclose(np.minimum(high, most / n), status.highs, atol=1e-6)


def test_truth_of_a_brier_difference():
    """Of predictions .2 beside .5 at the probability .3: .3 (.64 - .25) + .7 (.04 - .25) = -.03."""
    columns = monitoring.differences(lambda v: v * 0 + 0.2, lambda v: v)
    assert columns(np.array([0.5]), np.array([0.3]))[0, 0, 2] == pytest.approx(-0.03)


def test_cox_statistic_by_linear_algebra():
    y, p = shift(0.5).sample(80, 1)
    negative, positive = period_sums.cox_columns(p, p)
    found = period_sums.cox_statistic(np.where(y[:, None] == 1, positive, negative).sum(axis=0))
    design = np.stack([np.ones(80), np.log(p / (1 - p))], axis=1)
    score = design.T @ (y - p)
    assert found == pytest.approx(score @ np.linalg.solve(design.T @ (design * (p * (1 - p))[:, None]), score))
    # score and likelihood-ratio tests agree to first order
    assert found == pytest.approx(cs.classical.cox(y, p, held_out=True).joint_test.statistic, rel=0.2)


def test_rare_predictions_have_their_mean():
    assert np.mean(delays.rare(50)) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("predictions too extreme, with true log-odds about 0.5 times the predicted ones", True),
        ("predictions not extreme enough, with true log-odds about 2 times the predicted ones", False),
        ("predictions from 0.75 to 1 too high by about 0.4 on the log-odds scale", True),
        ("predictions from 0 to 0.25 too high by about 0.4 on the log-odds scale", False),
        ("predictions too high by about 0.1 on the log-odds scale", False),
    ],
)
def test_words_of_over_confidence(words, right):
    (change,) = (c for c in delays.families()["uniform"].changes if c.label == "temperature 1.5")
    assert change.is_right(words) == right


def test_the_table_answers_every_question(table):
    assert set(table["question"]) == {"false alarms", "run length", "delay", "gap", "Brier", "one side"}
    changes = [change for family in delays.families().values() for change in family.changes]
    late = table[table["question"] == "delay"]
    assert len(late) == 4 * len(changes)
    assert set(late.loc[late["promised"] == True, "method"]) == {"alpha .05"}  # noqa: E712
    promises = (table["question"] == "run length") | table["method"].isin(["monitor", "sequence"])
    of_one_side = [
        one_sided_streams.is_promised(*each) for each in zip(table["generator"], table["method"], strict=True)
    ]
    assert sum(of_one_side) == 4  # calibrated streams by each monitor, and those too low by "over"
    assert len(table[promises].drop_duplicates(["question", "generator", "arl"])) + 4 <= monitoring.PROMISES
    assert set(monitoring.figures(table)) == {"false_alarms", "delays", "sequences"}


def kept():
    """A table of five promises, each only just kept, and of three rows without."""
    rows = [
        {"question": "false alarms", "generator": "a", "method": "monitor", "looks": 100, "replicates": 1000},
        {"question": "false alarms", "generator": "a", "method": "Cox test at each look", "looks": 100, "flagged": 900},
        {"question": "gap", "generator": "b", "method": "sequence", "looks": 10, "replicates": 200, "missed": 10},
        {"question": "run length", "generator": "a", "method": "monitor", "arl": 100, "limit": 100},
        {"question": "delay", "generator": "c", "promised": True, "ratio": 4},
        {"question": "delay", "generator": "d", "promised": False, "ratio": 40},
        {
            "question": "one side",
            "generator": "too low by .4 from day 1",
            "method": "over",
            "looks": 150,
            "flagged": 10,
        },
        {
            "question": "one side",
            "generator": "too low by .4 from day 1",
            "method": "under",
            "looks": 150,
            "flagged": 200,
        },
    ]
    rows[6]["replicates"] = rows[7]["replicates"] = 200
    rows[0]["flagged"] = 50
    return pd.DataFrame(rows)


def test_promises_can_be_kept():
    assert monitoring.violations(kept()).empty


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        (0, "flagged", 90),
        (2, "missed", 30),
        (3, "limit", 99),
        (4, "ratio", 4.5),
        (4, "ratio", np.nan),
        (6, "flagged", 30),
    ],
)
def test_promises_can_be_broken(row, column, value):
    made = kept()
    made.loc[row, column] = value
    assert monitoring.violations(made).index.tolist() == [row]


def test_an_uncalibrated_model_breaks_the_promise():
    sizes = monitoring.Sizes(copies=40, looks=60)
    first = monitoring.first_alarms([stream(shift(0.5), rows=50)], sizes, 9)
    assert np.isfinite(first[:, 0]).all()
    rows = [*monitoring.false_alarms("a", first, 60)]
    made = pd.concat([kept().drop(index=[0, 1]), pd.DataFrame(rows)], ignore_index=True)
    assert made.loc[monitoring.violations(made).index, ["method", "looks"]].to_numpy().tolist() == [["monitor", 60]]
