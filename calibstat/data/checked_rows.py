"""The rows that a question is about: outcomes and predictions of one model or of several, checked once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data import lenses
from calibstat.data.calibration_map import CalibrationMap
from calibstat.data.checks import UnknownOption, described, short
from calibstat.data.clusters import UNSEEN, Clusters, as_clusters
from calibstat.data.engines.counted_rows import CountedRows, counted_rows
from calibstat.data.folds_of_rows import ONE_EVENT, columns_of_folds, need_clusters_in_folds, numbered_folds
from calibstat.data.judged_rows import Judge, JudgedColumns, filled
from calibstat.data.labels import any_outcomes, check_row_names, labels_or_positive
from calibstat.data.lenses import AnyLens, Lens, OfEachClass, find_lens
from calibstat.data.models import (
    Predicted,
    named_models,
    need_as_many_rows,
    outcomes_of_models,
    pairs_of_samples,
)
from calibstat.data.named_lens import EVENT
from calibstat.data.null_hypothesis import EVENT_NULL
from calibstat.data.numbered_labels import first_labels
from calibstat.data.predictions import NAMED, Predictions, as_predictions, take
from calibstat.data.rows_error import RowsError
from calibstat.data.sample import Sample, as_sample, sample_of_rows
from calibstat.data.validation import as_array, as_rows, check_rows, n_columns
from calibstat.data.views import BinaryView, ClassWiseView, MulticlassView, View
from calibstat.data.weighted_sample import as_weights


class AboutRows(TypedDict, total=False):
    """The words that describe rows, beside outcomes and predictions, in every function as in `Data`."""

    sample_weight: ArrayLike | None
    cluster: ArrayLike | Clusters | None
    folds: ArrayLike | None
    judge: Judge | None
    labels: ArrayLike | None
    pos_label: object


class RawRows:
    """Outcomes and predictions as they were given; what is checked or made of them is kept."""

    def __init__(
        self,
        y_true: ArrayLike | Sample | Predictions,
        y_prob: Predicted,
        sample_weight: ArrayLike | None,
        labels: ArrayLike | None,
    ) -> None:
        self.y_true, self.y_prob, self.sample_weight, self.labels = y_true, y_prob, sample_weight, labels

    @cached_property
    def summary(self) -> Sample:
        """The rows of a binary outcome as a `Sample`."""
        return as_sample(self.y_true, self.y_prob, self.sample_weight, self.labels)

    @cached_property
    def binary(self) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes and predictions of outcome 1."""
        y, p = as_rows(self.y_true, self.y_prob, self.labels)
        check_rows(y, p)
        return y, p

    @cached_property
    def predictions(self) -> Predictions:
        """The classes and their predictions."""
        return as_predictions(self.y_true, self.y_prob, self.labels)

    @cached_property
    def all_binary_rows(self) -> Sample:
        """The rows of a binary outcome without their weights."""
        return sample_of_rows(*self.binary)

    @cached_property
    def are_of_classes(self) -> bool:
        """Whether there are several columns of predictions."""
        return isinstance(self.y_true, Predictions) or (self.y_prob is not None and n_columns(self.y_prob) > 2)

    @cached_property
    def n_classes(self) -> int:
        """Number of classes, 2 of a binary outcome."""
        return self.predictions.n_classes if self.are_of_classes else 2

    def weight(self, n: int) -> tuple[np.ndarray | None, bool]:
        """Return the checked weights of so many rows, or None, and whether they look like counts."""
        if self.sample_weight is None:
            return None, False
        weight = as_weights(self.sample_weight, n)
        given = np.asarray(self.sample_weight, np.float64)
        return weight, bool((given == np.floor(given)).all() and (given > 1).any())

    def part(self, kept: np.ndarray, by_class: bool) -> RawRows:
        """Return the rows that are kept, or of a `Sample` the distinct predictions, with their outcomes as numbers.

        With `by_class` two classes keep both of their predictions, as lenses see them.
        """
        if isinstance(self.y_true, Sample):
            value, count, positives = (each[kept] for each in self.summary.arrays)
            return RawRows(replace(self.summary, value=value, count=count, positives=positives), None, None, None)
        weight = None if self.sample_weight is None else np.asarray(self.sample_weight, np.float64)[kept]
        if self.are_of_classes or by_class:
            return RawRows(take(self.predictions, np.flatnonzero(kept)), None, weight, None)
        y, p = self.binary
        return RawRows(y[kept], p[kept], weight, None)

    def view(self, lens: AnyLens, jointly: bool) -> View:
        """Return what a lens shows of the rows.

        Without a lens these are outcome 1 of two classes, or the most likely one of more; if `jointly`, all classes
        jointly.
        """
        if isinstance(self.y_true, Sample):
            if lens is not None or jointly:
                wanted = "a multiclass measure" if jointly else "a lens"
                raise ValueError(f"expected rows or Predictions for {wanted}, found a Sample, which is binary")
            return BinaryView(EVENT, EVENT_NULL, None, self.summary)
        if not self.are_of_classes and lens is None and not jointly:
            if self.y_prob is None:
                return BinaryView(EVENT, EVENT_NULL, None, self.summary)
            given = () if self.sample_weight is None else self.weight(self.binary[0].size)
            return BinaryView(EVENT, EVENT_NULL, self.binary, None, None, *given)
        predictions, found = self.predictions, self._lens(lens, jointly)
        is_event = lens is None and predictions.n_classes == 2 and not jointly
        named, null = (EVENT, EVENT_NULL) if is_event else (found.named, found.hypothesis)
        if isinstance(found, OfEachClass):
            weight, is_whole = self.weight(predictions.n)
            return ClassWiseView(named, null, predictions, found.reduce, weight=weight, weight_is_whole=is_whole)
        outcomes, scores = found.rows(predictions)
        if scores.ndim == 1:
            rows = as_rows(outcomes, scores)
            check_rows(*rows)
            return BinaryView(
                named, null, rows, None, predictions, *self.weight(rows[0].size), confidences=found.confidences
            )
        shown, (weight, is_whole) = found.vectors(predictions, outcomes, scores), self.weight(predictions.n)
        return MulticlassView(
            named, null, shown, weight=weight, weight_is_whole=is_whole, confidences=found.confidences
        )

    def _lens(self, lens: AnyLens, jointly: bool) -> Lens | OfEachClass:
        """Return the given lens of classes, or without one the lens that functions use by default."""
        if lens is not None:
            return find_lens(lens)
        if jointly:
            return lenses.canonical
        return lenses.one_class(1) if self.predictions.n_classes == 2 else lenses.top_label

    def chances(self, of: CalibrationMap, view: View, lens: AnyLens, jointly: bool) -> np.ndarray:
        """Return the probabilities from which outcomes come if a calibration map is right.

        Of an event that was predicted as such, one for each distinct prediction, shape (m,); of what a lens shows of
        classes, one for each row and outcome of the lens, shape (n, L).
        """
        if isinstance(view, BinaryView) and view.predictions is None:
            return of.of_event(view.predicted)
        prob, shown = self.predictions.prob, self._lens(lens, jointly)
        chance = of.of_vectors(prob)
        if isinstance(shown, OfEachClass):
            return chance
        return shown.chances(prob, chance, 2 if view.kind == "binary" else view.predicted.shape[1])


class Data:
    """Outcomes and predictions of one model, checked once, for any number of questions.

        >>> import calibstat as cs
        >>> data = cs.Data([0, 1, 1], [0.2, 0.6, 0.9])
        >>> data
        Data(3 rows, 2 with outcome 1)
        >>> cs.estimate(data, measure="brier") == cs.estimate([0, 1, 1], [0.2, 0.6, 0.9], measure="brier")
        True

    Every function that takes ``(y_true, y_prob)`` takes it in their place, and then no other argument about rows. The
    same words beside outcomes and predictions describe rows for one question.

    Parameters
    ----------
    y_true, y_prob, lens
        As for `estimate`.
    sample_weight : array_like, shape (n,), optional
        Non-negative weights of the rows, of which only the ratios matter; counts of repeated rows are a `Sample`.
    cluster : array_like, shape (n,), or Clusters, optional
        The cluster of each row (a patient, a day), within which outcomes may depend on each other.
    folds : array_like, shape (n,) or (n, R), optional
        The fold of each row that was predicted out of fold; of R repeats of cross-validation a column each, as of
        `y_prob`. Of one event, without `lens` and `sample_weight`, and with all rows of a cluster in one fold.
    judge : Judge, optional
        The answers of a judge for all rows, where few rows have an outcome and the others have nan, None or a masked
        entry in `y_true`. Of one event, without `lens`, `folds` and `sample_weight`.
    labels : sequence, optional
        The values in `y_true` that mean outcome 0 and outcome 1, or the names of the K classes, in the order of the
        columns. Default: the names of the columns of a frame, if the outcomes are among them; else numbers from 0.
    pos_label : object, optional
        Instead of `labels`: the one of two values in `y_true` that means outcome 1.

    Attributes
    ----------
    n : int
        Number of rows; with a judge of labelled ones.
    kind : {"binary", "multiclass", "class-wise"}
        What the lens shows: one outcome, several classes jointly, or each class by itself.
    lens : str or Lens or None
        The lens that was given.
    unit : ndarray of int64, shape (n,), or None
        The number of the cluster of each row, from 0; None without clusters.
    fold : ndarray of int64, shape (n,), or None
        The number of the fold of each row, from 0, in the first repeat; None without folds.

    Raises
    ------
    ValueError
        If the data are not as described; the first offending row is named.

    Notes
    -----
    It holds the rows and what is computed from them, such as their order by prediction. Its repr shows counts only;
    results made from it hold no rows.
    """

    has_outcomes: bool = True  # which decide nothing where they are not known
    cluster_names: np.ndarray | None = None  # of the clusters in the order of their numbers, if they were given
    design: Any = None  # of a class of rows from outside, see tests/extending: the design that answers

    def __init__(
        self,
        y_true: ArrayLike | Sample | Predictions,
        y_prob: Predicted = None,
        *,
        sample_weight: ArrayLike | None = None,
        cluster: ArrayLike | Clusters | None = None,
        folds: ArrayLike | None = None,
        judge: Judge | None = None,
        lens: AnyLens = None,
        labels: ArrayLike | None = None,
        pos_label: object = None,
    ) -> None:
        clusters = cluster if isinstance(cluster, Clusters) else None
        self.unseen = UNSEEN[0] if clusters is None else clusters.unseen
        cluster = cluster if clusters is None else clusters.labels
        for name, given in (("sample_weight", sample_weight), ("cluster", cluster), ("folds", folds)):
            if given is not None:
                check_row_names(y_true, given, ("y_true", name))
        self.judged: JudgedColumns | None = None
        if judge is not None:
            need_nothing_beside_judge({"lens": lens, "folds": folds, "sample_weight": sample_weight})
            outcomes, labelled = filled(y_true, judge)
            rows = RawRows(outcomes, y_prob, None, labels_or_positive(labels, pos_label))
            if rows.are_of_classes:
                raise ValueError(f"expected judge= of one event, found predictions of {rows.n_classes} classes")
            event = rows.view(None, jointly=False).one_event().float_rows()
            self.judged = JudgedColumns.of(*event, labelled, judge, cluster)
            y_true, y_prob, cluster = self.judged.labelled_columns
            labels = pos_label = None
        label: np.ndarray | None = None
        further: list[tuple[Any, np.ndarray]] = []
        if folds is not None:
            (y_prob, label), *further = columns_of_folds(y_prob, folds)
        labels = labels if pos_label is None else labels_or_positive(labels, pos_label)
        self.rows = RawRows(y_true, y_prob, sample_weight, labels)
        self.lens = lens
        self._views: dict[bool, View] = {}
        self.view()  # raises now if the rows are wrong
        self.cluster: np.ndarray | None = None
        self.fold = None if label is None else self._numbered(label)
        self.further = tuple(Data(y_true, prob, folds=label, labels=labels) for prob, label in further)
        if further and len({int(each.fold.max()) for each in self.repeats if each.fold is not None}) > 1:
            raise ValueError("expected the same number of folds in each repeat, found different ones")
        if cluster is not None:
            self.take_clusters(as_clusters(cluster, self.n), cluster)

    def take_clusters(self, unit: np.ndarray, given: object = None) -> None:
        """Take rows as of clusters, which are numbered from 0, with the labels given; raise if folds tear them."""
        need_clusters_in_folds([each.fold for each in self.repeats if each.fold is not None], unit)
        names = None if given is None else first_labels("cluster", given, unit)
        for each in self.repeats:
            each.cluster, each.cluster_names = unit, names

    def _numbered(self, label: np.ndarray) -> np.ndarray:
        """Return the number of the fold of each row; raise if rows are not such as functions take with folds."""
        beside = {"lens": self.lens, "sample_weight": self.rows.sample_weight}
        if found := [f"{name}=" for name, given in beside.items() if given is not None]:
            raise ValueError(f"expected folds= {ONE_EVENT}, because no study covers both, found {found[0]}")
        if self.rows.are_of_classes:
            raise ValueError(f"expected folds= {ONE_EVENT}, found predictions of {self.rows.n_classes} classes")
        return numbered_folds(label, self.view().one_event().float_rows()[0])

    @property
    def repeats(self) -> tuple[Data, ...]:
        """The rows of each repeat of cross-validation, which have folds of their own; of rows without folds one."""
        return self, *self.further

    def view(self, jointly: bool = False) -> View:
        """Return what the lens shows of the rows; without a lens, if `jointly`, all classes jointly."""
        jointly = jointly and self.lens is None
        if jointly not in self._views:
            self._views[jointly] = self.rows.view(self.lens, jointly)
        return self._views[jointly]

    def chances(self, of: CalibrationMap, jointly: bool = False) -> np.ndarray:
        """Return the probabilities from which outcomes of the view come if a calibration map is right.

        Of an event that was predicted as such, one for each distinct prediction, shape (m,); of what a lens shows of
        classes, one for each row and outcome of the lens, shape (n, L).
        """
        jointly = jointly and self.lens is None
        return self.rows.chances(of, self.view(jointly), self.lens, jointly)

    def asked_through(self, lens: AnyLens) -> Data:
        """Return the rows as a question sees them through its lens; raise if they have another, or take none."""
        if lens is None or (self.lens is not None and find_lens(lens) == find_lens(self.lens)):
            return self
        if self.lens is not None:
            raise ValueError(f"expected one lens, found lens={lens} beside cs.Data with lens={self.lens}")
        if self.judged is not None:
            need_nothing_beside_judge({"lens": lens})
        if self.fold is not None:
            raise ValueError(f"expected folds= {ONE_EVENT}, because no study covers both, found lens=")
        return self.through(lens)

    def through(self, lens: AnyLens) -> Data:
        """Return the same rows seen through another lens; what is known of the rows is known of these."""
        other = copy(self)
        if lens is not self.lens:
            other.lens, other._views = lens, {}
        return other

    def in_clusters_of(self, other: Data) -> Data:
        """Take the clusters of other data, of the same rows, with what is said of them, and return these."""
        self.cluster, self.unseen = other.cluster, other.unseen
        return self

    def part(self, kept: np.ndarray) -> Data:
        """Return the rows that are kept, or of a `Sample` the distinct predictions; of rows of one repeat."""
        other = copy(self)
        other.rows, other._views = self.rows.part(kept, by_class=self.lens is not None), {}
        if self.cluster is not None:
            other.cluster = np.unique(self.cluster[kept], return_inverse=True)[1]
        return other

    def as_independent(self) -> Data:
        """Return the same rows, of one repeat, taken as independent: without clusters, folds and judge."""
        other = copy(self)
        other.cluster = other.fold = other.judged = None
        other.further = ()
        return other

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.view().n_given

    @property
    def words(self) -> tuple[str, ...]:
        """The words that describe these rows beside their labels, such as "cluster"."""
        held: dict[str, object] = {
            "sample_weight": self.rows.sample_weight,
            "cluster": self.cluster,
            "folds": self.fold,
        }
        held |= {"judge": self.judged, "lens": self.lens}
        return tuple(word for word, given in held.items() if given is not None)

    @property
    def predictions(self) -> Predictions:
        """All classes and their predictions."""
        return self.rows.predictions

    @property
    def kind(self) -> Literal["binary", "multiclass", "class-wise"]:
        """The kind of data that the lens shows."""
        return self.view().kind

    @property
    def counts(self) -> str:
        """Numbers of rows, of outcomes or classes, and of clusters, in words."""
        n = self.n if self.judged is None else self.judged.n
        counts = [f"{n:,} row{'s' * (n != 1)}", self.view().counts]
        counts[1:1] = [f"{self.n:,} of them labelled"] if self.judged is not None else []
        counts += ["with weights"] if self.rows.sample_weight is not None else []
        counts += [f"{self.cluster.max() + 1:,} clusters"] if self.cluster is not None else []
        counts += [f"{self.fold.max() + 1:,} folds"] if self.fold is not None else []
        counts += [f"{len(self.repeats):,} repeats"] if self.further else []
        counts += ["with a judge"] if self.judged is not None else []
        return ", ".join(counts)

    def __repr__(self) -> str:
        return f"Data({self.counts})"


def data_of_predictions(p: Any, *, labels: ArrayLike | None = None, pos_label: object = None, **about: Any) -> Data:
    """Return the data of predictions without outcomes, for questions in which these decide nothing.

    Outcomes of a `Sample` are never looked at. Labels are checked as beside outcomes.
    """
    names = labels_or_positive(labels, pos_label)
    if isinstance(p, Sample):  # `zeros_like` takes memory even if only read
        rows = Data(Sample(p.value, p.count, np.zeros(p.count.size), p.kind), labels=names, **about)
    else:
        predicted = as_array(p, "the predictions")
        if predicted.ndim not in (1, 2):
            raise ValueError(f"expected predictions of shape (n,) or (n, K), found shape {predicted.shape}")
        rows = Data(any_outcomes(len(predicted), names), predicted, labels=names, **about)
    rows.has_outcomes = False
    return rows


def need_nothing_beside_judge(given: Mapping[str, object]) -> None:
    """Raise if there is one of these words about rows, which no study covers beside a judge."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"expected judge= without {name}=, because no study covers both, found {short(value)}")


OneModel: TypeAlias = ArrayLike | Sample | Predictions | Data


class Models(Mapping[str, Data]):
    """Outcomes and predictions of several models on the same rows, checked once, for any number of questions.

        >>> import calibstat as cs
        >>> models = cs.Models([0, 1, 1], {"A": [0.2, 0.6, 0.9], "B": [0.4, 0.4, 0.4]})
        >>> models
        Models('A', 'B': 3 rows, 2 with outcome 1)
        >>> print(cs.estimate(models, measure="brier"))
        A: 0.07
        B: 0.2933

    Every function that takes ``(y_true, y_prob)`` takes it in their place, and then no other argument about rows. One
    of a single model returns `Answers`. As a mapping it has the `Data` of each model by its name.

    Parameters
    ----------
    y_true : array_like, shape (n,), or mapping from name to array_like, shape (n,)
        Outcomes, the same for all models; or a mapping with the outcomes of each model, for example whether each of two
        language models answered a question correctly. A mapping goes without `folds` and `judge`.
    sample_weight, cluster, folds, judge, lens, labels, pos_label
        As for `Data`.
    y_prob : mapping from name to array_like, shape (n,) or (n, K), or data frame
        The predictions of each model; a data frame has a column of probabilities of outcome 1 for each.

    Raises
    ------
    ValueError
        If the data are not as described; the model and the first offending row are named.
    """

    def __init__(
        self,
        y_true: ArrayLike | Sample | Predictions | Mapping[str, ArrayLike],
        y_prob: Predicted,
        *,
        sample_weight: ArrayLike | None = None,
        cluster: ArrayLike | Clusters | None = None,
        folds: ArrayLike | None = None,
        judge: Judge | None = None,
        lens: AnyLens = None,
        labels: ArrayLike | None = None,
        pos_label: object = None,
    ) -> None:
        models = named_models(y_prob)
        if models is None:
            raise no_models(y_prob)
        self.own_outcomes = isinstance(y_true, Mapping)
        outcomes = outcomes_of_models(y_true, models, {"folds": folds, "judge": judge})
        of_rows: Any = cluster.labels if isinstance(cluster, Clusters) else cluster
        unseen = cluster.unseen if isinstance(cluster, Clusters) else UNSEEN[0]
        check_row_names(next(iter(outcomes.values())), of_rows, ("y_true", "cluster"))
        labels = labels_or_positive(labels, pos_label)
        rows: dict[str, Any] = {"sample_weight": sample_weight, "lens": lens, "labels": labels, "folds": folds}
        rows |= {"judge": judge, "cluster": None if judge is None else cluster}
        each = {name: (outcomes[name], prob) for name, prob in models.items()}
        self._data: dict[str, Data] = named(lambda pair: Data(*pair, **rows), each)
        need_as_many_rows({name: data.n for name, data in self.items()})
        self.counted: CountedRows | None = None
        if of_rows is not None and judge is None:  # which all models share
            unit = as_clusters(of_rows, self.first.n)
            for data in self.values():
                data.take_clusters(unit, of_rows)
                data.unseen = unseen

    @classmethod
    def from_counts(cls, y_true: ArrayLike, y_prob: Mapping[str, ArrayLike], count: ArrayLike) -> Models:
        """Make models of counted rows: of the outcomes and predictions that occur, and how many rows have each.

            >>> import calibstat as cs
            >>> models = cs.Models.from_counts([0, 1, 1], {"A": [0.2, 0.2, 0.9], "B": [0.4, 0.4, 0.4]}, [70, 20, 10])
            >>> models
            Models('A', 'B': 100 rows, 30 with outcome 1)
            >>> cs.compare(models).difference.round(4)
            array([-0.0089])

        This is what ``SELECT y, A, B, COUNT(*) ... GROUP BY y, A, B`` of a database returns. `compare` takes it for the
        default measure, `brier` and `log_loss`, which draw no rows, and gives what it gives for the rows. Functions of
        one model take a `Sample` of each.

        Parameters
        ----------
        y_true : array_like, shape (k,)
            Outcomes, 0 or 1.
        y_prob : mapping from name to array_like, shape (k,)
            The predictions of each model.
        count : array_like, shape (k,)
            Whole numbers of rows, at least 0.

        Returns
        -------
        Models

        Raises
        ------
        ValueError
            If there is no row, lengths differ, or a number is out of range; the first offending entry is named.
        """
        return models_of_counts(counted_rows(y_true, y_prob, count))

    @property
    def first(self) -> Data:
        """The data of the first model; all models have the same rows."""
        return next(iter(self.values()))

    @property
    def rows(self) -> RawRows:
        """Outcomes and predictions of the first model."""
        return self.first.rows

    @property
    def fold(self) -> np.ndarray | None:
        """The number of the fold of each row in the first repeat, None without folds; all models have the same."""
        return self.first.fold

    @property
    def cluster(self) -> np.ndarray | None:
        """The number of the cluster of each row, None without clusters; all models have the same."""
        return self.first.cluster

    @property
    def lens(self) -> Any:
        """The lens that was given."""
        return self.first.lens

    @property
    def words(self) -> tuple[str, ...]:
        """The words that describe these rows beside their labels, such as "cluster"."""
        return self.first.words

    def asked_through(self, lens: AnyLens) -> Models:
        """Return the rows as a question sees them through its lens; raise if they have another, or take none."""
        return self._of({name: each.asked_through(lens) for name, each in self.items()})

    def through(self, lens: AnyLens) -> Models:
        """Return the same rows seen through another lens; what is known of the rows is known of these."""
        return self._of({name: each.through(lens) for name, each in self.items()})

    def some(self, *names: str) -> Models:
        """Return these models alone."""
        chosen = self._of({name: self[name] for name in names})
        chosen.counted = None if self.counted is None else self.counted.some(*names)
        return chosen

    def _of(self, data: dict[str, Data]) -> Models:
        other = copy(self)
        other._data = data
        return other

    def __getitem__(self, name: str) -> Data:
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        names = ", ".join(short(name, 40) for name in self)
        counts = "; ".join(each.counts for each in self.values()) if self.own_outcomes else self.first.counts
        return f"Models({names}: {counts})"


class Samples(dict[str, Data]):
    """Samples of different rows by their names, such as two sites; each a pair (y_true, y_prob)."""

    def __init__(self, samples: object, *, lens: AnyLens = None, **about: Any) -> None:
        for word, given in about.items():
            if given is not None and word not in ("labels", "pos_label"):
                raise ValueError(
                    f"expected the same rows for all models with {word}=, found samples of different rows; of two, ask "
                    f"calibstat.confidence_interval(y, p, {word}=..., confidence_level=0.975) of each: intervals that "
                    "do not overlap show a difference"
                )
        super().__init__(named(lambda pair: Data(*pair, lens=lens, **about), pairs_of_samples(samples)))


Outcomes: TypeAlias = OneModel | Models


def models_of(data: Mapping[str, Data]) -> Models:
    """Return the models of the `Data` of each, which are the same rows."""
    made = object.__new__(Models)
    made._data, made.counted, made.own_outcomes = dict(data), None, False
    return made


def models_of_counts(counted: CountedRows) -> Models:
    """Return the models of rows that are counted already."""
    made = models_of({name: Data(sample) for name, sample in counted.samples.items()})
    made.counted = counted
    return made


def no_models(y_prob: object, found: str = "") -> ValueError:
    """Return the error that is raised where predictions of several models are expected."""
    return ValueError(
        "expected y_prob, a mapping from name to predictions or a data frame with a column for each model, found "
        f"{found or described(y_prob)}; write {NAMED}, with a name for each"
    )


def need_models(rows: object) -> Models:
    """Return the models that a function of several models was given; raise if they are none."""
    if not isinstance(rows, Models):
        raise no_models(rows, "those of one model" if isinstance(rows, Data) else described(rows))
    return rows


def named(ask: Callable[[Any], Any], models: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is found of each model, by its name, which an error says."""
    answers = {}
    for name, each in models.items():
        try:
            answers[name] = ask(each)
        except RowsError as error:
            raise RowsError(*error.args, f" (of {short(name, 40)})") from error
        except UnknownOption:  # of all models alike
            raise
        except ValueError as error:
            raise ValueError(f"{error} (of {short(name, 40)})") from error
    return answers


def predictions_of(models: Models) -> dict[str, Predictions]:
    """Return the predictions of each model, which have to be of the same classes."""
    of_models = {name: each.predictions for name, each in models.items()}
    classes = sorted({predictions.n_classes for predictions in of_models.values()})
    if len(classes) > 1:
        raise ValueError(f"expected predictions of the same classes from all models, found {classes} classes")
    return of_models


def observe(
    y_true: ArrayLike | Sample | Predictions, y_prob: Predicted = None, *, jointly: bool = False, **rows: Any
) -> View:
    """Check data and return what the lens shows of them; without a lens, if `jointly`, all classes jointly."""
    return Data(y_true, y_prob, **rows).view(jointly)
