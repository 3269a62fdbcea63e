"""The best of several models that are shown to keep a condition, such as a bound of their calibration error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from calibstat.data.checked_rows import AboutRows, Data, Models, named, need_models
from calibstat.data.checks import check_level, short
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.digits import settled
from calibstat.in_order import first_smallest, smallest_first
from calibstat.inference.choosing.condition import Condition
from calibstat.inference.designs.design_of import independent
from calibstat.inference.designs.question_of_rows import question_of_all
from calibstat.inference.problems.pose import problem_of
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.named_measure import NamedMeasure
from calibstat.measures.kinds.registry import find_measure
from calibstat.output.wording import level_text
from calibstat.resampling import Draws
from calibstat.resampling.rng import Rng
from calibstat.result import NotedResult, read_only

if TYPE_CHECKING:
    import pandas as pd

PRINTED = 5  # models
HIGH = ".high"
BOUND_WORDS = {"<=": "at most", "<": "below"}


@dataclass(frozen=True, eq=False)
class Choice(NotedResult):
    """Result of `choose`.

    Attributes
    ----------
    name : str or None
        The chosen model; None if no model is shown to keep the conditions.
    names : tuple of str, length M
        All models, in the order in which they were given.
    shown : ndarray of bool, shape (M,)
        Which models are shown to keep all conditions.
    score : ndarray, shape (M,)
        The measure by which the best is chosen, of each model.
    rank : ndarray of int64, shape (M,)
        The place of each model by `score`, from 0, the best; equal ones in the order in which they were given.
    high : ndarray, shape (M, C)
        The high end of each model for each condition, at the level at which the model was last judged.
    level : ndarray, shape (M,)
        This level: the probability with which each high end may lie below the truth.
    nearest : str
        The model that is chosen, or that comes nearest to the conditions if none is.
    best : NamedMeasure
        The measure of `score`.
    conditions : tuple of Condition, length C
        The conditions.
    confidence_level : float
        The least probability that the chosen model keeps the conditions, or none is chosen.
    lens : NamedLens
        The outcome whose probability was predicted.
    n : int
        Rows.
    """

    name: str | None
    names: tuple[str, ...]
    shown: np.ndarray
    score: np.ndarray
    rank: np.ndarray
    high: np.ndarray
    level: np.ndarray
    nearest: str
    best: NamedMeasure
    conditions: tuple[Condition, ...]
    confidence_level: float
    lens: NamedLens
    n: int

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each model."""
        import pandas as pd

        ends = dict(zip((each.field for each in self.conditions), self.high.T, strict=True))
        columns = {"model": self.names, "shown": self.shown, str(self.best): self.score, **ends, "level": self.level}
        return pd.DataFrame(columns)

    @property
    def answer(self) -> str:
        """The chosen model, or that none is shown to keep the conditions and which comes nearest."""
        kept = " and ".join(f"{_measure(each)} {BOUND_WORDS[each.sign]} {each.number:g}" for each in self.conditions)
        many = len(self.names)
        if self.name is None:
            subject = "The model is not" if many == 1 else f"None of the {many} models is"
            nearest = "" if many == 1 else f" Nearest comes {self.nearest}: {self._ends(self.nearest)}."
            return f"{subject} shown to have {kept}.{nearest}"
        score = f"{self.best.in_prose} {settled(self.score[self.names.index(self.name)]):.4g}"
        if many == 1:
            return f"Chosen: {self.name} ({score}), which is shown to have {kept}."
        several = int(self.shown.sum())
        among = f"the only one of {many} models" if several == 1 else f"the best of {several} models"
        among += f" (of {many})" if 1 < several < many else ""
        return f"Chosen: {self.name} ({score}), {among} shown to have {kept}."

    def _ends(self, name: str) -> str:
        row = self.high[self.names.index(name)]
        return ", ".join(
            f"{_measure(each)} at most {settled(end):.4g}" for each, end in zip(self.conditions, row, strict=True)
        )

    def __str__(self) -> str:
        order = sorted(range(len(self.names)), key=lambda k: (not self.shown[k], self.rank[k]))
        title = self.best.in_prose
        lines = [
            f"  {self.names[k]}: {title} {settled(self.score[k]):.4g}, {self._ends(self.names[k])}"
            f"{'' if self.shown[k] else ', not shown'}"
            for k in order[:PRINTED]
        ]
        lines += [f"  and {len(order) - PRINTED} more: to_frame() has them all"] * (len(order) > PRINTED)
        among = f", although it was chosen among {len(self.names)} on the same rows" * (len(self.names) > 1)
        last = "Not shown does not mean violated: more rows may show that a model meets it"
        if self.name is not None:
            conditions = "condition" if len(self.conditions) == 1 else "conditions"
            last = f"With {level_text(self.confidence_level)} confidence the chosen model keeps the {conditions}{among}"
        return "\n".join([self.answer, *lines, f"{last} ({self.lens}, n = {self.n})."])


def _measure(condition: Condition) -> str:
    return condition.field.removesuffix(HIGH)


@question_of_all("sample_weight", "cluster")
def choose(
    rows: Models,
    /,
    *,
    subject_to: str | Sequence[str] = (),
    best: str | Measure | type[Measure] = "brier",
    confidence_level: float = 0.95,
    lens: AnyLens = None,
    n_resamples: int | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    **about: Unpack[AboutRows],
) -> Choice:
    """Choose the best of several models that are shown to keep a condition.

    >>> import calibstat as cs
    >>> y, p = cs.generators.calibrated().sample(5000, rng=1)
    >>> models = {"calibrated": p, "rounded": p.round(1), "too low": p**1.5}
    >>> result = cs.choose(y, models, subject_to="kernel_ce.high <= 0.03", rng=1)
    >>> print(result.answer)
    Chosen: calibrated (Brier score 0.1713), the best of 2 models (of 3) shown to have kernel_ce at most 0.03.

    Parameters
    ----------
    y_true, y_prob, lens, **about
        As for `confidence_interval` with method "honest"; the predictions of each candidate for the same rows.
    subject_to : str or sequence of str
        One condition or several, at least one: a measure with its high end, "<=" or "<", and a number, such as
        "kernel_ce.high <= 0.03" (the grammar of ``calibstat report --fail-if``). The measure has its default options.
    best : str or Measure
        The measure by which the best is chosen among the models that are shown to keep the conditions: the smallest
        value, or of ``calibstat.measures.NetBenefit(threshold=0.2)`` the largest.
    confidence_level : float
        Between 0 and 1, at least 1/2.
    n_resamples, rng, n_jobs
        As for `confidence_interval`; all models have the same draws.

    Returns
    -------
    Choice

    Raises
    ------
    ValueError
        If the data are not as described (the model and the first offending row are named), there is no model, a
        condition is not as described, or a measure has no honest interval on such rows.

    Notes
    -----
    Null hypothesis of each candidate: it breaks one of its conditions. A candidate is shown to keep them if its honest
    high ends, for all its conditions, do so at level a. With M candidates a is (1 - confidence_level) / M at first;
    whenever candidates are shown, it is divided by the number of the others, until no further one is shown (Holm 1979).
    So the probability that the chosen candidate breaks its conditions is at most 1 - `confidence_level`, however `best`
    chooses among those shown, if each high end lies below its truth with a probability of at most its level. The
    candidates have to be fixed before these rows are seen: a model that was fitted or recalibrated on them is not
    covered. If none is shown, this does not say that all break them. Cost: two or more high ends for each candidate and
    condition.

    References
    ----------
    Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 65-70.
    """
    check_level("confidence_level", confidence_level)
    if confidence_level < 0.5:
        raise ValueError(f"expected confidence_level of at least 1/2, found {confidence_level!r}")
    models, conditions = need_models(rows), conditions_of(subject_to)
    measures, criterion = [find_measure(_measure(each), {}) for each in conditions], find_measure(best, {})
    problems = named(lambda data: problem_of(data, criterion), models)
    score = np.array([problem.estimate() for problem in problems.values()], np.float64)
    if score.ndim > 1:
        raise ValueError("expected one number of each model for best=, found one for each class with lens 'class_wise'")
    key = int(Draws.of(rng, 1, n_jobs).key)  # the same for all models

    def highs(data: Data) -> Callable[[float], np.ndarray]:
        design, asked = independent(data), [problem_of(data, measure) for measure in measures]
        ends = [
            design.honest_ends(problem, Draws.of(key, problem.measure.draws(n_resamples), n_jobs)) for problem in asked
        ]
        bounds = [problem.measure.bounds for problem in asked]
        return lambda level: np.array([np.clip(each.high(2 * level), *b) for each, b in zip(ends, bounds, strict=True)])

    high, level, shown = step_down(list(named(highs, models).values()), conditions, 1 - confidence_level)
    rank = np.argsort(smallest_first(-score if criterion.info.larger_is_better else score))
    chosen = min(np.flatnonzero(shown), key=lambda k: rank[k], default=None)
    names, first = tuple(models), next(iter(problems.values()))
    over = [max(float(end - each.number) for end, each in zip(row, conditions, strict=True)) for row in high]
    return Choice(
        name=None if chosen is None else names[chosen],
        names=names,
        shown=read_only(shown),
        score=read_only(score),
        rank=read_only(rank),
        high=read_only(high),
        level=read_only(level),
        nearest=names[int(first_smallest(over)) if chosen is None else chosen],
        best=criterion.named,
        conditions=conditions,
        confidence_level=confidence_level,
        lens=first.lens,
        n=models.first.n,
        **first.view.annotations(),
    )


def conditions_of(subject_to: str | Sequence[str]) -> tuple[Condition, ...]:
    """Read conditions that a high end can show."""
    wanted = "expected a high end that is at most a number, such as 'kernel_ce.high <= 0.03', in subject_to"
    texts = [subject_to] if isinstance(subject_to, str) else subject_to
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{wanted}, found {short(subject_to)}")
    conditions = tuple(Condition.read(text) for text in texts)
    if not conditions:
        raise ValueError(f"{wanted}, found nothing")
    for condition in conditions:
        if not (condition.field.endswith(HIGH) and condition.sign in BOUND_WORDS and math.isfinite(condition.number)):
            raise ValueError(f"{wanted}, found {short(str(condition))}: no other end can show that a condition is kept")
    return conditions


def step_down(
    highs: Sequence[Callable[[float], np.ndarray]], conditions: Sequence[Condition], alpha: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the high ends of each candidate, the levels at which it was last judged, and which are shown (Holm).

    Statement and argument: docs/evidence/proofs/choice.md.
    """
    count = len(highs)
    high, level, shown = np.empty((count, len(conditions))), np.empty(count), np.zeros(count, np.bool_)
    while not shown.all():
        others = np.flatnonzero(~shown).tolist()
        for k in others:
            level[k] = alpha / len(others)
            high[k] = highs[k](float(level[k]))
            shown[k] = all(each.is_met(float(end)) for each, end in zip(conditions, high[k], strict=True))
        if not shown[others].any():
            break
    return high, level, shown
