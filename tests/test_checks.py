"""Arguments that every verb takes, and those of other packages: a clear error or the right result."""

import numpy as np
import pytest
from verb_arguments import VERBS, P, Y

import calibstat as cs
from calibstat.data.checks import check_level


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in ("test", "t_cal", "reliability")])
@pytest.mark.parametrize("bad", [None, "0.9", float("nan"), 0, 1, True, 1 - 1e-16, 95, [0.9]], ids=repr)
def test_confidence_levels(verb, bad):
    with pytest.raises(ValueError, match="expected confidence_level between 0 and 1, found"):
        VERBS[verb](confidence_level=bad)


def test_levels_near_the_ends_are_taken():
    for level in (1e-12, 0.5, 1 - 1e-12, np.float32(0.5)):
        check_level("level", level)
        found = cs.confidence_interval(Y, P, measure="brier", confidence_level=float(level))
        assert np.isfinite([found.low, found.high]).all()


def test_long_names_are_cut_short():
    name = "x" * 5000
    with pytest.raises(ValueError, match=r"^expected") as caught:
        cs.compare(Y, {name: [0.5, 2.0], "b": P})
    assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match=r"^expected a measure") as caught:
        cs.estimate(Y, P, measure=name)
    assert len(str(caught.value)) < 1000


FOREIGN = {"random_state": "use rng=", "seed": "use rng=", "bins": "use n_bins=", "n_boot": "use n_resamples=",
           "alpha": "confidence_level=", "weights": "Sample.from_rows"}  # fmt: skip


@pytest.mark.parametrize("verb", ["test", "interval", "compare", "decompose", "gap"])
@pytest.mark.parametrize("name", FOREIGN)
def test_names_of_other_packages_say_what_to_use(verb, name):
    with pytest.raises(ValueError, match=f"found '{name}'; .*{FOREIGN[name]}"):
        VERBS[verb](**{name: 3})


def test_tests_have_no_weights():
    for verb in ("test", "interval", "compare"):
        with pytest.raises(ValueError, match=r"found 'sample_weight'; .*Sample\.from_rows"):
            VERBS[verb](sample_weight=np.ones(60))
