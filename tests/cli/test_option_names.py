"""Arguments of functions in errors, as options of the command line."""

import re

import numpy as np
import pytest
from command_line import COLUMNS, fails_with, plain_text, run

import calibstat as cs
from calibstat.cli.option_names import RENAMED, in_options, with_options

OPTIONS = ["file", "clip", "lens", "level", "weight", "n_resamples", "map_", "by", "to", "positive"]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("found 1; clip=6e-08 moves predictions", "found 1; --clip 6e-08 moves predictions"),
        ("; clip= bounds the loss", "; --clip bounds the loss"),
        (
            "look with lens='top_label' or lens=lenses.one_class(k)",
            "look with --lens top_label or --lens one_class:NAME",
        ),
        ("as in pos_label='not ill'", "as in --positive 'not ill'"),
        ("beside by=; found by=True", "beside --by; found --by"),
        ("expected by= without sample_weight=, found both", "expected --by without --weight, found both"),
        ("expected confidence_level between 0 and 1", "expected --level between 0 and 1"),
        ("expected clip None or a number", "expected --clip a number"),
        ("up to n_resamples = 999", "up to --n-resamples = 999"),
        ("expected map to be text", "expected map to be text"),  # the argument is map_, and map a word
        # words, what was given, other arguments and Python stay as they are
        ("expected to weigh by level", "expected --to weigh by level"),
        ("no column 'clip=1'; the file has 'lens'", "no column 'clip=1'; the file has 'lens'"),
        ("Cox's test has its clip, and a map's lens", "Cox's test has its clip, and a map's lens"),
        ("name them with labels=range(1, 4)", "name them with labels=range(1, 4)"),
        ("calibstat.detail(..., clip=0.1) gives it", "calibstat.detail(..., clip=0.1) gives it"),
        ("found clip == 3 and eclip=3", "found clip == 3 and eclip=3"),
    ],
)
def test_arguments_become_options(message, said):
    with with_options(OPTIONS):
        assert in_options(message) == said
    assert in_options(message) == message  # outside of a command


def test_only_options_of_the_command_are_named():
    with with_options(["weight"]):
        assert in_options("clip=1, sample_weight= and pos_label=1") == "clip=1, --weight and pos_label=1"


ONE = ["--label", "y", "--prob", "one"]
BAD = {
    "validate": [*ONE],
    "test": [*COLUMNS, "--stop-after", 0],
    "interval": [*COLUMNS, "--level", 1.5],
    "compare": [*COLUMNS, "--prob", "one", "--adjust", "no"],
    "equivalence": [*COLUMNS, "--n-bins", 0],
    "audit": [*COLUMNS, "--by", "one", "--quantiles", 0],
    "monitor": [*COLUMNS, "--when", "day", "--alpha", 2],
    "report": [*COLUMNS, "--weight", "p", "--recalibrate"],
    "net-benefit": [*COLUMNS, "--level", 2],
    "risk-coverage": [*COLUMNS, "--max-error", 2],
    "power": ["--prob", "p", "--alternative", "shift=1", "--n-datasets", 0],
    "sample-size": ["--prob", "p", "--width", -1],
    "recalibrate": [*COLUMNS, "--out", "new.csv", "--rng", -1],
}


@pytest.fixture(name="file")
def file_fixture(rows, tmp_path):
    path = tmp_path / "rows.csv"
    one = np.where(np.arange(len(rows)) == 3, 1.0, rows["p"])
    rows.assign(one=one, day=np.arange(len(rows)) // 100).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("command", BAD)
def test_errors_name_the_option_and_no_argument(command, file):
    """The options are the last ones given, except of `validate`, where it is --clip."""
    found = run(command, file, *BAD[command])
    options = [each for each in ["--clip", *BAD[command]] if str(each).startswith("--")]
    fails_with(found, options[0] if command == "validate" else options[-1])
    names = "|".join((*RENAMED, "n_bins", "n_resamples", "n_datasets", "stop_after", "clip="))
    assert not re.search(rf"(?<!-)\b({names})", found.stderr)


def test_the_advice_on_certain_predictions_works(file):
    message = run("validate", file, *ONE).stderr
    option = re.search(r"; (--clip \S+) moves predictions that far from 0 and 1", message)[1]
    found = run("validate", file, *ONE, *option.split())
    assert found.exit_code == 0
    assert "slope" in plain_text(found.stdout)


def test_shares_as_outcomes(rows, tmp_path):
    rows.assign(y=np.linspace(0, 1, len(rows))).to_csv(tmp_path / "a.csv", index=False)
    fails_with(run("test", tmp_path / "a.csv", *COLUMNS), "found 0.0025", "; a file has one row for each outcome\n")
    with pytest.raises(ValueError, match=r"Sample\.from_counts"):
        cs.estimate(np.linspace(0, 1, len(rows)), rows["p"])
