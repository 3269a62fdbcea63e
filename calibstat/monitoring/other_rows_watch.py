"""The evidence of rows that are predicted neither 0 nor 1, beside that of all rows, once one was impossible."""

from __future__ import annotations

import math
from copy import deepcopy

import numpy as np

from calibstat.monitoring.evidence import Run
from calibstat.monitoring.monitor_status import OtherRows
from calibstat.monitoring.period_labels import Label


class OtherRowsWatch:
    """The evidence of a monitor that was fed with the rows predicted neither 0 nor 1 alone.

    It begins with the first impossible row, before which these rows have all the evidence there is: with the run, the
    largest evidence and the alarms of all rows until then.
    """

    def __init__(self, first: Label, run: Run, largest: float, alarms: tuple[Label, ...]) -> None:
        self.first = first
        self._run = deepcopy(run)
        self._streams, self._regime = run.log_weights.size - 1, run.regime
        self._latest, self._largest = -math.inf, largest
        self._alarm_period = alarms[-1] if alarms else None

    def add(self, label: Label, log_ratios: np.ndarray, threshold: float) -> None:
        """Add a period of these log-likelihood ratios of all rows and of each segment, all of them finite."""
        self._latest = self._run.add(log_ratios)
        self._largest = max(self._largest, self._latest)
        restarts = self._regime == "run length"
        if self._latest >= math.log(threshold) and (restarts or self._alarm_period is None):
            self._alarm_period = label
            if restarts:
                self._run = Run(self._streams, self._regime, self._run.side)

    def status(self) -> OtherRows:
        """Return what there is to say of these rows."""
        is_probability = self._regime == "false alarm"
        return OtherRows(
            first_impossible=self.first,
            log_evidence=self._latest,
            pvalue=min(1.0, math.exp(-max(self._largest, 0.0))) if is_probability else None,
            alarm_period=self._alarm_period,
        )
