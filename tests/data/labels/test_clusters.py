"""Clusters as they are given, and in the words of results."""

import re

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.clusters import clusters_in_words

UNIT = np.repeat(np.arange(61), [*[5] * 60, 100])  # 400 rows; (400)^2 / (60 * 25 + 10000) = 13.9
WORDS = "61 clusters of 5 to 100 rows (effective number 14)"
random = np.random.default_rng(1)
P = random.random(400)
Y = (random.random(400) < P).astype(int)
W = random.choice([0.5, 2.0], 400)


@pytest.mark.parametrize(
    ("unit", "weight", "words"),
    [
        ([0, 0, 1, 1], None, "2 clusters of 2 rows each"),
        ([0, 1, 2], None, "3 clusters of 1 row each"),
        ([0, 0, 0, 1], None, "2 clusters of 1 to 3 rows"),  # 16 / 10 = 1.6
        (UNIT, None, WORDS),
        ([0, 0, 1, 1], [1, 2, 0, 3], "2 clusters of 1 to 2 rows"),  # weights 3 and 3
        ([0, 0, 1, 1], [1, 1, 0, 0.1], "2 clusters of 1 to 2 rows (effective number 1)"),  # 2.1^2 / 4.01 = 1.1
        ([0, 0, 1, 1, 2], [1, 1, 1, 1, 0], "2 clusters of 2 rows each"),
        ([0, 0, 1, 1], [1e-200, 1e-200, 1e-200, 1e-200], "2 clusters of 2 rows each"),
    ],
)
def test_clusters_in_words(unit, weight, words):
    assert clusters_in_words(np.array(unit), None if weight is None else np.array(weight)) == words


@pytest.mark.parametrize("weight", [None, W])
def test_every_result_names_the_clusters(weight):
    """And none says that rows are a sample, or that they say as much as so many independent rows."""
    rows = {"cluster": UNIT, "sample_weight": weight, "rng": 1}
    words = clusters_in_words(UNIT, weight)
    draws = {"n_resamples": 19, "measure": "ks"}
    results = [
        cs.calibration_test(Y, P, **rows, **draws),
        cs.confidence_interval(Y, P, **rows, **draws),
        cs.confidence_interval(Y, P, method="percentile", **rows, **draws),
        cs.compare(Y, {"a": P, "b": P**2}, **rows, **draws),
        cs.compare(Y, {"a": P, "b": P**2}, method="swap", **rows, **draws),
    ]
    for result in results:
        assert words in str(result)
        assert not re.search(r"these rows are|rows are independent|resamples of the rows|say as much", str(result))


def test_a_report_names_the_clusters_and_what_must_be_independent():
    page = cs.report(Y, {"a": P, "b": P**2}, cluster=UNIT, rng=1)
    assert f"Rows are in {WORDS}." in str(page)
    html = page._repr_html_()
    assert "Rows of different clusters must be independent" in html
    assert "Rows must be independent" not in html


@pytest.mark.parametrize("form", [list, np.array, lambda unit: np.array([f"c{u}" for u in unit])])
def test_labels_may_be_given_alone_or_with_what_is_said_of_them(form):
    alone, said = cs.Data(Y, P, cluster=form(UNIT)), cs.Data(Y, P, cluster=cs.Clusters(form(UNIT)))
    assert alone.cluster.tolist() == said.cluster.tolist() == UNIT.tolist()
    assert (alone.unseen, said.unseen, cs.Data(Y, P).unseen) == ("observed",) * 3
    rows = cs.Clusters(form(UNIT), unseen="rows")
    assert cs.Data(Y, P, cluster=rows).unseen == "rows"
    models = cs.Models(Y, {"a": P, "b": P**2}, cluster=rows)
    assert [each.unseen for each in models.values()] == ["rows", "rows"]
    assert models.cluster.tolist() == UNIT.tolist()
    few = np.where(np.arange(400) % 3 == 0, Y, np.nan)
    judged = cs.Models(few, {"a": P, "b": P**2}, cluster=rows, judge=cs.Judge(Y * 1.0))
    assert judged["b"].judged.unit.tolist() == UNIT.tolist()
    assert repr(rows) == "Clusters(400 labels, unseen='rows')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: cs.Clusters(UNIT, unseen="models"),
            "expected unseen 'observed', 'clusters' or 'rows', found 'models'",
        ),
        (lambda: cs.Clusters(UNIT, unseen=["rows"]), r"expected unseen 'observed', .*, found \['rows'\]"),
        (lambda: cs.Clusters(None, unseen="rows"), "expected labels, the cluster of each row, found None"),
        (lambda: cs.Clusters(cs.Clusters(UNIT)), r"expected labels, .* found Clusters\(400 labels"),
        (lambda: cs.Data(Y, P, cluster=cs.Clusters(UNIT[:5])), r"shape \(400,\), found shape \(5,\)"),
        (lambda: cs.Data(Y, P, cluster=cs.Clusters([None] * 400)), "expected no missing clusters, found one at row 0"),
        (lambda: cs.Data(Y, P, cluster=cs.Clusters(np.zeros(400))), "expected at least 2 clusters, found 1"),
        (lambda: cs.Models(Y, {"a": P}, cluster=cs.Clusters([1, 2])), r"shape \(400,\), found shape \(2,\)"),
        (lambda: cs.estimate(Y, P, cluster=cs.Clusters(UNIT[:5])), r"shape \(400,\), found shape \(5,\)"),
    ],
)
def test_clusters_that_are_wrong_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
