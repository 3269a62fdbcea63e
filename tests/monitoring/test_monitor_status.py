"""What a monitor says: the alarm, its likely start, both promises and the regime, in words."""

import re
from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs


def fed(change=40, last=60, **settings):
    monitor = cs.Monitor(**settings)
    for day in range(1, last + 1):
        y, p = cs.generators.temperature(1 if day <= change else 1.5).sample(100, rng=day)
        monitor.update(y, p, period=f"2026-{day // 29 + 1:02}-{day % 29 + 1:02}")
    return monitor


def test_an_alarm_in_words():
    text = str(fed().status())
    first, second, third = text.splitlines()[:3]
    assert first == (  # the gap is .000657, its ends -.01825 and .01957, rounded outwards
        "Alarm in period 2026-02-17, number 45 of 60. Over 6,000 rows the outcomes average 0.066 points above the "
        "predictions, between 1.9 points below and 2 points above."
    )
    assert second.startswith("Likely start: ")
    assert third.startswith("Next: Ask how large the error is on the rows from period 2026-02-12 on: calibstat.")
    assert re.search(
        r"^Likely start: period \S+ \(90 % range \S+ to \S+\): predictions too extreme, with true log-odds about "
        r"0\.67 times the predicted ones\. To period \S+: [\d,]+ rows, predicted 0\.\d+, observed 0\.\d+\.$",
        text,
        flags=re.MULTILINE,
    )
    assert "Chance of ever raising a false alarm: at most 5 %." in text
    assert "right in all periods at once (95 % confidence sequence)" in text
    assert (
        "\nChance of ever raising a false alarm: at most 5 %. With a wrong range of the mean: at most 10 %.\n" in text
    )


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((0.0121, 0.0134), "between 1.2 points above and 1.4 points above"),
        ((-0.0139, -0.0121), "between 1.4 points below and 1.2 points below"),
        ((0.0, 0.0101), "between 0 points above and 1.1 points above"),
    ],
)
def test_ends_are_rounded_outwards(ends, words):
    status = replace(fed(last=2).status(), gap_low=ends[0], gap_high=ends[1])
    assert words in status.answer


def test_no_alarm_in_words():
    text = str(fed(change=99, last=5, alpha=0.01).status())
    assert text.startswith("No alarm in 5 periods. Over 500 rows the outcomes average ")
    assert "\nNext: Go on: feed the rows of the next period.\nEvidence 0." in text
    assert "; alarm threshold 100. Anytime-valid p-value: " in text
    assert "at most 1 %" in text
    assert str(cs.Monitor().status()).startswith("No period so far. Chance")


def test_run_length_in_words():
    text = str(fed(arl=200).status())
    assert re.search(r"It is the latest of \d+ alarms\.", text)
    assert "False alarms come on average at least 200 periods apart; in the long run one is certain." in text
    assert "p-value" not in text
    assert "wrong range" not in text


def test_impossible_outcomes_in_words():
    monitor = cs.Monitor()
    monitor.update([1], [0.0])
    text = str(monitor.status())
    assert text.startswith("Alarm in period 1 of 1. Over 1 row the outcomes average 100 points above the predictions")
    assert "\nLikely start: period 1: outcomes of probability 0 were observed." in text
    assert "\n1 row was predicted to be impossible and happened (in period 1); without rows predicted 0 or 1 " in text
    assert "there is no alarm (evidence 1, p = 1).\n" in text
    assert "Evidence ∞; alarm threshold 20. Anytime-valid p-value: 0." in text


def test_evidence_beyond_floats_in_words():
    """exp(1000 log 10 + log 3.14) is 3.14e1000, although its float is infinite."""
    log = 1000 * np.log(10) + np.log(3.14)
    status = replace(fed().status(), log_evidence=np.array([0.0, log]), evidence=np.inf, pvalue=0.0)
    assert "Evidence 3.1e+1000; alarm threshold 20. Anytime-valid p-value: 3.2e-1001." in str(status)
    for given, text in ((1e-9, "1"), (np.log(0.0123), "0.0123"), (np.log(999.4), "999"), (np.log(1234), "1.2e+03")):
        status = replace(status, log_evidence=np.array([given]))
        assert f"Evidence {text}; alarm" in str(status)
    for given, text in ((1000 * np.log(10) + np.log(9.98), "1.0e+1001"), (-np.inf, "0")):
        assert f"Evidence {text}; alarm" in str(replace(status, log_evidence=np.array([given])))


def test_a_row_for_each_period():
    monitor = fed()
    frame = monitor.to_frame()
    assert list(frame.columns) == [
        "period",
        "count",
        "mean_prediction",
        "frequency",
        "evidence",
        "gap",
        "gap_low",
        "gap_high",
        "alarm",
    ]
    assert (frame["count"] == 100).all()
    y, p = cs.generators.temperature(1).sample(100, rng=1)
    assert frame["frequency"].iloc[0] == y.mean()
    np.testing.assert_allclose(frame["mean_prediction"].iloc[0], p.mean(), rtol=1e-9)
    assert frame["period"].tolist() == list(monitor.periods)
    assert frame.loc[frame["alarm"], "period"].tolist() == list(monitor.alarms)
    assert frame["evidence"].iloc[-1] == monitor.evidence
    assert (frame["gap_low"] <= frame["gap"]).all()
    assert (frame["gap"] <= frame["gap_high"]).all()
    assert np.ptp(frame["gap_high"] - frame["gap_low"]) > 0
