"""Arguments of a run of a study: which are taken, which are refused."""

import numpy as np
import pytest
from verb_arguments import NO_JOBS, RUN

import calibstat as cs


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
        *({"measures": m} for m in ("ks", 5, None, {"a": ("ks",)}, {"a": ("ks", 5)}, {"a": None})),
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


@pytest.mark.parametrize("generator", [3, cs.generators.Generator, None])
def test_what_is_no_generator(generator):
    with pytest.raises(ValueError, match=r"expected generators with sample\(n, rng\), .* for 'a'"):
        cs.study.run(**{**RUN, "generators": {"a": generator}})
