"""Plots of results, one file for each kind of result."""

from calibstat.plots.plot import plot

__all__ = ["plot"]
