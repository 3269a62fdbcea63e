"""Groups of rows that may overlap, from the columns of a data frame or from masks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import check_whole, described, is_number, need_text, refuse_lazy, short
from calibstat.data.features import levels
from calibstat.data.numbered_labels import refuse_masked

ALL = "all rows"
MOST_GROUPS = 10_000  # each takes milliseconds to test, and all share the probability of a false finding
MOST_TRIED = 10_000_000  # intersections, most of them with few rows, of which each takes microseconds to count
FIXED = {"depth": 2, "n_quantiles": 4}  # what makes groups of features, which a learner does not need
LEARNED = {"split": 0.5, "leaves": 8}  # what a learner needs alone
FRAME = "put features into a data frame, whose columns make groups: pandas.DataFrame({'group': ...})"


@dataclass(frozen=True)
class MadeGroups:
    """Named groups of n rows: all rows first, and no two the same.

    Attributes
    ----------
    names : tuple of str, length G
        What the rows of each group have in common.
    bits : ndarray of uint8, shape (G, n / 8)
        Which rows are in each, packed.
    n : int
        Rows.
    left_out : str
        What makes no group, in words; empty if there is nothing.
    """

    names: tuple[str, ...]
    bits: np.ndarray
    n: int
    left_out: str

    def masks(self, order: np.ndarray | slice = slice(None)) -> Iterator[np.ndarray]:
        """Return the mask of each group, of rows in this order."""
        for g in range(len(self.names)):
            yield self.mask(g, order)

    def mask(self, g: int, order: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return the mask of one group, of rows in this order."""
        return np.unpackbits(self.bits[g], count=self.n).view(bool)[order]

    def membership(
        self, kind: np.ndarray, number: np.ndarray | int = 1, of: np.ndarray | slice = slice(None)
    ) -> np.ndarray:
        """Return a number for each row, which rows in the same groups share, and others almost never.

        It depends on what groups hold, and not on their order: `kind` numbers what rows have in common from 0 on.
        Of sets of rows the entries of `kind`, so many rows each, are of the sets `of`. Names tell groups apart that
        hold rows of the same kinds.
        """
        held = [np.bincount(kind, number * mask).astype("<f8").tobytes() for mask in self.masks(of)]
        pattern, times = np.zeros(self.n, np.uint64), Counter[bytes]()
        for g in sorted(range(len(held)), key=lambda g: (held[g], self.names[g])):
            times[held[g]] += 1
            text = held[g] + times[held[g]].to_bytes(8, "little")
            pattern[self.mask(g)] += np.uint64(int.from_bytes(blake2b(text, digest_size=8).digest(), "little"))
        return pattern


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """Features of rows with how groups are made of them, or masks; for the argument `groups` of `audit`.

        >>> import calibstat as cs, pandas as pd
        >>> cs.Groups(pd.DataFrame({"age": [31, 64, 52], "sex": ["woman", "man", "woman"]}), depth=1)
        Groups(DataFrame of shape (3, 2), depth=1, min_rows=30, n_quantiles=4)
        >>> cs.Groups(pd.DataFrame({"age": [31, 64, 52]}), learner="tree")
        Groups(DataFrame of shape (3, 1), learner='tree', split=0.5, leaves=8, min_rows=30)

    Parameters
    ----------
    given : data frame, mapping from name to boolean array of shape (n,), or boolean array of shape (n,) or (n, G)
        Features, one row for each outcome; or masks, for which the numbers below mean nothing.
    depth : int
        How many levels may intersect, at least 1.
    min_rows : int
        Levels and intersections with fewer rows are left out; a leaf has as many of the rows that the tree sees.
    n_quantiles : int
        Number of parts into which quantiles cut a column of numbers, at least 2; fewer if quantiles coincide.
    learner : "tree", or a regressor of scikit-learn, optional
        What looks for groups with wrong predictions, in place of levels: in the features, which may then be an array of
        numbers too, and the prediction. A tree makes rules of its leaves. Of another regressor, whose `fit` has to take
        `sample_weight`, the groups are parts of equal size by what it predicts, a shift of log-odds.
    split : float, or boolean array of shape (n,)
        The share of the rows that a learner sees, drawn at random, or which rows. The groups are tested on the others.
    leaves : int
        The most groups that a learner makes, at least 2.

    Raises
    ------
    ValueError
        If a number is out of range, or nothing is given. Features are checked with the rows.
    """

    given: object
    _: KW_ONLY
    depth: int = 2
    min_rows: int = 30
    n_quantiles: int = 4
    learner: Any = None
    split: float | ArrayLike = 0.5
    leaves: int = 8

    def __post_init__(self) -> None:
        if self.given is None or isinstance(self.given, Groups):
            found = "none" if self.given is None else str(self.given)
            raise ValueError(f"expected groups, features of the rows or groups of them, found {found}")
        for name, least in (("depth", 1), ("min_rows", 1), ("n_quantiles", 2), ("leaves", 2)):
            check_whole(name, getattr(self, name), least)
        if isinstance(self.learner, str) and self.learner != "tree":
            raise ValueError(f"expected learner 'tree' or a regressor, found {short(self.learner)}")
        for name, default in {**FIXED, **LEARNED}.items():
            found, is_learnt = getattr(self, name), self.learner is not None
            if (name in FIXED) == is_learnt and not (np.ndim(found) == 0 and found == default):
                why = "beside a learner, which finds its own groups" if is_learnt else "without a learner"
                raise ValueError(f"expected no {name} {why}; found {name}={short(found)}")
        if np.ndim(self.split) == 0 and not (is_number(self.split) and 0 < self.split < 1):
            raise ValueError(
                "expected split, the share of the rows that the learner sees, between 0 and 1, or a boolean mask of "
                f"them; found {short(self.split)}"
            )

    def __repr__(self) -> str:
        made = (
            ("depth", "min_rows", "n_quantiles") if self.learner is None else ("learner", "split", "leaves", "min_rows")
        )
        said = {name: getattr(self, name) for name in made}
        said |= {"split": described(self.split)} if "split" in said and np.ndim(self.split) else {}
        return f"Groups({described(self.given)}, {', '.join(f'{name}={value!r}' for name, value in said.items())})"


def given_groups(groups: object) -> Groups:
    """Return an argument `groups` with all that may be said of groups."""
    return groups if isinstance(groups, Groups) else Groups(groups)


def as_groups(groups: Groups, n: int) -> MadeGroups:
    """Return the groups of n rows; a ValueError says what is wrong with them, and where."""
    given: Any = groups.given
    refuse_lazy("groups", given)
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):
        return _of_frame(given, n, groups.depth, groups.min_rows, groups.n_quantiles)
    return _distinct(_given(given, n), n, [])


def _of_frame(frame: Any, n: int, depth: int, min_rows: int, n_quantiles: int) -> MadeGroups:
    """Return levels of columns, then intersections of two levels of different columns, then of three and so on."""
    if not len(frame.columns):
        raise ValueError("expected a data frame with a column of features, found none")
    if len(frame) != n:
        raise ValueError(f"expected one row of groups for each outcome, found {len(frame)} rows and {n} outcomes")
    of_columns = [levels(str(name), frame[name], n_quantiles) for name in frame.columns]
    return groups_of_levels(of_columns, n, depth=depth, min_rows=min_rows, size=_size)


def groups_of_levels(
    of_columns: Sequence[tuple[Sequence[str], np.ndarray]],
    n: int,
    *,
    depth: int,
    min_rows: int,
    size: Callable[[np.ndarray], float],
) -> MadeGroups:
    """Return the levels of columns and their intersections as groups; `size` counts the rows of packed masks.

    There are at most `MOST_GROUPS` of them. Of each column there are the names of the levels, and the number of the
    level of each of n rows, or of each of n sets of rows.
    """
    columns, few = [], [0, 0]  # levels, and intersections, with few rows
    for names, code in of_columns:
        made_of = ((name, np.packbits(code == k)) for k, name in enumerate(names))
        columns.append([each for each in made_of if size(each[1]) >= min_rows])
        few[0] += len(names) - len(columns[-1])
    tried = _number_of_groups([len(column) for column in columns], depth)
    fewer = f"expected at most {MOST_GROUPS:,} groups, found up to {tried:,} of {len(columns):,} columns; fewer columns"
    fewer += ", depth=1 or a smaller n_quantiles make fewer" if depth > 1 else " or a smaller n_quantiles make fewer"
    parents = [(level, bits, c + 1) for c, column in enumerate(columns) for level, bits in column]
    made = [parent[:2] for parent in parents]
    if len(made) > MOST_GROUPS or tried > MOST_TRIED:
        raise ValueError(fewer)
    for _ in range(1, depth):
        children: list[tuple[str, np.ndarray, int]] = []
        for name, bits, after in parents:
            for c in range(after, len(columns)):
                for level, of_level in columns[c]:
                    both = bits & of_level
                    rows = size(both)
                    if rows >= min_rows:
                        if len(made) + len(children) == MOST_GROUPS:
                            raise ValueError(fewer)
                        children.append((f"{name} and {level}", both, c + 1))
                    few[1] += 0 < rows < min_rows
        made += [child[:2] for child in children]
        parents = children
    kinds = [f"{k:,} {kind}{'s' * (k > 1)}" for k, kind in zip(few, ("level", "intersection"), strict=True) if k]
    return _distinct(made, n, [f"{' and '.join(kinds)} of fewer than {min_rows} rows"] if kinds else [])


def _number_of_groups(levels: Sequence[int], depth: int) -> int:
    """Return how many groups so many levels of each column make with all of their intersections up to a depth."""
    deepest = min(depth, len(levels))
    of_depth = [1] + [0] * deepest
    for k in levels:
        for d in range(deepest, 0, -1):
            of_depth[d] += k * of_depth[d - 1]
    return sum(of_depth[1:])


def _given(groups: ArrayLike | Mapping[str, ArrayLike], n: int) -> list[tuple[str, np.ndarray]]:
    """Return masks that are given, packed."""
    if isinstance(groups, Mapping):
        masks = {str(name): _mask(f"group {short(name)}", mask) for name, mask in groups.items()}
        if len(masks) < len(groups):
            raise ValueError(f"expected different names of groups, found {short(list(groups))}")
    else:
        array = _mask("groups", groups)
        if array.ndim not in (1, 2) or array.dtype != bool:
            raise ValueError(f"expected groups, boolean masks of shape (n,) or (n, G), found {_what(array)}; {FRAME}")
        masks = {f"group {g}": mask for g, mask in enumerate(np.atleast_2d(np.ascontiguousarray(array.T)))}
    need_text("names of groups", masks)
    if not masks:
        raise ValueError("expected one group or more, found none")
    if len(masks) > MOST_GROUPS:
        raise ValueError(f"expected at most {MOST_GROUPS:,} groups, found {len(masks):,} masks; give fewer of them")
    for name, mask in masks.items():
        if mask.dtype != bool or mask.ndim != 1:
            raise ValueError(f"expected a boolean mask of group {short(name)}, found {_what(mask)}; {FRAME}")
        if mask.size != n:
            raise ValueError(f"expected {n} rows in the mask of group {short(name)}, found {mask.size}")
        if not mask.any():
            raise ValueError(f"expected a row or more in group {short(name)}, found none")
        if name == ALL and not mask.all():
            raise ValueError(f"expected another name than {ALL!r}, which is the group of all rows, found it in groups")
    return [(name, np.packbits(mask)) for name, mask in masks.items()]


def _mask(name: str, given: ArrayLike) -> np.ndarray:
    """Return a mask as an array; raise if an entry is masked itself, or a list of another length than others."""
    refuse_masked(name, given)
    try:
        return np.asarray(given)
    except (TypeError, ValueError):
        found = described(given)
        raise ValueError(f"expected a boolean mask of {name}, found {found} with entries of different shapes") from None


def _what(array: np.ndarray) -> str:
    return f"{array.dtype} of shape {array.shape}"


def _size(bits: np.ndarray) -> int:
    return int(np.bitwise_count(bits).sum(dtype=np.int64))


def _distinct(made: list[tuple[str, np.ndarray]], n: int, left_out: list[str]) -> MadeGroups:
    """Return all rows and these groups; of those with the same rows only the first."""
    name_of = {np.packbits(np.ones(n, bool)).tobytes(): ALL}
    for name, bits in made:
        name_of.setdefault(bits.tobytes(), name)
    same = 1 + len(made) - len(name_of)
    if same:
        left_out = [*left_out, f"{same:,} with the same rows as another group"]
    bits = np.frombuffer(b"".join(name_of), np.uint8).reshape(len(name_of), -1)
    return MadeGroups(tuple(name_of.values()), bits, n, "; ".join(left_out))


GivenGroups: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | Groups  # a frame, masks by name, an array of masks
