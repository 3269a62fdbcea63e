"""The side of a question: are predictions too high ("over"), or too low ("under")?"""

from __future__ import annotations

from typing import Literal, TypeAlias, cast

from calibstat.data.checks import is_among, short

Side: TypeAlias = Literal["over", "under"]
TOO: dict[Side, str] = {"over": "too high", "under": "too low"}
OTHER: dict[Side, Side] = {"over": "under", "under": "over"}
AT_THE_BORDER: dict[Side, str] = {"over": "at least", "under": "at most"}  # how true probabilities may lie otherwise
MORE_EVENTS: dict[Side, float] = {"over": -1.0, "under": 1.0}  # the sign of residuals that are evidence


def check_side(side: object) -> Side | None:
    """Return a side, None for both; raise for anything else."""
    if side is None or is_among(side, TOO):
        return cast("Side | None", side)
    raise ValueError(
        f"expected side None, 'over' (are predictions too high?) or 'under' (too low?), found {short(side)}"
    )
