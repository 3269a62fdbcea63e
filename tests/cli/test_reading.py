"""How the columns of a file are read: the positive outcome, logits and clipping, in every command alike."""

import inspect

import numpy as np
import pandas as pd
import pytest
from command_line import FAST, PATTERN, fails_with, plain_text, run

import calibstat as cs
from calibstat.cli.app import app
from calibstat.cli.input_files import as_outcomes, read_data, read_models, read_probabilities
from calibstat.cli.reading import Reading

pytestmark = pytest.mark.usefixtures("quick_draws")

Y, P = cs.generators.temperature(1.5).sample(300, rng=1)
LABEL, PROB = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(120, rng=1)
ROWS = pd.DataFrame(
    {
        "outcome": np.array(["benign", "malignant"])[Y.astype(int)],
        "number": 2 * Y.astype(int) - 1,
        "p": P,
        "q": P**2,
        "z": np.log(P / (1 - P)),
        "zero": np.where(P < 0.2, 0, P),
    }
)
ZOO = pd.DataFrame(np.log(PROB) + 3, columns=["z_cat", "z_dog", "z_hen"]).assign(
    y=np.array(["cat", "dog", "hen"])[LABEL]
)


@pytest.fixture(name="file", params=["csv", "parquet"])
def file_fixture(request, tmp_path):
    path = tmp_path / f"rows.{request.param}"
    ROWS.to_csv(path, index=False) if request.param == "csv" else ROWS.to_parquet(path)
    return path


@pytest.fixture(name="zoo")
def zoo_fixture(tmp_path):
    ZOO.to_csv(tmp_path / "zoo.csv", index=False)
    return tmp_path / "zoo.csv"


def same(found, y, p):
    expected = cs.Sample.from_rows(y, p)
    return all(np.allclose(a, b, rtol=0, atol=1e-12) for a, b in zip(found.arrays, expected.arrays, strict=True))


def test_the_positive_outcome(file):
    assert same(read_data(file, "outcome", ["p"], Reading(positive="malignant"))[0], Y, P)
    assert same(read_data(file, "outcome", ["p"], Reading(positive="benign"))[0], 1 - Y, P)
    assert same(read_data(file, "number", ["p"], Reading(positive="1"))[0], Y, P)
    assert same(read_data(file, "number", ["p"], Reading(positive="-1"))[0], 1 - Y, P)
    y, models, _ = read_models(file, "outcome", ["p", "q"], Reading(positive="malignant"))
    assert np.array_equal(y, Y)
    assert list(models) == ["p", "q"]


def test_spellings_of_the_positive_outcome():
    assert as_outcomes(pd.Series([1.0, 2.0]), "y", "2").tolist() == [0, 1]
    assert as_outcomes(pd.Series(["01", "2.0"]), "y", "2").tolist() == [0, 1]
    assert as_outcomes(pd.Series([True, False]), "y", "1").tolist() == [1, 0]
    assert as_outcomes(pd.Series(["no", "no"]), "y", "yes").tolist() == [0, 0]


def test_logits(file, zoo):
    assert same(read_data(file, "number", ["z"], Reading(positive="1", logits=True))[0], Y, P)
    found, how = read_data(zoo, "y", ["z_*"], Reading(logits=True))
    assert np.allclose(found.prob, PROB, atol=1e-12)
    assert (found.names, how) == (("cat", "dog", "hen"), "Outcomes are names of classes.")
    assert np.allclose(read_probabilities(zoo, ["z_*"], Reading(logits=True)).prob, PROB, atol=1e-12)


def test_clipping(file, zoo):
    clip = Reading(positive="1", clip=0.01)
    assert same(read_data(file, "number", ["zero"], clip)[0], Y, np.clip(ROWS["zero"], 0.01, 0.99))
    found, _ = read_data(zoo, "y", ["z_*"], Reading(logits=True, clip=0.1))
    inside = np.clip(PROB, 0.1, 0.9)
    assert np.allclose(found.prob, inside / inside.sum(axis=1, keepdims=True), atol=1e-12)


def test_clipping_repairs_no_probability(tmp_path):
    pd.DataFrame({"y": [0, 1], "p": [0.2, 1.5]}).to_csv(tmp_path / "a.csv", index=False)
    fails_with(
        run("test", tmp_path / "a.csv", "--label", "y", "--prob", "p", "--clip", 0.01), "found 1.5 in 'p' at row 1"
    )


READERS = {
    "test": ["--measure", "ks", *FAST],
    "interval": ["--measure", "ks", *FAST],
    "equivalence": FAST,
    "compare": ["--prob", "w", "--measure", "brier"],
    "decompose": ["--prob", "w"],
    "validate": [],
    "net-benefit": ["--threshold", 0.3],
    "risk-coverage": ["--max-error", 0.3],
    "recalibrate": ["--out", "out.csv"],
    "audit": ["--by", "sex", *FAST],
    "monitor": ["--when", "day"],
}


@pytest.mark.parametrize(("command", "kind"), [*zip(READERS, ["npz", "parquet"] * 6, strict=False)])
def test_commands_read_alike(command, kind, tmp_path, monkeypatch):
    """The same answer from words and logits in .npz or Parquet as from numbers and probabilities in CSV."""
    monkeypatch.chdir(tmp_path)
    logits = pd.DataFrame({"z": ROWS["z"].round(3), "w": (ROWS["z"] ** 2 / 50 - 1).round(3)})
    also = {"sex": np.array(["man", "woman"])[np.arange(300) % 2], "day": np.arange(300) // 100}
    words = logits.assign(y=ROWS["outcome"], **also)
    if kind == "npz":
        np.savez(tmp_path / "words.npz", **{name: np.array(words[name].tolist()) for name in words})
    else:
        words.to_parquet(tmp_path / "words.parquet")
    prob = {name: cs.from_logits(logits[name]) for name in logits}
    pd.DataFrame({**prob, "y": Y.astype(int), **also}).to_csv(tmp_path / "numbers.csv", index=False)
    columns = ["--label", "y", "--prob", "z", "--clip", 0.02, *READERS[command]]
    by_words = run(command, tmp_path / f"words.{kind}", *columns, "--positive", "malignant", "--logits")
    by_numbers = run(command, tmp_path / "numbers.csv", *columns)
    assert by_words.exit_code == by_numbers.exit_code == 0
    assert by_words.stdout.replace(f"words.{kind}", "numbers.csv") == by_numbers.stdout


def test_every_command_that_reads_predictions_has_the_options():
    having = {}
    for command in app.registered_commands:
        names = inspect.signature(command.callback).parameters
        if "prob" in names:
            having[command.name or command.callback.__name__] = {"logits", "clip", "positive"} & set(names)
    assert set(READERS) | {"report", "power", "sample-size"} <= set(having)
    assert all(names >= {"logits", "clip"} for names in having.values())
    assert [name for name, names in having.items() if "positive" not in names] == ["power", "sample-size"]


def test_planning_reads_logits(file):
    by_logits = run("power", file, "--prob", "z", "--logits", "--alternative", "temperature=2", "--n-datasets", 20)
    assert by_logits.exit_code == 0
    by_prob = run("power", file, "--prob", "p", "--alternative", "temperature=2", "--n-datasets", 20)
    assert by_logits.stdout == by_prob.stdout


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--label", "outcome", "--prob", "p"], ["found '", "--positive names the value that is outcome 1"]),
        (["--label", "number", "--prob", "p"], ["found -1.0 in 'number'", "as in --positive 1"]),
        (["--label", "outcome", "--prob", "p", "--positive", "bad"], ["two outcomes", "'bad'", "benign"]),
        (["--label", "p", "--prob", "q", "--positive", "1"], ["two outcomes", "and 290 more"]),
        (["--label", "outcome", "--prob", "p", "--prob", "q", "--positive", "benign"], ["one column", "found 2"]),
        (["--label", "outcome", "--prob", "p", "--prob", "q"], ["that sum to 1", "calibstat compare"]),
        (
            ["--label", "number", "--prob", "z", "--positive", "1"],
            ["in 'z' at row", "if these are logits, give --logits"],
        ),
        (["--label", "number", "--prob", "p", "--positive", "1", "--clip", "0.7"], ["expected --clip a number"]),
        (["--label", "number", "--prob", "outcome", "--logits", "--positive", "1"], ["expected numbers in column"]),
    ],
)
def test_what_is_read_wrongly_is_said_in_one_line(tmp_path, options, parts):
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    fails_with(run("test", tmp_path / "rows.csv", *options), *parts)


def test_a_missing_outcome_is_not_the_negative_one(tmp_path):
    (tmp_path / "a.csv").write_text("y,p\nyes,0.5\n,0.5\nno,0.5\n")
    options = ["--label", "y", "--prob", "p", "--positive", "yes"]
    fails_with(run("test", tmp_path / "a.csv", *options), "found nothing at row 1")


@pytest.mark.parametrize("spelled", ["NA", "N/A", "nan", "NaN", "null"])
def test_a_text_that_says_missing_is_not_the_negative_outcome(tmp_path, spelled):
    file, options = tmp_path / "a.csv", ["--label", "y", "--prob", "p", "--positive"]
    file.write_text(f"y,p\nyes,0.5\n{spelled},0.5\nyes,0.6\n")
    fails_with(run("test", file, *options, "yes"), f"found '{spelled}', which says that there is none, at row 1")
    assert run("test", file, *options, spelled, "--measure", "ks", *FAST).exit_code == 0  # a class that is called so


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_files_of_less_than_double_precision_have_the_same_bins(tmp_path, dtype):
    p = np.repeat(np.arange(1, 10) / 10, 20)
    y = (np.random.default_rng(1).random(p.size) < p).astype(int)
    frame = pd.DataFrame({"y": y, "p": p})
    found = []
    for kind in ("float64", dtype):
        np.savez(tmp_path / f"{kind}.npz", y=y, p=p.astype(kind))
        frame.astype({"p": kind}).to_parquet(tmp_path / f"{kind}.parquet")
        for end in ("npz", "parquet"):
            sample, _ = read_data(tmp_path / f"{kind}.{end}", "y", ["p"])
            found.append(cs.reliability(sample, n_bins=10, band=None).count.tolist())
    assert found == [[20] * 9] * 4


def test_reversed_predictions_are_pointed_out(file):
    columns = ["--label", "outcome", "--prob", "p"]
    wrong = plain_text(run("test", file, *columns, "--positive", "benign", "--measure", "ks", *FAST).stdout)
    assert "The predictions look reversed: predictions of outcome 1 are mostly lower where it was observed" in wrong
    right = plain_text(run("test", file, *columns, "--positive", "malignant", "--measure", "ks", *FAST).stdout)
    assert "reversed" not in right


ROUNDED = "y,p_cat,p_dog,p_hen\ncat,0.333,0.333,0.333\ndog,0.25,0.62,0.14\nhen,0.2,0.3,0.5\n"


@pytest.mark.parametrize("command", ["test", "recalibrate", "report", "validate", "compare"])
def test_rounded_classes_are_divided_by_their_sums_if_that_is_asked_for(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rounded.csv").write_text(ROUNDED + "cat,0.3,0.3,0.4\ndog,0.1,0.8,0.1\n")
    exact = pd.read_csv(tmp_path / "rounded.csv", index_col="y")
    exact.div(exact.sum(axis=1), axis=0).to_csv(tmp_path / "exact.csv")
    options = [*PATTERN, *{"recalibrate": ["--out", "out.csv"]}.get(command, [])]
    if command == "compare":
        for name in ("rounded", "exact"):
            frame = pd.read_csv(tmp_path / f"{name}.csv")
            also = frame[["p_cat", "p_dog", "p_hen"]].rename(columns=lambda column: f"q{column[1:]}")
            frame.join(also).to_csv(tmp_path / f"{name}.csv", index=False)
        options += ["--prob", "q_*"]
    fails_with(
        run(command, tmp_path / "rounded.csv", *options),
        "expected a row of 3 probabilities that sums to 1, found a sum of 0.999 at row 0 (rows count from 0)",
        "; if they were rounded, give --divide-by-sums\n",
    )
    divided = run(command, tmp_path / "rounded.csv", *options, "--divide-by-sums")
    assert divided.exit_code == 0, divided.output
    expected = run(command, tmp_path / "exact.csv", *options)
    assert divided.stdout == expected.stdout.replace("exact.csv", "rounded.csv")


def test_what_cannot_be_divided_by_sums(tmp_path):
    (tmp_path / "a.csv").write_text("y,p,q\n0,0.3,0.7\n1,0,0\n")
    two = ["--label", "y", "--prob", "p", "--prob", "q", "--divide-by-sums"]
    fails_with(
        run("test", tmp_path / "a.csv", *two), "a row of 2 probabilities that sums to 1, found a sum of 0 at row 1"
    )
    fails_with(run("test", tmp_path / "a.csv", *two[:4], *two[-1:]), "expected columns of several classes with", "'p'")
    (tmp_path / "a.csv").write_text("y,p,q\n0,0.3,0.7\n1,30,70\n")
    fails_with(run("test", tmp_path / "a.csv", *two), "found 30.0 in column 'p' at row 1", "if these are per cent")
