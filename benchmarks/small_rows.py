"""Small seeded rows, binary and of several classes, each with the predictions of two models."""

import numpy as np

N = 240
KINDS = ("plain", "weights", "clusters", "both")
Rows = tuple[np.ndarray, np.ndarray]  # outcomes, shape (n,), and the predictions of two models, (2, n) or (2, n, K)


def _sharper(p: np.ndarray, power: float) -> np.ndarray:
    return p**power / (p**power + (1 - p) ** power)


def events() -> dict[str, Rows]:
    """Return sets of binary rows.

    They are over-confident with ties, the same in another order, nearly calibrated without ties, of a rare event, and
    nearer to the predictions than chance allows.
    """
    random = np.random.default_rng(1)
    chance = random.uniform(0.05, 0.95, N)
    tied = np.round([_sharper(chance, 3), _sharper(random.uniform(0.2, 0.8, N), 1.5)], 2)
    smooth = np.array([_sharper(chance, 1.2), chance**1.5])
    rare = np.array([0.02 + 0.1 * chance**4, 0.12 * chance])
    y, z, few = (random.random(N) < np.array([chance, smooth[0], 1.5 * rare[0]])).astype(np.int64)
    order = random.permutation(N)
    lucky = np.empty(N, np.int64)
    ascending = np.argsort(smooth[0])
    lucky[ascending] = np.diff(np.floor(smooth[0][ascending].cumsum() + 0.5), prepend=0)
    return {
        "tied": (y, tied),
        "shuffled": (y[order], tied[:, order]),
        "continuous": (z, smooth),
        "rare": (few, rare),
        "lucky": (lucky, smooth),
    }


def many_rows() -> Rows:
    """Return so many binary rows that sums are made in several blocks, nearly calibrated."""
    random = np.random.default_rng(4)
    p = random.random(5000)
    return (random.random(p.size) < p).astype(np.int64), np.array([_sharper(p, 1.1), np.round(p**1.2, 2)])


def classes() -> dict[str, Rows]:
    """Return sets of rows of three classes: over-confident, and nearer to the predictions than chance allows."""
    random = np.random.default_rng(2)
    chance = random.dirichlet((1.0, 1.0, 1.5), N)
    label = _labels(random.random(N), chance)
    prob = np.array([chance**2.5, np.exp(random.normal(0, 1, (N, 3))) * chance])
    prob /= prob.sum(axis=-1, keepdims=True)
    regular = np.empty(N)
    regular[np.argsort(chance[:, 0])] = np.arange(N) * (np.sqrt(5) - 1) / 2 % 1  # spread more evenly than chance
    return {"over-confident": (label, prob), "lucky": (_labels(regular, chance), np.array([chance, prob[1]]))}


def many_classes() -> Rows:
    """Return rows of 20 classes, over-confident."""
    random = np.random.default_rng(5)
    chance = random.dirichlet(np.ones(20), 600)
    prob = chance ** np.array([2.0, 1.0])[:, None, None]
    return _labels(random.random(600), chance), prob / prob.sum(axis=-1, keepdims=True)


def _labels(uniform: np.ndarray, prob: np.ndarray) -> np.ndarray:
    return (uniform[:, None] > prob.cumsum(axis=1)[:, :-1]).sum(axis=1)


def rows_of(kind: str, n: int = N) -> dict[str, np.ndarray]:
    """Return the arguments that say what n rows are: the weights of rows, the cluster of each, none or both."""
    random = np.random.default_rng(3)
    weight = np.round(random.gamma(2.0, 1.0, n), 3)
    weight[:2] = 0.0
    cluster = random.integers(0, n // 4, n)
    given = {"sample_weight": weight} if kind in ("weights", "both") else {}
    return given | ({"cluster": cluster} if kind in ("clusters", "both") else {})
