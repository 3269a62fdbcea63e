"""Simulators with known population values.

They are called like the distributions of `scipy.stats`: ``calibstat.generators.temperature(2).sample(1000, rng=1)``.
"""
# ruff: noqa: F403, F405

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from calibstat.generators import generator_table
from calibstat.generators.generator import Generator
from calibstat.generators.multiclass_generator import MulticlassGenerator

if TYPE_CHECKING:  # names for editors and type checkers; at run time every file of the folder enters the table itself
    from calibstat.generators.binary import *
    from calibstat.generators.composed import *
    from calibstat.generators.finite import *
    from calibstat.generators.multiclass import *
    from calibstat.generators.scaled_dirichlet import *

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
GENERATORS: Mapping[str, type[Generator] | type[MulticlassGenerator]] = generator_table.GENERATORS
globals().update(GENERATORS)

__all__ = ["GENERATORS", "Generator", "MulticlassGenerator"]
__all__ += list(GENERATORS)
