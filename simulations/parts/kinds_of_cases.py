"""All kinds of random cases by name, and a case made again from its text."""

from __future__ import annotations

import json
from typing import Any

from .cases import Case, Clusters, Pair, PairInClusters, RisingRows, Rows, Samples
from .class_cases import Classes, PairOfClasses
from .grouped_class_cases import ClassesInClusters, PairOfClassesInClusters, WeightedClasses
from .populations import from_plain

OF_ROWS: tuple[type[Case], ...] = (Rows, RisingRows, Clusters, Classes, Pair, Samples, PairInClusters, PairOfClasses)
GROUPED: tuple[type[Case], ...] = (WeightedClasses, ClassesInClusters, PairOfClassesInClusters)  # or with weights
KINDS: dict[str, type[Case]] = {kind.__name__: kind for kind in (*OF_ROWS, *GROUPED)}


def case_of(text: str) -> Case:
    """Return the case that a text describes."""
    plain = json.loads(text)
    kind = KINDS[plain.pop("case")]
    return kind(**{name: from_plain(each) if isinstance(each, dict) else _frozen(each) for name, each in plain.items()})


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
