"""Linear forms over cells and classes row by row: each row adds a residual for every class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.measures.class_form import VectorForm
from calibstat.measures.linear_form import Form, RowForm
from calibstat.measures.score_bound import Score


@dataclass(frozen=True, eq=False, kw_only=True)
class VectorRowForm(RowForm):
    """A linear form to which row i adds residual[i, k] at cell[i, k] for each class k.

    `scale` is the largest weight.
    """

    scale: float

    def score(self, tail: float) -> Score:
        return super().score(tail).times(self.scale)


def rows_of_classes(form: Form) -> VectorRowForm:
    """Return the form row by row."""
    assert isinstance(form, VectorForm)
    prob, label = form.predictions.prob.astype(np.float64), form.predictions.label
    classes = np.arange(prob.shape[1])
    weight = form.witness(np.ones_like(form.theta))
    assert weight is not None
    return VectorRowForm(
        estimate=form.estimate,
        theta=form.theta,
        norm=form.norm,
        witness=form.witness,
        step=form.step,
        noise=form.noise,
        highest=form.highest,
        cell=form.place + classes * form.along,
        residual=(label[:, None] == classes) - prob,
        prediction=prob,
        scale=float(np.abs(weight).max()),
    )
