"""Comparisons of models on clustered rows."""

import numpy as np
import pytest
from compared_models import IN_CLUSTERS, same, two_models

import calibstat as cs


@pytest.mark.parametrize(("measure", "options"), IN_CLUSTERS)
def test_each_row_its_own_cluster(measure, options):
    """The same draws; Student's quantile and the larger step of clusters make intervals a little wider."""
    y, p, q = two_models(200)
    settings = {"measure": measure, "n_resamples": 39, "rng": 3, **options}
    alone = cs.compare(y, {"p": p, "q": q}, **settings)
    names = [f"patient {i}" for i in range(y.size)]
    found = cs.compare(y, {"p": p, "q": q}, cluster=names, **settings)
    assert found.difference == pytest.approx(alone.difference, abs=1e-12)
    for end in ("low", "high"):
        assert getattr(found, end) == pytest.approx(getattr(alone, end), abs=0.1 * (alone.high - alone.low)[0])
    swapped = [cs.compare(y, {"p": p, "q": q}, method="swap", cluster=c, **settings) for c in (None, names)]
    assert same(*swapped)


@pytest.mark.parametrize("method", ["bootstrap", "swap"])
@pytest.mark.parametrize(("measure", "options"), [o for o in IN_CLUSTERS if "n_bins" not in o[1]])
def test_doubled_rows_in_clusters_say_what_single_rows_say(measure, options, method):
    """Binned errors alone use the predictions' own variance in bins of fewer than 30 rows."""
    y, p, q = two_models()
    settings = {"measure": measure, "method": method, "n_resamples": 39, "rng": 3, **options}
    single = cs.compare(y, {"p": p, "q": q}, cluster=np.arange(y.size), **settings)
    y, p, q, cluster = (np.concatenate([part, part]) for part in (y, p, q, np.arange(y.size)))
    double = cs.compare(y, {"p": p, "q": q}, cluster=cluster, **settings)
    for entry in ("difference", "low", "high", "pvalue"):
        assert getattr(double, entry) == pytest.approx(getattr(single, entry), abs=1e-9, nan_ok=True)


def test_clusters_widen_intervals():
    """Ten rows that say the same are one."""
    y, p, q = two_models(40)
    many = [np.repeat(part, 10) for part in (y, p, q)]
    cluster = np.repeat(np.arange(40), 10)
    for measure, options in IN_CLUSTERS:
        arguments = {"measure": measure, "n_resamples": 99, "rng": 1, **options}
        apart = cs.compare(many[0], {"p": many[1], "q": many[2]}, **arguments)
        together = cs.compare(many[0], {"p": many[1], "q": many[2]}, cluster=cluster, **arguments)
        assert (together.high - together.low)[0] > 1.8 * (apart.high - apart.low)[0]


def test_few_clusters_are_said_after_the_answer():
    y, p, q = two_models()
    asked = {"cluster": np.arange(60) // 10, "measure": "brier", "rng": 1}
    few = cs.compare(y, {"p": p, "q": q}, **asked)
    assert str(few).startswith(f"{few.answer}\n")
    assert "\nCaution: only 6 clusters. Intervals may be too narrow: they were studied from 10 clusters on.\n" in str(
        few
    )
    swapped = cs.compare(y, {"p": p, "q": q}, method="swap", n_resamples=9, **asked)  # which is exact
    assert "Caution" not in str(swapped)
