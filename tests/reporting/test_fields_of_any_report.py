"""The fields that a report can have, before one is made: all of a report are known, and what is meant by others."""

import pytest
from quick_report import quick_report

import calibstat as cs
from calibstat.inference.choosing.condition import Condition
from calibstat.inference.designs.design_of import design_of
from calibstat.reporting.conditions import not_shown, sentences_of
from calibstat.reporting.fields_of_any_report import keys_that_match, need_field, need_measure

Y, P = cs.generators.temperature(2).sample(150, rng=1)


@pytest.fixture(scope="module")
def two():
    return quick_report(Y, {"A.b": P, "ece": P**2})


def test_every_number_of_reports_is_known_before_they_are_made(one, two):
    reports = [one, two, quick_report(Y, P, by={"half": P > 0.5}, recalibrate=True, cluster=[*range(75)] * 2)]
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(60, rng=1)
    for report in (*reports, quick_report(label, prob), quick_report(Y, P, folds=[*range(5)] * 30)):
        for key, value in report.to_dict().items():
            condition = Condition(key, "<", 1)
            if isinstance(value, int | float) or (isinstance(value, list) and {*map(type, value)} == {float}):
                need_field(condition)
            assert keys_that_match(key) or value == {}, key


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("ece <= 0.02", "; write ece.high (shown) or ece.estimate (by chance)"),
        ("ece > 0.02", "; write ece.low (shown) or ece.estimate (by chance)"),
        ("brier < 0.2", "; write brier.high (shown) or brier.estimate (by chance)"),
        ("models.p.ece < 0.2", "; write models.p.ece.high (shown) or models.p.ece.estimate (by chance)"),
        ("test < 0.05", "; write test.pvalue"),
        ("ece.hig <= 1", "; did you mean 'ece.high'?"),
        ("Brier.Low > 1", "; did you mean 'brier.low'?"),
        ("zzz > 1", "found 'zzz'"),
    ],
)
def test_a_hint_names_the_condition_that_was_meant(text, hint, one):
    condition = Condition.read(text)
    for ask in (lambda: need_field(condition), lambda: sentences_of(condition, one), lambda: not_shown(condition, one)):
        with pytest.raises(ValueError, match=r"expected a field of the report, such as test\.pvalue") as error:
            ask()
        assert str(error.value).endswith(hint)


@pytest.mark.parametrize("field", ["title", "models.a.ece.measure", "ece.void", "test.lens", "version"])
def test_what_is_never_a_number_is_known_before(field):
    with pytest.raises(ValueError, match=f"expected a field that is a number, found {field}, which is none"):
        need_field(Condition(field, "<", 1))


def test_a_measure_that_a_report_leaves_out_is_known_from_its_rows():
    design = design_of(cs.Data(Y, P))
    for name in ("ks.high", "measures.ks.high"):
        with pytest.raises(
            ValueError, match=r"\(ece, ece_debiased, kernel_ce, smooth_ece, brier, log_loss\), found ks$"
        ):
            need_measure(Condition(name, "<", 1), design)
    for name in ("ece.high", "smooth_ece.low", "test.pvalue", "n"):
        need_measure(Condition(name, "<", 1), design)
    need_measure(Condition("ks.high", "<", 1), design_of(cs.Data(Y, P, folds=[*range(5)] * 30)))
    many = design_of(cs.Data(cs.Sample.from_counts([0.2, 0.7], [1e6, 1e6], [3e5, 6e5])))
    with pytest.raises(ValueError, match=r"found smooth_ece: it is costly on 2,000,000 rows$"):
        need_measure(Condition("smooth_ece.high", "<", 1), many)
