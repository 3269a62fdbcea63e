"""Numbers of rows that a test needs to find an alternative, or an interval to have a given width."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from calibstat.data.checks import check_level, check_whole, options_of, short
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.data.retired_words import refuse_retired
from calibstat.digits import settled
from calibstat.inference.power.alternatives import GivenAlternative
from calibstat.inference.power.detectable_effect import DEFAULT_MEASURE, distance, noncentrality
from calibstat.inference.power.fixed_tests import FixedPredictions, pose_predictions
from calibstat.inference.power.power_search import PowerPoint, solve_power
from calibstat.measures.kinds.base import Measure
from calibstat.measures.measure_options import OptionsBesideWidth
from calibstat.output.wording import level_text
from calibstat.planning.few_labels import need_plan_with_judge, with_judge
from calibstat.planning.future_rows import FuturePredictions, FutureRows, future_rows, is_generator
from calibstat.planning.power import Power, PowerCurve, power_at
from calibstat.planning.precision import FORMULAS, PrecisionSize, riley, size_by_formula, size_by_simulation
from calibstat.planning.test_names import AnyTest, check_options
from calibstat.resampling import Draws, planned_key
from calibstat.resampling.rng import Rng
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd

ROW_SETS = 8  # sets of rows for each number of rows that is tried
RESAMPLES = 999
ROUNDING = 1e-15  # of a distance from calibration
WIDTHS = 16  # sets of rows for the width of an interval


@dataclass(frozen=True, eq=False)
class SampleSize(Result):
    """Rows with which a test finds an alternative: result of `sample_size`.

    Attributes
    ----------
    n : int
        Rows of a data set.
    power, level : float
        The probability with which the test rejects, and the p-value up to which it does.
    alternative : str
        The alternative in words.
    ece : float
        Its size: the mean of abs(q - v) over the predictions v with their true probabilities q.
    test : str
        The test.
    lens : NamedLens
        The outcome whose probability was predicted.
    curve : PowerCurve
        The numbers of rows that were tried, with their powers.
    for_precision : dict
        Of one outcome: the rows for a .95 interval of width .2 for "o/e" and for the "slope" (Riley et al. 2021), which
        is another question.
    """

    n: int
    power: float
    level: float
    alternative: str
    ece: float
    test: str
    lens: NamedLens
    curve: PowerCurve
    for_precision: dict[str, int]

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each number of rows that was tried."""
        return self.curve.to_frame()

    def __str__(self) -> str:
        text = (
            f"{self.n} rows to find {self.alternative} (ECE {settled(self.ece):.2g}){self.lens.with_comma}, with "
            "probability "
            f"{level_text(self.power)} ({self.test} test, level {level_text(self.level)})."
        )
        if self.for_precision:
            names = {"o/e": "O/E", "slope": "the calibration slope"}
            each = " and ".join(f"{n} rows for {names[of]}" for of, n in self.for_precision.items())
            text += "\nFor estimation: under this alternative, a 95 % interval of width 0.2 takes "
            text += f"{each} (Riley et al. 2021)."
        return text


@dataclass(frozen=True)
class Simulated:
    """The effort of simulation for each number of rows that is tried, and the largest of these numbers."""

    n_datasets: int = 1000
    n_sets: int | None = None
    n_resamples: int | None = None
    most: int = 1_000_000

    def __post_init__(self) -> None:
        check_whole("most", self.most, 2)
        check_whole("n_datasets", self.n_datasets)
        if self.n_sets is not None:
            check_whole("n_sets", self.n_sets)

    def draws(self, rng: Rng, n_jobs: int) -> Draws:
        """Return the draws under calibration."""
        return Draws.of(rng, RESAMPLES if self.n_resamples is None else self.n_resamples, n_jobs)


class OptionsOfPlans(OptionsBesideWidth, total=False):
    """The options of a plan: of its measure, and how much is simulated."""

    n_datasets: int
    n_sets: int | None
    n_resamples: int | None
    most: int


def sample_size(
    p: FuturePredictions,
    alternative: GivenAlternative = None,
    power: float = 0.8,
    *,
    test: AnyTest = DEFAULT_MEASURE,
    width: float | None = None,
    of: str | Measure | type[Measure] = "o/e",
    lens: AnyLens = None,
    level: float = 0.05,
    confidence_level: float = 0.95,
    judge_share: float | None = None,
    judge_rows: int | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    **options: Unpack[OptionsOfPlans],
) -> SampleSize | PrecisionSize:
    """Return how many rows a test needs to find an alternative, or an interval needs for its width.

        >>> import calibstat as cs
        >>> y, p = cs.generators.calibrated().sample(500, rng=1)
        >>> cs.sample_size(p, width=0.2, of="o/e").n
        399

    Parameters
    ----------
    p : array_like of shape (n,) or (n, K), Sample, Predictions or generator
        A pilot of predictions, which are drawn with replacement; outcomes in it are not looked at. Or a generator.
    alternative : str, mapping, generator, callable or array_like
        What is true, as for `power`, so that ``"shift=0.5"`` means events more frequent than predicted. Default: for a
        generator itself; for a width calibration.
    power : float
        The probability with which the test rejects.
    test : str, measure, function
        As for `power`.
    width : float, optional
        If given, rows for an interval of this width are returned, not rows for a test.
    of : {"o/e", "slope"}, str or Measure
        What the interval is for: O/E or the calibration slope by the formulas of Riley et al. (2021), or a measure
        with an honest interval, by simulation.
    lens, level
        As for `power`. Widths need a lens with one outcome.
    confidence_level : float
        The confidence level of the interval.
    judge_share : float, optional
        The share of the noise that a judge leaves, at least 0: `rows.share` of an interval with a judge and 50 to 100
        labels of a pilot. Then labels beside the judge are returned; `of` is a norm of residuals such as "ks" or "ece".
    judge_rows : int, optional
        The rows with an answer of the judge, labelled or not; needed with `judge_share`.
    n_datasets, n_sets, n_resamples : int, optional
        For each number of rows that is tried: data sets (of a test), sets of rows (default: 8; of a width 16) and draws
        under calibration (default: 999).
    most : int
        The largest number of rows that is tried.
    rng, n_jobs, **options
        As for `calibration_test`.

    Returns
    -------
    SampleSize or PrecisionSize
        The latter if a width is given, and its `LabelSize` with `judge_share`. `calibstat.plot` draws all.

    Raises
    ------
    ValueError
        If an argument is not as described, the alternative is calibration, `most` rows are not enough, or fewer rows
        have an answer of the judge than labels are needed without it.

    References
    ----------
    Riley et al. 2021, Minimum sample size for external validation of a clinical prediction model with a binary outcome,
    doi:10.1002/sim.9025.
    """
    refuse_retired("sample_size", options, ())
    names = [each.name for each in fields(Simulated)]
    settings = {name: value for name, value in options.items() if name not in names}
    with options_of(sample_size, settings, names):
        check_options(test if width is None else of, settings)
    simulated = Simulated(**{name: value for name, value in options.items() if name in names})  # type: ignore[arg-type]
    draws = simulated.draws(rng, n_jobs)
    need_plan_with_judge(judge_share, judge_rows, width, of, settings)
    if width is None:
        rows = future_rows(p, alternative)
        asked = {"test": test, "lens": lens, "options": settings}
        return _of_test(rows, power, level, draws, asked, simulated)
    if not isinstance(width, int | float | np.number) or not 0 < width < np.inf:
        raise ValueError(f"expected width positive and finite, found {short(width)}")
    check_level("confidence_level", confidence_level)
    rows = future_rows(p, "temperature=1" if alternative is None and not is_generator(p) else alternative)
    size = _of_width(rows, draws, of, float(width), confidence_level, lens, simulated, settings)
    if judge_share is None or judge_rows is None:
        return size
    predictions, truth = rows.pilot(draws.key)
    pilot = FixedPredictions(pose_predictions(predictions, "brier", {}, lens=lens))
    return with_judge(size, judge_share, judge_rows, pilot.residual_variance(truth))


def _of_width(
    rows: FutureRows,
    draws: Draws,
    of: str | Measure | type[Measure],
    width: float,
    confidence_level: float,
    lens: AnyLens,
    simulated: Simulated,
    options: Mapping[str, Any],
) -> PrecisionSize:
    """Return the rows with which an interval has this width."""
    if not isinstance(of, str) or of not in FORMULAS:
        n_sets, most = simulated.n_sets or WIDTHS, simulated.most
        return size_by_simulation(rows, draws, of, width, confidence_level, lens, n_sets, most, options)
    if options:
        raise ValueError(f"expected no options for {of!r}, found {short(options)}")
    return size_by_formula(rows, draws, of, width, confidence_level, lens)


def _of_test(
    rows: FutureRows, power: float, level: float, draws: Draws, asked: dict[str, Any], simulated: Simulated
) -> SampleSize:
    """Return the rows with which a test has this power."""
    check_level("power", power)
    check_level("level", level)
    if power <= level:
        raise ValueError(f"expected power above the level {level:g}, which a calibrated model reaches; found {power:g}")
    predictions, alternative = rows.pilot(draws.key)
    pilot = FixedPredictions(pose_predictions(predictions, "brier", {}, lens=asked["lens"]))
    told = distance(pilot.truth(alternative), pilot.predicted, pilot.count)
    if told <= ROUNDING:
        raise ValueError(f"expected an alternative to calibration, found {rows.alternative.words}, which is calibrated")
    powers: dict[int, Power] = {}

    def at(root: float) -> PowerPoint:
        n = math.ceil(root**2)
        if n not in powers:
            fresh = replace(draws, key=planned_key(draws.key, len(powers)))  # other rows each time
            powers[n] = power_at(rows, n, fresh, asked, simulated.n_datasets, simulated.n_sets or ROW_SETS, level)
        return PowerPoint(root, round(powers[n].power * powers[n].n_datasets), powers[n].n_datasets)

    start = max(math.sqrt(noncentrality(power, level) / told), math.sqrt(2))
    root, _ = solve_power(at, start, math.sqrt(simulated.most), power, level)
    curve = PowerCurve(tuple(powers[n] for n in sorted(powers)))
    if np.isinf(root):
        best = max(curve.points, key=lambda point: point.power)
        raise ValueError(
            f"expected an alternative that the test with {best.test} finds with probability {power:g} in at most "
            f"{simulated.most} rows, found {rows.alternative.words} with power {settled(best.power):.2g} at n = "
            f"{best.n}"
        )
    return SampleSize(
        n=math.ceil(root**2),
        power=power,
        level=level,
        alternative=rows.alternative.words,
        ece=pilot.ece(alternative),
        test=curve.points[0].test,
        lens=curve.points[0].lens,
        curve=curve,
        for_precision=riley(pilot, alternative),
    )
