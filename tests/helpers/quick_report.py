"""Reports in tests: few draws where nothing but speed depends on them, and the costly measures left out."""

from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest

import calibstat as cs
from calibstat.inference.designs.clustered import Clustered
from calibstat.inference.designs.independent import Independent


@contextmanager
def quick(errors=("ece", "kernel_ce")):
    """Fewer draws for what could have been found, whoever asks; the primary measure and what is compared."""
    with pytest.MonkeyPatch.context() as patch:
        few = partial(cs.detectable_effect, n_resamples=99, n_datasets=20)
        for place in ("reporting.report", "inference.power.detectable_effect"):  # whence the command line has it
            patch.setattr(f"calibstat.{place}.detectable_effect", few)
        for design in (Independent, Clustered):
            patch.setattr(design, "sections", replace(design.sections, errors=errors))
        yield


def quick_report(*data, **options):
    with quick():
        return cs.report(*data, **options)
