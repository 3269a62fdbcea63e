"""The base of post-hoc calibration maps: checked data, one layout in and out, the interface of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibstat.data.as_given import as_given
from calibstat.data.checks import calls_within, quoted, short
from calibstat.data.clipping import NeedsClip, advice, uncertain
from calibstat.data.engines.sql import DIALECTS
from calibstat.data.labels import check_row_names
from calibstat.data.numbered_labels import known_outcomes
from calibstat.data.predictions import Predictions, checked_vectors
from calibstat.data.validation import as_array, look_swapped, to_numpy
from calibstat.data.weighted_sample import as_weights
from calibstat.in_words import InWords
from calibstat.recalibration.formula import Expression, within_range
from calibstat.recalibration.parameters import Parametrised, need_fitted
from calibstat.recalibration.saved_map import as_dict, restored

NO_WEIGHTS = "expected no sample_weight for {}, found one: {}"
NO_FORMULA = "expected a map that is a formula or steps, found {}, {}"
NO_OPTIMUM = (
    "the log loss keeps falling as parameters grow, because the predictions separate some classes without an exception "
    "or a class is never observed; or the fit needs more steps"
)


class Recalibrator(Parametrised, InWords):
    """A map from predicted probabilities to recalibrated ones, fitted on labelled rows.

    With two classes the predictions of class 1 are mapped. Parameters of the constructor are stored unchanged and
    checked by `fit`.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
        The classes, in the order of the columns; after `fit`.
    converged_ : bool
        Whether the optimiser converged; if not, a RuntimeWarning says why.
    interval_method : {"triangle", "mirror"}
        The method of `confidence_interval` for predictions by such maps with `folds`: "mirror" is studied for Platt,
        isotonic and histogram maps.
    """

    tried_from: ClassVar[int | None] = 2
    """The least number of classes with which `choose` tries the map; None: only if it is asked to."""
    tried_to: ClassVar[int | None] = None
    """The largest number of classes with which it does so; None: any number."""

    classes_: NDArray[Any]
    converged_: bool
    interval_method: ClassVar[str] = "triangle"

    def fit(
        self,
        p: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        labels: Sequence[Any] | None = None,
        pos_label: object = None,
    ) -> Self:
        """Fit the map.

        Parameters
        ----------
        p : array_like, shape (n,) or (n, K)
            Predicted probabilities, in [0, 1]: of class 1 of two, or of each class, with rows that sum to 1.
        y : array_like, shape (n,)
            The observed class, from 0 to K - 1, or its name in `labels`.
        sample_weight : array_like, shape (n,), optional
            Non-negative weights of the rows: a row of weight 2 counts as two rows, as in scikit-learn. All take them
            except `NeuralScaling` and `HistogramBinning` with `n_resamples`.
        labels : sequence of K, optional
            The names of the classes, in the order of the columns. By default the names of the columns of a frame, if
            the outcomes are among them.
        pos_label : object, optional
            Instead of `labels`, of two classes: the one that counts as class 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the recalibrator takes no weights, `p` and `y` look swapped (where both are 0 or 1 alone no one can
            tell), or are not what `calibstat.Predictions.from_rows` takes; or for a reason that its class gives.

        Warns
        -----
        RuntimeWarning
            If the fit has not converged.
        """
        _check_order(p, y)
        data = Predictions.from_rows(y, p, labels=labels, pos_label=pos_label)
        prob, label = data.prob.astype(np.float64, copy=False), data.label
        if sample_weight is None:
            failure = self._fit(prob, label)
        else:
            check_row_names(y, sample_weight, ("y", "sample_weight"))
            weight = _weights(sample_weight, label.size)
            kept = weight > 0
            failure = self._fit_weighted(prob[kept], label[kept], weight[kept])
        self.classes_, self.converged_ = np.array(data.names), failure is None
        if failure is not None:
            message = f"{type(self).__name__} has not converged: {failure}"
            warnings.warn(message, RuntimeWarning, stacklevel=calls_within())
        return self

    def predict_proba(self, p: ArrayLike) -> Any:
        """Return the recalibrated probabilities.

        Parameters
        ----------
        p : array_like, shape (n,) or (n, K)
            Predicted probabilities.

        Returns
        -------
        ndarray of float64, Series or DataFrame
            Of the shape of `p`: a vector of probabilities of class 1 for a vector, a row for each row of a matrix. A
            series or frame of pandas or Polars for one, with the same names of columns and of rows; a frame of pandas
            has columns by place too, ``[:, 1]``.

        Raises
        ------
        ValueError
            If `fit` has not been called, the number of classes is another than in `fit`, or `p` is not what
            `calibstat.Predictions.from_rows` takes.
        """
        rows = as_given(p, self._recalibrated(p))
        if not hasattr(rows, "iloc") or rows.ndim == 1:
            return rows
        from calibstat.output.frame_of_rows import FrameOfRows

        return FrameOfRows(rows)

    def _recalibrated(self, p: ArrayLike) -> np.ndarray:
        """Return the recalibrated probabilities as an array."""
        given, prob = self._checked(p)
        return self._map(prob) if given.shape == prob.shape else self._event(prob).reshape(given.shape)

    def predict(self, p: ArrayLike) -> np.ndarray:
        """Return the most likely class of each row after recalibration, of equally likely ones the first.

        Parameters
        ----------
        p : array_like, shape (n,) or (n, K)
            Predicted probabilities.

        Returns
        -------
        ndarray, shape (n,)
            Entries of `classes_`.

        Raises
        ------
        ValueError
            As for `predict_proba`.
        """
        out = self._recalibrated(p)
        return self.classes_[out.argmax(axis=1) if out.shape[1:] > (1,) else (out.reshape(-1) > 0.5).astype(np.int64)]

    def score(self, p: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows whose most likely class after recalibration was observed, as in scikit-learn.

        Parameters
        ----------
        p : array_like, shape (n,) or (n, K)
            Predicted probabilities.
        y : array_like, shape (n,)
            The observed classes, entries of `classes_`.
        sample_weight : array_like, shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
            The accuracy, between 0 and 1. To compare maps take a proper score, as `choose` does.
        """
        _check_order(p, y)
        hit = self.predict(p) == known_outcomes(y)
        return float(np.average(hit, weights=None if sample_weight is None else _weights(sample_weight, hit.size)))

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted map as a dictionary that JSON has; `from_dict` makes the map again.

        Returns
        -------
        dict
            The name of the class under "kind", the version of the format, the parameters of the constructor, and under
            "fitted" the attributes that `fit` has set, with lists for arrays.

        Raises
        ------
        ValueError
            If `fit` has not been called, or the map has something that is not a number, text or list, such as the
            network of `NeuralScaling`.

        Examples
        --------
        >>> import json
        >>> from calibstat.recalibration import PriorShift
        >>> fitted = PriorShift(sampling_rate=0.1).fit([0.5])
        >>> print(json.dumps(fitted.to_dict()["fitted"]))
        {"classes_": [0, 1], "converged_": true, "new_prevalence_": null, "factor_": [10.0, 1.0]}
        """
        need_fitted(self, "classes_")
        return as_dict(self)

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Self:
        """Return the fitted map of a dictionary of `to_dict`.

            >>> import json
            >>> from calibstat.recalibration import PlattScaling, Recalibrator
            >>> text = json.dumps(PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).to_dict())
            >>> Recalibrator.from_dict(json.loads(text))
            PlattScaling()

        Parameters
        ----------
        saved : dict
            What `to_dict` returned, also after JSON.

        Returns
        -------
        Recalibrator
            Of the class that was saved. `predict_proba` returns the same numbers to the last bit.

        Raises
        ------
        ValueError
            If `saved` is not such a dictionary, or is of another class than the one that is asked.
        """
        kinds: tuple[type[Parametrised], ...] = (*Recalibrator.__subclasses__(), cls)
        known = {each.__name__: each for each in kinds if each is not Recalibrator}
        made: Self = restored(cls, saved, known)
        return made

    def to_sql(self, column: str | Sequence[str] = "p") -> Any:
        """Return the fitted map as an expression of SQL, the same for DuckDB and SQLite.

            >>> from calibstat.recalibration import HistogramBinning
            >>> fitted = HistogramBinning(n_bins=2).fit([0.1, 0.2, 0.9, 0.8], [0, 1, 1, 1])
            >>> print(fitted.to_sql("score"))
            CASE WHEN "score" >= 0 AND "score" <= 1 THEN CASE WHEN "score" <= 0.5e0 THEN 0.5e0 ELSE 1.0e0 END END

        Parameters
        ----------
        column : str or sequence of K str
            The column of the predicted probability of class 1 of two, or the columns of more classes, in the order of
            `classes_`. Names are put in quotes.

        Returns
        -------
        str or list of K str
            The recalibrated probability of class 1 of two, or of each class. It differs from `predict_proba` by at most
            1e-12. It is NULL where `predict_proba` raises: where the prediction is missing or not from 0 to 1, and
            where it is 0 or 1 if the map takes logarithms and has no `clip`.

        Raises
        ------
        ValueError
            If `fit` has not been called, the columns are not as above, or the map is neither a formula nor steps.

        Notes
        -----
        Columns are DOUBLE (REAL in SQLite). Predictions of single precision can be in the next bin of
        `HistogramBinning` where they are exactly at an edge. LN, EXP and POWER are functions of SQLite 3.35 and later,
        if it was built with them. A name that the table does not have is an error in DuckDB, and can be a text in
        SQLite: the result is then NULL. The length for K classes grows as K², of `MatrixScaling` as K³.
        """
        need_fitted(self, "classes_")
        classes = self.classes_.size
        names = [DIALECTS["duckdb"].name(each) for each in self._columns(column)]
        prob = [Expression(name) for name in names]
        if classes == 2:
            prob = [1.0 - prob[0], prob[0]]
        found = [within_range(names, each).text for each in self._formula(prob)]
        return found[0] if classes == 2 else found

    def _columns(self, column: object) -> list[str]:
        """Return the names of columns, one of two classes or each of more."""
        classes = self.classes_.size
        names = [column] if isinstance(column, str) else column
        right = isinstance(names, list | tuple) and all(isinstance(each, str) for each in names)
        if not right or len({*names}) != len(names) or len(names) != (1 if classes == 2 else classes):  # type: ignore[misc, arg-type]
            wanted = "the name of the column of class 1" if classes == 2 else f"the names of {classes} columns"
            raise ValueError(
                f"expected {wanted}, of the classes {quoted(self.classes_.tolist())}, found {short(column)}"
            )
        return [*names]  # type: ignore[misc]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn, the only caller, that this is a classifier."""
        from sklearn.utils import ClassifierTags, Tags, TargetTags

        return Tags("classifier", TargetTags(required=True), classifier_tags=ClassifierTags())

    def _checked(self, p: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions as they were given, and as rows of shape (n, K) for the fitted map."""
        need_fitted(self, "classes_")
        given = as_array(p, "y_prob")
        prob = checked_vectors(given).astype(np.float64, copy=False)
        if prob.shape[1] != self.classes_.size:
            raise ValueError(f"expected predictions of {self.classes_.size} classes as in fit, found {prob.shape[1]}")
        return given, prob

    def _fit(self, prob: np.ndarray, label: np.ndarray) -> str | None:
        """Fit the map on checked rows of shape (n, K), float64, and return why that has not converged, or None.

        The rows may be the caller's own and are not written to.
        """
        return self._fit_weighted(prob, label, None)

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        """Do the same with the positive weights of the rows, shape (n,), or None; by default weights are refused."""
        raise ValueError(NO_WEIGHTS.format(type(self).__name__, "its fit counts every row once"))

    def _map(self, prob: np.ndarray) -> np.ndarray:
        """Return the recalibrated rows of shape (n, K)."""
        raise NotImplementedError

    def _event(self, prob: np.ndarray) -> np.ndarray:
        """Return the recalibrated probabilities of class 1 of two, shape (n,)."""
        return self._map(prob)[:, 1]

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        """Return the recalibrated probability of class 1 of two, or of each class, from the predictions of all."""
        why = "whose class has no method _formula; apply it in Python, by predict_proba"
        raise ValueError(NO_FORMULA.format(type(self).__name__, why))


def normalised(scores: np.ndarray) -> np.ndarray:
    """Divide rows of scores, one for each class, by their sums; a row of zeros becomes uniform."""
    total = scores.sum(axis=1, keepdims=True)
    return np.divide(scores, total, out=np.full(scores.shape, 1 / scores.shape[1]), where=total > 0)


def finite_logs(prob: np.ndarray, clip: float | None, who: Recalibrator) -> np.ndarray:
    """Return the logarithms of probabilities, none of which may be 0, once they are moved by `clip`."""
    return np.log(uncertain(prob, clip, type(who).__name__, one=False))


def check_possible(prob: np.ndarray, label: np.ndarray) -> None:
    """Raise if an observed class has probability 0, which stays 0."""
    impossible = prob[np.arange(label.size), label] == 0
    if impossible.any():
        row = int(np.argmax(impossible))
        raise NeedsClip(
            f"expected a probability above 0 for the observed class, found 0 for class {label[row]} at row {row}; "
            f"the log loss is infinite whatever is fitted; {advice(prob)}"
        )


def counted(weight: np.ndarray | None, n: int) -> np.ndarray:
    """Return how much each of n rows counts in a mean: 1, or its weight in the unit in which the largest is 1/2 to 1.

    The unit is a power of 2, so that nothing is rounded, and sums of any weights are small numbers.
    """
    return np.ones(n) if weight is None else np.ldexp(weight, -np.frexp(weight.max())[1])


def _weights(sample_weight: ArrayLike, n: int) -> np.ndarray:
    """Return checked weights of rows as they were given: two of a weight are as one of twice the weight."""
    as_weights(sample_weight, n)
    return to_numpy(sample_weight, "sample_weight").astype(np.float64)


def _check_order(p: ArrayLike, y: ArrayLike) -> None:
    """Raise if what was given as predictions are classes, and as classes predictions."""
    if look_swapped(y, p):
        raise ValueError(
            "expected (p, y), the predictions first, but they look swapped: found classes in p and probabilities in y"
        )
