"""Linear forms over cells and classes row by row: each row adds a residual for every class."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.class_form import VectorForm
from calibstat.bounds.linear_form import Form, RowForm


def rows_of_classes(form: Form) -> RowForm:
    """Return the form row by row: row i adds residual[i, k] at cell[i, k] for each class k."""
    assert isinstance(form, VectorForm)
    prob, label = form.predictions.prob.astype(np.float64), form.predictions.label
    classes = np.arange(prob.shape[1])
    return RowForm(
        estimate=form.estimate,
        theta=form.theta,
        norm=form.norm,
        witness=form.witness,
        step=form.step,
        moments=form.moments,
        highest=form.highest,
        largest_weight=form.largest_weight,
        cell=form.place + classes * form.along,
        residual=(label[:, None] == classes) - prob,
        prediction=prob,
    )
