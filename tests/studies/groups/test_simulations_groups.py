"""The study of groups: its groups, the rules beside audits, what is asked of a data set, and its promises."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats
from simulation_files import study_file, study_part
from statsmodels.stats.multitest import multipletests

import calibstat as cs
from calibstat.generators import calibrated, features

groups, rules, one_sided = study_file("groups"), study_part("group_rules"), study_part("one_sided_audits")
TWO = {"f0": 3, "f1": 3}


def drawn(generator, n=900, seed=1):
    return groups.Population(generator).sample(n, seed)


def answers(generator, seed=1, n=900, shape=True):
    """The answers by name, of one data set."""
    found = groups.Rules(39, shape)(drawn(generator, n, seed), np.random.SeedSequence(seed))
    names = ["groups", "covered", *((rule, question) for rule in groups.RULES for question in groups.ASKED)]
    return dict(zip(names, found, strict=True))


@pytest.mark.parametrize(("number", "k"), groups.FEATURES.items())
def test_numbers_of_groups(number, k):
    assert 1 + 3 * k + 9 * k * (k - 1) / 2 == number


def test_masks_are_those_of_the_audit():
    y, columns = drawn(features(calibrated(), {"f0": 3, "f1": 2, "f2": 3}))
    frame = columns["features"]
    audit = cs.audit(y, columns["prediction"], frame, n_resamples=19, rng=1)
    masks = rules.masks_of(audit.names, frame)
    assert masks.shape == (1 + 8 + 6 + 9 + 6, 900)
    assert np.array_equal(masks.sum(axis=1), audit.rows)
    assert masks @ y / audit.rows == pytest.approx(audit.observed)
    assert np.array_equal(masks[audit.names.index("f0 = 1 and f2 = 2")], (frame["f0"] == 1) & (frame["f2"] == 2))


def test_holm(monkeypatch):
    monkeypatch.setattr("gc.collect", int)  # statsmodels does this each time, which takes most of a second
    random = np.random.default_rng(3)
    for _ in range(5):
        pvalue = random.random(20) ** 3
        assert np.array_equal(rules.rejected(pvalue), multipletests(pvalue, 0.05, "holm")[0])
    # by hand: 0.01 <= .05/4, 0.016 <= .05/3, but 0.03 > .05/2, so that the fourth does not count
    assert rules.rejected(np.array([0.03, 0.01, 0.016, 0.04])).tolist() == [False, True, True, False]


def test_exact_p_values_are_binomial_where_predictions_are_equal():
    for k, n, p in [(0, 50, 0.03), (7, 50, 0.03), (20, 50, 0.5), (25, 50, 0.5), (50, 50, 0.5)]:
        y = np.arange(n) < k
        tails = stats.binom.cdf(k, n, p), stats.binom.sf(k - 1, n, p)
        assert rules.exact_p_value(y, np.full(n, p)) == pytest.approx(min(1, 2 * min(tails)), rel=1e-9)
    two = rules.exact_p_value(np.array([1, 1]), np.array([0.1, 0.2]))  # both with probability .02
    assert two == pytest.approx(0.04)


def test_normal_p_values_by_hand():
    # 75 events in 100 rows of .5: z = 25 / 5 = 5. In the second group 48 in 64: z = 16 / 4 = 4
    y, p = np.arange(100) % 4 != 0, np.full(100, 0.5)
    masks = np.array([np.ones(100, bool), np.arange(100) < 64, np.arange(100) % 4 < 2])
    found = dict(rules.holm(y, p, masks))
    assert found["Holm, normal"].tolist() == [True, True, False]  # 25 in 50
    assert found["Holm, exact"].tolist() == [True, True, False]


def test_calibrated_rows_have_no_wrong_group():
    found = answers(features(calibrated(), TWO))
    assert found["groups"] == 16
    asked = [rule for rule in groups.RULES if rule not in rules.MCGRAD]
    assert all(found[rule, "size"] in (0, 1) for rule in asked)
    assert all(np.isnan(found[rule, question]) for rule in groups.RULES for question in ("power", "overlap"))


@pytest.mark.parametrize("group", [{"f0": 1}, {"f0": 1, "f1": 2}])
def test_a_large_error_is_found_and_its_group_told_from_the_others(group):
    found = answers(features(calibrated([0.3, 0.5]), TWO, [(group, {"shift": 3})]), shape=False)
    for rule in (groups.AUDIT, "Holm, normal", "Holm, exact"):
        assert (found[rule, "size"], found[rule, "power"], found[rule, "overlap"]) == (0, 1, 1), rule
    assert np.isnan(found[groups.SHAPE, "size"])
    assert found["covered"] == 1


def test_intervals_that_miss_are_counted(monkeypatch):
    generator = features(calibrated([0.5]), TWO, [({"f0": 1}, {"shift": 1})])
    y, columns = drawn(generator)
    columns["chance"] = columns["chance"] + 0.4 * (columns["features"]["f1"] == 2).to_numpy()  # another truth
    assert groups.Rules(39, False)((y, columns), np.random.SeedSequence(1))[1] == 0
    assert groups.Rules(39, False)(drawn(generator), np.random.SeedSequence(1))[1] == 1


def test_wrong_groups_of_the_study():
    for label, (model, group, error) in groups.wrong().items():
        rows = features(model, TWO, [(group, error)])
        frame, _, p, chance = rows.sample_rows(20_000, 1)
        inside = np.logical_and.reduce([frame[name] == level for name, level in group.items()])
        assert np.array_equal(np.abs(chance - p) > 1e-9, inside)
        sign = np.sign(error.get("shift", 0))
        assert np.sign(round(rows.error(group), 6)) == -sign, label
        if label.startswith("rare"):
            assert p[inside].mean() == pytest.approx(0.025, abs=0.002)


def test_mcgrad_speaks_of_the_same_groups():
    pytest.importorskip("mcgrad")
    y, columns = drawn(features(calibrated(), TWO, [({"f0": 1}, {"shift": 3})]))
    audit = cs.audit(y, columns["prediction"], columns["features"], n_resamples=19, rng=1)
    masks = rules.masks_of(audit.names, columns["features"])
    found = dict(rules.mcgrad(y, columns["prediction"], columns["features"], masks))
    assert list(found) == list(rules.MCGRAD)
    for groups_found in found.values():
        assert groups_found[audit.names.index("f0 = 1")]
        assert not groups_found[audit.names.index("f0 = 2")]
    # the statistic of a group by its definition: the range of the partial sums of residuals, by their deviation
    by_hand = []
    for mask in masks:
        order = np.argsort(columns["prediction"][mask])
        p, residual = columns["prediction"][mask][order], (y - columns["prediction"])[mask][order]
        by_hand.append(np.ptp(np.append(0, np.cumsum(residual))) / np.sqrt((p * (1 - p)).sum()) > 5)
    assert np.array_equal(found["MCGrad, sigma > 5"], by_hand)


def one_side(side, errors, seed=1, columns=None):
    """The answers of an audit of one side, of one data set."""
    y, drawn_columns = drawn(features(calibrated([0.3, 0.5]), TWO, errors), seed=seed)
    found = one_sided.OneSided(side, 39)((y, drawn_columns | (columns or {})), np.random.SeedSequence(seed))
    return dict(zip(["groups", "false", "missed", "found"], found, strict=True))


@pytest.mark.parametrize(("side", "sign"), [("over", 1), ("under", -1)])
def test_one_side_finds_predictions_wrong_in_its_direction(side, sign):
    wrong, other = ({"f0": 1}, {"shift": sign * 2.0}), ({"f0": 2}, {"shift": -sign * 2.0})
    assert one_side(side, [wrong, other]) == {"groups": 16, "false": 0, "missed": 0, "found": 1}
    found = one_side(side, [other])
    assert np.isnan(found["found"])
    assert (found["false"], found["missed"]) == (0, 0)


@pytest.mark.parametrize(("side", "sign"), [("over", 1), ("under", -1)])
def test_limits_of_one_side_that_miss_are_counted(side, sign):
    _, columns = drawn(features(calibrated([0.3, 0.5]), TWO, []))
    beyond = columns["chance"] + sign * 0.4 * (columns["features"]["f1"] == 2).to_numpy()
    assert one_side(side, [], columns={"chance": beyond})["missed"] == 1
    within = columns["chance"] - sign * 0.4 * (columns["features"]["f1"] == 2).to_numpy()
    assert one_side(side, [], columns={"chance": within})["missed"] == 0


def test_cases_of_one_side():
    asked = list(one_sided.one_sided_cases(groups.FEATURES, False))
    assert {case.groups for case in asked} == {16, 106}
    assert len({(case.label, case.groups) for case in asked}) == len(asked) == 18
    for case in asked:
        _, _, p, chance = case.rows.sample_rows(5000, 1)
        sign = -1 if case.ask.side == "over" else 1
        wrong, other = (sign * (chance - p) > 1e-9).any(), (sign * (chance - p) < -1e-9).any()
        assert (wrong, other) == ("one level wrong" in case.label, "right" not in case.label.split(", "))


@pytest.fixture
def small(monkeypatch):
    """The study of 16 groups without mcgrad, as a quick table."""
    monkeypatch.setattr(groups, "FEATURES", {16: 2})
    monkeypatch.setattr(groups, "INSTALLED", False)
    return groups.table(quick=True, n_jobs=1)


def test_the_quick_study(small):
    of_one_side = {one_sided.FALSE, one_sided.MISSED, "power, one side"}
    assert set(small["question"]) == {"size", "power", "overlap", "coverage"} | of_one_side
    assert not set(rules.MCGRAD) & set(small["method"])
    two_sided = small[~small["question"].isin(of_one_side)]
    assert set(two_sided["method"]) == set(groups.RULES) - set(rules.MCGRAD)
    assert (small["mean_groups"] == 16).all()
    for figure in groups.figures(small).values():
        figure.draw_without_rendering()
        plt.close(figure)


def test_rules_that_are_left_out_are_named(monkeypatch, capsys):
    monkeypatch.setattr(groups, "cases", lambda quick: iter(()))
    monkeypatch.setattr(groups, "INSTALLED", False)
    groups.table(quick=True)
    assert "mcgrad is not installed, so its rules are left out" in capsys.readouterr().err


def test_the_promises_can_be_broken(small):
    table = small.assign(replicates=1000, rejections=0.0, covered=960.0)
    assert groups.violations(table).empty
    size = (table["question"] == "size") & (table["method"] == groups.SHAPE)
    table.loc[table.index[size][2], "rejections"] = 90
    table.loc[(table["question"] == "size") & table["method"].str.startswith("Holm"), "rejections"] = 500
    covered = table.index[table["question"] == "coverage"][4]
    table.loc[covered, "covered"] = 890
    of_one_side = [table.index[table["question"] == each][1] for each in (one_sided.FALSE, one_sided.MISSED)]
    table.loc[of_one_side, "rejections"] = 90
    table.loc[table["question"] == "power, one side", "rejections"] = 500
    assert sorted(groups.violations(table).index) == sorted([table.index[size][2], covered, *of_one_side])
