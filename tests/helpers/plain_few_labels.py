"""Guesses, rectified residuals and their moments by their formulas, row by row: slow, and without the package."""

import numpy as np


def equal_groups(p, most):
    """Groups of about equal size, equal predictions together: by the middle of the ranks of each prediction."""
    n = len(p)
    middle = [(np.count_nonzero(p < v) + np.count_nonzero(p <= v)) / 2 for v in p]
    return [min(int(m * most / n), most - 1) for m in middle]


def centred(p, f):
    """Answers less their least squares line in p among like predictions, with the variance of what is left there."""
    fine = np.array(equal_groups(p, 20))
    d, variance = np.zeros(len(p)), np.zeros(len(p))
    for k in range(20):
        of = fine == k
        if of.any():
            line = np.polyfit(p[of], f[of], 1 if np.var(p[of]) > 1e-20 else 0)
            d[of] = f[of] - np.polyval(line, p[of])
            variance[of] = np.mean(d[of] ** 2)
    return d, variance


def contrasts(p, f):
    """Centred answers, and these times v (1 - v) over their variance; each with a mean square of 1."""
    d, variance = centred(p, f)
    found = np.zeros((len(p), 2))
    for i in range(len(p)):
        if variance[i] > 1e-20:
            found[i] = d[i], d[i] * p[i] * (1 - p[i]) / variance[i]
    for k in range(2):
        size = np.mean(found[:, k] ** 2) ** 0.5
        found[:, k] = found[:, k] / size if size > 0 else 0.0
    return found


def ridge(x, r, weight, pull, towards):
    """The slopes b with the least sum of weight * (r - x b)**2 + pull * |b - towards|**2, by stacked least squares."""
    root = np.sqrt(weight)
    rows = np.vstack([root[:, None] * x, np.sqrt(pull) * np.eye(2)])
    return np.linalg.lstsq(rows, np.concatenate([root * r, np.sqrt(pull) * towards]), rcond=None)[0]


def slopes_without(left, y, p, x, labelled, group, weight):
    """The two slopes of each of four groups from labelled rows that are not `left` out."""
    used = labelled & ~left
    common = ridge(x[used], (y - p)[used], weight[used], 1.0, np.zeros(2))
    of = [used & (group == k) for k in range(4)]
    return np.array([ridge(x[each], (y - p)[each], weight[each], 25.0, common) for each in of])


def between_0_and_1(number):
    """The number, cut at 0 and 1: np.clip takes ten times as long."""
    return min(max(number, 0.0), 1.0)


def guesses(y, p, f, labelled, unit=None, weight=None):
    """The guesses of all rows, the slopes on answers, and the guesses if calibrated."""
    n = len(p)
    unit = np.arange(n) if unit is None else unit
    weight = np.ones(n) if weight is None else weight / np.mean(weight[labelled])
    x, group = contrasts(p, f), np.array(equal_groups(p, 4))
    rows = np.flatnonzero(labelled)
    without = {i: slopes_without(unit == unit[i], y, p, x, labelled, group, weight) for i in rows}
    guess = np.empty(n)
    for i in range(n):
        if labelled[i]:
            guess[i] = between_0_and_1(p[i] + without[i][group[i]] @ x[i])
        else:
            guess[i] = np.mean([between_0_and_1(p[i] + without[j][group[i]] @ x[i]) for j in rows])
    full = slopes_without(np.zeros(n, bool), y, p, x, labelled, group, weight)
    move = np.array([full[group[i]] @ x[i] for i in range(n)])
    fitted = sum(weight[i] * move[i] * (y[i] - p[i]) for i in rows)
    confirmed = sum(weight[i] * (without[i][group[i]] @ x[i]) * (y[i] - p[i]) for i in rows)
    kept = min(max(confirmed / fitted, 0), 1) if fitted > 0 else 0.0
    return guess, slopes_on_answers(move, p, f, group), np.clip(p + kept * move, 0, 1)


def slopes_on_answers(move, p, f, group):
    """The least squares slope of what guesses add on centred answers, in each of four groups; 0 if these are alike."""
    d, variance = centred(p, f)
    d = np.where(variance > 1e-20, d, 0.0)
    return np.array([np.sum((move * d)[group == k]) / max(np.sum((d**2)[group == k]), 1e-300) for k in range(4)])


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
            hidden, share = 0.0, np.clip((0.6 - p) / 0.2, 0, 1)
            for of in (labelled, ~labelled):  # rare events and rare non-events apart, in each sample
                cubes = (x**3)[of & (p <= v)]
                one, other = cubes @ share[of & (p <= v)], cubes @ (1 - share[of & (p <= v)])
                hidden += min(abs(one), abs(other)) if one * other < 0 else 0.0
            bounds.append(total + score_reach(variance, max(third, 0) + hidden, z))
    return max(bounds) / m
