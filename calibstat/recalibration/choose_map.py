"""The choice of a map: all are fitted on folds dealt at random, and compared by a proper score of held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Unpack

import numpy as np

from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import check_whole, cut, is_among, short, unknown_name
from calibstat.data.predictions import Predictions
from calibstat.digits import settled
from calibstat.in_order import first_smallest, smallest_first
from calibstat.inference.designs.question_of_rows import question
from calibstat.measures.kinds.mean_loss import MeanLoss
from calibstat.measures.kinds.registry import find_measure
from calibstat.output.wording import number, number_of
from calibstat.recalibration.held_out import held_out_predictions
from calibstat.recalibration.recalibrator import Recalibrator
from calibstat.resampling import key_of, repeated_folds
from calibstat.resampling.rng import Rng
from calibstat.result import Result, read_only

if TYPE_CHECKING:
    import pandas as pd

CHOICE_SCORES = ("brier", "log_loss")
NOISE_ERRORS = 1.96  # standard errors within which a difference may be noise
RUNNERS_UP = 3  # runners-up in the printed words


@dataclass(frozen=True, eq=False)
class MapChoice(Result):
    """Result of `choose`: the maps with their scores on held-out rows, the smallest first.

    Attributes
    ----------
    recalibrator : Recalibrator
        The chosen map, not fitted: ``found.recalibrator.fit(p, y)`` fits it to all rows.
    names : tuple of str, length M
        The maps.
    mean : ndarray, shape (M,)
        The mean score of the held-out rows over all repeats.
    difference, standard_error : ndarray, shape (M,)
        By how much each mean exceeds the one of the chosen map, and the standard error of that; nan where a score is
        infinite.
    within_noise : tuple of bool, length M
        Whether the difference is at most 1.96 standard errors in size.
    left_out : dict of str to str
        Maps that refuse these rows, with their reasons.
    score : str
        "brier" or "log_loss".
    one_standard_error : bool
        Whether the simplest map within one standard error of the best was chosen.
    n, folds, repeats : int
        Rows, folds, and how often folds were dealt.
    """

    recalibrator: Recalibrator
    names: tuple[str, ...]
    mean: np.ndarray
    difference: np.ndarray
    standard_error: np.ndarray
    within_noise: tuple[bool, ...]
    left_out: dict[str, str]
    score: str
    one_standard_error: bool
    n: int
    folds: int
    repeats: int

    def __str__(self) -> str:
        chosen = repr(self.recalibrator)
        own = self.names.index(chosen)
        title = {"brier": "Brier score", "log_loss": "log loss"}[self.score]
        rule = "has the smallest" if own == 0 else "is the simplest within one standard error of the smallest"
        times = f"{self.repeats} times" if self.repeats > 1 else "once"
        text = (
            f"{chosen} {rule} {title} of {len(self.names)} maps, {number(self.mean[own])}, on held-out rows "
            f"({number_of('row', self.n)}, {self.folds} folds, dealt at random {times})."
        )
        others = [j for j in range(len(self.names)) if j != own]
        if others:
            text += f" Then come {', '.join(self._described(j) for j in others[:RUNNERS_UP])}."
            noise = sum(self.within_noise[j] for j in others)
            text += (
                f" From {noise} of the {len(others)} others it differs by no more than noise (1.96 standard errors, "
                "which allow for rows that folds share; each by itself)."
            )
        return text + "".join(f"\nLeft out: {name}: {why}" for name, why in self.left_out.items())

    def _described(self, j: int) -> str:
        if not np.isfinite(self.mean[j]):
            return f"{self.names[j]} (infinite)"
        word = ", noise" if self.within_noise[j] else ""
        return f"{self.names[j]} ({settled(self.difference[j]):+.2g} ± {settled(self.standard_error[j]):.1g}{word})"

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each map, the smallest score first."""
        import pandas as pd

        columns = ("names", "mean", "difference", "standard_error", "within_noise")
        table = pd.DataFrame({name: getattr(self, name) for name in columns}).rename(columns={"names": "map"})
        return table.assign(chosen=table["map"] == repr(self.recalibrator))


@question("sample_weight")
def choose(
    rows: Data,
    /,
    *,
    cv: int = 5,
    repeats: int = 3,
    score: str = "brier",
    maps: Sequence[Recalibrator] | None = None,
    one_standard_error: bool = False,
    clip: float | None = None,
    rng: Rng = None,
    **about: Unpack[AboutRows],
) -> MapChoice:
    """Compare calibration maps on rows that they were not fitted to, and name the best.

    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2).sample(2000, rng=1)  # logits twice as large as they should be
    >>> found = cs.recalibration.choose(y, p, rng=1)
    >>> found.recalibrator
    PlattScaling()
    >>> found.recalibrator.fit(p, y).predict_proba([0.9]).round(2)
    array([0.76])

    Parameters
    ----------
    y_true, y_prob, **about
        As for `calibstat.estimate`: outcomes first, unlike in `fit`. Rows may have weights, in the fits and in the mean
        score; a map that takes none is left out.
    cv : int
        Number of folds, at least 2 and at most n / 2. They are dealt at random, no class to one of them alone.
    repeats : int
        How often folds are dealt anew, at least 2.
    score : {"brier", "log_loss"}
        The proper score; of two classes the Brier score is the one of class 1.
    maps : sequence of Recalibrator, optional
        The maps, from the simplest on, of which equally good ones are chosen in this order. By default all that need no
        arguments, among them `Unchanged`; not `NeuralScaling`, whose fits are random, nor `MeanReplacement`.
    one_standard_error : bool
        Whether the first of these maps is chosen whose score is within one standard error of the smallest.
    clip : float, optional
        The option of the maps by default that take logarithms, for predictions of exactly 0 and 1.
    rng : None, int, SeedSequence or Generator
        Of the folds.

    Returns
    -------
    MapChoice
        `calibstat.Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data or an argument are not as above, or every map refuses these rows. Outcomes and predictions in the
        other order are noticed, but not where both are 0 or 1 alone.

    Notes
    -----
    A map that refuses the rows, such as one that takes logarithms of a 0, is left out, and the result gives its reason.
    Measure the chosen map on other rows: the smallest of several means promises too much.

    Cost: repeats times cv fits of each map.

    References
    ----------
    One standard error: Breiman, Friedman, Olshen, Stone 1984, Classification and regression trees, section 3.4.3.
    """
    data = rows.predictions
    weight = rows.rows.weight(data.n)[0]
    check_whole("cv", cv, 2)
    check_whole("repeats", repeats, 2)
    if data.n < 2 * cv:
        raise ValueError(f"expected at least 2 rows in each of {cv} folds, found {data.n} rows")
    if not is_among(score, CHOICE_SCORES):
        raise unknown_name("a score", score, CHOICE_SCORES)
    given = _default_maps(data.n_classes, clip) if maps is None else _checked(maps)
    key = key_of(rng)
    seen = data.label if weight is None else np.where(weight > 0, data.label, -1)  # by the fits
    dealt = [*repeated_folds(key, seen, cv, repeats).T]
    loss, left_out = _held_out(given, data, weight, dealt, score)
    return _chosen(loss, dealt, left_out, score, one_standard_error)


def _checked(maps: Sequence[Recalibrator]) -> list[Recalibrator]:
    """Return the given maps; raise unless they are recalibrators, at least one, and different."""
    given = list(maps)
    if not given or not all(isinstance(each, Recalibrator) for each in given):
        raise ValueError(f"expected maps, a sequence of recalibrators, found {short(maps)}")
    if len({repr(each) for each in given}) < len(given):
        raise ValueError(f"expected different maps, found {short([repr(each) for each in given])}")
    return given


def _default_maps(classes: int, clip: float | None) -> list[Recalibrator]:
    """Return the maps that are tried unless others are asked for."""
    own = [kind for kind in Recalibrator.__subclasses__() if kind.__module__.startswith(str(__package__))]
    kinds = [kind for kind in own if kind.tried_from is not None and kind.tried_from <= classes]
    return [kind(**({"clip": clip} if "clip" in signature(kind).parameters else {})) for kind in kinds]


def _held_out(
    maps: list[Recalibrator], data: Predictions, weight: np.ndarray | None, dealt: list[np.ndarray], score: str
) -> tuple[dict[Recalibrator, np.ndarray], dict[str, str]]:
    """Return the losses of held-out rows, shape (repeats, n), of each map, and the reasons of those left out."""
    loss, left_out = {}, {}
    for each in maps:
        try:
            found = (held_out_predictions(data, fold, each, weight) for fold in dealt)
            loss[each] = np.stack([_losses(data, prob, score) for prob in found])
        except ValueError as error:
            left_out[repr(each)] = cut(str(error))
    if not loss:
        raise ValueError(f"expected a map that takes these rows, found none: {next(iter(left_out.values()))}")
    if weight is not None:  # the mean of these is the weighted mean
        loss = {each: rows * (weight * (data.n / weight.sum())) for each, rows in loss.items()}
    return loss, left_out


def _losses(data: Predictions, prob: np.ndarray, score: str) -> np.ndarray:
    """Return the loss of each row: of the outcome of two classes, or of the vector of more."""
    measure = find_measure(score, {})
    assert isinstance(measure, MeanLoss)
    if data.n_classes > 2:
        return measure.vector_loss(prob, data.label)
    if_not, if_so = measure.loss(prob[:, 1])
    return np.where(data.label == 1, if_so, if_not)


def _chosen(
    loss: dict[Recalibrator, np.ndarray],
    dealt: list[np.ndarray],
    left_out: dict[str, str],
    score: str,
    one_standard_error: bool,
) -> MapChoice:
    """Return the result for losses of shape (repeats, n) of each map."""
    given = list(loss)
    mean = np.array([loss[each].mean() for each in given])
    chosen = int(first_smallest(mean))
    if one_standard_error and np.isfinite(mean[chosen]):
        best = loss[given[chosen]]
        finite = np.isfinite(mean)  # an infinite score has no standard error
        chosen = next(
            j
            for j, each in enumerate(given)
            if finite[j] and mean[j] - mean[chosen] <= _error(loss[each] - best, dealt)
        )
    order = smallest_first(mean)
    finite = np.isfinite(mean) & np.isfinite(mean[chosen])
    difference = np.array([mean[j] - mean[chosen] if finite[j] else np.nan for j in order])
    error = np.array([_error(loss[given[j]] - loss[given[chosen]], dealt) if finite[j] else np.nan for j in order])
    return MapChoice(
        recalibrator=given[chosen],
        names=tuple(repr(given[j]) for j in order),
        mean=read_only(mean[order]),
        difference=read_only(difference),
        standard_error=read_only(error),
        within_noise=tuple((np.abs(difference) <= NOISE_ERRORS * error).tolist()),
        left_out=left_out,
        score=score,
        one_standard_error=one_standard_error,
        n=dealt[0].size,
        folds=int(dealt[0].max()) + 1,
        repeats=len(dealt),
    )


def _error(difference: np.ndarray, dealt: list[np.ndarray]) -> float:
    """Return the standard error of the mean of differences, shape (repeats, n), with an allowance for shared rows."""
    n, n_folds = dealt[0].size, int(dealt[0].max()) + 1
    parts = [part[fold == k].var(ddof=1) for part, fold in zip(difference, dealt, strict=True) for k in range(n_folds)]
    between = difference.var(axis=0, ddof=1).mean()
    return float(np.sqrt((np.mean(parts) + n_folds * (n - 1) / (n - n_folds) * between) / n))
