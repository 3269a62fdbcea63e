"""Statistical tests under other seeds: with ``CALIBSTAT_TEST_SEED=7`` every seed is another one.

Only statistical tests are run then, those with an exact binomial limit: others hold numbers of one seed.
"""

import inspect
import os
import re
import sys

import joblib
import numpy as np

from calibstat.resampling import streams

NAME = "CALIBSTAT_TEST_SEED"
SEED = int(os.environ.get(NAME, "0"))  # 0 is the seed that tests name
MARK = 2**31  # more children than a sequence has
LIMITS = re.compile(
    r"\bbinom\.(isf|ppf|sf|cdf)|\b(most_rejections|most_misses|compatible|follows|binomtest|kstest|ks_2samp)\("
    r"|\b(FALSE_)?ALARM\b|\bchi2\.sf|\bisf\(\d\S*e-"
)


def is_statistical(function):
    """Whether a test compares with an exact binomial limit, itself or by a function of its file that it names."""
    found = source(function)
    known = vars(inspect.getmodule(function))
    named = (known.get(each) for each in re.findall(r"\b[a-z_]+\b", found) if each != function.__name__)
    return any(LIMITS.search(each) for each in [found, *map(source, filter(inspect.isfunction, named))])


def source(function):
    """The source of a function, nothing of one that was made when the program ran."""
    try:
        return inspect.getsource(function)
    except OSError:
        return ""


def shifted(rng, seed):
    """Another seed in place of a whole number, a list of them or a sequence; generators and None are as they were."""
    if isinstance(rng, np.random.SeedSequence):
        return np.random.SeedSequence(rng.entropy, spawn_key=(*rng.spawn_key, MARK + seed), pool_size=rng.pool_size)
    return shifted(np.random.SeedSequence(rng), seed) if is_entropy(rng) else rng


def is_entropy(rng):
    """Whether NumPy makes a sequence of it: a whole number or a list of whole numbers."""
    return all(map(is_whole, rng)) if isinstance(rng, list | tuple) else is_whole(rng)


def is_whole(number):
    """Whether it is a whole number of at least 0."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool) and number >= 0


def use_other_seeds():
    """Let NumPy make other generators, and the package other draws, from now on; other processes would not."""
    joblib.parallel_config("sequential")
    of_numpy, of_draws = np.random.default_rng, streams.key_of
    np.random.default_rng = lambda rng=None: of_numpy(shifted(rng, SEED))
    for name, module in list(sys.modules.items()):
        if name.startswith("calibstat.") and vars(module).get("key_of") is of_draws:
            module.key_of = lambda rng: of_draws(shifted(rng, SEED))
