"""Guesses, rectified residuals and their moments by their formulas, row by row: slow, and without the package."""

import numpy as np


def equal_groups(p, most):
    """Groups of about equal size, equal predictions together: by the middle of the ranks of each prediction."""
    n = len(p)
    middle = [(np.count_nonzero(p < v) + np.count_nonzero(p <= v)) / 2 for v in p]
    return [min(int(m * most / n), most - 1) for m in middle]


def contrasts(p, f):
    group = np.array(equal_groups(p, 20))
    found = []
    for i in range(len(p)):
        among = f[group == group[i]]
        variance = np.mean((among - among.mean()) ** 2)
        found.append((f[i] - among.mean()) * p[i] * (1 - p[i]) / variance if variance > 1e-20 else 0.0)
    return np.array(found)


def slopes_without(left, y, p, h, labelled, group, weight, spread):
    """The slope of each of four groups from labelled rows that are not `left` out."""
    used = labelled & ~left
    common = np.sum((weight * h * (y - p))[used]) / (np.sum((weight * h**2)[used]) + spread)
    found = []
    for k in range(4):
        of = used & (group == k)
        found.append(
            (np.sum((weight * h * (y - p))[of]) + 25 * spread * common) / (np.sum((weight * h**2)[of]) + 25 * spread)
        )
    return np.array(found)


def guesses(y, p, f, labelled, unit=None, weight=None):
    """The guesses of all rows, the slopes, and the guesses if calibrated."""
    n = len(p)
    unit = np.arange(n) if unit is None else unit
    weight = np.ones(n) if weight is None else weight / np.mean(weight[labelled])
    h, group = contrasts(p, f), np.array(equal_groups(p, 4))
    spread, rows = np.mean(h**2), np.flatnonzero(labelled)
    without = {i: slopes_without(unit == unit[i], y, p, h, labelled, group, weight, spread) for i in rows}
    guess = np.empty(n)
    for i in range(n):
        if labelled[i]:
            guess[i] = np.clip(p[i] + without[i][group[i]] * h[i], 0, 1)
        else:
            guess[i] = np.mean([np.clip(p[i] + without[j][group[i]] * h[i], 0, 1) for j in rows])
    full = slopes_without(np.zeros(n, bool), y, p, h, labelled, group, weight, spread)
    fitted = sum(weight[i] * full[group[i]] * h[i] * (y[i] - p[i]) for i in rows)
    confirmed = sum(weight[i] * without[i][group[i]] * h[i] * (y[i] - p[i]) for i in rows)
    kept = min(max(confirmed / fitted, 0), 1) if fitted > 0 else 0.0
    return guess, full, np.clip(p + kept * full[group] * h, 0, 1)


def rectified(y, p, g, labelled, chance=None):
    rho = np.mean(labelled)
    scale = np.ones(len(p)) if chance is None else rho / chance
    return np.where(labelled, scale * (y - g), 0.0) + rho * (g - p)


def sum_with_moments(w, x, labelled):
    """S, its variance and its third moment, of two samples that are centred by themselves."""
    wx, m = w * x, np.count_nonzero(labelled)
    variance = np.sum(wx**2) - np.sum(wx[labelled]) ** 2 / m - np.sum(wx[~labelled]) ** 2 / (len(x) - m)
    return np.sum(wx), variance, np.sum(wx**3)


def score_reach(variance, third, z):
    """The reach of the score bound with parts of at most 1 and two unseen events."""
    k = (2 * z * z + 4) / 3
    rate = min((max(third, 0) + 2) / (variance + 2), 1.0)
    return rate * k / 2 + np.sqrt(z * z * variance + (rate * k / 2) ** 2)


def high_of_ks(x, p, labelled, z):
    """The largest bound of any sum over the rows with predictions up to a value, of either sign, over m."""
    m, bounds = np.count_nonzero(labelled), []
    for v in np.unique(p):
        for sign in (-1, 1):
            total, variance, third = sum_with_moments(sign * (p <= v), x, labelled)
            bounds.append(total + score_reach(variance, third, z))
    return max(bounds) / m
