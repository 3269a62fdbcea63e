"""Simulators with known population values.

They are called like the distributions of `scipy.stats`: ``calibstat.generators.temperature(2).sample(1000, rng=1)``.
"""
# ruff: noqa: F403

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from calibstat.generators import changing, generator_table, same_rows
from calibstat.generators.generator import Generator
from calibstat.generators.multiclass_generator import MulticlassGenerator
from calibstat.generators.row_weights import Weights
from calibstat.generators.sampled_rows import SampledRows
from calibstat.generators.simulator import Simulator
from calibstat.generators.two_worlds import worlds

if TYPE_CHECKING:  # names for editors and type checkers; at run time every file of the folder enters the table itself
    from calibstat.generators.binary import *
    from calibstat.generators.changing import *
    from calibstat.generators.coarsening import *
    from calibstat.generators.composed import *
    from calibstat.generators.feature_groups import *
    from calibstat.generators.finite import *
    from calibstat.generators.multiclass import *
    from calibstat.generators.same_rows import *
    from calibstat.generators.scaled_dirichlet import *
    from calibstat.generators.weighted_laws import *

for _file in sorted(Path(__file__).parent.glob("[!_]*.py")):
    import_module(f"{__name__}.{_file.stem}")
_Simulator = type[Generator] | type[MulticlassGenerator] | type[changing.stream] | type[same_rows.models]
GENERATORS: Mapping[str, _Simulator] = generator_table.GENERATORS
globals().update(GENERATORS)

__all__ = ["GENERATORS", "Generator", "MulticlassGenerator", "SampledRows", "Simulator", "Weights", "worlds"]
__all__ += list(GENERATORS)
