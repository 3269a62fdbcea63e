"""The study of equivalence: its data sets are at the boundary, and a broken promise is found."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from simulation_files import study_file

import calibstat as cs

equivalence = study_file("equivalence")


@pytest.fixture(scope="module")
def table():
    return equivalence.table(quick=True, n_jobs=1)


@pytest.mark.parametrize("n", [200, 1000, 10_000])
def test_the_largest_gap_is_the_margin(n):
    found = {label: (rows, claim) for label, rows, claim in equivalence.at_the_boundary(n)}
    assert len(found) == 8
    for rows, claim in found.values():
        assert rows.prediction.shape == rows.chance.shape == (n,)
        assert np.all((rows.chance >= 0) & (rows.chance <= 1))
        y = rows.sample(n, 1)[0]
        bins = cs.equivalence_test(y, rows.prediction, margin=claim.margin, **claim.options).count.astype(int)
        cuts = np.cumsum(bins)[:-1]
        predicted = [part.mean() for part in np.split(rows.prediction, cuts)]
        gap = [part.mean() for part in np.split(rows.chance, cuts)] - np.array(predicted)
        assert np.abs(gap).max() == pytest.approx(claim.margin, abs=1e-9)
    unequal = found["one fifth, unequal within"][0].chance[equivalence.part(n, 2)]
    assert np.ptp(unequal) > 0.7
    every = found["every fifth"][0]
    assert np.abs(every.chance - every.prediction) == pytest.approx(0.1)


def test_margins_of_measures_are_population_values():
    for case in equivalence.cases(quick=True):
        if case.question == "size" and case.claim.measure != "bins":
            assert case.claim.margin == case.generator.truth(case.claim.measure)


def test_a_claim_by_a_measure_is_that_of_the_test():
    sample = cs.Sample.from_rows(*cs.generators.temperature(1.2).sample(300, rng=1))
    for margin in (0.02, 0.05, 0.1):
        (claimed,) = equivalence.Claim("ks", margin, {"n_resamples": 49})(sample, 5)
        assert claimed == cs.equivalence_test(sample, measure="ks", margin=margin, n_resamples=49, rng=5).claimed


def test_the_promise_can_be_broken(table):
    made = table.assign(claims=0, replicates=1000)
    assert equivalence.violations(made).empty
    size = made.index[made["question"] == "size"]
    made.loc[size[0], "claims"] = 100
    made.loc[made.index[made["question"] == "power"], "claims"] = 1000  # nothing is promised of these
    assert equivalence.violations(made).index.tolist() == [size[0]]


def test_numbers_do_not_depend_on_the_number_of_processes(table):
    case = equivalence.cases(quick=True)[0]
    assert equivalence.counted(case, 2) == table.iloc[0].to_dict()


def test_pictures_show_the_table(table):
    for name, figure in equivalence.figures(table).items():
        assert name in ("bins", "measures", "power")
        figure.draw_without_rendering()
    plt.close("all")


def test_full_and_quick_ask_the_same():
    full, quick = ({(c.question, c.label, c.n, c.claim.measure) for c in equivalence.cases(q)} for q in (False, True))
    assert {case[:2] for case in quick} == {case[:2] for case in full}
    assert max(case.replicates for case in equivalence.cases(True)) <= 20
