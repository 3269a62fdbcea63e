"""Words of earlier checkouts that are gone, and what is written now: one error, and the table of the upgrade notes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from calibstat.data.checks import is_among, short


class Retired(NamedTuple):
    """An argument that is gone: the functions that had it, and what is written now, by its value or for any.

    Of any value ``{}`` stands for it; `of_functions` are those in which it meant something else.
    """

    where: tuple[str, ...]
    now: str
    of_values: tuple[tuple[object, str], ...] = ()
    of_functions: tuple[tuple[str, str], ...] = ()

    def written(self, value: object, function: str = "") -> str:
        """Return what is written now for this value, in this function."""
        now = dict(self.of_functions).get(function, self.now)
        now = next((now for given, now in self.of_values if is_among(value, (given,))), now)
        return now.format(short(value))


JUDGED = ("calibration_test", "confidence_interval", "compare", "report")
WITH_MEASURES = ("estimate", *JUDGED[:3], "detectable_effect", "scorer", "truth")
RETIRED: Mapping[str, Retired] = {
    "proxy": Retired(JUDGED, "judge=cs.Judge(answers)"),
    "inclusion": Retired(("calibration_test", "confidence_interval"), "judge=cs.Judge(answers, inclusion=chances)"),
    "blind": Retired(("calibration_test",), "judge=cs.Judge(answers, blind={})"),
    "use": Retired(
        ("calibration_test",),
        "method='direction' or method='noise'",
        (("direction", "method='direction'"), ("noise", "method='noise'")),
    ),
    "learner": Retired(
        ("confidence_interval", "cross_validate"),
        "method='triangle' or method='mirror'",
        (("any", "method='triangle'"), ("smooth", "method='mirror'")),
    ),
    "reduce": Retired(
        WITH_MEASURES,
        "lens='class_wise_mean' or lens='class_wise_max'",
        (("mean", "lens='class_wise_mean'"), ("max", "lens='class_wise_max'"), (None, "lens= alone")),
    ),
    "unseen": Retired(("compare",), "cluster=cs.Clusters(labels, unseen={})"),
    "depth": Retired(("audit",), "groups=cs.Groups(features, depth={})"),
    "min_rows": Retired(("audit",), "groups=cs.Groups(features, min_rows={})"),
    "n_quantiles": Retired(("audit",), "groups=cs.Groups(features, n_quantiles={})"),
    "level": Retired(
        ("reliability", "equivalence_test"),
        "confidence_level={}",
        of_functions=(("equivalence_test", "confidence_level=1 - {}"),),
    ),
    "by": Retired(("equivalence_test",), "measure={}"),
    "proxy_share": Retired(("sample_size",), "judge_share={}"),
    "proxy_rows": Retired(("sample_size",), "judge_rows={}"),
}
RETIRED_PARAMETERS: Mapping[str, Retired] = {  # of constructors, while functions have the word
    "rng": Retired(("HistogramBinning",), "random_state={}"),
    "bootstrap": Retired(("HistogramBinning",), "n_resamples={}"),
}
MOVED = (  # to calibstat.classical
    *("calibration_belt", "cox", "hosmer_lemeshow", "kernel_calibration_test"),
    *("kolmogorov_smirnov", "kuiper", "spiegelhalter", "t_cal"),
)
RETIRED_FUNCTIONS: Mapping[str, str] = {
    "compare_samples": "compare({name: (y_true, y_prob), ...})",
    **{name: f"classical.{name}(y_true, y_prob)" for name in MOVED},
    "ModelsMonitor": "Monitor().update(y_true, {name: y_prob, ...})",
}
RETIRED_MEMBERS: Mapping[str, str] = {  # of measures
    "makes_cells": "has_cells_of_data",
    "given": "condition",
    "look": "diagnose",
    "held": "with_fixed_cells",
    "highest": "upper_bound",
}
RETIRED_METHODS: Mapping[str, str] = {  # of tests
    "sign_flip": "no method=, as rows in clusters have one test, by signs of whole clusters",
}


def refuse_retired(
    function: str, given: Mapping[str, object], own: Collection[str], words: Mapping[str, Retired] = RETIRED
) -> None:
    """Raise for an argument that is gone from a function, and write out what takes its place."""
    for word, retired in words.items():
        if word in given and function in retired.where and word not in own:
            now = retired.written(given[word], function)
            raise ValueError(f"expected {now} for {function}, found {word}={short(given[word])}, which is gone")


def refuse_retired_members(cls: type) -> None:
    """Raise if a class of measures defines what has another name now; an option may have any name."""
    for old, new in RETIRED_MEMBERS.items():
        if old in vars(cls) and old not in cls.__annotations__ and hasattr(cls, new):
            raise TypeError(f"expected {new} in the measure class {cls.__name__}, found {old}, which is gone")
