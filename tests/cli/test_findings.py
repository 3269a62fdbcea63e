"""What the test of several measures says of their hypotheses."""

from command_line import FAST, PATTERN, plain_text, run


def test_different_hypotheses_are_told_apart(zoo):
    text = plain_text(run("test", zoo, *PATTERN, *FAST, "--measure", "ece", "--measure", "gce", "--verbose").stdout)
    assert "Null hypothesis of Expected calibration error (lens top_label)" in text
    assert "Null hypothesis of General calibration error (lens canonical)" in text
    assert "the smallest p-value of 2 tests (" in text
