"""Does every test and every interval keep its promise through every lens?

The grid and the figures are in calibstat/studies/classes.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "classes", "--out", str(Path(__file__).parent), *sys.argv[1:]])
