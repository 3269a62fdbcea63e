"""The studies behind the claims of calibstat, by name; results and figures are in the folder `simulations`."""

from collections.abc import Mapping
from types import MappingProxyType

from calibstat.studies import (
    approximate_tests,
    bias,
    bins,
    classes,
    comparison,
    consistency,
    coverage,
    distances,
    generalization_gap,
    label_noise,
    mixture,
    power,
    ranking,
    recalibration,
    six_points,
    size,
)
from calibstat.studies.study import Study

STUDIES: Mapping[str, Study] = MappingProxyType(
    {
        part.STUDY.name: part.STUDY
        for part in (
            *(size, approximate_tests, power, coverage, comparison),
            *(bias, consistency, bins, ranking, mixture, distances),
            *(classes, label_noise, six_points, recalibration, generalization_gap),
        )
    }
)
