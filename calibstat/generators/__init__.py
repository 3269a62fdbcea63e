"""Synthetic families of predictions and outcomes that know their truth."""

from collections.abc import Mapping
from types import MappingProxyType

from calibstat.generators.base import Generator
from calibstat.generators.composed import distorted, groups, prevalence
from calibstat.generators.families import calibrated, domain, gaussian_mixture, hidden, shift, temperature

__all__ = ["GENERATORS", "Generator"]
__all__ += ["calibrated", "distorted", "domain", "gaussian_mixture", "groups", "hidden", "prevalence", "shift"]
__all__ += ["temperature"]

GENERATORS: Mapping[str, type[Generator]] = MappingProxyType(
    {
        family.__name__: family
        for family in (calibrated, temperature, shift, gaussian_mixture, hidden, domain, groups, distorted, prevalence)
    }
)
