"""The types of the argument `rng` of public functions."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Rng: TypeAlias = int | np.integer | np.random.SeedSequence | np.random.Generator | None
