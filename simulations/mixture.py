"""What does a binned estimate say of a known Gaussian mixture?

The grid and the figure are in calibstat/studies/mixture.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "mixture", "--out", str(Path(__file__).parent), *sys.argv[1:]])
