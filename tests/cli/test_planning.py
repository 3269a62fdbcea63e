"""The commands `power` and `sample-size`: what they print is what the functions say, and they need no outcomes."""

import pandas as pd
import pytest
from command_line import fails_with, plain_text, run

import calibstat as cs

FEW = ["--n-datasets", 50]


@pytest.fixture(name="alone")
def alone_fixture(rows, tmp_path):
    path = tmp_path / "predictions.csv"
    rows[["p"]].to_csv(path, index=False)
    return path


def said(*arguments):
    found = run(*arguments)
    assert found.exit_code == 0, found.stderr
    return plain_text(found.stdout)


def test_without_an_alternative_the_detectable_effect_is_said(alone, rows):
    text = said("power", alone, "--prob", "p", "--test", "ks")
    assert plain_text(str(cs.detectable_effect(rows["p"], measure="ks", rng=0))) in text
    assert "400 rows of predictions; outcomes are not looked at." in text


def test_power_says_what_the_function_says(alone, rows):
    text = said("power", alone, "--prob", "p", "--alternative", "temperature=2", "--alternative", "shift=1", *FEW,
                "--test", "cox", "--level", 0.1, "--rng", 3)  # fmt: skip
    for alternative in ("temperature=2", "shift=1"):
        found = cs.power(rows["p"], alternative, test="cox", level=0.1, n_datasets=50, rng=3)
        assert plain_text(str(found)) in text


def test_a_curve_is_drawn(alone, rows, tmp_path):
    picture = tmp_path / "curve.png"
    text = said("power", alone, "--prob", "p", "--alternative", "temperature=2", "--test", "ks", *FEW, "--n", 100,
                "--n", 50, "--out", picture)  # fmt: skip
    found = cs.power(rows["p"], "temperature=2", [50, 100], test="ks", n_datasets=50, rng=0)
    assert plain_text(str(found)) in text
    assert picture.stat().st_size > 1000


def test_one_number_of_rows(alone, rows):
    text = said("power", alone, "--prob", "p", "--alternative", "temperature=2", "--test", "ks", *FEW, "--n", 100)
    assert plain_text(str(cs.power(rows["p"], "temperature=2", 100, test="ks", n_datasets=50, rng=0))) in text


def test_sample_size_says_what_the_function_says(alone, rows):
    text = said("sample-size", alone, "--prob", "p", "--alternative", "shift=1", "--test", "ks", "--power", 0.7)
    assert plain_text(str(cs.sample_size(rows["p"], "shift=1", 0.7, test="ks", rng=0))) in text
    judged = {"width": 0.6, "of": "ks", "judge_share": 0.4, "judge_rows": 900}
    asked = [f"--{name.replace('_', '-')}={value}" for name, value in judged.items()]
    assert plain_text(str(cs.sample_size(rows["p"], **judged, rng=0))) in said(
        "sample-size", alone, "--prob", "p", *asked
    )
    text = said("sample-size", alone, "--prob", "p", "--width", 0.3, "--of", "slope")
    assert plain_text(str(cs.sample_size(rows["p"], width=0.3, of="slope"))) in text


def test_classes(animals, tmp_path):
    path = tmp_path / "animals.csv"
    animals.drop(columns="y").to_csv(path, index=False)
    text = said("power", path, "--prob", "p_*", "--lens", "canonical", "--test", "brier", *FEW, "--alternative",
                "temperature=2")  # fmt: skip
    prob = animals[["p_cat", "p_dog", "p_hen"]].to_numpy()
    found = cs.power(prob, "temperature=2", test="brier", lens="canonical", n_datasets=50, rng=0)
    assert plain_text(str(found)) in text
    assert "class dog" in said("power", path, "--prob", "p_*", "--lens", "one_class:dog", "--test", "ks")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("power", "--prob", "q"), "no column 'q'"),
        (("power", "--prob", "p", "--alternative", "temp=2"), "temperature=1.4"),
        (("power", "--prob", "p", "--n", 5), "expected --alternative with --n"),
        (("power", "--prob", "p", "--lens", "top_label"), "several columns"),
        (("power", "--prob", "p", "--alternative", "shift=1", "--test", "kss"), "expected a test"),
        (("power", "--prob", "p", "--alternative", "shift=1", *FEW, "--out", "x.png"), "for a picture of a curve"),
        (
            ("power", "--prob", "p", *(2 * ("--alternative", "shift=1")), "--test", "cox", *FEW, "--out", "x.png"),
            "expected one --alternative for a picture, found 2",
        ),
        (("sample-size", "--prob", "p"), "found neither"),
        (("sample-size", "--prob", "p", "--alternative", "temperature=1"), "which is calibrated"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(alone, arguments, match):
    command, *rest = arguments
    result = run(command, alone, *rest)
    assert result.exit_code == 2
    assert match in plain_text(result.stderr)


def test_an_empty_file_and_a_wrong_probability(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("p\n")
    fails_with(run("power", path, "--prob", "p"), "at least one row")
    pd.DataFrame({"p": [0.2, 1.5]}).to_csv(path, index=False)
    fails_with(run("power", path, "--prob", "p"), "'p' at row 1")
