"""Synthetic families of predictions and outcomes that know their truth."""

from collections.abc import Mapping
from types import MappingProxyType

from calibstat.generators.binary import calibrated, gaussian_mixture, high_frequency, shift, temperature
from calibstat.generators.composed import distorted, groups, prevalence
from calibstat.generators.finite import domain, hidden, interval_gap, quadratic_gap, two_point
from calibstat.generators.generator import Generator
from calibstat.generators.multiclass import MulticlassGenerator, always_wrong, dirichlet, label_noise, six_points

__all__ = ["GENERATORS", "Generator", "MulticlassGenerator"]
__all__ += ["calibrated", "distorted", "domain", "gaussian_mixture", "groups", "hidden", "high_frequency"]
__all__ += ["interval_gap", "prevalence", "quadratic_gap", "shift", "temperature", "two_point"]
__all__ += ["always_wrong", "dirichlet", "label_noise", "six_points"]

SIMPLE: tuple[type[Generator], ...] = (calibrated, temperature, shift, gaussian_mixture, high_frequency)
FINITE: tuple[type[Generator], ...] = (hidden, quadratic_gap, interval_gap, two_point, domain)
COMPOSED: tuple[type[Generator], ...] = (groups, distorted, prevalence)

MULTICLASS: tuple[type[MulticlassGenerator], ...] = (six_points, dirichlet, label_noise, always_wrong)

GENERATORS: Mapping[str, type[Generator] | type[MulticlassGenerator]] = MappingProxyType(
    {family.__name__: family for family in SIMPLE + FINITE + COMPOSED + MULTICLASS}
)
