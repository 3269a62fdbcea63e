"""The study of exponents: verdicts and families by hand, and what is stored."""

import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from simulation_files import study_file

EXPONENTS = study_file("exponents")


def test_exponents_by_hand():
    """A measure d² has the exponent 2: it contradicts a stated soundness of 1, and attains one of 2."""
    assert EXPONENTS._verdict(1.0, 2.0, below=False) == "contradicted"
    assert EXPONENTS._verdict(2.0, 2.0, below=False) == "attained"
    assert EXPONENTS._verdict(4.0, 2.0, below=False) == "not attained"
    assert EXPONENTS._verdict(0.5, 0.3, below=True) == "contradicted"
    assert EXPONENTS._verdict(None, 0.3, below=True) == "none stated"
    rows = [
        {"question": "rate", "generator": "a", "n": n, "rmse": n**-0.5, "rmse_se": 0.1 * n**-0.5} for n in (1, 4, 16)
    ]
    found = EXPONENTS.rates(pd.DataFrame(rows)).iloc[0]
    assert found["exponent"] == pytest.approx(-0.5)
    assert found["se"] == pytest.approx(0.1 * np.sqrt(2) / (2 * np.log(4)))  # weights -1, 0, 1 over 2 log 4


def test_distances_of_the_families():
    """All too high by a: a. A share a of outcomes 1 is predicted 0, and moves to 1, or all go to their mean."""
    assert EXPONENTS.FAMILIES["all too high"](0.1).distance() == pytest.approx(0.1)
    assert EXPONENTS.FAMILIES["two points"](0.1).distance() == pytest.approx(0.1)
    assert EXPONENTS.FAMILIES["alternating"](0.1).distance() == pytest.approx(0.75 * 0.1 / 4)  # all to 1/2


def test_the_stored_exponents_contradict_nothing_that_is_stated():
    stored = pd.read_csv(PROJECT / "simulations" / "results" / "exponents.csv", comment="#")
    found = EXPONENTS.judged(stored).set_index("measure")
    assert "contradicted" not in {*found["complete"], *found["sound"]}
    assert found.loc["kernel error, Gaussian", "most"] > 2.9
    assert found.loc["smooth error", ["complete", "sound"]].tolist() == ["attained", "attained"]
    assert (EXPONENTS.rates(stored)["exponent"] < -0.45).all()
    merging = stored[stored["question"] == "merging"].set_index(["generator", "n", "measure"])["mean"].unstack()
    assert (merging["merging of neighbours"] < merging["interval error"]).all()
