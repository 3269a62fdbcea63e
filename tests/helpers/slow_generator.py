"""A generator that takes its time."""

import time

import numpy as np


class Slow:
    """A generator that takes its time and draws one row, whose numbers do not depend on the time."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __repr__(self):
        return "Slow()"

    def sample(self, n, rng):
        time.sleep(self.seconds)
        return np.array([1]), np.array([np.random.default_rng(rng).random()])

    def truth(self, measure, **options):
        raise NotImplementedError
