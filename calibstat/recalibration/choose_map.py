"""The choice of a map: all are fitted on folds dealt at random, and compared by a proper score of held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import check_whole, cut, is_among, short, unknown_name
from calibstat.data.clipping import NeedsClip, check_clip, default_clip, has_certain, moved_rows
from calibstat.data.predictions import Predictions
from calibstat.digits import settled
from calibstat.in_order import first_smallest, smallest_first
from calibstat.inference.designs.question_of_rows import question
from calibstat.measures.kinds.mean_loss import MeanLoss
from calibstat.measures.kinds.registry import find_measure
from calibstat.output.wording import number, number_of
from calibstat.recalibration.held_out import fitted_predictions, held_out_predictions
from calibstat.recalibration.recalibrator import Recalibrator
from calibstat.recalibration.unchanged import Unchanged
from calibstat.resampling import key_of, repeated_folds
from calibstat.resampling.rng import Rng
from calibstat.result import Result, read_only

if TYPE_CHECKING:
    import pandas as pd

CHOICE_SCORES = ("brier", "log_loss")
NOISE_ERRORS = 1.96  # standard errors within which a difference may be noise
NEEDS_CLIP = "needs probabilities between 0 and 1; to try it, give it clip={}"
TAKES_LONG = "takes minutes with more than {} classes; to try it, name it in maps="
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
    writes_certain : tuple of bool, length M
        Whether the map makes probabilities of exactly 0 or 1, of held-out rows or fitted to all. Such a map is compared
        and not chosen, unless the maps were given.
    clip : float or None
        By how much the maps that are tried by default and need it moved predictions from 0 and 1; None if by nothing.
    moved : int
        Rows with a prediction that was moved.
    left_out : dict of str to str
        Maps that refuse these rows, with their reasons.
    score : str
        "brier" or "log_loss".
    one_standard_error : bool
        Whether the simplest map within one standard error of the best was chosen.
    maps_given : bool
        Whether the maps were asked for by name: then one that writes 0 or 1 can be chosen.
    n, folds, repeats : int
        Rows, folds, and how often folds were dealt.
    """

    recalibrator: Recalibrator
    names: tuple[str, ...]
    mean: np.ndarray
    difference: np.ndarray
    standard_error: np.ndarray
    within_noise: tuple[bool, ...]
    writes_certain: tuple[bool, ...]
    clip: float | None
    moved: int
    left_out: dict[str, str]
    score: str
    one_standard_error: bool
    maps_given: bool
    n: int
    folds: int
    repeats: int

    def __str__(self) -> str:
        own = self.names.index(repr(self.recalibrator))
        barred = self._barred
        others = [j for j in range(len(self.names)) if j != own and j not in barred]
        lines = [self._headline(own, len(barred)), *self._runners_up(others)]
        if self.clip is not None:
            lines.append(
                f"For maps that need probabilities between 0 and 1, {number_of('row', self.moved)} "
                f"{'was' if self.moved == 1 else 'were'} moved, by at most {settled(self.clip):.2g} "
                f"(clip={settled(self.clip):.2g})."
            )
        if barred:
            verbs = ("maps write", "were") if len(barred) > 1 else ("map writes", "was")
            lines.append(
                f"{len(barred)} {verbs[0]} probabilities of exactly 0 or 1 and {verbs[1]} not chosen: "
                f"{', '.join(self._described(j) for j in barred)}. To allow one, name it in maps=."
            )
        elif self.writes_certain[own] and not self.maps_given:
            lines.append("Every map writes probabilities of exactly 0 or 1.")
        lines += [f"Left out: {names}: {why}." for why, names in self._reasons().items()]
        return "\n".join([*lines, self._dealt, f"Next: {self._step}"])

    @property
    def _step(self) -> str:
        """Return what to do, in one sentence."""
        if isinstance(self.recalibrator, Unchanged):
            return "Use the predictions as they are."
        return "Recalibrate other rows: result.recalibrator.fit(p, y).predict_proba(p_new)."

    @property
    def _barred(self) -> list[int]:
        """The maps that could not be chosen because they write 0 or 1."""
        if self.maps_given or all(self.writes_certain):
            return []
        return [j for j, writes in enumerate(self.writes_certain) if writes]

    def _headline(self, own: int, barred: int) -> str:
        """Return the chosen map, and why."""
        title = {"brier": "Brier score", "log_loss": "log loss"}[self.score]
        first = next(j for j in range(len(self.names)) if j not in self._barred)
        rule = "has the smallest" if own == first else "is the simplest within one standard error of the smallest"
        which = f"{len(self.names) - barred} maps{' that write neither 0 nor 1' * bool(barred)}"
        return f"{self.names[own]} {rule} {title} of {which}: {number(self.mean[own])} on held-out rows."

    @property
    def _dealt(self) -> str:
        """Return the rows, and how folds were dealt."""
        times = f"{self.repeats} times" if self.repeats > 1 else "once"
        return f"{number_of('row', self.n)}, {self.folds} folds, dealt at random {times}."

    def _runners_up(self, others: list[int]) -> list[str]:
        """Return the best of the others, and how many of them do as well."""
        if not others:
            return []
        alike = sum(self.within_noise[j] for j in others)
        named = ", ".join(self._described(j) for j in others[:RUNNERS_UP])
        if len(others) == 1:
            words = f"comes {named}. It {'does' if alike else 'does not do'} as well"
        else:
            which = "All" if alike == len(others) else f"{alike or 'None'} of the"
            words = f"come {named}. {which} {len(others)} others {'does' if alike == 1 else 'do'} as well"
        plain = [j for j in others if self.within_noise[j] and self.names[j] == repr(Unchanged())]
        none = " One of them changes nothing: Unchanged()." if plain and len(others) > 1 else ""
        return [f"Then {words} (to within {NOISE_ERRORS} standard errors).{none}"]

    def _reasons(self) -> dict[str, str]:
        """Return the maps that were left out, by the reason."""
        reasons: dict[str, list[str]] = {}
        for name, why in self.left_out.items():
            reasons.setdefault(why, []).append(name)
        return {why: ", ".join(names) for why, names in reasons.items()}

    def _described(self, j: int) -> str:
        if not np.isfinite(self.mean[j]):
            return f"{self.names[j]} (infinite)"
        return f"{self.names[j]} ({settled(self.difference[j]):+.2g} ± {settled(self.standard_error[j]):.1g})"

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each map, the smallest score first."""
        import pandas as pd

        columns = ("names", "mean", "difference", "standard_error", "within_noise", "writes_certain")
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
        arguments, among them `Unchanged`; not `NeuralScaling`, whose fits are random, nor `MeanReplacement`, nor
        `MatrixScaling` of more than 50 classes, which takes long. A map by default that makes probabilities of exactly
        0 or 1 is compared and not chosen; one of `maps` can be.
    one_standard_error : bool
        Whether the first of these maps is chosen whose score is within one standard error of the smallest.
    clip : float, optional
        The option of the maps by default that need probabilities between 0 and 1. By default, where predictions are
        exactly 0 or 1, half the distance from 0 and 1 of the nearest other one; else none is moved.
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
    A map that refuses the rows is left out, and the result gives its reason. Measure the chosen map on other rows: the
    smallest of several means promises too much.

    Cost: repeats times cv fits of each map, and one to all rows.

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
    clip = default_clip(data.prob) if check_clip(clip) is None and maps is None else clip
    given, slow = _default_maps(data.n_classes, clip) if maps is None else (_checked(maps), {})
    key = key_of(rng)
    seen = data.label if weight is None else np.where(weight > 0, data.label, -1)  # by the fits
    dealt = [*repeated_folds(key, seen, cv, repeats).T]
    tried = _held_out(given, data, weight, dealt, score)
    moved = moved_rows(data.prob, clip) if maps is None else 0
    about_maps = {"clip": clip if moved else None, "moved": moved, "maps_given": maps is not None}
    tried = tried._replace(left_out=slow | tried.left_out)
    return _chosen(tried, dealt, score, one_standard_error, about_maps)


def _checked(maps: Sequence[Recalibrator]) -> list[Recalibrator]:
    """Return the given maps; raise unless they are recalibrators, at least one, and different."""
    given = list(maps)
    if not given or not all(isinstance(each, Recalibrator) for each in given):
        raise ValueError(f"expected maps, a sequence of recalibrators, found {short(maps)}")
    if len({repr(each) for each in given}) < len(given):
        raise ValueError(f"expected different maps, found {short([repr(each) for each in given])}")
    return given


def _default_maps(classes: int, clip: float | None) -> tuple[list[Recalibrator], dict[str, str]]:
    """Return the maps that are tried unless others are asked for, and why some are left out that take long."""
    own = [kind for kind in Recalibrator.__subclasses__() if kind.__module__.startswith(str(__package__))]
    kinds = [kind for kind in own if kind.tried_from is not None and kind.tried_from <= classes]
    made = [kind(**({"clip": clip} if "clip" in signature(kind).parameters else {})) for kind in kinds]
    slow = {repr(each): TAKES_LONG.format(each.tried_to) for each in made if classes > (each.tried_to or classes)}
    return [each for each in made if repr(each) not in slow], slow


class _Tried(NamedTuple):
    """Losses of held-out rows, (repeats, n), of each map, which maps write 0 or 1, and why some were left out."""

    loss: dict[Recalibrator, np.ndarray]
    writes_certain: dict[Recalibrator, bool]
    left_out: dict[str, str]


def _held_out(
    maps: list[Recalibrator], data: Predictions, weight: np.ndarray | None, dealt: list[np.ndarray], score: str
) -> _Tried:
    """Fit each map without each fold, and to all rows, and return what it makes of them."""
    loss, certain, left_out = {}, {}, {}
    for each in maps:
        try:
            found = (held_out_predictions(data, fold, each, weight) for fold in dealt)
            parts = [(_losses(data, prob, score), has_certain(prob)) for prob in found]
            writes = has_certain(fitted_predictions(data, each, weight))
        except NeedsClip:
            left_out[repr(each)] = NEEDS_CLIP.format(default_clip(data.prob))
        except ValueError as error:
            left_out[repr(each)] = cut(str(error))
        else:
            loss[each] = np.stack([rows for rows, _ in parts])
            certain[each] = writes or any(wrote for _, wrote in parts)
    if not loss:
        raise ValueError(f"expected a map that takes these rows, found none: {next(iter(left_out.values()))}")
    if weight is not None:  # the mean of these is the weighted mean
        loss = {each: rows * (weight * (data.n / weight.sum())) for each, rows in loss.items()}
    return _Tried(loss, certain, left_out)


def _losses(data: Predictions, prob: np.ndarray, score: str) -> np.ndarray:
    """Return the loss of each row: of the outcome of two classes, or of the vector of more."""
    measure = find_measure(score, {})
    assert isinstance(measure, MeanLoss)
    if data.n_classes > 2:
        return measure.vector_loss(prob, data.label)
    if_not, if_so = measure.loss(prob[:, 1])
    return np.where(data.label == 1, if_so, if_not)


def _chosen(
    tried: _Tried, dealt: list[np.ndarray], score: str, one_standard_error: bool, about_maps: dict[str, Any]
) -> MapChoice:
    """Return the result for what was tried."""
    loss, given = tried.loss, list(tried.loss)
    mean = np.array([loss[each].mean() for each in given])
    writes = np.array([tried.writes_certain[each] for each in given])
    may_be = np.ones(mean.size, bool) if about_maps["maps_given"] or writes.all() else ~writes
    candidates = np.flatnonzero(may_be)
    chosen = int(candidates[first_smallest(mean[candidates])])
    if one_standard_error and np.isfinite(mean[chosen]):
        best = loss[given[chosen]]
        finite = np.isfinite(mean) & may_be  # an infinite score has no standard error
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
        writes_certain=tuple(writes[order].tolist()),
        left_out=tried.left_out,
        score=score,
        one_standard_error=one_standard_error,
        **about_maps,
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
