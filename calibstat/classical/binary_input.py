"""Checked data of the classical tests: one binary outcome, predictions with logits, rows held out or not."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat.data.clipping import uncertain
from calibstat.data.observations import BinaryData, observe
from calibstat.data.sample import Sample


def one_event(y_true: Any, y_prob: Any, lens: Any, labels: Any, what: str) -> tuple[BinaryData, Sample]:
    """Return the event that is seen and its summary; raise if several are, or if the weights are not counts."""
    seen = observe(y_true, y_prob, lens=lens, labels=labels).one_event(what)
    return seen, seen.counted(what)


def between(seen: BinaryData, sample: Sample, clip: float | None, what: str) -> Sample:
    """Return the sample with predictions above 0 and below 1, moved by `clip`, of which there are logits."""
    value = uncertain(sample.value, clip, what, rows=seen.row_predictions)
    return sample if clip is None else Sample.from_counts(value, sample.count, sample.positives)


def need_held_out(held_out: Any, what: str, why: str) -> None:
    """Raise unless `held_out` says whether the model was fitted on other rows, on which the law depends."""
    if not isinstance(held_out, bool | np.bool_):
        raise ValueError(
            f"expected held_out=True (the model was fitted on other rows) or held_out=False for {what}, found "
            f"{held_out!r}; it must be said, because {why}"
        )
