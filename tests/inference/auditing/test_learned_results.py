"""The words of what all rows say of groups that a learner finds."""

from dataclasses import replace

import pytest

from calibstat.inference.auditing.learned_results import Learned

MADE = Learned(
    pvalue=0.004,
    pvalue_uncertain=0.004,
    impossible=0,
    n_fits=199,
    learner="a tree of at most 8 leaves",
    n=3000,
    n_seen=1500,
    level=0.05,
)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Given these features, predictions are wrong (p = 0.004, 3,000 rows)."),
        ({"pvalue": 0.05}, "Given these features, predictions are wrong (p = 0.05, 3,000 rows)."),
        (
            {"pvalue": 0.3},
            "It is not shown that predictions are wrong given these features (p = 0.3, 3,000 rows). Another learner "
            "may show it.",
        ),
        (
            {"pvalue": 0.1, "n_fits": 9},
            "No error can be shown given these features: with 9 draws p is never 5 % or less.",
        ),
        (
            {"impossible": 2, "pvalue_uncertain": 0.3},
            "Given these features, predictions are wrong (p = 0.004, 3,000 rows): 2 rows were predicted to be "
            "impossible and happened; without rows predicted 0 or 1 p = 0.3.",
        ),
        (
            {"pvalue": None},
            "Whether any predictions are wrong given these features is not tested: this test has no side.",
        ),
    ],
)
def test_answer(changes, words):
    found = replace(MADE, **changes)
    assert found.answer == words
    assert str(found) == f"{words}\n{found.split}"


def test_split():
    assert MADE.split == (
        "A tree of at most 8 leaves looked for groups on 1,500 rows. The other 1,500, which it did not see, say where:"
    )


def test_promise():
    assert MADE.promise == (
        " If all predictions are right given these features, the p-value of all rows is at most 5 % with a "
        "probability of at most 5 % (the learner was fitted to 199 draws of their outcomes too)."
    )
    assert replace(MADE, pvalue=None).promise == ""
