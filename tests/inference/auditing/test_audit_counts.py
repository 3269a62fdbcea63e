"""Audits of counted rows are those of the rows, but for the draws."""

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.data.features import levels
from calibstat.inference.auditing.audit_counts import audit_counts
from calibstat.resampling import Draws

OPTIONS = {"depth": 2, "min_rows": 30, "shape": False, "side": None, "confidence_level": 0.95}


def rows(n=6000):
    rng = np.random.default_rng(8)
    p = rng.choice([0.0, 0.1, 0.3, 0.35, 0.8, 1.0], n)
    people = pd.DataFrame({"sex": rng.choice(["woman", "man"], n), "age": rng.integers(20, 90, n)})
    chance = np.where((people.sex == "man") & (p == 0.3), 0.5, p)
    return (rng.random(n) < chance).astype(float), p, people


def counted(y, p, people, **options):
    """The audit of a table of counts, which the test makes with a data frame."""
    of_rows = {name: levels(name, people[name], 4) for name in people}
    frame = pd.DataFrame({name: code for name, (_, code) in of_rows.items()}).assign(p=p, y=y)
    table = frame.groupby([*people, "p"]).y.agg(["size", "sum"]).reset_index()
    atoms, atom = np.unique(table[[*people]].to_numpy(), axis=0, return_inverse=True)
    of_atoms = [(names, atoms[:, k]) for k, (names, _) in enumerate(of_rows.values())]
    number, ones = (table[name].to_numpy(float) for name in ("size", "sum"))
    value = table.p.to_numpy()
    return audit_counts(
        of_atoms, atom.ravel(), value, number, ones, value, **{**OPTIONS, **options}, draws=Draws.of(1, 499, 1)
    )


@pytest.mark.parametrize("shape", [False, True])
def test_counts_answer_as_rows_do(shape):
    y, p, people = rows()
    found = counted(y, p, people, shape=shape)
    expected = cs.audit(y, p, people, shape=shape, n_resamples=499, rng=1)
    assert found.names == expected.names
    assert (found.left_out, found.n) == (expected.left_out, expected.n)
    for name in ("rows", "predicted", "observed", "error", "low", "high", "root", *["slope"] * shape):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-10, atol=1e-12)
    for name in ("expected", "odds_ratio", "low", "high", "pvalue_adjusted"):
        np.testing.assert_allclose(getattr(found.beyond, name), getattr(expected.beyond, name), rtol=1e-9)
    # two p-values of 499 draws each: a difference of a standard deviation of at most sqrt(2 / 4 / 499) = .032
    assert np.abs(found.pvalue_adjusted - expected.pvalue_adjusted).max() < 4.5 * 0.032
    assert found.names[found.found[0]] in ("all rows", "sex = man")


def test_small_atoms_make_no_group():
    y, p, people = rows(300)
    found = counted(y, p, people, min_rows=50)
    expected = cs.audit(y, p, cs.Groups(people, min_rows=50), n_resamples=9, rng=1)
    assert found.left_out == expected.left_out != ""
    assert found.names == expected.names
