"""Checked data of the classical tests: one binary outcome, predictions with logits, rows held out or not."""

from __future__ import annotations

import numpy as np

from calibstat.data.checked_rows import Data
from calibstat.data.clipping import uncertain
from calibstat.data.sample import Sample
from calibstat.data.views import BinaryView
from calibstat.data.weighted_sample import WeightedSample, sample_of_ordered_rows


def binary_input(data: Data, what: str) -> tuple[BinaryView, Sample]:
    """Return the binary data and their summary; raise if the outcome is not binary or the weights are not counts."""
    view = data.view().one_event(what)
    return view, view.counted(what)


def between(view: BinaryView, sample: Sample, clip: float | None, what: str) -> Sample:
    """Return the sample with predictions above 0 and below 1, moved by `clip`, of which there are logits."""
    value = uncertain(sample.value, clip, what, rows=view.row_predictions)
    return sample if clip is None else Sample.from_counts(value, sample.count, sample.positives)


def open_rows(view: BinaryView, rows: WeightedSample, clip: float | None, what: str) -> WeightedSample:
    """Return rows with weights whose predictions are above 0 and below 1, moved by `clip`."""
    value = uncertain(rows.value, clip, what, rows=view.row_predictions)
    return rows if clip is None else sample_of_ordered_rows(rows.outcome, value[rows.cell], rows.weight)


def need_held_out(held_out: object, what: str, why: str) -> None:
    """Raise unless `held_out` is given: the null distribution depends on it."""
    if not isinstance(held_out, bool | np.bool_):
        raise ValueError(
            f"expected held_out=True (the model was fitted on other rows) or held_out=False for {what}, found "
            f"{held_out!r}; state it, because {why}"
        )
