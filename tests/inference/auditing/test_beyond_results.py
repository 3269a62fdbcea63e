"""What is said of groups that deviate beyond the total: sorted, in words, and a table."""

import numpy as np

import calibstat as cs
from calibstat.inference.auditing.beyond_results import MOST_PRINTED, Beyond


def made(adjusted, **changes):
    size = 1 + len(adjusted)
    of = lambda *values: np.append(np.nan, np.resize(np.array(values, float), size - 1))  # noqa: E731
    p = np.append(np.nan, adjusted)
    given = {
        "names": ("all rows", *(f"g{k}" for k in range(1, size))), "rows": np.resize([1000, 412, 588], size),
        "observed": of(0.19), "expected": of(0.12), "odds_ratio": of(1.718), "low": of(1.2345), "high": of(2.2222),
        "pvalue": p / 2, "pvalue_adjusted": p, "null_hypothesis": "of each group: all is well",
        "confidence_level": 0.95,
    }  # fmt: skip
    return Beyond(**(given | changes))


def test_groups_are_sorted_by_their_p_values_without_all_rows():
    found = made([0.3, 0.01, 0.05, 0.01], pvalue=np.array([np.nan, 0.2, 0.004, 0.03, 0.003]))
    assert found.order.tolist() == [4, 2, 3, 1]
    assert found.found.tolist() == [4, 2, 3]
    assert found.to_frame()["group"].tolist() == ["g4", "g2", "g3", "g1"]
    assert made([0.06], confidence_level=0.9).found.tolist() == [1]


def test_sentences():
    lines = str(made([0.002, 0.7])).splitlines()
    assert lines == [
        "Apart from the overall error 1 of 2 groups stands out, compared with other rows at the same predictions:",
        "  g1 (412 rows): observed 19 %, 12 % if it were like the others; odds 1.72 times theirs (1.23 to 2.23), "
        "adjusted p = 0.002.",
        "Null hypothesis of each group: all is well.",
    ]
    endless = made([0.002], odds_ratio=np.array([np.nan, np.inf]), high=np.array([np.nan, np.inf]))
    assert "odds ∞ times theirs (1.23 to ∞)" in endless.sentence(1)


def test_no_group():
    none = "Apart from the overall error no group stands out (closest: g1, adjusted p = 0.2)."
    assert made([0.2, 0.6]).lines("") == [none]
    assert made([]).lines("") == []
    assert made([]).promise == ""


def test_many_groups_are_cut():
    lines = made([0.01] * (MOST_PRINTED + 3)).lines("the table has all")
    assert len(lines) == MOST_PRINTED + 2
    assert lines[-1] == "  and 3 more: the table has all."


def test_results_are_read_only_and_plain():
    y, p = cs.generators.calibrated().sample(300, rng=1)
    found = cs.audit(y, p, {"a": np.arange(300) < 100}, n_resamples=19, rng=1)
    assert not any(getattr(found.beyond, name).flags.writeable for name in ("odds_ratio", "low", "high", "pvalue"))
    assert found.to_dict()["beyond.pvalue"][0] is None


def test_groups_without_neighbours_are_not_comparable():
    """Two groups, each of one prediction of its own: no row of one is near a row of the other."""
    y = (np.random.default_rng(1).random(400) < np.repeat([0.3, 0.6], 200)).astype(int)
    groups = {"low": np.arange(400) < 200, "high": np.arange(400) >= 200}
    apart = cs.audit(y, np.repeat([0.2, 0.7], 200), groups, rng=1).beyond
    assert not apart.compared.any()
    assert "cannot be told: no group has predictions near those of other rows" in apart.answer
    assert "closest" not in apart.answer
    assert apart.significant == []
    shared = cs.audit(y, np.full(400, 0.45), groups, rng=1).beyond
    assert shared.compared.tolist() == [False, True, True]
    assert "2 of 2 groups stand out" in shared.answer
