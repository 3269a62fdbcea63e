"""The calibration generalization gap: calibration error on test rows minus that on training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from calibstat import resampling
from calibstat.answers_by_model import Answers
from calibstat.data.checks import options_of, short
from calibstat.data.labels import labels_or_positive
from calibstat.data.models import predictions_of_set
from calibstat.data.predictions import Predictions
from calibstat.digits import settled
from calibstat.inference.bands.reliability import reliability
from calibstat.inference.compare import compare
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.measures.kinds.named_measure import NamedMeasure
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.measure_options import MeasureOptions
from calibstat.output.wording import level_text
from calibstat.resampling.rng import Rng
from calibstat.result import Result


@dataclass(frozen=True, eq=False)
class GeneralizationGap(Result):
    """Result of `generalization_gap`.

    Attributes
    ----------
    train, test : ConfidenceInterval
        The calibration error on each set: of outcome 1 of two classes, or of the most likely of more.
    gap, gap_low, gap_high : float
        The error on test rows minus that on training rows, and the ends of its interval.
    error_train, error_test : float
        Share of the rows in which the most likely class is not the observed one.
    error_gap, error_gap_low, error_gap_high : float
        Their difference, test minus train, and the ends of its interval.
    confidence_train, confidence_test : float
        Mean probability of the most likely class.
    n_bins, n_not_overconfident, n_clearly_not : int
        Bins of the test rows; those in which the model is not over-confident: the most likely class (of two outcomes,
        the one of the bin's mean prediction) is observed more often than predicted; and those in which this is
        significant (the 95 % Wilson interval lies entirely on that side of the mean prediction).
    confidence_level : float
        Of every interval.
    measure : NamedMeasure
        The measure with its options.
    subject : str
        What was predicted: "outcome 1" or "the most likely class".
    n_train, n_test : int
        Rows.
    """

    train: ConfidenceInterval
    test: ConfidenceInterval
    gap: float
    gap_low: float
    gap_high: float
    error_train: float
    error_test: float
    error_gap: float
    error_gap_low: float
    error_gap_high: float
    confidence_train: float
    confidence_test: float
    n_bins: int
    n_not_overconfident: int
    n_clearly_not: int
    confidence_level: float
    measure: NamedMeasure
    subject: str
    n_train: int
    n_test: int

    @property
    def overconfident(self) -> bool:
        """Whether the model is over-confident on test rows in every bin, the first assumption of the bound."""
        return self.n_not_overconfident == 0

    @property
    def less_confident(self) -> bool:
        """Whether the mean confidence on test rows is at most that on training rows, the second assumption."""
        return self.confidence_test <= self.confidence_train

    @property
    def bounded(self) -> bool:
        """Whether the gap is at most the error gap, as the two assumptions imply for the unbinned error."""
        return self.gap <= self.error_gap

    def __str__(self) -> str:
        level = f"{level_text(self.confidence_level)} confidence interval"
        holds = {True: "holds", False: "does not hold"}
        clearly = f", {self.n_clearly_not} of them beyond chance" if self.n_not_overconfident else ""
        return (
            f"Calibration generalization gap {settled(self.gap):.4g} [{settled(self.gap_low):.4g}, "
            f"{settled(self.gap_high):.4g}], error gap {settled(self.error_gap):.4g} "
            f"[{settled(self.error_gap_low):.4g}, {settled(self.error_gap_high):.4g}]: the bound "
            f"{holds[self.bounded]} here.\n"
            f"{self.measure} of {self.subject}: {settled(self.test.estimate):.4g} [{settled(self.test.low):.4g}, "
            f"{settled(self.test.high):.4g}] on n = {self.n_test} test rows, {settled(self.train.estimate):.4g} "
            f"[{settled(self.train.low):.4g}, {settled(self.train.high):.4g}] on n = {self.n_train} training rows "
            f"({level}s); shares of errors {settled(self.error_test):.4g} and {settled(self.error_train):.4g}.\n"
            "Without bins the bound follows if the model is over-confident on test rows at every confidence, "
            f"which {holds[self.overconfident]} here (not so in {self.n_not_overconfident} of {self.n_bins} "
            f"bins{clearly}), and if it is at most as confident there as on training rows, which "
            f"{holds[self.less_confident]} (mean confidence {settled(self.confidence_test):.4g} and "
            f"{settled(self.confidence_train):.4g}).{self._remarks}"
        )

    @property
    def _remarks(self) -> str:
        parts = (("Test", self.test), ("Training", self.train))
        return "".join(f"\n{name} rows: {error.remark()}" for name, error in parts if error.remark())


OneSet: TypeAlias = tuple[Any, Any] | list[Any] | Predictions
Checkpoints: TypeAlias = Mapping[Any, Any]


if TYPE_CHECKING:

    class GapOrAnswers(GeneralizationGap, Answers[GeneralizationGap]):
        """To type checkers both: which of the two a result is depends on `train` and `test`."""

else:
    GapOrAnswers = GeneralizationGap | Answers[GeneralizationGap]


def generalization_gap(
    train: OneSet | Checkpoints,
    test: OneSet | Checkpoints,
    *,
    measure: str = "ece",
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    rng: Rng = None,
    n_jobs: int = 1,
    labels: ArrayLike | None = None,
    pos_label: object = None,
    **options: Unpack[MeasureOptions],
) -> GapOrAnswers:
    """Decompose the calibration error on test rows into that on training rows and the generalization gap.

        >>> import calibstat as cs
        >>> train = cs.generators.dirichlet((0.2, 0.2, 0.2)).sample(1000, rng=1)
        >>> test = cs.generators.dirichlet((0.2, 0.2, 0.2), temperature=2).sample(1000, rng=2)
        >>> result = cs.generalization_gap(train, test, rng=1)
        >>> result.gap_low > 0, result.less_confident, result.bounded
        (True, False, False)

    Parameters
    ----------
    train, test : tuple of array_like (y_true, y_prob), or Predictions, or a mapping from checkpoint to one of these
        Classes from 0 to K - 1 (or outcomes 0 and 1), shape (n,), and predictions, shape (n,) or (n, K), of the rows
        that the model was fitted on, and of others. Two mappings have the same checkpoints, or models.
    measure : str
        What is compared: `ece` (L1), `kernel_ce`, `ks`, `kuiper` or `smooth_ce`, of outcome 1 of two, or of the most
        likely of more classes.
    confidence_level : float
        Between 0 and 1.
    n_resamples : int
        Number of resamples, at least 1.
    rng, n_jobs
        As for `calibration_test`.
    labels, pos_label
        As for `estimate`.
    **options
        Options of the measure.

    Returns
    -------
    GeneralizationGap
        `Answers`, a mapping from checkpoint to this, for mappings.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), an argument is unknown, the measure has no
        honest interval, or checkpoints differ.

    Notes
    -----
    Error on test = error on train + gap. Nakkiran's slides claim of almost all deep networks that the gap is in
    absolute value at most the gap of the classification error, and prove one side of it. For the unbinned ECE of the
    most likely class it follows if the model is over-confident on test at every confidence and has at least as much
    mean confidence on train; and so for the ECE of outcome 1 of two, where over-confident is a prediction that is
    further from 1/2 than the outcomes are. The result says whether both hold on these data, bin by bin, and whether the
    bound does.

    Intervals are `honest` ones; of the gap it is the one of `compare`, of the error gap Newcombe's. Those for training
    rows treat the fitted model as given. Cost: three intervals.

    References
    ----------
    Carrell, Mallinar, Lucas, Nakkiran 2022, The Calibration Generalization Gap, arXiv:2210.01964; Nakkiran 2023,
    Calibration in Deep Learning: Theory & Practice (slides, Aspen Center for Physics, 28 February); Newcombe 1998,
    doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I.
    """
    if isinstance(train, Mapping) or isinstance(test, Mapping):
        shared: dict[str, Any] = {"measure": measure, "confidence_level": confidence_level, "n_resamples": n_resamples}
        shared |= {"rng": rng, "n_jobs": n_jobs, "labels": labels, "pos_label": pos_label}
        sets = _checkpoints(train, test)
        answers = {name: generalization_gap(*pair, **shared, **options) for name, pair in sets.items()}
        return cast("GapOrAnswers", Answers(answers))
    from statsmodels.stats.proportion import confint_proportions_2indep

    with options_of(generalization_gap, options):
        find_measure(measure, options)
    labels = labels_or_positive(labels, pos_label)
    seen, unseen = (
        resampling.in_order(predictions_of_set(rows, labels, name)) for rows, name in ((train, "train"), (test, "test"))
    )
    key = int(resampling.key_of(rng))
    settings: dict[str, Any] = {"measure": measure, "confidence_level": confidence_level}
    settings |= {"n_resamples": n_resamples, "n_jobs": n_jobs, **options}
    on_train, on_test = (confidence_interval(data, rng=key, **settings) for data in (seen, unseen))
    both = compare({"test": (unseen, None), "train": (seen, None)}, rng=key, **settings)
    errors = [int(np.count_nonzero(data.top != data.label)) for data in (unseen, seen)]
    error_low, error_high = confint_proportions_2indep(
        errors[0], unseen.n, errors[1], seen.n, compare="diff", method="newcomb", alpha=1 - confidence_level
    )
    diagram = reliability(unseen, band="pointwise_confidence", interval=False)
    assert diagram.low is not None
    assert diagram.high is not None
    mean, frequency = diagram.mean_prediction, diagram.frequency
    below_half = (unseen.n_classes == 2) & (mean <= 0.5)  # where confidence is that in outcome 0
    not_over = np.where(below_half, frequency < mean, frequency > mean)
    clearly = np.where(below_half, diagram.high < mean, diagram.low > mean)
    gap = GeneralizationGap(
        train=on_train,
        test=on_test,
        gap=both.difference.item(),
        gap_low=both.low.item(),
        gap_high=both.high.item(),
        error_train=errors[1] / seen.n,
        error_test=errors[0] / unseen.n,
        error_gap=errors[0] / unseen.n - errors[1] / seen.n,
        error_gap_low=float(error_low),
        error_gap_high=float(error_high),
        confidence_train=float(seen.largest.mean()),
        confidence_test=float(unseen.largest.mean()),
        n_bins=diagram.count.size,
        n_not_overconfident=int(np.count_nonzero(not_over)),
        n_clearly_not=int(np.count_nonzero(clearly)),
        confidence_level=confidence_level,
        measure=both.measure,
        subject=both.lens.subject,
        n_train=seen.n,
        n_test=unseen.n,
    )
    return cast("GapOrAnswers", gap)


def _checkpoints(train: object, test: object) -> dict[str, tuple[OneSet, OneSet]]:
    """Return the sets of rows of every checkpoint, in the order of the training rows."""
    for name, rows in (("train", train), ("test", test)):
        if not isinstance(rows, Mapping):
            raise ValueError(f"expected two mappings from checkpoint to rows, or none, found {short(rows)} for {name}")
    seen, unseen = cast("Checkpoints", train), cast("Checkpoints", test)
    if not seen:
        raise ValueError("expected a checkpoint or more, found none")
    for one, other, name in ((seen, unseen, "test"), (unseen, seen, "train")):
        missing = [each for each in one if each not in other]
        if missing:
            raise ValueError(f"expected the same checkpoints in train and test, found no {missing[0]!r} in {name}")
    if len({str(each) for each in seen}) < len(seen):
        raise ValueError(f"expected checkpoints of different names, found {short([*seen])}")
    return {str(each): (seen[each], unseen[each]) for each in seen}
