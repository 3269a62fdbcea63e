"""Synthetic families of predictions and outcomes that know their truth."""

from collections.abc import Mapping
from types import MappingProxyType

from calibstat.generators.base import Generator
from calibstat.generators.composed import distorted, groups, prevalence
from calibstat.generators.families import (
    calibrated,
    domain,
    gaussian_mixture,
    hidden,
    high_frequency,
    interval_gap,
    quadratic_gap,
    shift,
    temperature,
    two_point,
)

__all__ = ["GENERATORS", "Generator"]
__all__ += ["calibrated", "distorted", "domain", "gaussian_mixture", "groups", "hidden", "high_frequency"]
__all__ += ["interval_gap", "prevalence", "quadratic_gap", "shift", "temperature", "two_point"]

FAMILIES: list[type[Generator]] = [
    calibrated,
    temperature,
    shift,
    gaussian_mixture,
    hidden,
    quadratic_gap,
    interval_gap,
]
FAMILIES += [two_point, high_frequency, domain, groups, distorted, prevalence]

GENERATORS: Mapping[str, type[Generator]] = MappingProxyType({family.__name__: family for family in FAMILIES})
