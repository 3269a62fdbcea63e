"""What the test of several measures says of their hypotheses."""

from types import SimpleNamespace

import pytest
from command_line import FAST, PATTERN, plain_text, run
from matplotlib.figure import Figure

import calibstat as cs
from calibstat.cli.findings import save_side_by_side
from calibstat.cli.testing import HOW_LARGE, MORE_ROWS, ON_OTHER_ROWS, WATCH_THEM, _next_step
from calibstat.inference.size_of_error import SizeOfError


def test_different_hypotheses_are_told_apart(zoo):
    text = plain_text(run("test", zoo, *PATTERN, *FAST, "--measure", "ece", "--measure", "gce", "--verbose").stdout)
    assert "Null hypothesis of Expected calibration error (lens top_label)" in text
    assert "Null hypothesis of General calibration error (lens canonical)" in text
    assert "the smallest p-value of 2 tests (" in text


def test_four_pictures_are_in_two_rows_without_empty_frames(tmp_path, monkeypatch):
    """Three in the first row and one in the second, whose two other places are empty."""
    saved = []
    monkeypatch.setattr(Figure, "savefig", lambda self, path, dpi: saved.append(self))
    tests = [cs.calibration_test([0, 1, 1], [0.2, 0.6, 0.9], measure="ks", n_resamples=9, rng=k) for k in range(4)]
    save_side_by_side(tmp_path / "a.png", tests, list("abcd"))
    (figure,) = saved
    figure.draw_without_rendering()
    assert [ax.get_title()[0] for ax in figure.axes] == list("abcd")
    assert figure.axes[3].get_position().y1 < figure.axes[0].get_position().y0


@pytest.mark.parametrize(
    ("pvalue", "high", "step"),
    [
        (
            0.001,
            0.012,
            "Use the predictions if an error of 1.2 points does not matter: it is shown not to be larger. "
            'See the page "p is small and the error is tiny: what now?".',
        ),
        (0.5, 0.012, WATCH_THEM),
        (0.001, 0.1, ON_OTHER_ROWS),
        (
            0.5,
            0.1,
            MORE_ROWS.format(10),
        ),
        (0.001, None, HOW_LARGE),
    ],
)
def test_the_next_step_depends_on_the_size(pvalue, high, step):
    size = None if high is None else SizeOfError(0.008, 0.0, high, 0.95, 0.5)
    assert _next_step([SimpleNamespace(test=SimpleNamespace(pvalue=pvalue, size=size, side=None))]) == step
