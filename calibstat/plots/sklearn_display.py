"""Reliability diagrams in the manner of scikit-learn's displays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checked_rows import OneModel
from calibstat.data.checks import cut, described, short
from calibstat.data.estimators import Classifier, predict
from calibstat.inference.bands.reliability import Reliability, reliability
from calibstat.plots.plot import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from calibstat.inference.cross_validation.cross_validation_result import CrossValidation


class ReliabilityDisplay:
    """A reliability diagram in the manner of scikit-learn's displays.

        >>> import calibstat as cs
        >>> display = cs.ReliabilityDisplay.from_predictions([0, 1, 1], [0.2, 0.6, 0.9], n_bins=5, rng=1, name="forest")
        >>> display.reliability.count
        array([1., 1., 1.])

    Parameters
    ----------
    reliability : Reliability
        What to draw.
    name : str, optional
        Name of the model, the title.

    Attributes
    ----------
    reliability : Reliability
        The numbers.
    ax_ : matplotlib Axes
        Where the diagram was drawn, after `plot`.
    figure_ : matplotlib Figure
        Its figure, after `plot`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, reliability: Reliability, *, name: str | None = None) -> None:
        self.reliability = reliability
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: OneModel,
        y_prob: ArrayLike | None = None,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        deviation: bool = False,
        **options: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability diagram of outcomes and predictions.

            >>> import calibstat as cs
            >>> cs.ReliabilityDisplay.from_predictions([0, 1], [0.2, 0.9], rng=1).ax_.get_ylabel()
            'Observed frequency'

        Parameters
        ----------
        y_true, y_prob, **options
            As for `calibstat.reliability`: `n_bins`, `strategy`, `band`, `level`, `sample_weight`, `rng` and so on.
        name : str, optional
            Name of the model, the title.
        ax, deviation
            As for `calibstat.plot`.

        Returns
        -------
        ReliabilityDisplay

        Raises
        ------
        ValueError
            As for `calibstat.reliability`.
        """
        return cls(reliability(y_true, y_prob, **options), name=name).plot(ax, deviation=deviation)

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: object,
        y: ArrayLike,
        *,
        pos_label: object = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability diagram of a fitted classifier of two classes.

            >>> import calibstat as cs
            >>> import numpy as np
            >>> class Fitted:
            ...     classes_ = ["no", "yes"]
            ...     def predict_proba(self, X):
            ...         return np.array([[1 - x, x] for x in X])
            >>> cs.ReliabilityDisplay.from_estimator(Fitted(), [0.2, 0.9], ["no", "yes"], rng=1).name
            'Fitted'

        Parameters
        ----------
        estimator : object
            As for `calibstat.predict`, fitted to two classes.
        X, y : array_like, shapes (n, n_features) and (n,)
            Features and classes.
        pos_label : object, optional
            The class whose probability is looked at; by default the second of `classes_`.
        name : str, optional
            Name of the model, the title; by default the name of its class.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **options
            As for `from_predictions`.

        Returns
        -------
        ReliabilityDisplay

        Raises
        ------
        ValueError
            If the estimator has no `predict_proba`, or not two classes, `pos_label` is none of them, or as for
            `calibstat.reliability`.
        """
        prob = predict(estimator, X)
        if prob.shape[1] != 2:
            raise ValueError(f"expected a classifier of two classes, found {prob.shape[1]}")
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, prob, pos_label=pos_label, name=name, ax=ax, **options)

    @classmethod
    def from_cross_validation(
        cls, found: CrossValidation, y: ArrayLike, *, name: str | None = None, ax: Axes | None = None, **options: Any
    ) -> ReliabilityDisplay:
        """Draw the reliability diagram of the predictions out of folds of `cross_validate`.

            >>> import calibstat as cs
            >>> from sklearn.datasets import load_breast_cancer
            >>> from sklearn.naive_bayes import GaussianNB
            >>> X, y = load_breast_cancer(return_X_y=True)
            >>> found = cs.cross_validate(GaussianNB(), X, y, repeats=1, rng=1)
            >>> cs.ReliabilityDisplay.from_cross_validation(found, y, rng=1).name
            'GaussianNB(), 5 models out of fold'

        Parameters
        ----------
        found : CrossValidation
            What `calibstat.cross_validate` returned; the predictions of its first repeat are drawn.
        y : array_like, shape (n,)
            The outcomes that it was given.
        name : str, optional
            The title; by default the learner and the number of its models.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **options
            As for `from_predictions`.

        Returns
        -------
        ReliabilityDisplay

        Raises
        ------
        ValueError
            If there are not as many outcomes as predictions, or they are written otherwise than those that were given;
            or as for `calibstat.reliability`.

        Notes
        -----
        Bars and bands are as if all predictions were of one model and fresh. How far the models are off by chance of
        their rows hardly shows in the diagram; the interval of the result has it.
        """
        folds = int(found.folds[:, 0].max()) + 1
        name = f"{cut(found.estimator, 60)}, {folds} models out of fold" if name is None else name
        outcome = np.asarray(y)
        if outcome.shape != found.predictions.shape[:1]:
            raise ValueError(
                f"expected {len(found.predictions)} outcomes, as many as were predicted, found {described(y)}"
            )
        event = (outcome.astype(str) == found.outcome).astype(int)
        if event.min() == event.max():  # cross_validate has seen two outcomes
            raise ValueError(
                f"expected the outcomes that cross_validate was given, {found.outcome} and another one, found "
                f"{short(outcome[0])} at row 0 and {'only' if event.min() else 'never'} {found.outcome}"
            )
        options = {"interval": False} | options  # one as if rows were fresh is too short
        return cls.from_predictions(event, found.predictions[:, 0], name=name, ax=ax, **options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.reliability!r}, name={self.name!r})"

    def plot(self, ax: Axes | None = None, *, name: str | None = None, deviation: bool = False) -> ReliabilityDisplay:
        """Draw the diagram in the given axes or a new figure, and return the display."""
        self.ax_ = plot(self.reliability, ax, deviation=deviation, title=self.name if name is None else name)
        self.figure_ = self.ax_.figure  # type: ignore[assignment]
        return self
