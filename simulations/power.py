"""Which test finds which error?

The grid and the figure are in calibstat/studies/power.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "power", "--out", str(Path(__file__).parent), *sys.argv[1:]])
