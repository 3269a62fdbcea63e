"""A kind of rows from outside of the package: each row adds to two neighbouring bins, in shares by its distance."""

from dataclasses import dataclass

import numpy as np

import calibstat as cs
from calibstat.bounds.absolute_norms import SumOverClasses
from calibstat.bounds.intervals import SeminormInterval
from calibstat.bounds.residual_tables import TableOfRows
from calibstat.inference.comparing.seminorm_difference import resampled_together, upper_ends
from calibstat.inference.p_values import p_value
from calibstat.resampling import Draws, Stream


@dataclass(frozen=True, eq=False)
class SharedRows(TableOfRows):
    """Residuals that are shared between the two nearest of 11 knots."""

    outcome: np.ndarray
    prediction: np.ndarray
    cells = 11
    columns = 2

    @property
    def n_rows(self):
        return self.outcome.size

    def column(self, k):
        left = np.minimum((self.prediction * 10).astype(int), 9)
        right = self.prediction * 10 - left
        return left + k, (self.outcome - self.prediction) * (right if k else 1 - right)


Y, P = cs.generators.temperature(3).sample(600, rng=1)
OFF = SeminormInterval(SumOverClasses(1.0), SharedRows(Y, P))
DRAWS = Draws.of(1, 199)


def test_its_moments_by_hand():
    sums, added = OFF.table.moments.of(np.linspace(-1, 1, 11)), (2 * P - 1) * (Y - P)  # linear weights, as shares are
    assert np.isclose(sums.total, added.sum())
    assert np.isclose(sums.variance, 600 * np.var(added, ddof=1))


def test_it_is_tested_and_has_an_interval():
    signed = OFF.table.signed(OFF.value, DRAWS)
    assert p_value(OFF.estimate, signed, "greater") <= 0.01
    assert 0 < OFF.low(0.025, DRAWS) < OFF.estimate < OFF.high(0.025)


def test_models_are_compared():
    true = SharedRows(Y, P ** (1 / 3) / (P ** (1 / 3) + (1 - P) ** (1 / 3)))
    models = [(SeminormInterval(SumOverClasses(1.0), table), table) for table in (true, OFF.table)]
    (end,) = upper_ends([tuple(resampled_together(models, DRAWS, Stream.COMPARE))], 0.025)
    assert end.high(0.025) < 0
