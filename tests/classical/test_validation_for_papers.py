"""What a paper says of a validation: every number is one of the result, and missing ones are said in words."""

from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs
from calibstat.classical.validation_for_papers import AUTHORS, CHECKLIST

Y, P = cs.generators.temperature(2.0).sample(600, rng=1)
CENTRE = np.arange(600) // 6
WEIGHT = np.linspace(0.5, 2, 600)
GIVEN = [{}, {"cluster": CENTRE}, {"sample_weight": WEIGHT}, {"cluster": CENTRE, "sample_weight": WEIGHT}]
MAIN = {"observed": "mean outcome", "ratio": "O/E", "intercept": "intercept", "slope": "slope", "brier": "Brier score"}


def says(found):
    """The answers of the table by item."""
    return found.tripod().set_index("item")["says"]


def numbers(found):
    """The main numbers with their intervals, as a text with three digits has them."""
    ends = {name: "{:.3g} to {:.3g}".format(*found.intervals[name]) for name in MAIN}
    return [f"{title} {getattr(found, name):.3g} ({ends[name]})" for name, title in MAIN.items()]


@pytest.mark.parametrize("given", GIVEN)
def test_numbers_are_those_of_the_result(given):
    found = cs.validate(Y, P, **given, confidence_level=0.9)
    for text in (found.methods, says(found)["23a"]):
        assert [number for number in numbers(found) if number not in text] == []
        assert f"; AUC {found.auc:.3g}" in text
        assert f"; ICI {found.ici:.3g}." in text
        assert "(90 % confidence interval)" in text
    assert f"calibstat {cs.__version__} " in found.methods
    assert found.answer in found.methods
    assert f"with {Y.sum()} events (event: outcome 1)." in found.methods
    assert says(found)["20a, 21"].startswith(f"{Y.sum()} with and {600 - Y.sum()} without the outcome.")


def test_a_planted_number_is_seen():
    found = cs.validate(Y, P)
    for name in MAIN:
        other = replace(found, **{name: getattr(found, name) + 0.1})
        assert [number for number in numbers(other) if number not in found.methods] != []
        assert other.methods != found.methods


@pytest.mark.parametrize(
    ("given", "said", "not_said"),
    [
        (GIVEN[0], ["take rows as independent", "profile likelihood", "DeLong"], ["cluster", "jackknife", "Fieller"]),
        (GIVEN[1], ["on 600 rows in 100 clusters of 6 rows each with", "take clusters as", "jackknife over clusters",
                    "O/E, mean over 100 clusters", "Assumes that no absent kind"], ["DeLong", "profile"]),
        (GIVEN[2], ["take rows as independent", "jackknife over rows", "By their weights 600 rows count as"],
         ["DeLong", "profile", "cluster"]),
        (GIVEN[3], ["take clusters as", "By their weights 600 rows count as"], ["DeLong", "mean over 100 clusters"]),
    ],
)  # fmt: skip
def test_methods_are_those_of_the_intervals(given, said, not_said):
    text = cs.validate(Y, P, **given).methods
    assert [words for words in said if words not in text] == []
    assert [words for words in not_said if words in text] == []
    assert "\n" not in text


def test_cautions_are_said():
    found = cs.validate(Y, P, cluster=np.arange(600) // 100)
    assert found.cautions
    assert all(caution in found.methods for caution in found.cautions)


def test_missing_numbers_are_said_in_words():
    found = cs.validate([0, 0, 0], [0.1, 0.2, 0.3])
    for text in (found.methods, " ".join(says(found))):
        assert "nan" not in text
        assert "AUC not available (needs both outcomes)" in text
        assert "profile likelihood" not in text
        assert "DeLong" not in text
    assert "with 0 events" in found.methods
    endless = replace(cs.validate(Y, P), intervals={"slope": (0.5, np.inf)})
    assert "(0.5 to ∞)" in endless.methods


def test_the_table_has_every_item_and_leaves_the_rest_to_the_authors():
    table = cs.validate(Y, P).tripod()
    assert list(table["item"]) == list(CHECKLIST)
    assert list(table["asks"]) == list(CHECKLIST.values())
    alone = {item for item, text in zip(table["item"], table["says"], strict=True) if text.lower() == f"{AUTHORS}."}
    assert alone == {"1 to 9", "12f, 12g", "13, 14", "16 to 19", "20b, 20c", "24", "25 to 27"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (GIVEN[0], "Not examined: no clusters were given."),
        (GIVEN[1], "O/E, mean over 100 clusters: "),
        (GIVEN[3], "Not available ("),
    ],
)
def test_clusters_have_their_items(given, said):
    found = cs.validate(Y, P, **given)
    assert says(found)["23b"].startswith(said)
    assert says(found)["12d"].startswith(f"Intervals take {found.drawn} as independent.")


def test_each_model_has_its_own():
    found = cs.validate(Y, {"one": P, "other": 1 - P})
    assert found["one"].methods == cs.validate(Y, P).methods
    assert f"AUC {found['other'].auc:.3g}" in found["other"].methods
