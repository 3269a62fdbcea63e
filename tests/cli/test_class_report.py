"""What a measure says of each class."""

import numpy as np

import calibstat as cs
from calibstat.cli import class_report


def test_of_many_classes_the_smallest_p_are_shown():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(23), 60)
    label = np.array([rng.choice(23, p=row) for row in prob])
    label[:30] = 5  # far too often
    names = [f"c{k}" for k in range(23)]
    predictions = cs.Predictions.from_rows([names[k] for k in label], prob, labels=names)
    found = class_report.assess_classes(cs.Data(predictions), "ece", n_resamples=999, rng=0)
    pvalue = found.of_classes.pvalue
    shown = found.shown()
    assert shown.size == 20
    assert pvalue[shown].max() <= np.delete(pvalue, shown).min()
    assert (np.diff(pvalue[shown]) >= 0).all()
    (text,) = class_report.say_classes(found)  # ece does not say what drove it
    assert "3 more have p of at least" in text
    assert "of 23 classes: c5" in found.test.answer


def test_value_of_a_class_is_its_estimate(predictions):
    found = class_report.assess_classes(cs.Data(predictions), "ece_debiased", n_resamples=19, rng=0)
    assert np.allclose(found.estimate, cs.estimate(predictions, measure="ece_debiased", lens="class_wise"))
    assert (found.overall.test.pvalue, found.overall.test.classes) == (found.test.pvalue, None)
