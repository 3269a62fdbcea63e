"""The study of bandwidths: what it judges, by hand, and what its stored table says."""

import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from scipy.integrate import quad
from simulation_files import study_file

import calibstat as cs

STUDY = study_file("smoothing")
STORED = PROJECT / "simulations" / "results" / "smoothing.csv"


@pytest.fixture(scope="module")
def stored():
    return pd.read_csv(STORED, comment="#")


def test_verdicts_by_hand():
    """An error that halves is found, with errors as large as the fall it is not settled, and a rise is told."""
    few, many = {"n": 100, "rmse": 0.4, "rmse_se": 0.01}, {"n": 10_000, "rmse_se": 0.01}
    cases = [("a", 0.1, 0.01), ("b", 0.3, 0.01), ("c", 0.1, 0.1), ("d", 0.45, 0.01)]
    rows = []
    for label, rmse, error in cases:
        shared = {"question": "rate", "generator": label, "method": "direct", "rate": 0.2}
        rows += [shared | few, shared | many | {"rmse": rmse, "rmse_se": error}]
    found = STUDY.judged(pd.DataFrame(rows))
    assert found["verdict"].tolist() == ["found", "not settled", "not settled", "rises"]
    assert found["ratio"].tolist() == pytest.approx([0.25, 0.75, 0.25, 1.125])
    assert found["by_theorem"].all()


def test_the_estimates_are_those_of_the_measure():
    y, p = cs.generators.temperature(2).sample(64, rng=1)
    found = STUDY.Asks((0.5,))(cs.Sample.from_rows(y, p), None)
    slow = [cs.estimate(y, p, measure="regression_ce", bandwidth=1 / 8, estimator=each) for each in STUDY.ESTIMATORS]
    assert found == pytest.approx(slow, abs=1e-15)


def test_the_limit_of_the_model_that_was_not_tried():
    """Of odds exp(.5) times as high, with the density of beta(3, 7), which is 252 t² (1 - t)⁶."""
    family = STUDY.models()["shift .5, mean .3"]

    def square(t):
        odds = np.exp(0.5) * t / (1 - t)
        return 252 * t**2 * (1 - t) ** 6 * (odds / (1 + odds) - t) ** 2

    limit = quad(square, 0, 1)[0]
    assert family.truth("regression_ce", bandwidth=1, rate=0.2) == pytest.approx(limit, abs=1e-9)


def test_orders_of_a_network():
    y, p = cs.generators.dirichlet((1, 1, 1), temperature=2).sample(400, rng=1)
    rows = pd.DataFrame(STUDY.order_rows("a", y, p, 2))
    error = rows[rows["question"] == "error"]
    assert len(error) == len(STUDY.COMPARED) * len(STUDY.KERNELS) * len(STUDY.BANDWIDTHS)
    order = rows[rows["question"] == "order"].set_index(["kernel", "bandwidth"])["mean"]
    assert order[STUDY.REFERENCE] == pytest.approx(1)
    wide = error.pivot(index=["kernel", "bandwidth"], columns="method", values="mean")
    reference, other = wide.loc[STUDY.REFERENCE], wide.loc[("epanechnikov", 0.25)]
    signs = [np.sign((reference[a] - reference[b]) * (other[a] - other[b])) for a in wide for b in wide if a < b]
    assert order["epanechnikov", 0.25] == pytest.approx(np.mean(signs))


def test_agreement_leaves_files_out():
    shared = {"question": "order", "kernel": "gaussian", "bandwidth": 0.1}
    rows = [shared | {"generator": name, "mean": mean} for name, mean in (("a", 1.0), ("b", 0.8), ("file c", 0.0))]
    found = STUDY.agreement(pd.DataFrame(rows)).iloc[0]
    assert (found["mean"], found["networks"], found["same"]) == (pytest.approx(0.9), 2, 1)
    assert found["se"] == pytest.approx(0.1)


def test_the_stored_table_tells_narrow_bandwidths_from_too_narrow_ones(stored):
    """Of rate .45 the theorem is seen everywhere; with as many rows in each bandwidth whatever n nothing falls."""
    found = STUDY.judged(stored)
    assert set(found["verdict"][found["rate"] == 0.45]) == {"found"}
    assert set(found["verdict"][found["rate"] == 1]) == {"not settled"}
    assert found["ratio"][found["rate"] == 1].min() > 0.9
    same = STUDY.agreement(stored).set_index(["kernel", "bandwidth"])["same"]
    assert same[STUDY.REFERENCE] == 10
    assert same["gaussian", 0.01] == 2
