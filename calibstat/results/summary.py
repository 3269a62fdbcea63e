"""What summaries of several models are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.results.base import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Summary(Result):
    """What `summarize` found: a table of models by measures, with intervals.

    Attributes
    ----------
    names : tuple of str, length M
        The models.
    measures : tuple of str, length 7
        "accuracy", "ece", "average_ce", "adaptive_calibration_error", "smooth_ece", "log_loss" and "brier".
    subjects : tuple of str, length 7
        What each is of: "outcome 1", "the most likely class" or "whole vectors".
    estimate, low, high : ndarray, shape (M, 7)
        The measures and the ends of their intervals; these nan of "average_ce" and "adaptive_calibration_error", which
        have none. Both ends of an infinite logarithmic loss are infinite.
    warnings : tuple of str
        The rows that make a logarithmic loss infinite, and the models that are better calibrated than the reference and
        have a worse proper score.
    reference : str
        The model with which the others are compared.
    confidence_level : float
        Of every interval by itself.
    n : int
        Rows.
    """

    names: tuple[str, ...]
    measures: tuple[str, ...]
    subjects: tuple[str, ...]
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    warnings: tuple[str, ...]
    reference: str
    confidence_level: float
    n: int

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each model and measure."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"model": name, "measure": measure, "of": of, "estimate": e, "low": low, "high": high}
                for i, name in enumerate(self.names)
                for measure, of, e, low, high in zip(
                    self.measures, self.subjects, self.estimate[i], self.low[i], self.high[i], strict=True
                )
            ]
        )

    def __str__(self) -> str:
        cells = [
            [f"{e:.4f}" if np.isnan(a) else f"{e:.4f} [{a:.4f}, {b:.4f}]" for e, a, b in zip(*row, strict=True)]
            for row in zip(self.estimate, self.low, self.high, strict=True)
        ]
        first = max(5, *map(len, self.names))
        width = [max(len(m), *(len(row[k]) for row in cells)) for k, m in enumerate(self.measures)]
        lines = [
            f"Summary of {len(self.names)} models, n = {self.n}, {self.confidence_level:.4g} confidence intervals:"
        ]
        lines.append(
            "  ".join([f"{'model':{first}}", *(f"{m:>{w}}" for m, w in zip(self.measures, width, strict=True))])
        )
        for name, row in zip(self.names, cells, strict=True):
            lines.append("  ".join([f"{name:{first}}", *(f"{c:>{w}}" for c, w in zip(row, width, strict=True))]))
        return "\n".join([*lines, *self._notes(), *(f"Warning: {text}" for text in self.warnings)])

    def _notes(self) -> list[str]:
        """Say once what the measures are of, and which of them have no interval."""
        parts = []
        for of in dict.fromkeys(self.subjects):
            names = [name for name, subject in zip(self.measures, self.subjects, strict=True) if subject == of]
            parts.append(f"Of {of}: {', '.join(names)}.")
        lines = [" ".join(parts)]
        missing = np.isnan(self.low).any(axis=0)
        alone = [name for name, gone in zip(self.measures, missing, strict=True) if gone]
        if alone:
            lines.append(f"No honest interval is known for {', '.join(alone)}, which stand alone.")
        return lines
