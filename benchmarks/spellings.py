"""Words of calls that only some checkouts know: what was written before, and what is written now.

Each checkout is asked in the words that it knows, so that one list of calls can be put to one of before and one of now.
"""

import re
import warnings
from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

import calibstat as cs

ROWS = "[0, 1, 0, 1], [0.2, 0.3, 0.6, 0.7]"
BY_FOLDS = f"cs.confidence_interval({ROWS}, folds=[0, 0, 1, 1], n_resamples=1, method="
FITTED = "signature(cs.cross_validate).parameters['method']"
DIAGRAM = f"cs.reliability({ROWS}, band=None, interval=False, confidence_level=0.9)"
BY_MEASURE = f"cs.equivalence_test({ROWS}, measure='bins')"
MAPS = "signature(cs.recalibration.choose).parameters['y_true']"
LABELS = "signature(cs.sample_size).parameters['judge_share']"
GROUPS = r"(cs\.audit\(.*?)(\w+)((?:, (?:depth|min_rows|n_quantiles)=\d+)+)"
CLASSICAL = "calibration_belt|cox|hosmer_lemeshow|kernel_calibration_test|kolmogorov_smirnov|kuiper|spiegelhalter|t_cal"
SPELLINGS = (  # what has an answer where the new words are known; words of before, as a pattern; words of now
    ("cs.Judge", r"proxy=(\w+)((?:, (?:inclusion|blind)=\w+)*)", r"judge=cs.Judge(\1\2)"),
    ("cs.Judge", r"\buse='(\w+)'", r"method='\1'"),
    ("cs.Judge", r"(cluster=.*), method='sign_flip'", r"\1"),
    (f"{BY_FOLDS}'triangle')", r"(cs\.confidence_interval\(.*)learner='any'", r"\1method='triangle'"),
    (f"{BY_FOLDS}'mirror')", r"(cs\.confidence_interval\(.*)learner='smooth'", r"\1method='mirror'"),
    (FITTED, r"(cs\.cross_validate\(.*)learner='any'", r"\1method='triangle'"),
    (FITTED, r"(cs\.cross_validate\(.*)learner='smooth'", r"\1method='mirror'"),
    ("cs.LENSES['class_wise_mean']", r"lens='class_wise', reduce='(mean|max)'", r"lens='class_wise_\1'"),
    ("cs.Clusters", r"cluster=(\w+), unseen='rows'", r"cluster=cs.Clusters(\1, unseen='rows')"),
    ("cs.Groups", GROUPS, r"\1cs.Groups(\2\3)"),
    ("cs.classical.__all__", rf"\bcs\.({CLASSICAL})\b", r"cs.classical.\1"),
    (BY_MEASURE, r"(cs\.equivalence_test\(.*)\bby=", r"\1measure="),
    (BY_MEASURE, r"(cs\.equivalence_test\(.*)\blevel=", r"\1confidence_level=1 - "),
    (MAPS, r"(cs\.recalibration\.choose\()(\w+), (\w+)", r"\1\3, \2"),
    (LABELS, r"proxy_(share|rows)=", r"judge_\1="),
    (DIAGRAM, r"(cs\.reliability\(.*)\blevel=", r"\1confidence_level="),
)


@cache
def has_answer(text: str) -> bool:
    """Whether the calibstat of this process answers what is written."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(text, {"cs": cs, "signature": signature})
        except Exception:
            return False
    return True


def spelled(text: str, is_known: Callable[[str], bool] = has_answer) -> str:
    """Write a call or its arguments in the words that this checkout knows, or another."""
    for example, before, now in SPELLINGS:
        if re.search(before, text) and is_known(example):
            text = re.sub(before, now, text)
    return text


def meant(text: str) -> Any:
    """Return what is written, in the words that this checkout knows."""
    return eval(spelled(text), {"cs": cs})
