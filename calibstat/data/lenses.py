"""Lenses: reductions of a K-class problem to a binary one, or to one of other classes.

A lens is two pure functions, scores(prob) and outcomes(prob, label), and a null hypothesis: that the outcomes are
calibrated given the scores, which is weaker than calibration given the full predicted vectors. Labels are always drawn
from the full predicted vector and then mapped by the lens. The outcomes then have their distribution under that null
hypothesis, so that a test of it is exact if rows are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from calibstat.data.checks import unknown_name
from calibstat.data.named_lens import NamedLens
from calibstat.data.null_hypothesis import Null

if TYPE_CHECKING:
    from calibstat.data.predictions import Predictions
    from calibstat.data.sample import Sample

TRIED = 200  # rows on which a user-defined lens is checked with every class
CHUNK = 2048  # rows sorted together, to save memory
IN_EVERY_ROW = "in every row"


@dataclass(frozen=True, repr=False)
class Lens:
    """A reduction of a K-class problem to a binary problem, or to a problem of other classes.

        A user-defined lens, the odd classes against the even ones:

        >>> import calibstat as cs
        >>> odd = cs.Lens(
        ...     "odd", lambda prob: prob[:, 1::2].sum(axis=1), lambda prob, label: label % 2,
        ...     "given the probability that the class is odd, it is odd with that probability.",
        ... )
        >>> round(cs.estimate([0, 1, 2], [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2], [0, 0.2, 0.8]], lens=odd, n_bins=1), 3)
        0.067

    Attributes
    ----------
    name : str
        Its name, printed with every result.
    scores : callable
        ``scores(prob)`` of an array of shape (n, K): the predicted probability of the binary outcome, shape (n,), or
        of each of the L new classes, shape (n, L).
    outcomes : callable
        ``outcomes(prob, label)`` with label of shape (n,): the binary outcome, 0 or 1, or the new class, from 0 to
        L - 1; shape (n,).
    null : Null or str
        The null hypothesis of a test through this lens: given the scores alone, they are the probabilities of the
        outcomes. Of a user-defined lens it is one sentence, "given ..., ...".
    names : callable or None
        ``names(names)``: the names of the L classes, given the names of the K classes; if None, numbers from 0.
    confidences : tuple of int
        The outcomes that say that the most likely class is observed, so that their probability is a confidence: (1,) of
        `top_label`, (0,) of `top_k`. Of these alone predictions are called over- or under-confident.
    subject : str
        The outcome in words, such as "the most likely class"; if empty, "the outcome of lens" and the name.
    """

    name: str
    scores: Callable[[np.ndarray], np.ndarray]
    outcomes: Callable[[np.ndarray, np.ndarray], np.ndarray]
    null: Null | str
    names: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None
    confidences: tuple[int, ...] = ()
    subject: str = ""

    @property
    def hypothesis(self) -> Null:
        """The null hypothesis, also if it was given as a sentence."""
        return Null.read(self.null) if isinstance(self.null, str) else self.null

    @property
    def named(self) -> NamedLens:
        """The lens as results name it."""
        return NamedLens(f"lens {self.name}", self.subject or f"the outcome of lens {self.name}")

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Lens({self.name})"

    def __call__(self, predictions: Predictions) -> Sample | Predictions:
        """Return the reduced data: a `Sample` of the binary outcome, or `Predictions` of the new classes."""
        from calibstat.data.sample import Sample

        outcomes, scores = self.rows(predictions)
        if scores.ndim == 1:
            return Sample.from_rows(outcomes, scores)
        return self.vectors(predictions, outcomes, scores)

    def rows(self, predictions: Predictions) -> tuple[np.ndarray, np.ndarray]:
        """Return outcomes and scores, row by row.

        Raises
        ------
        ValueError
            If scores or outcomes do not have the right shape, or scores are not the predicted probabilities of the
            outcomes. The latter is checked on the first 200 rows, with every class as the label.
        """
        prob, label = predictions.prob, predictions.label
        if self.scores is _largest and self.outcomes is _is_top:  # known since the predictions were checked
            return (predictions.top == label).astype(np.float64), predictions.largest
        scores, outcomes = np.asarray(self.scores(prob)), np.asarray(self.outcomes(prob, label))
        if not self.scores.__module__ == self.outcomes.__module__ == __name__:
            if outcomes.shape != label.shape or scores.shape[:1] != label.shape or scores.shape[1:] in ((0,), (1,)):
                raise ValueError(
                    f"expected lens {self.name!r} to have outcomes of shape (n,) and scores of shape (n,) or (n, L), "
                    f"L at least 2; found shapes {outcomes.shape} and {scores.shape}, n = {label.size}"
                )
            self._check(prob[:TRIED], scores[:TRIED])
        return outcomes, scores

    def vectors(self, predictions: Predictions, outcomes: np.ndarray, scores: np.ndarray) -> Predictions:
        """Return the predictions of the new classes, given outcomes and scores as from `rows`."""
        if self.scores is _classes and self.outcomes is _label:
            return predictions
        return predictions.regrouped(outcomes, scores, self.names(predictions.names) if self.names else None)

    def chances(self, prob: np.ndarray, chance: np.ndarray, seen: int) -> np.ndarray:
        """Return the probability of each of so many outcomes in each row, shape (n, seen), given one of each class.

        Raises
        ------
        ValueError
            If an outcome is not one of them.
        """
        if self.outcomes is _label:
            return chance
        rows, total = np.arange(len(prob)), np.zeros((len(prob), seen))
        for k in range(prob.shape[1]):
            outcome = np.asarray(self.outcomes(prob, np.full(len(prob), k))).astype(np.int64)
            if outcome.min() < 0 or outcome.max() >= seen:
                raise ValueError(
                    f"expected outcomes of lens {self.name!r} from 0 to {seen - 1}, found some from {outcome.min()} to "
                    f"{outcome.max()} where class {k} is observed"
                )
            total[rows, outcome] += chance[:, k]
        return total

    def _check(self, prob: np.ndarray, scores: np.ndarray) -> None:
        expected = self.chances(prob, prob, 2 if scores.ndim == 1 else scores.shape[1])
        expected = expected[:, 1] if scores.ndim == 1 else expected
        off = np.abs(expected - scores).reshape(len(prob), -1).max(axis=1)
        off -= np.abs(prob.sum(axis=1, dtype=np.float64) - 1)  # 1 minus some classes is not quite the sum of others
        if off.max() > 1e-5:
            row = int(off.argmax())
            raise ValueError(
                f"expected scores of lens {self.name!r} to be the predicted probabilities of its outcomes, found "
                f"{scores[row]} where they are {expected[row]}, at row {row}"
            )


def _classes(prob: np.ndarray) -> np.ndarray:
    return prob


def _label(prob: np.ndarray, label: np.ndarray) -> np.ndarray:
    return label


def _same(names: tuple[Any, ...]) -> tuple[Any, ...]:
    return names


def _largest(prob: np.ndarray) -> np.ndarray:
    return prob.max(axis=1).astype(np.float64)


def _is_top(prob: np.ndarray, label: np.ndarray) -> np.ndarray:
    return (prob.argmax(axis=1) == label).astype(np.int64)


top_label = Lens(
    "top_label",
    _largest,
    _is_top,
    Null(
        "the probability of the most likely class (of equally likely ones the first) alone",
        (IN_EVERY_ROW, ", that class is observed with this probability"),
    ),
    confidences=(1,),
    subject="the most likely class",
)
canonical = Lens(
    "canonical",
    _classes,
    _label,
    Null("the predicted vectors", (IN_EVERY_ROW, ", every class is observed with its predicted probability")),
    _same,
    subject="all classes jointly",
)


@dataclass(frozen=True)
class OfEachClass:
    """K binary problems that share their rows: each class against the rest.

    Attributes
    ----------
    name : str
        Its name.
    null : Null
        The null hypothesis of a single statistic over all classes, which is canonical calibration.
    """

    name: str
    null: Null = canonical.hypothesis

    @property
    def reduce(self) -> str | None:
        """The way in which classes become one number, "mean" or "max"; None if each is a number of its own."""
        return None

    @property
    def hypothesis(self) -> Null:
        """The null hypothesis, as of a `Lens`."""
        return self.null

    @property
    def named(self) -> NamedLens:
        """The lens as results name it, which say themselves how classes become one number."""
        return NamedLens("lens class_wise", "each class")

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class OverClasses(OfEachClass):
    """The mean over the classes, or the largest of them, where each is seen against the rest.

    Attributes
    ----------
    how : {"mean", "max"}
        How the classes become one number.
    """

    how: Literal["mean", "max"] = "mean"

    @property
    def reduce(self) -> str:
        """The way in which classes become one number."""
        return self.how


@dataclass(frozen=True)
class ClassWise(OfEachClass):
    """Each class against the rest, with a number of its own."""

    @property
    def mean(self) -> OverClasses:
        """The lens whose one number is the mean over the classes."""
        return OverClasses(f"{self.name}_mean")

    @property
    def max(self) -> OverClasses:
        """The lens whose one number is the largest of the classes."""
        return OverClasses(f"{self.name}_max", how="max")


class_wise = ClassWise("class_wise")


def _lens_of_class(name: str, subject: str, k: int) -> Lens:
    """Return the lens of class k against the rest, of this name, with the class in words."""

    def scores(prob: np.ndarray) -> np.ndarray:
        if k >= prob.shape[1]:
            raise ValueError(f"expected a class from 0 to {prob.shape[1] - 1}, found one_class({k})")
        return prob[:, k].astype(np.float64)

    def outcomes(prob: np.ndarray, label: np.ndarray) -> np.ndarray:
        return (label == k).astype(np.int64)

    happens = f", {subject} is observed with this probability"
    null = Null(f"the probability of {subject} alone", (IN_EVERY_ROW, happens))
    return Lens(name, scores, outcomes, null, subject=subject)


def one_class(k: int) -> Lens:
    """Return the lens of one class against the rest.

        >>> import calibstat as cs
        >>> print(cs.lenses.one_class(2).null)
        given the probability of class 2 alone, in every row independently, class 2 is observed with this probability.

    Parameters
    ----------
    k : int
        Number of the class, from 0 to K - 1.

    Returns
    -------
    Lens

    Raises
    ------
    ValueError
        If `k` is not a whole number of at least 0; or, when used, if there are only `k` classes or fewer.
    """
    k = _whole(k, 0, "the number of a class")
    return _lens_of_class(f"one_class({k})", f"class {k}", k)


def groups(partition: Sequence[Sequence[int]]) -> Lens:
    """Return the lens that merges classes into groups and adds up their probabilities.

        >>> import calibstat as cs
        >>> lens = cs.lenses.groups([[0, 2], [1]])
        >>> lens.scores(cs.Predictions.from_rows([0], [[0.5, 0.25, 0.25]]).prob)
        array([[0.75, 0.25]])

    Parameters
    ----------
    partition : sequence of sequences of int
        The groups, in the order of the new classes. Every class from 0 to K - 1 is in exactly one.

    Returns
    -------
    Lens

    Raises
    ------
    ValueError
        If there are fewer than two groups, one is empty or a class is in two; or, when used, if a class is in none.
    """
    try:
        cut = [[_whole(k, 0, "the number of a class") for k in group] for group in partition]
    except TypeError:
        raise ValueError(f"expected a sequence of groups of classes, found {partition!r}") from None
    flat = [k for group in cut for k in group]
    if len(cut) < 2 or not all(cut) or sorted(flat) != list(range(len(flat))):
        raise ValueError(f"expected two or more groups with every class from 0 to K - 1 in one, found {partition!r}")
    group_of = np.empty(len(flat), np.int64)
    for g, group in enumerate(cut):
        group_of[group] = g

    def scores(prob: np.ndarray) -> np.ndarray:
        if prob.shape[1] != group_of.size:
            raise ValueError(f"expected groups of all {prob.shape[1]} classes, found {group_of.size} classes in them")
        sums = np.stack([prob[:, group].sum(axis=1, dtype=np.float64) for group in cut], axis=1)
        return np.minimum(sums, 1.0)  # a sum of float32 may round above it

    def outcomes(prob: np.ndarray, label: np.ndarray) -> np.ndarray:
        return group_of[label]

    def names(of_classes: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(" + ".join(str(of_classes[k]) for k in group) for group in cut)

    return Lens(
        f"groups({cut})",
        scores,
        outcomes,
        Null(
            "the summed probabilities of the groups alone",
            (IN_EVERY_ROW, ", every group of classes is observed with its summed probability"),
        ),
        names,
    )


def top_k(k: int) -> Lens:
    """Return the lens of the rank of the observed class: most likely, second, ..., k-th, or any other.

        >>> import calibstat as cs
        >>> lens = cs.lenses.top_k(2)
        >>> lens.scores(cs.Predictions.from_rows([0], [[0.25, 0.5, 0.125, 0.125]]).prob)
        array([[0.5 , 0.25, 0.25]])

    The new classes are the k most likely classes of each row, in order, and all others together. Of equally likely
    classes the one with the smaller number comes first.

    Parameters
    ----------
    k : int
        At least 1. With k = 1 it is `top_label` as a problem of two classes.

    Returns
    -------
    Lens

    Raises
    ------
    ValueError
        If `k` is not a whole number of at least 1; or, when used, if there are not more than `k` classes.
    """
    k = _whole(k, 1, "a number of classes")

    def order(prob: np.ndarray) -> np.ndarray:
        if k >= prob.shape[1]:
            raise ValueError(f"expected more than {k} classes for top_k({k}), found {prob.shape[1]}")
        parts = [
            np.argsort(-prob[i : i + CHUNK], axis=1, kind="stable")[:, :k].copy() for i in range(0, len(prob), CHUNK)
        ]
        return np.concatenate(parts)

    def scores(prob: np.ndarray) -> np.ndarray:
        likely = np.take_along_axis(prob, order(prob), axis=1).astype(np.float64)
        return np.column_stack((likely, np.clip(1 - likely.sum(axis=1), 0, 1)))

    def outcomes(prob: np.ndarray, label: np.ndarray) -> np.ndarray:
        hit = order(prob) == label[:, None]
        return np.where(hit.any(axis=1), hit.argmax(axis=1), k)

    def names(of_classes: tuple[Any, ...]) -> tuple[Any, ...]:
        return (*(_ordinal(i + 1) for i in range(k)), "other")

    largest = "largest probability" if k == 1 else f"{k} largest probabilities"
    likely = "the most likely class" if k == 1 else f"each of the {k} most likely classes"
    return Lens(
        f"top_k({k})",
        scores,
        outcomes,
        Null(
            f"the {largest} alone",
            (IN_EVERY_ROW, f", {likely}, or another, is observed with its predicted probability"),
        ),
        names,
        confidences=(0,),
    )


@dataclass(frozen=True)
class LensFamily:
    """A kind of lens that takes an argument, written ``family:argument`` on the command line.

    Attributes
    ----------
    example : str
        An example of the argument, such as NAME for the name of a class.
    read : callable
        ``read(argument, names, number)``: the lens, given the argument as text and the names of the classes;
        ``number(name)`` returns the number of a class and raises if there is none.
    shows_classes : bool
        Whether the lens shows several classes, and not a binary outcome.
    """

    example: str
    read: Callable[[str, Sequence[str], Callable[[str], int]], Lens]
    shows_classes: bool


def name_class(k: int, names: Sequence[str]) -> Lens:
    """Return the lens of one class against the rest, which names the class."""
    return _lens_of_class(f"one_class:{names[k]}", f"class {names[k]}", k)


def _read_one_class(argument: str, names: Sequence[str], number: Callable[[str], int]) -> Lens:
    return name_class(number(argument), names)


def _read_top_k(argument: str, names: Sequence[str], number: Callable[[str], int]) -> Lens:
    if not argument.isdecimal():
        raise ValueError(f"expected a lens such as top_k:2, found 'top_k:{argument}'")
    return replace(top_k(int(argument)), name=f"top_k:{int(argument)}")


def _read_groups(argument: str, names: Sequence[str], number: Callable[[str], int]) -> Lens:
    partition = [[number(name) for name in group.split("+")] for group in argument.split(",")]
    flat = [k for group in partition for k in group]
    for k, name in enumerate(names):
        if flat.count(k) != 1:
            found = f"class {name} in {flat.count(k)} of them" if flat.count(k) else f"class {name} in none"
            raise ValueError(f"expected every class in one of the groups, found {found}")
    if len(partition) < 2:
        raise ValueError("expected two or more groups, with commas between them, found one")
    return replace(groups(partition), name="groups:" + ",".join("+".join(names[k] for k in each) for each in partition))


# To add a lens, add a line here, or in LENS_FAMILIES if it takes an argument. A lens of several classes needs `names`.
LENSES: Mapping[str, Lens | OfEachClass] = MappingProxyType(
    {
        "top_label": top_label,
        "class_wise": class_wise,
        "class_wise_mean": class_wise.mean,
        "class_wise_max": class_wise.max,
        "canonical": canonical,
    }
)
OneLens: TypeAlias = (  # that shows one number
    Literal["top_label", "class_wise_mean", "class_wise_max", "canonical"] | Lens | OverClasses | None
)
AnyLens: TypeAlias = str | Lens | OfEachClass | None  # a name is checked when the lens is looked up
EachClass: TypeAlias = Literal["class_wise"] | ClassWise
LENS_FAMILIES: Mapping[str, LensFamily] = MappingProxyType(
    {
        "one_class": LensFamily("NAME", _read_one_class, False),
        "top_k": LensFamily("2", _read_top_k, True),
        "groups": LensFamily("NAME+NAME,NAME", _read_groups, True),
    }
)


def spellings(*, shows_classes: bool | None = None) -> list[str]:
    """List the lenses as written on the command line: all, or only those that show several classes, or do not."""
    plain = {name: isinstance(lens, Lens) and lens.names is not None for name, lens in LENSES.items()}
    of_families = {f"{name}:{family.example}": family.shows_classes for name, family in LENS_FAMILIES.items()}
    return [text for text, several in (plain | of_families).items() if shows_classes in (None, several)]


def find_lens(lens: AnyLens) -> Lens | OfEachClass:
    """Return the lens of this name, or the lens itself."""
    if isinstance(lens, Lens | OfEachClass):
        return lens
    if isinstance(lens, str) and lens in LENSES:
        return LENSES[lens]
    raise unknown_name("a lens", lens, LENSES, f" or made by calibstat.lenses ({', '.join(LENS_FAMILIES)})")


def _whole(k: object, least: int, what: str) -> int:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < least:
        raise ValueError(f"expected {what}, a whole number of at least {least}; found {k!r}")
    return int(k)


def _ordinal(i: int) -> str:
    return {1: "most likely", 2: "second", 3: "third"}.get(i, f"{i}th")
