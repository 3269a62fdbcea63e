"""The study of consistency: of which measures it asks."""

import calibstat as cs
from calibstat.papers import consistency


def test_measures_without_a_known_truth_have_no_order():
    assert consistency.with_truth({"ks": ("ks", {})}) == {"ks": ("ks", {})}

    @cs.measure("unknown_truth", title="t", formula="f", reference="r", bounds=(0, 1))
    def unknown_truth(value, count, positives):
        """Return the share of positives."""
        return positives.sum() / count.sum()

    try:
        assert consistency.with_truth({"unknown": ("unknown_truth", {}), "ks": ("ks", {})}) == {"ks": ("ks", {})}
    finally:
        cs.measures.kinds.registry._REGISTRY.pop("unknown_truth")
