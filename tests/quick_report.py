"""Reports in tests: few draws where nothing but speed depends on them, and the costly measures left out."""

from contextlib import contextmanager

import pytest

import calibstat as cs
from calibstat.inference.detectable_effect import ShowsDetectableEffect

FULL = ShowsDetectableEffect.detectable_effect


@contextmanager
def quick():
    """Fewer draws for what could have been found, whoever asks; the primary measure and what is compared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            ShowsDetectableEffect,
            "detectable_effect",
            lambda self, **options: FULL(self, n_resamples=99, n_datasets=20),
        )
        patch.setattr("calibstat.reporting.asked_measures.ERRORS", ("ece", "kernel_ce"))
        yield


def quick_report(*data, **options):
    with quick():
        return cs.report(*data, **options)
