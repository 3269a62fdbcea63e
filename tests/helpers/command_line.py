"""The command line in tests: how it is run, what it printed, and the files it is given."""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from quick_report import quick
from typer import testing
from typer.main import get_command

import calibstat as cs
from calibstat.cli.app import app

testing._get_command = cache(get_command)  # runners build all commands at every call, as costly as many an answer

COLUMNS = ["--label", "y", "--prob", "p"]


def run(*arguments):
    return testing.CliRunner().invoke(app, [str(argument) for argument in arguments], terminal_width=120)


def plain_text(text):
    """The text without line breaks and colours."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())


@pytest.fixture(name="quick_draws")
def quick_draws_fixture():
    """Few draws, where nothing but speed depends on them."""
    with quick():
        yield


@pytest.fixture(scope="module", name="rows")
def rows_fixture():
    y, p = cs.generators.temperature(1.5).sample(400, rng=1)
    return pd.DataFrame({"y": y.astype(int), "p": p, "name": "x"})


@pytest.fixture(name="csv")
def csv_fixture(rows, tmp_path):
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    return path


def fails_with(result, *parts):
    """One line on standard error, exit code 2, nothing on standard output."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("calibstat: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr


PATTERN = ["--label", "y", "--prob", "p_*"]
FAST = ["--n-resamples", 99]


@pytest.fixture(scope="module", name="animals")
def animals_fixture():
    """120 rows of three classes by name; the hen never happens."""
    rng = np.random.default_rng(2)
    prob = rng.dirichlet([2, 2, 0.3], 120)
    y = np.array(["cat", "dog"])[(rng.random(120) < prob[:, 1]).astype(int)]
    return pd.DataFrame({"p_cat": prob[:, 0], "y": y, "p_dog": prob[:, 1], "p_hen": prob[:, 2]})


@pytest.fixture(scope="module", name="predictions")
def predictions_fixture(animals):
    prob = animals[["p_cat", "p_dog", "p_hen"]].to_numpy()
    return cs.Predictions.from_rows(animals["y"].tolist(), prob, labels=["cat", "dog", "hen"])


@pytest.fixture(name="zoo")
def zoo_fixture(animals, tmp_path):
    path = tmp_path / "zoo.csv"
    animals.to_csv(path, index=False)
    return path
