"""A plain function as a generator, whose true values are not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat.data.checks import described
from calibstat.generators.distributions import Random, Seed
from calibstat.generators.simulator import drawing


@dataclass(frozen=True)
class PlainFunction:
    """A function of n and a random generator, which returns outcomes and predictions, of one model or of several."""

    function: Callable[[int, Random], Any]

    is_calibrated = False

    def sample(self, n: int, rng: Seed) -> tuple[np.ndarray, Any]:
        """Draw a data set, with a `numpy.random.Generator` made of `rng`."""
        drawn = self.function(*drawing(n, rng))
        if not isinstance(drawn, tuple | list) or len(drawn) != 2:
            raise ValueError(f"expected outcomes and predictions from {self.name}(n, rng), found {described(drawn)}")
        y, p = np.asarray(drawn[0]), drawn[1]
        if y.shape[:1] != (n,):
            raise ValueError(f"expected {n} rows from {self.name}({n}, rng), found {described(drawn[0])}")
        if not isinstance(p, Mapping):
            return y, np.asarray(p)
        if not p:
            raise ValueError(f"expected predictions of at least one model from {self.name}(n, rng), found none")
        return y, {str(name): np.asarray(each) for name, each in p.items()}

    def truth(self, measure: Any, **options: Any) -> float:
        """Raise, because a function cannot say what is true."""
        raise NotImplementedError(
            f"the true value of {measure} is not known of the function {self.name}; "
            "an object with sample(n, rng) can say it in its truth(measure, **options)"
        )

    @cached_property
    def models(self) -> dict[str, PlainFunction] | None:
        """The models whose predictions it returns, none of which knows its truth; None of a single one."""
        _, p = self.sample(20, 0)
        return dict.fromkeys(p, self) if isinstance(p, Mapping) else None

    @cached_property
    def n_classes(self) -> int | None:
        """The number of classes; None of a binary outcome."""
        _, p = self.sample(20, 0)
        first = next(iter(p.values())) if isinstance(p, Mapping) else p
        return None if first.ndim == 1 else int(first.shape[1])

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__name__", "function")
