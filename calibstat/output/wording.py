"""Numbers and data in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from calibstat.data.observations import observe
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample

ROUNDING = 1e-12
SHOWN = 10  # names in an error message or a sentence
COMPARING = (
    "A smaller calibration error alone does not make a better model: predicting the same rate for every row has hardly "
    "any. Compare brier or log_loss as well.",
)
MONITORING = (
    "Feed a period when all of its outcomes are known: if positive ones come in first, early feeding is a false alarm.",
    "Outcomes must be independent given the predictions and earlier periods, and predictions as they were issued.",
)
CAUTIONS = (  # on a terminal, below every answer
    "A large p-value is not evidence that the model is calibrated.",
    "Use held-out rows.",
    "Rows must be independent: no patient, customer or day twice.",
)
IN_FULL = (  # the same, on a page
    "A large p-value is not evidence that the model is calibrated: it says that these outcomes could have been drawn "
    "from the predictions, as far as this test can see.",
    "Use held-out rows: a model fitted, recalibrated or chosen on the same rows looks better than it is.",
    "Rows must be independent: repeated patients, customers or days make every p-value too small and every interval "
    "too short.",
)


def listed(names: Sequence[object], most: int = SHOWN) -> str:
    """Write names with commas between, the first ones if there are many."""
    rest = len(names) - most
    return ", ".join(map(str, names[:most])) + (f" and {rest} more" if rest > 0 else "")


def number(x: float) -> str:
    """Write a measure: four decimals, or two digits where that would hide it; what is only rounding is 0."""
    if math.isinf(x):
        return "∞" if x > 0 else "-∞"
    x = 0.0 if abs(x) < ROUNDING else x
    return f"{x:.1e}" if 0 < abs(x) < 0.0005 else f"{x:.4f}"


def p_text(p: float) -> str:
    """Write a p-value: three decimals, or one digit below that."""
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1g}"


def percent(share: float) -> str:
    """Write a share in per cent, without rounding to nothing or to everything."""
    return f"{100 * share:.0f} %" if 0.01 <= share <= 0.99 or share in (0, 1) else f"{100 * share:.4g} %"


def describe_data(data: Sample | Predictions) -> str:
    """Describe the data, and say if the predictions look reversed."""
    described = describe_multiclass(data) if isinstance(data, Predictions) else describe_binary(data)
    return f"{described} {observe(data, None).reversed_note()}".rstrip()


def describe_binary(sample: Sample) -> str:
    """Describe binary data."""
    m, positive = sample.value.size, float(sample.positives.sum())
    values = f"{m:,} distinct values, from {sample.value[0]:.3g} to {sample.value[-1]:.3g}" if m > 1 else "one value"
    return (
        f"{sample.n:,} rows, {positive:,.0f} of them positive ({percent(positive / sample.n)}). "
        f"The predictions average {float(sample.count @ sample.value) / sample.n:.3f} and take {values}."
    )


def describe_multiclass(data: Predictions) -> str:
    """Describe multiclass data."""
    never = data.n_classes - np.unique(data.label).size
    observed = f"{never} of which {'is' if never == 1 else 'are'} never observed" if never else "all observed"
    accuracy = float((data.top == data.label).mean())
    return (
        f"{data.n:,} rows, {data.n_classes:,} classes ({listed(data.names)}), {observed}. The most likely class is "
        f"observed in {percent(accuracy)} of the rows (accuracy); "
        f"its predicted probability averages {data.largest.mean():.3f}."
    )
