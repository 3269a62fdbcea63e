"""A generator that takes its time."""

import time

import numpy as np


class Slow:
    """A generator that takes its time and draws one row."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __repr__(self):
        return f"Slow({self.seconds})"

    def sample(self, n, rng):
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            pass
        return np.array([1]), np.array([np.random.default_rng(rng).random()])

    def truth(self, measure, **options):
        raise NotImplementedError
