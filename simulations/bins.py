"""Does the number of bins change the ranking of models?

The grid and the figure are in calibstat/studies/bins.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "bins", "--out", str(Path(__file__).parent), *sys.argv[1:]])
