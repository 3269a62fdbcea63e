"""The command `audit`: what is printed and written is what the function says."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import COLUMNS, fails_with, plain_text, run

import calibstat as cs

RNG = np.random.default_rng(5)


@pytest.fixture(scope="module", name="people")
def people_fixture():
    p = RNG.random(600)
    frame = pd.DataFrame(
        {"sex": RNG.choice(["man", "woman"], 600), "age": RNG.integers(18, 90, 600), "p": p, "q": p**2}
    )
    frame["y"] = (RNG.random(600) < np.where(frame.age > 60, p**3, p)).astype(int)
    frame["day"] = (pd.Timestamp("2016-01-30") + pd.to_timedelta(np.arange(600) // 8, "D")).strftime("%Y-%m-%d")
    return frame


@pytest.fixture(name="file")
def file_fixture(people, tmp_path):
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    return path


def said(*arguments):
    found = run(*arguments)
    assert found.exit_code == 0, found.stderr
    return plain_text(found.stdout)


def test_an_audit_says_and_writes_what_the_function_says(file, people, tmp_path):
    out = tmp_path / "out"
    text = said("audit", file, *COLUMNS, "--by", "age", "--by", "sex", "--out", out, "--rng", 3, "--shape",
                "--min-rows", 50, "--quantiles", 3, "--depth", 1, "--n-resamples", 99, "--level", 0.9,
                "--verbose")  # fmt: skip
    groups = cs.Groups(people[["age", "sex"]], depth=1, min_rows=50, n_quantiles=3)
    found = cs.audit(people.y, people.p, groups, rng=3, shape=True, n_resamples=99, confidence_level=0.9)
    parts = [found.groups, "600 rows, 6 groups", found.promise, found.null_hypothesis]
    assert all(plain_text(part) in text for part in parts)
    assert "600 rows, 6 groups by age, sex, event: outcome 1." in text
    table = pd.read_csv(out / "groups.csv")
    pd.testing.assert_frame_equal(table, found.to_frame(), check_dtype=False)
    assert repr(json.loads((out / "groups.json").read_text())) == repr({"p": found.to_dict()})
    assert (out / "groups.png").read_bytes().startswith(b"\x89PNG")


def test_several_models(file, people, tmp_path):
    text = said("audit", file, *COLUMNS, "--prob", "q", "--by", "sex", "--out", tmp_path / "out")
    found = cs.audit(people.y, {"p": people.p, "q": people.q}, people[["sex"]], rng=0)
    for name, each in found.items():
        assert f"{name}. {plain_text(each.groups)}" in text
    table = pd.read_csv(tmp_path / "out" / "groups.csv")
    assert table.model.tolist() == ["p"] * 3 + ["q"] * 3
    assert table.pvalue_adjusted.tolist() == [p for each in found.values() for p in each.to_frame().pvalue_adjusted]


def test_clusters_are_those_of_a_column(file, people, tmp_path):
    path, cluster = tmp_path / "who.csv", np.arange(600) // 5
    people.assign(who=cluster).to_csv(path, index=False)
    text = said("audit", path, *COLUMNS, "--by", "sex", "--cluster", "who", "--unseen", "rows", "--rng", 3, "-v")
    given = cs.Clusters(cluster, unseen="rows")
    expected = cs.audit(people.y, people.p, people[["sex"]], cluster=given, rng=3)
    assert plain_text(expected.groups) in text
    assert "120 clusters of 5 rows each" in text
    fails_with(run("audit", path, *COLUMNS, "--by", "sex", "--cluster", "whom"), "no column 'whom'")
    fails_with(run("audit", path, *COLUMNS, "--by", "sex", "--unseen", "rows"), "expected --cluster beside --unseen")


def test_a_learner_looks_for_groups(file, people):
    text = said("audit", file, *COLUMNS, "--by", "age", "--by", "sex", "--learner", "tree", "--split", 0.4,
                "--leaves", 3, "--min-rows", 20, "--rng", 3, "--verbose")  # fmt: skip
    groups = cs.Groups(people[["age", "sex"]], learner="tree", split=0.4, leaves=3, min_rows=20)
    found = cs.audit(people.y, people.p, groups, rng=3)
    assert found.learned.n_seen == 240
    assert all(plain_text(part) in text for part in (found.groups, found.promise))


def test_dates_are_cut_into_months(file):
    text = said("audit", file, *COLUMNS, "--by", "day", "--n-resamples", 99)
    assert "600 rows, 4 groups by day" in text  # February to April, and all rows
    assert "Left out: 1 level of fewer than 30 rows" in text


def test_classes(zoo, predictions):
    names = pd.read_csv(zoo).columns
    text = said("audit", zoo, "--label", "y", "--prob", "p_*", "--by", names[-1], "--lens", "top_label")
    assert "lens top_label" in text
    assert f"{predictions.n:,} rows" in text


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--by", "sez"], ("expected one column 'sez' for --by; the file has 'sex', 'age'",)),
        (["--by", "sex", "--by", "sex"], ("expected different columns for --by",)),
        (["--by", "sex", "--lens", "top_label"], ("--lens top_label",)),
        (["--by", "sex", "--depth", "0"], ("expected --depth to be a whole number of at least 1",)),
        (["--by", "sex", "--leaves", "4"], ("expected no leaves without a learner; found --leaves 4",)),
        (["--by", "sex", "--learner", "forest"], ("expected --learner 'tree' or a regressor, found 'forest'",)),
        (["--by", "sex", "--learner", "tree", "--depth", "1"], ("expected no depth beside a learner",)),
        (["--by", "sex", "--learner", "tree", "--split", "2"], ("between 0 and 1", "found 2.0")),
    ],
)
def test_errors_are_one_line(file, options, parts):
    fails_with(run("audit", file, *COLUMNS, *options), *parts)


def test_many_groups_say_where_all_are(tmp_path):
    y, p = cs.generators.temperature(3).sample(6000, rng=1)
    groups = [f"g{k:02d}" for k in range(12)] * 500
    pd.DataFrame({"y": y, "p": np.clip(p + 0.4, 0, 1), "g": groups}).to_csv(tmp_path / "rows.csv", index=False)
    command = ["audit", tmp_path / "rows.csv", *COLUMNS, "--by", "g", "--n-resamples", 99]
    assert "and 3 more: --format json has all." in plain_text(run(*command).stdout)
    assert "and 3 more: groups.csv has all." in plain_text(run(*command, "--out", tmp_path / "out").stdout)
    assert len(json.loads(run(*command, "--format", "json").stdout)["p.names"]) == 13
