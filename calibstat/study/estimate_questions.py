"""Questions about point estimates: bias, rates of convergence, rankings of models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations, product

import numpy as np

from calibstat.inference.estimate import estimate
from calibstat.study.engine import Data
from calibstat.study.question import Question, Row

NOISE = 2.0  # standard errors below which a bias cannot be told from 0 and has no logarithm worth a slope


class EstimateQuestion(Question):
    """A question about the estimates themselves: nothing is resampled."""

    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Return the estimates."""
        assert not isinstance(data, tuple)
        return [float(estimate(data, measure=name, **options)) for name, options in self.measures.values()]

    def fixed(self, generator: str, n: int, measure: str, method: str) -> Row:
        """Return the first columns of every row; there is no level."""
        row = super().fixed(generator, n, measure, method)
        del row["level"]
        return row


class _TruthOptional(EstimateQuestion):
    """A question that makes sense without known true values too."""

    def check(self) -> None:
        """Raise if a generator does not say its true values, or that they are not known."""
        _ = self.truths

    @cached_property
    def truths(self) -> dict[tuple[str, str], float]:
        """The population values; nan where unknown."""
        truths = {}
        for label, (measure, (name, options)) in product(self.generators, self.measures.items()):
            truth = self.truth_of(label)
            try:
                truths[label, measure] = truth(name, **options)
            except NotImplementedError:
                truths[label, measure] = np.nan
        return truths


class Bias(_TruthOptional):
    """The bias and the spread of the estimates."""

    name = "bias"
    method_choices = ("plug-in",)

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Average the estimates and their errors."""
        for (group, (generator, n)), (k, measure) in product(enumerate(self.groups), enumerate(self.measures)):
            truth = self.truths[generator, measure]
            row, estimate = self.fixed(generator, n, measure, "plug-in"), answers[:, group, k]
            with np.errstate(invalid="ignore"):  # between two infinite estimates
                levels = np.quantile(estimate, (0.05, 0.5, 0.95)).tolist()
            quantiles = zip(("q05", "q50", "q95"), levels, strict=True)
            yield {**row, "truth": truth, **_errors(estimate, truth), **dict(quantiles)}


class Consistency(EstimateQuestion):
    """At what rate in n do the errors vanish?"""

    name = "consistency"
    method_choices = ("rmse", "sd", "bias")

    def check(self) -> None:
        """Raise if a slope over n is not defined."""
        if len(set(self.n)) < 3:
            raise ValueError(f"expected at least 3 numbers of rows to see an order of convergence, found {self.n}")
        _ = self.truths

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Regress the logarithm of each error on log n. The order is minus the slope: 1/2 for most estimates."""
        x = np.log(self.n)
        slope = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        by_generator = answers.reshape(len(answers), len(self.generators), len(self.n), -1)
        for (g, generator), (k, measure) in product(enumerate(self.generators), enumerate(self.measures)):
            truth = self.truths[generator, measure]
            errors = [_errors(by_generator[:, g, i, k], truth) for i in range(len(self.n))]
            for method in self.methods:
                error, se = (np.array([abs(each[method + part]) for each in errors]) for part in ("", "_se"))
                if np.all(error > NOISE * se):
                    order, order_se = -float(slope @ np.log(error)), float(np.hypot.reduce(slope * se / error))
                else:
                    order, order_se = np.nan, np.nan
                row = self.fixed(generator, max(self.n), measure, method)
                row |= {"n_from": min(self.n), "truth": truth, "order": order, "order_se": order_se}
                yield row | _by_n(self.n, error, se)


class Ranking(_TruthOptional):
    """Do measures put models in the same order?"""

    name = "ranking"
    method_choices = ("spearman", "kendall")

    def check(self) -> None:
        """Raise if there is no order to compare."""
        if len(self.generators) < 2:
            raise ValueError(f"expected at least 2 generators to put in order, found {list(self.generators)}")
        super().check()

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Correlate the models' ranks by two measures, and by a measure and its true values, in every replicate."""
        by_n = answers.reshape(len(answers), len(self.generators), len(self.n), -1)
        truth = np.array([[self.truths[g, m] for g in self.generators] for m in self.measures])
        for (i, n), method in product(enumerate(self.n), self.methods):
            models = by_n[:, :, i].transpose(2, 0, 1)  # measures, replicates, generators
            codes = [_ORDER[method](each) for each in models]
            true_codes = [_ORDER[method](each[None]) for each in truth]
            against = [(a, b, codes[a], codes[b]) for a, b in combinations(range(len(codes)), 2)]
            to_truth = [(a, None, codes[a], true_codes[a]) for a in range(len(codes))]
            for a, b, one, other in [*to_truth, *against]:
                row = self.fixed("all", n, list(self.measures)[a], method)
                row["against"] = "its truth" if b is None else list(self.measures)[b]
                correlation = (one * other).sum(axis=-1)
                defined = correlation[~np.isnan(correlation)]
                mean = float(defined.mean()) if defined.size else np.nan
                row |= {"generators": len(self.generators), "undefined": correlation.size - defined.size}
                yield {**row, "correlation": mean, "correlation_se": _standard_error(defined)}


def _rank_code(values: np.ndarray) -> np.ndarray:
    """Return unit vectors whose products are Spearman's correlations."""
    from scipy.stats import rankdata

    return _unit(rankdata(values, axis=-1) - (values.shape[-1] + 1) / 2)


def _sign_code(values: np.ndarray) -> np.ndarray:
    """Return unit vectors whose products are Kendall's tau-b."""
    first, second = np.triu_indices(values.shape[-1], 1)
    return _unit(np.sign(values[..., first] - values[..., second]))


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.sqrt((vectors**2).sum(axis=-1, keepdims=True))
    return np.divide(vectors, length, out=np.full_like(vectors, np.nan), where=length > 0)  # all tied: no order


_ORDER = {"spearman": _rank_code, "kendall": _sign_code}


@np.errstate(invalid="ignore")
def _errors(estimate: np.ndarray, truth: float) -> dict[str, float]:
    """Return mean, bias, sd and root mean squared error, each with its Monte Carlo standard error.

    With an infinite estimate the mean is infinite, and the spread is nan.
    """
    mean, mean_se = float(estimate.mean()), _standard_error(estimate)
    variance, variance_se = _mean_square(estimate - mean)
    squared, squared_se = _mean_square(estimate - truth)
    errors = {"mean": (mean, mean_se), "bias": (mean - truth, mean_se + 0 * truth)}
    # the delta method: an error of the square is 2 sd times an error of the root
    for name, square, se in (("sd", variance, variance_se), ("rmse", squared, squared_se)):
        root = float(np.sqrt(square))
        errors[name] = root, 0.0 if root == 0 else se / (2 * root)
    return {key: value for name, (v, se) in errors.items() for key, value in ((name, v), (f"{name}_se", se))}


def _by_n(n: list[int], error: np.ndarray, se: np.ndarray) -> Row:
    """Return the error for each number of rows with its standard error, two columns for each, ascending in n."""
    order = np.argsort(n)
    names = [f"error_{n[i]}{part}" for i in order for part in ("", "_se")]
    return dict(zip(names, np.column_stack([error, se])[order].ravel().tolist(), strict=True))


def _mean_square(deviation: np.ndarray) -> tuple[float, float]:
    square = deviation**2
    return float(square.mean()), _standard_error(square)


def _standard_error(values: np.ndarray) -> float:
    """Return the standard error of a mean; nan from a single replicate."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else np.nan
