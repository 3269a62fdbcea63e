"""Do the measures see errors that only whole vectors have?

The grid and the figure are in calibstat/studies/six_points.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "six_points", "--out", str(Path(__file__).parent), *sys.argv[1:]])
