"""Pictures of results: `plot` draws any of them, one file each kind."""

from calibstat.plots.plot import plot

__all__ = ["plot"]
