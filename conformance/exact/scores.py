"""Mean losses, and numbers of clinical validation."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from exact.decimals import Real, entropy_term
from exact.rows import Rows


def brier(rows: Rows) -> Fraction:
    """Return the mean squared difference of outcome and prediction."""
    return rows.mean([(y - p) ** 2 for y, p in zip(rows.y, rows.p, strict=True)])


def unc(rows: Rows) -> Fraction:
    """Return the Brier score of always predicting the mean outcome."""
    return rows.rate * (1 - rows.rate)


def scaled_brier(rows: Rows) -> Fraction:
    """Return 1 - Brier score / the one of always predicting the mean outcome."""
    return 1 - brier(rows) / unc(rows)


def log_loss(rows: Rows, clip: float | None = None) -> Decimal:
    """Return the mean negative logarithm of the probability of what was observed."""
    if clip is not None:
        low = Fraction(clip)
        rows = Rows(rows.y, [min(max(p, low), 1 - low) for p in rows.p], rows.weights)
    observed = [p if y else 1 - p for y, p in zip(rows.y, rows.p, strict=True)]
    return sum(entropy_term(w / rows.n, q) for w, q in zip(rows.weights, observed, strict=True))


def entropy(rows: Rows) -> Decimal:
    """Return the log loss of always predicting the mean outcome."""
    return entropy_term(rows.rate, rows.rate) + entropy_term(1 - rows.rate, 1 - rows.rate)


def normalized_log_loss(rows: Rows, clip: float | None = None) -> Decimal:
    """Return the log loss over the one of always predicting the mean outcome."""
    return log_loss(rows, clip) / entropy(rows)


def nagelkerke_r2(rows: Rows) -> Decimal:
    """Return (1 - exp(-2 g)) / (1 - exp(-2 h)), g the mean gain of log-likelihood over the mean outcome, h its most."""
    most = entropy(rows)
    return (1 - (-2 * (most - log_loss(rows))).exp()) / (1 - (-2 * most).exp())


def auc(rows: Rows) -> Fraction:
    """Return the share of pairs of an outcome 1 and an outcome 0 in which the former has the larger prediction."""
    ones = [(p, w) for y, p, w in zip(rows.y, rows.p, rows.weights, strict=True) if y]
    zeros = [(p, w) for y, p, w in zip(rows.y, rows.p, rows.weights, strict=True) if not y]
    above = sum(w * x * (Fraction(p > q) + Fraction(p == q) / 2) for p, w in ones for q, x in zeros)
    return above / sum(w * x for _, w in ones for _, x in zeros)


def observed_expected_ratio(rows: Rows) -> Fraction:
    """Return the mean outcome over the mean prediction."""
    return rows.rate / rows.mean(rows.p)


def net_benefit(rows: Rows, threshold: float) -> Fraction:
    """Return the share of true positives less t / (1 - t) times the share of false positives, acting from t on."""
    t = Fraction(threshold)
    gains = [(p >= t) * (y - t / (1 - t) * (1 - y)) for y, p in zip(rows.y, rows.p, strict=True)]
    return rows.mean(gains)


def regression_ce(rows: Rows, bandwidth: float = 0.25, estimator: str = "direct") -> Real:
    """Return the mean squared distance of the outcomes, smoothed by the kernel 1 - u**2, from the predictions."""
    levels, wide = rows.levels(), Fraction(bandwidth)
    found = Fraction(0)
    for at in levels:
        near = [(max(1 - ((at.value - x.value) / wide) ** 2, Fraction(0)), x) for x in levels]
        smooth = sum(k * x.ones for k, x in near) / sum(k * x.count for k, x in near)
        if estimator == "direct":
            found += at.count * (smooth - at.value) ** 2
        else:  # of the mean over rows of m**2 - v**2 - 2 v (y - v)
            found += at.count * (smooth**2 - at.value**2) - 2 * at.value * at.residual
    return found / rows.n
