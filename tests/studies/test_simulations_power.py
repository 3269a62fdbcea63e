"""The study of power: its alternatives, the p-values of its tests, its losses and its promises."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from simulation_files import study_file, study_part

import calibstat as cs
from calibstat.classical.t_cal import ranks
from calibstat.inference.p_values import p_value
from calibstat.measures.kinds.registry import everyday_measures
from calibstat.papers.parts.promises import FALSE_ALARM
from calibstat.resampling import Draws

alternatives, tests_on_offer, losses = map(study_part, ("alternatives", "tests_on_offer", "losses"))
power = study_file("power")
DESIGNS = alternatives.designs()


def test_every_alternative_has_its_designs():
    asked = {(name, design.distribution, design.n) for design in DESIGNS for name in design.alternatives}
    assert len(alternatives.SHAPES) >= 20
    for name in alternatives.SHAPES:
        numbers = sorted(n for each, _, n in asked if each == name)
        assert numbers == [60] * 2 + [100] * 3 + [400] * 2 + [1000] * 3 + [2500] * 2 + [5000] * 3
    assert len(asked) == sum(len(design.alternatives) for design in DESIGNS)


@pytest.mark.parametrize("design", [d for d in DESIGNS if d.n in (60, 1000)], ids=lambda d: f"{d.distribution} {d.n}")
def test_truths(design):
    """Probabilities that are the predictions at amplitude 0, and always where these are 0 or 1."""
    rows = design.rows()
    value = np.unique(rows.value)
    assert rows.value.size == design.n
    assert np.array_equal(rows.value, design.rows().value)
    shapes = design.shapes(rows)
    assert len(shapes) >= len(design.alternatives) - 1  # a group between few values may be empty
    for name, shape in shapes.items():
        assert np.array_equal(shape, design.shape(name, rows))
        assert alternatives.truth(rows, shape, 0.0) == pytest.approx(value, abs=1e-12)
        chance = alternatives.truth(rows, shape, 2.0)
        assert np.all((chance >= 0) & (chance <= 1))
        assert np.abs(chance - value).max() > 0.001, name
        certain = (value == 0) | (value == 1)
        assert np.array_equal(chance[certain], value[certain])


def test_truth_by_hand():
    rows = alternatives.Rows.of(np.array([0.5, 0.2, 0.2, 1.0]))
    assert rows.rank == pytest.approx([0.25, 0.25, 0.625, 0.875])
    found = alternatives.truth(rows, np.array([0.0, 1.0, 1.0, 0.0]), np.log(4))  # odds 1/4 and 1, four times as large
    assert found == pytest.approx([(0.2 + 0.5) / 2, 0.8, 1])


@pytest.mark.parametrize("times", [0.01, 0.3, 1, 3])
def test_amplitude(times):
    """A test with a known power, of a normal variable whose mean is `times` what a score test would have."""
    rows = alternatives.Rows.of(np.linspace(0.05, 0.95, 500))
    shape = np.ones(500)
    slope = times * np.sqrt(rows.value * (1 - rows.value) @ shape**2)
    found = alternatives.amplitude(lambda a: norm.sf(1.645 - a * slope), rows, shape)
    exact = (1.645 + norm.ppf(0.8)) / slope
    assert found == pytest.approx(min(exact, alternatives.LARGEST), rel=0.03)


@pytest.fixture(scope="module")
def drawing():
    """Ties, 0 and 1 among the predictions, and as many data sets as outcomes of the same draws."""
    value = np.array([0, 0.1, 0.25, 0.4, 0.6, 0.8, 0.95, 1.0])
    sample = cs.Sample.from_counts(value, [3, 10, 20, 10, 10, 20, 10, 2], [0, 1, 1, 1, 1, 1, 1, 2])
    return tests_on_offer.Drawing(sample, Draws(np.uint64(7), 99))


def data_sets(drawing, n):
    """The data sets of a key, as samples."""
    value, count, _ = drawing.sample.arrays
    drawn = drawing.outcomes(value**1.2, Draws(np.uint64(8), n))
    return [cs.Sample.from_counts(value, count, positives) for positives in drawn]


def test_all_tests_are_on_offer(drawing):
    offered = tests_on_offer.on_offer(drawing)
    assert set(everyday_measures(drawing.sample.n)) <= set(offered)
    assert set(alternatives.OLD) < set(offered)
    assert power.DEFAULT in offered
    assert power.DEFAULT not in alternatives.OLD


@pytest.mark.parametrize("name", ["omnibus", "ks", "mcb", "brier", "smooth_ece"])
def test_pvalues_by_measures(drawing, name):
    """Those of the definition, of the statistics of the drawn data sets."""
    test = tests_on_offer.on_offer(drawing)[name]
    truth, draws = drawing.sample.value**1.2, Draws(np.uint64(8), 30)
    statistics = test.statistics(truth, draws)
    expected = [p_value(t, test.null, cs.MEASURES[name].info.tail) for t in statistics]
    assert test.pvalues(truth, draws) == pytest.approx(expected)
    assert len(np.unique(expected)) > 5
    if name != "omnibus":  # whose draws of cells are others
        assert statistics == pytest.approx([cs.estimate(each, measure=name) for each in data_sets(drawing, 30)])


def test_pvalues_of_t_cal(drawing):
    """Those of a table of the data and the resamples, each ranked among all the others."""
    test = tests_on_offer.on_offer(drawing)["t_cal"]
    truth, draws = drawing.sample.value**1.2, Draws(np.uint64(8), 30)
    null, of_data = test.statistics(None, drawing.null), test.statistics(truth, draws)
    expected = [ranks(-ranks(np.vstack([row, null])).min(axis=1)[:, None])[0, 0] for row in of_data]
    assert test.pvalues(truth, draws) == pytest.approx(expected)
    one = data_sets(drawing, 1)[0]
    assert cs.classical.t_cal(one, n_resamples=9, rng=1).squared_error == pytest.approx(of_data[0])


@pytest.mark.parametrize(
    ("name", "pvalue"),
    [
        ("cox", lambda data: cs.classical.cox(data, held_out=True, clip=tests_on_offer.CLIP).joint_test.pvalue),
        (
            "calibration belt",
            lambda data: cs.classical.calibration_belt(data, held_out=True, clip=tests_on_offer.CLIP).pvalue,
        ),
        ("Spiegelhalter", lambda data: cs.classical.spiegelhalter(data).pvalue),
        ("Kuiper, limit", lambda data: cs.classical.kuiper(data).pvalue),
    ],
)
def test_pvalues_of_approximate_tests(drawing, name, pvalue):
    def expected(data):
        try:
            return pvalue(data)
        except ValueError:
            return np.nan

    test = tests_on_offer.on_offer(drawing)[name]
    found = test.pvalues(drawing.sample.value**1.2, Draws(np.uint64(8), 12))
    assert found == pytest.approx([expected(data) for data in data_sets(drawing, 12)], nan_ok=True, rel=1e-6)
    assert np.isfinite(found).sum() >= 6


def planted(rates, sizes, replicates=2000):
    """A table of tests with these rates in two cells, and these sizes; the names of approximate ones end with ~."""
    cell = {"distribution": "centred", "n": 100, "level": 0.05, "kind": "fine"}
    rows = []
    for name, size in sizes.items():
        test = {"measure": name, "method": "limit" if name.endswith("~") else "labels", **cell}
        rows.append({"question": "size", "alternative": "", "replicates": replicates, "rejections": size, **test})
        rows[-1]["rate"] = size / replicates
        for k in range(2):
            rows.append({"question": "power", "alternative": f"a{k}", "replicates": 500, **test})
            rows[-1] |= {"rejections": 500 * rates[name][k], "rate": rates[name][k]}
    sizes_again = [row for row in rows if row["question"] == "size"]  # of a second design with the same predictions
    found = power.with_losses(pd.DataFrame(rows + sizes_again))
    assert len(found) == len(rows)
    return found


def test_losses_by_hand():
    """The approximate test that rejects too often is not the best, and one within its limit is."""
    limit = power.most(2000)
    rates = {"omnibus": (0.7, 0.6), "ks": (0.5, 0.8), "good~": (0.9, 0.1), "bad~": (0.95, 0.9)}
    sizes = {"omnibus": 100, "ks": 100, "good~": limit, "bad~": limit + 1}
    found = planted(rates, sizes)
    cells = found[found["question"] == "power"].set_index(["measure", "alternative"])
    assert cells["loss"]["omnibus"].tolist() == pytest.approx([0.2, 0.2])
    assert cells["loss"]["ks"].tolist() == pytest.approx([0.4, 0])
    assert cells["loss"]["bad~"].tolist() == pytest.approx([-0.05, -0.1])
    assert found[~found["valid"]]["measure"].unique().tolist() == ["bad~"]
    assert found[found["question"] == "size"]["loss"].isna().all()
    table = losses.summary(cells.reset_index())
    assert table["mean"]["ks"] == pytest.approx(0.2)
    assert table["worst"]["good~"] == pytest.approx(0.7)
    assert table["invalid"].to_dict() == {"omnibus": 0, "ks": 0, "good~": 0, "bad~": 1}


def test_limit_of_tests_with_a_shared_null_distribution():
    """Three draws are all beyond the largest of 19 if they are the first 3 of 22 in random order: 1 / C(22, 3)."""
    assert power.most_by_resampling(19, 3, 1 / 1541) == 3
    assert power.most_by_resampling(19, 3, 1 / 1539) == 2
    assert power.most_by_resampling(1999, 2000, 1e-6) > power.most(2000)


def test_broken_promises_are_found(monkeypatch):
    rates = {"omnibus": (0.7, 0.7), "ks": (0.5, 0.8), "cox~": (0.7, 0.6)}
    sizes = {"omnibus": 100, "ks": 100, "cox~": 500}
    monkeypatch.setattr(power, "CELLS", 2)
    assert power.violations(planted(rates, sizes)).empty
    limit = power.most_by_resampling(1999, 2000, FALSE_ALARM / 2)
    for number, broken in ((limit, 0), (limit + 1, 1)):
        assert len(power.violations(planted(rates, {**sizes, "ks": number}))) == broken
    better = power.violations(planted({**rates, "ks": (0.75, 0.8)}, sizes))
    assert better["measure"].tolist() == ["ks"]
    worse = power.violations(planted({**rates, "omnibus": (0.4, 0.4)}, sizes))
    assert sorted(worse["measure"]) == ["cox~", "ks", "omnibus"]
    monkeypatch.setattr(power, "CELLS", 3)
    assert power.violations(planted({**rates, "omnibus": (0.4, 0.4)}, sizes)).empty


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def table(store):
    return power.table(quick=True, n_jobs=1, store=store)


@pytest.mark.slow
def test_one_design(table):
    cells = table[table["question"] != "size"]
    assert set(cells["measure"]) == set(table["measure"])
    assert cells.groupby(["distribution", "n", "alternative"])["amplitude"].nunique().eq(1).all()
    assert (cells["loss"].groupby([cells["distribution"], cells["alternative"]]).min() <= 0).all()
    assert power.violations(table).empty


@pytest.mark.slow
def test_what_is_kept_is_not_made_again(table, store, tmp_path, monkeypatch):
    monkeypatch.setattr(power, "answered", lambda *_: 1 / 0)
    pd.testing.assert_frame_equal(power.table(quick=True, n_jobs=1, store=store), table)
    with pytest.raises(ZeroDivisionError):
        power.table(quick=True, n_jobs=1, store=tmp_path)


@pytest.mark.slow
def test_pictures_show_the_table(table):
    for figure in power.figures(table).values():
        figure.draw_without_rendering()
    plt.close("all")


def test_blind_spots_are_no_alternatives_of_the_study():
    blind = study_part("blind_spots")
    assert not set(blind.BLIND) & set(alternatives.SHAPES)
    for design in blind.blind_designs()[:1]:
        shapes = design.shapes(design.rows())
        assert set(shapes) == set(blind.BLIND)
        assert np.abs(shapes["12 waves in the top quarter"][: design.n * 3 // 4]).max() == 0
