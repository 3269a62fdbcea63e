"""Rows of a judge, in the order in which they are drawn."""

import calibstat as cs
from calibstat.inference.designs.judged.judged_in_order import judged_rows


def judged_by(y, p, answers, *, inclusion=None, cluster=None):
    """Rows with a judge's answers, few of which have an outcome, in an order that depends on what they hold."""
    return judged_rows(cs.Data(y, p, judge=cs.Judge(answers, inclusion=inclusion), cluster=cluster))
