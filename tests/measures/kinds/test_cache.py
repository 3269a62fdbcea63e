import numpy as np

from calibstat.measures.kinds.cache import Cache


def test_what_is_kept_goes_with_the_array_and_is_made_again_where_it_was_written_to():
    kept, array, made = Cache(), np.arange(6.0), []
    for _ in range(2):
        kept.of(array, lambda: made.append(0) or "made")
    assert len(made) == 1
    array[0] = 7
    assert kept.of(array, lambda: made.append(0) or "again") == "again"
    assert len(made) == 2
    del array
    assert kept.last is None


def test_what_one_measure_made_is_not_given_to_another():
    kept, array, one, other = Cache(), np.arange(6.0), object(), object()
    assert kept.of(array, lambda: "one", one) == "one"
    assert kept.of(array, lambda: "other", other) == "other"
    assert kept.of(array, lambda: "again", one) == "again"
