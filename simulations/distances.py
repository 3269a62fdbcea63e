"""Which measure tells how far from calibrated a model is?

The grid and the figure are in calibstat/studies/distances.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "distances", "--out", str(Path(__file__).parent), *sys.argv[1:]])
