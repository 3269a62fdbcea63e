"""Power: how often a test would reject calibration if an alternative were true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from calibstat.bounds.curves.monotone_limits import lower_limit
from calibstat.data.checks import check_level, check_whole, options_of
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.digits import settled
from calibstat.inference.power.alternatives import Alternative, GivenAlternative, as_alternative
from calibstat.inference.power.detectable_effect import DEFAULT_MEASURE
from calibstat.inference.power.fixed_tests import FixedTest
from calibstat.measures.measure_options import MeasureOptions
from calibstat.output.wording import level_text
from calibstat.planning.future_rows import FuturePredictions, FutureRows, check_rows, future_rows, is_generator
from calibstat.planning.test_names import AnyTest, check_options, fixed_test
from calibstat.resampling import Draws, planned_key
from calibstat.resampling.rng import Rng
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd

LIMIT_LEVEL = 0.95  # of the limits of a simulated power
FIRST_SETS = 10
RESAMPLES = 1999


@dataclass(frozen=True, eq=False)
class Power(Result):
    """Power of one test against one alternative.

    Attributes
    ----------
    power : float
        The share of data sets in which calibration is rejected.
    low, high : float
        95 % limits for the noise of the simulation: Clopper and Pearson's; of several sets of rows the wider of these
        and Student's over the sets.
    n : int
        Rows of a data set.
    n_datasets, n_sets : int
        Data sets, and the sets of rows among them; 1 if the predictions are fixed.
    alternative : str
        The alternative in words.
    ece : float
        Its size: the mean of abs(q - v) over the predictions v with their true probabilities q, or half its sum over
        K classes.
    test : str
        The test.
    lens : NamedLens
        The outcome whose probability was predicted.
    level : float
        The p-value up to which the test rejects.
    no_result : float
        The share of data sets on which the test has no result, such as separated outcomes; they count as not rejected.
    """

    power: float
    low: float
    high: float
    n: int
    n_datasets: int
    n_sets: int
    alternative: str
    ece: float
    test: str
    lens: NamedLens
    level: float
    no_result: float = 0.0

    def __str__(self) -> str:
        rows = "these predictions" if self.n_sets == 1 else f"{self.n_sets} sets of rows"
        nothing = (
            f" The test had no result in {settled(100 * self.no_result):.2g} % of the data sets."
            if self.no_result
            else ""
        )
        return (
            f"The power against {self.alternative} (ECE {settled(self.ece):.2g}){self.lens.with_comma} with "
            f"n = {self.n} is {settled(100 * self.power):.3g} % (from {settled(100 * self.low):.3g} % to "
            f"{settled(100 * self.high):.3g} %).\nTest: {self.test} at level {level_text(self.level)}, on "
            f"{self.n_datasets} data sets with {rows}.{nothing}"
        )


@dataclass(frozen=True, eq=False)
class PowerCurve(Result):
    """Power of one test against one alternative for several numbers of rows.

    Attributes
    ----------
    points : tuple of Power
        One for each number of rows, ascending.
    """

    points: tuple[Power, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each number of rows."""
        import pandas as pd

        return pd.DataFrame([point.to_dict() for point in self.points])

    def __str__(self) -> str:
        first = self.points[0]
        lines = [
            f"Power of the {first.test} test at level {level_text(first.level)} against {first.alternative} "
            f"(ECE {settled(first.ece):.2g}){first.lens.with_comma}:",
            f"{'n':>9}  {'power':>7}  95 % limits",
        ]
        lines += [
            f"{each.n:9d}  {settled(100 * each.power):5.1f} %  {settled(100 * each.low):.1f} % to "
            f"{settled(100 * each.high):.1f} %"
            for each in self.points
        ]
        return "\n".join(lines)


if TYPE_CHECKING:

    class PowerOrCurve(Power, PowerCurve):
        """To type checkers both: which of the two a result is depends on `n`."""

else:
    PowerOrCurve = Power | PowerCurve


def power(
    p: FuturePredictions,
    alternative: GivenAlternative = None,
    n: int | Sequence[int] | None = None,
    *,
    test: AnyTest = DEFAULT_MEASURE,
    lens: AnyLens = None,
    level: float = 0.05,
    n_datasets: int = 1000,
    n_sets: int = FIRST_SETS,
    n_resamples: int = RESAMPLES,
    rng: Rng = None,
    n_jobs: int = 1,
    **options: Unpack[MeasureOptions],
) -> PowerOrCurve:
    """Return how often a test rejects calibration at a level if an alternative is true.

        >>> import calibstat as cs
        >>> import numpy as np
        >>> p = np.linspace(0.05, 0.95, 500)
        >>> result = cs.power(p, "temperature=1.5", test="ks", rng=1)
        >>> result.low < result.power < result.high
        True

    Parameters
    ----------
    p : array_like of shape (n,) or (n, K), Sample, Predictions or generator
        The predictions, or a pilot of them; outcomes in a `Sample` or in `Predictions` are not looked at. With a
        generator of `calibstat.generators`, `n` is needed.
    alternative : str, mapping, generator, callable or array_like
        What is true: ``"temperature=1.4"`` or ``{"temperature": 1.4, "shift": 0.3}``, by which the logit of the true
        probability is the prediction's logit divided by the temperature plus the shift (a shift above 0: events more
        frequent than predicted; `generators.shift` moves the predictions, so its sign is the opposite one; of more than
        two classes there is none); a generator, whose calibration curve it is; a function of the predictions as the
        lens shows them, shape (m,) or (n, K), that returns the true probabilities; or these themselves, one for each
        row of `p` (rows with the same prediction get the mean of theirs) or each distinct prediction of a `Sample`.
        Default: for a generator itself.
    n : int or sequence of int, optional
        Rows of a data set. None: the given predictions, fixed. A number: rows drawn with replacement from the pilot, or
        from the generator, anew in each of `n_sets` sets of rows. A sequence: a curve.
    test : str, measure, function
        A measure, the exact `calibration_test`; a classical test by its function or name: "cox" (its joint test),
        "spiegelhalter", "hosmer_lemeshow", "t_cal", "kolmogorov_smirnov", "kuiper_limit", "calibration_belt" or
        "kernel_calibration_test"; or a function of a `Sample` (of `Predictions` for lens "canonical") that returns a
        p-value or a result with one.
    lens : str or Lens, optional
        As for `calibration_test`; "class_wise" is the test by the mean over the classes.
    level : float
        The p-value up to which the test rejects.
    n_datasets : int
        Data sets, shared among the sets of rows.
    n_sets : int
        Sets of rows, if `n` is given.
    n_resamples : int
        Draws under calibration for each set of rows, of a test that draws.
    rng, n_jobs, **options
        As for `calibration_test`.

    Returns
    -------
    Power or PowerCurve
        The latter for several `n`. Nothing depends on observed outcomes.

    Raises
    ------
    ValueError
        If predictions, alternative or an argument are not as described, or the test has a result on no data set.
    """
    check_level("level", level)
    check_whole("n_datasets", n_datasets)
    check_whole("n_sets", n_sets)
    draws = Draws.of(rng, n_resamples, n_jobs)
    with options_of(power, options):
        check_options(test, options)
    asked: dict[str, Any] = {"test": test, "lens": lens, "options": options}
    if n is None:
        if is_generator(p):
            raise ValueError("expected n, the number of rows of a data set, for a generator; found None")
        fixed = fixed_test(p, draws=draws, **asked)
        return cast("PowerOrCurve", power_with(fixed, as_alternative(alternative), n_datasets, level))
    rows = future_rows(p, alternative)
    if np.ndim(n) == 0:
        return cast("PowerOrCurve", power_at(rows, check_rows(n), draws, asked, n_datasets, n_sets, level))
    points = tuple(power_at(rows, each, draws, asked, n_datasets, n_sets, level) for each in _numbers(n))
    return cast("PowerOrCurve", PowerCurve(points))


def _numbers(n: int | Sequence[int]) -> list[int]:
    """Return several numbers of rows, ascending."""
    numbers = sorted({check_rows(each) for each in np.asarray(n).ravel().tolist()})
    if not numbers:
        raise ValueError("expected at least one number of rows, found none")
    return numbers


def power_of_fixed(
    p: FuturePredictions,
    alternatives: Mapping[str, Any] | Iterable[Any],
    tests: Sequence[Any],
    *,
    level: float = 0.05,
    lens: AnyLens = None,
    n_datasets: int = 1000,
    n_resamples: int = RESAMPLES,
    rng: Rng = None,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Return the power of many tests against many alternatives, all for the same predictions.

    Each test draws its distribution under calibration once. Labels of different alternatives come from the same random
    words, so that differences are more exact than the single numbers.

    Parameters
    ----------
    p : array_like, Sample or Predictions
        The predictions, as for `power`.
    alternatives : sequence, or mapping from a name to an alternative
        As for `power`.
    tests : sequence
        Each as for `power`.
    level, lens, n_datasets, n_resamples, rng, n_jobs
        As for `power`.

    Returns
    -------
    pandas.DataFrame
        One row for each alternative and test: "name" of the alternative, and the fields of `Power`.
    """
    import pandas as pd

    check_level("level", level)
    check_whole("n_datasets", n_datasets)
    named = alternatives.items() if isinstance(alternatives, Mapping) else [("", each) for each in alternatives]
    known = [(name, as_alternative(each)) for name, each in named]
    draws = Draws.of(rng, n_resamples, n_jobs)
    planned = [fixed_test(p, test, draws, lens=lens) for test in tests]
    rows = [
        {"name": name or alternative.words, **power_with(test, alternative, n_datasets, level).to_dict()}
        for name, alternative in known
        for test in planned
    ]
    return pd.DataFrame(rows)


def power_with(test: FixedTest, alternative: Alternative, n_datasets: int, level: float) -> Power:
    """Return the power of a test with fixed predictions."""
    counts = test.rejected(alternative, n_datasets, level)
    return _summary([test], [counts], n_datasets, test.ece(alternative), alternative, level)


def power_at(
    rows: FutureRows, n: int, draws: Draws, asked: Mapping[str, Any], n_datasets: int, n_sets: int, level: float
) -> Power:
    """Return the power with n rows, over several sets of rows."""
    each = -(-n_datasets // n_sets)
    tests, counts, sizes = [], [], []
    for number in range(n_sets):
        key = planned_key(draws.key, number)
        taken, alternative = rows.take(n, key)
        tests.append(fixed_test(taken, draws=Draws(key, draws.n, draws.n_jobs), **asked))
        counts.append(tests[-1].rejected(alternative, each, level))
        sizes.append(tests[-1].ece(alternative))
    return _summary(tests, counts, each, float(np.mean(sizes)), rows.alternative, level)


def _summary(
    tests: Sequence[FixedTest],
    counts: Sequence[np.ndarray],
    each: int,
    ece: float,
    alternative: Alternative,
    level: float,
) -> Power:
    """Return the power over several sets of rows with so many data sets each."""
    rejected, nothing = np.sum(counts, axis=0)
    total = each * len(tests)
    low, high = binomial_limits(int(rejected), total)
    if len(tests) > 1:
        reach = student_reach(np.array([count[0] / each for count in counts]))
        low, high = min(low, max(rejected / total - reach, 0.0)), max(high, min(rejected / total + reach, 1.0))
    return Power(
        power=float(rejected / total),
        low=float(low),
        high=float(high),
        n=tests[0].n,
        n_datasets=total,
        n_sets=len(tests),
        alternative=alternative.words,
        ece=ece,
        test=tests[0].title,
        lens=tests[0].lens,
        level=level,
        no_result=float(nothing / total),
    )


def binomial_limits(k: int, n: int) -> tuple[float, float]:
    """Return Clopper and Pearson's limits for k of n."""
    low, others = lower_limit(np.array([k, n - k]), np.array([n, n]), (1 - LIMIT_LEVEL) / 2)
    return float(low), float(1 - others)


def student_reach(values: np.ndarray) -> float:
    """Return half the width of Student's interval for the mean of a few values."""
    from scipy.special import stdtrit

    return float(stdtrit(values.size - 1, (1 + LIMIT_LEVEL) / 2) * values.std(ddof=1) / np.sqrt(values.size))
