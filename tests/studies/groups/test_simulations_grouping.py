"""The study of the grouping loss: its truths, and its promise."""

import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file

STUDY = study_file("grouping")


@pytest.mark.parametrize("label", STUDY.MODELS)
def test_the_truths_of_the_study(label):
    """The mean square of Q less its mean at each prediction, of 400,000 rows; or Q is a function of the prediction."""
    model = STUDY.MODELS[label]
    _, q, p = model.draw(np.random.default_rng(1), 400_000)
    value, at = np.unique(p, return_inverse=True)
    if value.size > 1000:
        assert model.truth == 0
        assert np.all(np.diff(q[np.argsort(p)]) >= 0)
    else:
        mean = np.bincount(at, q) / np.bincount(at)
        assert model.truth == pytest.approx(np.mean((q - mean[at]) ** 2), rel=0.02)


def test_the_study_can_fail():
    rows = [{"missed": missed, "truth": 0.1, "tested": 400, "rejected": 400} for missed in (0, 20, 60)]
    rows += [{"missed": 0, "truth": 0.0, "tested": tested, "rejected": 60} for tested in (0, 400)]
    failed = STUDY.violations(pd.DataFrame(rows).assign(replicates=400))
    assert failed[["missed", "rejected", "tested"]].to_numpy().tolist() == [[60, 400, 400], [0, 60, 400]]
