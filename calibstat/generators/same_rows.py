"""Several models that are judged on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from calibstat.data.checks import short
from calibstat.generators.composed import distorted
from calibstat.generators.distortion import Distortion
from calibstat.generators.distributions import Seed
from calibstat.generators.generator import Generator
from calibstat.generators.generator_table import register
from calibstat.generators.multiclass_generator import MulticlassGenerator
from calibstat.generators.simulator import drawing

__all__ = ["models"]

AnyGenerator = Generator | MulticlassGenerator
DISTORTIONS = tuple(field.name for field in fields(Distortion))
ROWS_TO_TRY = 1000  # on which other outcomes are noticed when models are made


@register
@dataclass(frozen=True, repr=False)
class models:
    """Several models of the same rows: one draw of covariates and outcomes, and the predictions of each model.

        >>> from calibstat import generators
        >>> family = generators.models(generators.calibrated(), {"T = 1": {}, "T = 2": {"temperature": 2}})
        >>> y, p = family.sample(4, rng=1)
        >>> y, {name: each.round(2) for name, each in p.items()}
        (array([1, 1, 0, 1]), {'T = 1': array([0.51, 0.95, 0.14, 0.95]), 'T = 2': array([0.52, 1.  , 0.03, 1.  ])})
        >>> round(family.models["T = 2"].truth("ece", n_bins=2), 6)  # ln(2)/2 - 1/4
        0.096574

        Two features, of which one model sees the first, the other the second:

        >>> quarter, chance = [0.25] * 4, [0.1, 0.4, 0.6, 0.9]
        >>> both = generators.domain(quarter, chance, chance)
        >>> first = generators.domain(quarter, chance, [0.25, 0.25, 0.75, 0.75])
        >>> second = generators.domain(quarter, chance, [0.35, 0.65, 0.35, 0.65])
        >>> pair = generators.models(both, {"first": first, "second": second})
        >>> [round(model.truth("brier"), 4) for model in pair.models.values()]
        [0.1875, 0.2275]

    It is a generator of `calibstat.study.run`, whose questions "bias", "consistency", "ranking" and "comparison" take
    several models.

    Parameters
    ----------
    base : Generator or MulticlassGenerator
        The generator of covariates and outcomes.
    predictions : mapping from name to mapping or generator
        How each model predicts. A mapping distorts the predictions of `base` by `temperature`, `shift` and `s_shape` as
        `distorted` does; an empty one leaves them. A generator is a model that uses other features of the same rows:
        drawn from the same random numbers it must have the outcomes of `base`. Examples are a `domain` with other
        predictions at the same points, `groups` with the same shares and other errors, and every generator of one
        event that has the same true probabilities as `base`.

    Attributes
    ----------
    models : mapping from name to generator
        Each model alone, with its `truth`, `curve` and `distance`.

    Raises
    ------
    ValueError
        If there is no model, a distortion is unknown or out of range, or a generator draws other outcomes.

    Notes
    -----
    Models on the same rows share the noise of the outcomes, so their order is easier to see than on rows of their own.
    """

    base: AnyGenerator
    predictions: Mapping[str, Mapping[str, float] | AnyGenerator]

    def __post_init__(self) -> None:
        if not isinstance(self.base, AnyGenerator):
            raise ValueError(f"expected a generator of covariates and outcomes, found {short(self.base)}")
        if not isinstance(self.predictions, Mapping) or not self.predictions:
            raise ValueError(
                "expected a mapping from the name of each model to how it predicts, such as "
                f'{{"T = 2": {{"temperature": 2}}}}, found {short(self.predictions)}'
            )
        object.__setattr__(self, "predictions", {str(name): how for name, how in self.predictions.items()})
        self.sample(ROWS_TO_TRY, 0)

    @cached_property
    def models(self) -> Mapping[str, AnyGenerator]:
        """Each model alone, by name."""
        return {name: self._model(name, how) for name, how in self.predictions.items()}

    @property
    def n_classes(self) -> int | None:
        """The number of classes; None of a binary outcome."""
        return getattr(self.base, "n_classes", None)

    def sample(self, n: int, rng: Seed = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Draw rows.

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        rng : None, int, SeedSequence or Generator
            As for `numpy.random.default_rng`.

        Returns
        -------
        y : ndarray of int64, shape (n,)
            Outcomes, the same as of ``base.sample(n, rng)``.
        p : dict from name to ndarray of float64
            The predictions of each model, as of its generator's `sample`.

        Raises
        ------
        ValueError
            If `n` is not a whole number of at least 1, or a model draws other outcomes than `base`.
        """
        n, random = drawing(n, rng)
        # drawn anew for each model, from the same random numbers: predictions that have been rounded to 1 have no
        # log-odds that could be distorted
        drawn = {name: model._pairs(n, deepcopy(random)) for name, model in self.models.items()}
        y, _ = self.base._pairs(n, random)
        for name, (outcome, _) in drawn.items():
            if not np.array_equal(outcome, y):
                raise ValueError(
                    f"expected a generator that draws the outcomes of the base, {short(self.base)}, from the same "
                    f"random numbers, such as a domain of the same points or groups of the same shares; found others "
                    f"of model {name!r}, {short(self.predictions[name])}"
                )
        return y, {name: p for name, (_, p) in drawn.items()}

    def __repr__(self) -> str:
        return f"models({self.base!r}, {self.predictions!r})"

    def _model(self, name: str, how: object) -> AnyGenerator:
        if isinstance(how, AnyGenerator):
            return how
        if not isinstance(how, Mapping) or not how.keys() <= set(DISTORTIONS):
            raise ValueError(
                f"expected a mapping with some of {', '.join(DISTORTIONS)}, or a generator, of model {name!r}; "
                f"found {short(how)}"
            )
        if not how:
            return self.base
        if not isinstance(self.base, Generator):
            raise ValueError(
                f"expected a generator of model {name!r}, because distortions are of one event and the base has "
                f"{self.n_classes} classes; found {short(how)}"
            )
        try:
            return distorted(self.base, **how)
        except ValueError as error:
            raise ValueError(f"{error}, of model {name!r}") from None
