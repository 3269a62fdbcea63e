"""Synthetic families of predicted vectors for K classes that know their truth."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from calibstat.data.lenses import Lens, find_lens, one_class
from calibstat.generators import multiclass_truth as vectors
from calibstat.generators.distributions import solve
from calibstat.generators.generator import drawing
from calibstat.generators.multiclass_truth import Vectors
from calibstat.generators.population import SAME
from calibstat.measures.registry import find_measure

MOST_POINTS = 2**16  # that stand for a continuous law
FEWEST_POINTS = 2**12
NUMBERS = 2**21  # fewer points for many classes, so that points times classes stay near this
NOTHING = 1e-9  # a singular value, or an entry of a direction, this small against the largest is 0
ONE_SUM = 1e-6  # how far the sum of a predicted vector may be from 1


class MulticlassGenerator:
    """What all families share: a law of predicted vectors, and the law of the class given each.

    Attributes
    ----------
    n_classes : int
        Number of classes, K.
    """

    n_classes: int

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows.

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        rng : None, int, SeedSequence or Generator
            Whatever `numpy.random.default_rng` takes.

        Returns
        -------
        y : ndarray of int64, shape (n,)
            Classes, from 0 to K - 1.
        p : ndarray of float64, shape (n, K)
            Predicted probabilities; rows sum to 1 up to rounding.

        Raises
        ------
        ValueError
            If `n` is not a whole number of at least 1.
        """
        y, p = self._rows(*drawing(n, rng))
        return y.astype(np.int64), p

    def truth(self, measure: str = "ece", *, lens: Any = None, reduce: str | None = None, **options: Any) -> Any:
        """Return the measure of the population, which an estimate from n rows tends to as n grows.

        Parameters
        ----------
        measure : str
            A name in `calibstat.MEASURES`.
        lens : str or Lens, optional
            A name in `calibstat.LENSES`, or one made by `calibstat.lenses`; by default "top_label" for measures of one
            event and "canonical" for measures of whole vectors.
        reduce : {None, "mean", "max"}
            What becomes of the K values through the lens "class_wise".
        **options
            Options of the measure.

        Returns
        -------
        float
            Or an array of K values, one for each class, through "class_wise" without `reduce`. Through a lens that
            sees classes, `brier` is the mean squared distance of the vector from the class, a unit vector, and
            `log_loss` the mean of minus the logarithm of the probability that the class was given.

        Raises
        ------
        ValueError
            If the measure, an option or the lens is unknown, the measure is of one event and the lens sees more
            classes or the other way round, or an option depends on n, as ``n_bins="cube_root"`` does.
        NotImplementedError
            If the population value is not known: of most whole-vector measures that are not sums over fixed cells, of
            those that are named for `Generator.truth`, and over a continuous law of a seminorm that somebody else
            registered.

        Notes
        -----
        Finite laws are summed exactly. A calibrated family has error 0 by every measure that is complete, without any
        computation. A Dirichlet law is replaced by the points of a Sobol net; `dirichlet` says how far off that is.

        The log loss is that of exact arithmetic: where the probability of a class rounds to 0, estimates of it can be
        infinite.
        """
        entry = find_measure(measure, {}).measure
        through = find_lens(("canonical" if entry.of == "vectors" else "top_label") if lens is None else lens)
        if isinstance(through, Lens):
            if reduce is not None:
                raise ValueError(f"expected reduce only with lens 'class_wise', found {reduce!r} with lens {through}")
            return self._truth(through, measure, options)
        if reduce not in (None, "mean", "max"):
            raise ValueError(f"expected reduce None, 'mean' or 'max', found {reduce!r}")
        values = np.array([self._truth(one_class(k), measure, options) for k in range(self.n_classes)])
        return values if reduce is None else float(values.mean() if reduce == "mean" else values.max())

    def conditional(self, p: Any) -> np.ndarray:
        """Return the calibration function, the law of the class given the predicted vector.

        Parameters
        ----------
        p : array_like, shape (K,) or (m, K)
            Predicted vectors, each of sum 1.

        Returns
        -------
        ndarray of float64
            Of the shape of `p`; nan in rows that the family never predicts.

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
        """Whether the law of the class given the predicted vector is that vector, to 1e-12, everywhere."""
        return bool(np.all(np.abs(self._vectors.law - self._vectors.prob) <= SAME))

    def __repr__(self) -> str:
        given = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in given.items() if v is not None)})"

    def _truth(self, lens: Lens, measure: str, options: dict[str, Any]) -> float:
        if self.is_calibrated and find_measure(measure, {}).measure.complete:
            with suppress(NotImplementedError):  # one calibrated point is enough to find bad arguments by
                vectors.truth(_points(np.ones((1, self.n_classes)) / self.n_classes), lens, measure, options)
            return 0.0
        return vectors.truth(self._vectors, lens, measure, options)

    @property
    def _vectors(self) -> Vectors:
        """The law of what `_rows` draws, as weighted points."""
        raise NotImplementedError

    def _rows(self, n: int, random: Any) -> tuple[np.ndarray, np.ndarray]:
        """Draw classes and predicted vectors."""
        raise NotImplementedError

    def _conditional(self, prob: np.ndarray) -> np.ndarray:
        """Return the law of the class given each row."""
        raise NotImplementedError


class _Finite(MulticlassGenerator):
    """A family of finitely many equally likely vectors."""

    def _rows(self, n: int, random: Any) -> tuple[np.ndarray, np.ndarray]:
        point = random.integers(self._vectors.weight.size, size=n)
        return _classes(self._vectors.law[point], random), self._vectors.prob[point]

    def _conditional(self, prob: np.ndarray) -> np.ndarray:
        found = np.full(prob.shape, np.nan)
        for predicted, law in zip(self._vectors.prob, self._vectors.law, strict=True):
            found[np.all(np.abs(prob - predicted) <= SAME, axis=1)] = law
        return found


@dataclass(frozen=True, repr=False)
class six_points(_Finite):
    """Errors that neither the most likely class nor any single class shows: six equally likely vectors of 3 classes.

    ================  ================
    predicted         law of the class
    ================  ================
    (0.1, 0.3, 0.6)   (0.2, 0.2, 0.6)
    (0.1, 0.6, 0.3)   (0.0, 0.7, 0.3)
    (0.3, 0.1, 0.6)   (0.2, 0.2, 0.6)
    (0.3, 0.6, 0.1)   (0.4, 0.5, 0.1)
    (0.6, 0.1, 0.3)   (0.7, 0.0, 0.3)
    (0.6, 0.3, 0.1)   (0.5, 0.4, 0.1)
    ================  ================

    The top label and every class by itself are perfectly calibrated; as vectors the predictions are off by 0.1 in total
    variation, each of them (Vaicenavicius et al. 2019, table 1, arXiv:1902.06977).

    Examples
    --------
    >>> from calibstat import generators
    >>> family = generators.six_points()
    >>> round(family.truth("ece"), 12), family.truth("ece", lens="class_wise").round(12)
    (0.0, array([0., 0., 0.]))
    >>> family.conditional([0.1, 0.6, 0.3])
    array([0. , 0.7, 0.3])
    >>> family.sample(2, rng=1)
    (array([2, 0]), array([[0.3, 0.1, 0.6],
           [0.3, 0.6, 0.1]]))
    """

    n_classes = 3

    @cached_property
    def _vectors(self) -> Vectors:
        prob = [[1, 3, 6], [1, 6, 3], [3, 1, 6], [3, 6, 1], [6, 1, 3], [6, 3, 1]]
        law = [[2, 2, 6], [0, 7, 3], [2, 2, 6], [4, 5, 1], [7, 0, 3], [5, 4, 1]]
        return _points(np.array(prob) / 10, np.array(law) / 10)


@dataclass(frozen=True, repr=False)
class always_wrong(_Finite):
    """A predictor that is never right and looks good by its confidence.

    The class is known, equally likely any of the K; a wrong one, the next, is given 1/K + epsilon and every other one
    1/K - epsilon / (K - 1). So the Brier score of its confidence is (1/K + epsilon)², which falls like 1/K² for an
    epsilon that falls like 1/K, and its confidence is off by 1/K + epsilon only; but that of the whole vectors stays
    near 1 (Chidambaram, Ge 2024, proposition 4.5, arXiv:2406.04068).

    Parameters
    ----------
    n_classes : int
        K, at least 2.
    epsilon : float
        Above 0, at most (K - 1) / K.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> from calibstat import generators
    >>> for k in (10, 100):
    ...     family = generators.always_wrong(k, epsilon=1 / k)
    ...     print(k, round(family.truth("brier"), 6), round(family.truth("brier", lens="canonical"), 6))
    10 0.04 0.933333
    100 0.0004 0.990303
    """

    n_classes: int
    epsilon: float

    def __post_init__(self) -> None:
        if isinstance(self.n_classes, bool) or self.n_classes != int(self.n_classes) or self.n_classes < 2:
            raise ValueError(f"expected n_classes to be a whole number of at least 2, found {self.n_classes!r}")
        if not 0 < self.epsilon <= (self.n_classes - 1) / self.n_classes:
            most = f"(K - 1) / K for K = {self.n_classes}"
            raise ValueError(f"expected epsilon above 0 and at most {most}, found {self.epsilon!r}")

    @cached_property
    def _vectors(self) -> Vectors:
        classes = int(self.n_classes)
        # at the largest epsilon rounding must not leave [0, 1]
        prob = np.full((classes, classes), max(1 / classes - self.epsilon / (classes - 1), 0.0))
        known = np.arange(classes)
        prob[known, (known + 1) % classes] = min(1 / classes + self.epsilon, 1.0)
        return _points(prob, np.eye(classes))


@dataclass(frozen=True, repr=False)
class dirichlet(MulticlassGenerator):
    """Vectors from a Dirichlet law, reported through temperature, vector or matrix scaling of their logarithms.

    The law of the class is itself drawn, q ~ Dirichlet(alpha), then the class from q. Reported is softmax(temperature
    log q), softmax(scale * log q + shift) or softmax(matrix @ log q + shift), one of the three. Without any of these it
    is q itself: calibrated.

    Parameters
    ----------
    alpha : sequence of K floats
        Positive. Sharp near 0, where almost all of a vector is on one class; (1, ..., 1) is uniform on the simplex.
    temperature : float
        Positive: more than 1 is over-confident, less is under-confident.
    scale : sequence of K floats, optional
        What multiplies each logarithm.
    matrix : array_like, shape (K, K), optional
        What multiplies the vector of logarithms.
    shift : sequence of K floats, optional
        What is then added; only with `scale` or `matrix`.

    Raises
    ------
    ValueError
        If there are fewer than two classes, an argument is not of its shape or range, more than one of the three
        scalings is given, or two q can be reported as the same vector (see notes).

    Notes
    -----
    Adding a number to all logits changes no prediction. So there must be one direction only, w, in which log q can move
    unnoticed: ``matrix @ w`` has equal entries. And w must not have entries of both signs, or the sum of q would be 1 a
    second time on the way. (A `scale` that is nowhere 0 has w = 1 / `scale`: all of one sign. The matrix diag(2, -1) is
    not singular, but its odds q1² q2 do not tell whether q1 is below or above 2/3.)

    Truths of the miscalibrated families are sums over a Sobol net of 65536 points, fewer for more than 32 classes so
    that points times classes stay below 2**21, at least 4096; it goes through the quantiles of beta laws, by which a
    stick is broken. Measured against closed forms and larger nets, scores, L1 and L2 errors over up to 100 bins and
    measures without bins are off by less than 1e-5 for 2 or 3 classes, 2e-4 for up to 30 and 1e-3 for 100; the log
    loss, with entries of alpha below 1, by up to 3 times as much, and `canonical_ce` by up to 4e-4 for 10 classes.
    Means of rare bins are less exact, and so is an error by them alone (``norm="max"``): 2e-4 for 3 classes, 6e-3 for
    10. `skce` is summed over the pairs of 4096 points: off by 5e-6 for 3 or 10 classes. Cost: the quantiles take up to
    5 seconds, once for a family.

    Examples
    --------
    >>> from calibstat import generators
    >>> family = generators.dirichlet((1, 1, 1), temperature=2)
    >>> family.conditional([0.1, 0.1, 0.8]).round(4)
    array([0.2071, 0.2071, 0.5858])
    >>> round(family.truth("ece"), 3), round(family.truth("ece", lens="class_wise", reduce="mean"), 3)
    (0.139, 0.093)
    >>> generators.dirichlet((1, 1, 1)).truth("ece")
    0.0
    """

    alpha: Sequence[float]
    _: KW_ONLY
    temperature: float = 1.0
    scale: Sequence[float] | None = None
    matrix: Any = None
    shift: Sequence[float] | None = None

    def __post_init__(self) -> None:
        alpha = _numbers("alpha", self.alpha)
        classes = alpha.size
        if alpha.ndim != 1 or classes < 2 or not np.all(alpha > 0):
            raise ValueError(f"expected alpha, two or more positive numbers, found {self.alpha!r}")
        object.__setattr__(self, "alpha", tuple(alpha.tolist()))
        object.__setattr__(self, "n_classes", classes)
        if not 0 < self.temperature < np.inf:
            raise ValueError(f"expected temperature positive and finite, found {self.temperature!r}")
        others = [name for name in ("scale", "matrix") if getattr(self, name) is not None]
        if len(others) + (self.temperature != 1) > 1:
            raise ValueError(f"expected one of temperature, scale and matrix, found {self.temperature!r} and {others}")
        if self.shift is not None and not others:
            raise ValueError("expected shift with scale or matrix only")
        for name, shape in (("scale", (classes,)), ("matrix", (classes, classes)), ("shift", (classes,))):
            value = getattr(self, name)
            if value is None:
                continue
            number = _numbers(name, value)
            if number.shape != shape:
                raise ValueError(f"expected {name} of shape {shape}, found shape {number.shape}")
            entries = tuple(map(tuple, number.tolist())) if number.ndim == 2 else tuple(number.tolist())
            object.__setattr__(self, name, entries)
        _ = self._unnoticed

    @cached_property
    def is_calibrated(self) -> bool:
        """Whether the vectors are reported as they are, to 1e-12."""
        if self._linear is None:
            return abs(self.temperature - 1) <= SAME
        matrix, shift = self._linear
        change = matrix - np.eye(self.n_classes)
        return bool(np.all(np.abs(_centred(change)) <= SAME) and np.all(np.abs(_centred(shift)) <= SAME))

    @cached_property
    def _linear(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The matrix and the shift that make logits of log q, unless a number does."""
        if self.scale is None and self.matrix is None:
            return None
        shift = np.zeros(self.n_classes) if self.shift is None else np.array(self.shift)
        return np.diag(np.array(self.scale)) if self.matrix is None else np.array(self.matrix), shift

    @cached_property
    def _unnoticed(self) -> np.ndarray:
        """The direction in which log q can move and the prediction stays, of largest entry 1."""
        if self._linear is None:
            return np.ones(self.n_classes)
        _, size, direction = np.linalg.svd(_centred(self._linear[0]))
        if size[-2] <= NOTHING * size[0]:
            raise ValueError("expected a matrix, or scale, that keeps vectors apart, found one that is singular beyond "
                             "the direction in which all logits change by the same number")  # fmt: skip
        w = direction[-1] / direction[-1][np.abs(direction[-1]).argmax()]
        w[np.abs(w) <= NOTHING] = 0.0
        if np.any(w < 0):
            raise ValueError("expected a matrix, or scale, that keeps vectors apart, found one by which two vectors "
                             f"are reported as one: it does not notice the direction {w.round(6).tolist()}, which has "
                             "entries of both signs")  # fmt: skip
        return w

    def _rows(self, n: int, random: Any) -> tuple[np.ndarray, np.ndarray]:
        alpha = np.array(self.alpha)
        # a gamma variable of shape a is one of shape a + 1 times U**(1/a), which for a small a is 0 only as a number
        shape = (n, self.n_classes)
        log_q = np.log(random.standard_gamma(alpha + 1, shape)) - random.standard_exponential(shape) / alpha
        log_q -= np.logaddexp.reduce(log_q, axis=1, keepdims=True)
        q = np.exp(log_q)
        return _classes(q, random), q if self.is_calibrated else np.exp(self._report(log_q))

    def _report(self, log_q: np.ndarray) -> np.ndarray:
        """Return the logarithms of predictions."""
        linear = self._linear
        logit = log_q * self.temperature if linear is None else log_q @ linear[0].T + linear[1]
        return logit - np.logaddexp.reduce(logit, axis=1, keepdims=True)

    @cached_property
    def _vectors(self) -> Vectors:
        most = NUMBERS // self.n_classes
        return self._net(int(np.clip(2 ** (most.bit_length() - 1), FEWEST_POINTS, MOST_POINTS)))

    def _net(self, size: int) -> Vectors:
        """Return that many points, a power of 2, that stand for the law."""
        from scipy.stats import qmc

        alpha = np.array(self.alpha)
        net = qmc.Sobol(self.n_classes - 1, scramble=False).random(size) + 0.5 / size  # each coordinate off 0 and 1
        log_q, rest = np.empty((size, self.n_classes)), np.zeros(size)
        for k, u in enumerate(net.T):  # class k takes a part of what is left of a stick
            below = alpha[k + 1 :].sum()
            log_q[:, k] = rest + _log_beta(u, alpha[k], below)
            rest = rest + _log_beta(1 - u, below, alpha[k])
        log_q[:, -1] = rest
        log_q -= np.logaddexp.reduce(log_q, axis=1, keepdims=True)
        log_prob = log_q if self.is_calibrated else self._report(log_q)
        return Vectors(np.ones(size), np.exp(log_prob), log_prob, np.exp(log_q), False)

    def _conditional(self, prob: np.ndarray) -> np.ndarray:
        if self.is_calibrated:
            return prob.copy()
        with np.errstate(divide="ignore"):
            log_prob = np.log(prob)
        if self._linear is None:
            log_q = log_prob / self.temperature
            return np.exp(log_q - np.logaddexp.reduce(log_q, axis=1, keepdims=True))
        found, w = np.full(prob.shape, np.nan), self._unnoticed
        inside = np.all(prob > 0, axis=1)
        matrix, shift = self._linear
        log_q = (log_prob[inside] - shift) @ np.linalg.pinv(_centred(matrix)).T
        found[inside] = _onto_simplex(log_q, w)
        return found


@dataclass(frozen=True, repr=False)
class label_noise(MulticlassGenerator):
    """Another family whose classes are replaced by any of the K, equally likely, for a share of the rows.

    The true class may be drawn again. Predictions stay, so that calibrated ones become over-confident: the law of the
    class given the prediction is (1 - fraction) times what it was plus fraction / K (Nixon et al. 2019, appendix B,
    arXiv:1904.01685, where models are fitted to such labels).

    Parameters
    ----------
    base : MulticlassGenerator
        The other family.
    fraction : float
        Share of the rows, from 0 to 1.

    Raises
    ------
    ValueError
        If `base` is no family of vectors or the fraction is outside its range.

    Examples
    --------
    >>> from calibstat import generators
    >>> family = generators.label_noise(generators.dirichlet((1, 1, 1)), fraction=0.3)
    >>> family.conditional([0.2, 0.2, 0.6])
    array([0.24, 0.24, 0.52])
    """

    base: MulticlassGenerator
    fraction: float

    def __post_init__(self) -> None:
        if not isinstance(self.base, MulticlassGenerator):
            raise ValueError(f"expected base to be a family of vectors, found {self.base!r}")
        if not 0 <= self.fraction <= 1:
            raise ValueError(f"expected fraction from 0 to 1, found {self.fraction!r}")
        object.__setattr__(self, "n_classes", self.base.n_classes)

    @cached_property
    def is_calibrated(self) -> bool:
        """Whether the law of the class given the predicted vector is that vector, to 1e-12, everywhere."""
        return self.base.is_calibrated if self.fraction == 0 else super().is_calibrated

    @cached_property
    def _vectors(self) -> Vectors:
        return replace(self.base._vectors, law=self._noisy(self.base._vectors.law))

    def _noisy(self, law: np.ndarray) -> np.ndarray:
        return (1 - self.fraction) * law + self.fraction / self.n_classes

    def _rows(self, n: int, random: Any) -> tuple[np.ndarray, np.ndarray]:
        y, p = self.base._rows(n, random)
        return np.where(random.random(n) < self.fraction, random.integers(self.n_classes, size=n), y), p

    def _conditional(self, prob: np.ndarray) -> np.ndarray:
        return self._noisy(self.base._conditional(prob))


def _points(prob: np.ndarray, law: np.ndarray | None = None) -> Vectors:
    """Return finitely many equally likely vectors with their laws, or calibrated ones."""
    with np.errstate(divide="ignore"):
        return Vectors(np.ones(len(prob)), prob, np.log(prob), prob if law is None else law, True)


def _classes(law: np.ndarray, random: Any) -> np.ndarray:
    """Draw a class from each row; divided by its end, a cumulative sum reaches 1 at the last class that can happen."""
    below = law.cumsum(axis=1)
    return (below / below[:, -1:] <= random.random((len(law), 1))).sum(axis=1)


def _numbers(name: str, value: Any) -> np.ndarray:
    try:
        number = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"expected numbers in {name}, found {value!r}") from None
    if not np.all(np.isfinite(number)):
        raise ValueError(f"expected finite numbers in {name}, found {value!r}")
    return number


def _centred(columns: np.ndarray) -> np.ndarray:
    """Subtract from logits, along the first axis, what softmax does not notice."""
    return columns - columns.mean(axis=0)


def _log_beta(u: np.ndarray, a: float, b: float) -> np.ndarray:
    """Return the logarithm of the quantile u of the law Beta(a, b), also where the quantile is no longer a float."""
    from scipy.special import betaincinv, betaln

    quantile = betaincinv(a, b, u)
    small = quantile * max(b, 1.0) < 1e-17  # then the distribution function is x**a / (a B(a, b)) in full precision
    with np.errstate(divide="ignore"):
        return np.where(small, (np.log(u) + np.log(a) + betaln(a, b)) / a, np.log(quantile))


def _onto_simplex(log_q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Move logarithms along w, of entries from 0 to 1, until the sum of the vector is 1; nan if it never is."""
    moved = w > 0
    left = 1 - np.exp(log_q[:, ~moved]).sum(axis=1)
    found = np.full(log_q.shape, np.nan)
    within = left > 0
    log_q, left = log_q[within], left[within]

    def total(c: np.ndarray) -> np.ndarray:
        return np.exp(log_q[:, moved] + c[:, None] * w[moved]).sum(axis=1)

    # at low no class has more than its share of what is left, at high one of them has all of it
    level = np.log(left)[:, None] - log_q[:, moved]
    low, high = ((level - np.log(w.size)) / w[moved]).min(axis=1), (level / w[moved]).min(axis=1)
    c = solve(total, left, low, high)
    found[within] = np.exp(log_q + c[:, None] * w)
    return found
