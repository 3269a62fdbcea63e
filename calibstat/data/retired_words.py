"""Words of earlier checkouts that are gone, and what is written now: one error, and the table of the upgrade notes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from calibstat.data.checks import short


class Retired(NamedTuple):
    """An argument that is gone: the functions that had it, and what is written now, by its value or for any."""

    where: str
    now: str
    of_values: tuple[tuple[str, str], ...] = ()

    def written(self, value: object) -> str:
        """Return what is written now for this value."""
        return next((now for given, now in self.of_values if given == value), self.now)


GROUPS = "cs.Groups(groups, depth=..., min_rows=..., n_quantiles=...)"
LENS, JUDGED = "every function with a lens", "calibration_test, confidence_interval, compare, report"
RETIRED: Mapping[str, Retired] = {
    "proxy": Retired(JUDGED, "judge=cs.Judge(answers)"),
    "inclusion": Retired("calibration_test, confidence_interval", "judge=cs.Judge(answers, inclusion=chances)"),
    "blind": Retired("calibration_test", "judge=cs.Judge(answers, blind=True)"),
    "use": Retired(
        "calibration_test",
        "method='direction' or method='noise'",
        (("direction", "method='direction'"), ("noise", "method='noise'")),
    ),
    "learner": Retired(
        "confidence_interval, cross_validate",
        "method='triangle' or method='mirror'",
        (("any", "method='triangle'"), ("smooth", "method='mirror'")),
    ),
    "reduce": Retired(
        LENS,
        "lens='class_wise_mean' or lens='class_wise_max'",
        (("mean", "lens='class_wise_mean'"), ("max", "lens='class_wise_max'")),
    ),
    "unseen": Retired("compare", "cluster=cs.Clusters(labels, unseen='rows')"),
    "depth": Retired("audit", GROUPS),
    "min_rows": Retired("audit", GROUPS),
    "n_quantiles": Retired("audit", GROUPS),
    "level": Retired("reliability", "confidence_level=..."),
}
RETIRED_METHODS: Mapping[str, str] = {  # of tests
    "sign_flip": "no method=, as rows in clusters have one test, by signs of whole clusters",
}


def refuse_retired(function: str, given: Mapping[str, object], own: Collection[str]) -> None:
    """Raise for an argument that is gone, and write out what takes its place."""
    for word in RETIRED.keys() & given.keys():
        if word not in own:
            now = RETIRED[word].written(given[word])
            raise ValueError(f"expected {now} for {function}, found {word}={short(given[word])}, which is gone")
