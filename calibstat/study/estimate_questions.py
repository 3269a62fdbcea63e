"""Questions about point estimates: bias, rates of convergence, rankings of models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, product
from typing import Any

import numpy as np

from calibstat.data.checks import short
from calibstat.inference.estimate import estimate
from calibstat.measures.kinds.base import written_options
from calibstat.study.engine import Data, models_of, observed
from calibstat.study.plain_function import PlainFunction
from calibstat.study.question import Entry, Question, Row

DISTANCE = "distance"  # a target that is no measure, because predictions and outcomes do not determine it
NOISE_Z = 2.0  # standard errors below which a bias cannot be told from 0 and has no logarithm worth a slope


@dataclass(frozen=True)
class EstimateQuestion(Question):
    """A question about the estimates themselves: nothing is resampled. It takes one model or several on the same rows.

    Estimates are held against the population value of their own measure, or of all measures against that of the target.
    """

    target: Entry | None = None

    @property
    def takes_several(self) -> bool | None:
        """Both will do."""
        return None

    @property
    def columns(self) -> list[str]:
        """Names of the answers of one data set: each measure, of each model if there are several."""
        most = max(map(len, self.models.values()))
        if most == 1:
            return list(self.measures)
        return [f"model {k} | {measure}" for k, measure in product(range(most), self.measures)]

    def check(self) -> None:
        """Raise if a generator does not say its true values, or that they are not known."""
        super().check()
        _ = self.truths

    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Return the estimates, model by model; nan where a generator has fewer models than another."""
        sets: list[Any] = [observed(data[0], p) for p in data[1].values()] if isinstance(data, tuple) else [data]
        entries = list(self.measures.values())
        answers = [float(estimate(each, measure=name, **options)) for each in sets for name, options in entries]
        return answers + [np.nan] * (len(self.columns) - len(answers))

    def by_model(self, answers: np.ndarray) -> np.ndarray:
        """Return the answers with the shape (replicates, generators, n, models, measures)."""
        return answers.reshape(len(answers), len(self.generators), len(self.n), -1, len(self.measures))

    @property
    def estimates_of(self) -> Iterator[tuple[tuple[int, int], str, str]]:
        """Yield where the estimates of each model are, as numbers of its generator and itself, and both names."""
        for g, (label, models) in enumerate(self.models.items()):
            for k, model in enumerate(models):
                yield (g, k), label, model

    @cached_property
    def truths(self) -> dict[tuple[str, str, str], float]:
        """The true value of every measure for every model, by label, model and measure; nan where unknown."""
        return {key: value for key, (value, _) in self._known.items()}

    @property
    def note(self) -> str:
        """True values that are not known although a generator could say them, and why: once for each reason."""
        reasons: dict[str, str] = {}
        for (label, model, measure), (_, why) in self._known.items():
            if why and not isinstance(self.models[label][model], PlainFunction):
                what = repr(measure) if self.target is None else f"the target {written(self.target)}"
                where = repr(label) if models_of(self.generators[label]) is None else f"model {model!r} of {label!r}"
                reasons.setdefault(why, f"the true value of {what} on {where} is not known, because {why}")
        return f"{'; '.join(reasons.values())}; what is held against it is nan" if reasons else ""

    def fixed(self, generator: str, n: int, measure: str, method: str, model: str | None = None) -> Row:
        """Return the first columns of every row; there is no level, and a model only beside others."""
        row = super().fixed(generator, n, measure, method)
        del row["level"]
        if model is not None and any(models_of(each) is not None for each in self.generators.values()):
            row = {"question": row.pop("question"), "generator": row.pop("generator"), "model": model, **row}
        return row if self.target is None else {**row, "target": written(self.target)}

    @cached_property
    def _known(self) -> dict[tuple[str, str, str], tuple[float, str]]:
        """The true values, and why they are not known."""
        known = {}
        for _, label, model in self.estimates_of:
            target = None if self.target is None else self._value(label, model, *self.target)
            for measure, entry in self.measures.items():
                known[label, model, measure] = target or self._value(label, model, *entry)
        return known

    def _value(self, label: str, model: str, name: str, options: dict[str, Any]) -> tuple[float, str]:
        """Return a true value, or nan and why it is not known."""
        if name == DISTANCE:
            asked = getattr(self.models[label][model], "distance", no_distance)
        else:
            asked = partial(self.truth_of(label, model), name)
        try:
            return asked(**options), ""
        except (NotImplementedError, ValueError) as why:  # or the measure has no one value, but one for each n
            return np.nan, str(why)


class Bias(EstimateQuestion):
    """The bias and the spread of the estimates."""

    name = "bias"
    method_choices = ("plug-in",)

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Average the estimates and their errors."""
        estimates = self.by_model(answers)
        parts = product(self.estimates_of, enumerate(self.n), enumerate(self.measures))
        for ((g, k), label, model), (i, n), (m, measure) in parts:
            truth = self.truths[label, model, measure]
            row, estimate = self.fixed(label, n, measure, "plug-in", model), estimates[:, g, i, k, m]
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
        super().check()

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Regress the logarithm of each error on log n. The order is minus the slope: 1/2 for most estimates."""
        x = np.log(self.n)
        slope = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        estimates = self.by_model(answers)
        for ((g, k), label, model), (m, measure) in product(self.estimates_of, enumerate(self.measures)):
            truth = self.truths[label, model, measure]
            errors = [_errors(estimates[:, g, i, k, m], truth) for i in range(len(self.n))]
            for method in self.methods:
                error, se = (np.array([abs(each[method + part]) for each in errors]) for part in ("", "_se"))
                if np.all(error > NOISE_Z * se):
                    order, order_se = -float(slope @ np.log(error)), float(np.hypot.reduce(slope * se / error))
                else:
                    order, order_se = np.nan, np.nan
                row = self.fixed(label, max(self.n), measure, method, model)
                row |= {"n_from": min(self.n), "truth": truth, "order": order, "order_se": order_se}
                yield row | _by_n(self.n, error, se)


@dataclass(frozen=True)
class Ranking(EstimateQuestion):
    """Do measures put models in the same order?"""

    same_rows: bool = True

    name = "ranking"
    method_choices = ("spearman", "kendall")

    @property
    def takes_several(self) -> bool:
        """Several models on the same rows are put in order, or models of rows of their own."""
        return self.same_rows

    @property
    def expected_models(self) -> str:
        """The generators that are expected, in words."""
        if not self.same_rows:
            return f"{super().expected_models} and same_rows=False"
        some = ", ".join(f"{label!r}: {short(each, 40)}" for label, each in list(self.generators.items())[:2])
        return (
            "expected generators of several models, which are judged on the same rows: write "
            f'run("ranking", {{"all": cs.generators.models(base, {{{some}, ...}})}}, ...) where `base` draws the rows, '
            "or same_rows=False for models that are judged on rows of their own"
        )

    def check(self) -> None:
        """Raise if there is no order to compare."""
        if not self.same_rows and len(self.generators) < 2:
            raise ValueError(f"expected at least 2 generators to put in order, found {list(self.generators)}")
        super().check()

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Correlate the models' ranks by two measures, and by a measure and its true values, in every replicate."""
        held_against = "its truth" if self.target is None else "the target"
        for family, estimates, names in self._families(answers):
            truth = np.array([[self.truths[*model, m] for model in names] for m in self.measures])
            for (i, n), method in product(enumerate(self.n), self.methods):
                models = estimates[:, i].transpose(2, 0, 1)  # measures, replicates, models
                codes = [_ORDER[method](each) for each in models]
                true_codes = [_ORDER[method](each[None]) for each in truth]
                against = [(a, b, codes[a], codes[b]) for a, b in combinations(range(len(codes)), 2)]
                to_truth = [(a, None, codes[a], true_codes[a]) for a in range(len(codes))]
                for a, b, one, other in [*to_truth, *against]:
                    row = self.fixed(family, n, list(self.measures)[a], method)
                    row["against"] = held_against if b is None else list(self.measures)[b]
                    correlation = (one * other).sum(axis=-1)
                    defined = correlation[~np.isnan(correlation)]
                    mean = float(defined.mean()) if defined.size else np.nan
                    row |= {"models": len(names), "undefined": correlation.size - defined.size}
                    yield {**row, "correlation": mean, "correlation_se": _standard_error(defined)}

    def _families(self, answers: np.ndarray) -> Iterator[tuple[str, np.ndarray, list[tuple[str, str]]]]:
        """Yield the models that are put in order: a name, estimates (replicates, n, models, measures), and who."""
        estimates = self.by_model(answers)
        if self.same_rows:
            for g, (label, models) in enumerate(self.models.items()):
                yield label, estimates[:, g, :, : len(models)], [(label, model) for model in models]
        else:
            yield "all", estimates[:, :, :, 0].swapaxes(1, 2), [(label, label) for label in self.generators]


def no_distance() -> float:
    """Raise, as a generator does that has no distance."""
    raise NotImplementedError("there is no distance() to ask")


def written(entry: Entry) -> str:
    """Return a measure with its options as it is called."""
    name, options = entry
    return f"{name}({written_options(options)})" if options else f"{name}"


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
