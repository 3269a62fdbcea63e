"""Whether outcomes depend on features where predictions are equal: outcomes are permuted among rows that share one."""

from __future__ import annotations

import numpy as np

from calibstat import resampling
from calibstat.inference.p_values import p_value
from calibstat.resampling import Draws
from calibstat.resampling.schemes import Stream

SHARES = 2.0**26  # of the largest evidence: sums of so many of up to 10**8 rows are exact, and so are ties


def p_of_features(y: np.ndarray, p: np.ndarray, fold: np.ndarray, evidence: np.ndarray, draws: Draws) -> float:
    """Return the p-value of outcomes that do not depend on the features among rows with equal predictions.

    `evidence` is what outcome 1 says for the features in each row, in the opinion of a model that was fitted to earlier
    folds; not a number if there is none. Statement and proof: docs/evidence/proofs/features.md.
    """
    value = np.unique(p, return_inverse=True)[1]
    parts = _whole(evidence)
    tested = [k for k in range(int(fold.max()) + 1) if not np.isnan(parts[fold == k]).any()]
    return fisher([_of_fold(y, value, np.flatnonzero(fold == k), parts, draws, k) for k in tested])


def fisher(pvalues: list[float]) -> float:
    """Return the p-value of the product of p-values that are each valid given those before; 1 of none."""
    from scipy.special import gammaincc

    return float(gammaincc(len(pvalues), -np.log(pvalues).sum())) if pvalues else 1.0


def _whole(evidence: np.ndarray) -> np.ndarray:
    """Return the evidence as whole numbers of shares: equal sums are then equal to the last bit, in whatever order."""
    size = np.nanmax(np.abs(evidence), initial=0.0)
    return np.rint(evidence * (SHARES / size)) if size > 0 else evidence


def _of_fold(y: np.ndarray, value: np.ndarray, rows: np.ndarray, parts: np.ndarray, draws: Draws, fold: int) -> float:
    """Return the p-value of the evidence for rows with outcome 1, of the rows of one fold."""
    rows = rows[np.argsort(value[rows], kind="stable")]
    observed, drawn, own = 0.0, np.zeros(draws.n), draws.with_own_key(fold)
    for group, at in enumerate(np.split(rows, np.flatnonzero(np.diff(value[rows])) + 1)):
        events = int(y[at].sum())
        if 0 < events < at.size:
            few = min(events, at.size - events)
            part = own.part(group * draws.n, (group + 1) * draws.n, Stream.DESIGN)
            of_few = resampling.sums_of_subsets(parts[at][None], few, part)[:, 0]
            drawn += of_few if few == events else parts[at].sum() - of_few
            observed += float(parts[at] @ y[at])
    return p_value(observed, drawn, "greater")
