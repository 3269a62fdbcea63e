"""Samples as lists, and whether two are the same."""


def arrays(sample):
    return [a.tolist() for a in sample.arrays]


def same(a, b):
    return arrays(a) == arrays(b) and (a.kind, a.n_zero_weight) == (b.kind, b.n_zero_weight)
