"""Audits of groups: their statistic, the function and its result."""
