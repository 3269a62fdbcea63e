"""Base class of multiclass generators: simulators with known population values."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibstat.data.lenses import AnyLens, Lens, find_lens, one_class
from calibstat.data.retired_words import refuse_retired
from calibstat.generators import multiclass_truth
from calibstat.generators.distributions import Random
from calibstat.generators.multiclass_truth import MulticlassPopulation
from calibstat.generators.population import ONE_POINT
from calibstat.generators.simulator import Pairs, Simulator
from calibstat.measures.kinds.base import Measure, MulticlassMeasure
from calibstat.measures.kinds.registry import find_measure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    class NumberOrNumbers(float, np.ndarray):  # type: ignore[misc]
        """To type checkers both: which of the two a result is depends on `lens`."""

else:
    NumberOrNumbers = float | np.ndarray


ONE_SUM = 1e-6  # how far the sum of a predicted vector may be from 1


class MulticlassGenerator(Simulator):
    """A multiclass generator: a distribution of predictions, and the true probabilities of classes given each.

    Attributes
    ----------
    n_classes : int
        Number of classes, K.
    """

    n_classes: int

    def truth(
        self,
        measure: str | Measure | type[Measure] = "ece",
        *,
        lens: AnyLens = None,
        **options: Any,
    ) -> NumberOrNumbers:
        """Return the measure of the population, the limit of estimates from n rows as n grows.

        Parameters
        ----------
        measure : str or Measure
            A name in `calibstat.MEASURES`, or a measure itself.
        lens : str or Lens, optional
            A name in `calibstat.LENSES`, or one made by `calibstat.lenses`; by default "top_label" for binary
            measures and "canonical" for multiclass ones. "class_wise_mean" and "class_wise_max" are the mean and the
            largest of the K values of "class_wise".
        **options
            Options of the measure.

        Returns
        -------
        float
            Or an array of K values, one for each class, through "class_wise". Through a lens of several classes,
            `brier` is the mean squared distance of prediction and one-hot class, and `log_loss` the mean of -log of the
            predicted probability of the class.

        Raises
        ------
        ValueError
            If the measure, an option or the lens is unknown, a binary measure meets a lens of several classes
            or the other way round, or an option depends on n, as ``n_bins="cube_root"`` does.
        NotImplementedError
            If the population value is not known: of most multiclass measures that are not sums over fixed cells, of
            those named at `Generator.truth`, and over a continuous distribution of a user-defined seminorm
            that does not set `weak`.

        Notes
        -----
        Finite distributions are summed exactly. A calibrated generator has error 0 by every complete measure,
        without computation. A Dirichlet distribution is replaced by the points of a Sobol net; `dirichlet` says
        how far off that is.

        The log loss is computed in exact arithmetic: where the probability of a class rounds to 0, estimates of it can
        be infinite.
        """
        refuse_retired("truth", options, ())
        found = find_measure(measure, options)
        through = find_lens(
            ("canonical" if isinstance(found, MulticlassMeasure) else "top_label") if lens is None else lens
        )
        if isinstance(through, Lens):
            return cast("NumberOrNumbers", self._truth(through, found))
        values = np.array([self._truth(one_class(k), found) for k in range(self.n_classes)])
        if through.reduce is None:
            return cast("NumberOrNumbers", values)
        return cast("NumberOrNumbers", float(values.max() if through.reduce == "max" else values.mean()))

    def conditional(self, p: ArrayLike) -> np.ndarray:
        """Return the calibration function, the probabilities of the classes given the prediction.

        Parameters
        ----------
        p : array_like, shape (K,) or (m, K)
            Predicted vectors, each of sum 1.

        Returns
        -------
        ndarray of float64
            Of the shape of `p`; nan in rows that the generator never predicts.

        Raises
        ------
        ValueError
            If a row is not of K probabilities that sum to 1 within 1e-6.
        """
        prob = np.asarray(p, np.float64)
        if prob.ndim not in (1, 2) or prob.shape[-1] != self.n_classes:
            raise ValueError(f"expected vectors of {self.n_classes} probabilities, found shape {prob.shape}")
        if not (np.all(prob >= 0) and np.all(np.abs(prob.sum(axis=-1) - 1) <= ONE_SUM)):
            raise ValueError("expected probabilities of at least 0 that sum to 1 in every row")
        return self._conditional(np.atleast_2d(prob)).reshape(prob.shape)

    @cached_property
    def is_calibrated(self) -> bool:
        """Whether the classes have the probabilities that are predicted, to 1e-12, everywhere."""
        return bool(np.all(np.abs(self._population.chance - self._population.prob) <= ONE_POINT))

    def __repr__(self) -> str:
        given = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in given.items() if v is not None)})"

    def _truth(self, lens: Lens, measure: Measure) -> float:
        if self.is_calibrated and measure.info.complete:
            with suppress(NotImplementedError):  # finds bad arguments, on a single calibrated point
                multiclass_truth.truth(points(np.ones((1, self.n_classes)) / self.n_classes), lens, measure)
            return 0.0
        return multiclass_truth.truth(self._population, lens, measure)

    @property
    def _population(self) -> MulticlassPopulation:
        """The distribution of what `_rows` draws, as weighted points."""
        raise NotImplementedError

    @property
    def _classes(self) -> int:
        return self.n_classes

    def _pairs(self, n: int, random: Random) -> Pairs:
        y, p = self._rows(n, random)
        return y.astype(np.int64), p

    def _chance_given(self, p: np.ndarray) -> np.ndarray:
        return self._conditional(p)

    def _outcome(self, chance: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        return classes_at(chance, uniform)

    def _rows(self, n: int, random: Random) -> tuple[np.ndarray, np.ndarray]:
        """Draw classes and predicted vectors."""
        raise NotImplementedError

    def _conditional(self, prob: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes given each row of predictions."""
        raise NotImplementedError


def points(prob: np.ndarray, chance: np.ndarray | None = None) -> MulticlassPopulation:
    """Return finitely many equally likely predictions with the probabilities of the classes, or calibrated ones."""
    with np.errstate(divide="ignore"):
        return MulticlassPopulation(np.ones(len(prob)), prob, np.log(prob), prob if chance is None else chance, True)


def draw_classes(chance: np.ndarray, random: Random) -> np.ndarray:
    """Draw a class from each row."""
    return classes_at(chance, random.random((len(chance), 1))[:, 0])


def classes_at(chance: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return the first class of each row whose cumulative probability exceeds a number.

    Cumulative sums are normalised to reach 1 at the last possible class.
    """
    below = chance.cumsum(axis=1)
    return (below / below[:, -1:] <= uniform[:, None]).sum(axis=1)
