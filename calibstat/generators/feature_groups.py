"""Generators of rows with categorical features, whose predictions are wrong in known groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.data.checks import quoted
from calibstat.generators.composed import distorted, groups
from calibstat.generators.distortion import Distortion
from calibstat.generators.distributions import Points, Random, Seed
from calibstat.generators.generator import Generator, Rows
from calibstat.generators.generator_table import register
from calibstat.generators.population import Part
from calibstat.generators.simulator import drawing

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["features"]

Condition = Mapping[str, Any]
ARGUMENTS = {field.name for field in fields(Distortion)}
Pattern = tuple[bool, ...]  # which conditions a row satisfies


@register
@dataclass(frozen=True, repr=False)
class features(Generator):
    """Rows of another generator with independent categorical features, and wrong predictions in known groups.

        >>> from calibstat import generators
        >>> sites = {"sex": {"f": 0.6, "m": 0.4}, "site": 3}
        >>> too_low = {"sex": "f", "site": 2}, {"shift": -0.8}
        >>> patients = generators.features(generators.calibrated([0.2, 0.5]), sites, [too_low])
        >>> rows, y, p, chance = patients.sample_rows(4, rng=1)
        >>> print(rows.assign(y=y, p=p.round(3), chance=chance))
          sex site  y      p  chance
        0   f    0  0  0.500     0.5
        1   m    1  0  0.200     0.2
        2   f    2  0  0.101     0.2
        3   m    1  0  0.500     0.5
        >>> round(patients.error({"sex": "f", "site": 2}), 4), round(patients.error({"sex": "f"}), 4)
        (0.1445, 0.0482)

    The features depend neither on each other nor on the score: the errors of a group are the generator's errors, and
    the ones that `errors` put there.

    Parameters
    ----------
    generator : Generator
        The generator of scores and outcomes. Its score determines the true probability: not a mixture of groups.
    levels : mapping from feature to mapping or int
        The levels of each feature with their probabilities, or a whole number k for equally likely levels 0 to k - 1.
    errors : sequence of (condition, distortion)
        A condition maps one feature or several to a level of each; a distortion is a mapping with arguments
        `temperature`, `shift` and `s_shape` as of `distorted`. Predictions of rows that satisfy the condition are
        distorted, one distortion after the other if a row satisfies several.

    Raises
    ------
    ValueError
        If there is no feature, probabilities are not positive or do not sum to 1, a condition names a feature or level
        that there is not, a distortion is out of range, or the generator is a mixture.
    """

    generator: Generator
    levels: Mapping[str, int | Mapping[Any, float]]
    errors: Sequence[tuple[Condition, Mapping[str, float]]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", dict(self.levels))
        object.__setattr__(self, "errors", tuple((dict(group), dict(error)) for group, error in self.errors))
        if not self.levels:
            raise ValueError("expected at least one feature, found none")
        for group, error in self.errors:
            self._check(group)
            if not error.keys() <= ARGUMENTS:
                raise ValueError(f"expected a distortion by {', '.join(sorted(ARGUMENTS))}, found {error}")
        if not isinstance(self.generator, Generator):
            raise ValueError(f"expected a generator, found {self.generator!r}")
        if len(self.generator._parts(())) > 1:
            raise ValueError(f"expected a generator other than a mixture of groups, found {self.generator}")
        _ = self._members

    def sample_rows(self, n: int, rng: Seed = None) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
        """Draw the rows of `sample` together with their features and true probabilities.

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        rng : None, int, SeedSequence or Generator
            As for `numpy.random.default_rng`.

        Returns
        -------
        features : pandas.DataFrame
            A categorical column for each feature, n rows.
        y : ndarray of int64, shape (n,)
            Outcomes, 0 or 1.
        p : ndarray of float64, shape (n,)
            Predicted probabilities of outcome 1.
        chance : ndarray of float64, shape (n,)
            The true probability of outcome 1 of each row.

        Raises
        ------
        ValueError
            If `n` is not a whole number of at least 1.
        """
        import pandas as pd

        level, (x, y, p) = self._drawn(*drawing(n, rng), ())
        named = zip(self._shares.items(), level, strict=True)
        columns = {name: pd.Categorical.from_codes(codes, pd.Index(list(shares))) for (name, shares), codes in named}
        (part,) = self.generator._parts(())
        return pd.DataFrame(columns), y.astype(np.int64), p, part.chance(x)

    def error(self, condition: Condition) -> float:
        """Return the mean true probability less the mean prediction, in the group of rows that satisfy a condition.

        Parameters
        ----------
        condition : mapping from feature to level
            As in `errors`; an empty one is satisfied by all rows.

        Raises
        ------
        ValueError
            If it names a feature or a level that there is not.

        Notes
        -----
        A sum over finitely many scores, else the integral of `Generator.truth`.
        """
        self._check(condition)
        shares = self._patterns([*(group for group, _ in self.errors), condition])
        inside = {pattern[:-1]: share for pattern, share in shares.items() if pattern[-1]}
        gap = sum(share * _gap(self._members[pattern][1]) for pattern, share in inside.items())
        return gap / sum(inside.values())

    @cached_property
    def _shares(self) -> dict[str, dict[Any, float]]:
        """The probability of each level of each feature."""
        return {str(name): _level_shares(name, given) for name, given in self.levels.items()}

    @cached_property
    def _members(self) -> dict[Pattern, tuple[float, Generator]]:
        """The probability of each pattern of errors and the generator of its rows."""
        members = {}
        for pattern, share in self._patterns([group for group, _ in self.errors]).items():
            family = self.generator
            for (_, error), applies in zip(self.errors, pattern, strict=True):
                family = distorted(family, **error) if applies else family
            members[pattern] = (share, family)
        return members

    def _check(self, condition: Condition) -> None:
        for name, level in condition.items():
            if name not in self._shares:
                raise ValueError(f"expected a condition on features {quoted(self._shares)}, found {name!r}")
            if level not in self._shares[name]:
                raise ValueError(f"expected a level of {name!r} among {list(self._shares[name])}, found {level!r}")

    def _patterns(self, conditions: Sequence[Condition]) -> dict[Pattern, float]:
        """Return the patterns that occur, with their probabilities, by going through the features one by one."""
        probabilities = {(True,) * len(conditions): 1.0}
        for name, shares in self._shares.items():
            if not any(name in condition for condition in conditions):
                continue
            following: defaultdict[Pattern, float] = defaultdict(float)
            for pattern, probability in probabilities.items():
                for level, share in shares.items():
                    fits = [condition.get(name, level) == level for condition in conditions]
                    following[tuple(np.logical_and(pattern, fits).tolist())] += probability * share
            probabilities = following
        return probabilities

    def _drawn(self, n: int, random: Random, distortions: Sequence[Distortion]) -> tuple[list[np.ndarray], Rows]:
        """Draw the numbers of the levels, an array for each feature, and the rows."""
        levels = {name: _points(shares).draw(n, random) for name, shares in self._shares.items()}
        satisfied = np.ones((n, len(self.errors)), bool)
        for fits, (group, _) in zip(satisfied.T, self.errors, strict=True):
            for name, level in group.items():
                fits &= levels[name] == list(self._shares[name]).index(level)
        place, drawn = [], []
        for pattern, (_, family) in self._members.items():
            (rows,) = np.nonzero((satisfied == pattern).all(axis=1))
            if rows.size:
                place.append(rows)
                drawn.append(family._rows(rows.size, random, distortions))
        order = np.argsort(np.concatenate(place))
        x, y, p = (np.concatenate(column)[order] for column in zip(*drawn, strict=True))
        return list(levels.values()), (x, y, p)

    def _rows(self, n: int, random: Random, distortions: Sequence[Distortion]) -> Rows:
        return self._drawn(n, random, distortions)[1]

    def _parts(self, distortions: Sequence[Distortion]) -> list[Part]:
        members = groups({str(pattern): member for pattern, member in self._members.items()})
        return [replace(part, group=None) for part in members._parts(distortions)]  # the covariate is the score


def _level_shares(name: str, given: int | Mapping[Any, float]) -> dict[Any, float]:
    """Return the probability of each level of a feature."""
    if not isinstance(given, Mapping):
        if isinstance(given, bool) or given != int(given) or given < 1:
            raise ValueError(f"expected a mapping or a number of at least 1 of levels of {name!r}, found {given!r}")
        return dict.fromkeys(range(int(given)), 1 / given)
    shares = {level: float(share) for level, share in given.items()}
    if not (shares and min(shares.values()) > 0 and abs(sum(shares.values()) - 1) < 1e-9):
        raise ValueError(f"expected positive probabilities of levels of {name!r} that sum to 1, found {shares}")
    return shares


def _points(shares: Mapping[Any, float]) -> Points:
    return Points(np.arange(len(shares)), np.array(list(shares.values())))


def _gap(family: Generator) -> float:
    """Return the mean true probability less the mean prediction of a generator of one part."""
    (part,) = family._parts(())
    t, weight = part.nodes()
    return float(weight @ (part.chance(t) - part.predict(t)) / weight.sum())
