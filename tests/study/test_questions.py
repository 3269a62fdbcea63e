"""Questions by name: the columns of their tables, and what cannot be asked."""

import pytest
from asked_questions import COLUMNS, FAMILIES, GENERATORS, METHODS, SHIFTED, ask

import calibstat as cs


@pytest.mark.parametrize("question", COLUMNS)
def test_columns_and_rows(question):
    table = ask(question)
    assert list(table.columns) == COLUMNS[question]
    assert set(table["question"]) == {question}
    assert set(table["replicates"]) == {50}
    cells = list(table[["generator", "n", "measure", "method"]].itertuples(index=False, name=None))
    generators = list(GENERATORS.get(question, SHIFTED))
    rows, methods = [20, 40, 80], METHODS[question]
    if question == "consistency":
        rows = [80]
    if question == "ranking":  # each measure and its own truth, then the pair
        measures = ("ece", "ks", "ece")
        assert cells == [(g, n, m, method) for g in generators for n in rows for method in methods for m in measures]
        assert table["against"].tolist() == ["its truth", "its truth", "ks"] * 12
    else:
        assert cells == [
            (g, n, m, method) for g in generators for n in rows for m in ("ece", "ks") for method in methods
        ]


@pytest.mark.parametrize(
    ("question", "changes", "message"),
    [
        ("power", {"measures": ["nothing"]}, "expected a measure"),
        ("power", {"measures": "ece"}, "found the string"),
        ("power", {"measures": {"a": ("ece", {"bins": 3})}}, "expected n_bins= of measure"),
        ("power", {"methods": ["rows"]}, "expected a method of question 'power', one of 'labels', 'both'"),
        ("power", {"replicates": 0}, "at least 1 replicate"),
        ("power", {"n": []}, "at least one n, found none"),
        ("power", {"generators": {}}, "at least one generator"),
        ("size", {"generators": SHIFTED}, "expected calibrated generators, found 'shift'"),
        ("coverage", {"methods": ["exact"]}, "expected a method"),
        ("coverage", {"measures": ["brier", "regression_ce"], "methods": ["basic", "honest"]}, "no honest interval"),
        ("consistency", {"n": [10, 20]}, "at least 3 numbers of rows"),
        ("ranking", {"generators": {"a": SHIFTED["shift"]}, "same_rows": False}, "at least 2 generators"),
        (
            "ranking",
            {"generators": SHIFTED},
            r"of several models, .* on the same rows: write run\(\"ranking\", {\"all\": cs.generators.models\(base, "
            r"{'shift': shift\(.*, or same_rows=False .*; found 'shift' of one model",
        ),
        (
            "ranking",
            {"generators": {"a": cs.generators.models(SHIFTED["shift"], {"one": {}})}},
            "several models, .* found 'a' of models 'one'",
        ),
        (
            "ranking",
            {"same_rows": False},
            "one model each for .* and same_rows=False; found 'shifts' of models '0",
        ),
        ("ranking", {"same_rows": 1}, "expected same_rows True or False, found 1"),
        ("bias", {"same_rows": False}, "expected same_rows only of question ranking; found it of 'bias'"),
        ("coverage", {"target": "ks"}, "expected target only of question bias, consistency, ranking; found it of 'cov"),
        ("bias", {"target": "nothing"}, "expected a measure"),
        ("bias", {"target": ("ece", {"bins": 3})}, "expected n_bins= of measure"),
        ("bias", {"target": 3}, "expected a measure"),
        *((question, {"generators": FAMILIES}, "one model each for question") for question in ("power", "coverage")),
    ],
)
def test_what_cannot_be_asked_raises_before_the_run(question, changes, message):
    with pytest.raises(ValueError, match=message):
        ask(question, **{"replicates": 10**9, **changes})  # so many would take days


def test_an_unknown_question_is_named():
    with pytest.raises(ValueError, match=r"expected a question, one of size, power, .*; found 'sizes'"):
        cs.study.run("sizes", SHIFTED, 10, ["ece"], replicates=1, seed=1)
