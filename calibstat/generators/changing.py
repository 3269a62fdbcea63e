"""Streams of periods whose rows come from one generator up to a change of known date, and from another after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calibstat.data.checks import check_whole, short
from calibstat.generators.generator import Generator, Rows
from calibstat.generators.generator_table import register
from calibstat.resampling.rng import Rng
from calibstat.resampling.streams import key_of

__all__ = ["stream"]

Source = Generator | Callable[[int], Generator]
Volume = int | Sequence[int] | Callable[[int], int]


@register
@dataclass(frozen=True)
class stream:
    """Periods 1, 2, ... of rows: from one generator up to a change of known date, and from another after it.

        >>> from calibstat import generators
        >>> calibrated, wrong = generators.calibrated(), generators.shift(0.4)
        >>> model = generators.stream(calibrated, wrong, change=101, rows=200)
        >>> [float(round(model.generator(period).truth("ece", n_bins=None), 4)) for period in (100, 101)]
        [0.0, 0.0663]
        >>> for period, y, p in model.periods(100, 101, rng=1):
        ...     print(period, y.size, p.mean().round(3), y.mean())
        100 200 0.496 0.455
        101 200 0.556 0.49

        Predictions and volumes that drift while the model stays calibrated:

        >>> from scipy.stats import beta
        >>> rows = lambda day: 100 + day
        >>> drifting = generators.stream(lambda day: generators.calibrated(beta(1, 1 + day)), rows=rows)
        >>> [(day, y.size) for day, y, p in drifting.periods(1, 3, rng=1)]
        [(1, 101), (2, 102), (3, 103)]

        One bad segment of two, and the segment of each row:

        >>> half = (0.5, calibrated)
        >>> two = generators.groups({"new": half, "old": half})
        >>> one_bad = generators.groups({"new": (0.5, generators.shift(-1.2)), "old": half})
        >>> model = generators.stream(two, one_bad, change=3, rows=1000)
        >>> for day, y, p, segment in model.segments(2, 3, rng=1):
        ...     print(day, *((y - p)[segment == name].mean().round(2) for name in ("new", "old")))
        2 -0.01 0.01
        3 0.19 -0.02

    Rows are independent. The kind of the change is the generator of the rows after it: `temperature`, `shift`,
    `prevalence`, or `groups` of which one has become wrong.

    Parameters
    ----------
    before : Generator or callable
        The generator of every period before the change, or a function from the period to its generator, for
        predictions that drift. It is binary.
    after : Generator or callable, optional
        The same from the change on; by default nothing changes.
    change : int, optional
        The first period of `after`, at least 1.
    rows : int, sequence of int, or callable
        Number of rows of each period, at least 1; or one for each period, in order; or a function of the period.

    Raises
    ------
    ValueError
        If an argument is of another kind, or only one of `after` and `change` is given.
    """

    before: Source
    after: Source | None = None
    change: int | None = None
    rows: Volume = 200

    def __post_init__(self) -> None:
        for name in ("before", "after"):
            given = getattr(self, name)
            if not (isinstance(given, Generator) or callable(given) or (given is None and name == "after")):
                raise ValueError(f"expected {name} to be a generator or a function of the period, found {short(given)}")
        if (self.after is None) != (self.change is None):
            raise ValueError(
                f"expected after and change, or neither, found after={short(self.after)} and change={self.change!r}"
            )
        if self.change is not None:
            check_whole("change", self.change)
        if isinstance(self.rows, Sequence | np.ndarray) and not isinstance(self.rows, str):
            for period, n in enumerate(self.rows, 1):
                check_whole(f"rows of period {period}", n)
            object.__setattr__(self, "rows", tuple(map(int, self.rows)))
        elif not callable(self.rows):
            check_whole("rows", self.rows)

    def generator(self, period: int) -> Generator:
        """Return the generator of a period.

        Parameters
        ----------
        period : int
            At least 1.

        Returns
        -------
        Generator
            With its `truth`, `curve` and `is_calibrated`.

        Raises
        ------
        ValueError
            If the period is not a whole number of at least 1, or a function of the period returns no generator.
        """
        check_whole("period", period)
        source = self.before if self.after is None or self.change is None or period < self.change else self.after
        current = source if isinstance(source, Generator) else source(period)
        if not isinstance(current, Generator):
            raise ValueError(f"expected a generator of period {period}, found {short(current)}")
        return current

    def size(self, period: int) -> int:
        """Return the number of rows of a period.

        Parameters
        ----------
        period : int
            At least 1.

        Returns
        -------
        int
            At least 1.

        Raises
        ------
        ValueError
            If the period is not a whole number of at least 1, there is no number for it, or that is below 1.
        """
        check_whole("period", period)
        if isinstance(self.rows, int | np.integer):
            return int(self.rows)
        if callable(self.rows):
            n = self.rows(period)
            check_whole(f"rows of period {period}", n)
            return int(n)
        if period > len(self.rows):
            raise ValueError(f"expected rows of period {period}, found rows of {len(self.rows)} periods")
        return int(self.rows[period - 1])

    def periods(self, first: int, last: int, rng: Rng = None) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Draw periods one by one.

        Parameters
        ----------
        first, last : int
            The periods, both included.
        rng : None, int, SeedSequence or Generator
            As for `numpy.random.default_rng`. The rows of a period are a function of it, of the period, and of the
            generator and number of rows of the period: neither of `first` and `last` nor of other periods. So streams
            that differ only in their change are the same before it.

        Yields
        ------
        period : int
        y : ndarray of int64, shape (rows,)
            Outcomes, 0 or 1.
        p : ndarray of float64, shape (rows,)
            Predicted probabilities of outcome 1.

        Raises
        ------
        ValueError
            If the periods are not whole numbers of at least 1 in order.
        """
        return ((period, y, p) for period, (_, y, p) in self._drawn(first, last, rng))

    def segments(
        self, first: int, last: int, rng: Rng = None
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        """Draw the rows of `periods`, each with its segment.

        Parameters
        ----------
        first, last, rng
            As for `periods`.

        Yields
        ------
        period, y, p
            As in `periods`.
        segment : ndarray, shape (rows,)
            The name of its group for `groups`; in general what `sample_covariates` returns.

        Raises
        ------
        ValueError
            As `periods`.
        """
        return ((period, y, p, x) for period, (x, y, p) in self._drawn(first, last, rng))

    def _drawn(self, first: int, last: int, rng: Rng) -> Iterator[tuple[int, Rows]]:
        check_whole("first", first)
        check_whole("last", last, first)
        key = int(key_of(rng))
        return (
            (period, self.generator(period).sample_covariates(self.size(period), (key, period)))
            for period in range(first, last + 1)
        )
