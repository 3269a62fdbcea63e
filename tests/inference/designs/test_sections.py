"""What a report has of rows of each design, and what it refuses, with the reason."""

import inspect

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.checked_rows import models_of
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.designs.sections import Sections

Y, P = cs.generators.temperature(2).sample(200, rng=1)
FEW = np.where(np.arange(200) % 2 == 0, Y, np.nan)
ROWS = {
    "independent": cs.Data(Y, P),
    "sample_weight": cs.Data(Y, P, sample_weight=1 + P),
    "cluster": cs.Data(Y, P, cluster=np.arange(200) // 4),
    "folds": cs.Data(Y, P, folds=np.arange(200) % 4),
    "judge": cs.Data(FEW, P, judge=cs.Judge(0.8 * Y + 0.1)),
    "sample_weight and cluster": cs.Data(Y, P, sample_weight=1 + P, cluster=np.arange(200) // 4),
}
DESIGNS = {name: design_of(rows) for name, rows in ROWS.items()}
REFUSED = [
    (rows, word, name, why)
    for rows, design in DESIGNS.items()
    for word in design.data.words
    for name, why in design.sections.refuses.get(word, {}).items()
]


@pytest.mark.parametrize(("rows", "word", "name", "why"), [each for each in REFUSED if each[0] == each[1]])
def test_what_rows_do_not_take_is_refused_with_the_reason(rows, word, name, why):
    with pytest.raises(
        ValueError, match=rf"^expected rows without {word}= beside {name}=, because {why}; found {name}="
    ):
        DESIGNS[rows].need_report({name: "given"})


def test_all_else_is_taken():
    arguments = {"by": P, "recalibrate": True, "shape": "nondecreasing", "lens": "class_wise"}
    taken = {name: [] for name in DESIGNS}
    for rows, design in DESIGNS.items():
        for name, given in arguments.items():
            if (rows, name) not in {(of, refused) for of, _, refused, _ in REFUSED}:
                design.need_report({name: given})
                taken[rows].append(name)
    assert taken == {
        "independent": [*arguments],
        "sample_weight": [],
        "cluster": ["by", "recalibrate"],
        "folds": ["lens"],  # which `Data` refuses beside folds, and beside a judge
        "judge": ["lens"],
        "sample_weight and cluster": [],
    }


def test_only_arguments_of_reports_are_refused():
    known = inspect.signature(cs.report).parameters
    assert {name for _, _, name, _ in REFUSED} <= set(known)
    assert "colour" not in known


def test_errors_are_registered_and_have_intervals():
    measures = [name for design in DESIGNS.values() for name in (*design.sections.errors, *design.sections.with_judge)]
    assert set(measures) <= set(cs.MEASURES)
    assert Sections().errors[0] == "ece"


@pytest.mark.parametrize(
    ("rows", "n", "said"),
    [
        ("independent", 200, "All."),
        ("cluster", 200, "All. Rows are in 50 clusters of 4 rows each."),
        ("folds", 200, "All. They were predicted out of 4 folds of 50 rows."),
        (
            "judge",
            200,
            "200 rows with a judge's answers, 100 of them labelled. Intervals of ece, kernel_ce and brier take the "
            "judge; all else is of the labelled rows alone: All.",
        ),
    ],
)
def test_rows_are_introduced(rows, n, said):
    assert (DESIGNS[rows].n, DESIGNS[rows].introduced("All.")) == (n, said)


def test_folds_and_clusters_are_introduced_together():
    design = design_of(cs.Data(Y, P, folds=np.arange(200) // 4 % 4, cluster=np.arange(200) // 4))
    assert design.introduced("All.").startswith(
        "All. Rows are in 50 clusters of 4 rows each. They were predicted out of"
    )


def test_rows_with_outcomes():
    models = models_of({"A": ROWS["judge"]})
    labelled = DESIGNS["judge"].with_outcomes(models)["A"]
    assert (labelled.n, labelled.words) == (100, ())
    assert DESIGNS["cluster"].with_outcomes(models) is models
