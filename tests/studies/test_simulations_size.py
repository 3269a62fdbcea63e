"""The study of levels: what it counts of residuals that are smaller than chance, and that it can fail."""

import numpy as np
import pandas as pd

import calibstat as cs
from simulations.size import LEVEL, TOO_SMALL, Asks, study, table


def test_it_counts_what_results_say():
    """Predictions that are the frequencies of these very rows have residuals that add up to 0; drawn ones do not."""
    value = np.repeat([0.2, 0.5, 0.8], 200)
    fitted = cs.Sample.from_rows(np.tile([1, 0, 0, 0, 0], 40).tolist() + [0, 1] * 100 + [1, 1, 1, 1, 0] * 40, value)
    drawn = cs.Sample.from_rows(np.random.default_rng(1).random(600) < value, value)
    asks = Asks(("omnibus", "ece"), 999)
    assert asks(fitted, np.random.SeedSequence(1)) == [1, 1]
    assert asks(drawn, np.random.SeedSequence(1)) == [0, 0]


def test_each_promise_is_judged_by_its_own_level():
    found = table(quick=True, n_jobs=1)
    assert set(found["question"]) == {TOO_SMALL}
    assert set(found["level"]) == {0.01}
    size = pd.DataFrame({**found, "question": "size", "level": LEVEL})
    both = pd.concat([size, found], ignore_index=True).assign(replicates=2000, rejections=90)
    assert set(study.violations(both)["question"]) == {TOO_SMALL}  # .045 is within .05, and not within .01
    assert study.violations(both.assign(rejections=20)).empty
