"""What a study says of its time: lines where standard error is no terminal, a bar where it is, and never on stdout."""

import io

import numpy as np
import pytest

import calibstat as cs
from calibstat import progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves when a data set is drawn."""
    now = [0.0]
    for name in ("monotonic", "perf_counter"):
        monkeypatch.setattr(progress.time, name, lambda: now[0])
    return now


class Taking:
    """Rows that take so many seconds to draw."""

    def __init__(self, seconds, clock):
        self.seconds, self.clock = seconds, clock

    def __repr__(self):
        return f"Taking({self.seconds})"

    def sample(self, n, rng):
        self.clock[0] += self.seconds
        return np.array([0, 1]), np.array([0.2, 0.7])

    def truth(self, measure, **options):
        return 0.0


def said_of(seconds, clock, caplog, replicates=100, **options):
    cs.study.run("bias", {"slow": Taking(seconds, clock)}, 2, ["ece"], replicates=replicates, seed=1, **options)
    return [record.getMessage() for record in caplog.records]


def test_a_long_study_is_foretold_and_rarely_followed(clock, caplog, capfd):
    """A second after its first data set, and then at most every ten seconds and every tenth of its time."""
    assert said_of(2.0, clock, caplog) == [
        "about 3.3 min for 100 data sets of question 'bias'",
        *(f"{k} % done, about {left} left" for k, left in zip(range(12, 93, 10), LEFT, strict=True)),
    ]
    assert capfd.readouterr().out == ""


LEFT = ["2.9 min", "2.6 min", "2.3 min", "1.9 min", "96 s", "76 s", "56 s", "36 s", "16 s"]


@pytest.mark.parametrize(("seconds", "replicates"), [(0.04, 100), (4.0, 1)])
def test_nothing_is_said_of_a_short_study(seconds, replicates, clock, caplog, capfd):
    assert said_of(seconds, clock, caplog, replicates) == []
    assert capfd.readouterr() == ("", "")


def test_of_a_study_that_goes_on_only_the_rest_is_foretold(clock, caplog, tmp_path):
    pytest.importorskip("pyarrow")
    store = {"store": tmp_path / "store"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Taking, "sample", stopping_after(60, Taking.sample))
        with pytest.raises(KeyboardInterrupt):
            said_of(2.0, clock, caplog, **store)
    caplog.clear()
    assert said_of(2.0, clock, caplog, **store)[0] == "about 80 s for 40 data sets of question 'bias'"


def stopping_after(number, sample):
    """A data set that the user does not wait for, after so many."""
    left = [number]

    def stopping(self, n, rng):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return sample(self, n, rng)

    return stopping


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_has_its_bar_and_no_lines(clock, caplog, monkeypatch, capfd):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    assert said_of(2.0, clock, caplog) == []
    assert "data sets, left:" in shown.getvalue()
    assert capfd.readouterr().out == ""
