"""Reliability diagrams in the manner of scikit-learn's displays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.inference.reliability import Reliability, reliability
from calibstat.plots.plot import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class ReliabilityDisplay:
    """A reliability diagram in the manner of scikit-learn's displays.

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

    Examples
    --------
    >>> import calibstat as cs
    >>> display = cs.ReliabilityDisplay.from_predictions([0, 1, 1], [0.2, 0.6, 0.9], n_bins=5, rng=1, name="forest")
    >>> display.reliability.count
    array([1., 1., 1.])
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, reliability: Reliability, *, name: str | None = None) -> None:
        self.reliability = reliability
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any = None,
        *,
        name: str | None = None,
        ax: Axes | None = None,
        deviation: bool = False,
        **options: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability diagram of outcomes and predictions.

        Parameters
        ----------
        y_true, y_prob, **options
            As for `calibstat.reliability`: `n_bins`, `strategy`, `band`, `level`, `rng` and so on.
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

        Examples
        --------
        >>> import calibstat as cs
        >>> cs.ReliabilityDisplay.from_predictions([0, 1], [0.2, 0.9], rng=1).ax_.get_ylabel()
        'Observed frequency'
        """
        return cls(reliability(y_true, y_prob, **options), name=name).plot(ax, deviation=deviation)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> ReliabilityDisplay:
        """Draw the reliability diagram of a fitted classifier of two classes.

        Parameters
        ----------
        estimator : object
            Anything with `predict_proba` and two `classes_`.
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
        TypeError
            If the estimator has no `predict_proba`.
        ValueError
            If it has not two classes, `pos_label` is none of them, or as for `calibstat.reliability`.

        Examples
        --------
        >>> import calibstat as cs
        >>> class Fitted:
        ...     classes_ = ["no", "yes"]
        ...     def predict_proba(self, X):
        ...         return [[1 - x, x] for x in X]
        >>> cs.ReliabilityDisplay.from_estimator(Fitted(), [0.2, 0.9], ["no", "yes"], rng=1).name
        'Fitted'
        """
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(f"expected an estimator with predict_proba, found {type(estimator).__name__}")
        classes = list(estimator.classes_)
        if len(classes) != 2:
            raise ValueError(f"expected a classifier of two classes, found {len(classes)}")
        pos_label = classes[1] if pos_label is None else pos_label
        if pos_label not in classes:
            raise ValueError(f"expected pos_label to be one of {classes!r}, found {pos_label!r}")
        column = classes.index(pos_label)
        return cls.from_predictions(
            y,
            np.asarray(estimator.predict_proba(X))[:, column],
            labels=[classes[1 - column], classes[column]],
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **options,
        )

    def plot(self, ax: Axes | None = None, *, name: str | None = None, deviation: bool = False) -> ReliabilityDisplay:
        """Draw the diagram in the given axes or a new figure, and return the display."""
        self.ax_ = plot(self.reliability, ax, deviation=deviation, title=self.name if name is None else name)
        self.figure_ = self.ax_.figure  # type: ignore[assignment]
        return self
