"""Audits of one side: is a group found in which no prediction is too high, and do all limits hold at once?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import calibstat as cs
from calibstat import generators
from calibstat.data.words.side import MORE_EVENTS, Side
from calibstat.inference.auditing.audit_results import Audit

from .group_rules import LEVEL, MIN_ROWS, masks_of

FALSE, MISSED = "size, one side", "limits, one side"
PROMISED = 0.95
ROUNDING = 1e-9


@dataclass(frozen=True)
class OneSided:
    """Asks an audit of one side about a data set."""

    side: Side
    n_resamples: int

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the number of groups, whether one without a wrong row is found, whether any limit misses, and power.

        A row is wrong if its prediction is too high, or of the other side too low. The last answer is whether a group
        with a wrong row is found, nan if there is none.
        """
        y, columns = data
        features, p, chance = columns["features"], columns["prediction"], columns["chance"]
        options: dict[str, Any] = {"side": self.side, "confidence_level": PROMISED, "rng": rng}
        audit = cs.audit(y, p, cs.Groups(features, min_rows=MIN_ROWS), n_resamples=self.n_resamples, **options)
        assert isinstance(audit, Audit)
        masks = masks_of(audit.names, features)
        touched = masks[:, MORE_EVENTS[self.side] * (chance - p) > ROUNDING].any(axis=1)
        found, truth = audit.pvalue_adjusted <= LEVEL, masks @ (chance - p) / audit.rows
        limit = audit.high if self.side == "over" else audit.low
        assert limit is not None
        beyond = MORE_EVENTS[self.side] * (limit - truth) > ROUNDING
        power = float(found[touched].any()) if touched.any() else np.nan
        return [len(masks), float(found[~touched].any()), float(beyond.any()), power]


@dataclass(frozen=True)
class OneSidedCase:
    """Data sets of one kind and size, and the side that is asked about."""

    label: str
    rows: Any
    n: int
    groups: int
    replicates: int
    ask: OneSided


def one_sided_cases(features: dict[int, int], quick: bool) -> Iterator[OneSidedCase]:
    """Return audits of 16 and 106 groups: no row is wrong, or those of one group."""
    from scipy.stats import beta

    kinds = {
        "prevalence .5": (generators.calibrated(), 0.5),
        "prevalence .02": (generators.calibrated(beta(1, 49)), 1.0),
    }
    sides: list[Side] = ["over", "under"]
    for (groups, k), (kind, (model, shift)), side in product(features.items(), kinds.items(), sides):
        if groups > 106 or (quick and groups > 16) or (side == "under" and kind == "prevalence .5"):
            continue
        levels, ask = {f"f{i}": 3 for i in range(k)}, OneSided(side, 39 if quick else 199)
        too = -MORE_EVENTS[side]  # logits of predictions that are moved so are wrong
        other = [({"f0": 0}, {"shift": -too * shift}), ({"f1": 1}, {"shift": -too * shift / 2})]
        wrong = [({"f0": 0}, {"shift": too * shift}), ({"f0": 1}, {"shift": -too * shift})]
        for error, errors in {"right": [], "wrong the other way": other, "one level wrong": wrong}.items():
            rows = generators.features(model, levels, errors)
            yield OneSidedCase(f"{kind}, {error}, {side}", rows, 1500, groups, 3 if quick else 1000, ask)
