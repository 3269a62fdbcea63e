"""Is a difference between two models noise?

The grid and the figures are in calibstat/studies/comparison.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "comparison", "--out", str(Path(__file__).parent), *sys.argv[1:]])
