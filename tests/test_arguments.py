"""Arguments that every verb takes, and those of other packages: a clear error or the right result."""

import os
import subprocess
import sys

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.checks import check_level
from calibstat.resampling.threads import n_threads

Y, P = cs.generators.temperature(1.5).sample(60, rng=1)
NO_JOBS = [float("nan"), 1.5, 2.0, True, None, 0, -2, "2", [1]]
VERBS = {
    "test": lambda **given: cs.calibration_test(Y, P, measure="ks", **{"n_resamples": 9, **given}),
    "interval": lambda **given: cs.confidence_interval(Y, P, **{"measure": "ks", "n_resamples": 9, **given}),
    "compare": lambda **given: cs.compare(Y, {"a": P, "b": P**2}, **{"n_resamples": 9, **given}),
    "decompose": lambda **given: cs.decompose(Y, P, **given),
    "t_cal": lambda **given: cs.t_cal(Y, P, **{"n_resamples": 9, **given}),
    "reliability": lambda **given: cs.reliability(Y, P, **{"n_resamples": 9, **given}),
    "summarize": lambda **given: cs.summarize(Y, {"a": P}, **{"n_resamples": 9, **given}),
    "gap": lambda **given: cs.generalization_gap((Y, P), (Y, P), **{"n_resamples": 9, **given}),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("bad", NO_JOBS, ids=repr)
def test_n_jobs_is_a_whole_number(verb, bad):
    with pytest.raises(ValueError, match="expected n_jobs to be a whole number of at least 1, or -1"):
        VERBS[verb](n_jobs=bad)


def test_all_cores_are_those_that_may_be_used():
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("no affinity here")
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
    code += "from calibstat.resampling.threads import n_threads; print(n_threads(-1), n_threads(3))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.split() == ["1", "3"]
    assert n_threads(-1) <= len(os.sched_getaffinity(0))


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


RUN = {"question": "bias", "generators": {"a": cs.generators.calibrated()}, "n": 5, "measures": ["ks"],
       "replicates": 2, "seed": 1}  # fmt: skip


@pytest.mark.parametrize(
    "bad",
    [
        *({"n": n} for n in (b"30", np.array(5), "30", True, 2.5, [10, "20"], [True], None, 0, [-1], float("nan"))),
        *({"seed": seed} for seed in (True, None, 1.5, -1, "1")),
        *({"replicates": k} for k in (True, 1.5, "2", None, 0)),
        *({"n_resamples": k} for k in (True, 1.5, "2", None, 0)),
        *({"level": level} for level in ("0.9", 0, 1, float("nan"), True)),
        *({"n_jobs": jobs} for jobs in NO_JOBS if jobs is not None),
        {"generators": [cs.generators.calibrated()]},
        *({"measures": m} for m in ("ks", 5, None, {"a": "ks"}, {"a": ("ks",)}, {"a": ("ks", 5)})),
        *({"methods": m} for m in ("plug-in", 5)),
        {"question": ["bias"]},
    ],
    ids=repr,
)
def test_arguments_of_a_study(bad):
    with pytest.raises(ValueError, match=r"^expected "):
        cs.study.run(**{**RUN, **bad})


def test_numpy_numbers_are_numbers():
    found = cs.study.run(**{**RUN, "n": np.array([5, 6]), "seed": np.int64(1), "replicates": np.int32(2)})
    assert found["n"].tolist() == [5, 6]


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


@pytest.mark.parametrize("generator", [lambda n, rng: (Y, P), 3, cs.generators.Generator, None])
def test_what_is_no_generator(generator):
    with pytest.raises(ValueError, match=r"expected generators with sample\(n, rng\), .* for 'a'"):
        cs.study.run(**{**RUN, "generators": {"a": generator}})
