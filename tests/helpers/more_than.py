"""Whether more than so many of many data sets do what a planted fault makes them do."""

from itertools import accumulate


def more_than(limit, found):
    """Whether more than `limit` are true; once they are, no further data set is drawn."""
    return any(count > limit for count in accumulate(found, initial=0))
