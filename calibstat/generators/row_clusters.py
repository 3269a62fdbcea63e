"""Clusters of rows: their sizes, and which of them have outcomes or predictions that are alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibstat.data.checks import check_whole, is_among, is_whole, short
from calibstat.generators.distributions import Random

Sizes = Literal["equal", "geometric", "one_giant"] | Sequence[int] | np.ndarray
Shares = float | Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Clusters:
    """Clusters of given sizes; each has alike outcomes, and alike predictions, with its own probability."""

    size: Callable[[Random], np.ndarray]
    share: np.ndarray
    alike: np.ndarray

    def kinds(self, random: Random) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw the sizes, and of each cluster whether its outcomes, and its predictions, are alike."""
        size = self.size(random)
        together = random.random(size.size) < self.share
        return size, together, random.random(size.size) < self.alike


def find_clusters(n: int, clusters: int | None, size: Sizes, share: Shares, alike: Shares) -> Clusters | None:
    """Return the clusters that arguments of `sample` describe, None without, or raise."""
    if clusters is None and isinstance(size, str):
        given = {"size": (size, "equal"), "share": (share, 1.0), "alike": (alike, 0.0)}
        for name, (value, default) in given.items():
            if not np.array_equal(value, default):  # type: ignore[arg-type]
                raise ValueError(f"expected {name} together with clusters, found {name}={short(value)} alone")
        return None
    if isinstance(size, str):
        number = check_whole("clusters", clusters)
        if number > n:
            raise ValueError(f"expected at most as many clusters as rows, {n}, found {number}")
        if not is_among(size, CLUSTER_SIZES):
            raise ValueError(f"expected size 'equal', 'geometric', 'one_giant' or a size of each, found {short(size)}")
        drawn = CLUSTER_SIZES[size]
        return Clusters(lambda random: drawn(n, number, random), _chances("share", share, number),
                        _chances("alike", alike, number))  # fmt: skip
    sizes = _given(n, clusters, size)
    shares = _chances("share", share, sizes.size), _chances("alike", alike, sizes.size)
    return Clusters(lambda random: sizes, *shares)


def shared_uniform(random: Random, cluster: np.ndarray, together: np.ndarray) -> np.ndarray:
    """Draw a uniform number for each row, the same one for all rows of a cluster that is `together`."""
    return np.where(together[cluster], random.random(together.size)[cluster], random.random(cluster.size))


def _equal(n: int, clusters: int, random: Random) -> np.ndarray:
    return np.full(clusters, n // clusters) + (np.arange(clusters) < n % clusters)


def _geometric(n: int, clusters: int, random: Random) -> np.ndarray:
    """Draw sizes that are geometric numbers given their sum: every way to cut n rows is equally likely."""
    cut = np.sort(random.choice(n - 1, clusters - 1, replace=False, shuffle=False)) + 1
    return np.diff(cut, prepend=0, append=n)


def _one_giant(n: int, clusters: int, random: Random) -> np.ndarray:
    """Return a cluster of half of the rows, and the others of equal sizes."""
    if clusters == 1:
        return np.array([n])
    giant = min(n - clusters + 1, n - n // 2)
    return np.concatenate([[giant], _equal(n - giant, clusters - 1, random)])


CLUSTER_SIZES: dict[str, Callable[[int, int, Random], np.ndarray]] = {
    "equal": _equal,
    "geometric": _geometric,
    "one_giant": _one_giant,
}


def _given(n: int, clusters: int | None, size: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return the sizes that were given, or raise."""
    sizes = np.asarray(size)
    if sizes.ndim != 1 or not all(map(is_whole, sizes)):
        raise ValueError(f"expected size of whole numbers of at least 1, found {short(size)}")
    if sizes.sum() != n:
        raise ValueError(f"expected size with sum {n}, the number of rows, found sum {sizes.sum()}")
    if clusters is not None and clusters != sizes.size:
        raise ValueError(f"expected clusters to be {sizes.size}, as there are sizes, found {short(clusters)}")
    return sizes.astype(np.int64)


def _chances(name: str, value: Shares, clusters: int) -> np.ndarray:
    """Return a share as the probability of each cluster, or raise."""
    try:
        chance = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"expected {name} from 0 to 1, found {short(value)}") from None
    if chance.shape not in ((), (clusters,)):
        raise ValueError(f"expected {name} one number or {clusters}, one for each cluster, found {short(value)}")
    if not np.all((chance >= 0) & (chance <= 1)):
        raise ValueError(f"expected {name} from 0 to 1, found {short(value)}")
    return np.broadcast_to(chance, clusters)
