"""The list of studies: short rows, a page for each, and numbers that are in the stored tables."""

import os
import re
from functools import cache

import pandas as pd
import pytest
from project_folder import PROJECT
from simulation_files import STORED, study_file

FOLDER = PROJECT / "simulations"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"\|.*?\| \[(\w+)\]\([\w./]+\.py\)")
ROWS = {found[1]: line for line in README.splitlines() if (found := ROW.match(line))}


@cache
def stored(name):
    """The stored table of a study."""
    return pd.read_csv(FOLDER / "results" / f"{name}.csv", comment="#", low_memory=False)


def asked(name, **cells):
    """The rows of a stored table in which columns have these values."""
    table = stored(name)
    for column, value in cells.items():
        table = table[table[column] == value]
    assert len(table)
    return table


def percent(rate, digits=1):
    """A rate as rows write it, halves upwards."""
    return f"{int(rate * 100 * 10**digits + 0.5 + 1e-9) / 10**digits:.{digits}f} %"


def of_risk(question, name):
    """The share of data sets in which calibstat's end misses, or its threshold is wrong."""
    table = asked("risk_coverage", question=question, method="calibstat")
    return table[name] / table["replicates"]


def answered_of_possible(n):
    """The mean share of what could be answered that is answered."""
    table = asked("risk_coverage", question="thresholds", method="calibstat", n=n)
    return percent((table["answered"] / table["possible"]).mean(), 0)


def clusters_of_equal_sizes():
    return asked("clusters", question="size", method="sign_flip")["rate"].max()


def honest_of_1000():
    return asked("coverage", method="honest", level=0.95, replicates=1000)["rate"]


def of_many_rows():
    return asked("approximate_tests", n=1000)["rate"]


def planned():
    table = stored("planning")
    return table.loc[table["replicates"] > 0, "rate"]


def misses_of_judges():
    grid = asked("few_labels", question="grid", replicates=1000)
    return grid[["below", "above"]].max().max() / 1000


def ece_of_calibrated(measure):
    return asked("bias", generator="calibrated", n=1000, measure=measure)["mean"].item()


def least_and_most(rates):
    """Percentages between which all rates are."""
    return f"{percent(rates.min())} to {percent(rates.max())}"


def power_of_maps(side, method):
    found = asked("maps", question="power", measure="omnibus", side=side, method=method)
    return percent(found["rate"].mean())


def errors_by_rows(rate):
    """The root mean square errors with 10,000 rows over the ones with 100."""
    rows = asked("smoothing", question="rate", rate=rate)
    found = rows.pivot(index=["generator", "method"], columns="n", values="rmse")
    return found[10_000] / found[100]


def high_ends(classes, n):
    return asked("worst_cell", generator=f"{classes} classes, calibrated", n=n, measure="grid of 3")["mean_high"].item()


def of_digits(network, bins, column):
    return asked("digit_diagrams", generator=network, measure=f"ece, {bins}")[column].item()


def of_narrow(column, n):
    return percent(asked("unequal_biases", generator="narrow off by .03", n=n)[column].item())


def steadiness(strategy):
    """The mean rank correlation between numbers of bins, by the L1 error of 1000 rows, predictions from 0 to 1."""
    rows = study_file("bins").averages(asked("bins", n=1000, method="spearman"))
    rows = rows[(rows["family"] == "predictions from 0 to 1") & (rows["norm"] == "l1") & (rows["with"] == "other bins")]
    return rows.set_index("strategy")["correlation"][strategy]


def least_and_most_right(measure):
    """Between which rank correlations with the truth lie, for temperatures and shifts and 1000 rows."""
    rows = asked("ranking", n=1000, method="spearman", measure=measure, against="its truth")
    found = rows["correlation"][rows["generator"] != "S-shaped"]
    return f"{found.min():.2f} to {found.max():.2f}"


def lost_share(n, rules):
    """The least and the most that rules lose, over the gain of the best map, where that is more than nothing."""
    rows = asked("choosing_a_map", n=n)
    best = rows[~rows["method"].str.contains("_loss|brier")].groupby("generator")["gain"].max()
    found = rows[rows["method"].isin(rules)]
    share = found["lost"] / found["generator"].map(best[best > 1e-4])
    return [percent(share.min(), 0), percent(share.max(), 0)]


SAID = {
    "groups": lambda: [percent(asked("groups", question="size, one side")["rate"].max())],
    "one_side": lambda: [
        percent(asked("one_side", question="size")["rate"].max()),
        *(
            percent(asked("one_side", question=question, measure="omnibus", method=method)["rate"].mean())
            for question in ("power", "power, both directions")
            for method in ("one side", "two sides")
        ),
    ],
    "size": lambda: [
        percent(asked("size", question="size", method="labels")["rate"].max()),
        f"{len(asked('size', question='size', method='labels'))} settings",
        percent(asked("size", method="both")["rate"].max()),
    ],
    "skill": lambda: [
        *(percent(worst_side("rows", method, "skill")) for method in ("interval", "bootstrap")),
        f"{skill_lengths('rare', 1000).iloc[0] / skill_lengths('rare', 1000).iloc[1]:.2f} times",
    ],
    "size_in_few_rows": lambda: [percent(asked("size_in_few_rows", question="second line is wrong")["rate"].max())],
    "approximate_tests": lambda: [f"{percent(of_many_rows().min())} to {percent(of_many_rows().max())}"],
    "clusters": lambda: [
        percent(clusters_of_equal_sizes()),
        percent(asked("clusters", question="size, unequal", method="sign_flip")["rate"].max()),
    ],
    "dependent_days": lambda: [
        percent(of_blocks(730)[of_blocks(730).index <= 0.6].max()),
        percent(asked("dependent_days", n=730, method="days")["rate"].max()),
        *(percent(of_blocks(days)[0.9]) for days in (730, 100)),
    ],
    "dependent_rows": lambda: [
        f"{populations_of_clusters():,} populations",
        *(percent(worst_side("class", method)) for method in ("observed", "t")),
        percent(worst_side("outside", "observed")),
        f"With 12 clusters {power_lost('equal', 12)} points",
    ],
    "weights": lambda: [
        percent(asked("weights", question="size", method="weights")["rate"].max()),
        percent(asked("weights", question="interval")["rate"].max()),
        percent(asked("weights", question="unseen", method="high")["rate"].max(), 0),
    ],
    "rows_of_classes": lambda: [
        percent(asked("rows_of_classes", question="size")["rate"].max()),
        percent(asked("rows_of_classes", question="interval")["rate"].max()),
    ],
    "power": lambda: [
        f"{100 * asked('power', question='power', measure='omnibus')['loss'].mean():.0f} percentage points",
        f"{100 * asked('power', question='power', measure='omnibus')['loss'].max():.0f} points",
        f"{len(asked('power', question='power', measure='omnibus'))} settings",
    ],
    "planning": lambda: [f"{percent(planned().min(), 0)} to {percent(planned().max(), 0)}"],
    "direction": lambda: [percent(asked("direction", question="size")["rate"].max())],
    "coverage": lambda: [percent(honest_of_1000().min()), f"{len(honest_of_1000())} settings"],
    "worst_case": lambda: [
        f"{len(stored('worst_case'))} of the worst",
        percent(asked("worst_case", kind="Rows", level=0.95)["rate"].min(), 2),
    ],
    "without_bins": lambda: [percent(asked("without_bins", tail=0.05, question="these predictions")["rate"].max())],
    "few_labels": lambda: [percent(misses_of_judges())],
    "comparison": lambda: [
        percent(study_file("comparison").without_difference(stored("comparison"))["rate"].max()),
    ],
    "squares": lambda: [
        percent(asked("squares", question="difference", kind="population", level=0.05)["rate"].max()),
        percent(asked("squares", question="rows alone unseen")["rate"].max()),
    ],
    "cross_validation": lambda: [percent(asked("cross_validation", question="limit", method="triangle")["rate"].max())],
    "bands": lambda: [percent(asked("bands", promised=True)["rate"].min(), 0)],
    "equivalence": lambda: [percent(asked("equivalence", question="size")["rate"].max())],
    "choosing": lambda: [
        percent(asked("choosing", question="size")["rate"].max()),
        percent(asked("choosing", question="power", candidates=200, margin=0.03)["rate"].max(), 0),
    ],
    "choosing_a_map": lambda: [
        lost_share(2000, ["brier", "log_loss"])[1],
        lost_share(300, ["brier", "log_loss"])[0],
    ],
    "rare_ends": lambda: [
        f"{asked('rare_ends', question='one kind')['over_level'].max():.2f} times",
        f"{asked('rare_ends', question='two kinds')['over_level'].max():.2f} times",
    ],
    "monitoring": lambda: [
        percent(asked("monitoring", question="false alarms", method="monitor")["rate"].max()),
        percent(asked("monitoring", question="false alarms", method="Cox test at each look")["rate"].max(), 0),
    ],
    "bins": lambda: [f"{steadiness('even'):.2f} with even and {steadiness('adaptive'):.2f} with adaptive"],
    "ranking": lambda: [least_and_most_right("log_loss"), least_and_most_right("ece")],
    "bias": lambda: [f"{ece_of_calibrated('ece'):.3f} on average", f"{ece_of_calibrated('ece, 100 bins'):.3f}"],
    "classes": lambda: [
        percent(asked("classes", question="size")["rate"].max()),
        percent(asked("classes", question="coverage", method="honest")["rate"].min()),
        f"{len(asked('classes', question='size'))} settings",
        f"{len(asked('classes', question='coverage', method='honest'))} settings",
    ],
    "maps": lambda: [
        percent(asked("maps", question="size", method="null=map")["rate"].max()),
        percent(asked("maps", question="size", method="mapped predictions")["rate"].max()),
    ],
    "worst_cell": lambda: [
        percent(stored("worst_cell")["rate"].max(), 2),
        f"{high_ends(5, 300):.2f} and {high_ends(5, 3000):.2f}",
    ],
    "unequal_biases": lambda: [percent(asked("unequal_biases", truth=0)["estimate_spread_worse"].min())],
    "digit_diagrams": lambda: [
        f"{of_digits('trained', 'tree', 'mean'):.3f} to {of_digits('trained', '50 bins', 'mean'):.3f}",
        percent(stored("digit_diagrams")["other_order_than_tree"].max(), 0),
    ],
    "smoothing": lambda: [percent(errors_by_rows(0.45).max(), 0)],
    "exponents": lambda: [
        f"{asked('exponents', question='merging', measure='merging of neighbours')['mean'].max():.2f} times",
    ],
    "grouping": lambda: [percent((stored("grouping")["missed"] / stored("grouping")["replicates"]).max(), 2)],
    "risk_coverage": lambda: [
        percent(of_risk("area", "missed_above").max()),
        percent(of_risk("worst", "broken").max()),
        f"{int(asked('risk_coverage', question='search')['tried'].iloc[0])} populations",
        *(f"{n} rows {answered_of_possible(n)}" for n in (1000, 100)),
    ],
    "six_points": lambda: [percent(stored("six_points")["rate"].min(), 2)],
}


@pytest.mark.parametrize("name", SAID)
def test_the_numbers_of_a_row_are_in_its_stored_table(name):
    missing = [each for each in SAID[name]() if each not in ROWS[name]]
    assert missing == [], ROWS[name]


def of_blocks(days):
    """How often intervals of blocks miss normal series, by the correlation of neighbouring days."""
    rows = asked("dependent_days", n=days, method="cs.blocks")
    return rows[rows["generator"].str.startswith("correlation")].set_index("correlation")["rate"]


def skill_lengths(name, n):
    """The length of the interval of the Brier skill over the base rate, and that of the bootstrap."""
    return asked("skill", generator=name, n=n, measure="brier skill over base rate")["median_width"]


def worst_side(question, method, study="dependent_rows", **cells):
    """The largest share of misses on one side of intervals, of these rows of a table."""
    rows = asked(study, question=question, method=method, **cells)
    return (rows[["missed_below", "missed_above"]].max(axis=1) / rows["replicates"]).max()


def populations_of_clusters():
    rows = asked("dependent_rows", question="class", method="observed")
    return rows.groupby(["clusters", rows["case"].str.partition(":")[0]])["tried"].first().sum()


def power_lost(sizes, clusters, method="observed"):
    """Percentage points of power that are lost beside Student's t."""
    return (
        f"{100 * study_file('dependent_rows').power_lost(stored('dependent_rows')).loc[(sizes, clusters), method]:.1f}"
    )


def wider_than_t(clusters, giant):
    """Widths over Student's of normal sums, in order, with one giant cluster or without one."""
    found = study_file("dependent_rows").width_over_t(stored("dependent_rows"))[clusters]
    return sorted(found[found.index.str.startswith("one giant") == giant])


def wider_than_observed():
    rows = asked("dependent_rows", question="differences").pivot(
        index=["clusters", "case"], columns="method", values="median_width"
    )
    return rows["clusters"] / rows["observed"]


FOUND = {  # what pages of findings say, beside the rows above
    "clusters": lambda: [
        percent(asked("clusters", question="size, random")["rate"].mean()),
        least_and_most(asked("clusters", question="size, worst of random")["rate"].nsmallest(5)),
        percent(asked("clusters", question="size, worst of random")["rate"].max()),
    ],
    "dependent_days": lambda: [
        *(percent(of_blocks(days)[each]) for days in (100, 365, 730) for each in (0, 0.3, 0.6, 0.8, 0.9)),
        *(percent(asked("dependent_days", n=days, method="28 days", correlation=0.9)["rate"].item())
          for days in (730, 365, 100)),
        percent(asked("dependent_days", n=730, method="days")["rate"].max()),
    ],
    "dependent_rows": lambda: [
        f"at most {percent(worst_side('class', 'observed'), 2)} on a side",
        f"{percent(asked('dependent_rows', question='class', method='observed')['rate'].max(), 2)} in all",
        f"up to {percent(worst_side('class', 't'), 2)} there",
        f"{populations_of_clusters():,} populations",
        f"they miss {percent(worst_side('outside', 'observed'))}",
        f"misses at most {percent(worst_side('outside', 'clusters'))}.",
        f"at most {percent(worst_side('normal sums', 'observed'), 2)} on a side of 40,000",
        f"at most {wider_than_t(200, False)[-1]:.2f} times as wide",
        f"with 730 at most {wider_than_t(730, False)[-1]:.2f}",
        f"{wider_than_t(200, True)[0]:.2f} and {wider_than_t(730, True)[0]:.2f} times where",
        f"{wider_than_t(200, True)[-1]:.2f} and {wider_than_t(730, True)[-1]:.2f} times where",
        f"{wider_than_observed().min():.0f} to {wider_than_observed().max():.0f} times as wide",
        f"{percent(worst_side('outside', 'observed', clusters=12, case='law: exponential'))} on a side with 12",
        f"{percent(worst_side('outside', 'observed', clusters=30, case='law: log-normal 1'))} with 30",
        f"{power_lost('equal', 12)} points are lost with 12 clusters",
        f"{power_lost('log-normal .5', 30)} points are lost with 30 clusters",
        f"and {power_lost('log-normal .5', 60)} with 60",
        f"up to {percent(worst_side('differences', 't'))} on a side",
        f"{len(asked('dependent_rows', question='outcomes', method='observed'))} cells of the rule",
    ],
    "maps": lambda: [
        least_and_most(asked("maps", question="size", method="null=map")["rate"]),
        least_and_most(asked("maps", question="size", method="mapped predictions")["rate"]),
        *(power_of_maps(side, method) for side in ("beyond", "half way back", "calibrated", "mirrored")
          for method in ("null=map", "mapped predictions")),
    ],
    "worst_cell": lambda: [
        percent(stored("worst_cell")["rate"].max(), 2),
        *(f"{high_ends(*which):.2f}" for which in ((3, 3000), (5, 300), (5, 3000))),
        least_and_most(of_temperature()["excludes_0"]),
        least_and_most(of_temperature()["canonical_ce"]),
    ],
    "worst_case": lambda: [
        f"{len(stored('worst_case'))} of the worst",
        f"{stored('worst_case').groupby(['kind', 'measure', 'level']).ngroups} intervals",
    ],
    "unequal_biases": lambda: [
        least_and_most(asked("unequal_biases", truth=0)["estimate_spread_worse"]),
        *(of_narrow("estimate_spread_worse", n) for n in (300, 1000, 5000)),
        *(of_narrow("compare_spread_better", n) for n in (1000, 5000)),
        *(of_narrow("rejects_narrow_alone", n) for n in (300, 1000, 5000)),
    ],
    "digit_diagrams": lambda: [
        *(f"{of_digits('trained', bins, 'mean'):.3f}" for bins in ("tree", "50 bins")),
        *(percent(of_digits("trained", bins, "rejected"), 0) for bins in ("tree", "50 bins", "5 bins")),
        *(f"{of_digits(network, 'tree', 'mean'):.3f}" for network in ("narrow", "stopped early")),
        *(percent(of_digits("trained", bins, "other_order_than_tree"), 0) for bins in ("20 bins", "50 bins")),
    ],
}  # fmt: skip


def of_temperature():
    table = asked("worst_cell", n=300)
    return table[table["generator"].str.contains("temperature")]


@pytest.mark.parametrize("name", FOUND)
def test_the_numbers_of_a_page_are_in_its_stored_table(name):
    page = (FOLDER / "findings" / f"{name}.md").read_text(encoding="utf-8")
    assert [each for each in FOUND[name]() if each not in " ".join(page.split())] == []


def test_no_wrong_difference_was_found():
    assert stored("unequal_biases").query("truth == 0")["differences"].max() == 0
    wrong = stored("unequal_biases").query("truth == -1")["compare_spread_worse"]
    assert wrong.max() == stored("unequal_biases").query("truth == 1")["compare_spread_better"].max() == 0
    assert stored("digit_diagrams")["pairs_reversed_by_p"].max() == 0


def test_a_wrong_number_is_found():
    assert percent(clusters_of_equal_sizes()) in ROWS["clusters"]
    assert percent(clusters_of_equal_sizes() + 0.002) not in ROWS["clusters"]


def test_the_list_is_short():
    assert len(README.splitlines()) <= 120
    texts = {name: re.sub(r"\[<img [^]]*\]\([^)]*\)", "", row) for name, row in ROWS.items()}
    assert {name: len(text) for name, text in texts.items() if len(text) > 420 or "figures/" in text} == {}


@pytest.mark.parametrize("name", ROWS)
def test_every_study_has_a_page(name):
    page = (FOLDER / "findings" / f"{name}.md").read_text(encoding="utf-8")
    assert f"[{name}]({os.path.relpath(STORED[name].file, FOLDER / 'findings')})" in page
    assert f"[{name}]({os.path.relpath(STORED[name].file, FOLDER)})" in ROWS[name]
    assert f"findings/{name}.md" in ROWS[name]
    pictures = re.findall(r"\((?:\.\./)?figures/(\w+[^)]*\.png)\)", page + ROWS[name])
    assert pictures
    assert [each for each in pictures if not (FOLDER / "figures" / each).exists()] == []
