"""How often do the approximate tests reject a calibrated model?

The grid and the figure are in calibstat/studies/approximate_tests.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "approximate_tests", "--out", str(Path(__file__).parent), *sys.argv[1:]])
